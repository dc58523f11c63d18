//! Whose turn it is to commit: strictly by seqno, and how far commits and their locks' release have come.
//!
//! One mutex; whoever waits has a parker of its own, so that a turn wakes exactly the thread whose turn it is. A thread that
//! waits elsewhere for its place need not be woken before its turn comes either: it is called then ([`Turns::call_at`]), and has slept
//! once instead of twice. The mutex is the last of the lock order: nothing is called and nothing else is locked while it is held.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Instant;

#[cfg(test)]
mod tests;

/// So near its turn, a thread may give way to others instead of going to sleep: to be woken can take longer than the turns
/// of those before. How much depends on the load: with 16 clients that insert at the end of one table, 1.3 times as many
/// commits a second; with each at a place of its own, nothing. So how often is learnt.
const YIELD_DISTANCE: i64 = 16;
/// How often a thread gives way before it sleeps after all, at least and at most.
const YIELD_COUNTS: std::ops::RangeInclusive<u32> = 2..=50;
/// What a turn that came meanwhile adds to that, and what one that did not takes away.
const YIELD_COUNT_STEPS: (u32, u32) = (1, 2);

/// The turns of one node.
#[derive(Debug, Default)]
pub struct CommitMonitor {
    state: Mutex<State>,
    /// A copy of the state's, for those who order: they ask for it with the order's lock held.
    last_left: AtomicI64,
    /// Of those who wait for a place to be released: few, and not on the path of commits.
    released_further: Condvar,
    /// The last place that was given to anybody: no turn comes behind it.
    last_ordered: AtomicI64,
    /// How often those whose turn is near give way before they sleep. A guess: threads may overwrite each other's.
    yield_count: AtomicU32,
}

#[derive(Debug, Default)]
struct State {
    /// Everything up to here has committed, or was rolled back.
    last_left: i64,
    /// Everything up to here has let go of its locks too.
    last_released: i64,
    /// Released ahead of `released`.
    released_ahead: BTreeSet<i64>,
    /// Will not take their turns: `left` goes on over them.
    self_cancelled: BTreeSet<i64>,
    /// Who waits for its turn.
    waiters: HashMap<i64, Arc<Waiter>>,
    /// Who is called when its turn comes.
    calls: BTreeMap<i64, Call>,
    /// How many wait on `released_further`.
    watchers: usize,
    /// How many had to wait for their turn, ever.
    waits: u64,
    /// No turn will come any more.
    is_closed: bool,
}

#[derive(Debug, Default)]
struct Waiter {
    condition: Condvar,
}

/// Tells whoever waits elsewhere. Run by any thread, with no lock held.
pub struct Call(pub Box<dyn FnOnce() + Send>);

impl fmt::Debug for Call {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Call")
    }
}

/// An order to give up waiting, which its owner may set at any time (and then calls [`Turns::interrupt`]).
pub type Interrupt = AtomicBool;

/// Why no turn came. What a server asks for is answered, not asserted: one bad call of its must not stop the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnterError {
    /// The interrupt was set.
    Interrupted,
    /// Nobody has that place, or it has left, or somebody waits for its turn already.
    NotAllowed,
    /// The node has failed.
    Closed,
}

impl CommitMonitor {
    /// Everything up to `seqno` is done; what waits is not there any more.
    pub fn reset_to(&self, seqno: i64) {
        let mut state = self.lock();
        assert!(
            state.waiters.is_empty() && state.calls.is_empty(),
            "the order begins anew while transactions wait for their turn"
        );
        let (waits, is_over) = (state.waits, state.is_closed);
        *state = State { last_left: seqno, last_released: seqno, waits, is_closed: is_over, ..State::default() };
        self.set_last_ordered(seqno);
        self.last_left.store(seqno, Ordering::Release);
    }

    /// Everything up to `seqno` has its place now.
    pub fn set_last_ordered(&self, seqno: i64) {
        self.last_ordered.store(seqno, Ordering::Release);
    }

    /// Nobody's turn comes any more: all who wait for something go, and nobody waits again.
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

    /// Calls when the turn of `seqno` comes, or its wait is to end for another reason; at once, if that is so now. Nobody
    /// waits for that turn meanwhile.
    pub fn call_on_turn(&self, seqno: i64, call: Call) {
        let mut state = self.lock();
        if state.is_closed || seqno <= state.last_left + 1 {
            drop(state);
            return call.0();
        }
        state.waits += 1;
        state.calls.insert(seqno, call);
    }

    /// Waits until everything before `seqno` has left. With an interrupt, gives up when it is set.
    pub fn enter(&self, seqno: i64, interrupt: Option<&Interrupt>) -> Result<(), EnterError> {
        self.yield_before(seqno);
        let mut state = self.lock();
        if state.is_closed {
            return Err(EnterError::Closed);
        }
        if !self.is_ordered(seqno) || state.waiters.contains_key(&seqno) {
            return Err(EnterError::NotAllowed);
        }
        if let Some(turn) = state.turn(seqno) {
            return turn;
        }
        state.waits += 1;
        let waiter = Arc::new(Waiter::default());
        state.waiters.insert(seqno, Arc::clone(&waiter));
        let end = loop {
            if let Some(turn) = state.turn(seqno) {
                break turn;
            }
            if interrupt.is_some_and(|interrupt| interrupt.load(Ordering::SeqCst)) {
                break Err(EnterError::Interrupted);
            }
            state = waiter.condition.wait(state).expect(POISON);
        };
        state.waiters.remove(&seqno);
        end
    }

    /// Lets other threads run while those whose turn is before have theirs.
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

    /// Wakes whoever waits for the turn of `seqno`, so that it looks at its interrupt.
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

    /// Gives the turn to the next. What has left already stays so. False: it is not its turn.
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

    /// What stands at `seqno` will not take its turn any more, or has had it.
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
        // Whoever waits at a place that another has left for it.
        for place in from..=state.last_left {
            if let Some(waiter) = state.waiters.get(&place) {
                waiter.condition.notify_one();
            }
        }
        let turn = state.last_left + 1;
        let next = state.waiters.get(&turn).map(Arc::clone);
        let calls: Vec<Call> = (from..=turn).filter_map(|place| state.calls.remove(&place)).collect();
        // The next wants the lock as soon as it is awake.
        drop(state);
        if let Some(next) = next {
            next.condition.notify_one();
        }
        calls.into_iter().for_each(|Call(call)| call());
    }

    /// The locks of `seqno`, which has left, are let go of.
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

    /// Waits until everything up to `seqno` is released. False: `until` came first, or the end.
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

    /// The last that has committed, with everything before it.
    pub fn last_left(&self) -> i64 {
        self.last_left.load(Ordering::Acquire)
    }

    /// The last that is released, with everything before it.
    pub fn last_released(&self) -> i64 {
        self.lock().last_released
    }

    /// How many had to wait for their turn.
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
    /// Whether the wait of `seqno` is at its end, and which.
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

const POISON: &str = "nothing panics while it holds the turns";
