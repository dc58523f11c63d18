//! Proposals of this node that are not ordered yet: each is ordered once, or known to be lost.
//!
//! A leader appends its own proposals to the log; a follower forwards them to the leader. Leaders crash and links break
//! while proposals are in flight. Each proposal must be ordered exactly once, or be known not to be ordered.
//!
//! # Why exactly once
//!
//! 1. *Not twice in a term.* A forward carries its term, its session, and its number within that session and term. Only
//!    the leader of that term accepts it, and only if the number is the next one. So everything may be sent again after
//!    a link broke: the leader accepts no forward twice, and skips none. A node never leads the same term in two
//!    processes, so the leader may count in memory.
//! 2. *Not in two terms.* A proposal is sent in a later term only when it is known to be lost in the earlier one.
//! 3. *A loss is known.* Terms ascend along the log, and committed entries stay. So when an entry of a later term is
//!    committed, every committed entry of the earlier term is before it, and was seen.
//! 4. *It ends.* A leader's first entry has its own term; when it is committed, 3 holds for everything sent before.
//!
//! A restarted node has a new session: no client waits for the proposals of the old one. The same holds for a node
//! whose log was replaced ([`super::raft::Raft::install_snapshot`]): it has not seen what was committed in between, so
//! 3 says nothing of its proposals in flight. It must take a new session and new `Proposals`, and cannot tell its
//! clients the outcome.
//!
//! *Absent*: payloads (the submitter keeps each until it is committed, cancelled or discarded), clock, threads.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::NodeId;
use super::raft::Term;

#[cfg(test)]
mod tests;

/// Limit of outstanding proposals of one node. A server has at most 100,000 connections, and each of them one proposal that its
/// client waits for and the rollback of one streaming transaction, which nobody would propose again.
const OUTSTANDING_LIMIT: usize = 262_144;
/// Limit of sessions whose forwards a leader counts in one term. Every start of a node opens one.
const SESSIONS_LIMIT: usize = 4_096;
/// Without progress for this long, all proposals in flight are sent again.
const RESEND_INTERVAL_MS: u64 = 1_000;

/// A random id for one run of a node, from its start to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub [u8; 16]);

/// A proposal of one session, unique in it. What must be ordered after another one has a higher id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// The leader, as this node sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leader {
    /// No known leader.
    Unknown,
    /// This node.
    Me,
    /// Another node.
    Other(NodeId),
}

/// What the driver must do for a proposal, in the given order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Append it to the log, if this node still leads this term. Else: [`Proposals::on_not_appended`].
    Append {
        /// The proposal.
        request_id: RequestId,
        /// This node's term as leader.
        term: Term,
    },
    /// Send it to the leader.
    Forward {
        /// The proposal.
        request_id: RequestId,
        /// The leader.
        to: NodeId,
        /// The leader's term; no other leader may accept the forward.
        term: Term,
        /// The number of the forward in this session and term, from 1.
        number: u64,
    },
    /// The cancelled proposal is lost: it will never be ordered.
    Discard {
        /// The proposal.
        request_id: RequestId,
    },
}

/// Too many proposals are outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{OUTSTANDING_LIMIT} transactions wait to be ordered: try again when the cluster has a leader")]
pub struct Full;

struct Sent {
    request_id: RequestId,
    term: Term,
    number: u64,
}

/// The proposals of one session, and the forwards that this node has accepted as leader.
pub struct Proposals {
    term: Term,
    leader: Leader,
    /// Not sent yet.
    queued: BTreeSet<RequestId>,
    /// In flight, in the order sent: by term, then by number.
    sent: VecDeque<Sent>,
    /// Those in flight that no client waits for.
    cancelled: BTreeSet<RequestId>,
    /// Number of the last one sent in this term.
    number: u64,
    /// The latest term with a committed entry.
    committed_term: Term,
    /// Time of the last own commit, or of the last resend.
    progress_ms: u64,
    now_ms: u64,
    /// By session, the number of the last forward accepted in this term.
    last_accepted: BTreeMap<SessionId, u64>,
}

impl Default for Proposals {
    fn default() -> Self {
        Self::new()
    }
}

impl Proposals {
    /// No proposals, no known leader.
    #[must_use]
    pub fn new() -> Self {
        Self {
            term: Term(0),
            leader: Leader::Unknown,
            queued: BTreeSet::new(),
            sent: VecDeque::new(),
            cancelled: BTreeSet::new(),
            number: 0,
            committed_term: Term(0),
            progress_ms: 0,
            now_ms: 0,
            last_accepted: BTreeMap::new(),
        }
    }

    /// Adds a proposal with a `request_id` of its own. What is sent again goes in the order of the ids.
    ///
    /// # Errors
    /// Too many proposals are outstanding.
    pub fn submit(&mut self, request_id: RequestId, steps: &mut Vec<Step>) -> Result<(), Full> {
        if self.len() >= OUTSTANDING_LIMIT {
            return Err(Full);
        }
        self.queued.insert(request_id);
        self.send_queued(steps);
        Ok(())
    }

    /// Number of outstanding proposals.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queued.len() + self.sent.len()
    }

    /// Whether no proposal is outstanding.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// No client waits for the proposal any more. True: it was not in flight, and will not be ordered. False: it may
    /// still be committed; its payload is needed until then, or until [`Step::Discard`].
    pub fn cancel(&mut self, request_id: RequestId) -> bool {
        if self.queued.remove(&request_id) {
            return true;
        }
        if self.sent.iter().any(|sent| sent.request_id == request_id) {
            self.cancelled.insert(request_id);
            return false;
        }
        true
    }

    /// The leader has changed, or there is none.
    pub fn on_leader_changed(&mut self, term: Term, leader: Leader, steps: &mut Vec<Step>) {
        if term < self.term {
            return;
        }
        if term > self.term {
            self.term = term;
            self.number = 0;
            self.last_accepted.clear();
        }
        self.leader = leader;
        self.resend(steps);
    }

    /// An entry is committed, of any kind and session; `own` is its id if it belongs to this session.
    pub fn on_committed(&mut self, term: Term, own: Option<RequestId>, steps: &mut Vec<Step>) {
        if term > self.committed_term {
            self.committed_term = term;
            self.requeue_lost(steps);
        }
        if let Some(request_id) = own
            && let Some(position) = self.sent.iter().position(|sent| sent.request_id == request_id)
        {
            self.sent.remove(position);
            self.cancelled.remove(&request_id);
            self.progress_ms = self.now_ms;
        }
        self.send_queued(steps);
    }

    /// A proposal sent in a term before the committed one, and not seen, will never be ordered.
    fn requeue_lost(&mut self, steps: &mut Vec<Step>) {
        while let Some(sent) = self.sent.pop_front_if(|sent| sent.term < self.committed_term) {
            if self.cancelled.remove(&sent.request_id) {
                steps.push(Step::Discard { request_id: sent.request_id });
            } else {
                self.queued.insert(sent.request_id);
            }
        }
    }

    /// A [`Step::Append`] was not possible. The proposal is queued for the next leader or the next resend.
    pub fn on_not_appended(&mut self, request_id: RequestId, steps: &mut Vec<Step>) {
        let Some(position) = self.sent.iter().position(|sent| sent.request_id == request_id) else { return };
        self.sent.remove(position);
        if self.cancelled.remove(&request_id) {
            steps.push(Step::Discard { request_id });
        } else {
            self.queued.insert(request_id);
        }
    }

    /// The clock. Without progress for a while, everything in flight is sent again.
    pub fn tick(&mut self, now_ms: u64, steps: &mut Vec<Step>) {
        self.now_ms = self.now_ms.max(now_ms);
        if self.is_empty() {
            self.progress_ms = self.now_ms;
        } else if self.now_ms - self.progress_ms >= RESEND_INTERVAL_MS {
            self.resend(steps);
        }
    }

    /// The link to the leader is new, and messages on the old one may be lost: sends everything again, in order.
    pub fn resend(&mut self, steps: &mut Vec<Step>) {
        self.progress_ms = self.now_ms;
        if let Leader::Other(to) = self.leader {
            for sent in self.sent.iter().filter(|sent| sent.term == self.term) {
                let Sent { request_id, term, number } = *sent;
                steps.push(Step::Forward { request_id, to, term, number });
            }
        }
        self.send_queued(steps);
    }

    /// Not while the outcome of one that was sent in an earlier term is open: it may have to be sent again, before the later
    /// ones. Nobody waits for the rollback of a streaming transaction, and a client already uses its rows.
    fn send_queued(&mut self, steps: &mut Vec<Step>) {
        if self.leader == Leader::Unknown || self.sent.front().is_some_and(|sent| sent.term < self.term) {
            return;
        }
        while let Some(request_id) = self.queued.pop_first() {
            self.number += 1;
            let (term, number) = (self.term, self.number);
            self.sent.push_back(Sent { request_id, term, number });
            steps.push(match self.leader {
                Leader::Other(to) => Step::Forward { request_id, to, term, number },
                _ => Step::Append { request_id, term },
            });
        }
    }

    /// Whether to append a forward: it is for this leader's term, and the next of its session. Call it only if the
    /// entry is then appended ([`super::raft::Raft::can_append`]).
    pub fn accept_forward(&mut self, session: SessionId, term: Term, number: u64) -> bool {
        if self.leader != Leader::Me || term != self.term {
            return false;
        }
        if !self.last_accepted.contains_key(&session) && self.last_accepted.len() >= SESSIONS_LIMIT {
            return false;
        }
        let last = self.last_accepted.entry(session).or_insert(0);
        let is_next = last.checked_add(1) == Some(number);
        if is_next {
            *last = number;
        }
        is_next
    }
}
