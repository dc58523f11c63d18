//! What a sandbox consists of.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Error;

/// More nodes than this do not fit a sandbox: each costs memory and, while it joins, a copy of the data.
pub const MAX_NODES: usize = 9;

/// What a sandbox consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Topology {
    /// One server.
    Standalone,
    /// One MySQL server.
    Mysql,
    /// A Galera cluster of so many nodes, 1 to [`MAX_NODES`].
    Galera(usize),
    /// A cluster by Hortator's own wsrep provider, of 1 node so far.
    Cluster(usize),
    /// Node 1 is the source, node 2 its semi-synchronous replica.
    Semisync,
}

impl Topology {
    /// How many servers that makes.
    pub fn nodes(self) -> usize {
        match self {
            Topology::Standalone | Topology::Mysql => 1,
            Topology::Galera(nodes) | Topology::Cluster(nodes) => nodes,
            Topology::Semisync => 2,
        }
    }

    pub(crate) fn check(self) -> Result<(), Error> {
        if let Topology::Cluster(nodes) = self
            && nodes != 1
        {
            return Err(Error::Invalid(format!(
                "a cluster of {nodes} nodes: Hortator's own provider makes clusters of 1 so far; `galera` has more"
            )));
        }
        if (1..=MAX_NODES).contains(&self.nodes()) {
            return Ok(());
        }
        Err(Error::Invalid(format!("a cluster of {} nodes: 1 to {MAX_NODES} can be had", self.nodes())))
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
        }
    }
}
