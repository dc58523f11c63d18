//! Passes lines that programs know from Galera to the error log (`galera_lines`), when their events occur.
//!
//! No lock is held during a call to the server. So two threads may exchange the order of their lines.

use std::sync::atomic::Ordering as Atomic;

use super::{Node, OrderState, lock};
use crate::galera_lines::{self, KnownMessage, ViewLines};
use crate::gate::Shift;
use crate::identity::{Gtid, Uuid};
use crate::node_state::StateEvent;
use crate::server::{Level, Member};
use crate::vote_result::ApplyError;

/// What the last lines said.
#[derive(Debug, Default)]
pub(super) struct KnownLines {
    /// The members of the last view.
    members: Vec<Member>,
    flow_control_interval: Option<(u64, u64)>,
    /// The last seqno that the node had when it was away, or when it started.
    missed_after: Option<i64>,
}

impl Node {
    fn known_line(&self, text: &str) {
        self.server.log_as_galera(Level::Note, text);
    }

    /// Something happens that may change the state of the node. Returns whether it has.
    pub(super) fn shift(&self, event: StateEvent) -> bool {
        let shift = self.gate.shift(event);
        self.log_shift(&shift);
        shift.is_change()
    }

    /// A donation or a desync has begun or ended.
    pub(super) fn shift_donor(&self) {
        let (donating, desyncs) = (&self.recv_queue.is_donating, &self.counters.desync_count);
        let shift = self.gate.shift_donor(|| donating.load(Atomic::SeqCst) || desyncs.get() > 0);
        self.log_shift(&shift);
    }

    /// The node's tables have reached a view that it is in. Returns whether it takes part from now on: it may have left
    /// meanwhile.
    pub(super) fn take_part(&self) -> bool {
        let missed_after = lock(&self.known_lines).missed_after.take();
        if let Some(after) = missed_after {
            let lines = galera_lines::received_missed(after, self.last_committed());
            lines.iter().for_each(|line| self.known_line(line));
        }
        let is_new = self.shift(StateEvent::CaughtUp);
        // A donation may go on over a loss of the quorum.
        self.shift_donor();
        is_new
    }

    /// The state of the node has changed.
    pub(super) fn log_shift(&self, shift: &Shift) {
        let lines = galera_lines::shifts(shift, self.commit_monitor.last_left());
        lines.iter().for_each(|line| self.known_line(line));
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
    pub(super) fn log_non_primary(&self, shift: &Shift) {
        lock(&self.known_lines).members.clear();
        let seqno = lock(&self.order).as_ref().map_or(0, |OrderState { order, .. }| order.seqno);
        self.misses_after(seqno);
        galera_lines::non_primary().iter().for_each(|line| self.known_line(line));
        self.log_shift(shift);
    }

    /// The node will receive what follows that seqno.
    pub(super) fn misses_after(&self, seqno: i64) {
        lock(&self.known_lines).missed_after = Some(seqno);
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
