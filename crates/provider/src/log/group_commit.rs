//! Group commit without its own thread: one of the waiting threads flushes for all.
//!
//! Rounds follow each other. The leader of a round takes everything appended so far; later threads wait for the next
//! round. Each round has its condvar: its end wakes the threads that it served, and of the others only the next leader.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::Error;

#[derive(Debug, Default)]
pub(super) struct GroupCommit {
    state: Mutex<State>,
    /// Whether `state.broken` is set, readable without the lock.
    is_broken: AtomicBool,
    condvars: [Condvar; 2],
}

#[derive(Debug, Default)]
struct State {
    /// Number of the running round, or of the last one.
    round: u64,
    /// The last index that the running round serves.
    serves: Option<u64>,
    broken: Option<Arc<Error>>,
}

impl GroupCommit {
    /// Returns when `done` is true; leads a round if needed.
    ///
    /// `take` collects the work of a round and returns its last index; it runs under the lock. `work` does the work.
    pub fn wait_until<W>(
        &self,
        upto: u64,
        done: impl Fn() -> bool,
        take: impl Fn() -> (u64, W),
        work: impl Fn(W) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if done() {
            return Ok(());
        }
        let mut state = self.lock();
        loop {
            if done() {
                return Ok(());
            }
            if let Some(cause) = &state.broken {
                return Err(Error::Broken { cause: Arc::clone(cause) });
            }
            if let Some(serves) = state.serves {
                let round = if upto <= serves { state.round } else { state.round + 1 };
                state = self.condvar(round).wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let (serves, taken) = take();
            state.round += 1;
            state.serves = Some(serves);
            drop(state);
            let mut lead = RoundLeader { group_commit: self, result: Err(None) };
            lead.result = work(taken).map_err(Some);
            drop(lead);
            state = self.lock();
        }
    }

    /// The error that has ended all writing.
    pub fn broken(&self) -> Option<Error> {
        if !self.is_broken.load(Ordering::Acquire) {
            return None;
        }
        self.lock().broken.as_ref().map(|cause| Error::Broken { cause: Arc::clone(cause) })
    }

    fn condvar(&self, round: u64) -> &Condvar {
        &self.condvars[usize::from(round % 2 == 1)]
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the round even if the leader panics: no thread may wait for ever.
struct RoundLeader<'a> {
    group_commit: &'a GroupCommit,
    /// `Err(None)`: the leader has panicked.
    result: Result<(), Option<Error>>,
}

impl Drop for RoundLeader<'_> {
    fn drop(&mut self) {
        let mut state = self.group_commit.lock();
        state.serves = None;
        match std::mem::replace(&mut self.result, Ok(())) {
            Ok(()) => {
                self.group_commit.condvar(state.round).notify_all();
                self.group_commit.condvar(state.round + 1).notify_one();
            }
            Err(error) => {
                let error = error.unwrap_or(Error::Io {
                    doing: "write",
                    file: "the log".into(),
                    source: Arc::new(std::io::Error::other("the writing thread panicked")),
                });
                state.broken.get_or_insert(Arc::new(error));
                self.group_commit.is_broken.store(true, Ordering::Release);
                self.group_commit.condvars.iter().for_each(Condvar::notify_all);
            }
        }
    }
}
