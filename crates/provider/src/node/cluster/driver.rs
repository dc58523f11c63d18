//! The Raft driver: the thin layer between a replica and its threads, links and log. It decides nothing.

use std::sync::Arc;

use super::node_host::NodeHost;
use crate::node::replica::{Pause, Replica};

/// The replica of this node, with what runs it.
pub(super) struct RaftDriver {
    pub(super) replica: Replica<NodeHost>,
}

impl RaftDriver {
    pub(super) fn new(replica: Replica<NodeHost>) -> Self {
        Self { replica }
    }

    /// Drives until the replica ends (true), or the other thread has taken the driver (false).
    pub(super) fn drive(mut self: Box<Self>) -> bool {
        loop {
            match self.replica.run() {
                Pause::Stopped => return true,
                Pause::Poll(timeout) => {
                    let events = self.replica.host.poll(timeout);
                    self.replica.on_link_events(events);
                }
                Pause::Sync(upto) => {
                    let host = &self.replica.host;
                    let (relay, cluster) = (Arc::clone(&host.relay), Arc::clone(&host.cluster));
                    // The log is dropped with the function: a joiner replaces it, and nobody else may hold it then.
                    let log = host.disk_log();
                    let sync = move || log.map_or(Ok(()), |log| log.flush(upto.index));
                    let Some((driver, synced)) = relay.sync(self, upto, cluster.waker(), sync) else { return false };
                    self = driver;
                    self.replica.on_synced(synced);
                }
            }
        }
    }
}
