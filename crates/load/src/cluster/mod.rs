//! The servers that a load writes to: one server, or the nodes of a Galera cluster.
//!
//! A load writes to one node, the *writer*: its transactions then have no certification conflicts with each other, child
//! rows find their parents, and one node generates the AUTO_INCREMENT values. The other nodes matter in three ways. The
//! load samples their receive queues and slows down before flow control pauses the cluster ([`NodeMonitor`],
//! [`crate::throttle`]). One of them becomes the writer when the writer is lost ([`Targets`]). The load ends when all nodes
//! have applied all rows ([`NodeMonitor::wait_for_all_nodes`]).
//!
//! From the inside out: `address` (node addresses), `node_info` (variables and status of a node), `nodes` (node
//! discovery), `targets` (the writer), `flow_control` (the rule), `node_monitor` (samples of every
//! node), `report`.
//!
//! This module sends no rows and knows no statements; the worker handles a lost transaction. It does not spread rows over
//! nodes: measured, that made loads slower.

mod address;
mod error;
mod flow_control;
mod node_info;
mod node_monitor;
mod nodes;
mod report;
mod targets;

pub use address::node_address;
pub use error::Error;
pub use flow_control::{QueueDepth, allowed};
pub use node_info::{NodeInfo, NodeState};
pub use node_monitor::{MonitorGuard, NodeMonitor};
pub use report::{ClusterSummary, NodeSummary};
pub use targets::{Caps, Targets, WriterConnection};
