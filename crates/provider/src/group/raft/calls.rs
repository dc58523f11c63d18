//! What is asked of a leader: to append, to change who decides, to confirm, to hand over.

use super::leader::HandOver;
use super::peer::{Peer, Standing};
use super::{Action, Membership, Raft, Shape, State};
use crate::group::NodeId;
use crate::log::Index;

/// Why entries cannot be appended here and now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It does not lead.
    #[error("this node does not lead the group: send it to the leader ({0:?})")]
    NotLeader(Option<NodeId>),
    /// Another is about to lead.
    #[error("leadership is being handed over: try again when the leader is known")]
    HandingOver,
    /// The one before is not committed yet, or nothing of this leader's is.
    #[error("the members are being changed already: try again when that is agreed on")]
    MembersChanging,
    /// Of two majorities of groups that differ by more than one, neither needs to know of the other.
    #[error("more than one vote would come or go at once: change one after the other")]
    TooManyAtOnce,
    /// The last one cannot leave.
    #[error("nobody would be left to decide: stop this node instead")]
    NobodyLeft,
}

/// How far another node is, as its leader knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberProgress {
    /// Which.
    pub node: NodeId,
    /// Its log is the leader's up to here, and safe.
    pub matched: Index,
    /// When it was heard last.
    pub heard_ms: u64,
    /// What it needs next is purged here.
    pub is_too_far_behind: bool,
}

/// For whoever drives a leader.
impl Raft {
    /// Puts entries at the end of the log; at most one of them changes who decides. The driver puts their payloads into
    /// its log, with [`Raft::term`], before it does anything else here; it calls [`Raft::spread`] when it has appended all that
    /// there is for now, and [`Raft::stored`] when that is safe. Returns where the first stands.
    ///
    /// # Errors
    /// When this node does not lead, or may not change the members now.
    pub fn append(&mut self, shapes: &[Option<Membership>]) -> Result<Index, Refused> {
        let State::Leader(reign) = &self.state else { return Err(Refused::NotLeader(self.leader)) };
        if reign.hand_over.is_some() {
            return Err(Refused::HandingOver);
        }
        let mut changes = shapes.iter().flatten();
        if let Some(change) = changes.next() {
            self.check_change(change)?;
            if changes.next().is_some() {
                return Err(Refused::MembersChanging);
            }
        }
        let before = shapes.iter().any(Option::is_some).then(|| self.membership().clone());
        let first = self.shapes.last().index.next();
        for membership in shapes {
            self.shapes.push(&Shape { term: self.term, membership: membership.clone() });
        }
        if let Some(before) = before {
            self.members_changed(&before);
        }
        Ok(first)
    }

    /// What was appended goes to the others. Without this, an answer of theirs to a heartbeat brings it about.
    pub fn spread(&mut self, out: &mut Vec<Action>) {
        self.offer_all(out);
    }

    /// Whether [`Raft::append`] would take entries.
    #[must_use]
    pub fn takes_entries(&self) -> bool {
        matches!(&self.state, State::Leader(reign) if reign.hand_over.is_none())
    }

    fn check_change(&self, to: &Membership) -> Result<(), Refused> {
        if !self.may_change_membership() {
            return Err(Refused::MembersChanging);
        }
        if to.voters.is_empty() {
            return Err(Refused::NobodyLeft);
        }
        let differing = self.membership().voters.symmetric_difference(&to.voters).count();
        if differing > 1 { Err(Refused::TooManyAtOnce) } else { Ok(()) }
    }

    /// Whether one member may come or go now: the change before is committed, and so is an entry of this leader's own
    /// (without that, two leaders' changes could each have a majority that the other does not know of).
    #[must_use]
    pub fn may_change_membership(&self) -> bool {
        matches!(self.state, State::Leader(_))
            && self.shapes.membership_index() <= self.agreed
            && self.shapes.term_at(self.agreed) == Some(self.term)
    }

    /// Fewer entries went to `to` than [`Action::SendEntries`] offered: only up to `upto`. [`Raft::resume`] goes on
    /// with the rest, at the latest the next answer from there does.
    pub fn sent(&mut self, to: NodeId, upto: Index) {
        let State::Leader(reign) = &mut self.state else { return };
        if let Some(peer) = reign.peers.get_mut(&to)
            && peer.standing == Standing::Replicate
            && upto.next() < peer.next
        {
            peer.next = upto.next().max(peer.matched.next());
        }
    }

    /// There is room on the way to `to` for more.
    pub fn resume(&mut self, to: NodeId, out: &mut Vec<Action>) {
        self.with_peer(to, |peer, said| peer.offer(to, said, out));
    }

    /// What was on its way to `to` is lost, and the way is open again. Without this, the next heartbeat finds out.
    pub fn link_renewed(&mut self, to: NodeId, out: &mut Vec<Action>) {
        if let State::Leader(reign) = &mut self.state {
            reign.round += 1;
        }
        self.with_peer(to, |peer, said| {
            peer.lost();
            peer.beat(to, said, out);
        });
    }

    /// Also sends entries to a node that has no vote, or not yet. Known to this leader alone, while it leads.
    pub fn observe(&mut self, node: NodeId, out: &mut Vec<Action>) {
        let State::Leader(reign) = &mut self.state else { return };
        if node == self.id || reign.peers.contains_key(&node) {
            return;
        }
        reign.round += 1;
        reign.peers.insert(node, Peer::new(&self.shapes, self.now_ms, reign.round));
        self.with_peer(node, |peer, said| peer.beat(node, said, out));
    }

    /// No more of that. Nothing happens to a node that votes.
    pub fn forget(&mut self, node: NodeId) {
        if self.membership().voters.contains(&node) {
            return;
        }
        if let State::Leader(reign) = &mut self.state {
            reign.peers.remove(&node);
        }
    }

    /// Everybody whom this leader sends entries to.
    pub fn progress(&self) -> impl Iterator<Item = MemberProgress> + '_ {
        let peers = match &self.state {
            State::Leader(reign) => Some(reign.peers.iter()),
            _ => None,
        };
        peers.into_iter().flatten().map(|(node, peer)| MemberProgress {
            node: *node,
            matched: peer.matched,
            heard_ms: peer.heard_ms,
            is_too_far_behind: peer.standing == Standing::Behind,
        })
    }

    /// Whether this node is the group: it leads, nobody else votes or is sent entries, and all is committed. Then
    /// entries may go into the log without asking; [`Raft::appended_alone`] says so afterwards.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        let State::Leader(reign) = &self.state else { return false };
        reign.peers.is_empty()
            && reign.hand_over.is_none()
            && self.is_voter()
            && self.membership().voters.len() == 1
            && self.committed == self.shapes.last().index
    }

    /// Entries up to `upto` were put into the log and are safe: with nobody to ask, that is all there is to it.
    ///
    /// # Panics
    /// When it is not alone.
    pub fn appended_alone(&mut self, upto: Index) {
        assert!(self.is_alone(), "only a leader that is alone may append without asking");
        if upto > self.shapes.last().index {
            self.shapes.extend(self.term, upto);
            (self.safe, self.agreed, self.committed) = (upto, upto, upto);
        }
    }

    /// Somebody wants to read what is committed by now: [`Action::Confirmed`] says when a majority has answered a
    /// round that begins after this (6.4); alone, it says so at once. Many who ask share a round. None: this node does not
    /// lead.
    pub fn confirm(&mut self, out: &mut Vec<Action>) -> Option<u64> {
        let State::Leader(reign) = &mut self.state else { return None };
        let asked = |round| (round, self.agreed.max(reign.inherited));
        if reign.confirming.is_some() {
            let next = reign.confirming_next.take().filter(|(round, _)| *round > reign.round);
            let round = next.map_or(reign.round + 1, |(round, _)| round);
            reign.confirming_next = Some(asked(round));
            return Some(round);
        }
        let round = reign.round + 1;
        reign.confirming = Some(asked(round));
        self.beat_all(out);
        self.check_confirmed(out);
        Some(round)
    }

    /// Lets `to` lead instead, as soon as it has everything (3.10). Nothing is appended until it does, or until an
    /// election time is over. False: `to` has no vote, or this node does not lead.
    pub fn hand_over(&mut self, to: NodeId, out: &mut Vec<Action>) -> bool {
        let is_voter = to != self.id && self.membership().voters.contains(&to);
        let State::Leader(reign) = &mut self.state else { return false };
        if is_voter {
            reign.hand_over = Some(HandOver { to, until_ms: self.now_ms + self.timing.election_ms, is_told: false });
            self.go_on_with_hand_over(out);
        }
        is_voter
    }
}
