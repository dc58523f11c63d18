//! Calls to a leader: append, change the membership, read index, transfer leadership.

use super::leader::LeaderTransfer;
use super::progress::{Progress, ProgressState};
use super::{Action, EntryMeta, Membership, Raft, State};
use crate::consensus::NodeId;
use crate::log::Index;

/// Why the leader does not append.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// This node is not the leader.
    #[error("this node is not the Raft leader: send the entry to the leader ({0:?})")]
    NotLeader(Option<NodeId>),
    /// A leadership transfer is under way.
    #[error("a leadership transfer is under way: try again when the new leader is known")]
    TransferInProgress,
    /// The previous change is not committed yet, or no entry of this leader's term is.
    #[error("a membership change is under way: try again when it is committed")]
    MembershipChangePending,
    /// With more than one change at once the old and the new majority might not overlap (4.1).
    #[error("the change adds or takes more than one vote: change one vote at a time")]
    TooManyAtOnce,
    /// The last voter cannot leave.
    #[error("the change leaves no voter: stop this node instead")]
    NoVotersLeft,
}

/// The leader's view of another node's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberProgress {
    /// The node.
    pub node: NodeId,
    /// Its log equals the leader's up to here, durably.
    pub match_index: Index,
    /// Time of its last message.
    pub last_contact_ms: u64,
    /// Its next entry is purged here.
    pub needs_snapshot: bool,
}

/// Calls for the driver of a leader.
impl Raft {
    /// Appends entries to the log; at most one of them changes the membership. The driver must write their payloads to
    /// its log, with [`Raft::term`], before any other call; it calls [`Raft::broadcast_append`] after the last append
    /// of a round, and [`Raft::on_durable`] when the entries are durable. It runs the actions of a membership before it
    /// writes the payloads. Returns the index of the first.
    ///
    /// # Errors
    /// This node is not the leader, or the membership cannot change now.
    pub fn append(&mut self, memberships: &[Option<Membership>], out: &mut Vec<Action>) -> Result<Index, AppendError> {
        let last = self.log_meta.last().index;
        let State::Leader(leader_state) = &mut self.state else { return Err(AppendError::NotLeader(self.leader)) };
        for progress in leader_state.progress.values_mut().filter(|progress| progress.match_index == last) {
            progress.last_level_ms = self.now_ms;
        }
        if leader_state.transfer.is_some() {
            return Err(AppendError::TransferInProgress);
        }
        let mut changes = memberships.iter().flatten();
        if let Some(change) = changes.next() {
            self.check_change(change)?;
            if changes.next().is_some() {
                return Err(AppendError::MembershipChangePending);
            }
        }
        let before = memberships.iter().any(Option::is_some).then(|| self.membership().clone());
        let first = self.log_meta.last().index.next();
        for membership in memberships {
            self.log_meta.push(&EntryMeta { term: self.term, membership: membership.clone() });
        }
        if let Some(before) = before {
            self.add_pending_memberships(first, out);
            self.on_membership_change(&before);
        }
        Ok(first)
    }

    /// Sends new entries to the followers. Without this call, their next heartbeat reply triggers it.
    pub fn broadcast_append(&mut self, out: &mut Vec<Action>) {
        self.offer_all(out);
    }

    /// Whether [`Raft::append`] accepts entries.
    #[must_use]
    pub fn can_append(&self) -> bool {
        matches!(&self.state, State::Leader(leader_state) if leader_state.transfer.is_none())
    }

    fn check_change(&self, to: &Membership) -> Result<(), AppendError> {
        if !self.can_change_membership() {
            return Err(AppendError::MembershipChangePending);
        }
        if to.voters.is_empty() {
            return Err(AppendError::NoVotersLeft);
        }
        if self.membership().distance(to) > 1 { Err(AppendError::TooManyAtOnce) } else { Ok(()) }
    }

    /// Whether the membership may change now: the previous change is committed, and so is an entry of this leader's
    /// term (else the changes of two leaders could each have a majority that does not know of the other).
    #[must_use]
    pub fn can_change_membership(&self) -> bool {
        matches!(self.state, State::Leader(_))
            && self.log_meta.membership_index() <= self.commit_index
            && self.log_meta.term_at(self.commit_index) == Some(self.term)
    }

    /// The driver sent fewer entries to `to` than [`Action::SendEntries`] asked for: only up to `upto`.
    /// [`Raft::resume_sending`], or the next reply from `to`, continues.
    pub fn on_partial_send(&mut self, to: NodeId, upto: Index) {
        let State::Leader(leader_state) = &mut self.state else { return };
        if let Some(progress) = leader_state.progress.get_mut(&to)
            && progress.state == ProgressState::Replicate
            && upto.next() < progress.next_index
        {
            progress.next_index = upto.next().max(progress.match_index.next());
        }
    }

    /// The send queue to `to` has room again.
    pub fn resume_sending(&mut self, to: NodeId, out: &mut Vec<Action>) {
        self.with_progress(to, |progress, header| progress.send_entries(to, header, out));
    }

    /// The link to `to` is new, and messages on the old one may be lost. Without this call, the next heartbeat finds
    /// out.
    pub fn on_reconnected(&mut self, to: NodeId, out: &mut Vec<Action>) {
        if let State::Leader(leader_state) = &mut self.state {
            leader_state.round += 1;
        }
        self.with_progress(to, |progress, header| {
            progress.become_probe();
            progress.send_heartbeat(to, header, out);
        });
    }

    /// Also sends entries to a node without a vote. Only this leader knows of the learner, while it leads.
    pub fn add_learner(&mut self, node: NodeId, out: &mut Vec<Action>) {
        let State::Leader(leader_state) = &mut self.state else { return };
        if node == self.id || leader_state.progress.contains_key(&node) {
            return;
        }
        leader_state.round += 1;
        leader_state.progress.insert(node, Progress::new(&self.log_meta, self.now_ms, leader_state.round));
        self.with_progress(node, |progress, header| progress.send_heartbeat(node, header, out));
    }

    /// Stops sending entries to a learner. Does nothing for a voter.
    pub fn remove_learner(&mut self, node: NodeId) {
        if self.membership().voters.contains(&node) {
            return;
        }
        if let State::Leader(leader_state) = &mut self.state {
            leader_state.progress.remove(&node);
        }
    }

    /// Progress of each node that this leader sends entries to.
    pub fn progress(&self) -> impl Iterator<Item = MemberProgress> + '_ {
        let all_progress = match &self.state {
            State::Leader(leader_state) => Some(leader_state.progress.iter()),
            _ => None,
        };
        all_progress.into_iter().flatten().map(|(node, progress)| MemberProgress {
            node: *node,
            match_index: progress.match_index,
            last_contact_ms: progress.last_contact_ms,
            needs_snapshot: progress.state == ProgressState::NeedsSnapshot,
        })
    }

    /// Whether this node is the whole cluster: it leads, there is no other voter or learner, and everything is
    /// committed. The driver may then append without a call, and reports it by [`Raft::on_single_node_append`].
    #[must_use]
    pub fn is_single_node(&self) -> bool {
        let State::Leader(leader_state) = &self.state else { return false };
        leader_state.progress.is_empty()
            && leader_state.transfer.is_none()
            && self.is_voter()
            && self.membership().voters.len() == 1
            && self.apply_bound == self.log_meta.last().index
    }

    /// The driver of a single node has appended entries up to `upto`, durably: they are committed.
    ///
    /// # Panics
    /// The node is not a single node.
    pub fn on_single_node_append(&mut self, upto: Index) {
        assert!(self.is_single_node(), "only a single-node leader may append without asking");
        if upto > self.log_meta.last().index {
            self.log_meta.extend(self.term, upto);
            (self.durable_index, self.commit_index, self.apply_bound) = (upto, upto, upto);
        }
    }

    /// A linearizable read (6.4). [`Action::ReadIndexReady`] follows when a majority has answered a round that starts
    /// after this call; at once on a single node. Requests share a round. Returns the round; None: this node is not the
    /// leader.
    pub fn read_index(&mut self, out: &mut Vec<Action>) -> Option<u64> {
        let State::Leader(leader_state) = &mut self.state else { return None };
        let asked = |round| (round, self.commit_index.max(leader_state.last_index_at_election));
        if leader_state.pending_read_index.is_some() {
            let next = leader_state.queued_read_index.take().filter(|(round, _)| *round > leader_state.round);
            let round = next.map_or(leader_state.round + 1, |(round, _)| round);
            leader_state.queued_read_index = Some(asked(round));
            return Some(round);
        }
        let round = leader_state.round + 1;
        leader_state.pending_read_index = Some(asked(round));
        self.broadcast_heartbeat(out);
        self.check_read_index(out);
        Some(round)
    }

    /// Makes `to` the leader as soon as it has all entries (3.10). Nothing is appended until then, or until an election
    /// timeout has passed. False: `to` has no vote, or this node is not the leader.
    pub fn transfer_leadership(&mut self, to: NodeId, out: &mut Vec<Action>) -> bool {
        let is_voter = to != self.id && self.membership().voters.contains(&to);
        let State::Leader(leader_state) = &mut self.state else { return false };
        if is_voter {
            leader_state.transfer =
                Some(LeaderTransfer { to, until_ms: self.now_ms + self.timing.election_ms, is_sent: false });
            self.continue_transfer(out);
        }
        is_voter
    }
}
