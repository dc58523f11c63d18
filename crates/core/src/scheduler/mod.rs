//! The dependency scheduler: it admits transactions in order, and hands each out as soon as no transaction that it
//! depends on is in flight.
//!
//! ```text
//!   admit ──► waiting ──► ready ──► taken ──► completed
//!              │   ▲
//!              └───┘ until every earlier conflicting transaction has completed
//! ```
//!
//! A transaction waits for all earlier transactions in flight that use one of its keys in a mode that excludes its own
//! mode ([`Mode::waits_for`]), and for no others. The scheduler does not store a wait that follows from another wait:
//! an exclusive user waits for the readers since the last writer; these readers wait for the writer. This changes
//! nothing in who is ready when, and keeps the work per key constant.
//!
//! Modules: `lock_table` knows the users of each key; `wait_groups` wakes the waiting transactions when a group of
//! users has completed; `in_flight` holds the transactions; `ready` is the queue of transactions that may run.

use std::fmt;

use crate::{Key, Mode, Seqno, WriteSet};

mod in_flight;
mod lock_table;
#[cfg(test)]
mod oracle;
mod ready;
mod self_check;
#[cfg(test)]
mod tests;
mod wait_groups;

use in_flight::{InFlight, Stage};
use lock_table::LockTable;
use ready::Ready;
use wait_groups::{WaitGroupId, WaitGroups};

/// Approximate memory of one key of a transaction in flight: in the write set, in the lock table, in hash tables.
const KEY_BYTES: usize = 160;

/// Approximate memory of a transaction in flight, without its keys and its payload.
const TRANSACTION_BYTES: usize = 256;

/// Runs a stream of transactions in parallel, with the same outcome as running them in order.
///
/// `T` is the payload of a transaction: [`Scheduler::admit`] takes it and [`Scheduler::take_ready`] returns it.
#[derive(Debug)]
pub struct Scheduler<T> {
    limit_bytes: usize,
    held_bytes: usize,
    last_admitted: Seqno,
    in_flight: InFlight<T>,
    lock_table: LockTable,
    wait_groups: WaitGroups,
    ready: Ready,
}

/// The scheduler has no room for another transaction now. The error returns all arguments; try again after a
/// completion.
#[derive(thiserror::Error)]
#[error(
    "the scheduler holds {held_bytes} of at most {limit_bytes} bytes: a transaction of {needed_bytes} has to wait \
     until others complete"
)]
pub struct Full<T> {
    /// The write set that was to be admitted.
    pub write_set: WriteSet,
    /// The size that the caller gave.
    pub size_bytes: usize,
    /// The payload that was to be admitted.
    pub payload: T,
    /// The size that the scheduler counts, keys included.
    pub needed_bytes: usize,
    /// The bytes in flight.
    pub held_bytes: usize,
    /// The limit of bytes in flight.
    pub limit_bytes: usize,
}

/// The reason why a transaction waits: the predecessor and the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The earlier transaction that must complete first.
    pub predecessor: Seqno,
    /// A key that both use; the deepest one if there are several.
    pub key: Key,
    /// The mode in which the predecessor uses the key.
    pub held: Mode,
    /// The mode in which the waiting transaction will use the key.
    pub wanted: Mode,
}

impl<T> Scheduler<T> {
    /// An empty scheduler that holds up to `limit_bytes`: the sizes that the caller gives, plus its own memory for the
    /// keys.
    pub fn new(limit_bytes: usize) -> Self {
        Self {
            limit_bytes,
            held_bytes: 0,
            last_admitted: Seqno(0),
            in_flight: InFlight::new(),
            lock_table: LockTable::new(),
            wait_groups: WaitGroups::new(),
            ready: Ready::new(),
        }
    }

    /// Admits the next transaction of the stream. `size_bytes` is the memory that its payload holds.
    ///
    /// # Errors
    /// [`Full`], with all arguments, when the transaction would exceed the limit. A transaction that exceeds the limit
    /// alone is admitted when nothing else is in flight; otherwise it could never run.
    // `Full` is as large as the arguments that it returns; they would have to be moved anyway.
    #[allow(clippy::result_large_err)]
    pub fn admit(&mut self, write_set: WriteSet, size_bytes: usize, payload: T) -> Result<Seqno, Full<T>> {
        let own_bytes = TRANSACTION_BYTES + write_set.keys().len() * KEY_BYTES;
        let needed_bytes = size_bytes.saturating_add(own_bytes);
        let (held_bytes, limit_bytes) = (self.held_bytes, self.limit_bytes);
        if !self.is_idle() && held_bytes.saturating_add(needed_bytes) > limit_bytes {
            return Err(Full { write_set, size_bytes, payload, needed_bytes, held_bytes, limit_bytes });
        }
        self.held_bytes = held_bytes.saturating_add(needed_bytes);
        self.last_admitted = self.last_admitted.next();
        let seqno = self.last_admitted;

        let id = self.in_flight.insert(seqno, payload, needed_bytes);
        let transaction = self.in_flight.get_mut(id);
        let mut own_group = None;
        for request in write_set.lock_requests() {
            let (held_lock, waits) = self.lock_table.lock(*request, id, &mut own_group, &mut self.wait_groups);
            transaction.held_locks.push(held_lock);
            transaction.waits_for += waits;
        }
        transaction.write_set = write_set;
        if transaction.waits_for == 0 {
            transaction.stage = Stage::Ready;
            self.ready.push(seqno, id);
        }
        Ok(seqno)
    }

    /// Returns the earliest transaction that is ready and has not been taken yet, with its payload.
    pub fn take_ready(&mut self) -> Option<(Seqno, T)> {
        let (seqno, id) = self.ready.pop()?;
        let transaction = self.in_flight.get_mut(id);
        transaction.stage = Stage::Taken;
        let payload =
            transaction.payload.take().expect("only a taken transaction has no payload, and it is taken once");
        Some((seqno, payload))
    }

    /// Completes a transaction that [`Scheduler::take_ready`] handed out. Transactions may complete in any order.
    ///
    /// # Panics
    /// When the transaction is not in flight, or has not been taken: it might still wait for others, and the
    /// transactions that wait for it would overtake those.
    pub fn complete(&mut self, seqno: Seqno) {
        let id = self.in_flight.find(seqno);
        let id = id.unwrap_or_else(|| panic!("transaction {seqno} is completed but not in flight"));
        let mut done = self.in_flight.remove(id);
        assert!(done.stage == Stage::Taken, "transaction {seqno} is completed before it was handed out");
        self.held_bytes -= done.held_bytes;
        for held_lock in done.held_locks.drain(..) {
            if self.lock_table.release(held_lock, &mut self.wait_groups) {
                self.wake_waiters(held_lock.wait_group);
            }
        }
        self.in_flight.recycle(id, done.held_locks);
    }

    /// Wakes the transactions that wait for a group without members.
    fn wake_waiters(&mut self, wait_group: WaitGroupId) {
        let mut waiters = self.wait_groups.take_waiters(wait_group);
        for id in waiters.drain(..) {
            let transaction = self.in_flight.get_mut(id);
            transaction.waits_for -= 1;
            if transaction.waits_for == 0 {
                transaction.stage = Stage::Ready;
                self.ready.push(transaction.seqno, id);
            }
        }
        self.wait_groups.recycle(wait_group, waiters);
    }

    /// Returns why a transaction waits: one entry for each earlier transaction in flight that it conflicts with, the
    /// earliest first. Empty when the transaction is ready, taken or completed.
    ///
    /// For logs and diagnosis: it reads every key of every earlier transaction in flight.
    pub fn waits(&self, seqno: Seqno) -> Vec<Wait> {
        let waiting = self.in_flight.find(seqno).map(|id| self.in_flight.get(id));
        let Some(waiting) = waiting.filter(|transaction| transaction.stage == Stage::Waiting) else {
            return Vec::new();
        };
        let earlier = self.in_flight.in_order().take_while(|transaction| transaction.seqno < seqno);
        let wait_for = |predecessor: Seqno, write_set: &WriteSet| {
            let meeting = write_set.keys().filter_map(|(key, held)| {
                let wanted = waiting.write_set.mode(key)?;
                wanted.waits_for(held).then_some(Wait { predecessor, key, held, wanted })
            });
            meeting.max_by_key(|wait| wait.key.level())
        };
        earlier.filter_map(|transaction| wait_for(transaction.seqno, &transaction.write_set)).collect()
    }

    /// Whether a transaction with this write set would have to wait if it were admitted now.
    pub fn conflicts_in_flight(&self, write_set: &WriteSet) -> bool {
        write_set.lock_requests().iter().any(|request| self.lock_table.would_wait(*request))
    }

    /// Whether nothing is in flight.
    pub fn is_idle(&self) -> bool {
        self.in_flight.len() == 0
    }

    /// The number of transactions that are admitted and not completed.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// The number of transactions that [`Scheduler::take_ready`] could hand out now.
    pub fn ready(&self) -> usize {
        self.ready.len()
    }

    /// The transaction that [`Scheduler::take_ready`] would hand out now.
    pub fn first_ready(&self) -> Option<Seqno> {
        self.ready.first()
    }

    /// The number of different keys that transactions in flight use. The scheduler drops unused keys.
    pub fn held_keys(&self) -> usize {
        self.lock_table.len()
    }

    /// The bytes in flight, as counted against the limit.
    pub fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// The limit of bytes in flight.
    pub fn limit_bytes(&self) -> usize {
        self.limit_bytes
    }

    /// The earliest transaction in flight: all earlier ones are completed. None when nothing is in flight.
    pub fn lowest_in_flight(&self) -> Option<Seqno> {
        self.in_flight.in_order().next().map(|transaction| transaction.seqno)
    }

    /// The latest admitted transaction; 0 before the first.
    pub fn last_admitted(&self) -> Seqno {
        self.last_admitted
    }
}

impl<T> fmt::Debug for Full<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the payload: it may be megabytes, or secret.
        fmt::Display::fmt(self, formatter)
    }
}
