//! When the workers connect: side by side, once there is a chunk for them. A load without one opens no connection for them.
//!
//! The coordinator asks for them ([`WorkerStart::request`]) and waits for them ([`WorkerStart::wait`]) before it admits a
//! chunk. So where a worker cannot connect, no chunk is under way, and the load ends at its place in the stream.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hortator_mysql::Error;

use crate::report::Failure;

/// Errors by which a server says that it has too many connections: of all users, of this user, of this user's hour.
const TOO_MANY_CONNECTIONS: [u16; 3] = [1040, 1203, 1226];

/// How often a wait for workers looks up for something else to do: a server that is lost is tried for long.
const IDLE_TICK: Duration = Duration::from_millis(300);

/// The workers of one reading of the input.
#[derive(Debug)]
pub struct WorkerStart {
    workers: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// Workers that have neither a connection nor an error.
    connecting: usize,
    /// The first worker, by number, that cannot connect.
    failed: Option<WorkerError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nobody has asked for them.
    Idle,
    /// They connect, or have connected.
    Requested,
    /// The input is over, and nobody has asked for them.
    Over,
}

/// A worker has no connection.
#[derive(Clone, Debug)]
pub struct WorkerError {
    /// The worker, from 1.
    number: usize,
    /// The number of workers.
    workers: usize,
    /// What the server or the connection says.
    pub error: Error,
}

impl WorkerError {
    /// As a failure of the load.
    #[must_use]
    pub fn failure(&self) -> Failure {
        let Self { number, workers, error } = self;
        let hint = match error.code() {
            Some(code) if TOO_MANY_CONNECTIONS.contains(&code) => "; load with fewer workers (--threads)",
            _ => "",
        };
        let mut failure = Failure::of_connection(error);
        failure.message = format!("worker {number} of {workers} cannot connect: {}{hint}", failure.message);
        failure
    }
}

impl WorkerStart {
    /// For so many workers.
    #[must_use]
    pub fn new(workers: usize) -> Self {
        let state = State { phase: Phase::Idle, connecting: workers, failed: None };
        Self { workers, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// The number of workers.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.workers
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is a few assignments.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the workers connect, if they have not.
    pub fn request(&self) {
        let mut state = self.lock();
        if state.phase == Phase::Idle {
            state.phase = Phase::Requested;
            self.changed.notify_all();
        }
    }

    /// Has the workers connect, and waits until they have; calls `on_idle` now and then meanwhile.
    ///
    /// # Errors
    /// The first worker, by number, that has no connection.
    pub fn wait(&self, on_idle: &mut dyn FnMut()) -> Result<(), WorkerError> {
        self.request();
        loop {
            let waited = self.changed.wait_timeout_while(self.lock(), IDLE_TICK, |state| state.connecting > 0);
            let (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            if !timeout.timed_out() {
                return state.failed.clone().map_or(Ok(()), Err);
            }
            drop(state);
            on_idle();
        }
    }

    /// The input is over: workers that nobody has asked for end.
    pub fn end(&self) {
        let mut state = self.lock();
        if state.phase == Phase::Idle {
            state.phase = Phase::Over;
            self.changed.notify_all();
        }
    }

    /// For a worker: waits until it is to connect; `None` where it is not needed.
    pub fn wait_for_request(&self, number: usize) -> Option<Connecting<'_>> {
        let waited = self.changed.wait_while(self.lock(), |state| state.phase == Phase::Idle);
        let state = waited.unwrap_or_else(PoisonError::into_inner);
        (state.phase == Phase::Requested).then(|| Connecting { start: self, number, error: None })
    }
}

/// A worker that connects. Dropped, it has, or never will.
#[derive(Debug)]
pub struct Connecting<'s> {
    start: &'s WorkerStart,
    number: usize,
    error: Option<Error>,
}

impl Connecting<'_> {
    /// Says what has become of it; gives whether the worker has a connection.
    pub fn finish(mut self, outcome: Result<(), Error>) -> bool {
        self.error = outcome.err();
        self.error.is_none()
    }
}

impl Drop for Connecting<'_> {
    fn drop(&mut self) {
        let WorkerStart { workers, changed, .. } = self.start;
        let mut state = self.start.lock();
        state.connecting -= 1;
        if let Some(error) = self.error.take()
            && state.failed.as_ref().is_none_or(|failed| self.number < failed.number)
        {
            state.failed = Some(WorkerError { number: self.number, workers: *workers, error });
        }
        changed.notify_all();
    }
}
