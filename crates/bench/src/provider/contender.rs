//! The servers that are compared, and the promises under which they are.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hortator_sandbox::Topology;

use super::Lineup;
use crate::Error;
use crate::nodes::Nodes;

/// What every server is started with beyond [`crate::server::SETTINGS`]: more connections than the default lets in, and the
/// lock mode that clusters need. None has a binary log.
pub(super) const COMMON_SETTINGS: [(&str, &str); 2] = [("max_connections", "250"), ("innodb_autoinc_lock_mode", "2")];
const FLUSH: &str = "innodb_flush_log_at_trx_commit";

/// Who takes part, with one node or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// Hortator's provider.
    Hortator,
    /// The installed Galera, which the others are compared with.
    Galera,
    /// A server without a provider: what a provider costs is told by it.
    Alone,
}

impl Contender {
    /// A line's heading.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Hortator => "Hortator",
            Self::Galera => "Galera",
            Self::Alone => "no provider",
        }
    }

    fn topology(self, nodes: usize) -> Topology {
        match self {
            Self::Hortator => Topology::Cluster(nodes),
            Self::Galera => Topology::Galera(nodes),
            Self::Alone => Topology::Standalone,
        }
    }

    /// What this server is started with to keep the promise.
    pub(super) fn settings(self, promise: Promise) -> &'static [(&'static str, &'static str)] {
        match (self, promise) {
            (Self::Hortator, Promise::Synced) => &[(FLUSH, "0"), ("wsrep_provider_options", "log.sync=yes")],
            (Self::Hortator, Promise::Unsynced) => &[(FLUSH, "0"), ("wsrep_provider_options", "log.sync=no")],
            (Self::Galera | Self::Alone, Promise::Synced) => &[(FLUSH, "1")],
            (Self::Galera | Self::Alone, Promise::Unsynced) => &[(FLUSH, "0")],
        }
    }

    /// Starts its nodes on empty data.
    pub(super) fn start(self, lineup: Lineup, promise: Promise, stop: &Arc<AtomicBool>) -> Result<Nodes, Error> {
        let further = [&COMMON_SETTINGS, lineup.settings(), self.settings(promise)].concat();
        Nodes::start(self.topology(lineup.nodes()), &further, stop)
    }
}

/// What a confirmed commit has to survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// A power cut: it is on the disk.
    Synced,
    /// Less: the operating system, or the server itself, may write it later.
    Unsynced,
}

impl Promise {
    /// Both, in the report's order.
    pub const ALL: [Self; 2] = [Self::Synced, Self::Unsynced];

    /// A line's heading.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Synced => "synced",
            Self::Unsynced => "unsynced",
        }
    }
}
