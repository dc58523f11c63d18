//! Where a load writes to: one server, or a Galera cluster of which it knows every node it can.
//!
//! Everything is written to one node, the *home*: then transactions of the load meet no certification conflicts among
//! themselves, children find their parents, and numbers come from one place. The other nodes matter in three ways. They
//! are watched, so that the load slows down before the slowest of them stops the cluster ([`Throttle`], [`NodeMonitor`]). One of
//! them becomes home when home is lost ([`Targets`]). And the load is done when all of them have everything
//! ([`NodeMonitor::wait_for_all_nodes`]).
//!
//! From the inside out: `address` (names of nodes), `facts` (what a node says of itself), `targets` (which one is home),
//! `gate` (the pure rule, and the place where workers wait), `watch` (a look at every node, again and again), `report`.
//!
//! What it is not for: it sends no rows and knows no statements; what a worker does with a lost transaction is the
//! worker's affair. It does not spread rows over nodes: measured, that made loads slower.

mod address;
mod error;
mod node_info;
mod node_monitor;
mod nodes;
mod report;
mod targets;
mod throttle;

pub use address::node_address;
pub use error::Error;
pub use node_info::{NodeInfo, NodeState};
pub use node_monitor::{MonitorGuard, NodeMonitor};
pub use report::{ClusterSummary, NodeSummary};
pub use targets::{Caps, Targets, WriterConnection};
pub use throttle::{QueueDepth, Throttle, allowed};
