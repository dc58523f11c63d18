//! Commits in the stream's order: which transaction may enter, given those that have not left yet.
//!
//! A pure state machine for one queue (one source, one cluster). The caller does the waiting and waking: after a
//! [`CommitOrder::leave`] it wakes the transaction that waits for [`CommitOrder::first`].

use std::collections::BTreeSet;

use crate::Seqno;

#[cfg(test)]
mod tests;

/// The registered positions of one queue that have not left.
///
/// Holds as many as are in flight; the scheduler bounds them.
#[derive(Clone, Debug, Default)]
pub struct CommitOrder {
    present: BTreeSet<Seqno>,
    last_registered: Seqno,
}

impl CommitOrder {
    /// An empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a position at the end of the queue.
    ///
    /// # Panics
    /// When `seqno` is not later than all registered before: the queue would not follow the stream's order.
    pub fn register(&mut self, seqno: Seqno) {
        assert!(seqno > self.last_registered, "{seqno} registered after {}", self.last_registered);
        self.last_registered = seqno;
        self.present.insert(seqno);
    }

    /// Whether the position may enter: it is the lowest registered one that has not left.
    pub fn may_enter(&self, seqno: Seqno) -> bool {
        self.first() == Some(seqno)
    }

    /// The position that may enter now; None when the queue is empty.
    pub fn first(&self) -> Option<Seqno> {
        self.present.first().copied()
    }

    /// Removes a position: after its commit, or before its turn because the transaction was aborted and will not commit
    /// here.
    ///
    /// # Panics
    /// When it is not registered or has left already.
    pub fn leave(&mut self, seqno: Seqno) {
        assert!(self.present.remove(&seqno), "{seqno} leaves the commit order without being registered");
    }
}
