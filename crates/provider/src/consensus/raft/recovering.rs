//! Recovering nodes: their logs may lack entries that they have acknowledged.
//!
//! Raft assumes that a log keeps what its node has acknowledged (thesis, 3.8). A disk that loses the end of a log breaks
//! that: a leader has counted the node for a committed entry, and now its vote helps to elect one without that entry.
//! (Alagappan et al., "Protocol-Aware Recovery for Consensus-Based Storage", FAST 2018. Viewstamped Replication calls
//! such a node recovering, too.)
//!
//! # Rules
//!
//! 1. The vote of a recovering node, also for itself, counts only if all voters grant theirs.
//! 2. A node has recovered when a leader has said, after the loss, what is committed, and the node's durable log equals
//!    the leader's up to there, and an entry of that leader's own term is committed. A candidate has when it is elected.
//! 3. A rejection names the end of the follower's log. A leader that had counted more counts that no more.
//!
//! # Why that is enough
//!
//! - *A committed entry stays* if some node of each majority keeps it: the nodes that committed it are a majority of all
//!   voters, those that elect a leader by rule 1 are one too, and the node that is in both has lost nothing. If all
//!   voters grant, the new leader has every entry that any log still holds.
//! - *Rule 2 is late enough.* Entries that the node had acknowledged in earlier terms are in the leader's log, before
//!   the first entry of its own term. Entries of the same term that the leader has committed with an acknowledgement
//!   that does not hold any more are covered by its commit index: the node accepts its first append only when that
//!   begins at or before the end of its log, which the leader sends only after rule 3. A link carries messages of one
//!   instance of each node.
//! - *It ends.* One leader of a majority of the others, or all voters, and the node recovers.

use std::collections::BTreeSet;

use super::{Action, Membership, Raft, State, majority};
use crate::consensus::NodeId;

/// A reply to a vote request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vote {
    pub is_granted: bool,
    pub is_recovering: bool,
}

/// The granted votes of an election.
pub(super) struct Votes {
    granted: BTreeSet<NodeId>,
    /// Of them, those of recovering nodes.
    recovering: BTreeSet<NodeId>,
}

impl Votes {
    /// The candidate's own vote.
    pub fn own(id: NodeId, is_recovering: bool) -> Self {
        let mut votes = Self { granted: BTreeSet::new(), recovering: BTreeSet::new() };
        votes.add(id, Vote { is_granted: true, is_recovering });
        votes
    }

    pub fn add(&mut self, from: NodeId, vote: Vote) {
        if vote.is_granted {
            self.granted.insert(from);
        }
        if vote.is_recovering {
            self.recovering.insert(from);
        }
    }

    /// Whether these votes elect the candidate. A vote of a node that is no voter does not count.
    pub fn elect(&self, membership: &Membership) -> bool {
        let is_certain = |voter: &&NodeId| self.granted.contains(voter) && !self.recovering.contains(voter);
        let certain = membership.voters.iter().filter(is_certain).count();
        certain >= majority(membership) || !membership.voters.is_empty() && membership.voters.is_subset(&self.granted)
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
