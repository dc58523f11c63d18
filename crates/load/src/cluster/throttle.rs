//! How many chunks may run while the slowest node keeps up, and where workers wait for that.
//!
//! The write sets of a lagging node wait in its receive queue. When the queue exceeds a limit, the node pauses all writers
//! of the cluster (flow control), other clients included. So a load stays below the limit: workers enter the throttle
//! between chunks, and the throttle admits as many as the slowest node has room for.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The share of the limit that a load uses at most, together with the write sets in the queue.
const SHARE: f64 = 0.5;
/// Above this share of the limit, no new chunk starts: the node applies the write sets in the queue, and other clients
/// write meanwhile.
const WAITING_SHARE: f64 = 0.25;
/// The longest delay of a worker: a cluster that is paused for longer has another problem, which an endless wait would
/// hide.
const HOLD_TIMEOUT: Duration = Duration::from_secs(60);
/// How often a delayed worker checks whether the load is over.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(100);

/// The receive queue of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueDepth {
    /// Write sets in the queue.
    pub waiting: u64,
    /// Length of the queue at which the node pauses the cluster.
    pub limit: f64,
}

/// How many chunks may be under way at a time, of `workers` that there are: none while more than a quarter of what stops
/// the cluster waits at any node; else so many that together with what waits, each of them a write set to come, they are
/// no more than half of it. One always may where nothing waits, however small the limit is.
#[must_use]
pub fn allowed(depths: &[QueueDepth], workers: usize) -> usize {
    let room = |depth: &QueueDepth| match depth.waiting {
        0 => ((depth.limit * SHARE) as usize).max(1),
        waiting if waiting as f64 > depth.limit * WAITING_SHARE => 0,
        waiting => ((depth.limit * SHARE) as usize).saturating_sub(usize::try_from(waiting).unwrap_or(usize::MAX)),
    };
    depths.iter().map(room).min().unwrap_or(workers).min(workers)
}

/// Where workers wait between chunks.
#[derive(Debug)]
pub struct Throttle {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    allowed: usize,
    inside: usize,
    held: Duration,
}

impl Throttle {
    /// A throttle without a limit.
    #[must_use]
    pub fn open() -> Throttle {
        let state = State { allowed: usize::MAX, inside: 0, held: Duration::ZERO };
        Throttle { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that panics is done under it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the limit.
    pub fn allow(&self, allowed: usize) {
        self.lock().allowed = allowed;
        self.changed.notify_all();
    }

    /// Enters when there is room, or when the load is over.
    pub fn enter(&self, is_over: &dyn Fn() -> bool) {
        let start = Instant::now();
        let mut state = self.lock();
        while state.inside >= state.allowed && start.elapsed() < HOLD_TIMEOUT {
            let since = Instant::now();
            state = self.changed.wait_timeout(state, SAMPLE_INTERVAL).unwrap_or_else(PoisonError::into_inner).0;
            state.held += since.elapsed();
            // `is_over` may take a lock, so it never runs under this one.
            drop(state);
            let is_over = is_over();
            state = self.lock();
            if is_over {
                break;
            }
        }
        state.inside += 1;
    }

    /// Leaves.
    pub fn leave(&self) {
        self.lock().inside -= 1;
        self.changed.notify_all();
    }

    /// The total delay of all workers.
    #[must_use]
    pub fn held(&self) -> Duration {
        self.lock().held
    }
}

#[cfg(test)]
mod tests;
