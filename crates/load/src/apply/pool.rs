//! What the coordinator and the workers share: the scheduler, the commit order of each table, and the end of the load.
//!
//! Two rules hold here. A worker waits only for earlier work: the pool hands out chunks in order, and a chunk waits to
//! commit only for earlier chunks of its commit queue. And a failure stops later chunks, while earlier chunks complete: so
//! the earliest failure in stream order is that of a serial load.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hortator_core::{Key, Scheduler, Seqno, WriteSet};
use hortator_mysql::LockWaits;

use super::chunk::Chunk;
use super::commit_queues::{CommitQueues, CommitSlot};
use crate::report::Failure;
use crate::throttle::Throttle;

/// How often a wait looks up for something else to do.
const IDLE_TICK: Duration = Duration::from_millis(300);
/// Most failures that a forced load keeps in words; all are counted.
const FAILURES_KEPT: usize = 1000;

/// The load ends and admits nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// What a worker is to do next.
#[derive(Debug)]
enum Next {
    /// This chunk.
    Chunk(Seqno, Chunk),
    /// There are chunks, and none is to begin now.
    Held,
}

/// Shared by the coordinator and all workers of one load.
#[derive(Debug)]
pub struct Pool {
    state: Mutex<State>,
    /// For all who wait, but workers that wait for a chunk.
    changed: Condvar,
    /// For workers that wait for a chunk: woken one for each chunk, since there may be many of them.
    ready: Condvar,
    interrupted: AtomicBool,
    /// The connections that run statements now, for those who would end them; 0 for none.
    running: Vec<AtomicU32>,
    lock_waits: LockWaits,
    force: bool,
}

#[derive(Debug)]
struct State {
    scheduler: Scheduler<Chunk>,
    commit_queues: CommitQueues,
    /// Workers that wait for a chunk.
    waiting_workers: usize,
    /// The position behind everything admitted.
    next: Seqno,
    closed: bool,
    /// Chunks after this position are cancelled.
    stop_at: Option<Seqno>,
    failures: Vec<FailureAt>,
    failure_count: u64,
    /// The load has been made ready once more: what fails again is no other failure.
    has_reopened: bool,
    /// The first position at which the load ended only because a connection was lost.
    lost_at: Option<Seqno>,
    latest_id: Option<(Seqno, u64)>,
    /// A worker panicked without ending its chunk: no thread may wait for it.
    is_poisoned: bool,
}

/// A failure and where it stands.
#[derive(Debug)]
struct FailureAt {
    seqno: Seqno,
    failure: Failure,
    /// Only a connection was lost, and the load may resume from its checkpoints.
    is_lost: bool,
}

impl State {
    /// Whether a chunk that has begun waits for the next ready one, or may do so in the end.
    fn is_ready_awaited(&self) -> bool {
        let ready = self.scheduler.first_ready();
        ready.is_some_and(|ready| self.commit_queues.awaited_before().is_some_and(|awaited| ready < awaited))
    }
}

impl Pool {
    /// For `workers` workers; `limit_bytes` bounds the text of all chunks that wait or run. With `force`, a failed
    /// statement stops nothing.
    #[must_use]
    pub fn new(workers: usize, limit_bytes: usize, force: bool) -> Self {
        let state = State {
            scheduler: Scheduler::new(limit_bytes),
            commit_queues: CommitQueues::default(),
            waiting_workers: 0,
            next: Seqno(1),
            closed: false,
            stop_at: None,
            failures: Vec::new(),
            failure_count: 0,
            has_reopened: false,
            lost_at: None,
            latest_id: None,
            is_poisoned: false,
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            ready: Condvar::new(),
            interrupted: AtomicBool::new(false),
            running: (0..=workers).map(|_| AtomicU32::new(0)).collect(),
            lock_waits: LockWaits::default(),
            force,
        }
    }

    /// Which of the load's connections are in the way of others.
    pub fn lock_waits(&self) -> &LockWaits {
        &self.lock_waits
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A worker that panicked has changed nothing half-way: every change below is one call into the scheduler.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits as a worker without a chunk.
    fn wait_for_chunk<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.waiting_workers += 1;
        let mut state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.waiting_workers -= 1;
        state
    }

    /// Wakes a worker for each chunk that waits for nobody, or all where there may be no more.
    fn wake_workers(&self, state: &State) {
        if state.closed {
            return self.ready.notify_all();
        }
        (0..state.scheduler.ready().min(state.waiting_workers)).for_each(|_| self.ready.notify_one());
    }

    /// Wakes everybody.
    fn wake_all(&self) {
        self.changed.notify_all();
        self.ready.notify_all();
    }

    /// Waits for a change, and calls `on_idle` now and then meanwhile.
    fn wait_idle<'a>(&'a self, state: MutexGuard<'a, State>, on_idle: &mut dyn FnMut()) -> MutexGuard<'a, State> {
        let (state, waited) = self.changed.wait_timeout(state, IDLE_TICK).unwrap_or_else(PoisonError::into_inner);
        if !waited.timed_out() {
            return state;
        }
        drop(state);
        on_idle();
        self.lock()
    }

    /// Admits a chunk; waits while too much is under way, and calls `on_idle` now and then meanwhile.
    ///
    /// # Errors
    /// [`Stopped`] when the load is to end.
    pub fn admit(
        &self,
        mut write_set: WriteSet,
        size_bytes: usize,
        mut chunk: Chunk,
        on_idle: &mut dyn FnMut(),
    ) -> Result<(), Stopped> {
        let commit_queue = chunk.commit_queue();
        let mut state = self.lock();
        loop {
            if self.is_stopping(&state) {
                return Err(Stopped);
            }
            match state.scheduler.admit(write_set, size_bytes, chunk) {
                Ok(seqno) => {
                    state.next = seqno.next();
                    if let Some(commit_queue) = commit_queue {
                        state.commit_queues.register(commit_queue, seqno);
                    }
                    self.wake_workers(&state);
                    return Ok(());
                }
                Err(full) => {
                    write_set = full.write_set;
                    chunk = full.payload;
                }
            }
            state = self.wait_idle(state, on_idle);
        }
    }

    /// Waits until nothing under way conflicts with `write_set`, and calls `on_idle` now and then meanwhile.
    ///
    /// # Errors
    /// [`Stopped`] when the load is to end.
    pub fn wait_clear(&self, write_set: &WriteSet, on_idle: &mut dyn FnMut()) -> Result<(), Stopped> {
        let mut state = self.lock();
        while !self.is_stopping(&state) {
            if !state.scheduler.conflicts_in_flight(write_set) {
                return Ok(());
            }
            state = self.wait_idle(state, on_idle);
        }
        Err(Stopped)
    }

    /// Waits until nothing is under way, and calls `on_idle` now and then meanwhile.
    ///
    /// # Errors
    /// [`Stopped`] when the load is to end; then too, nothing is under way any more.
    pub fn drain(&self, on_idle: &mut dyn FnMut()) -> Result<(), Stopped> {
        let mut state = self.lock();
        while !state.scheduler.is_idle() && !state.is_poisoned {
            state = self.wait_idle(state, on_idle);
        }
        if self.is_stopping(&state) { Err(Stopped) } else { Ok(()) }
    }

    /// The next chunk that waits for nobody, once the throttle has room for it; `None` when there will be no more. A worker
    /// that is held back has no chunk, so that nobody waits for it; and what a chunk waits for that has begun, begins too.
    pub fn next(&self, throttle: &Throttle) -> Option<(Seqno, Chunk)> {
        loop {
            throttle.enter(&|| self.is_over() || self.lock().is_ready_awaited());
            match self.take(&|| throttle.is_held()) {
                Some(Next::Chunk(seqno, chunk)) => return Some((seqno, chunk)),
                Some(Next::Held) => throttle.leave(0, 0),
                None => {
                    throttle.leave(0, 0);
                    return None;
                }
            }
        }
    }

    /// The next chunk that waits for nobody; `None` when there will be no more. `is_held`: no chunk is to begin now.
    fn take(&self, is_held: &dyn Fn() -> bool) -> Option<Next> {
        let mut state = self.lock();
        loop {
            if state.scheduler.ready() > 0 && !self.is_stopping(&state) && is_held() && !state.is_ready_awaited() {
                // This worker was woken for the chunk, and without it another one may take it.
                self.ready.notify_one();
                return Some(Next::Held);
            }
            while let Some((seqno, chunk)) = state.scheduler.take_ready() {
                if !self.is_cancelled(&state, seqno) {
                    if let Some(commit_queue) = chunk.commit_queue() {
                        state.commit_queues.begin(commit_queue, seqno);
                    }
                    return Some(Next::Chunk(seqno, chunk));
                }
                self.release(&mut state, seqno, chunk.commit_queue());
            }
            if state.is_poisoned || (state.closed && state.scheduler.is_idle()) {
                return None;
            }
            state = self.wait_for_chunk(state);
        }
    }

    /// Whether nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.lock().scheduler.is_idle()
    }

    /// Whether workers have nothing to wait for: the load stops, or no chunk will come.
    pub fn is_over(&self) -> bool {
        let state = self.lock();
        self.is_stopping(&state) || (state.closed && state.scheduler.is_idle())
    }

    /// Waits up to `timeout` until all earlier chunks of the commit queue have ended.
    pub fn wait_for_commit_slot(&self, seqno: Seqno, commit_queue: Key, timeout: Duration) -> CommitSlot {
        let mut state = self.lock();
        loop {
            if state.is_poisoned || state.commit_queues.may_commit(commit_queue, seqno) {
                return CommitSlot::Ready;
            }
            let (next, timeout) = self.changed.wait_timeout(state, timeout).unwrap_or_else(PoisonError::into_inner);
            state = next;
            if timeout.timed_out() {
                return CommitSlot::TimedOut;
            }
        }
    }

    /// Ends a chunk, whatever became of it.
    pub fn complete(&self, seqno: Seqno, commit_queue: Option<Key>) {
        let mut state = self.lock();
        self.release(&mut state, seqno, commit_queue);
    }

    fn release(&self, state: &mut State, seqno: Seqno, commit_queue: Option<Key>) {
        if let Some(commit_queue) = commit_queue {
            state.commit_queues.leave(commit_queue, seqno);
        }
        state.scheduler.complete(seqno);
        self.wake_workers(state);
        self.changed.notify_all();
    }

    /// Takes note of a failed statement. Unless the load is forced (and the failure is one statement's own), what lies
    /// behind it will not be done.
    pub fn fail(&self, seqno: Seqno, failure: Failure, is_fatal: bool) {
        self.note(FailureAt { seqno, failure, is_lost: false }, is_fatal || !self.force);
    }

    fn note(&self, noted: FailureAt, stops: bool) {
        let mut state = self.lock();
        let (seqno, is_lost) = (noted.seqno, noted.is_lost);
        let is_told = state.has_reopened && state.failures.iter().any(|known| known.failure == noted.failure);
        if !is_told {
            state.failure_count += 1;
            // The one that may be taken back is always at hand.
            if is_lost || state.failures.len() < FAILURES_KEPT {
                state.failures.push(noted);
            }
        }
        if stops {
            state.stop_at = Some(state.stop_at.map_or(seqno, |earlier| earlier.min(seqno)));
        }
        if is_lost {
            state.lost_at = Some(state.lost_at.map_or(seqno, |earlier| earlier.min(seqno)));
        }
        self.wake_all();
    }

    /// Records that a lost connection ended the load at this position; the load may resume from its checkpoints.
    pub fn fail_lost(&self, seqno: Seqno, failure: Failure) {
        self.note(FailureAt { seqno, failure, is_lost: true }, true);
    }

    /// Where only a lost connection ended the load.
    pub fn lost(&self) -> Option<Failure> {
        let state = self.lock();
        let first = state.failures.iter().filter(|noted| noted.is_lost).min_by_key(|noted| noted.seqno);
        first.map(|noted| noted.failure.clone())
    }

    /// Appends to the message of that failure.
    pub fn add_to_lost(&self, words: &str) {
        let mut state = self.lock();
        if let Some(first) = state.failures.iter_mut().filter(|noted| noted.is_lost).min_by_key(|noted| noted.seqno) {
            first.failure.message.push_str(words);
        }
    }

    /// Makes the load ready to be run once more from the stream's beginning, if nothing but a lost connection ended it.
    /// All workers must have ended.
    pub fn reopen(&self) -> bool {
        let mut state = self.lock();
        let is_lost_first = state.lost_at.is_some() && state.lost_at == state.stop_at;
        // All statements of the main session between two chunks share one position: a failure of one of them stands there.
        let is_failed = |noted: &FailureAt| !noted.is_lost && state.stop_at.is_some_and(|stop| noted.seqno <= stop);
        let has_failed = !self.force && state.failures.iter().any(is_failed);
        if !is_lost_first || has_failed || self.is_interrupted() || state.is_poisoned {
            return false;
        }
        let found = state.failures.len();
        // What failed in a forced load is recorded as tried; otherwise what lies behind is yet to be done.
        state.failures.retain(|noted| self.force && !noted.is_lost);
        state.failure_count -= (found - state.failures.len()) as u64;
        state.has_reopened = true;
        state.latest_id = None;
        state.stop_at = None;
        state.lost_at = None;
        state.closed = false;
        true
    }

    /// Gives the load up: a worker has ended without ending its chunk, which only an error of ours can bring about.
    pub fn poison(&self) {
        self.lock().is_poisoned = true;
        self.wake_all();
    }

    /// The position of a statement that the coordinator runs itself: behind everything admitted.
    pub fn position(&self) -> Seqno {
        self.lock().next
    }

    /// Where the load has ended, or is to end if something fails now: a failure there counts.
    pub fn end_position(&self) -> Seqno {
        let state = self.lock();
        state.stop_at.unwrap_or(state.next)
    }

    /// Whether the work at this position is not to be done (any more).
    pub fn is_cancelled_at(&self, seqno: Seqno) -> bool {
        self.is_cancelled(&self.lock(), seqno)
    }

    fn is_cancelled(&self, state: &State, seqno: Seqno) -> bool {
        self.is_interrupted() || state.is_poisoned || state.stop_at.is_some_and(|stop| stop < seqno)
    }

    fn is_stopping(&self, state: &State) -> bool {
        self.is_interrupted() || state.is_poisoned || state.stop_at.is_some()
    }

    /// Whether the rest of the work at this position is still to be done: nothing failed before it, or at it.
    pub fn may_go_on_at(&self, seqno: Seqno) -> bool {
        let state = self.lock();
        !self.is_cancelled(&state, seqno) && state.stop_at != Some(seqno)
    }

    /// Whether nothing more is worth waiting for.
    pub fn is_ending(&self) -> bool {
        self.is_stopping(&self.lock())
    }

    /// Whether failed statements stop nothing.
    pub fn is_forced(&self) -> bool {
        self.force
    }

    /// Whether a failure has stopped the load.
    pub fn has_stopped(&self) -> bool {
        let state = self.lock();
        state.stop_at.is_some() || state.is_poisoned
    }

    /// Where a failure has ended the load for good; `None` where it goes on, was ended from outside, or has only lost a
    /// connection.
    pub fn failed_at(&self) -> Option<Seqno> {
        let state = self.lock();
        state.stop_at.filter(|_| state.lost_at != state.stop_at && !self.is_interrupted() && !state.is_poisoned)
    }

    /// Nothing more will be admitted: workers end when all is done.
    pub fn close(&self) {
        self.lock().closed = true;
        self.wake_all();
    }

    #[cfg(test)]
    pub(crate) fn waiting_workers(&self) -> usize {
        self.lock().waiting_workers
    }

    /// Ends the load from outside; what is open is rolled back.
    pub fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Release);
        // Taken and let go, so that nobody is between looking at the flag and going to sleep.
        drop(self.lock());
        self.wake_all();
    }

    /// Whether the load was ended from outside.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Acquire)
    }

    /// Takes note of the connection that `worker` (0 is the main session) runs statements on.
    pub fn runs_on(&self, worker: usize, connection_id: u32) {
        self.running[worker].store(connection_id, Ordering::Relaxed);
    }

    /// The connections that run statements.
    pub fn running(&self) -> Vec<u32> {
        self.running.iter().map(|id| id.load(Ordering::Relaxed)).filter(|&id| id != 0).collect()
    }

    /// Takes note of the AUTO_INCREMENT value that a chunk's last statement began with.
    pub fn generated_id(&self, seqno: Seqno, id: u64) {
        let mut state = self.lock();
        if state.latest_id.is_none_or(|(latest, _)| latest <= seqno) {
            state.latest_id = Some((seqno, id));
        }
    }

    /// The last such value in the stream's order, once.
    pub fn take_latest_id(&self) -> Option<u64> {
        self.lock().latest_id.take().map(|(_, id)| id)
    }

    /// All failures in the stream's order, and how many there were. What failed behind the place at which the load
    /// stopped does not count: it was not to be done any more.
    pub fn failures(&self) -> (Vec<Failure>, u64) {
        let state = self.lock();
        let is_counted = |noted: &&FailureAt| state.stop_at.is_none_or(|stop| noted.seqno <= stop);
        let mut failures: Vec<&FailureAt> = state.failures.iter().filter(is_counted).collect();
        failures.sort_by_key(|noted| noted.seqno);
        let behind = (state.failures.len() - failures.len()) as u64;
        (failures.into_iter().map(|noted| noted.failure.clone()).collect(), state.failure_count - behind)
    }
}
