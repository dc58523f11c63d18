//! The suites: contenders, number of nodes, and workloads.

use super::{Contender, Workload};

/// Nodes of a cluster.
const CLUSTER_NODES: usize = 3;

const SINGLE_WORKLOADS: &[Workload] = &[
    Workload::inserts(1, 1, 1),
    Workload::inserts(16, 1, 1),
    Workload::inserts(200, 1, 1),
    Workload::inserts(1, 1, 50),
    Workload::inserts(16, 1, 50),
    Workload::Load,
];
const CLUSTER_WORKLOADS: &[Workload] = &[
    Workload::inserts(1, 1, 1),
    Workload::inserts(16, 1, 1),
    Workload::inserts(200, 1, 1),
    Workload::inserts(16, 2, 1),
    Workload::inserts(200, 2, 1),
    Workload::inserts(1, 1, 50),
    Workload::inserts(16, 1, 50),
    Workload::hot_row(16, 1),
    Workload::hot_row(16, 2),
    Workload::Load,
];

/// A suite of contenders and workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// A single node of each provider, and a server without one.
    Single,
    /// Three nodes of each provider, all on this machine.
    Cluster,
}

impl Suite {
    /// The contenders, in the report's order.
    #[must_use]
    pub fn contenders(self) -> &'static [Contender] {
        match self {
            Self::Single => &[Contender::Hortator, Contender::Galera, Contender::NoProvider],
            Self::Cluster => &[Contender::Hortator, Contender::Galera],
        }
    }

    /// The workloads, in the report's order.
    #[must_use]
    pub fn workloads(self) -> &'static [Workload] {
        match self {
            Self::Single => SINGLE_WORKLOADS,
            Self::Cluster => CLUSTER_WORKLOADS,
        }
    }

    pub(super) fn nodes(self) -> usize {
        match self {
            Self::Single => 1,
            Self::Cluster => CLUSTER_NODES,
        }
    }

    /// The name of its command.
    pub(super) fn command(self) -> &'static str {
        match self {
            Self::Single => "provider",
            Self::Cluster => "cluster",
        }
    }
}
