//! The topologies of sandboxes.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Error;

/// The maximum number of nodes of a sandbox: each node costs memory and, while it joins, a copy of the data.
pub const MAX_NODES: usize = 9;

/// The maximum number of nodes of a cluster of Hortator's own provider: every node receives every commit, and five
/// nodes survive the loss of two.
pub const MAX_CLUSTER_NODES: usize = 5;

/// The maximum number of sources of one target: each is a server of its own.
pub const MAX_SOURCES: usize = 30;

/// The topology of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Topology {
    /// One server.
    Standalone,
    /// One MySQL server.
    Mysql,
    /// A Galera cluster with that many nodes, 1 to [`MAX_NODES`].
    Galera(usize),
    /// A cluster of Hortator's own wsrep provider with that many nodes, 1 to [`MAX_CLUSTER_NODES`].
    Cluster(usize),
    /// Node 1 is the source, node 2 its semi-synchronous replica.
    Semisync,
    /// Two servers, each the semi-synchronous replica of the other, for writes on both.
    Ring,
    /// That many sources, 1 to [`MAX_SOURCES`], and behind them a target, for `hortator replicate`.
    FanIn(usize),
}

impl Topology {
    /// The number of its servers.
    pub fn nodes(self) -> usize {
        match self {
            Topology::Standalone | Topology::Mysql => 1,
            Topology::Galera(nodes) | Topology::Cluster(nodes) => nodes,
            Topology::Semisync | Topology::Ring => 2,
            Topology::FanIn(sources) => sources + 1,
        }
    }

    pub(crate) fn check(self) -> Result<(), Error> {
        if let Topology::FanIn(sources) = self {
            return match (1..=MAX_SOURCES).contains(&sources) {
                true => Ok(()),
                false => Err(Error::Invalid(format!("{sources} sources are not possible: give 1 to {MAX_SOURCES}"))),
            };
        }
        let (kind, most) = match self {
            Topology::Cluster(_) => ("cluster of Hortator's own provider", MAX_CLUSTER_NODES),
            _ => ("cluster", MAX_NODES),
        };
        if (1..=most).contains(&self.nodes()) {
            return Ok(());
        }
        Err(Error::Invalid(format!("a {kind} cannot have {} nodes: give 1 to {most}", self.nodes())))
    }

    /// Whether a wsrep provider replicates between its nodes.
    pub(crate) fn is_cluster(self) -> bool {
        matches!(self, Topology::Galera(_) | Topology::Cluster(_))
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Topology::Standalone => f.write_str("standalone"),
            Topology::Mysql => f.write_str("mysql"),
            Topology::Cluster(nodes) => write!(f, "cluster {nodes}"),
            Topology::Galera(nodes) => write!(f, "galera {nodes}"),
            Topology::Semisync => f.write_str("semisync"),
            Topology::Ring => f.write_str("ring"),
            Topology::FanIn(sources) => write!(f, "fan-in {sources}"),
        }
    }
}
