//! Recovering nodes: their logs may lack entries that they have acknowledged.
//!
//! Raft assumes that a log keeps what its node has acknowledged (thesis, 3.8). A disk that loses the end of a log breaks
//! that: a leader has counted the node for a committed entry, and now its vote helps to elect one without that entry.
//! (Alagappan et al., "Protocol-Aware Recovery for Consensus-Based Storage", FAST 2018. Viewstamped Replication calls
//! such a node recovering, too.)
//!
//! # Rules
//!
//! 1. A candidate is elected by a majority of its voters that are not recovering. Else all voters must grant their votes,
//!    recovering or not, and so must, for each membership that the candidate or one of them knows, all its voters or a
//!    majority of them that is not recovering.
//! 2. A node has recovered when a leader has said, after the loss, what is committed, and the node's durable log equals
//!    the leader's up to there, and an entry of that leader's own term is committed. A candidate has when it is elected.
//! 3. A rejection names the end of the follower's log. A leader that had counted more counts that no more.
//!
//! # Why that is enough
//!
//! - *A committed entry stays* if some node of the majority that committed it keeps it. Let a candidate lack such entries;
//!   the first of them is `e`. The leader that committed `e` had the candidate's votes before `e`, or one more, or one
//!   less, since only one change can be uncommitted. So a majority of the candidate's voters that has lost nothing includes
//!   a node that has `e`, and that does not grant its vote.
//! - *If all voters grant*, those that have acknowledged `e` have lost it. What keeps `e` is then a voter that the
//!   candidate does not know. The entry that added it is at `e` or behind it, so either those that acknowledged `e` have
//!   accepted it, or the leader has: at least one of the candidate's voters. That one names the membership, because the
//!   hard state has it before the log ([`super::pending_memberships`]), and the voter that keeps `e` does not grant its vote.
//!   The candidate names its own memberships because the last one may be of a leader that was deposed: then the voters
//!   before it count.
//! - *Rule 2 is late enough.* Entries that the node had acknowledged in earlier terms are in the leader's log, before
//!   the first entry of its own term. Entries of the same term that the leader has committed with an acknowledgement
//!   that does not hold any more are covered by its commit index: the node accepts its first append only when that
//!   begins at or before the end of its log, which the leader sends only after rule 3. A link carries messages of one
//!   instance of each node.
//! - *It ends.* One leader of a majority of the others, or all voters, and the node recovers. A voter of a lost membership
//!   may have more than each candidate, and no vote by its own log: when a candidate asks it, it becomes one itself.

use std::collections::BTreeSet;

use super::{Action, Membership, Raft, State};
use crate::consensus::NodeId;

/// A reply to a vote request.
#[derive(Clone, Debug)]
pub(super) struct Vote {
    pub is_granted: bool,
    pub is_recovering: bool,
    /// The memberships that the voter knows.
    pub memberships: Vec<Membership>,
}

/// The granted votes of an election.
pub(super) struct Votes {
    granted: BTreeSet<NodeId>,
    /// Of them, those of recovering nodes.
    recovering: BTreeSet<NodeId>,
    /// The memberships that the candidate and these nodes know.
    memberships: Vec<Membership>,
    asked: BTreeSet<NodeId>,
}

impl Votes {
    /// The candidate's own vote. It asks the others of its voters.
    pub fn own(id: NodeId, voters: &Membership, vote: Vote) -> Self {
        let mut asked = voters.voters.clone();
        asked.insert(id);
        let mut votes = Self { granted: BTreeSet::new(), recovering: BTreeSet::new(), memberships: Vec::new(), asked };
        votes.add(id, vote);
        votes
    }

    pub fn add(&mut self, from: NodeId, vote: Vote) {
        if !vote.is_granted {
            return;
        }
        self.granted.insert(from);
        if vote.is_recovering {
            self.recovering.insert(from);
        }
        for membership in vote.memberships {
            if !self.memberships.contains(&membership) {
                self.memberships.push(membership);
            }
        }
    }

    /// Whether these votes elect the candidate: rule 1. A vote of a node that is no voter does not count.
    pub fn elect(&self, membership: &Membership) -> bool {
        self.has_majority(membership)
            || self.has_all(membership)
                && self.memberships.iter().all(|known| self.has_majority(known) || self.has_all(known))
    }

    /// Votes of nodes that are not recovering.
    fn has_majority(&self, membership: &Membership) -> bool {
        let is_certain = |voter: &NodeId| self.granted.contains(voter) && !self.recovering.contains(voter);
        membership.votes_of(is_certain) >= membership.majority()
    }

    fn has_all(&self, membership: &Membership) -> bool {
        !membership.voters.is_empty() && membership.voters.is_subset(&self.granted)
    }

    /// Voters of known memberships that were not asked yet, if votes of recovering nodes may count.
    pub fn take_unasked(&mut self) -> Vec<NodeId> {
        if self.recovering.is_empty() {
            return Vec::new();
        }
        let known = self.memberships.iter().flat_map(|membership| &membership.voters).copied();
        let unasked: BTreeSet<NodeId> = known.filter(|voter| !self.asked.contains(voter)).collect();
        self.asked.extend(&unasked);
        unasked.into_iter().collect()
    }
}

impl Raft {
    /// Whether the log may lack entries that this node has acknowledged.
    #[must_use]
    pub fn is_recovering(&self) -> bool {
        self.is_recovering
    }

    /// A follower: rule 2.
    pub(super) fn check_recovery(&mut self, out: &mut Vec<Action>) {
        let State::Follower(follower) = &self.state else { return };
        let Some(leader_commit) = follower.leader_commit else { return };
        let has_it = leader_commit <= follower.match_index.min(self.durable_index);
        if has_it && self.log_meta.term_at(leader_commit) == Some(self.term) {
            self.finish_recovery(out);
        }
    }

    pub(super) fn finish_recovery(&mut self, out: &mut Vec<Action>) {
        if std::mem::take(&mut self.is_recovering) {
            out.push(Action::Recovered);
        }
    }
}
