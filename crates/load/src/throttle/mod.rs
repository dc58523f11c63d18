//! The throttle of a load: how much it may do at a time and in a second, so that others can work meanwhile.
//!
//! Three things hold a load back. The nodes of a Galera cluster have room for so many chunks ([`crate::cluster`]). The
//! user's limits allow none while the server runs too many statements or a replica lags ([`ThrottleMonitor`] samples them;
//! `decision` is the rule). And only so many rows or bytes may come in a second (`rate`).
//!
//! ```text
//!   node monitor ──── room ───────────┐
//!   throttle monitor ─ decision ──────┼──► Throttle ◄── enter, leave   workers, between chunks
//!   rate ◄── what chunks have done ───┘             ◄── wait           main session, between transactions
//! ```
//!
//! Whoever waits here has no transaction open and no chunk in hand, so that nobody waits for its locks or its place. A
//! transaction that has begun is not held up: a pause comes behind it.

mod decision;
mod file;
mod limits;
mod monitor;
mod rate;
mod replica;
mod report;

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use decision::Decision;
pub use decision::Unreachable;
pub use limits::{LimitsError, ThrottleLimits};
pub use monitor::{ThrottleError, ThrottleGuard, ThrottleMonitor, ThrottleOptions};
use rate::Bucket;
pub use replica::HeartbeatTable;
pub use report::ThrottleSummary;

/// The longest delay of a worker for the nodes of a cluster: a cluster that is paused for longer has another problem,
/// which an endless wait would hide. The user's limits hold for as long as they are reached.
const ROOM_TIMEOUT: Duration = Duration::from_secs(60);
/// How often a delayed thread checks whether the load is over.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(100);

/// Where workers wait between chunks, and the main session between transactions.
#[derive(Debug)]
pub struct Throttle {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Chunks that the nodes of a cluster have room for.
    room: usize,
    /// What the user's limits allow.
    decision: Decision,
    rows: Bucket,
    bytes: Bucket,
    /// Workers with a chunk, or that wait for one.
    inside: usize,
    /// Threads that wait for the user's limits.
    waiting: usize,
    delays: Delays,
}

/// For how long threads have waited, all together.
#[derive(Clone, Copy, Debug, Default)]
struct Delays {
    room: Duration,
    paused: Duration,
    rate: Duration,
}

/// What holds a thread back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delay {
    Paused,
    Rate(Duration),
    Room,
}

impl State {
    /// What holds a thread back that would make `inside` workers and one; `is_worker` is false for the main session.
    fn delay(&self, inside: usize, is_worker: bool, waited_for_room: Duration) -> Option<Delay> {
        if inside >= self.decision.allowed {
            return Some(Delay::Paused);
        }
        if self.rows.is_limited() || self.bytes.is_limited() {
            let now = Instant::now();
            if let Some(wait) = self.rows.wait(now).max(self.bytes.wait(now)) {
                return Some(Delay::Rate(wait));
            }
        }
        let has_room = !is_worker || inside < self.room || waited_for_room >= ROOM_TIMEOUT;
        if has_room { None } else { Some(Delay::Room) }
    }
}

impl Throttle {
    /// A throttle without a limit.
    #[must_use]
    pub fn open() -> Throttle {
        let state = State {
            room: usize::MAX,
            decision: Decision::OPEN,
            rows: Bucket::default(),
            bytes: Bucket::default(),
            inside: 0,
            waiting: 0,
            delays: Delays::default(),
        };
        Throttle { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that panics is done under it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The nodes of a cluster have room for so many chunks.
    pub fn allow(&self, room: usize) {
        self.lock().room = room;
        self.changed.notify_all();
    }

    /// What the user's limits allow from now on.
    fn decide(&self, decision: Decision) {
        self.lock().decision = decision;
        self.changed.notify_all();
    }

    /// So many rows and bytes may come in a second.
    fn set_rate(&self, limits: &ThrottleLimits) {
        let mut state = self.lock();
        let now = Instant::now();
        state.rows.set(limits.rows_per_s, now);
        state.bytes.set(limits.bytes_per_s, now);
        self.changed.notify_all();
    }

    /// Enters as a worker without a chunk, when there is room, or when the load is over.
    pub fn enter(&self, is_over: &dyn Fn() -> bool) {
        let mut is_over = || is_over();
        let (mut state, _) = self.wait_until(|state, waited| state.delay(state.inside, true, waited), &mut is_over);
        state.inside += 1;
    }

    /// Whether a worker that has entered should leave before it takes a chunk: it waited for one, and limits have been reached.
    pub fn is_held(&self) -> bool {
        let state = self.lock();
        let others = state.inside.saturating_sub(1);
        state.delay(others, false, Duration::ZERO).is_some()
    }

    /// Leaves, after so many rows and bytes.
    pub fn leave(&self, rows: u64, bytes: u64) {
        let mut state = self.lock();
        state.inside -= 1;
        state.charge(rows, bytes);
        self.changed.notify_all();
    }

    /// Waits as the main session, which is no worker, while no chunk may begin; tells whether the load is over.
    pub fn wait(&self, is_over: &mut dyn FnMut() -> bool) -> bool {
        self.wait_until(|state, waited| state.delay(0, false, waited), is_over).1
    }

    /// The same, but for the rate.
    pub fn wait_while_paused(&self, is_over: &mut dyn FnMut() -> bool) -> bool {
        let is_paused = |state: &State, waited| state.delay(0, false, waited).filter(|delay| *delay == Delay::Paused);
        self.wait_until(is_paused, is_over).1
    }

    /// The main session has done so much.
    pub fn charge(&self, rows: u64, bytes: u64) {
        self.lock().charge(rows, bytes);
    }

    /// Rows and bytes that a chunk should have at most.
    #[must_use]
    pub fn chunk_limits(&self, workers: usize) -> (Option<u64>, Option<u64>) {
        let state = self.lock();
        (state.rows.share(workers), state.bytes.share(workers))
    }

    /// Waits as long as `delay` says why; tells whether the load is over.
    fn wait_until(
        &self,
        delay: impl Fn(&State, Duration) -> Option<Delay>,
        is_over: &mut dyn FnMut() -> bool,
    ) -> (MutexGuard<'_, State>, bool) {
        let mut waited_for_room = Duration::ZERO;
        let (mut is_waiting, mut has_ended) = (false, false);
        let mut state = self.lock();
        while let Some(found) = delay(&state, waited_for_room) {
            if is_waiting != (found != Delay::Room) {
                is_waiting = !is_waiting;
                if is_waiting { state.waiting += 1 } else { state.waiting -= 1 }
            }
            let interval = match found {
                Delay::Rate(wait) => wait.min(SAMPLE_INTERVAL),
                Delay::Paused | Delay::Room => SAMPLE_INTERVAL,
            };
            let since = Instant::now();
            state = self.changed.wait_timeout(state, interval).unwrap_or_else(PoisonError::into_inner).0;
            let waited = since.elapsed();
            match found {
                Delay::Paused => state.delays.paused += waited,
                Delay::Rate(_) => state.delays.rate += waited,
                Delay::Room => {
                    state.delays.room += waited;
                    waited_for_room += waited;
                }
            }
            // `is_over` may take a lock, so it never runs under this one.
            drop(state);
            has_ended = is_over();
            state = self.lock();
            if has_ended {
                break;
            }
        }
        if is_waiting {
            state.waiting -= 1;
        }
        (state, has_ended)
    }

    /// The total delay of all workers for the nodes of a cluster.
    #[must_use]
    pub fn held(&self) -> Duration {
        self.lock().delays.room
    }

    /// The total delays of all threads by the user's limits: pauses, and the rate.
    fn delays(&self) -> (Duration, Duration) {
        let Delays { paused, rate, .. } = self.lock().delays;
        (paused, rate)
    }

    /// Why threads wait for the user's limits; `None` while none does.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        let state = self.lock();
        if state.waiting == 0 {
            return None;
        }
        let now = Instant::now();
        match state.decision.allowed {
            0 => state.decision.reason.as_ref().map(|reason| format!("paused: {reason}")),
            allowed if state.inside >= allowed => state.decision.reason.clone(),
            _ if state.rows.wait(now).is_some() || state.bytes.wait(now).is_some() => {
                Some("slowed down to the rate".to_owned())
            }
            _ => None,
        }
    }
}

impl State {
    fn charge(&mut self, rows: u64, bytes: u64) {
        let now = Instant::now();
        self.rows.charge(rows, now);
        self.bytes.charge(bytes, now);
    }
}

#[cfg(test)]
mod tests;
