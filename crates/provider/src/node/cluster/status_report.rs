//! Reports the node's status to its own threads and to the leader.

use std::sync::atomic::Ordering as Atomic;

use super::driver::{RaftDriver, STATUS_INTERVAL_MS};
use crate::consensus::NodeId;
use crate::consensus::proposals::RequestId;
use crate::consensus::wire::{Frame, MemberStatus};
use crate::gate::GateState;
use crate::node::{OrderState, lock};

/// Minimum interval, if something has changed.
const MIN_STATUS_INTERVAL_MS: u64 = 20;
/// Without a leader for this long, the node has lost the quorum. Longer than an election.
const QUORUM_LOSS_TIMEOUT_MS: u64 = 4_000;
/// The same, in election timeouts.
const QUORUM_LOSS_ELECTIONS: u64 = 4;

impl RaftDriver {
    /// Without a leader for this long, the node has lost the quorum.
    pub(super) fn quorum_loss_timeout_ms(&self) -> u64 {
        QUORUM_LOSS_TIMEOUT_MS.max(QUORUM_LOSS_ELECTIONS * self.timing.election_ms)
    }

    /// Reports the status to the server's threads and the leader.
    pub(super) fn report_status(&mut self) {
        let now = self.now_ms();
        self.update_applied();
        let leader = self.raft.leader();
        if leader.is_some() {
            self.leader_seen_ms = now;
        }
        self.status.is_linked = self.peers.values().any(|peer| peer.unlinked_since_ms.is_none());
        // Before that index, the driver may know less than the tables hold.
        let required = match &self.leader_duties {
            Some(leader_duties) => Some(leader_duties.ready_at),
            // A new leader may know less itself, until an entry of its term is committed.
            None => {
                let is_of_this_term = self.raft.term_at(self.status.apply_bound) == Some(self.raft.term());
                self.first_leader_commit.filter(|_| is_of_this_term)
            }
        };
        self.status.has_quorum =
            leader.is_some() && required.is_some_and(|required| self.status.apply_bound >= required);
        self.stop_if_excluded();
        if self.is_stopped {
            return;
        }
        if leader.is_none() && now - self.leader_seen_ms > self.quorum_loss_timeout_ms() {
            // A leaving node does not bootstrap a cluster.
            if self.node.ignores_quorum() && !self.is_leaving {
                let mut actions = Vec::new();
                self.bootstrap("pc.ignore_sb", &mut actions);
                self.run_actions_and_sync(&mut actions);
            } else {
                self.lose_quorum();
            }
        }
        self.cluster.set_status(self.status);
        let member_status = self.member_status();
        let is_due = self.reported.as_ref().is_none_or(|(reported, at)| {
            reported.is_behind != member_status.is_behind
                || reported.apply_error != member_status.apply_error
                || *reported != member_status && now - at >= MIN_STATUS_INTERVAL_MS
                || now - at >= STATUS_INTERVAL_MS
        });
        if let Some(leader) = leader.filter(|leader| *leader != self.own_node())
            && is_due
        {
            self.send_member_status(leader, member_status.clone());
            self.reported = Some((member_status, now));
        } else if leader.is_none() && is_due && self.node.log().is_some() {
            // The node may have lost its vote, or never had one: the leader sends entries to nodes that report
            // themselves.
            self.reported = Some((member_status.clone(), now));
            let all: Vec<NodeId> = self.peers.keys().copied().collect();
            all.into_iter().for_each(|node| self.send_member_status(node, member_status.clone()));
        }
        self.resend_join_request(now);
        self.check_donor(now);
    }

    pub(super) fn send_member_status(&mut self, to: NodeId, member_status: MemberStatus) {
        let was_behind = self.reported.as_ref().is_some_and(|(reported, _)| reported.is_behind);
        if member_status.is_behind && !was_behind {
            self.node.counters.flow_sent.add(1);
        }
        self.links.send(to, &Frame::MemberStatus(member_status));
    }

    /// Reads the seqno first: a failed node releases turns that were not applied.
    pub(super) fn update_applied(&mut self) {
        let released = self.node.commit_monitor.last_released();
        if self.node.gate.state() != GateState::Failed {
            self.applied = released;
        }
    }

    /// The status of this node.
    pub(super) fn member_status(&self) -> MemberStatus {
        let member_id = self.node.member_id();
        let is_in = lock(&self.node.order).as_ref().is_some_and(|OrderState { order, .. }| order.is_in_view(member_id));
        let is_caught_up = self.cluster.is_caught_up.load(Atomic::SeqCst) && self.ordered_index.is_some();
        let is_nearly_caught_up = self.ordered_index.is_some_and(|taken| taken == self.status.apply_bound)
            && self.node.recv_queue.queued() < 64;
        // A node that was silent for a moment may have lost its vote and still be in the view.
        let has_vote = self.hard_state.voters.contains_key(&self.own_node());
        let wants_view = is_caught_up && is_nearly_caught_up && !(is_in && has_vote) && !self.is_leaving;
        let donating_to = self.node.donating_to();
        let apply_error = self.node.inconsistency.apply_error();
        MemberStatus {
            member_id,
            applied: self.applied,
            has_tables: is_in || wants_view,
            wants_view,
            is_behind: self.is_behind(),
            donating_to,
            apply_error,
        }
    }

    pub(super) fn lose_quorum(&mut self) {
        if let Some(member_id) = self.node.lose_quorum(&self.cluster) {
            self.own_member_ids.push(member_id);
            let proposals = &mut self.proposals;
            // Proposals in flight may still be ordered, and later ones only after them.
            self.payloads.retain(|request_id, _| !proposals.cancel(RequestId(*request_id)));
        }
    }
}
