//! A witness: a voter with a log and without tables. Two nodes and a witness continue after the loss of any one of them.
//!
//! - *Log*: when it has none, or the leader has purged its next entry, it asks for a log as a joiner does, with an empty
//!   SST request. No donor sends it anything.
//! - *Vote*: the leader gives it one as soon as it has nearly all entries. It has no member ID, so it is in no view and
//!   has no part in inconsistency votes.
//! - *Order*: it follows the order without verdicts (`node/witness/order.rs`), to know the view and where a log may begin.
//! - *Leader*: a witness may hold entries that both nodes have lost or never had. Then only the witness can lead, until a
//!   node has them. It starts elections later than nodes, and transfers leadership to a node with tables at once. As long
//!   as there is none, it has the duties of any leader, except for commit cuts.
//!
//! *Absent*: donations, proposals, reads, single-node mode, bootstrap.

use super::Replica;
use super::host::Host;
use super::input::JoinRequest;
use super::known_node::Peer;
use super::leader::CATCH_UP_LIMIT_ENTRIES;
use crate::consensus::NodeId;
use crate::consensus::raft::Action;
use crate::log::Index;

impl<H: Host> Replica<H> {
    /// What only a witness does in each round.
    pub(super) fn run_witness_duties(&mut self, actions: &mut Vec<Action>) {
        if !self.is_witness {
            return;
        }
        let Some((first, _)) = self.host.bounds() else { return self.request_log() };
        self.ordered.index.get_or_insert(Index(first.0 - 1));
        self.hand_over_leadership(actions);
    }

    /// Asks the leader for the start of a log, until it replies.
    pub(super) fn request_log(&mut self) {
        if self.joiner.request.is_none() {
            self.joiner.set_request(JoinRequest::Join { request: Vec::new() });
        }
    }

    /// A witness that leads makes the next node with tables the leader. One that leaves comes last: nobody else may have
    /// all entries.
    fn hand_over_leadership(&mut self, actions: &mut Vec<Action>) {
        // Else a transfer is under way.
        if self.leader_duties.is_none() || !self.raft.can_append() {
            return;
        }
        let nearly_caught_up = self.raft.last().index.0.saturating_sub(CATCH_UP_LIMIT_ENTRIES);
        let has_nearly_all = |node: NodeId| {
            self.raft.progress().any(|progress| progress.node == node && progress.match_index.0 >= nearly_caught_up)
        };
        let can_lead = |node: &NodeId, peer: &Peer| {
            peer.unlinked_since_ms.is_none()
                && self.hard_state.voters.contains_key(node)
                && self.has_tables(*node)
                && has_nearly_all(*node)
        };
        let candidates = self.peers.iter().filter(|(node, peer)| can_lead(node, peer));
        let next = candidates.min_by_key(|(_, peer)| peer.is_leaving).map(|(node, _)| *node);
        if let Some(next) = next {
            self.raft.transfer_leadership(next, actions);
        }
    }
    /// The number of voters that are known to be witnesses.
    pub(super) fn witnesses(&self) -> usize {
        let is_one = |node: &&NodeId| match self.peers.get(node) {
            _ if **node == self.own_node() => self.is_witness,
            peer => peer.is_some_and(Peer::is_witness),
        };
        self.hard_state.voters.keys().filter(is_one).count()
    }
}
