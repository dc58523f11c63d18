//! The arguments of `hortator load` that concern a Galera cluster.

use clap::Args;

/// The arguments of `hortator load` that concern a Galera cluster.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cluster")]
pub(super) struct ClusterArgs {
    /// Nodes of a Galera cluster, instead of -h: the load writes to the first node that accepts statements, monitors the
    /// other nodes, and fails over to one of them [default: the nodes that the server reports]
    #[arg(long, value_name = "HOST[:PORT],…", value_delimiter = ',')]
    pub(super) nodes: Vec<String>,

    /// Do not throttle the workers when a node lags
    #[arg(long, hide = true)]
    pub(super) no_throttle: bool,
}
