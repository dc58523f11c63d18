//! Whether something may be ordered now: open, paused for a backup or a global lock, or closed.

use std::sync::{Condvar, Mutex, MutexGuard};

use crate::transaction::Transaction;

/// What may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateState {
    /// Everything.
    Open,
    /// It waits until somebody resumes.
    Paused,
    /// Nothing: there is no cluster, or not yet.
    Closed,
    /// Nothing any more: the log or the data are broken.
    Failed,
}

/// The gate in front of the order.
#[derive(Debug)]
pub struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

impl Default for Gate {
    fn default() -> Self {
        Self { state: Mutex::new(GateState::Closed), changed: Condvar::new() }
    }
}

impl Gate {
    /// How it stands now.
    pub fn state(&self) -> GateState {
        *self.lock()
    }

    /// Sets it, and lets those who wait look. What failed stays so.
    pub fn set(&self, state: GateState) {
        let mut current = self.lock();
        if *current != GateState::Failed {
            *current = state;
        }
        self.changed.notify_all();
    }

    /// Sets it if it stands as `from`. False: it does not.
    pub fn change(&self, from: GateState, to: GateState) -> bool {
        let mut current = self.lock();
        let is_so = *current == from;
        if is_so {
            *current = to;
            self.changed.notify_all();
        }
        is_so
    }

    /// Waits while it is paused, or until `transaction` is aborted.
    pub fn wait_while_paused(&self, transaction: Option<&Transaction>) {
        let mut current = self.lock();
        while *current == GateState::Paused && !transaction.is_some_and(Transaction::is_aborted) {
            current = self.changed.wait(current).expect(POISON);
        }
    }

    /// Lets those who wait look at their aborts.
    pub fn wake(&self) {
        let _current = self.lock();
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().expect(POISON)
    }
}

const POISON: &str = "nothing panics while it holds the gate";
