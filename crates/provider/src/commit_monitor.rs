//! The commit monitor: lets write sets commit strictly by seqno, and tracks commits and released locks.
//!
//! One mutex; each waiting thread has its own condvar, so a turn wakes exactly its thread. A thread that waits
//! elsewhere for its seqno is called when its turn comes ([`CommitMonitor::call_on_turn`]), and so sleeps once instead
//! of twice. The mutex is the last in the lock order: no call is made and no other lock taken under it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Instant;

#[cfg(test)]
mod tests;

/// This near its turn, a thread yields instead of sleeping: waking it can take longer than the turns before. The gain
/// depends on the load: with 16 clients that insert at the end of one table, 1.3 times the commits per second; with
/// clients in different places, none. So the number of yields adapts.
const YIELD_DISTANCE: i64 = 16;
/// Minimum and maximum number of yields before a thread sleeps.
const YIELD_COUNTS: std::ops::RangeInclusive<u32> = 2..=50;
/// Added to that number when the turn came meanwhile, and subtracted when not.
const YIELD_COUNT_STEPS: (u32, u32) = (1, 2);

/// The commit monitor of one node.
#[derive(Debug, Default)]
pub struct CommitMonitor {
    state: Mutex<State>,
    /// A copy of the state's, readable under the order's lock.
    last_left: AtomicI64,
    /// For threads that wait for a release: few, and not on the commit path.
    released_further: Condvar,
    /// The last ordered seqno: no turn comes after it.
    last_ordered: AtomicI64,
    /// Number of yields near a turn. Approximate: threads may overwrite each other's update.
    yield_count: AtomicU32,
}

#[derive(Debug, Default)]
struct State {
    /// Everything up to here has committed, or was rolled back.
    last_left: i64,
    /// Everything up to here has released its locks, too.
    last_released: i64,
    /// Released beyond `last_released`.
    released_ahead: BTreeSet<i64>,
    /// Seqnos that take no turn: `last_left` skips them.
    self_cancelled: BTreeSet<i64>,
    /// Threads that wait for their turn.
    waiters: HashMap<i64, Waiter>,
    /// Calls for a turn.
    calls: BTreeMap<i64, Call>,
    /// Number of threads that wait on `released_further`.
    watchers: usize,
    /// Number of waits for a turn so far.
    waits: u64,
    /// No turn comes any more.
    is_closed: bool,
}

/// The threads that wait for a turn. A correct server has one: but another one's wrong call must not take the turn from it.
#[derive(Debug, Default)]
struct Waiter {
    condition: Arc<Condvar>,
    threads: usize,
}

/// Called by any thread, without a lock.
pub struct Call(pub Box<dyn FnOnce() + Send>);

impl fmt::Debug for Call {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Call")
    }
}

/// Makes a thread stop waiting; its owner may set it at any time, and then calls [`CommitMonitor::interrupt`].
pub type Interrupt = AtomicBool;

/// Why a thread did not enter. A wrong call of the server gets an error, not a panic: it must not stop the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnterError {
    /// The interrupt was set.
    Interrupted,
    /// The seqno is not ordered, or has left.
    NotAllowed,
    /// The node has failed.
    Closed,
}

impl CommitMonitor {
    /// Everything up to `seqno` is done; no thread waits.
    pub fn reset_to(&self, seqno: i64) {
        let mut state = self.lock();
        assert!(
            state.waiters.is_empty() && state.calls.is_empty(),
            "the order is reset while transactions wait for their turn"
        );
        let (waits, is_over) = (state.waits, state.is_closed);
        *state = State { last_left: seqno, last_released: seqno, waits, is_closed: is_over, ..State::default() };
        self.set_last_ordered(seqno);
        self.last_left.store(seqno, Ordering::Release);
    }

    /// Everything up to `seqno` is ordered.
    pub fn set_last_ordered(&self, seqno: i64) {
        self.last_ordered.store(seqno, Ordering::Release);
    }

    /// No turn comes any more: all waiting threads return, and later ones do not wait.
    pub fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        for waiter in state.waiters.values() {
            waiter.condition.notify_all();
        }
        self.released_further.notify_all();
        let calls = std::mem::take(&mut state.calls);
        drop(state);
        calls.into_values().for_each(|Call(call)| call());
    }

    /// Runs the call when the turn of `seqno` comes, or its wait ends for another reason; at once, if that is so now.
    /// No thread waits for that turn.
    pub fn call_on_turn(&self, seqno: i64, call: Call) {
        let mut state = self.lock();
        if state.is_closed || seqno <= state.last_left + 1 {
            drop(state);
            return call.0();
        }
        state.waits += 1;
        state.calls.insert(seqno, call);
    }

    /// Waits until everything before `seqno` has left. Stops when the interrupt is set.
    pub fn enter(&self, seqno: i64, interrupt: Option<&Interrupt>) -> Result<(), EnterError> {
        self.yield_before(seqno);
        let mut state = self.lock();
        if state.is_closed {
            return Err(EnterError::Closed);
        }
        if !self.is_ordered(seqno) {
            return Err(EnterError::NotAllowed);
        }
        if let Some(turn) = state.turn(seqno) {
            return turn;
        }
        state.waits += 1;
        let waiter = state.waiters.entry(seqno).or_default();
        waiter.threads += 1;
        let condition = Arc::clone(&waiter.condition);
        let end = loop {
            if let Some(turn) = state.turn(seqno) {
                break turn;
            }
            if interrupt.is_some_and(|interrupt| interrupt.load(Ordering::SeqCst)) {
                break Err(EnterError::Interrupted);
            }
            state = condition.wait(state).expect(POISON);
        };
        if let Some(waiter) = state.waiters.get_mut(&seqno) {
            waiter.threads -= 1;
            if waiter.threads == 0 {
                state.waiters.remove(&seqno);
            }
        }
        end
    }

    /// As [`Self::enter`], for a turn of the provider's own: no call of the server has it, and a wrong one that has ended it
    /// changes nothing.
    pub fn enter_own(&self, seqno: i64) -> Result<(), EnterError> {
        let entered = self.enter(seqno, None);
        if entered == Err(EnterError::NotAllowed) && self.last_left() >= seqno { Ok(()) } else { entered }
    }

    /// Yields while earlier seqnos have their turns.
    fn yield_before(&self, seqno: i64) {
        let before = seqno.saturating_sub(self.last_left());
        if before <= 1 || before > YIELD_DISTANCE {
            return;
        }
        let times = self.yield_count.load(Ordering::Relaxed).clamp(*YIELD_COUNTS.start(), *YIELD_COUNTS.end());
        for _ in 0..times {
            thread::yield_now();
            if seqno - self.last_left() <= 1 {
                self.yield_count.store(times + YIELD_COUNT_STEPS.0, Ordering::Relaxed);
                return;
            }
        }
        self.yield_count.store(times.saturating_sub(YIELD_COUNT_STEPS.1), Ordering::Relaxed);
    }

    /// Wakes the thread that waits for `seqno`, so that it checks its interrupt.
    pub fn interrupt(&self, seqno: i64) {
        let mut state = self.lock();
        if let Some(waiter) = state.waiters.get(&seqno) {
            waiter.condition.notify_all();
        }
        let call = state.calls.remove(&seqno);
        drop(state);
        if let Some(Call(call)) = call {
            call();
        }
    }

    /// Ends the turn of `seqno`. Does nothing if it has left already. False: it is not its turn.
    pub fn leave(&self, seqno: i64) -> bool {
        let state = self.lock();
        if state.last_left >= seqno {
            return true;
        }
        let has_turn = state.last_left + 1 == seqno && self.is_ordered(seqno);
        if has_turn {
            self.advance(state);
        }
        has_turn
    }

    /// `seqno` takes no turn, or has had it.
    pub fn self_cancel(&self, seqno: i64) {
        let mut state = self.lock();
        if state.last_left + 1 == seqno {
            self.advance(state);
        } else if state.last_left < seqno {
            state.self_cancelled.insert(seqno);
        }
    }

    /// The turn is over.
    fn advance(&self, mut state: MutexGuard<'_, State>) {
        let from = state.last_left + 1;
        state.last_left = from;
        while state.self_cancelled.first() == Some(&(state.last_left + 1)) {
            state.self_cancelled.pop_first();
            state.last_left += 1;
        }
        self.last_left.store(state.last_left, Ordering::Release);
        // A thread that waits for a seqno that another one has left for it.
        for seqno in from..=state.last_left {
            if let Some(waiter) = state.waiters.get(&seqno) {
                waiter.condition.notify_all();
            }
        }
        let turn = state.last_left + 1;
        let next = state.waiters.get(&turn).map(|waiter| Arc::clone(&waiter.condition));
        let calls: Vec<Call> = (from..=turn).filter_map(|seqno| state.calls.remove(&seqno)).collect();
        // The next thread needs the lock as soon as it is awake.
        drop(state);
        if let Some(next) = next {
            next.notify_all();
        }
        calls.into_iter().for_each(|Call(call)| call());
    }

    /// `seqno`, which has left, has released its locks.
    pub fn release(&self, seqno: i64) {
        let mut state = self.lock();
        if seqno <= state.last_released {
            return;
        }
        if state.last_released + 1 != seqno {
            state.released_ahead.insert(seqno);
            return;
        }
        state.last_released = seqno;
        while let Some(next) = state.released_ahead.first().copied()
            && next == state.last_released + 1
        {
            state.released_ahead.pop_first();
            state.last_released = next;
        }
        if state.watchers > 0 {
            self.released_further.notify_all();
        }
    }

    /// Waits until everything up to `seqno` is released. False: the time is over, or the monitor is closed.
    pub fn wait_released(&self, seqno: i64, until: Option<Instant>) -> bool {
        let mut state = self.lock();
        state.watchers += 1;
        while state.last_released < seqno && !state.is_closed {
            state = match until {
                None => self.released_further.wait(state).expect(POISON),
                Some(until) => {
                    let Some(rest) = until.checked_duration_since(Instant::now()) else { break };
                    self.released_further.wait_timeout(state, rest).expect(POISON).0
                }
            };
        }
        state.watchers -= 1;
        state.last_released >= seqno
    }

    /// The last seqno that has left, with everything before it.
    pub fn last_left(&self) -> i64 {
        self.last_left.load(Ordering::Acquire)
    }

    /// The last released seqno, with everything before it.
    pub fn last_released(&self) -> i64 {
        self.lock().last_released
    }

    /// Number of waits for a turn so far.
    pub fn waits(&self) -> u64 {
        self.lock().waits
    }

    fn is_ordered(&self, seqno: i64) -> bool {
        seqno <= self.last_ordered.load(Ordering::Acquire)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect(POISON)
    }
}

impl State {
    /// The result of the wait for `seqno`, if it is over.
    fn turn(&self, seqno: i64) -> Option<Result<(), EnterError>> {
        if self.is_closed {
            Some(Err(EnterError::Closed))
        } else if self.last_left >= seqno {
            Some(Err(EnterError::NotAllowed))
        } else {
            (self.last_left + 1 == seqno).then_some(Ok(()))
        }
    }
}

const POISON: &str = "nothing panics under the monitor's lock";
