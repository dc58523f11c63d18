//! The host of a replica in the server's process: the node with its tables and its server. What it shares with a witness:
//! `process_host`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering as Atomic;

use super::ClusterHandle;
use super::process_host::{ProcessHost, ProcessIo};
use crate::consensus::lineage::Lineage;
use crate::consensus::links::Security;
use crate::consensus::raft::Term;
use crate::consensus::wire::DonationStatus;
use crate::gate::GateState;
use crate::identity::{Gtid, Uuid};
use crate::log::{self, DiskLog, Index};
use crate::node::replica::{FlowEvent, LocalNode, OrderedEntry, SingleNodeEnd};
use crate::node::{Node, OrderState, TotalOrder, lock};
use crate::server::{CallbackError, Level, Member};
use crate::vote_result::{ApplyError, VoteResult};

/// What the replica of this node uses.
pub(super) struct NodeHost {
    node: Arc<Node>,
    cluster: Arc<ClusterHandle>,
    io: ProcessIo<Self>,
}

impl NodeHost {
    pub(super) fn new(node: Arc<Node>, io: ProcessIo<Self>) -> Self {
        Self { node, cluster: Arc::clone(&io.cluster), io }
    }

    /// The lengths of the receive queue at which a pause ends and starts.
    fn flow_control_interval(&self) -> (u64, u64) {
        let members = self.with_order(|order| order.members().len()).unwrap_or(0);
        self.node.limits.flow_control().interval(members)
    }
}

impl ProcessHost for NodeHost {
    fn io(&self) -> &ProcessIo<Self> {
        &self.io
    }

    fn io_mut(&mut self) -> &mut ProcessIo<Self> {
        &mut self.io
    }

    fn disk_log(&self) -> Option<Arc<DiskLog>> {
        self.node.log()
    }

    fn close_log(&mut self) {
        self.node.close_log();
    }

    fn set_log(&mut self, log: DiskLog) {
        self.node.set_log(log);
    }

    fn log_settings(&self) -> log::Settings {
        self.node.log_settings()
    }

    fn data_dir(&self) -> &Path {
        &self.node.setup.data_dir
    }

    fn security(&self) -> Arc<Security> {
        self.node.security()
    }

    fn on_hard_state_written(&mut self) {
        self.node.update_grastate();
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

    fn tables_position(&self) -> Option<Gtid> {
        let saved = *lock(&self.node.saved);
        self.node.tables_at(saved.as_ref())
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
            None | Some(OrderState { is_single_node: true, .. }) => {
                if !self.cluster.starts_alone() {
                    return false;
                }
            }
            Some(OrderState { order, is_single_node, .. }) => {
                let own = self.node.member_id();
                let is_alone_in_view = order.members().iter().all(|member| member.id == own);
                let is_quiet = ordered == Some(log.last())
                    && !has_proposals
                    && self.cluster.pending_proposals.len() == 0
                    // Rollbacks are sent under the order's lock, and nobody waits for them.
                    && !self.cluster.has_unread_proposals()
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

    fn order_held_rollbacks(&mut self) {
        self.node.retry_held_rollbacks();
    }

    fn leave_single_node(&mut self) -> Option<SingleNodeEnd> {
        let log = self.node.log()?;
        let mut order_state = lock(&self.node.order);
        let state = order_state.as_mut()?;
        match self.node.gate.state() {
            // If the log has no room, they are proposed before the next write set.
            GateState::Open => drop(self.node.order_held_rollbacks(state)),
            GateState::Paused => {}
            // The startup is not complete yet.
            GateState::Closed | GateState::Failed => return None,
        }
        let OrderState { order, is_single_node, .. } = state;
        let last = log.last();
        if let Err(error) = log.flush(last) {
            drop(order_state);
            self.node.fail(&format!("the log cannot be written: {error}"));
            return None;
        }
        log.set_keeps_recent(true);
        *is_single_node = false;
        self.cluster.is_caught_up.store(true, Atomic::SeqCst);
        Some(SingleNodeEnd { last, seqno: order.seqno, protocol: order.protocol })
    }

    fn lose_quorum(&mut self) -> Option<Uuid> {
        self.node.lose_quorum(&self.cluster)
    }

    fn ignores_quorum(&self) -> bool {
        self.node.ignores_quorum()
    }

    fn wanted_weight(&self) -> u8 {
        self.node.limits.weight()
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
