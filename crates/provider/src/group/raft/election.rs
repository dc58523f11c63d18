//! Who leads: trial votes that disturb nobody, then votes.

use std::collections::BTreeSet;

use super::belief::BELIEVED_LIMIT;
use super::{Action, Message, Place, Raft, State, Term, majority};
use crate::group::NodeId;

impl Raft {
    /// No leader was heard of for too long: would others vote for this node?
    pub(super) fn try_election(&mut self, out: &mut Vec<Action>) {
        self.put_off_election();
        if self.term.0 >= BELIEVED_LIMIT {
            return;
        }
        // Also where it does not vote: whoever leads next does not know of it, and has to be told.
        self.leader = None;
        self.announce(out);
        if !self.may_stand() {
            return;
        }
        self.state = State::Trial(BTreeSet::from([self.id]));
        if self.has_majority() {
            return self.stand(out);
        }
        self.ask_for_votes(true, Term(self.term.0 + 1), out);
    }

    /// Begins a term of its own, and asks for votes in it.
    pub(super) fn stand(&mut self, out: &mut Vec<Action>) {
        if self.term.0 >= BELIEVED_LIMIT {
            return;
        }
        self.put_off_election();
        self.term = Term(self.term.0 + 1);
        self.voted_for = Some(self.id);
        out.push(Action::Persist { term: self.term, voted_for: self.voted_for });
        self.leader = None;
        self.announce(out);
        self.state = State::Candidate(BTreeSet::from([self.id]));
        if self.has_majority() {
            return self.lead(out);
        }
        self.ask_for_votes(false, self.term, out);
    }

    fn ask_for_votes(&self, is_trial: bool, term: Term, out: &mut Vec<Action>) {
        let last = self.shapes.last();
        for &to in self.membership().voters.iter().filter(|&&voter| voter != self.id) {
            out.push(Action::Send { to, message: Message::VoteRequest { is_trial, term, last } });
        }
    }

    /// Whether the votes in are more than half. A vote of one that decides no more, or not yet, is none.
    fn has_majority(&self) -> bool {
        let membership = self.membership();
        let (State::Trial(votes) | State::Candidate(votes)) = &self.state else { return false };
        votes.intersection(&membership.voters).count() >= majority(membership)
    }

    /// Would it vote? Not while a leader is well (4.2.3), nor for one whose log lacks what this one has (3.6.1).
    pub(super) fn answer_trial(&mut self, from: NodeId, term: Term, last: Place, out: &mut Vec<Action>) {
        let is_granted = term > self.term && last >= self.shapes.last() && !self.hears_leader();
        let term = if is_granted { term } else { self.term };
        out.push(Action::Send { to: from, message: Message::VoteReply { is_trial: true, term, is_granted } });
    }

    /// One vote a term, and only for one whose log has all that this one has.
    pub(super) fn answer_vote(&mut self, from: NodeId, term: Term, last: Place, out: &mut Vec<Action>) {
        let is_free = term > self.term
            || (term == self.term
                && self.leader.is_none()
                && matches!(self.state, State::Follower(_) | State::Trial(_))
                && self.voted_for.is_none_or(|voted_for| voted_for == from));
        let is_granted = is_free && last >= self.shapes.last();
        let before = (self.term, self.voted_for);
        if term > self.term {
            self.term = term;
            self.voted_for = None;
        }
        if is_granted {
            self.voted_for = Some(from);
            self.put_off_election();
        }
        if before != (self.term, self.voted_for) {
            out.push(Action::Persist { term: self.term, voted_for: self.voted_for });
        }
        if before.0 != self.term || is_granted {
            self.follow(None, out);
        }
        let message = Message::VoteReply { is_trial: false, term: self.term, is_granted };
        out.push(Action::Send { to: from, message });
    }

    pub(super) fn count_vote(
        &mut self,
        from: NodeId,
        is_trial: bool,
        term: Term,
        is_granted: bool,
        out: &mut Vec<Action>,
    ) {
        if !is_granted || (!is_trial && term > self.term) {
            if term > self.term {
                self.adopt(term, out);
            }
            return;
        }
        match &mut self.state {
            State::Trial(votes) if is_trial && term.0 == self.term.0 + 1 => {
                votes.insert(from);
                if self.has_majority() {
                    self.stand(out);
                }
            }
            State::Candidate(votes) if !is_trial && term == self.term => {
                votes.insert(from);
                if self.has_majority() {
                    self.lead(out);
                }
            }
            _ => {}
        }
    }

    /// Whether a leader was heard of less than the shortest election time ago.
    fn hears_leader(&self) -> bool {
        match self.state {
            State::Leader(_) => true,
            _ => self.leader.is_some() && self.now_ms.saturating_sub(self.heard_ms) < self.timing.election_ms,
        }
    }

    /// One to two election times from now.
    pub(super) fn put_off_election(&mut self) {
        let spread_ms = self.next_random() % self.timing.election_ms.max(1);
        self.election_at_ms = self.now_ms + self.timing.election_ms + spread_ms;
    }

    /// `SplitMix64` (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
    fn next_random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
