//! Reports the node's status to its own threads and to the leader.

use super::host::{FlowEvent, Host};
use super::{Replica, STATUS_INTERVAL_MS};
use crate::consensus::NodeId;
use crate::consensus::wire::{Frame, MemberStatus};
use crate::gate::GateState;

/// Minimum interval, if something has changed.
const MIN_STATUS_INTERVAL_MS: u64 = 20;

impl<H: Host> Replica<H> {
    /// Reports the status to the server's threads and the leader.
    pub(super) fn report_status(&mut self) {
        let now = self.now_ms();
        self.update_applied();
        let leader = self.raft.leader();
        self.status.is_linked = self.has_linked_peers();
        self.check_quorum();
        if self.round.is_stopped {
            return;
        }
        self.host.set_status(self.status);
        let member_status = self.member_status();
        self.publish_raft_status(now, member_status.is_behind);
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
        } else if leader.is_none() && is_due && self.host.has_log() {
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
            self.host.count(FlowEvent::Sent);
        }
        self.host.send(to, &Frame::MemberStatus(member_status));
    }

    /// Reads the seqno first: a failed node releases turns that were not applied.
    pub(super) fn update_applied(&mut self) {
        let released = self.host.last_released();
        if self.host.gate_state() != GateState::Failed {
            self.ordered.applied = released;
        }
    }

    /// The status of this node.
    pub(super) fn member_status(&self) -> MemberStatus {
        let member_id = self.host.member_id();
        // A thread reads its last-seen seqno and registers its proposal under the order's lock. `applied` was read before.
        let read = self.host.with_order(|order| (order.is_in_view(member_id), self.host.oldest_seen()));
        let (is_in, oldest_pending) = read.unwrap_or((false, None));
        let is_caught_up = self.host.is_caught_up() && self.ordered.index.is_some();
        let is_nearly_caught_up =
            self.ordered.index.is_some_and(|taken| taken == self.status.apply_bound) && self.host.queued().0 < 64;
        // A node that was silent for a moment may have lost its vote and still be in the view.
        let has_vote = self.hard_state.voters.contains_key(&self.own_node());
        let wants_view = is_caught_up && is_nearly_caught_up && !(is_in && has_vote) && !self.leave.is_leaving;
        let donating_to = self.host.donating_to();
        let apply_error = self.host.apply_error();
        MemberStatus {
            versions: self.versions,
            member_id,
            applied: self.ordered.applied,
            oldest_seen: oldest_pending.unwrap_or(i64::MAX).min(self.ordered.applied),
            has_tables: is_in || wants_view,
            wants_view,
            is_behind: self.is_behind(),
            donating_to,
            apply_error,
            weight: self.host.wanted_weight(),
        }
    }
}
