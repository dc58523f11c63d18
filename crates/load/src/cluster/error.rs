//! Why a load cannot start on its nodes.

/// Why a load cannot start on its nodes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A server cannot be reached, or refuses.
    #[error(transparent)]
    Connection(#[from] hortator_mysql::Error),
    /// A node address is invalid.
    #[error("`{name}` is not a node address: {found}; write HOST, HOST:PORT, [IPv6]:PORT or the path of a socket")]
    Name {
        /// As it was written.
        name: String,
        /// What is wrong with it.
        found: &'static str,
    },
    /// A server is not a node.
    #[error("{node} is not a node of a Galera cluster: remove it from --nodes, or connect to it with -h only")]
    NoNode {
        /// Its name.
        node: String,
    },
    /// Two nodes are of different clusters.
    #[error(
        "{node} belongs to cluster {found}, but {other} belongs to cluster {expected}: --nodes needs nodes of the same cluster"
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
    /// No node accepts statements.
    #[error(
        "no node accepts statements: {found}; check wsrep_cluster_status and wsrep_local_state_comment on the nodes"
    )]
    NoneReady {
        /// What each of them said.
        found: String,
    },
}
