//! Proposals whose threads wait for their place.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::lock;
use crate::identity::Uuid;
use crate::node::commit::Ordered;
use crate::transaction::Transaction;

/// Proposals of this node, by ticket.
#[derive(Debug, Default)]
pub(in crate::node) struct Waiting {
    proposals: Mutex<HashMap<u64, Proposed>>,
    /// Set and looked at under the proposals.
    is_closed: AtomicBool,
}

/// A proposal that somebody waits for.
#[derive(Debug)]
pub(in crate::node) struct Proposed {
    /// The life of this node that it bears.
    pub source: Uuid,
    /// Who may be aborted meanwhile.
    pub transaction: Option<Arc<Transaction>>,
    /// Where the answer goes.
    pub answer: Arc<Answer>,
}

/// What came of a proposal.
#[derive(Debug, Default)]
pub(in crate::node) struct Answer {
    /// Some(None): it is not known, or never was ordered.
    place: Mutex<Option<Option<Ordered>>>,
    changed: Condvar,
}

impl Answer {
    /// Waits for it. None: no place that anybody knows of.
    pub fn wait(&self) -> Option<Ordered> {
        let mut place = lock(&self.place);
        loop {
            if let Some(place) = *place {
                return place;
            }
            place = self.changed.wait(place).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub fn give(&self, ordered: Option<Ordered>) {
        *lock(&self.place) = Some(ordered);
        self.changed.notify_one();
    }
}

impl Waiting {
    /// Somebody waits from now on; after [`Waiting::close`] in vain, which it is told at once.
    pub fn add(&self, ticket: u64, proposed: Proposed) {
        let mut proposals = lock(&self.proposals);
        if self.is_closed.load(Ordering::SeqCst) {
            proposed.answer.give(None);
        } else {
            proposals.insert(ticket, proposed);
        }
    }

    /// Nothing will come of what is proposed any more.
    pub fn close(&self) {
        {
            let _proposals = lock(&self.proposals);
            self.is_closed.store(true, Ordering::SeqCst);
        }
        self.refuse_all();
    }

    /// It has come. None: nobody waits for it, or it is another node's.
    pub fn take(&self, source: Uuid, ticket: u64) -> Option<Proposed> {
        let mut proposals = lock(&self.proposals);
        let is_own = proposals.get(&ticket).is_some_and(|proposed| proposed.source == source);
        if is_own { proposals.remove(&ticket) } else { None }
    }

    /// Nobody knows what will become of them: their threads go.
    pub fn refuse_all(&self) {
        let proposals = std::mem::take(&mut *lock(&self.proposals));
        proposals.values().for_each(|proposed| proposed.answer.give(None));
    }

    /// It cannot be proposed.
    pub fn refuse(&self, ticket: u64) {
        if let Some(proposed) = lock(&self.proposals).remove(&ticket) {
            proposed.answer.give(None);
        }
    }

    /// Whether somebody waits who is in the way of what is being applied, and gives way as soon as it has its place.
    pub fn has_victim(&self) -> bool {
        let is_victim =
            |proposed: &Proposed| proposed.transaction.as_ref().is_some_and(|transaction| transaction.is_aborted());
        lock(&self.proposals).values().any(is_victim)
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        lock(&self.proposals).len()
    }
}
