//! Agreement: Raft as a pure state machine.
//!
//! One [`Raft`] is what one node knows. It is told what happens (time, messages, its own log being safe) and says what
//! is to be done as a list of [`Action`]s, to be carried out in that order. It sees no payload: of an entry it knows its
//! [`Shape`] alone, and of a log of a million entries the few runs of terms in it.
//!
//! | file | what | thesis |
//! |---|---|---|
//! | `election` | trial votes, votes, who may lead | 3.4, 9.6 |
//! | `follower` | entries come in, conflicts go | 3.5 |
//! | `leader` | counting, a majority's word, members who leave | 3.6, 4.2, 6.2 |
//! | `calls` | what is asked of a leader: entries, members, reads, hand-over | 3.10, 4.1, 6.4 |
//! | `peer` | what a leader knows of another node | 10.2 |
//! | `shapes` | the log as runs of terms | |
//! | `belief` | what no node could truly say | |
//!
//! *Absent*: clock, disk, network, threads, logging, payloads.
//!
//! # What holds
//!
//! 1. No message of a peer makes it panic, whatever it holds; nonsense is dropped. Panics are for misuse by its driver.
//! 2. [`Action::Committed`] is never ahead of what is safe in this node's own log, so tables are never ahead of the log.
//! 3. A reply counts only what is safe; the leader counts itself only up to there.
//! 4. What is committed is never cut off, whoever asks for it.

mod action;
mod belief;
mod calls;
mod election;
mod follower;
mod leader;
mod message;
mod peer;
mod shapes;
mod start;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub use action::Action;
use belief::is_believable;
#[cfg(test)]
pub use calls::Refused;
use leader::Reign;
pub use message::{Append, Membership, Message, Place, Shape, Term};
use shapes::Shapes;
pub use start::{Start, Timing};

use crate::group::NodeId;
use crate::log::Index;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It puts entries into the order.
    Leader,
    /// It follows somebody, or waits for somebody to follow.
    Follower,
    /// It asks for votes.
    Candidate,
}

enum State {
    Follower(Following),
    /// Asks who would vote for it.
    Trial(BTreeSet<NodeId>),
    /// Asks for votes.
    Candidate(BTreeSet<NodeId>),
    Leader(Reign),
}

/// What a follower knows of its leader's log.
struct Following {
    /// Up to here the own log is the leader's.
    matched: Index,
    /// The newest round heard of.
    round: u64,
    /// What was answered last.
    answered: Option<(u64, Index)>,
}

impl Following {
    const fn new() -> Self {
        Self { matched: Index(0), round: 0, answered: None }
    }
}

/// One node's part of the agreement.
pub struct Raft {
    id: NodeId,
    timing: Timing,
    term: Term,
    voted_for: Option<NodeId>,
    shapes: Shapes,
    /// The own log outlives a crash up to here.
    safe: Index,
    /// A majority has it, safely.
    agreed: Index,
    /// Agreed on and safe here, and said so.
    committed: Index,
    state: State,
    leader: Option<NodeId>,
    /// What [`Action::LeaderIs`] said last.
    announced: (Term, Option<NodeId>),
    /// The latest time it was told.
    now_ms: u64,
    /// When the leader was heard last.
    heard_ms: u64,
    election_at_ms: u64,
    random: u64,
}

impl Raft {
    /// A node as it starts: a follower of nobody. All of its log is taken to be safe.
    ///
    /// # Panics
    /// When `start` contradicts itself: terms or places that do not ascend.
    #[must_use]
    pub fn new(start: Start, timing: Timing, now_ms: u64) -> Self {
        let Start { id, term, voted_for, base, runs, last, settled, memberships, committed, seed } = start;
        let settled_at = settled.as_ref().map_or(Index(0), |(index, _)| *index);
        let committed = committed.max(base.index).max(settled_at).min(last);
        let in_log = memberships.into_iter().filter(|(index, _)| settled.is_none() || *index > settled_at);
        let memberships = settled.clone().into_iter().chain(in_log).collect();
        let shapes = Shapes::new(base, runs, last, memberships);
        assert!(shapes.last().term <= term, "the log has a later term than the node knows: restore what it persisted");
        let state = State::Follower(Following::new());
        let mut raft = Self {
            id,
            timing,
            term,
            voted_for,
            shapes,
            safe: last,
            agreed: committed,
            committed,
            state,
            leader: None,
            announced: (term, None),
            now_ms,
            heard_ms: now_ms,
            election_at_ms: 0,
            random: seed,
        };
        raft.shapes.settle(committed);
        raft.put_off_election();
        raft
    }

    /// Time passes. To be called at [`Raft::deadline_ms`], earlier or later does no harm.
    pub fn tick(&mut self, now_ms: u64, out: &mut Vec<Action>) {
        self.now_ms = self.now_ms.max(now_ms);
        match self.state {
            State::Leader(_) => self.reign(out),
            _ if self.now_ms >= self.election_at_ms => self.try_election(out),
            _ => {}
        }
    }

    /// When [`Raft::tick`] is wanted next. None: only if something happens.
    #[must_use]
    pub fn deadline_ms(&self) -> Option<u64> {
        match &self.state {
            State::Leader(reign) => Some(reign.heartbeat_at_ms),
            _ => self.may_stand().then_some(self.election_at_ms),
        }
    }

    /// Another node says something.
    pub fn receive(&mut self, now_ms: u64, from: NodeId, message: Message, out: &mut Vec<Action>) {
        self.now_ms = self.now_ms.max(now_ms);
        if from == self.id || !is_believable(&message) {
            return;
        }
        match message {
            Message::VoteRequest { is_trial: true, term, last } => self.answer_trial(from, term, last, out),
            Message::VoteRequest { is_trial: false, term, last } => self.answer_vote(from, term, last, out),
            Message::VoteReply { is_trial, term, is_granted } => {
                self.count_vote(from, is_trial, term, is_granted, out);
            }
            Message::Append(append) => self.take_entries(from, &append, out),
            Message::AppendReply { term, .. } if term > self.term => self.adopt(term, out),
            Message::AppendReply { term, round, is_taken, upto } => {
                if term == self.term {
                    self.count_reply(from, round, is_taken, upto, out);
                }
            }
            Message::TakeOver { term } => {
                if term == self.term && self.leader == Some(from) && self.may_stand() {
                    self.stand(out);
                }
            }
        }
    }

    /// The own log is safe up to `upto`: written, and synced if it is to be. The place is what [`Raft::last`] said
    /// before that sync began; it is told apart from another entry that has come to stand there meanwhile.
    pub fn stored(&mut self, upto: Place, out: &mut Vec<Action>) {
        if upto.index <= self.safe || self.shapes.term_at(upto.index) != Some(upto.term) {
            return;
        }
        self.safe = upto.index;
        match self.state {
            State::Leader(_) => self.count(out),
            _ => self.answer_stored(out),
        }
        self.tell(out);
    }

    /// The log's front up to and with `place` was purged.
    ///
    /// # Panics
    /// When that is not committed.
    pub fn base_moved(&mut self, place: Place) {
        assert!(place.index <= self.agreed, "only what is committed may be purged");
        self.shapes.move_base(place);
    }

    /// Everything up to and with `place` came here by another way; the log goes on right behind it. A leader of `term`
    /// says that this is committed, and that `membership` is the last one up to there. False: this node knows that
    /// much already, nothing changes. True: the driver's log is to be reset, unless it has that very entry: then it is
    /// only purged up to there.
    ///
    /// # Panics
    /// On a leader.
    pub fn begin_behind(
        &mut self,
        term: Term,
        place: Place,
        membership: (Index, Membership),
        out: &mut Vec<Action>,
    ) -> bool {
        assert!(!matches!(self.state, State::Leader(_)), "a leader has everything that is committed");
        if term > self.term {
            // A leader of an earlier term may lack this: it must hear no more that this node has what it has.
            self.adopt(term, out);
        }
        if place.index <= self.agreed || place.term > self.term {
            return false;
        }
        if self.shapes.term_at(place.index) == Some(place.term) {
            self.agreed = place.index;
            self.shapes.move_base(place);
        } else {
            self.shapes = Shapes::new(place, Vec::new(), place.index, vec![membership]);
            self.agreed = place.index;
        }
        self.safe = self.safe.min(self.shapes.last().index).max(place.index);
        self.committed = self.committed.max(place.index);
        if let State::Follower(following) = &mut self.state {
            following.matched = place.index;
            following.answered = None;
        }
        self.tell(out);
        true
    }

    fn is_voter(&self) -> bool {
        self.membership().voters.contains(&self.id)
    }

    /// Whether it may ask for votes: also one that is to leave, until that is committed. Its log may be the only one that
    /// says so, and then nobody else can be elected without its vote (4.2.2). It does not count itself.
    fn may_stand(&self) -> bool {
        let is_leaving = self.shapes.membership_index() > self.agreed
            && self
                .shapes
                .settled_membership(self.agreed)
                .is_some_and(|(_, settled)| settled.voters.contains(&self.id));
        self.is_voter() || is_leaving
    }

    /// Says what is committed and safe here, once.
    fn tell(&mut self, out: &mut Vec<Action>) {
        let upto = self.agreed.min(self.safe);
        if upto > self.committed {
            self.committed = upto;
            self.shapes.settle(upto);
            out.push(Action::Committed { upto });
        }
    }

    /// A later term: whoever leads it, this node follows.
    fn adopt(&mut self, term: Term, out: &mut Vec<Action>) {
        self.term = term;
        self.voted_for = None;
        out.push(Action::Persist { term, voted_for: None });
        self.follow(None, out);
    }

    /// Becomes a follower, of somebody or of whoever will lead. A leader's fall leaves time for others to stand.
    fn follow(&mut self, leader: Option<NodeId>, out: &mut Vec<Action>) {
        if matches!(self.state, State::Leader(_)) {
            self.put_off_election();
        }
        self.state = State::Follower(Following::new());
        self.leader = leader;
        self.announce(out);
    }

    fn announce(&mut self, out: &mut Vec<Action>) {
        if self.announced != (self.term, self.leader) {
            self.announced = (self.term, self.leader);
            out.push(Action::LeaderIs { term: self.term, leader: self.leader });
        }
    }
}

/// What others may want to know.
impl Raft {
    /// What this node is.
    #[must_use]
    pub fn role(&self) -> Role {
        match self.state {
            State::Leader(_) => Role::Leader,
            State::Follower(_) => Role::Follower,
            State::Trial(_) | State::Candidate(_) => Role::Candidate,
        }
    }

    /// The newest that it knows of.
    #[must_use]
    pub fn term(&self) -> Term {
        self.term
    }

    /// Who leads that term; itself, too.
    #[must_use]
    pub fn leader(&self) -> Option<NodeId> {
        self.leader
    }

    /// What the last [`Action::Committed`] said: agreed on, and safe in the own log.
    #[must_use]
    pub fn committed(&self) -> Index {
        self.committed
    }

    /// The end of the log.
    #[must_use]
    pub fn last(&self) -> Place {
        self.shapes.last()
    }

    /// Right before the first entry of the log.
    #[must_use]
    #[cfg(test)]
    pub fn base(&self) -> Place {
        self.shapes.base()
    }

    /// An entry's term. None: it lies before the base, or behind the end.
    #[must_use]
    pub fn term_at(&self, index: Index) -> Option<Term> {
        self.shapes.term_at(index)
    }

    /// Who decides: the last one in the log, committed or not.
    #[must_use]
    pub fn membership(&self) -> &Membership {
        self.shapes.membership()
    }

    /// The last one up to [`Raft::committed`], and where it stands: for the next [`Start`], and for
    /// [`Raft::begin_behind`] on a node that is to begin right there. To be saved before the log is purged.
    #[must_use]
    #[cfg(test)]
    pub fn settled_membership(&self) -> Option<&(Index, Membership)> {
        self.shapes.settled_membership(self.committed)
    }
}

/// More than half of the voters.
fn majority(membership: &Membership) -> usize {
    membership.voters.len() / 2 + 1
}
