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
    /// A transaction does not end: the source has crashed while it wrote it.
    Unfinished {
        /// Parts of it have come.
        has_parts: bool,
        /// Why, for the person who watches.
        text: String,
        /// Where the log goes on, of a source that has what it has. Of files, the rest may come with a later copy.
        behind: Option<LogPosition>,
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

/// Arrivals go in and out several at once, while they have fewer bytes than this: each time costs a lock, and may wake a thread.
const BATCH_LIMIT_BYTES: usize = 256 << 10;
/// Such a batch of either side is not in the queue: it has at most this part of what the queue may hold.
const BATCH_DIVISOR: usize = 32;

/// What [`Receiver::pop`] found.
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

    /// Where the thread that reads adds arrivals.
    #[must_use]
    pub fn sender(&self) -> Sender<'_> {
        Sender { queue: self, batch: Vec::new(), bytes: 0 }
    }

    /// Where the thread that applies takes them.
    #[must_use]
    pub fn receiver(&self) -> Receiver<'_> {
        Receiver { queue: self, batch: VecDeque::new() }
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

    fn batch_limit_bytes(&self) -> usize {
        BATCH_LIMIT_BYTES.min(self.limit_bytes / BATCH_DIVISOR)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds arrivals in their order.
#[derive(Debug)]
pub struct Sender<'q> {
    queue: &'q Queue,
    /// What is not in the queue yet.
    batch: Vec<Arrival>,
    bytes: usize,
}

impl Sender<'_> {
    /// Adds an arrival, at once or with those behind it: see [`Sender::flush`]. False: nobody takes it.
    pub fn push(&mut self, arrival: Arrival) -> bool {
        self.bytes += arrival.bytes();
        self.batch.push(arrival);
        self.bytes < self.queue.batch_limit_bytes() || self.flush()
    }

    /// Puts everything into the queue, and waits for room if there is none. False: nobody takes it.
    pub fn flush(&mut self) -> bool {
        let mut state = self.queue.lock();
        for arrival in self.batch.drain(..) {
            while state.bytes >= self.queue.limit_bytes && !state.is_closed {
                state = self.queue.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.is_closed {
                break;
            }
            state.bytes += arrival.bytes();
            state.arrivals.push_back(arrival);
            // Who takes waits only while there is nothing.
            if state.arrivals.len() == 1 {
                self.queue.changed.notify_all();
            }
        }
        self.bytes = 0;
        !state.is_closed
    }
}

/// Takes arrivals in their order.
#[derive(Debug)]
pub struct Receiver<'q> {
    queue: &'q Queue,
    /// What is not in the queue any more.
    batch: VecDeque<Arrival>,
}

impl Receiver<'_> {
    /// Whether the next arrival is there for sure.
    #[must_use]
    pub fn has_next(&self) -> bool {
        !self.batch.is_empty()
    }

    /// Takes the next arrival, and waits for it up to a time.
    pub fn pop(&mut self, timeout: Duration) -> Popped {
        if self.batch.is_empty() {
            self.take_batch(timeout);
        }
        self.batch.pop_front().map_or(Popped::Nothing, Popped::Arrival)
    }

    /// Takes one arrival, or several small ones.
    fn take_batch(&mut self, timeout: Duration) {
        let changed = &self.queue.changed;
        let waited = changed.wait_timeout_while(self.queue.lock(), timeout, |state| state.arrivals.is_empty());
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let was_full = state.bytes >= self.queue.limit_bytes;
        let mut taken_bytes = 0;
        while let Some(bytes) = state.arrivals.front().map(Arrival::bytes) {
            if taken_bytes > 0 && taken_bytes + bytes > self.queue.batch_limit_bytes() {
                break;
            }
            taken_bytes += bytes;
            self.batch.extend(state.arrivals.pop_front());
        }
        state.bytes -= taken_bytes;
        if was_full {
            changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn idle(position: u64) -> Arrival {
        Arrival::Idle(LogPosition { file: Vec::new(), position })
    }

    fn next(receiver: &mut Receiver<'_>) -> Option<u64> {
        match receiver.pop(Duration::ZERO) {
            Popped::Arrival(Arrival::Idle(at)) => Some(at.position),
            _ => None,
        }
    }

    #[test]
    fn arrivals_come_in_their_order_when_they_are_flushed() {
        let queue = Queue::new(1 << 20);
        let (mut sender, mut receiver) = (queue.sender(), queue.receiver());
        assert!(sender.push(idle(1)) && sender.push(idle(2)));
        assert_eq!((next(&mut receiver), receiver.has_next()), (None, false), "nothing is in the queue");
        assert!(sender.flush() && sender.flush());
        assert_eq!((next(&mut receiver), receiver.has_next()), (Some(1), true));
        assert!(sender.push(idle(3)) && sender.flush());
        assert_eq!([0; 3].map(|_| next(&mut receiver)), [Some(2), Some(3), None]);
        queue.close();
        assert!(sender.push(idle(4)), "it is not in the queue");
        assert!(!sender.flush(), "nobody takes it");
        assert_eq!(next(&mut receiver), None);
    }

    #[test]
    fn what_is_read_ahead_is_bounded() {
        // Those in the queue, one too many, and a batch of each side.
        let (count, queued, most) = (20_000, 320, 320 + 1 + 2 * 10);
        let queue = Queue::new(queued * FIXED_BYTES);
        let (sent, mut is_bounded) = (AtomicU64::new(0), true);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut sender = queue.sender();
                let mut push = |number| {
                    sent.store(number, Ordering::Relaxed);
                    sender.push(idle(number))
                };
                assert!((0..count).all(&mut push) && sender.flush());
            });
            let mut receiver = queue.receiver();
            for number in 0..count {
                is_bounded &= queue.lock().bytes <= (queued + 1) * FIXED_BYTES;
                is_bounded &= sent.load(Ordering::Relaxed) <= number + most;
                let Popped::Arrival(Arrival::Idle(at)) = receiver.pop(Duration::from_secs(60)) else {
                    panic!("{number} does not come");
                };
                assert_eq!(at.position, number);
            }
        });
        assert!(is_bounded);
    }
}
