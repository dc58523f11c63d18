//! Where a load writes to: one server, or a Galera cluster of which it knows every node it can.
//!
//! Everything is written to one node, the *home*: then transactions of the load meet no certification conflicts among
//! themselves, children find their parents, and numbers come from one place. The other nodes matter in three ways. They
//! are watched, so that the load slows down before the slowest of them stops the cluster ([`Gate`], [`Watch`]). One of
//! them becomes home when home is lost ([`Targets`]). And the load is done when all of them have everything
//! ([`Watch::wait_everywhere`]).
//!
//! From the inside out: `address` (names of nodes), `facts` (what a node says of itself), `targets` (which one is home),
//! `gate` (the pure rule, and the place where workers wait), `watch` (a look at every node, again and again), `report`.
//!
//! What it is not for: it sends no rows and knows no statements; what a worker does with a lost transaction is the
//! worker's affair. It does not spread rows over nodes: measured, that made loads slower.

mod address;
mod error;
mod facts;
mod gate;
mod nodes;
mod report;
mod targets;
mod watch;

pub use address::node_address;
pub use error::Error;
pub use facts::{Facts, NodeState};
pub use gate::{Gate, Look, allowed};
pub use report::{ClusterSummary, NodeSummary};
pub use targets::{Caps, Targets, Visit};
pub use watch::{Watch, Watching};
