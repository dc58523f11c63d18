//! How many chunks may be under way while the slowest node keeps up, and the place where workers wait for that.
//!
//! A node that falls behind lets write sets wait in its receive queue. When too many wait, it stops all writers of the
//! cluster until it has caught up (flow control): that hits whoever else writes there. So a load keeps below: workers
//! pass the gate between chunks, and the gate lets no more of them through than the slowest node has room for.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The part of the room before a node stops the cluster that a load takes at most, with what waits there already.
const SHARE: f64 = 0.5;
/// While more than this part of the room is taken, nothing is added: what is under way takes its time to be applied, and
/// others write meanwhile.
const WAITING_SHARE: f64 = 0.25;
/// A worker is held for so long at most, whatever the nodes say: a cluster that stands still for longer has other
/// troubles, and a load that hangs for good would hide them.
const HOLD_TIMEOUT: Duration = Duration::from_secs(60);
/// How often a worker that is held looks whether the load is over.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(100);

/// How far behind a node is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueDepth {
    /// Write sets that wait in its receive queue.
    pub waiting: u64,
    /// Write sets that may wait there before it stops the cluster.
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
    /// A gate that lets everybody through until it is told otherwise.
    #[must_use]
    pub fn open() -> Throttle {
        let state = State { allowed: usize::MAX, inside: 0, held: Duration::ZERO };
        Throttle { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that panics is done under it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets no more than so many be inside from now on.
    pub fn allow(&self, allowed: usize) {
        self.lock().allowed = allowed;
        self.changed.notify_all();
    }

    /// Goes in, once there is room; soon when the load is over.
    pub fn enter(&self, is_over: &dyn Fn() -> bool) {
        let start = Instant::now();
        let mut state = self.lock();
        while state.inside >= state.allowed && start.elapsed() < HOLD_TIMEOUT {
            let since = Instant::now();
            state = self.changed.wait_timeout(state, SAMPLE_INTERVAL).unwrap_or_else(PoisonError::into_inner).0;
            state.held += since.elapsed();
            // Whoever answers may take a lock of its own, so never under this one.
            drop(state);
            let is_over = is_over();
            state = self.lock();
            if is_over {
                break;
            }
        }
        state.inside += 1;
    }

    /// Goes out.
    pub fn leave(&self) {
        self.lock().inside -= 1;
        self.changed.notify_all();
    }

    /// How long workers were held, together.
    #[must_use]
    pub fn held(&self) -> Duration {
        self.lock().held
    }
}

#[cfg(test)]
mod tests;
