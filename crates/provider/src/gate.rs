//! The gate before the total order: open, paused for a backup or a global lock, or closed.

use std::sync::{Condvar, Mutex, MutexGuard};

use crate::transaction::Transaction;

/// The state of the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateState {
    /// Write sets pass.
    Open,
    /// Write sets wait until the pause ends.
    Paused,
    /// No write set passes: there is no cluster, or not yet.
    Closed,
    /// No write set passes any more: the log or the data are broken.
    Failed,
}

/// The gate.
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
    /// The current state.
    pub fn state(&self) -> GateState {
        *self.lock()
    }

    /// Sets the state and wakes waiting threads. A failed gate stays failed.
    pub fn set(&self, state: GateState) {
        let mut current = self.lock();
        if *current != GateState::Failed {
            *current = state;
        }
        self.changed.notify_all();
    }

    /// Sets the state if it is `from`. False: it is not.
    pub fn change(&self, from: GateState, to: GateState) -> bool {
        let mut current = self.lock();
        let is_so = *current == from;
        if is_so {
            *current = to;
            self.changed.notify_all();
        }
        is_so
    }

    /// Waits while the gate is paused, or until `transaction` is aborted.
    pub fn wait_while_paused(&self, transaction: Option<&Transaction>) {
        let mut current = self.lock();
        while *current == GateState::Paused && !transaction.is_some_and(Transaction::is_aborted) {
            current = self.changed.wait(current).expect(POISON);
        }
    }

    /// Wakes waiting threads, to check for aborts.
    pub fn wake(&self) {
        let _current = self.lock();
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().expect(POISON)
    }
}

const POISON: &str = "nothing panics under the gate's lock";
