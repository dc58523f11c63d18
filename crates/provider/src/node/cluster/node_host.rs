//! The host of a replica in the server's process: the node, its log on disk, its links, and the waiting threads.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering as Atomic;
use std::time::{Duration, Instant};

use super::ClusterHandle;
use super::driver::RaftDriver;
use super::relay::Relay;
use crate::consensus::NodeId;
use crate::consensus::hard_state::{self, HardState};
use crate::consensus::lineage::Lineage;
use crate::consensus::links::{Event, Links, Security};
use crate::consensus::raft::{Append, Term};
use crate::consensus::wire::{DonationStatus, Frame};
use crate::gate::GateState;
use crate::identity::Uuid;
use crate::log::{self, DiskLog, Index, LogRecords, Shared};
use crate::node::replica::{
    Clock, ClusterStatus, Command, EntryLog, FlowEvent, LocalNode, OrderedEntry, RaftStatus, SingleNodeEnd, SstResult,
    Synced, Transport, Waiters,
};
use crate::node::{Node, OrderState, TotalOrder, lock};
use crate::server::{CallbackError, Level, Member};
use crate::vote_result::{ApplyError, VoteResult};

/// What the replica of this node uses.
pub(super) struct NodeHost {
    node: Arc<Node>,
    pub(super) cluster: Arc<ClusterHandle>,
    links: Links,
    /// What the links require.
    security: Arc<Security>,
    pub(super) relay: Arc<Relay<RaftDriver>>,
    started: Instant,
}

impl NodeHost {
    pub(super) fn new(
        node: Arc<Node>,
        cluster: Arc<ClusterHandle>,
        mut links: Links,
        relay: Arc<Relay<RaftDriver>>,
    ) -> Self {
        let security = node.security();
        links.set_security(Arc::clone(&security));
        Self { node, cluster, links, security, relay, started: Instant::now() }
    }

    /// Waits for events of the links.
    pub(super) fn poll(&mut self, timeout: Duration) -> Vec<Event> {
        let security = self.node.security();
        if !Arc::ptr_eq(&security, &self.security) {
            self.security = Arc::clone(&security);
            self.links.set_security(security);
        }
        let mut events = Vec::new();
        self.links.poll(timeout, &mut events);
        if self.security.is_on() {
            for event in &events {
                self.log_protection(event);
            }
        }
        events
    }

    /// The lengths of the receive queue at which a pause ends and starts.
    fn flow_control_interval(&self) -> (u64, u64) {
        let members = self.with_order(|order| order.members().len()).unwrap_or(0);
        self.node.limits.flow_control().interval(members)
    }

    /// A node with TLS or a secret logs how each link is protected.
    fn log_protection(&self, event: &Event) {
        if let Event::Up(hello) = event
            && self.links.is_linked(hello.node)
        {
            let protection = self.links.protection(hello.node);
            self.node.note(&format!("the link to {} ({}): {protection}", hello.name, hello.address));
        }
    }

    /// The log, if the node has one.
    pub(super) fn disk_log(&self) -> Option<Arc<DiskLog>> {
        self.node.log()
    }
}

impl Clock for NodeHost {
    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn random_uuid(&mut self) -> io::Result<Uuid> {
        Uuid::random()
    }
}

impl EntryLog for NodeHost {
    fn records(&self) -> Option<impl LogRecords> {
        self.node.log()
    }

    fn has_log(&self) -> bool {
        self.node.log().is_some()
    }

    fn bounds(&self) -> Option<(Index, Index)> {
        self.node.log().map(|log| (log.first(), log.last()))
    }

    fn flushed(&self) -> Index {
        self.node.log().map_or(Index(0), |log| log.flushed())
    }

    fn entries(&self, first: Index, limit_bytes: usize) -> Result<Vec<Shared>, log::Error> {
        self.node.log().map_or(Ok(Vec::new()), |log| log.entries(first, limit_bytes))
    }

    fn throttle(&self) -> Result<(), log::Error> {
        self.node.log().map_or(Ok(()), |log| log.throttle())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<Index, log::Error> {
        self.node.log().expect("a node without a log appends nothing").append(&[bytes])
    }

    fn truncate(&mut self, from: Index) -> Result<(), log::Error> {
        self.node.log().map_or(Ok(()), |log| log.truncate(from))
    }

    fn flush(&mut self) -> Result<(), log::Error> {
        self.node.log().map_or(Ok(()), |log| log.flush(log.last()))
    }

    fn take_synced(&mut self) -> Option<Synced> {
        self.relay.take_synced()
    }

    fn wait_for_synced(&mut self) -> Synced {
        self.relay.wait_for_synced()
    }

    fn is_backed_up(&self) -> bool {
        self.node.log().is_some_and(|log| log.is_backed_up())
    }

    fn purge(&mut self, below: Index) {
        if let Some(log) = self.node.log() {
            log.purge(below);
        }
    }

    fn confirm_tail(&mut self) -> Result<(), log::Error> {
        self.node.log().map_or(Ok(()), |log| log.confirm_tail())
    }

    fn install_snapshot(&mut self, history_uuid: Uuid, index: Index) -> Result<(), log::Error> {
        self.node.close_log();
        let settings = self.node.log_settings();
        let log = DiskLog::install_snapshot(&self.node.setup.data_dir, settings, history_uuid.0, index)?;
        log.set_keeps_recent(true);
        self.node.set_log(log);
        Ok(())
    }

    fn save_hard_state(&mut self, hard_state: &HardState) -> Result<(), hard_state::Error> {
        let written = hard_state.write(&self.node.setup.data_dir);
        self.node.update_grastate();
        written
    }
}

impl Transport for NodeHost {
    fn send(&mut self, to: NodeId, frame: &Frame) -> bool {
        self.links.send(to, frame)
    }

    fn send_append(&mut self, to: NodeId, append: &Append, payloads: &[Arc<[u8]>]) -> bool {
        self.links.send_append(to, append, payloads)
    }

    fn queued_bytes(&self, to: NodeId) -> usize {
        self.links.queued_bytes(to)
    }

    fn flush_links(&mut self) {
        self.links.flush();
    }

    fn is_linked(&self, node: NodeId) -> bool {
        self.links.is_linked(node)
    }

    fn dial(&mut self, address: &str) {
        self.links.dial(address);
    }

    fn hang_up(&mut self, address: &str) {
        self.links.hang_up(address);
    }

    fn isolate(&mut self, is_isolated: bool) {
        self.links.isolate(is_isolated);
    }

    fn own_address(&self) -> String {
        self.links.own().address.clone()
    }

    fn set_lineage(&mut self, history_uuid: Uuid, lineage: Lineage) {
        self.links.set_lineage(history_uuid, lineage);
    }
}

impl LocalNode for NodeHost {
    fn name(&self) -> String {
        self.node.setup.name.clone()
    }

    fn log(&self, level: Level, text: &str) {
        self.node.server.log(level, text);
    }

    fn log_transfer_request(&self, joiner: &str, preference: &str, donor: &str) {
        self.node.log_transfer_request(joiner, preference, donor);
    }

    fn fail(&mut self, text: &str) {
        self.node.fail(text);
    }

    fn end_start(&mut self) {
        self.node.server.end_start();
    }

    fn gate_state(&self) -> GateState {
        self.node.gate.state()
    }

    fn member_id(&self) -> Uuid {
        self.node.member_id()
    }

    fn own_member(&self) -> Member {
        self.node.own_member()
    }

    fn history_uuid(&self) -> Uuid {
        self.node.history_uuid()
    }

    fn has_no_tables(&self) -> bool {
        lock(&self.node.saved).is_some_and(|saved| saved.history_uuid.is_undefined())
    }

    fn with_order<T>(&self, read: impl FnOnce(&TotalOrder) -> T) -> Option<T> {
        lock(&self.node.order).as_ref().map(|order_state| read(&order_state.order))
    }

    fn last_released(&self) -> i64 {
        self.node.commit_monitor.last_released()
    }

    fn is_caught_up(&self) -> bool {
        self.cluster.is_caught_up.load(Atomic::SeqCst)
    }

    fn can_order(&self) -> bool {
        self.node.can_order(&self.cluster)
    }

    fn order_committed(
        &mut self,
        index: Index,
        bytes: &[u8],
        own_member_ids: &[Uuid],
    ) -> Result<Option<OrderedEntry>, CallbackError> {
        self.node.order_committed(&self.cluster, index, bytes, own_member_ids)
    }

    fn queued(&self) -> (u64, u64) {
        (self.node.recv_queue.queued() as u64, self.flow_control_interval().1)
    }

    fn resume_limit(&self) -> u64 {
        self.flow_control_interval().0
    }

    fn is_desynced(&self) -> bool {
        let is_donor = self.node.recv_queue.is_donating.load(Atomic::SeqCst);
        let counts_as_donor = is_donor && !self.node.limits.flow_control().waits_for_donors;
        self.node.counters.desync_count.get() > 0 || counts_as_donor
    }

    fn set_leader_term(&mut self, term: Term) {
        let _order = lock(&self.node.order);
        self.node.leader_term.store(term.0, Atomic::Relaxed);
    }

    fn enter_single_node(&mut self, ordered: Option<Index>, has_proposals: bool) -> bool {
        let Some(log) = self.node.log() else { return false };
        let mut order_state = lock(&self.node.order);
        match order_state.as_mut() {
            // The tables are not there yet: the node starts as a single node. Or it is connected again, and was one
            // before.
            None | Some(OrderState { is_single_node: true, .. }) => {}
            Some(OrderState { order, is_single_node }) => {
                let own = self.node.member_id();
                let is_alone_in_view = order.members().iter().all(|member| member.id == own);
                let is_quiet = ordered == Some(log.last())
                    && !has_proposals
                    && self.cluster.pending_proposals.len() == 0
                    && self.node.gate.state() == GateState::Open
                    && is_alone_in_view;
                if !is_quiet {
                    return false;
                }
                *is_single_node = true;
            }
        }
        drop(order_state);
        log.set_keeps_recent(false);
        true
    }

    fn leave_single_node(&mut self) -> Option<SingleNodeEnd> {
        let log = self.node.log()?;
        let mut order_state = lock(&self.node.order);
        let OrderState { order, is_single_node } = order_state.as_mut()?;
        if !matches!(self.node.gate.state(), GateState::Open | GateState::Paused) {
            // The startup is not complete yet.
            return None;
        }
        let last = log.last();
        if let Err(error) = log.flush(last) {
            drop(order_state);
            self.node.fail(&format!("the log cannot be written: {error}"));
            return None;
        }
        log.set_keeps_recent(true);
        *is_single_node = false;
        self.cluster.is_caught_up.store(true, Atomic::SeqCst);
        Some(SingleNodeEnd { last, seqno: order.seqno })
    }

    fn lose_quorum(&mut self) -> Option<Uuid> {
        self.node.lose_quorum(&self.cluster)
    }

    fn ignores_quorum(&self) -> bool {
        self.node.ignores_quorum()
    }

    fn set_lineage_of_tables(&mut self, lineage: Lineage) {
        self.node.set_lineage(lineage);
    }

    fn save_lineage(&mut self) {
        self.node.save_lineage();
    }

    fn count(&mut self, event: FlowEvent) {
        let counters = &self.node.counters;
        match event {
            FlowEvent::Sent => counters.flow_sent.add(1),
            FlowEvent::Paused => {
                counters.flow_received.add(1);
                counters.flow_active.add(1);
            }
            FlowEvent::Lasted(time) => {
                counters.flow_paused_ns.add(i64::try_from(time.as_nanos()).unwrap_or(i64::MAX));
            }
            FlowEvent::Resumed => counters.flow_active.add(-1),
        }
    }

    fn apply_error(&self) -> Option<ApplyError> {
        self.node.inconsistency.apply_error()
    }

    fn is_own_statement(&self) -> bool {
        self.node.inconsistency.is_own_statement()
    }

    fn vote_result(&self, seqno: i64) -> Option<VoteResult> {
        self.node.inconsistency.result(seqno)
    }

    fn add_vote_results(&mut self, results: &[(i64, VoteResult)]) {
        self.node.inconsistency.add_results(results);
    }

    fn abandon_vote(&mut self) {
        self.node.inconsistency.abandon_vote();
    }

    fn check_vote_results(&mut self) {
        self.node.check_vote_results();
    }

    fn resolved_upto(&self) -> i64 {
        self.node.inconsistency.resolved_upto()
    }

    fn preferred_donor(&self) -> String {
        self.node.preferred_donor()
    }

    fn donating_to(&self) -> Option<String> {
        self.node.donating_to()
    }

    fn start_donation(&mut self, request: Vec<u8>, instance_id: Uuid, address: String) {
        self.node.start_donation(request, instance_id, address);
    }

    fn donation_status(&self, instance_id: Uuid) -> DonationStatus {
        self.node.donation_status(instance_id)
    }
}

impl Waiters for NodeHost {
    fn take_commands(&mut self) -> Vec<Command> {
        self.cluster.take_commands()
    }

    fn defer_command(&mut self, command: Command) {
        self.cluster.send_and_wake(command);
    }

    fn set_status(&mut self, status: ClusterStatus) {
        self.cluster.set_status(status);
    }

    fn set_raft_status(&mut self, status: RaftStatus) {
        self.cluster.set_raft_status(status);
    }

    fn oldest_seen(&self) -> Option<i64> {
        self.cluster.pending_proposals.oldest_seen()
    }

    fn refuse_proposal(&mut self, request_id: u64) {
        self.cluster.pending_proposals.refuse(request_id);
    }

    fn has_victim(&self) -> bool {
        self.cluster.pending_proposals.has_victim()
    }

    fn answer_read_index(&mut self, request_id: u64, seqno: Option<i64>) {
        self.cluster.answer_read_index(request_id, seqno);
    }

    fn refuse_read_requests(&mut self) {
        self.cluster.refuse_read_requests();
    }

    fn set_sst_result(&mut self, result: SstResult) {
        self.cluster.set_sst_result(result);
    }
}
