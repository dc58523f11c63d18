//! Pending proposals: the threads that wait for a seqno.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use super::lock;
use crate::identity::Uuid;
use crate::node::commit::Ordered;
use crate::server::Member;
use crate::statistics::{Latencies, QueueLengths};
use crate::transaction::Transaction;

/// Pending proposals of this node.
#[derive(Debug, Default)]
pub(in crate::node) struct PendingProposals {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By request id.
    proposals: HashMap<u64, PendingProposal>,
    /// Their last-seen seqnos, with the request ids.
    seen: BTreeSet<(i64, u64)>,
    is_closed: bool,
    lengths: QueueLengths,
    latencies: Latencies,
}

impl State {
    fn remove(&mut self, request_id: u64) -> Option<PendingProposal> {
        let pending = self.proposals.remove(&request_id)?;
        self.seen.remove(&(pending.last_seen, request_id));
        Some(pending)
    }
}

/// A proposal that a thread waits for.
#[derive(Debug)]
pub(in crate::node) struct PendingProposal {
    /// The member ID of its write set.
    pub source: Uuid,
    /// The last-seen seqno of its write set.
    pub last_seen: i64,
    /// When it was added.
    pub since: Instant,
    /// The transaction that may be aborted meanwhile.
    pub transaction: Option<Arc<Transaction>>,
    /// It ends a streaming transaction.
    pub is_last_fragment: bool,
    /// Where the result goes.
    pub slot: Arc<AnswerSlot>,
}

/// The result of a proposal.
#[derive(Debug, Default)]
pub(in crate::node) struct AnswerSlot {
    /// Some(None): the outcome is unknown, or the proposal was not ordered.
    answer: Mutex<Option<Option<Ordered>>>,
    changed: Condvar,
}

impl AnswerSlot {
    /// Waits for the result. None: no known seqno.
    pub fn wait(&self) -> Option<Ordered> {
        let mut answer = lock(&self.answer);
        loop {
            if let Some(answer) = *answer {
                return answer;
            }
            answer = self.changed.wait(answer).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub fn set(&self, ordered: Option<Ordered>) {
        *lock(&self.answer) = Some(ordered);
        self.changed.notify_one();
    }
}

impl PendingProposals {
    /// Adds a pending proposal; after [`PendingProposals::close`] it fails at once.
    pub fn add(&self, request_id: u64, pending: PendingProposal) {
        let mut state = lock(&self.state);
        if state.is_closed {
            pending.slot.set(None);
        } else {
            let found = state.proposals.len();
            state.lengths.on_enter(found);
            state.seen.insert((pending.last_seen, request_id));
            state.proposals.insert(request_id, pending);
        }
    }

    /// No proposal succeeds any more.
    pub fn close(&self) {
        lock(&self.state).is_closed = true;
        self.refuse_all();
    }

    /// A proposal is ordered. None: no thread waits for it, or it is another node's.
    pub fn take(&self, source: Uuid, request_id: u64) -> Option<PendingProposal> {
        let mut state = lock(&self.state);
        let is_own = state.proposals.get(&request_id).is_some_and(|pending| pending.source == source);
        if !is_own {
            return None;
        }
        let pending = state.remove(request_id)?;
        state.latencies.add(pending.since.elapsed());
        Some(pending)
    }

    /// The outcome of all pending proposals is unknown: their threads return.
    pub fn refuse_all(&self) {
        let proposals = {
            let mut state = lock(&self.state);
            state.seen.clear();
            std::mem::take(&mut state.proposals)
        };
        proposals.values().for_each(|pending| pending.slot.set(None));
    }

    /// The quorum is lost: the outcome of all pending proposals is unknown, and their threads return. Those with the last
    /// fragment of a streaming transaction wait on, until the fragment is ordered, lost, or after the view that ends their
    /// member ID: if it is ordered before, only the client's own thread can commit it, which still has the fragments before.
    pub fn refuse_all_but_last_fragments(&self) {
        self.refuse_if(|pending| !pending.is_last_fragment);
    }

    /// The members of a view: what others had proposed can no longer pass certification.
    pub fn refuse_all_but_of(&self, members: &[Member]) {
        self.refuse_if(|pending| members.iter().all(|member| member.id != pending.source));
    }

    fn refuse_if(&self, is_over: impl Fn(&PendingProposal) -> bool) {
        let mut state = lock(&self.state);
        let over: Vec<u64> =
            state.proposals.iter().filter(|(_, pending)| is_over(pending)).map(|(request_id, _)| *request_id).collect();
        over.iter().filter_map(|request_id| state.remove(*request_id)).for_each(|pending| pending.slot.set(None));
    }

    /// The proposal is refused.
    pub fn refuse(&self, request_id: u64) {
        let pending = lock(&self.state).remove(request_id);
        if let Some(pending) = pending {
            pending.slot.set(None);
        }
    }

    /// Whether a pending transaction blocks the applying, and yields once it is ordered.
    pub fn has_victim(&self) -> bool {
        let is_victim = |pending: &PendingProposal| {
            pending.transaction.as_ref().is_some_and(|transaction| transaction.is_aborted())
        };
        lock(&self.state).proposals.values().any(is_victim)
    }

    /// The least last-seen seqno of the pending proposals.
    pub fn oldest_seen(&self) -> Option<i64> {
        lock(&self.state).seen.first().map(|(last_seen, _)| *last_seen)
    }

    /// The number of pending proposals over time, and how long they have waited for their seqnos.
    pub fn statistics(&self) -> (QueueLengths, Latencies) {
        let state = lock(&self.state);
        (state.lengths, state.latencies)
    }

    /// FLUSH STATUS.
    pub fn reset_statistics(&self) {
        let mut state = lock(&self.state);
        (state.lengths, state.latencies) = Default::default();
    }

    /// Number of pending proposals.
    pub fn len(&self) -> usize {
        lock(&self.state).proposals.len()
    }
}
