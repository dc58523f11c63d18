//! The servers that are compared, and the settings with which each makes the promise of a cell.

use std::fmt;

use hortator_sandbox::Topology;

use super::Factors;
use crate::page::ContenderNote;

/// The settings of every server. Each of the threads may come to one server when others are gone, and the tables of all
/// servers of a machine must fit into its memory.
pub(super) const SETTINGS: [(&str, &str); 4] = [
    ("innodb_buffer_pool_size", "256M"),
    ("innodb_log_file_size", "128M"),
    ("innodb_autoinc_lock_mode", "2"),
    ("max_connections", "1000"),
];
const FLUSH: &str = "innodb_flush_log_at_trx_commit";

/// Servers of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deployment {
    /// One server without a binary log.
    Alone,
    /// One server with a binary log.
    AloneWithBinlog,
    /// A source and its semi-synchronous replica.
    Pair,
    /// Two servers, each the semi-synchronous replica of the other.
    Ring,
    /// So many nodes with the installed Galera.
    Galera(usize),
    /// So many nodes with Hortator's provider.
    Hortator(usize),
}

impl fmt::Display for Deployment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alone => f.write_str("alone"),
            Self::AloneWithBinlog => f.write_str("alone-binlog"),
            Self::Pair => f.write_str("pair"),
            Self::Ring => f.write_str("ring"),
            Self::Galera(nodes) => write!(f, "G{nodes}"),
            Self::Hortator(nodes) => write!(f, "H{nodes}"),
        }
    }
}

impl Deployment {
    /// All that are measured, in the order of the report.
    pub const ALL: [Self; 8] = [
        Self::Alone,
        Self::AloneWithBinlog,
        Self::Pair,
        Self::Ring,
        Self::Galera(2),
        Self::Hortator(2),
        Self::Galera(3),
        Self::Hortator(3),
    ];
    /// Those of which a server can be lost: of two nodes of a cluster, one alone has no majority.
    pub const WITH_FAILOVER: [Self; 4] = [Self::Pair, Self::Ring, Self::Galera(3), Self::Hortator(3)];

    /// The deployment of this name, as `G3`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|deployment| deployment.to_string() == name)
    }

    /// Each number of its servers that can take the inserts.
    pub(super) fn writers(self) -> &'static [usize] {
        match self {
            Self::Alone | Self::AloneWithBinlog | Self::Pair => &[1],
            Self::Ring | Self::Galera(3..) | Self::Hortator(3..) => &[2],
            Self::Galera(_) | Self::Hortator(_) => &[1, 2],
        }
    }

    pub(super) fn nodes(self) -> usize {
        self.topology().nodes()
    }

    pub(super) fn is_cluster(self) -> bool {
        matches!(self, Self::Galera(_) | Self::Hortator(_))
    }

    /// Whether another server applies what one has committed.
    pub(super) fn has_appliers(self) -> bool {
        self.nodes() > 1
    }

    /// The nodes that wait for an acknowledgement of a replica, each with that replica; counted from 0.
    pub(super) fn links(self) -> &'static [(usize, usize)] {
        match self {
            Self::Pair => &[(0, 1)],
            Self::Ring => &[(0, 1), (1, 0)],
            Self::Alone | Self::AloneWithBinlog | Self::Galera(_) | Self::Hortator(_) => &[],
        }
    }

    pub(super) fn topology(self) -> Topology {
        match self {
            Self::Alone | Self::AloneWithBinlog => Topology::Standalone,
            Self::Pair => Topology::Semisync,
            Self::Ring => Topology::Ring,
            Self::Galera(nodes) => Topology::Galera(nodes),
            Self::Hortator(nodes) => Topology::Cluster(nodes),
        }
    }

    /// Its settings in a cell, beyond [`SETTINGS`]. With Hortator's provider the provider's log is what is flushed.
    pub(super) fn settings(self, factors: Factors) -> Vec<(&'static str, String)> {
        let (flush, appliers) = (u8::from(factors.is_flushed).to_string(), factors.appliers.to_string());
        // One applier is the replica's own thread, as in a server without parallel replication.
        let parallel = if factors.appliers == 1 { "0".to_owned() } else { appliers.clone() };
        match self {
            Self::Alone => vec![(FLUSH, flush)],
            Self::AloneWithBinlog => {
                vec![(FLUSH, flush.clone()), ("log_bin", "binlog".to_owned()), ("sync_binlog", flush)]
            }
            Self::Pair | Self::Ring => {
                vec![
                    (FLUSH, flush.clone()),
                    ("sync_binlog", flush),
                    ("slave_parallel_threads", parallel),
                    // The default. The ring's servers would otherwise send each row back to where it came from.
                    ("log_slave_updates", "OFF".to_owned()),
                ]
            }
            Self::Galera(_) => vec![(FLUSH, flush), ("wsrep_slave_threads", appliers)],
            Self::Hortator(_) => {
                let sync = if factors.is_flushed { "yes" } else { "no" };
                vec![
                    (FLUSH, "0".to_owned()),
                    ("wsrep_provider_options", format!("log.sync={sync}")),
                    ("wsrep_slave_threads", appliers),
                ]
            }
        }
    }

    /// Its kind, and its promise with flush 1.
    pub(super) fn note(self) -> ContenderNote {
        let description = match self {
            Self::Alone => "One server, no binary log.".to_owned(),
            Self::AloneWithBinlog => "One server with a binary log.".to_owned(),
            Self::Pair => "A source, which takes all inserts, and its semi-synchronous replica.".to_owned(),
            Self::Ring => "Two servers that take inserts, each the semi-synchronous replica of the other.".to_owned(),
            Self::Galera(nodes) => format!("Galera, {nodes} nodes."),
            Self::Hortator(nodes) => format!("Hortator's provider, {nodes} nodes."),
        };
        let survives = match self {
            Self::Alone => "a crash of the server: flush 1",
            Self::AloneWithBinlog => "a crash of the server: flush 1, sync_binlog 1",
            Self::Pair | Self::Ring => {
                "the loss of either server, as long as the replica acknowledges in time (rpl_semi_sync_master_timeout, 10 s): \
                 flush 1, sync_binlog 1 on both"
            }
            Self::Galera(2) => "a crash of either server: flush 1 on both",
            Self::Hortator(2) => "a crash of either server: log.sync=yes, flush 0",
            Self::Galera(_) => "the loss of a minority of the nodes: flush 1 on each node",
            Self::Hortator(_) => "the loss of a minority of the nodes: log.sync=yes, flush 0",
        };
        ContenderNote { name: self.to_string(), description, survives: format!("{survives}; on tmpfs, no power cut") }
    }
}

/// Servers, and how many of them take the inserts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contender {
    pub(super) deployment: Deployment,
    pub(super) writers: usize,
}

impl Contender {
    /// Each number of writers of each deployment, once.
    pub(super) fn of(deployments: &[Deployment]) -> Vec<Self> {
        let mut contenders: Vec<Self> = Vec::new();
        for deployment in deployments {
            let with = deployment.writers().iter().map(|writers| Self { deployment: *deployment, writers: *writers });
            contenders.extend(with.filter(|contender| !contenders.contains(contender)).collect::<Vec<_>>());
        }
        contenders
    }

    /// The semi-synchronous servers that take inserts on as many servers.
    pub(super) fn semisync_rival(self) -> Self {
        let deployment = if self.writers == 1 { Deployment::Pair } else { Deployment::Ring };
        Self { deployment, writers: self.writers }
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { deployment, writers } = self;
        match (deployment.is_cluster(), writers) {
            (false, _) => deployment.fmt(f),
            (true, 1) => write!(f, "{deployment}, 1 writer"),
            (true, _) => write!(f, "{deployment}, {writers} writers"),
        }
    }
}
