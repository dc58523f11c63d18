//! The dependency scheduler: transactions in, in order; out, whenever nothing that they depend on is still in flight.
//!
//! ```text
//!   admit ──► waiting ──► ready ──► taken ──► complete: gone
//!              │   ▲
//!              └───┘ until every earlier conflicting transaction is gone
//! ```
//!
//! A transaction waits for those earlier ones, still in flight, that use one of its keys in a mode that excludes its
//! own ([`Mode::waits_for`]); for these, all of them, and no other. What follows already from another wait is not kept a
//! second time: an exclusive use waits for the readers since the last writer, and the writer, whom they wait for, goes
//! without saying. That changes nothing in who is ready when, and keeps the work per key constant.
//!
//! Rooms: `places` knows the users of each key, `gates` lets those who wait pass when a group of users is gone,
//! `in_flight` holds the transactions, `ready` the line of those that may run.

use std::fmt;

use crate::{Key, Mode, Seqno, WriteSet};

mod gates;
mod in_flight;
#[cfg(test)]
mod oracle;
mod places;
mod ready;
mod self_check;
#[cfg(test)]
mod tests;

use gates::{GateId, Gates};
use in_flight::{InFlight, Stage};
use places::Places;
use ready::Ready;

/// What one key of a transaction in flight costs in memory, roughly: in the write set, in its place, in tables.
const KEY_BYTES: usize = 160;

/// What a transaction in flight costs in memory besides its keys and what its caller says, roughly.
const TRANSACTION_BYTES: usize = 256;

/// Runs a stream of transactions in parallel so that the outcome is that of running them in their order.
///
/// `T` is what the transaction carries, handed in by [`Scheduler::admit`] and out by [`Scheduler::take_ready`].
#[derive(Debug)]
pub struct Scheduler<T> {
    limit_bytes: usize,
    held_bytes: usize,
    last_admitted: Seqno,
    in_flight: InFlight<T>,
    places: Places,
    gates: Gates,
    ready: Ready,
}

/// There is no room for another transaction now. Everything is handed back; try again after a completion.
#[derive(thiserror::Error)]
#[error(
    "the scheduler holds {held_bytes} of at most {limit_bytes} bytes: a transaction of {needed_bytes} has to wait \
     until others complete"
)]
pub struct Full<T> {
    /// What was to be admitted.
    pub write_set: WriteSet,
    /// The size as the caller gave it.
    pub size_bytes: usize,
    /// What was to be admitted.
    pub payload: T,
    /// The size as the scheduler counts it, keys included.
    pub needed_bytes: usize,
    /// What is in flight.
    pub held_bytes: usize,
    /// What may be in flight.
    pub limit_bytes: usize,
}

/// Why a transaction waits: for whom, and at which key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The earlier transaction that must complete first.
    pub predecessor: Seqno,
    /// A key at which the two meet; the deepest, when there are several.
    pub key: Key,
    /// How the predecessor uses it.
    pub held: Mode,
    /// How the one that waits will use it.
    pub wanted: Mode,
}

impl<T> Scheduler<T> {
    /// An empty scheduler that holds up to `limit_bytes`: the sizes its caller gives, and its own memory for the keys.
    pub fn new(limit_bytes: usize) -> Self {
        Self {
            limit_bytes,
            held_bytes: 0,
            last_admitted: Seqno(0),
            in_flight: InFlight::new(),
            places: Places::new(),
            gates: Gates::new(),
            ready: Ready::new(),
        }
    }

    /// Admits the next transaction of the stream. `size_bytes` is what its payload holds in memory.
    ///
    /// # Errors
    /// [`Full`], with everything handed back, when it would exceed the limit. A transaction that exceeds the limit all
    /// by itself is admitted when nothing else is in flight, else it could never run.
    // `Full` is as large as what it hands back; it would have to be moved anyway.
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
        let mut own_gate = None;
        for claim in write_set.claims() {
            let (hold, waits) = self.places.claim(*claim, id, &mut own_gate, &mut self.gates);
            transaction.holds.push(hold);
            transaction.waits_for += waits;
        }
        transaction.write_set = write_set;
        if transaction.waits_for == 0 {
            transaction.stage = Stage::Ready;
            self.ready.push(seqno, id);
        }
        Ok(seqno)
    }

    /// The earliest transaction that waits for nobody and has not been taken yet, with its payload.
    pub fn take_ready(&mut self) -> Option<(Seqno, T)> {
        let (seqno, id) = self.ready.pop()?;
        let transaction = self.in_flight.get_mut(id);
        transaction.stage = Stage::Taken;
        let payload =
            transaction.payload.take().expect("only a taken transaction has no payload, and it is taken once");
        Some((seqno, payload))
    }

    /// Says that a transaction which [`Scheduler::take_ready`] handed out is done. In any order.
    ///
    /// # Panics
    /// When it is not in flight, or has not been handed out: it might still wait for others, and those that wait for
    /// it would overtake them.
    pub fn complete(&mut self, seqno: Seqno) {
        let id = self.in_flight.find(seqno);
        let id = id.unwrap_or_else(|| panic!("transaction {seqno} is completed but not in flight"));
        let mut done = self.in_flight.remove(id);
        assert!(done.stage == Stage::Taken, "transaction {seqno} is completed before it was handed out");
        self.held_bytes -= done.held_bytes;
        for hold in done.holds.drain(..) {
            if self.places.release(hold, &mut self.gates) {
                self.open(hold.gate);
            }
        }
        self.in_flight.recycle(id, done.holds);
    }

    /// Lets those pass who wait at a gate that nobody holds any more.
    fn open(&mut self, gate: GateId) {
        let mut followers = self.gates.close(gate);
        for id in followers.drain(..) {
            let transaction = self.in_flight.get_mut(id);
            transaction.waits_for -= 1;
            if transaction.waits_for == 0 {
                transaction.stage = Stage::Ready;
                self.ready.push(transaction.seqno, id);
            }
        }
        self.gates.recycle(gate, followers);
    }

    /// Why a transaction waits: one entry for each earlier transaction in flight that it conflicts with, the earliest
    /// first. Empty when it is ready, taken or gone.
    ///
    /// For people and logs: it looks at every key of every earlier transaction in flight.
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
        write_set.claims().iter().any(|claim| self.places.would_wait(*claim))
    }

    /// Whether nothing is in flight.
    pub fn is_idle(&self) -> bool {
        self.in_flight.len() == 0
    }

    /// How many transactions are admitted and not completed.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// How many transactions [`Scheduler::take_ready`] could hand out now.
    pub fn ready(&self) -> usize {
        self.ready.len()
    }

    /// How many different keys those in flight use. Keys that nobody uses are forgotten.
    pub fn held_keys(&self) -> usize {
        self.places.len()
    }

    /// What is in flight, in bytes, as counted against the limit.
    pub fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// What may be in flight, in bytes.
    pub fn limit_bytes(&self) -> usize {
        self.limit_bytes
    }

    /// The earliest transaction in flight: every one before it is completed. None when nothing is in flight.
    pub fn lowest_in_flight(&self) -> Option<Seqno> {
        self.in_flight.in_order().next().map(|transaction| transaction.seqno)
    }

    /// The latest transaction admitted; 0 before the first.
    pub fn last_admitted(&self) -> Seqno {
        self.last_admitted
    }
}

impl<T> fmt::Debug for Full<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the payload: it may be megabytes, or secret.
        fmt::Display::fmt(self, formatter)
    }
}
