//! What the replicas of this process have in common, with a server and without: the clock, the log on disk, the links, the
//! driver's two threads, and the threads that wait. A host adds its own [`LocalNode`].

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::ClusterHandle;
use super::driver::RaftDriver;
use super::relay::Relay;
use crate::consensus::NodeId;
use crate::consensus::hard_state::{self, HardState};
use crate::consensus::lineage::Lineage;
use crate::consensus::links::{Event, Links, Security};
use crate::consensus::raft::Append;
use crate::consensus::wire::Frame;
use crate::identity::Uuid;
use crate::log::{self, DiskLog, Index, LogRecords, Shared};
use crate::node::replica::{
    Clock, ClusterStatus, Command, EntryLog, LocalNode, RaftStatus, SstResult, Synced, Transport, Waiters,
};
use crate::protocol::ProtocolVersion;

/// The links, the threads and the clock around a replica.
pub(in crate::node) struct ProcessIo<H> {
    pub cluster: Arc<ClusterHandle>,
    pub relay: Arc<Relay<RaftDriver<H>>>,
    links: Links,
    /// What the links require.
    security: Arc<Security>,
    started: Instant,
}

impl<H> ProcessIo<H> {
    pub fn new(cluster: Arc<ClusterHandle>, relay: Arc<Relay<RaftDriver<H>>>, links: Links) -> Self {
        Self { cluster, relay, links, security: Arc::default(), started: Instant::now() }
    }
}

/// A host in a process.
pub(in crate::node) trait ProcessHost: LocalNode + Sized {
    fn io(&self) -> &ProcessIo<Self>;
    fn io_mut(&mut self) -> &mut ProcessIo<Self>;
    /// The log, if there is one.
    fn disk_log(&self) -> Option<Arc<DiskLog>>;
    /// Closes the log: another one will replace it.
    fn close_log(&mut self);
    fn set_log(&mut self, log: DiskLog);
    fn log_settings(&self) -> log::Settings;
    /// The folder of the log and the hard state.
    fn data_dir(&self) -> &Path;
    /// What other nodes must prove now.
    fn security(&self) -> Arc<Security>;
    fn on_hard_state_written(&mut self) {}

    /// Waits for events of the links.
    fn poll(&mut self, timeout: Duration) -> Vec<Event> {
        let security = self.security();
        let io = self.io_mut();
        if !Arc::ptr_eq(&security, &io.security) {
            io.security = Arc::clone(&security);
            io.links.set_security(Arc::clone(&security));
        }
        let mut events = Vec::new();
        io.links.poll(timeout, &mut events);
        if security.is_on() {
            for event in &events {
                self.log_protection(event);
            }
        }
        events
    }

    /// A node with TLS or a secret logs how each link is protected.
    fn log_protection(&self, event: &Event) {
        let links = &self.io().links;
        if let Event::Up(hello) = event
            && links.is_linked(hello.node)
        {
            let protection = links.protection(hello.node);
            self.note(&format!("the link to {} ({}): {protection}", hello.name, hello.address));
        }
    }
}

impl<H: ProcessHost> Clock for H {
    fn now(&self) -> Duration {
        self.io().started.elapsed()
    }

    fn random_uuid(&mut self) -> io::Result<Uuid> {
        Uuid::random()
    }
}

impl<H: ProcessHost> EntryLog for H {
    fn records(&self) -> Option<impl LogRecords> {
        self.disk_log()
    }

    fn has_log(&self) -> bool {
        self.disk_log().is_some()
    }

    fn bounds(&self) -> Option<(Index, Index)> {
        self.disk_log().map(|log| (log.first(), log.last()))
    }

    fn flushed(&self) -> Index {
        self.disk_log().map_or(Index(0), |log| log.flushed())
    }

    fn entries(&self, first: Index, limit_bytes: usize) -> Result<Vec<Shared>, log::Error> {
        self.disk_log().map_or(Ok(Vec::new()), |log| log.entries(first, limit_bytes))
    }

    fn throttle(&self) -> Result<(), log::Error> {
        self.disk_log().map_or(Ok(()), |log| log.throttle())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<Index, log::Error> {
        self.disk_log().expect("a node without a log appends nothing").append(&[bytes])
    }

    fn truncate(&mut self, from: Index) -> Result<(), log::Error> {
        self.disk_log().map_or(Ok(()), |log| log.truncate(from))
    }

    fn abandon_tail(&mut self, from: Index) -> Result<(), log::Error> {
        self.disk_log().map_or(Ok(()), |log| log.abandon_tail(from))
    }

    fn flush(&mut self) -> Result<(), log::Error> {
        self.disk_log().map_or(Ok(()), |log| log.flush(log.last()))
    }

    fn flush_to_disk(&mut self) -> Result<(), log::Error> {
        self.disk_log().map_or(Ok(()), |log| log.flush_to_disk())
    }

    fn take_synced(&mut self) -> Option<Synced> {
        self.io().relay.take_synced()
    }

    fn wait_for_synced(&mut self) -> Synced {
        self.io().relay.wait_for_synced()
    }

    fn is_backed_up(&self) -> bool {
        self.disk_log().is_some_and(|log| log.is_backed_up())
    }

    fn purge(&mut self, below: Index) {
        if let Some(log) = self.disk_log() {
            log.purge(below);
        }
    }

    fn confirm_tail(&mut self) -> Result<(), log::Error> {
        self.disk_log().map_or(Ok(()), |log| log.confirm_tail())
    }

    fn install_snapshot(&mut self, history_uuid: Uuid, index: Index) -> Result<(), log::Error> {
        self.close_log();
        let log = DiskLog::install_snapshot(self.data_dir(), self.log_settings(), history_uuid.0, index)?;
        log.set_keeps_recent(true);
        self.set_log(log);
        Ok(())
    }

    fn save_hard_state(&mut self, hard_state: &HardState) -> Result<(), hard_state::Error> {
        let written = hard_state.write(self.data_dir());
        self.on_hard_state_written();
        written
    }
}

impl<H: ProcessHost> Transport for H {
    fn send(&mut self, to: NodeId, frame: &Frame) -> bool {
        self.io_mut().links.send(to, frame)
    }

    fn send_append(&mut self, to: NodeId, append: &Append, payloads: &[Arc<[u8]>]) -> bool {
        self.io_mut().links.send_append(to, append, payloads)
    }

    fn queued_bytes(&self, to: NodeId) -> usize {
        self.io().links.queued_bytes(to)
    }

    fn flush_links(&mut self) {
        self.io_mut().links.flush();
    }

    fn set_protocol(&mut self, version: ProtocolVersion) {
        self.io_mut().links.set_protocol(version);
    }

    fn is_linked(&self, node: NodeId) -> bool {
        self.io().links.is_linked(node)
    }

    fn dial(&mut self, address: &str) {
        self.io_mut().links.dial(address);
    }

    fn hang_up(&mut self, address: &str) {
        self.io_mut().links.hang_up(address);
    }

    fn isolate(&mut self, is_isolated: bool) {
        self.io_mut().links.isolate(is_isolated);
    }

    fn own_address(&self) -> String {
        self.io().links.own().address.clone()
    }

    fn set_lineage(&mut self, history_uuid: Uuid, lineage: Lineage) {
        self.io_mut().links.set_lineage(history_uuid, lineage);
    }
}

impl<H: ProcessHost> Waiters for H {
    fn take_commands(&mut self) -> Vec<Command> {
        self.io().cluster.take_commands()
    }

    fn defer_command(&mut self, command: Command) {
        self.io().cluster.send_and_wake(command);
    }

    fn set_status(&mut self, status: ClusterStatus) {
        self.io().cluster.set_status(status);
    }

    fn set_raft_status(&mut self, status: RaftStatus) {
        self.io().cluster.set_raft_status(status);
    }

    fn oldest_seen(&self) -> Option<i64> {
        self.io().cluster.pending_proposals.oldest_seen()
    }

    fn refuse_proposal(&mut self, request_id: u64) {
        self.io().cluster.pending_proposals.refuse(request_id);
    }

    fn has_victim(&self) -> bool {
        self.io().cluster.pending_proposals.has_victim()
    }

    fn answer_read_index(&mut self, request_id: u64, seqno: Option<i64>) {
        self.io().cluster.answer_read_index(request_id, seqno);
    }

    fn refuse_read_requests(&mut self) {
        self.io().cluster.refuse_read_requests();
    }

    fn set_sst_result(&mut self, result: SstResult) {
        self.io().cluster.set_sst_result(result);
    }
}
