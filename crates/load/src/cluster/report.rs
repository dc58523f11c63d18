//! The summary of a cluster.

use serde::Serialize;

/// The measurements of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterSummary {
    /// The last writer.
    pub written_to: String,
    /// The size of the cluster, as the first writer reported it.
    pub size: usize,
    /// The monitored nodes.
    pub nodes: Vec<NodeSummary>,
    /// Seconds for which the throttle delayed workers, all workers together.
    pub throttled_s: f64,
    /// Unused nodes, failovers and other notes.
    pub notes: Vec<String>,
}

/// The measurements of one node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeSummary {
    /// Its name and address.
    pub node: String,
    /// The longest receive queue, in write sets.
    pub most_waiting: u64,
    /// How often the node paused the cluster by flow control.
    pub stopped_cluster: u64,
    /// Seconds for which flow control paused the node, whichever node requested that.
    pub paused_s: f64,
}

impl ClusterSummary {
    /// Seconds for which flow control paused the cluster: the maximum over the nodes.
    #[must_use]
    pub fn paused_s(&self) -> f64 {
        self.nodes.iter().map(|node| node.paused_s).fold(0.0, f64::max)
    }

    /// The node with the longest receive queue.
    #[must_use]
    pub fn slowest(&self) -> Option<&NodeSummary> {
        self.nodes.iter().max_by_key(|node| node.most_waiting)
    }
}
