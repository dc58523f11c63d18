//! The quorum: whether the node is connected to a majority of its cluster, and what it does without one.

use super::Replica;
use super::excluded::Excluded;
use super::host::Host;
use crate::consensus::proposals::RequestId;
use crate::log::Index;
use crate::server::Level;

/// Without a leader for this long, the node has lost the quorum. Longer than an election.
const QUORUM_LOSS_TIMEOUT_MS: u64 = 4_000;
/// The same, in election timeouts.
const QUORUM_LOSS_ELECTIONS: u64 = 4;

/// What the node knows of the majority.
#[derive(Debug, Default)]
pub(super) struct Quorum {
    /// When there was a leader last.
    pub leader_seen_ms: u64,
    /// The leader's commit index in its first message.
    pub first_leader_commit: Option<Index>,
    /// A node of a cluster that was bootstrapped from this one's was met.
    pub excluded: Option<Excluded>,
    /// The node has had clients since the replica started.
    pub had_clients: bool,
    /// The error log tells why the node does not continue alone.
    pub is_loss_logged: bool,
}

impl<H: Host> Replica<H> {
    /// Without a leader for this long, the node has lost the quorum.
    fn quorum_loss_timeout_ms(&self) -> u64 {
        QUORUM_LOSS_TIMEOUT_MS.max(QUORUM_LOSS_ELECTIONS * self.timing.election_ms)
    }

    /// Whether there has been no leader for longer than that.
    pub(super) fn has_lost_leader(&self) -> bool {
        let without_ms = self.now_ms().saturating_sub(self.quorum.leader_seen_ms);
        self.raft.leader().is_none() && without_ms > self.quorum_loss_timeout_ms()
    }

    /// Finds out whether there is a majority; without one for too long, the node leaves the view, or bootstraps.
    pub(super) fn check_quorum(&mut self) {
        let now = self.now_ms();
        let leader = self.raft.leader();
        if leader.is_some() {
            self.quorum.leader_seen_ms = now;
        }
        // Before that index, the driver may know less than the tables hold.
        let required = match &self.leader_duties {
            Some(leader_duties) => Some(leader_duties.ready_at),
            // A new leader may know less itself, until an entry of its term is committed.
            None => {
                let is_of_this_term = self.raft.term_at(self.status.apply_bound) == Some(self.raft.term());
                self.quorum.first_leader_commit.filter(|_| is_of_this_term)
            }
        };
        self.status.has_quorum =
            leader.is_some() && required.is_some_and(|required| self.status.apply_bound >= required);
        self.leave_old_generation();
        if self.round.is_stopped {
            return;
        }
        if self.has_lost_leader() {
            if self.may_continue_alone() {
                let mut actions = Vec::new();
                self.bootstrap("pc.ignore_sb", &mut actions);
                self.run_actions_and_sync(&mut actions);
            } else {
                self.lose_quorum();
            }
        }
    }

    /// Whether `pc.ignore_sb` lets this node bootstrap a cluster: not while it leaves, and not without a vote. The voters may
    /// have confirmed what a node without a vote has not.
    fn may_continue_alone(&mut self) -> bool {
        let has_vote = self.raft.membership().voters.contains(&self.own_node());
        self.host.ignores_quorum()
            && has_vote
            && !self.has_old_voters()
            && !self.leave.is_leaving
            && !self.has_lost_entries()
    }

    /// Whether another node may have the only copy of confirmed transactions, which a bootstrap of this one would discard.
    fn has_lost_entries(&mut self) -> bool {
        let is_recovering = self.raft.is_recovering();
        if is_recovering && !std::mem::replace(&mut self.quorum.is_loss_logged, true) {
            let text = "pc.ignore_sb: this node does not continue alone by itself, because its log may lack confirmed \
                        transactions that another node has. Start the other nodes. If they are lost: stop this node, \
                        move hortator.raft.log out of its data folder, and start it with --wsrep-new-cluster";
            self.host.log(Level::Warning, text);
        }
        is_recovering
    }

    pub(super) fn lose_quorum(&mut self) {
        if let Some(member_id) = self.host.lose_quorum() {
            self.own.member_ids.push(member_id);
            // Proposals in flight may still be ordered, and later ones only after them. For some of them a thread still
            // waits.
            let (host, proposals) = (&mut self.host, &mut self.own.proposals);
            self.own.payloads.retain(|request_id, _| {
                let is_lost = proposals.cancel(RequestId(*request_id));
                if is_lost {
                    host.refuse_proposal(*request_id);
                }
                !is_lost
            });
        }
    }
}
