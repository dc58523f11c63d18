//! The servers that are compared, and their durability.

use hortator_sandbox::Topology;

use crate::deployment::Deployment;

/// The settings of every server beyond [`crate::server::SETTINGS`]: more connections than the default, and the lock
/// mode that clusters need. No server has a binary log.
pub(crate) const COMMON_SETTINGS: [(&str, &str); 2] = [("max_connections", "250"), ("innodb_autoinc_lock_mode", "2")];
const FLUSH: &str = "innodb_flush_log_at_trx_commit";

/// A server that is compared, with one node or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// Hortator's provider.
    Hortator,
    /// The installed Galera: the baseline.
    Galera,
    /// A server without a provider: it shows the cost of a provider.
    NoProvider,
}

impl Contender {
    /// The heading of its line.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Hortator => "Hortator",
            Self::Galera => "Galera",
            Self::NoProvider => "no provider",
        }
    }

    pub(crate) fn topology(self, nodes: usize) -> Topology {
        match self {
            Self::Hortator => Topology::Cluster(nodes),
            Self::Galera => Topology::Galera(nodes),
            Self::NoProvider => Topology::Standalone,
        }
    }

    /// The settings of this server for this durability.
    pub(crate) fn settings(self, durability: Durability) -> &'static [(&'static str, &'static str)] {
        match (self, durability) {
            (Self::Hortator, Durability::Synced) => &[(FLUSH, "0"), ("wsrep_provider_options", "log.sync=yes")],
            (Self::Hortator, Durability::Unsynced) => &[(FLUSH, "0"), ("wsrep_provider_options", "log.sync=no")],
            (Self::Galera | Self::NoProvider, Durability::Synced) => &[(FLUSH, "1")],
            (Self::Galera | Self::NoProvider, Durability::Unsynced) => &[(FLUSH, "0")],
        }
    }

    /// So many servers of it.
    pub(super) fn deployment(self, nodes: usize) -> Deployment {
        match self {
            Self::Hortator => Deployment::Hortator(nodes),
            Self::Galera => Deployment::Galera(nodes),
            Self::NoProvider => Deployment::Alone,
        }
    }
}

/// What a confirmed commit survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// A power failure: the commit is on disk.
    Synced,
    /// Less: the operating system, or the server itself, may write the commit later.
    Unsynced,
}

impl Durability {
    /// Both, in the report's order.
    pub const ALL: [Self; 2] = [Self::Synced, Self::Unsynced];

    /// The heading of its line.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Synced => "synced",
            Self::Unsynced => "unsynced",
        }
    }
}
