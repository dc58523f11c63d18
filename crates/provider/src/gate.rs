//! The node's state, and the gate before the total order that follows from it: open, paused for a backup or a global lock, or
//! closed.

use std::sync::{Condvar, Mutex, MutexGuard};

use crate::node_state::{NodeState, StateEvent};
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
#[derive(Debug, Default)]
pub struct Gate {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    node: NodeState,
    is_paused: bool,
    has_failed: bool,
}

impl Inner {
    fn gate(&self) -> GateState {
        match self.node {
            _ if self.has_failed => GateState::Failed,
            node if !node.takes_part() => GateState::Closed,
            _ if self.is_paused => GateState::Paused,
            _ => GateState::Open,
        }
    }

    fn shift(&mut self, event: StateEvent) -> Shift {
        let shift = Shift { from: self.node, path: self.node.after(event) };
        self.node = shift.path.last().copied().unwrap_or(self.node);
        shift
    }
}

/// What an event has done to the node's state.
#[must_use = "the error log tells it"]
#[derive(Clone, Copy, Debug)]
pub struct Shift {
    /// The state before.
    pub from: NodeState,
    /// The states since, in order. None: the event has changed nothing.
    pub path: &'static [NodeState],
}

impl Shift {
    /// Whether the event has changed the state.
    pub fn is_change(&self) -> bool {
        !self.path.is_empty()
    }
}

impl Gate {
    /// The current state of the gate.
    pub fn state(&self) -> GateState {
        self.lock().gate()
    }

    /// The current state of the node.
    pub fn node_state(&self) -> NodeState {
        self.lock().node
    }

    /// Changes the node's state, and wakes waiting threads. A failed node stays closed.
    pub fn shift(&self, event: StateEvent) -> Shift {
        let mut inner = self.lock();
        let event = if inner.has_failed { StateEvent::Left } else { event };
        let shift = inner.shift(event);
        self.changed.notify_all();
        shift
    }

    /// A donation or a desync has begun or ended. `is_donor` is asked under the lock, so the last of two such events counts.
    pub fn shift_donor(&self, is_donor: impl FnOnce() -> bool) -> Shift {
        let mut inner = self.lock();
        let event = if is_donor() { StateEvent::Desynced } else { StateEvent::Resynced };
        inner.shift(event)
    }

    /// Closes the gate for good.
    pub fn fail(&self) -> Shift {
        self.lock().has_failed = true;
        self.shift(StateEvent::Left)
    }

    /// Pauses the gate, until the pause is ended: a gate that is closed is paused when it opens.
    pub fn pause(&self) {
        self.lock().is_paused = true;
    }

    /// Whether a pause has begun and not ended.
    pub fn is_paused(&self) -> bool {
        self.lock().is_paused
    }

    /// Ends a pause.
    pub fn resume(&self) {
        self.lock().is_paused = false;
        self.changed.notify_all();
    }

    /// Waits while the gate is paused, or until `transaction` is aborted.
    pub fn wait_while_paused(&self, transaction: Option<&Transaction>) {
        let mut inner = self.lock();
        while inner.gate() == GateState::Paused && !transaction.is_some_and(Transaction::is_aborted) {
            inner = self.changed.wait(inner).expect(POISON);
        }
    }

    /// Wakes waiting threads, to check for aborts.
    pub fn wake(&self) {
        let _inner = self.lock();
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect(POISON)
    }
}

const POISON: &str = "nothing panics under the gate's lock";
