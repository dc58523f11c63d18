//! The leader: replicates entries, and commits them when a majority holds them.

use std::collections::BTreeMap;

use super::progress::{AppendHeader, Progress, ProgressState};
use super::{Action, Membership, Message, Raft, State};
use crate::consensus::NodeId;
use crate::log::Index;

/// A voter that lacks no more entries than this is awaited where one voter has a majority alone.
const NEAR_ENTRIES: u64 = 2_000;

/// State of a leader.
pub(super) struct LeaderState {
    pub(super) progress: BTreeMap<NodeId, Progress>,
    /// Increases with every heartbeat and every probe.
    pub(super) round: u64,
    pub(super) heartbeat_at_ms: u64,
    /// End of the log at the election: includes everything that was committed before.
    pub(super) last_index_at_election: Index,
    /// The round that a majority has still to answer, and the commit index at the request.
    pub(super) pending_read_index: Option<(u64, Index)>,
    /// The round after that, for later requests.
    pub(super) queued_read_index: Option<(u64, Index)>,
    pub(super) transfer: Option<LeaderTransfer>,
}

/// A leadership transfer under way.
pub(super) struct LeaderTransfer {
    pub(super) to: NodeId,
    pub(super) until_ms: u64,
    pub(super) is_sent: bool,
}

/// Events of a leader.
impl Raft {
    pub(super) fn become_leader(&mut self, out: &mut Vec<Action>) {
        self.leader = Some(self.id);
        let voters = self.membership().voters.iter().filter(|&&voter| voter != self.id);
        self.state = State::Leader(LeaderState {
            progress: voters.map(|voter| (*voter, Progress::new(&self.log_meta, self.now_ms, 0))).collect(),
            round: 0,
            heartbeat_at_ms: self.now_ms + self.timing.heartbeat_ms,
            last_index_at_election: self.log_meta.last().index,
            pending_read_index: None,
            queued_read_index: None,
            transfer: None,
        });
        self.announce_leader(out);
        self.finish_recovery(out);
        out.push(Action::BecameLeader { term: self.term });
        self.broadcast_heartbeat(out);
    }

    /// The leader's timer: a leader without contact to a majority steps down (6.2).
    pub(super) fn tick_leader(&mut self, out: &mut Vec<Action>) {
        if !self.is_quorum_active() {
            return self.become_follower(None, out);
        }
        let (now_ms, election_ms) = (self.now_ms, self.timing.election_ms);
        let State::Leader(leader_state) = &mut self.state else { return };
        leader_state.transfer.take_if(|transfer| self.now_ms >= transfer.until_ms);
        leader_state.progress.retain(|_, progress| {
            progress.removed_at.is_none() || now_ms.saturating_sub(progress.last_contact_ms) < election_ms
        });
        if self.now_ms >= leader_state.heartbeat_at_ms {
            leader_state.heartbeat_at_ms = self.now_ms + self.timing.heartbeat_ms;
            self.broadcast_heartbeat(out);
        }
        if !self.membership().needs_several() {
            // The second voter may be gone.
            self.advance_commit_index(out);
        }
    }

    /// Whether a majority was heard within an election timeout.
    fn is_quorum_active(&self) -> bool {
        let since = self.now_ms.saturating_sub(self.timing.election_ms);
        self.has_majority_of(|progress| progress.last_contact_ms >= since)
    }

    /// Whether the condition holds for voters with more than half of the votes; for this node it always holds.
    fn has_majority_of(&self, is_so: impl Fn(&Progress) -> bool) -> bool {
        let State::Leader(leader_state) = &self.state else { return false };
        let membership = self.membership();
        let counts = |voter: &NodeId| *voter == self.id || leader_state.progress.get(voter).is_some_and(&is_so);
        membership.votes_of(counts) >= membership.majority()
    }

    pub(super) fn on_append_reply(
        &mut self,
        from: NodeId,
        (round, last): (u64, Index),
        is_accepted: bool,
        upto: Index,
        out: &mut Vec<Action>,
    ) {
        let State::Leader(leader_state) = &mut self.state else { return };
        let Some(progress) = leader_state.progress.get_mut(&from) else { return };
        if round > leader_state.round || (is_accepted && upto > self.log_meta.last().index) {
            return;
        }
        progress.last_contact_ms = self.now_ms;
        progress.answered_round = progress.answered_round.max(round);
        if is_accepted {
            progress.on_accepted(round, upto, self.now_ms);
            self.advance_commit_index(out);
            self.resume_sending(from, out);
            self.drop_removed_voter(from);
        } else if progress.on_rejected(round, (upto, last), leader_state.round + 1, &self.log_meta) {
            leader_state.round += 1;
            self.with_progress(from, |progress, header| progress.send_heartbeat(from, header, out));
        } else if progress.state == ProgressState::NeedsSnapshot {
            out.push(Action::SnapshotRequired { node: from, has: upto });
        }
        self.check_read_index(out);
        self.continue_transfer(out);
    }

    /// Commits what is durable on a majority, if the last entry is of this term: only then can no node be elected
    /// without it (3.6.2). All earlier entries are committed with it.
    pub(super) fn advance_commit_index(&mut self, out: &mut Vec<Action>) {
        let Some(majority_index) = self.majority_index() else { return };
        if majority_index <= self.commit_index || self.log_meta.term_at(majority_index) != Some(self.term) {
            return;
        }
        self.commit_index = majority_index;
        self.update_apply_bound(out);
        self.offer_all(out);
        self.broadcast_commit(out);
        if !self.is_voter() && self.log_meta.membership_index() <= self.commit_index {
            self.step_down_removed(out);
        }
    }

    /// As leader: a majority of the voters has everything up to here, durably. An entry behind it may be committed all the
    /// same, with the voters before the last membership.
    #[must_use]
    pub fn majority_index(&self) -> Option<Index> {
        let State::Leader(leader_state) = &self.state else { return None };
        let membership = self.log_meta.membership();
        let upto = |voter: NodeId| {
            if voter == self.id {
                self.durable_index
            } else {
                leader_state.progress.get(&voter).map_or(Index(0), |progress| progress.match_index)
            }
        };
        let mut have: Vec<Index> = membership.votes().map(upto).collect();
        have.sort_unstable();
        let index = have.get(have.len().wrapping_sub(membership.majority())).copied()?;
        Some(if membership.needs_several() {
            index
        } else {
            index.min(self.second_copy(leader_state).unwrap_or(index))
        })
    }

    /// Where one voter has a majority alone: what two voters have, durably. A commit waits for it, so that the loss of one disk
    /// loses nothing that was committed while two nodes were there. None: no other voter is there, or near, or it has taken
    /// nothing for a while: its disk may hang.
    fn second_copy(&self, leader_state: &LeaderState) -> Option<Index> {
        let since = self.now_ms.saturating_sub(self.timing.election_ms);
        let last = self.log_meta.last().index;
        let is_near = |progress: &&Progress| match progress.state {
            ProgressState::Replicate => {
                progress.match_index.0.saturating_add(NEAR_ENTRIES) >= last.0
                    && (progress.match_index == last || progress.last_level_ms >= since)
            }
            // A new link, or a new leader.
            ProgressState::Probe => true,
            ProgressState::NeedsSnapshot => false,
        };
        let others = self.membership().voters.iter().filter(|voter| **voter != self.id);
        let others = others.filter_map(|voter| leader_state.progress.get(voter));
        let there = others.filter(|progress| progress.last_contact_ms >= since).filter(is_near);
        let mut have: Vec<Index> = there.map(|progress| progress.match_index).collect();
        if have.is_empty() {
            return None;
        }
        have.extend(self.is_voter().then_some(self.durable_index));
        have.sort_unstable();
        have.iter().rev().nth(1).copied()
    }

    /// Sends the new commit index at once to followers that get no entries now: their clients wait for it.
    fn broadcast_commit(&mut self, out: &mut Vec<Action>) {
        let committed = self.commit_index;
        self.for_each_progress(|node, progress, header| {
            if progress.state == ProgressState::Replicate && progress.sent_commit < committed {
                progress.send_heartbeat(node, header, out);
            }
        });
    }

    /// This leader is no longer a voter, and that is committed: the most advanced voter takes over (4.2.2).
    fn step_down_removed(&mut self, out: &mut Vec<Action>) {
        let term = self.term;
        let next = self.progress().filter(|progress| self.membership().voters.contains(&progress.node));
        if let Some(next) = next.max_by_key(|progress| progress.match_index) {
            out.push(Action::Send { to: next.node, message: Message::TimeoutNow { term } });
        }
        self.become_follower(None, out);
    }

    /// Stops sending to a removed voter once it knows that it is removed.
    fn drop_removed_voter(&mut self, node: NodeId) {
        let State::Leader(leader_state) = &mut self.state else { return };
        let Some(progress) = leader_state.progress.get(&node) else { return };
        if progress
            .removed_at
            .is_some_and(|at| progress.match_index >= at && progress.sent_commit >= at && self.commit_index >= at)
        {
            leader_state.progress.remove(&node);
        }
    }

    /// Starts sending to new voters; marks removed ones.
    pub(super) fn on_membership_change(&mut self, before: &Membership) {
        let State::Leader(leader_state) = &mut self.state else { return };
        let at = self.log_meta.membership_index();
        let voters = &self.log_meta.membership().voters;
        for voter in voters.difference(&before.voters).filter(|&&voter| voter != self.id) {
            let new = || Progress::new(&self.log_meta, self.now_ms, leader_state.round);
            leader_state.progress.entry(*voter).or_insert_with(new).removed_at = None;
        }
        for voter in before.voters.difference(voters) {
            if let Some(progress) = leader_state.progress.get_mut(voter) {
                progress.removed_at = Some(at);
            }
        }
    }

    pub(super) fn continue_transfer(&mut self, out: &mut Vec<Action>) {
        let State::Leader(leader_state) = &mut self.state else { return };
        let Some(transfer) = leader_state.transfer.as_mut().filter(|transfer| !transfer.is_sent) else { return };
        if leader_state
            .progress
            .get(&transfer.to)
            .is_some_and(|progress| progress.match_index == self.log_meta.last().index)
        {
            transfer.is_sent = true;
            out.push(Action::Send { to: transfer.to, message: Message::TimeoutNow { term: self.term } });
        }
    }

    pub(super) fn check_read_index(&mut self, out: &mut Vec<Action>) {
        while let State::Leader(leader_state) = &self.state
            && let Some((round, upto)) = leader_state.pending_read_index
            && self.has_majority_of(|progress| progress.answered_round >= round)
        {
            out.push(Action::ReadIndexReady { round, upto });
            let State::Leader(leader_state) = &mut self.state else { return };
            leader_state.pending_read_index = leader_state.queued_read_index.take();
            if leader_state.pending_read_index.is_some_and(|(next, _)| next > leader_state.round) {
                self.broadcast_heartbeat(out);
            }
        }
    }

    /// Starts a new round of heartbeats.
    pub(super) fn broadcast_heartbeat(&mut self, out: &mut Vec<Action>) {
        if let State::Leader(leader_state) = &mut self.state {
            leader_state.round += 1;
        }
        self.for_each_progress(|node, progress, header| progress.send_heartbeat(node, header, out));
    }

    pub(super) fn offer_all(&mut self, out: &mut Vec<Action>) {
        self.for_each_progress(|node, progress, header| progress.send_entries(node, header, out));
    }

    fn for_each_progress(&mut self, mut act: impl FnMut(NodeId, &mut Progress, &AppendHeader<'_>)) {
        let State::Leader(leader_state) = &mut self.state else { return };
        let header = AppendHeader {
            term: self.term,
            leader_commit: self.commit_index,
            round: leader_state.round,
            log_meta: &self.log_meta,
        };
        for (node, progress) in &mut leader_state.progress {
            act(*node, progress, &header);
        }
    }

    pub(super) fn with_progress(&mut self, to: NodeId, act: impl FnOnce(&mut Progress, &AppendHeader<'_>)) {
        let State::Leader(leader_state) = &mut self.state else { return };
        let header = AppendHeader {
            term: self.term,
            leader_commit: self.commit_index,
            round: leader_state.round,
            log_meta: &self.log_meta,
        };
        if let Some(progress) = leader_state.progress.get_mut(&to) {
            act(progress, &header);
        }
    }
}
