//! The receive queue, and the receiving threads that take from it.
//!
//! Write sets run in parallel, started in order; a thread waits for the dependencies of its write set, which were
//! started before it. All other work runs alone, and so does a write set that must not get into the binary log.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::commit::Ordered;
use super::delivery::Delivery;
use super::lock;
use crate::statistics::QueueLengths;

#[cfg(test)]
mod tests;

/// The Raft driver checks for room after this many deliveries.
const RECHECK_INTERVAL_DELIVERIES: usize = 256;

/// A unit of work.
#[derive(Debug)]
pub(super) enum Work {
    Begin,
    /// Roll back a streaming transaction of a single node.
    Rollback {
        trx: u64,
        data: Vec<u8>,
        ordered: Ordered,
    },
    /// Deliver an ordered entry.
    Deliver(Delivery),
    /// The node has lost the quorum.
    NonPrimary,
    /// A joiner requests an SST.
    Donate {
        request: Vec<u8>,
        seqno: i64,
    },
    /// The SST was sent.
    Donated,
    Leave,
}

impl Work {
    /// Whether it may run in parallel.
    fn can_run_in_parallel(&self) -> bool {
        matches!(self, Self::Deliver(delivery) if delivery.can_run_in_parallel())
    }
}

#[derive(Debug, Default)]
pub(super) struct RecvQueue {
    state: Mutex<State>,
    changed: Condvar,
    /// Seqnos that are being applied.
    applying: Mutex<Vec<(i64, Applying)>>,
    /// The server sends an SST.
    pub(super) is_donating: AtomicBool,
    /// Nothing more is ordered: the node is paused.
    pub(super) is_held: AtomicBool,
    /// The pause still waits for ordered write sets.
    pub(super) is_draining: AtomicBool,
    queued: AtomicUsize,
    queued_bytes: AtomicUsize,
}

/// What is being applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Applying {
    /// Rows.
    WriteSet,
    /// A statement in total order isolation.
    Statement,
}

#[derive(Debug, Default)]
struct State {
    is_connected: bool,
    threads: usize,
    /// Threads with work.
    active: usize,
    /// A thread runs exclusive work.
    is_exclusive: bool,
    queue: VecDeque<Work>,
    lengths: QueueLengths,
}

/// Work that a thread has taken. When the guard is dropped, also by a panic, the next work may start.
pub(super) struct WorkGuard<'a> {
    receiving: &'a RecvQueue,
    is_exclusive: bool,
}

impl Drop for WorkGuard<'_> {
    fn drop(&mut self) {
        let mut state = self.receiving.lock();
        state.active -= 1;
        if self.is_exclusive {
            state.is_exclusive = false;
        }
        // After a panic another thread takes over: one must leave the cluster, or the server's shutdown waits for ever.
        if std::thread::panicking() {
            state.threads -= 1;
        }
        if self.is_exclusive || std::thread::panicking() {
            self.receiving.changed.notify_all();
        } else if state.active == 0 && !state.queue.is_empty() {
            self.receiving.changed.notify_one();
        }
    }
}

impl RecvQueue {
    /// Connects the queue. False: it is connected already.
    pub(super) fn connect(&self) -> bool {
        let mut state = self.lock();
        // An earlier connection is still closing.
        while state.threads > 0 && (!state.is_connected || leaves(&state)) {
            state = self.wait(state);
        }
        if state.is_connected {
            return false;
        }
        state.is_connected = true;
        state.queue.push_back(Work::Begin);
        self.changed.notify_all();
        true
    }

    /// Disconnects the queue; at once if there is no receiving thread.
    pub(super) fn disconnect(&self) {
        let mut state = self.lock();
        if state.threads == 0 {
            state.is_connected = false;
            self.clear(&mut state);
        } else if state.is_connected {
            state.queue.push_back(Work::Leave);
        }
        self.changed.notify_all();
    }

    pub(super) fn is_connected(&self) -> bool {
        self.lock().is_connected
    }

    /// Queues work. False: the queue is not connected.
    pub(super) fn push(&self, work: Work) -> bool {
        let mut state = self.lock();
        if state.is_connected {
            if let Work::Deliver(delivery) = &work {
                let found = self.queued.fetch_add(1, Ordering::SeqCst);
                state.lengths.on_enter(found);
                self.queued_bytes.fetch_add(delivery.bytes(), Ordering::SeqCst);
            }
            state.queue.push_back(work);
            self.changed.notify_one();
        }
        state.is_connected
    }

    /// Number of entries that wait for delivery or are being delivered.
    pub(super) fn queued(&self) -> usize {
        self.queued.load(Ordering::SeqCst)
    }

    /// Its length over time.
    pub(super) fn lengths(&self) -> QueueLengths {
        self.lock().lengths
    }

    /// FLUSH STATUS.
    pub(super) fn reset_lengths(&self) {
        self.lock().lengths = QueueLengths::default();
    }

    pub(super) fn queued_bytes(&self) -> usize {
        self.queued_bytes.load(Ordering::SeqCst)
    }

    /// An entry is delivered. True: the Raft driver should check for room.
    pub(super) fn on_delivered(&self, bytes: usize) -> bool {
        self.queued_bytes.fetch_sub(bytes, Ordering::SeqCst);
        let left = self.queued.fetch_sub(1, Ordering::SeqCst) - 1;
        left == 0 || left.is_multiple_of(RECHECK_INTERVAL_DELIVERIES)
    }

    /// A receiving thread starts.
    pub(super) fn add_thread(&self) {
        self.lock().threads += 1;
    }

    /// The next work. Leave stays in the queue until it is done. None: the queue is disconnected, and the thread is
    /// removed.
    pub(super) fn next(&self) -> Option<(Work, WorkGuard<'_>)> {
        let mut state = self.lock();
        loop {
            if !state.is_connected {
                state.threads -= 1;
                self.changed.notify_all();
                return None;
            }
            let front = state.queue.front().filter(|_| !state.is_exclusive && !self.is_kept_back(&state));
            let is_beside = front.map(Work::can_run_in_parallel);
            if let Some(is_beside) = is_beside.filter(|is_beside| *is_beside || state.active == 0) {
                let work = match state.queue.front() {
                    Some(Work::Leave) => Work::Leave,
                    _ => state.queue.pop_front().expect("it was there"),
                };
                state.active += 1;
                state.is_exclusive = !is_beside;
                // Each thread wakes one more as long as there is work.
                if is_beside && !state.queue.is_empty() {
                    self.changed.notify_one();
                }
                return Some((work, WorkGuard { receiving: self, is_exclusive: !is_beside }));
            }
            state = self.wait(state);
        }
    }

    /// Whether the server must not hear yet that the quorum is lost: it ends the pause of an SST only while it takes itself
    /// for the donor.
    fn is_kept_back(&self, state: &State) -> bool {
        let is_paused = self.is_held.load(Ordering::SeqCst) && !self.is_draining.load(Ordering::SeqCst);
        matches!(state.queue.front(), Some(Work::NonPrimary))
            && self.is_donating.load(Ordering::SeqCst)
            && is_paused
            && !leaves(state)
    }

    /// Whether a pause holds back what a starting node applies. Not while it leaves.
    pub(super) fn holds_start(&self) -> bool {
        self.holds(&self.lock())
    }

    /// Waits until it does not.
    pub(super) fn wait_while_start_is_held(&self) {
        let mut state = self.lock();
        while self.holds(&state) {
            state = self.wait(state);
        }
    }

    fn holds(&self, state: &State) -> bool {
        self.is_held.load(Ordering::SeqCst) && !leaves(state)
    }

    /// A pause has begun or ended.
    pub(super) fn hold(&self, is_held: bool) {
        self.is_held.store(is_held, Ordering::SeqCst);
        drop(self.lock());
        self.changed.notify_all();
    }

    /// Waits up to `limit` for a leave. True: the node leaves.
    pub(super) fn wait_for_leave(&self, limit: Duration) -> bool {
        let state = self.lock();
        let waited = self.changed.wait_timeout_while(state, limit, |state| !leaves(state));
        leaves(&waited.unwrap_or_else(PoisonError::into_inner).0)
    }

    /// The thread exits. `has_left`: all others too. False: it is the last one, and must stay.
    pub(super) fn remove_thread(&self, has_left: bool) -> bool {
        let mut state = self.lock();
        if !has_left && state.threads == 1 {
            return false;
        }
        state.threads -= 1;
        if has_left {
            state.is_connected = false;
            self.clear(&mut state);
        }
        self.changed.notify_all();
        true
    }

    /// Takes what is queued and has a seqno.
    pub(super) fn take_ordered(&self) -> Vec<Work> {
        let mut state = self.lock();
        let is_ordered = |work: &Work| matches!(work, Work::Deliver(_) | Work::Rollback { .. });
        let (ordered, others) = std::mem::take(&mut state.queue).into_iter().partition::<Vec<_>, _>(is_ordered);
        state.queue = others.into();
        ordered
    }

    /// The seqno is being applied from now on. Returns the distance to the lowest one that is.
    pub(super) fn begin_applying(&self, seqno: i64, what: Applying) -> i64 {
        let mut applying = lock(&self.applying);
        applying.push((seqno, what));
        let lowest = applying.iter().map(|(applied, _)| *applied).min().unwrap_or(seqno);
        seqno.saturating_sub(lowest)
    }

    /// The seqno is applied. Returns whether an earlier one still is.
    pub(super) fn end_applying(&self, seqno: i64) -> bool {
        let mut applying = lock(&self.applying);
        applying.retain(|(applied, _)| *applied != seqno);
        applying.iter().any(|(applied, _)| *applied < seqno)
    }

    /// What a receiving thread applies at the seqno. None: a client's thread commits it.
    pub(super) fn applying(&self, seqno: i64) -> Option<Applying> {
        lock(&self.applying).iter().find(|(applied, _)| *applied == seqno).map(|(_, what)| *what)
    }

    /// Whether a receiving thread applies such work.
    pub(super) fn is_applying(&self, what: Applying) -> bool {
        lock(&self.applying).iter().any(|(_, applied)| *applied == what)
    }

    fn clear(&self, state: &mut State) {
        if state.queue.iter().any(|work| matches!(work, Work::Donate { .. })) {
            // The donation has not started.
            self.is_donating.store(false, Ordering::SeqCst);
        }
        state.queue.clear();
        self.queued.store(0, Ordering::SeqCst);
        self.queued_bytes.store(0, Ordering::SeqCst);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the node is about to leave.
fn leaves(state: &State) -> bool {
    state.queue.iter().any(|work| matches!(work, Work::Leave))
}
