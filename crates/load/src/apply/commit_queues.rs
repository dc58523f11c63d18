//! The commit order of each table, and which chunks others wait for.
//!
//! A chunk may begin before an earlier one of its table, which waits for the rows of another table. It then waits to commit,
//! with its transaction open, until the earlier one has begun and ended: so that one must not be held up
//! ([`CommitQueues::awaited_before`]).

use std::collections::{BTreeSet, HashMap};

use hortator_core::{CommitOrder, Key, Seqno};

/// The result of waiting for a commit slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitSlot {
    /// The chunk may commit.
    Ready,
    /// An earlier chunk still has the slot.
    TimedOut,
}

/// The queues with chunks.
#[derive(Debug, Default)]
pub(super) struct CommitQueues(HashMap<Key, CommitQueue>);

#[derive(Debug, Default)]
struct CommitQueue {
    order: CommitOrder,
    /// Chunks that no worker has.
    not_begun: BTreeSet<Seqno>,
    /// The latest chunk that a worker has, or had.
    latest_begun: Option<Seqno>,
}

impl CommitQueues {
    /// A chunk is admitted.
    pub(super) fn register(&mut self, queue: Key, seqno: Seqno) {
        let queue = self.0.entry(queue).or_default();
        queue.order.register(seqno);
        queue.not_begun.insert(seqno);
    }

    /// A worker has it.
    pub(super) fn begin(&mut self, queue: Key, seqno: Seqno) {
        if let Some(queue) = self.0.get_mut(&queue) {
            queue.not_begun.remove(&seqno);
            queue.latest_begun = queue.latest_begun.max(Some(seqno));
        }
    }

    /// Whether it may commit.
    pub(super) fn may_commit(&self, queue: Key, seqno: Seqno) -> bool {
        self.0.get(&queue).is_none_or(|queue| queue.order.may_enter(seqno))
    }

    /// It has ended.
    pub(super) fn leave(&mut self, key: Key, seqno: Seqno) {
        if let Some(queue) = self.0.get_mut(&key) {
            queue.not_begun.remove(&seqno);
            queue.order.leave(seqno);
            if queue.order.first().is_none() {
                self.0.remove(&key);
            }
        }
    }

    /// The latest chunk that has begun and waits for one that has not. All that it waits for is earlier.
    pub(super) fn awaited_before(&self) -> Option<Seqno> {
        let waits = |queue: &CommitQueue| {
            let first = *queue.not_begun.first()?;
            queue.latest_begun.filter(|latest| first < *latest)
        };
        self.0.values().filter_map(waits).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_chunk_that_waits_for_one_that_has_not_begun() {
        let [one, other] = [Key::table(b"d", b"a"), Key::table(b"d", b"b")];
        let mut queues = CommitQueues::default();
        for (queue, seqno) in [(one, 1), (other, 2), (one, 3), (other, 4), (one, 5)] {
            queues.register(queue, Seqno(seqno));
        }
        assert_eq!(queues.awaited_before(), None);
        queues.begin(one, Seqno(1));
        assert_eq!(queues.awaited_before(), None, "those behind it have not begun");
        queues.begin(one, Seqno(5));
        assert_eq!(queues.awaited_before(), Some(Seqno(5)), "3 has not begun");
        queues.leave(one, Seqno(1));
        assert_eq!(queues.awaited_before(), Some(Seqno(5)));
        queues.begin(other, Seqno(4));
        queues.begin(one, Seqno(3));
        assert_eq!(queues.awaited_before(), Some(Seqno(4)), "2 has not begun");
        assert!(queues.may_commit(one, Seqno(3)) && !queues.may_commit(one, Seqno(5)));
        // A chunk that is cancelled ends without having begun.
        queues.leave(other, Seqno(2));
        assert_eq!(queues.awaited_before(), None);
        for (queue, seqno) in [(one, 3), (one, 5), (other, 4)] {
            queues.leave(queue, Seqno(seqno));
        }
        assert!(queues.0.is_empty());
    }
}
