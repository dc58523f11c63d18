//! How a node gives up its place: it asks to leave, or transfers leadership, when it cannot order committed entries.

use super::Replica;
use super::host::Host;
use super::known_node::{AWAY_TIMEOUT_MS, Peer};
use super::leader::CATCH_UP_LIMIT_ENTRIES;
use crate::consensus::NodeId;
use crate::consensus::raft::Action;
use crate::consensus::wire::Frame;

/// A leader that cannot order committed entries for this long transfers leadership.
const STUCK_TIMEOUT_MS: u64 = 1_000;
/// Interval of repeated requests to leave.
const LEAVE_INTERVAL_MS: u64 = 200;

/// Whether the node leaves.
#[derive(Debug, Default)]
pub(super) struct Leave {
    pub is_leaving: bool,
    since_ms: Option<u64>,
    /// The last request to the leader.
    requested_ms: u64,
}

impl<H: Host> Replica<H> {
    /// Whether it cannot order committed entries, for example during a backup, or without tables: no new view would
    /// come into force here.
    pub(super) fn is_stuck(&mut self) -> bool {
        let is_held = self.is_waiting_for_tables()
            || self.ordered.index.is_some_and(|ordered| ordered < self.status.apply_bound) && !self.host.can_order();
        let now = self.now_ms();
        let since = *self.ordered.stuck_since_ms.get_or_insert(now);
        let is_stuck = is_held && now - since >= STUCK_TIMEOUT_MS;
        if !is_held || is_stuck {
            // The next leader may be stuck too, and this one's turn come again.
            self.ordered.stuck_since_ms = None;
        }
        is_stuck
    }

    /// A stuck leader, or one without tables, transfers leadership to the next voter that has tables and nearly all
    /// entries: nothing is appended until that one has everything.
    pub(super) fn transfer_leadership_if_stuck(&mut self, actions: &mut Vec<Action>) {
        let voters = self.hard_state.voters.keys();
        let after = voters.clone().filter(|node| **node > self.own_node());
        let before = voters.filter(|node| **node < self.own_node());
        let nearly_caught_up = self.status.apply_bound.0.saturating_sub(CATCH_UP_LIMIT_ENTRIES);
        let has_nearly_all = |node: NodeId| {
            self.raft.progress().any(|progress| progress.node == node && progress.match_index.0 >= nearly_caught_up)
        };
        let is_there = |node: &NodeId| self.peers.get(node).is_some_and(|peer| peer.unlinked_since_ms.is_none());
        let is_better_off = |node: &NodeId| is_there(node) && has_nearly_all(*node) && self.has_tables(*node);
        let other = after.chain(before).copied().find(is_better_off);
        if let Some(other) = other {
            self.raft.transfer_leadership(other, actions);
        }
    }

    /// Asks to leave the cluster.
    pub(super) fn request_leave(&mut self, actions: &mut Vec<Action>) {
        let has_vote = self.hard_state.voters.contains_key(&self.own_node());
        let is_last = self.is_last();
        // A new leader may be elected in a moment, if the old one has just crashed.
        let has_no_leader = self.has_lost_leader();
        if self.status.is_single_node || !has_vote || is_last || has_no_leader {
            self.status.has_left = true;
        } else if self.leader_duties.is_none()
            && let Some(leader) = self.raft.leader()
        {
            let now = self.now_ms();
            if now - self.leave.requested_ms > LEAVE_INTERVAL_MS {
                self.leave.requested_ms = now;
                self.host.send(leader, &Frame::Leave);
            }
        }
        self.run_actions(actions, None);
    }

    /// Whether no other voter could continue: the node stays one, and has no reason to wait.
    fn is_last(&mut self) -> bool {
        let now = self.now_ms();
        let leaving_since = *self.leave.since_ms.get_or_insert(now);
        let own_node = self.own_node();
        let others = self.hard_state.voters.keys().filter(|node| **node != own_node).map(|node| {
            let peer = self.peers.get(node);
            let away_since = peer.map_or(Some(leaving_since), |peer| peer.unlinked_since_ms);
            OtherVoter {
                is_witness: peer.is_some_and(Peer::is_witness),
                is_gone: away_since.is_some_and(|since| now - since >= AWAY_TIMEOUT_MS),
            }
        });
        is_last(others, self.is_witness, self.raft.leader().is_some())
    }
}

/// Another voter, as a leaving node sees it.
struct OtherVoter {
    is_witness: bool,
    /// It has had no link for a while.
    is_gone: bool,
}

/// Whether no other voter could continue without the leaving one. A witness needs a node. Without a leader, nobody knows who
/// is gone: a new one may be elected in a moment.
fn is_last(others: impl IntoIterator<Item = OtherVoter>, is_witness: bool, has_leader: bool) -> bool {
    let cannot_continue = |other: OtherVoter| !is_witness && (other.is_witness || other.is_gone && has_leader);
    others.into_iter().all(cannot_continue)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: OtherVoter = OtherVoter { is_witness: false, is_gone: false };
    const GONE: OtherVoter = OtherVoter { is_witness: false, is_gone: true };
    const WITNESS: OtherVoter = OtherVoter { is_witness: true, is_gone: false };

    #[test]
    fn a_node_waits_only_for_others_that_can_continue() {
        assert!(is_last([], false, true), "a node alone");
        assert!(is_last([WITNESS], false, true), "the last node beside a witness");
        assert!(is_last([WITNESS], false, false));
        assert!(is_last([GONE, WITNESS], false, true), "the other one is dead");
        assert!(!is_last([GONE, WITNESS], false, false), "the leader has just crashed");
        assert!(!is_last([NODE, WITNESS], false, true));
        assert!(!is_last([NODE, GONE], false, true));
    }

    #[test]
    fn a_witness_that_leaves_waits_for_the_nodes() {
        assert!(is_last([], true, true));
        assert!(!is_last([NODE], true, true));
        assert!(!is_last([GONE], true, true));
    }
}
