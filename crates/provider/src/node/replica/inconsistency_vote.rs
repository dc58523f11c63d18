//! The leader's part of an inconsistency vote: collects the votes of the nodes, and appends the result.

use super::Replica;
use super::host::Host;
use super::known_node::Peer;
use crate::consensus::NodeId;
use crate::consensus::wire::{BATCH_LIMIT_BYTES, MemberStatus};
use crate::entry;
use crate::identity::Uuid;
use crate::log::Index;
use crate::vote_result::{self, InconsistencyVote, VoteResult};

/// Limit of entries scanned per round, approximately.
const SCAN_LIMIT_ENTRIES: u64 = 1_000;

impl<H: Host> Replica<H> {
    /// As leader. True: a vote result is being appended.
    pub(super) fn decide_inconsistencies(&mut self) -> bool {
        self.update_applied();
        let own_status = self.member_status();
        let linked = self.peers.iter().filter(|(_, peer)| peer.unlinked_since_ms.is_none());
        let statuses: Vec<&MemberStatus> = linked
            .filter_map(|(_, peer)| peer.status.as_ref())
            .map(|(member_status, _)| member_status)
            .chain(std::iter::once(&own_status))
            .collect();
        let apply_errors = statuses.iter().filter_map(|member_status| member_status.apply_error);
        // One at a time: later apply errors wait.
        let open =
            apply_errors.map(|apply_error| apply_error.seqno).filter(|seqno| self.host.vote_result(*seqno).is_none());
        let Some(seqno) = open.min() else { return false };
        let vote_by = |member_id: Uuid| {
            let member_status = statuses.iter().find(|member_status| member_status.member_id == member_id);
            member_status.map_or(InconsistencyVote::Unknown, |member_status| vote_of(member_status, seqno))
        };
        let votes: Vec<InconsistencyVote> = self.voting_members().into_iter().map(vote_by).collect();
        let witnesses = self.witnesses();
        let voters = self.hard_state.voters.len() - witnesses;
        let has_most_votes = self.has_most_votes();
        let result = match (votes.as_slice(), own_status.apply_error) {
            // A node that a witness, or its weight, keeps going decides like a single one.
            ([InconsistencyVote::Failed(_)], Some(apply_error)) if voters == 1 || witnesses > 0 || has_most_votes => {
                if !self.host.is_own_statement() {
                    // The failed write set is of a former member ID, or of a node that has left: its client's answer is
                    // unknown.
                    self.host.abandon_vote();
                    return false;
                }
                Some(VoteResult { error: apply_error.cause(), agreeing: 1 })
            }
            _ => vote_result::tally(&votes).filter(|_| votes.len() * 2 > voters || has_most_votes),
        };
        let Some(result) = result else { return false };
        let outcome = if result.error == 0 { "it is applied" } else { "all nodes skip it" };
        let (agreeing, all) = (result.agreeing, votes.len());
        self.host.note(&format!("inconsistency vote on seqno {seqno}: {agreeing} of {all} nodes, {outcome}"));
        self.propose(entry::encode_vote_result(seqno, result), None)
    }

    /// Whether the voters of [`Self::voting_members`] have most of the votes of all nodes with tables. With equal weights that
    /// follows from their number.
    fn has_most_votes(&self) -> bool {
        let is_witness = |node: &NodeId| {
            let peer = self.peers.get(node);
            if *node == self.own_node() { self.is_witness } else { peer.is_some_and(Peer::is_witness) }
        };
        let has_reported = |node: &NodeId| {
            let is_here = |peer: &Peer| peer.unlinked_since_ms.is_none() && !peer.is_leaving && peer.status.is_some();
            *node == self.own_node() || self.peers.get(node).is_some_and(is_here)
        };
        let membership = self.raft.membership();
        let all = membership.votes_of(|node| !is_witness(node));
        2 * membership.votes_of(|node| !is_witness(node) && has_reported(node)) > all
    }

    /// The present members of the view, and linked voters that are not in the view, or not yet. Not witnesses, which
    /// apply nothing.
    fn voting_members(&self) -> Vec<Uuid> {
        let members: Vec<Uuid> =
            self.host.with_order(|order| order.members().iter().map(|member| member.id).collect()).unwrap_or_default();
        let members = members.into_iter().filter(|member_id| self.is_member_present(*member_id));
        let voters = self.peers.iter().filter(|(node, peer)| {
            peer.unlinked_since_ms.is_none() && !peer.is_leaving && self.hard_state.voters.contains_key(node)
        });
        let voters =
            voters.filter_map(|(_, peer)| peer.status.as_ref()).map(|(member_status, _)| member_status.member_id);
        let mut all: Vec<Uuid> = members.chain(voters).chain(std::iter::once(self.host.member_id())).collect();
        all.retain(|member_id| !member_id.is_undefined());
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Applies vote results here, on leader and follower.
    pub(super) fn handle_vote_results(&mut self) {
        if self.status.is_single_node {
            self.host.abandon_vote();
        }
        self.host.check_vote_results();
    }

    /// A vote result may be behind entries for which there is no room before it is known.
    pub(super) fn scan_vote_results(&mut self, from: Index) {
        if self.host.apply_error().is_none() {
            return;
        }
        let mut next = from.max(self.ordered.scanned_upto.next());
        let upto = Index(next.0 + SCAN_LIMIT_ENTRIES).min(self.status.apply_bound);
        while next <= upto {
            let Ok(entries) = self.host.entries(next, BATCH_LIMIT_BYTES) else { return };
            let Some((last, _)) = entries.last() else { return };
            next = last.next();
            let seen = entries.iter().filter(|(index, _)| *index <= self.status.apply_bound);
            let vote_results: Vec<_> = seen.filter_map(|(_, bytes)| entry::vote_result(bytes)).collect();
            self.host.add_vote_results(&vote_results);
            self.ordered.scanned_upto = Index(next.0 - 1).min(self.status.apply_bound);
        }
    }
}

fn vote_of(member_status: &MemberStatus, seqno: i64) -> InconsistencyVote {
    match member_status.apply_error {
        Some(apply_error) if apply_error.seqno == seqno => InconsistencyVote::Failed(apply_error.error),
        _ if member_status.applied >= seqno => InconsistencyVote::Applied,
        _ => InconsistencyVote::Unknown,
    }
}
