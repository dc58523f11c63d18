//! Whose turn it is to commit: strictly by seqno, and how far commits and their locks' release have come.
//!
//! One mutex; whoever waits has a parker of its own, so that a turn wakes exactly the thread whose turn it is. The mutex
//! is the last of the lock order: nothing is called and nothing else is locked while it is held.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Instant;

#[cfg(test)]
mod tests;

/// The turns of one node.
#[derive(Debug, Default)]
pub struct Turns {
    state: Mutex<State>,
    /// A copy of the state's, for those who order: they ask for it with the order's lock held.
    left: AtomicI64,
    /// Of those who wait for a place to be released: few, and not on the path of commits.
    released_further: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Everything up to here has committed, or was rolled back.
    left: i64,
    /// Everything up to here has let go of its locks too.
    released: i64,
    /// Released ahead of `released`.
    released_ahead: BTreeSet<i64>,
    /// Will not take their turns: `left` goes on over them.
    passed_by: BTreeSet<i64>,
    /// Who waits for its turn.
    waiting: HashMap<i64, Arc<Waiter>>,
    /// How many wait on `released_further`.
    watchers: usize,
    /// How many had to wait for their turn, ever.
    waits: u64,
}

#[derive(Debug, Default)]
struct Waiter {
    condition: Condvar,
}

/// An order to give up waiting, which its owner may set at any time (and then calls [`Turns::interrupt`]).
pub type Interrupt = AtomicBool;

/// The wait ended because of the interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

impl Turns {
    /// Everything up to `seqno` is done; what waits is not there any more.
    pub fn begin_at(&self, seqno: i64) {
        let mut state = self.lock();
        assert!(state.waiting.is_empty(), "the order begins anew while transactions wait for their turn");
        *state = State { left: seqno, released: seqno, waits: state.waits, ..State::default() };
        self.left.store(seqno, Ordering::Release);
    }

    /// Waits until everything before `seqno` has left. With an interrupt, gives up when it is set.
    pub fn enter(&self, seqno: i64, interrupt: Option<&Interrupt>) -> Result<(), Interrupted> {
        let mut state = self.lock();
        assert!(seqno > state.left, "{seqno} enters the commit order after it has left");
        if state.left + 1 == seqno {
            return Ok(());
        }
        state.waits += 1;
        let waiter = Arc::new(Waiter::default());
        state.waiting.insert(seqno, Arc::clone(&waiter));
        loop {
            if state.left + 1 == seqno {
                state.waiting.remove(&seqno);
                return Ok(());
            }
            if interrupt.is_some_and(|interrupt| interrupt.load(Ordering::SeqCst)) {
                state.waiting.remove(&seqno);
                return Err(Interrupted);
            }
            state = waiter.condition.wait(state).expect(POISON);
        }
    }

    /// Wakes whoever waits for the turn of `seqno`, so that it looks at its interrupt.
    pub fn interrupt(&self, seqno: i64) {
        if let Some(waiter) = self.lock().waiting.get(&seqno) {
            waiter.condition.notify_all();
        }
    }

    /// Gives the turn to the next. What has left already stays so.
    pub fn leave(&self, seqno: i64) {
        let mut state = self.lock();
        if state.left >= seqno {
            return;
        }
        assert_eq!(state.left + 1, seqno, "leaves the commit order before its turn");
        self.go_on(&mut state);
    }

    /// What stands at `seqno` will not take its turn any more, or has had it.
    pub fn pass_by(&self, seqno: i64) {
        let mut state = self.lock();
        if state.left + 1 == seqno {
            self.go_on(&mut state);
        } else if state.left < seqno {
            state.passed_by.insert(seqno);
        }
    }

    /// The turn is over.
    fn go_on(&self, state: &mut State) {
        state.left += 1;
        while state.passed_by.first() == Some(&(state.left + 1)) {
            state.passed_by.pop_first();
            state.left += 1;
        }
        self.left.store(state.left, Ordering::Release);
        if let Some(next) = state.waiting.get(&(state.left + 1)) {
            next.condition.notify_one();
        }
    }

    /// The locks of `seqno`, which has left, are let go of.
    pub fn release(&self, seqno: i64) {
        let mut state = self.lock();
        if seqno <= state.released {
            return;
        }
        if state.released + 1 != seqno {
            state.released_ahead.insert(seqno);
            return;
        }
        state.released = seqno;
        while let Some(next) = state.released_ahead.first().copied()
            && next == state.released + 1
        {
            state.released_ahead.pop_first();
            state.released = next;
        }
        if state.watchers > 0 {
            self.released_further.notify_all();
        }
    }

    /// Waits until everything up to `seqno` is released. False: `until` came first.
    pub fn wait_released(&self, seqno: i64, until: Option<Instant>) -> bool {
        let mut state = self.lock();
        state.watchers += 1;
        while state.released < seqno {
            state = match until {
                None => self.released_further.wait(state).expect(POISON),
                Some(until) => {
                    let Some(rest) = until.checked_duration_since(Instant::now()) else { break };
                    self.released_further.wait_timeout(state, rest).expect(POISON).0
                }
            };
        }
        state.watchers -= 1;
        state.released >= seqno
    }

    /// The last that has committed, with everything before it.
    pub fn left(&self) -> i64 {
        self.left.load(Ordering::Acquire)
    }

    /// The last that is released, with everything before it.
    pub fn released(&self) -> i64 {
        self.lock().released
    }

    /// How many had to wait for their turn.
    pub fn waits(&self) -> u64 {
        self.lock().waits
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect(POISON)
    }
}

const POISON: &str = "nothing panics while it holds the turns";
