//! A source that is held for a comparison: where it is, or at a GTID position behind that.
//!
//! ```text
//!   control ── hold, again and again ──► Hold ◄── asks between two transactions ── the source's session
//!                                          │
//!                     a lease: if the one who compares is gone, the source goes on
//! ```
//!
//! The hold only helps: who compares finds in the target's own table of positions what its view of the target holds.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::binlog::GtidState;

/// How long a source is held by one who does not ask again.
const LEASE: Duration = Duration::from_secs(10);

/// How far a hold is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldState {
    /// The source has not come so far, or is not applied now.
    Waiting,
    /// It takes nothing more; everything up to there is committed.
    Held,
    /// It is behind the position that was asked for, and takes nothing more.
    Passed,
}

/// Whether a session has come to the position of a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    NotYet,
    Exactly,
    Beyond,
}

/// For a session that has taken everything up to `taken`; `until`: the position that was asked for, or any.
pub(super) fn reached(taken: &GtidState, until: Option<&GtidState>) -> Reached {
    match until {
        None => Reached::Exactly,
        Some(until) if until == taken => Reached::Exactly,
        Some(until) if taken.contains(until) => Reached::Beyond,
        Some(_) => Reached::NotYet,
    }
}

#[derive(Debug)]
struct Lease {
    /// Who compares.
    by: u64,
    until: Option<GtidState>,
    state: HoldState,
    ends: Instant,
}

/// The hold of one source.
#[derive(Debug, Default)]
pub(super) struct Hold {
    /// There is a lease.
    is_wanted: AtomicBool,
    lease: Mutex<Option<Lease>>,
    changed: Condvar,
}

impl Hold {
    /// Holds the source, or holds it longer. `until`: it goes on up to there.
    ///
    /// # Errors
    /// Why it is not held: another one compares.
    pub(super) fn ask(&self, by: u64, until: Option<GtidState>) -> Result<HoldState, String> {
        let (mut lease, ends) = (self.lock(), Instant::now() + LEASE);
        let state = match lease.as_mut() {
            Some(other) if other.by != by && other.ends > Instant::now() => {
                return Err("another comparison holds the source: let that one end".to_owned());
            }
            Some(own) if own.by == by && own.until == until => {
                own.ends = ends;
                own.state
            }
            _ => {
                *lease = Some(Lease { by, until, state: HoldState::Waiting, ends });
                HoldState::Waiting
            }
        };
        self.is_wanted.store(true, Ordering::Relaxed);
        self.changed.notify_all();
        Ok(state)
    }

    /// Lets the source go.
    pub(super) fn release(&self, by: u64) {
        let mut lease = self.lock();
        if lease.as_ref().is_some_and(|lease| lease.by == by) {
            self.end(&mut lease);
        }
    }

    /// Where the source is to be held; `None` where it is not.
    pub(super) fn wanted(&self) -> Option<Option<GtidState>> {
        if !self.is_wanted.load(Ordering::Relaxed) {
            return None;
        }
        let mut lease = self.lock();
        if lease.as_ref().is_some_and(|lease| lease.ends <= Instant::now()) {
            self.end(&mut lease);
        }
        lease.as_ref().map(|lease| lease.until.clone())
    }

    /// The session is there, or behind it: waits for a while, or until something else is asked for.
    pub(super) fn wait(&self, at: Option<&GtidState>, state: HoldState, time: Duration) {
        let mut lease = self.lock();
        let is_same = |lease: &Option<Lease>| lease.as_ref().is_some_and(|lease| lease.until.as_ref() == at);
        match lease.as_mut() {
            Some(own) if own.until.as_ref() == at => own.state = state,
            _ => return,
        }
        drop(self.changed.wait_timeout_while(lease, time, |lease| is_same(lease)));
    }

    fn end(&self, lease: &mut Option<Lease>) {
        *lease = None;
        self.is_wanted.store(false, Ordering::Relaxed);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Option<Lease>> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(text: &str) -> GtidState {
        text.parse().unwrap()
    }

    #[test]
    fn how_far_a_session_is() {
        for (taken, until, expected) in [
            ("0-1-5", None, Reached::Exactly),
            ("0-1-5", Some("0-1-5"), Reached::Exactly),
            ("0-1-4", Some("0-1-5"), Reached::NotYet),
            ("0-1-6", Some("0-1-5"), Reached::Beyond),
            ("", Some("0-1-5"), Reached::NotYet),
            ("0-1-5", Some("0-1-5,1-1-1"), Reached::NotYet),
            ("0-1-6,1-1-1", Some("0-1-5,1-1-1"), Reached::Beyond),
            // In one log they come in one order: it cannot be at both.
            ("0-1-6", Some("0-1-5,1-1-1"), Reached::NotYet),
            ("0-1-5,1-1-1", Some("0-1-5"), Reached::Beyond),
        ] {
            assert_eq!(reached(&position(taken), until.map(position).as_ref()), expected, "{taken}, {until:?}");
        }
    }

    #[test]
    fn one_compares_at_a_time() {
        let hold = Hold::default();
        assert_eq!(hold.wanted(), None);
        assert_eq!(hold.ask(1, None), Ok(HoldState::Waiting));
        assert_eq!(hold.wanted(), Some(None));
        assert!(hold.ask(2, None).unwrap_err().contains("another comparison"));
        hold.wait(None, HoldState::Held, Duration::ZERO);
        assert_eq!(hold.ask(1, None), Ok(HoldState::Held));
        let until = Some(position("0-1-9"));
        assert_eq!(hold.ask(1, until.clone()), Ok(HoldState::Waiting));
        // What was found for another position does not count.
        hold.wait(None, HoldState::Held, Duration::ZERO);
        assert_eq!(hold.ask(1, until.clone()), Ok(HoldState::Waiting));
        hold.release(2);
        assert_eq!(hold.wanted(), Some(until));
        hold.release(1);
        assert_eq!(hold.wanted(), None);
        assert_eq!(hold.ask(2, None), Ok(HoldState::Waiting));
    }
}
