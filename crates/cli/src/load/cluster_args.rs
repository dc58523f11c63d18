//! The arguments of `hortator load` that concern a Galera cluster.

use clap::Args;

/// The arguments of `hortator load` that concern a Galera cluster.
#[derive(Debug, Args)]
pub(super) struct ClusterArgs {
    /// Nodes of a Galera cluster, in place of -h: the first that takes statements is written to, the others are watched
    /// and take its place when it is lost [default: the nodes that the server knows]
    #[arg(long, value_name = "HOST[:PORT],…", value_delimiter = ',')]
    pub(super) nodes: Vec<String>,

    /// Do not slow down for nodes that are behind
    #[arg(long, hide = true)]
    pub(super) no_throttle: bool,
}
