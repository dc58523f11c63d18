//! The Raft driver: the thin layer between a replica and its threads, links and log. It decides nothing.

use std::io;
use std::sync::Arc;

use super::ClusterHandle;
use super::process_host::ProcessHost;
use super::relay::Relay;
use crate::node::replica::{Pause, Replica};

/// A replica, with what runs it.
pub(in crate::node) struct RaftDriver<H> {
    pub replica: Replica<H>,
}

impl<H: ProcessHost> RaftDriver<H> {
    /// Drives until the replica ends (true), or the other thread has taken the driver (false).
    fn drive(mut self: Box<Self>) -> bool {
        loop {
            match self.replica.run() {
                Pause::Stopped => return true,
                Pause::Poll(timeout) => {
                    let events = self.replica.host.poll(timeout);
                    self.replica.on_link_events(events);
                }
                Pause::Sync(upto) => {
                    let io = self.replica.host.io();
                    let (relay, cluster) = (Arc::clone(&io.relay), Arc::clone(&io.cluster));
                    // The log is dropped with the function: a joiner replaces it, and nobody else may hold it then.
                    let log = self.replica.host.disk_log();
                    let sync = move || log.map_or(Ok(()), |log| log.flush(upto.index));
                    let Some((driver, synced)) = relay.sync(self, upto, cluster.waker(), sync) else { return false };
                    self = driver;
                    self.replica.on_synced(synced);
                }
            }
        }
    }
}

/// Starts the driver's two threads. `on_panic`: a bug has ended it.
pub(in crate::node) fn spawn<H: ProcessHost + Send + 'static>(
    replica: Replica<H>,
    on_panic: impl Fn() + Send + Clone + 'static,
) -> io::Result<()> {
    let io = replica.host.io();
    let (relay, cluster) = (Arc::clone(&io.relay), Arc::clone(&io.cluster));
    for first in [Some(Box::new(RaftDriver { replica })), None] {
        let (relay, cluster, on_panic) = (Arc::clone(&relay), Arc::clone(&cluster), on_panic.clone());
        // Signals are for other threads.
        crate::log::spawn_without_signals("hortator-raft", move || drive_in_turn(&relay, first, &cluster, on_panic))?;
    }
    Ok(())
}

/// One of the driver's two threads.
fn drive_in_turn<H: ProcessHost>(
    relay: &Relay<RaftDriver<H>>,
    mut driver: Option<Box<RaftDriver<H>>>,
    cluster: &ClusterHandle,
    on_panic: impl Fn(),
) {
    while let Some(drives) = driver.take().or_else(|| relay.stand_by()) {
        let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drives.drive()));
        if run.is_err() {
            on_panic();
        }
        if run.unwrap_or(true) {
            // The driver is dropped: a thread that waits for the end may want to listen on the port again.
            relay.end();
            cluster.close();
            return;
        }
    }
}
