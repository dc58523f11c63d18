//! Passes lines that programs know from Galera to the error log (`galera_lines`), when their events occur.
//!
//! No lock is held during a call to the server. So two threads may exchange the order of their lines.

use std::sync::atomic::Ordering as Atomic;

use super::{Node, OrderState, lock};
use crate::galera_lines::{self, KnownMessage, NodeState, ViewLines};
use crate::identity::{Gtid, Uuid};
use crate::server::{Level, Member};
use crate::vote_result::ApplyError;

/// What the last lines said.
#[derive(Debug, Default)]
pub(super) struct KnownLines {
    state: NodeState,
    /// The members of the last view.
    members: Vec<Member>,
    flow_control_interval: Option<(u64, u64)>,
}

impl Node {
    fn known_line(&self, text: &str) {
        self.server.log_as_galera(Level::Note, text);
    }

    /// The node has another state.
    pub(super) fn shift_to(&self, to: NodeState) {
        let from = std::mem::replace(&mut lock(&self.known_lines).state, to);
        let lines = galera_lines::shift(from, to, self.commit_monitor.last_left());
        lines.iter().for_each(|line| self.known_line(line));
    }

    /// A donation or a desync has begun or ended.
    pub(super) fn shift_donor(&self) {
        let is_donor = self.recv_queue.is_donating.load(Atomic::SeqCst) || self.counters.desync_count.get() > 0;
        let state = lock(&self.known_lines).state;
        match (state, is_donor) {
            (NodeState::Synced, true) => self.shift_to(NodeState::Donor),
            (NodeState::Donor, false) => self.shift_to(NodeState::Synced),
            _ => {}
        }
    }

    /// A view with this node is delivered.
    pub(super) fn log_view(&self, members: &[Member], own_index: i32, number: i64, state: Gtid) {
        let before = std::mem::replace(&mut lock(&self.known_lines).members, members.to_vec());
        let raft = self.cluster().map(|cluster| cluster.raft_status()).unwrap_or_default();
        let address_of =
            |member: &Member| raft.peers.iter().find(|peer| peer.name == member.name).map(|peer| peer.address.clone());
        let view = ViewLines { before: &before, members, own_index, number, state };
        view.lines(address_of).iter().for_each(|line| self.known_line(line));
        self.log_flow_control_interval();
    }

    /// The node has lost the quorum.
    pub(super) fn log_non_primary(&self) {
        lock(&self.known_lines).members.clear();
        galera_lines::non_primary().iter().for_each(|line| self.known_line(line));
        self.shift_to(NodeState::Open);
    }

    /// The limits of flow control may have changed.
    pub(super) fn log_flow_control_interval(&self) {
        let members = self.current_members().len();
        let interval = self.limits.flow_control().interval(members);
        let before = lock(&self.known_lines).flow_control_interval.replace(interval);
        if before != Some(interval) {
            self.known_line(&galera_lines::flow_control_interval(interval));
        }
    }

    /// A joiner has requested an SST, and has a donor.
    pub(super) fn log_transfer_request(&self, joiner: &str, preference: &str, donor: &str) {
        let members = self.current_members();
        let [joiner, donor] = [joiner, donor].map(|name| galera_lines::node(&members, name));
        self.known_line(&galera_lines::transfer_request(&joiner, preference, &donor));
    }

    /// An SST has ended. `code`: 0 if it was successful.
    pub(super) fn log_transfer_end(&self, joiner: &str, donor: &str, code: i64) {
        let members = self.current_members();
        let [joiner, donor] = [joiner, donor].map(|name| galera_lines::node(&members, name));
        if code == 0 {
            return self.known_line(&galera_lines::transfer_end(&joiner, &donor, None));
        }
        let failure = format!("{code}. Hortator: the SST could not be sent: read the lines above");
        let line = galera_lines::transfer_end(&joiner, &donor, Some(&failure));
        self.server.log_as_galera(Level::Warning, &line);
    }

    /// This node could not apply a write set, and asks the others.
    pub(super) fn log_vote(&self, apply_error: ApplyError, message: &str) {
        let node = galera_lines::node(&self.current_members(), &self.setup.name);
        let gtid = Gtid { seqno: apply_error.seqno, ..self.last_committed() };
        self.known_line(&galera_lines::vote(&node, gtid, apply_error.error, message));
    }

    /// This node starts or ends to be desynced.
    pub(super) fn log_desync(&self, is_desynced: bool) {
        let node = galera_lines::node(&self.current_members(), &self.setup.name);
        self.known_line(&galera_lines::desync(&node, is_desynced));
        self.shift_donor();
    }

    /// The tables of this node are wrong: by a vote, or for another reason.
    pub(super) fn log_wrong_tables(&self, message: &KnownMessage, text: &str) {
        let is_by_vote = lock(&self.saved).is_some_and(|saved| saved.history_uuid == Uuid::UNDEFINED);
        self.server.log_error(is_by_vote.then_some(message), text);
    }

    fn current_members(&self) -> Vec<Member> {
        lock(&self.order).as_ref().map_or_else(Vec::new, |OrderState { order, .. }| order.members().to_vec())
    }
}
