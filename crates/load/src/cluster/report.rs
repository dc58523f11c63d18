//! What the summary tells of a cluster.

use serde::Serialize;

/// What the summary tells of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClusterSummary {
    /// The node that the load wrote to, in the end.
    pub written_to: String,
    /// Nodes of the cluster, as the node first written to saw them.
    pub size: usize,
    /// The nodes that were watched.
    pub nodes: Vec<NodeSummary>,
    /// Seconds for which workers were held back so that the slowest node kept up, all workers together.
    pub throttled_s: f64,
    /// Nodes that take no part, nodes that were left, and whatever else one has to know.
    pub notes: Vec<String>,
}

/// What was seen of one node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeSummary {
    /// Its name and address.
    pub node: String,
    /// Most write sets that waited in its receive queue.
    pub most_waiting: u64,
    /// How often it stopped the cluster by flow control.
    pub stopped_cluster: u64,
    /// Seconds for which flow control stood still on it, whoever asked for that.
    pub paused_s: f64,
}

impl ClusterSummary {
    /// Seconds for which flow control stopped the cluster, as the node saw it that saw the most.
    #[must_use]
    pub fn paused_s(&self) -> f64 {
        self.nodes.iter().map(|node| node.paused_s).fold(0.0, f64::max)
    }

    /// The node where the most write sets waited.
    #[must_use]
    pub fn slowest(&self) -> Option<&NodeSummary> {
        self.nodes.iter().max_by_key(|node| node.most_waiting)
    }
}
