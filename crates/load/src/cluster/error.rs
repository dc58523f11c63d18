//! Why a load cannot begin on the nodes that it was given.

/// Why a load cannot begin on the nodes that it was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A server cannot be reached, or refuses.
    #[error(transparent)]
    Connection(#[from] hortator_mysql::Error),
    /// A name of a node is not understood.
    #[error("`{name}` names no node: {found}; write HOST, HOST:PORT, [IPv6]:PORT or a socket's path")]
    Name {
        /// As it was written.
        name: String,
        /// What is wrong with it.
        found: &'static str,
    },
    /// A server among the nodes is none.
    #[error("{node} is no node of a Galera cluster: leave it out of --nodes, or connect to it with -h alone")]
    NoNode {
        /// Its name.
        node: String,
    },
    /// Two nodes are of different clusters.
    #[error(
        "{node} is of cluster {found}, but {other} is of cluster {expected}: --nodes takes the nodes of one cluster"
    )]
    OtherCluster {
        /// The node that differs.
        node: String,
        /// Its cluster's state UUID.
        found: String,
        /// The node that it differs from.
        other: String,
        /// The state UUID of that one's cluster.
        expected: String,
    },
    /// No node takes statements.
    #[error("no node takes statements now: {found}; look at wsrep_cluster_status and wsrep_local_state_comment there")]
    NoneReady {
        /// What each of them said.
        found: String,
    },
}
