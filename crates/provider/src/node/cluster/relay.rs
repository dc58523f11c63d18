//! Two threads that drive Raft in turn: one syncs the log, and if the disk stalls, the other one drives on.
//!
//! A heartbeat must not wait for a disk: else a stall of a second deposes a leader that lives. A thread that only syncs
//! would cost two switches of threads for each sync. So the driving thread syncs itself, and lends the driver
//! meanwhile. If the sync is short, it takes the driver back, and nothing was lost but two locks. After
//! [`STALL_TIMEOUT`] the other thread takes it, and the first one reports the end of its sync and stands by.
//!
//! At most one sync runs at a time. *Absent*: Raft, the disk.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::consensus::links::Waker;
use crate::consensus::raft::LogId;
use crate::log;
use crate::node::replica::Synced;

/// A sync that takes longer is a stall: well below a heartbeat interval.
const STALL_TIMEOUT: Duration = Duration::from_millis(50);
/// The standby thread looks this often while syncs run, and sleeps after this many looks without one.
const LOOKS_WITHOUT_SYNC: u32 = 20;

/// What the two threads share. `D` is the driver.
#[derive(Debug)]
pub(in crate::node) struct Relay<D> {
    state: Mutex<State<D>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<D> {
    /// The driver, while its thread syncs the log, and since when.
    lent: Option<(Box<D>, Instant)>,
    /// A sync that ended after the other thread had taken the driver.
    synced: Option<Synced>,
    lends: u64,
    is_standby_asleep: bool,
    is_over: bool,
}

impl<D> Relay<D> {
    pub fn new() -> Arc<Self> {
        let state = State { lent: None, synced: None, lends: 0, is_standby_asleep: false, is_over: false };
        Arc::new(Self { state: Mutex::new(state), changed: Condvar::new() })
    }

    /// Runs `sync` while the other thread may take the driver. Some: this thread still has it, with the result. None:
    /// the other thread drives, and gets the result from [`Relay::take_synced`].
    pub fn sync(
        &self,
        driver: Box<D>,
        upto: LogId,
        waker: &Waker,
        sync: impl FnOnce() -> Result<(), log::Error>,
    ) -> Option<(Box<D>, Synced)> {
        {
            let mut state = self.lock();
            state.lent = Some((driver, Instant::now()));
            state.lends += 1;
            if state.is_standby_asleep {
                self.changed.notify_all();
            }
        }
        let synced = (upto, sync());
        let mut state = self.lock();
        if let Some((driver, _)) = state.lent.take() {
            return Some((driver, synced));
        }
        state.synced = Some(synced);
        drop(state);
        self.changed.notify_all();
        waker.wake();
        None
    }

    /// The result of a sync that has ended meanwhile.
    pub fn take_synced(&self) -> Option<Synced> {
        self.lock().synced.take()
    }

    /// Waits for the end of the sync that the other thread runs. It holds the log no more then.
    pub fn wait_for_synced(&self) -> Synced {
        let mut state = self.lock();
        loop {
            if let Some(synced) = state.synced.take() {
                return synced;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until the other thread's sync stalls, and takes the driver. None: the driver has ended.
    pub fn stand_by(&self) -> Option<Box<D>> {
        let mut state = self.lock();
        let (mut seen, mut looks) = (state.lends, 0);
        loop {
            if state.is_over {
                return None;
            }
            if state.lent.as_ref().is_some_and(|(_, since)| since.elapsed() >= STALL_TIMEOUT) {
                return state.lent.take().map(|(driver, _)| driver);
            }
            if seen != state.lends {
                (seen, looks) = (state.lends, 0);
            }
            state.is_standby_asleep = looks >= LOOKS_WITHOUT_SYNC && state.lent.is_none();
            state = if state.is_standby_asleep {
                self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
            } else {
                looks += 1;
                self.changed.wait_timeout(state, STALL_TIMEOUT).unwrap_or_else(PoisonError::into_inner).0
            };
            state.is_standby_asleep = false;
        }
    }

    /// The driver has ended, and so does the standby thread.
    pub fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<D>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;
    use crate::consensus::raft::Term;
    use crate::log::Index;

    const UPTO: LogId = LogId { term: Term(1), index: Index(7) };

    #[test]
    fn a_short_sync_keeps_the_driver() {
        let relay = Relay::new();
        let (driver, synced) = relay.sync(Box::new("driver"), UPTO, &Waker::for_test(), || Ok(())).unwrap();
        assert_eq!((*driver, synced.0, synced.1.is_ok()), ("driver", UPTO, true));
        assert!(relay.take_synced().is_none());
    }

    #[test]
    fn during_a_stall_the_other_thread_drives_and_learns_of_its_end() {
        let relay = Relay::new();
        let (end_stall, stall) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let relay = &relay;
            let syncing = scope.spawn(move || {
                relay.sync(Box::new("driver"), UPTO, &Waker::for_test(), || {
                    stall.recv().unwrap();
                    Ok(())
                })
            });
            assert_eq!(relay.stand_by().as_deref(), Some(&"driver"));
            assert!(relay.take_synced().is_none(), "the sync still runs");
            end_stall.send(()).unwrap();
            assert!(syncing.join().unwrap().is_none());
            assert_eq!(relay.wait_for_synced().0, UPTO);
        });
    }

    #[test]
    fn the_standby_thread_ends_with_the_driver() {
        let relay = Relay::<()>::new();
        thread::scope(|scope| {
            let standing_by = scope.spawn(|| relay.stand_by());
            relay.end();
            assert!(standing_by.join().unwrap().is_none());
        });
    }
}
