//! Elections: pre-vote, then vote.

use super::message_check::TERM_AND_INDEX_LIMIT;
use super::recovering::{Vote, Votes};
use super::{Action, LogId, Message, Raft, State, Term};
use crate::consensus::NodeId;

impl Raft {
    /// The election timer has expired: asks whether the others would vote for this node.
    pub(super) fn start_pre_vote(&mut self, out: &mut Vec<Action>) {
        self.reset_election_timer();
        if self.term.0 >= TERM_AND_INDEX_LIMIT {
            return;
        }
        // A node without a vote does this too: the next leader does not know of it, and it must report itself.
        self.leader = None;
        self.announce_leader(out);
        if !self.is_promotable() {
            return;
        }
        self.state = State::PreCandidate(Votes::own(self.id, self.is_recovering));
        if self.is_elected() {
            return self.campaign(out);
        }
        self.request_votes(true, Term(self.term.0 + 1), out);
    }

    /// Starts a new term and requests votes in it.
    pub(super) fn campaign(&mut self, out: &mut Vec<Action>) {
        if self.term.0 >= TERM_AND_INDEX_LIMIT {
            return;
        }
        self.reset_election_timer();
        self.term = Term(self.term.0 + 1);
        self.voted_for = Some(self.id);
        out.push(Action::SaveHardState { term: self.term, voted_for: self.voted_for });
        self.leader = None;
        self.announce_leader(out);
        self.state = State::Candidate(Votes::own(self.id, self.is_recovering));
        if self.is_elected() {
            return self.become_leader(out);
        }
        self.request_votes(false, self.term, out);
    }

    fn request_votes(&self, is_pre_vote: bool, term: Term, out: &mut Vec<Action>) {
        let last = self.log_meta.last();
        for &to in self.membership().voters.iter().filter(|&&voter| voter != self.id) {
            out.push(Action::Send { to, message: Message::VoteRequest { is_pre_vote, term, last } });
        }
    }

    fn is_elected(&self) -> bool {
        let (State::PreCandidate(votes) | State::Candidate(votes)) = &self.state else { return false };
        votes.elect(self.membership())
    }

    /// Answers a pre-vote request. Refuses while there is a live leader (4.2.3), and if the candidate's log is behind
    /// (3.6.1).
    pub(super) fn on_pre_vote_request(&mut self, from: NodeId, term: Term, last: LogId, out: &mut Vec<Action>) {
        let is_granted = term > self.term && last >= self.log_meta.last() && !self.has_live_leader();
        let term = if is_granted { term } else { self.term };
        let is_recovering = self.is_recovering;
        let message = Message::VoteReply { is_pre_vote: true, term, is_granted, is_recovering };
        out.push(Action::Send { to: from, message });
    }

    /// One vote per term, and only for a candidate whose log is at least as up to date as this one.
    pub(super) fn on_vote_request(&mut self, from: NodeId, term: Term, last: LogId, out: &mut Vec<Action>) {
        let is_free = term > self.term
            || (term == self.term
                && self.leader.is_none()
                && matches!(self.state, State::Follower(_) | State::PreCandidate(_))
                && self.voted_for.is_none_or(|voted_for| voted_for == from));
        let is_granted = is_free && last >= self.log_meta.last();
        let old = (self.term, self.voted_for);
        if term > self.term {
            self.term = term;
            self.voted_for = None;
        }
        if is_granted {
            self.voted_for = Some(from);
            self.reset_election_timer();
        }
        if old != (self.term, self.voted_for) {
            out.push(Action::SaveHardState { term: self.term, voted_for: self.voted_for });
        }
        if old.0 != self.term || is_granted {
            self.become_follower(None, out);
        }
        let (term, is_recovering) = (self.term, self.is_recovering);
        let message = Message::VoteReply { is_pre_vote: false, term, is_granted, is_recovering };
        out.push(Action::Send { to: from, message });
    }

    pub(super) fn on_vote_reply(
        &mut self,
        from: NodeId,
        is_pre_vote: bool,
        term: Term,
        vote: Vote,
        out: &mut Vec<Action>,
    ) {
        if !vote.is_granted || (!is_pre_vote && term > self.term) {
            if term > self.term {
                self.update_term(term, out);
            }
            return;
        }
        match &mut self.state {
            State::PreCandidate(votes) if is_pre_vote && term.0 == self.term.0 + 1 => {
                votes.add(from, vote);
                if self.is_elected() {
                    self.campaign(out);
                }
            }
            State::Candidate(votes) if !is_pre_vote && term == self.term => {
                votes.add(from, vote);
                if self.is_elected() {
                    self.become_leader(out);
                }
            }
            _ => {}
        }
    }

    /// Whether the leader was heard within the minimum election timeout.
    fn has_live_leader(&self) -> bool {
        match self.state {
            State::Leader(_) => true,
            _ => self.leader.is_some() && self.now_ms.saturating_sub(self.last_contact_ms) < self.timing.election_ms,
        }
    }

    /// The next election is one to two election timeouts away.
    pub(super) fn reset_election_timer(&mut self) {
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
