//! Group commit without a thread of its own: of the threads that want something on disk, one does it for all.
//!
//! Rounds follow each other. The leader of a round takes everything that was appended so far; who comes later waits for the
//! next round. Each round has its door, so that the end of a round wakes those it served, and of the others only
//! one: the next leader.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::Error;

#[derive(Debug, Default)]
pub(super) struct GroupCommit {
    state: Mutex<State>,
    /// Whether `state.broken` stands, for a look without the lock.
    is_broken: AtomicBool,
    condvars: [Condvar; 2],
}

#[derive(Debug, Default)]
struct State {
    /// Number of the round that runs, or ran last.
    round: u64,
    /// What the running round serves, up to this index.
    serves: Option<u64>,
    broken: Option<Arc<Error>>,
}

impl GroupCommit {
    /// Returns when `done` holds, having led a round if that was needed.
    ///
    /// `take` collects the work of a round and says up to which index it goes; it runs under this lock. `work` does it.
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

    /// The error that ended all writing.
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

/// Ends the round also if the leader panics: nobody may wait forever.
struct RoundLeader<'a> {
    group_commit: &'a GroupCommit,
    /// No error at all means that the leader did not come to an end.
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
