//! Pending proposals: the threads that wait for a seqno.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::lock;
use crate::identity::Uuid;
use crate::node::commit::Ordered;
use crate::transaction::Transaction;

/// Pending proposals of this node, by request id.
#[derive(Debug, Default)]
pub(in crate::node) struct PendingProposals {
    proposals: Mutex<HashMap<u64, PendingProposal>>,
    /// Read and set under the lock of `proposals`.
    is_closed: AtomicBool,
}

/// A proposal that a thread waits for.
#[derive(Debug)]
pub(in crate::node) struct PendingProposal {
    /// The member ID of its write set.
    pub source: Uuid,
    /// The transaction that may be aborted meanwhile.
    pub transaction: Option<Arc<Transaction>>,
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
        let mut proposals = lock(&self.proposals);
        if self.is_closed.load(Ordering::SeqCst) {
            pending.slot.set(None);
        } else {
            proposals.insert(request_id, pending);
        }
    }

    /// No proposal succeeds any more.
    pub fn close(&self) {
        {
            let _proposals = lock(&self.proposals);
            self.is_closed.store(true, Ordering::SeqCst);
        }
        self.refuse_all();
    }

    /// A proposal is ordered. None: no thread waits for it, or it is another node's.
    pub fn take(&self, source: Uuid, request_id: u64) -> Option<PendingProposal> {
        let mut proposals = lock(&self.proposals);
        let is_own = proposals.get(&request_id).is_some_and(|pending| pending.source == source);
        if is_own { proposals.remove(&request_id) } else { None }
    }

    /// The outcome of all pending proposals is unknown: their threads return.
    pub fn refuse_all(&self) {
        let proposals = std::mem::take(&mut *lock(&self.proposals));
        proposals.values().for_each(|pending| pending.slot.set(None));
    }

    /// The proposal is refused.
    pub fn refuse(&self, request_id: u64) {
        if let Some(pending) = lock(&self.proposals).remove(&request_id) {
            pending.slot.set(None);
        }
    }

    /// Whether a pending transaction blocks the applying, and yields once it is ordered.
    pub fn has_victim(&self) -> bool {
        let is_victim = |pending: &PendingProposal| {
            pending.transaction.as_ref().is_some_and(|transaction| transaction.is_aborted())
        };
        lock(&self.proposals).values().any(is_victim)
    }

    /// Number of pending proposals.
    pub fn len(&self) -> usize {
        lock(&self.proposals).len()
    }
}
