//! Commits in the stream's order: who may enter, given who has not left yet.
//!
//! A pure state machine for one lane (one source, one cluster). Waiting and waking are the caller's: after a
//! [`CommitOrder::leave`] it wakes whoever waits for [`CommitOrder::first`].

use std::collections::BTreeSet;

use crate::Seqno;

#[cfg(test)]
mod tests;

/// The positions of one lane that are registered and have not left.
///
/// Holds as many as are in flight; the scheduler that they come from bounds them.
#[derive(Clone, Debug, Default)]
pub struct CommitOrder {
    present: BTreeSet<Seqno>,
    last_registered: Seqno,
}

impl CommitOrder {
    /// A lane with nobody in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a place in the line.
    ///
    /// # Panics
    /// When `seqno` does not come after every one registered before: the line would not be the stream's order.
    pub fn register(&mut self, seqno: Seqno) {
        assert!(seqno > self.last_registered, "{seqno} registered after {}", self.last_registered);
        self.last_registered = seqno;
        self.present.insert(seqno);
    }

    /// Whether its turn has come: it is the lowest registered that has not left.
    pub fn may_enter(&self, seqno: Seqno) -> bool {
        self.first() == Some(seqno)
    }

    /// Who may enter now; nobody when the lane is empty.
    pub fn first(&self) -> Option<Seqno> {
        self.present.first().copied()
    }

    /// Gives up its place: after its commit, or in front of its turn because it was aborted and will not commit here.
    ///
    /// # Panics
    /// When it is not registered or has left already.
    pub fn leave(&mut self, seqno: Seqno) {
        assert!(self.present.remove(&seqno), "{seqno} leaves the commit order, where it is not");
    }
}
