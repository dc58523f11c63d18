//! What this node has proposed and not seen in the order yet: nothing twice, nothing lost without knowing.
//!
//! A node that leads appends its own proposals to the log; one that follows forwards them to the leader. Leaders die and
//! links break with proposals under way, and a proposal must come to stand in the order once, or be known not to.
//!
//! # Why exactly once
//!
//! 1. *Not twice in a term.* A forward says for which term it is, whose it is, and the how-manieth of that node in that
//!    term. The leader of that term, and no other node, takes it, and only the next number. So everything may be sent
//!    again after a link broke: what was taken is not taken again, and nothing is passed over. Nobody leads one
//!    term in two lives, so the leader may count in memory.
//! 2. *Not in two terms.* It is sent for a later term only once it is known to be lost in the earlier one.
//! 3. *Lost is known.* Terms ascend along the log, and what is committed stays. So when an entry of a later term is
//!    committed, everything of the earlier term that is ever committed stands before it, and was seen.
//! 4. *It ends.* A leader's first entry is of its own term; when that is committed, 3 holds for all that was sent before.
//!
//! A node that starts again is another origin: what its former life had under way, its clients no longer wait for. So
//! is one whose log went on elsewhere ([`super::raft::Raft::begin_behind`]): it has not seen what was committed between,
//! so 3 says nothing of what it had under way. It must take a new origin and new `Proposals`, and its clients cannot be
//! told what became of theirs.
//!
//! *Absent*: payloads (whoever submits keeps one until it is committed, withdrawn or forgotten), clock, threads.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::NodeId;
use super::raft::Term;

#[cfg(test)]
mod tests;

/// Proposals that one node may have outstanding.
const OUTSTANDING_LIMIT: usize = 65_536;
/// Lives of nodes whose forwards a leader counts in one term. Every start of a node is one.
const ORIGINS_LIMIT: usize = 4_096;
/// Without any progress for this long, everything under way is sent again.
const SEND_AGAIN_MS: u64 = 1_000;

/// One life of a node: random, from its start to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin(pub [u8; 16]);

/// A proposal of one life of a node; they ascend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// Who leads, as this node sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leader {
    /// Nobody that it knows of.
    Unknown,
    /// It does.
    Me,
    /// Another.
    Other(NodeId),
}

/// To be done for a proposal, in the order given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Append it to the log, if this node still leads this term. If not: [`Proposals::not_appended`].
    Append {
        /// Which.
        ticket: Ticket,
        /// Of this node.
        term: Term,
    },
    /// Send it to the leader.
    Forward {
        /// Which.
        ticket: Ticket,
        /// The leader.
        to: NodeId,
        /// Its term; no other may take it.
        term: Term,
        /// The how-manieth of this origin in this term, from 1.
        number: u64,
    },
    /// It was given up, and is lost: nothing will come of it.
    Forget {
        /// Which.
        ticket: Ticket,
    },
}

/// Nothing more can be proposed for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{OUTSTANDING_LIMIT} transactions wait for their place in the order: try again when the group has a leader")]
pub struct Full;

struct Sent {
    ticket: Ticket,
    term: Term,
    number: u64,
}

/// The proposals of one life of a node, and what it has taken of others' while it leads.
pub struct Proposals {
    term: Term,
    leader: Leader,
    /// Not under way.
    waiting: BTreeSet<Ticket>,
    /// Under way, as they were sent: by term, in a term by number.
    sent: VecDeque<Sent>,
    /// Of those, the ones that nobody waits for.
    given_up: BTreeSet<Ticket>,
    /// Of the last one sent in this term.
    number: u64,
    /// The newest term of which something is committed.
    settled: Term,
    /// When something of its own was committed, or everything was sent.
    progress_ms: u64,
    now_ms: u64,
    /// By origin, the last number that was taken in this term.
    taken: BTreeMap<Origin, u64>,
}

impl Default for Proposals {
    fn default() -> Self {
        Self::new()
    }
}

impl Proposals {
    /// None yet, and nobody leads.
    #[must_use]
    pub fn new() -> Self {
        Self {
            term: Term(0),
            leader: Leader::Unknown,
            waiting: BTreeSet::new(),
            sent: VecDeque::new(),
            given_up: BTreeSet::new(),
            number: 0,
            settled: Term(0),
            progress_ms: 0,
            now_ms: 0,
            taken: BTreeMap::new(),
        }
    }

    /// One more; `ticket` is higher than all before.
    ///
    /// # Errors
    /// When too many are outstanding.
    pub fn submit(&mut self, ticket: Ticket, steps: &mut Vec<Step>) -> Result<(), Full> {
        if self.len() >= OUTSTANDING_LIMIT {
            return Err(Full);
        }
        self.waiting.insert(ticket);
        self.send_waiting(steps);
        Ok(())
    }

    /// How many are outstanding.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len() + self.sent.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Nobody waits for it any more. True: it was not under way, nothing will come of it. False: it may yet be
    /// committed, and its payload is needed until it is, or [`Step::Forget`] says that it is not.
    pub fn give_up(&mut self, ticket: Ticket) -> bool {
        if self.waiting.remove(&ticket) {
            return true;
        }
        if self.sent.iter().any(|sent| sent.ticket == ticket) {
            self.given_up.insert(ticket);
            return false;
        }
        true
    }

    /// Somebody leads, or nobody.
    pub fn leader_is(&mut self, term: Term, leader: Leader, steps: &mut Vec<Step>) {
        if term < self.term {
            return;
        }
        if term > self.term {
            self.term = term;
            self.number = 0;
            self.taken.clear();
        }
        self.leader = leader;
        self.send_again(steps);
    }

    /// An entry is committed, of whatever kind and origin; `own` is its ticket if it is this life's.
    pub fn committed(&mut self, term: Term, own: Option<Ticket>, steps: &mut Vec<Step>) {
        if term > self.settled {
            self.settled = term;
            self.take_back_lost(steps);
        }
        if let Some(ticket) = own
            && let Some(place) = self.sent.iter().position(|sent| sent.ticket == ticket)
        {
            self.sent.remove(place);
            self.given_up.remove(&ticket);
            self.progress_ms = self.now_ms;
        }
        self.send_waiting(steps);
    }

    /// What was sent for an earlier term than one that has something committed is not in the order, and never will be.
    fn take_back_lost(&mut self, steps: &mut Vec<Step>) {
        while let Some(sent) = self.sent.pop_front_if(|sent| sent.term < self.settled) {
            if self.given_up.remove(&sent.ticket) {
                steps.push(Step::Forget { ticket: sent.ticket });
            } else {
                self.waiting.insert(sent.ticket);
            }
        }
    }

    /// A [`Step::Append`] could not be done. It is tried again when somebody leads, or after a while.
    pub fn not_appended(&mut self, ticket: Ticket, steps: &mut Vec<Step>) {
        let Some(place) = self.sent.iter().position(|sent| sent.ticket == ticket) else { return };
        self.sent.remove(place);
        if self.given_up.remove(&ticket) {
            steps.push(Step::Forget { ticket });
        } else {
            self.waiting.insert(ticket);
        }
    }

    /// Time passes. When nothing has come of what is under way for long, it is sent again.
    pub fn tick(&mut self, now_ms: u64, steps: &mut Vec<Step>) {
        self.now_ms = self.now_ms.max(now_ms);
        if self.is_empty() {
            self.progress_ms = self.now_ms;
        } else if self.now_ms - self.progress_ms >= SEND_AGAIN_MS {
            self.send_again(steps);
        }
    }

    /// The link to the leader is new: what was on its way may be lost. Everything goes again, in its order.
    pub fn send_again(&mut self, steps: &mut Vec<Step>) {
        self.progress_ms = self.now_ms;
        if let Leader::Other(to) = self.leader {
            for sent in self.sent.iter().filter(|sent| sent.term == self.term) {
                let Sent { ticket, term, number } = *sent;
                steps.push(Step::Forward { ticket, to, term, number });
            }
        }
        self.send_waiting(steps);
    }

    fn send_waiting(&mut self, steps: &mut Vec<Step>) {
        if self.leader == Leader::Unknown {
            return;
        }
        while let Some(ticket) = self.waiting.pop_first() {
            self.number += 1;
            let (term, number) = (self.term, self.number);
            self.sent.push_back(Sent { ticket, term, number });
            steps.push(match self.leader {
                Leader::Other(to) => Step::Forward { ticket, to, term, number },
                _ => Step::Append { ticket, term },
            });
        }
    }

    /// Whether a forward is to be appended: it is for this node's reign, and the next of its origin. To be asked only
    /// when the entry will be appended if so ([`super::raft::Raft::takes_entries`]).
    pub fn take(&mut self, origin: Origin, term: Term, number: u64) -> bool {
        if self.leader != Leader::Me || term != self.term {
            return false;
        }
        if !self.taken.contains_key(&origin) && self.taken.len() >= ORIGINS_LIMIT {
            return false;
        }
        let last = self.taken.entry(origin).or_insert(0);
        let is_next = last.checked_add(1) == Some(number);
        if is_next {
            *last = number;
        }
        is_next
    }
}
