//! What is read of a source and not applied yet: bounded by its bytes.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Completion, Error};
use crate::binlog::Event;
use crate::transaction::{LogPosition, Part, Transaction};

/// What comes of a source.
#[derive(Debug)]
pub enum Arrival {
    /// How the events behind it are laid out.
    Format(Event),
    /// The first events of a large transaction, or further ones.
    Part(Part),
    /// A transaction, or the rest of a large one.
    Transaction(Transaction),
    /// The source has nothing behind this place.
    Idle(LogPosition),
    /// Of files: a transaction does not end.
    Unfinished {
        /// Parts of it have come.
        has_parts: bool,
        /// Why, for the person who watches.
        text: String,
    },
    /// Of files: everything that was asked for has come.
    Complete(Completion),
    /// Nothing comes behind it.
    Failed(Error),
}

impl Arrival {
    /// About what it takes in memory.
    fn bytes(&self) -> usize {
        let events = match self {
            Arrival::Part(part) => &part.events,
            Arrival::Transaction(transaction) => &transaction.events,
            _ => return FIXED_BYTES,
        };
        FIXED_BYTES + events.iter().map(|event| event.bytes.len() + FIXED_BYTES).sum::<usize>()
    }
}

/// What each event and each arrival is counted as besides its bytes.
const FIXED_BYTES: usize = 200;

/// What [`Queue::pop`] found.
#[derive(Debug)]
pub enum Popped {
    /// The next arrival.
    Arrival(Arrival),
    /// Nothing has come within the time.
    Nothing,
}

/// A queue between the thread that reads and the one that applies.
#[derive(Debug)]
pub struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    limit_bytes: usize,
    read_bytes: Arc<AtomicU64>,
}

#[derive(Debug, Default)]
struct State {
    arrivals: VecDeque<Arrival>,
    bytes: usize,
    is_closed: bool,
}

impl Queue {
    /// An empty queue. It takes arrivals while it holds fewer bytes than the limit.
    #[must_use]
    pub fn new(limit_bytes: usize) -> Queue {
        Queue { state: Mutex::default(), changed: Condvar::new(), limit_bytes, read_bytes: Arc::default() }
    }

    /// The same queue, with a counter of what arrives from the source, in bytes, transactions or not.
    #[must_use]
    pub fn counting(self, read_bytes: Arc<AtomicU64>) -> Queue {
        Queue { read_bytes, ..self }
    }

    /// Counts bytes that have arrived.
    pub fn count_read(&self, bytes: usize) {
        self.read_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Adds an arrival, and waits for room if there is none. False: nobody takes it.
    pub fn push(&self, arrival: Arrival) -> bool {
        let mut state = self.lock();
        while state.bytes >= self.limit_bytes && !state.is_closed {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_closed {
            return false;
        }
        state.bytes += arrival.bytes();
        state.arrivals.push_back(arrival);
        // Who takes waits only while there is nothing.
        if state.arrivals.len() == 1 {
            self.changed.notify_all();
        }
        true
    }

    /// Takes the next arrival, and waits for it up to a time.
    pub fn pop(&self, timeout: Duration) -> Popped {
        let state = self.lock();
        let waited = self.changed.wait_timeout_while(state, timeout, |state| state.arrivals.is_empty());
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let Some(arrival) = state.arrivals.pop_front() else { return Popped::Nothing };
        let was_full = state.bytes >= self.limit_bytes;
        state.bytes -= arrival.bytes();
        if was_full {
            self.changed.notify_all();
        }
        Popped::Arrival(arrival)
    }

    /// Nobody takes anything any more.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Whether [`Queue::close`] was called.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
