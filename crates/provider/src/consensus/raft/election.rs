//! Elections: pre-vote, then vote.

use super::message_check::TERM_AND_INDEX_LIMIT;
use super::recovering::{Vote, Votes};
use super::{Action, LogId, Message, Raft, State, Term};
use crate::consensus::NodeId;

/// When a node may be elected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Candidacy {
    /// Whenever it misses a leader.
    #[default]
    Free,
    /// Only if a leader hands over to it.
    OnRequest,
    /// Not at all.
    Never,
}

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
        if !self.is_promotable() || self.candidacy != Candidacy::Free {
            return;
        }
        self.state = State::PreCandidate(self.own_vote());
        if self.is_elected() {
            return self.campaign(out);
        }
        self.request_votes(true, out);
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
        self.state = State::Candidate(self.own_vote());
        if self.is_elected() {
            return self.become_leader(out);
        }
        self.request_votes(false, out);
    }

    fn own_vote(&self) -> Votes {
        let (is_recovering, memberships) = (self.is_recovering, self.known_memberships());
        Votes::own(self.id, self.membership(), Vote { is_granted: true, is_recovering, memberships })
    }

    fn request_votes(&mut self, is_pre_vote: bool, out: &mut Vec<Action>) {
        let voters = self.membership().voters.iter().copied().filter(|voter| *voter != self.id).collect();
        self.request_votes_of(voters, is_pre_vote, out);
        self.request_more_votes(out);
    }

    /// Asks the voters of memberships that this node has just learnt of.
    fn request_more_votes(&mut self, out: &mut Vec<Action>) {
        let is_pre_vote = matches!(self.state, State::PreCandidate(_));
        let (State::PreCandidate(votes) | State::Candidate(votes)) = &mut self.state else { return };
        let voters = votes.take_unasked();
        self.request_votes_of(voters, is_pre_vote, out);
    }

    fn request_votes_of(&self, voters: Vec<NodeId>, is_pre_vote: bool, out: &mut Vec<Action>) {
        let term = if is_pre_vote { Term(self.term.0 + 1) } else { self.term };
        let last = self.log_meta.last();
        for to in voters {
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
        let has_live_leader = self.has_live_leader();
        self.is_ahead_of_candidate |= last < self.log_meta.last() && !has_live_leader;
        let is_granted = term > self.term && last >= self.log_meta.last() && !has_live_leader;
        let term = if is_granted { term } else { self.term };
        self.reply_to_vote_request(from, true, term, is_granted, out);
    }

    fn reply_to_vote_request(
        &self,
        to: NodeId,
        is_pre_vote: bool,
        term: Term,
        is_granted: bool,
        out: &mut Vec<Action>,
    ) {
        let (is_recovering, memberships) = (self.is_recovering, self.known_memberships());
        let message = Message::VoteReply { is_pre_vote, term, is_granted, is_recovering, memberships };
        out.push(Action::Send { to, message });
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
        self.reply_to_vote_request(from, false, self.term, is_granted, out);
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
                    return self.campaign(out);
                }
                self.request_more_votes(out);
            }
            State::Candidate(votes) if !is_pre_vote && term == self.term => {
                votes.add(from, vote);
                if self.is_elected() {
                    return self.become_leader(out);
                }
                self.request_more_votes(out);
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

    /// The next election is one to two election timeouts away, and the delay of a node that prefers not to lead.
    pub(super) fn reset_election_timer(&mut self) {
        let spread_ms = self.next_random() % self.timing.election_ms.max(1);
        self.election_at_ms = self.now_ms + self.timing.election_ms + spread_ms + self.candidacy_delay_ms;
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
