//! Who takes part in an experiment, on how many nodes, and at what work.

use super::{Contender, Workload};
use crate::nodes::CLUSTER_SETTINGS;

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

/// The experiments that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lineup {
    /// A single node of each provider, and a server with none.
    Single,
    /// Three nodes of each provider, all on this machine.
    Cluster,
}

impl Lineup {
    /// Those that are compared, in the report's order.
    #[must_use]
    pub fn contenders(self) -> &'static [Contender] {
        match self {
            Self::Single => &[Contender::Hortator, Contender::Galera, Contender::Alone],
            Self::Cluster => &[Contender::Hortator, Contender::Galera],
        }
    }

    /// What they can be given to do, in the report's order.
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

    /// What its servers are started with besides what all are.
    pub(super) fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Single => &[],
            Self::Cluster => &CLUSTER_SETTINGS,
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
