//! The users of one row: readers, who share it, and writers, who do not.

use super::Class;
use crate::Key;
use crate::scheduler::gates::{GateId, Gates};

/// Small on purpose: a scheduler with ten thousand transactions holds a hundred thousand of these, and most of its
/// time goes by at fetching them from memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowPlace {
    /// 128 bits that the row's table went into too.
    row: [u64; 2],
    /// The last writer.
    exclusive: Option<GateId>,
    /// Everybody who reads since then.
    any: Option<GateId>,
}

impl RowPlace {
    pub(super) fn new(key: Key) -> Self {
        Self { row: key.row_hash(), exclusive: None, any: None }
    }

    pub(super) fn is_at(&self, key: Key) -> bool {
        self.row == key.row_hash()
    }

    pub(super) fn bits(&self) -> u64 {
        self.row[0]
    }

    /// The gate that the next user of that class waits for.
    pub(super) fn predecessor(&self, class: Class) -> Option<GateId> {
        // The readers since the last writer wait for it themselves.
        let readers = if class == Class::Exclusive { self.any } else { None };
        readers.or(self.exclusive)
    }

    /// The gate that the next user of that class holds.
    pub(super) fn enter(&mut self, class: Class, own_gate: &mut Option<GateId>, gates: &mut Gates) -> GateId {
        if class == Class::Exclusive {
            let gate = *own_gate.get_or_insert_with(|| gates.open());
            (self.exclusive, self.any) = (Some(gate), None);
            gate
        } else {
            *self.any.get_or_insert_with(|| gates.open())
        }
    }

    pub(super) fn knows(&self, gate: GateId) -> bool {
        self.exclusive == Some(gate) || self.any == Some(gate)
    }

    /// Nobody holds that gate here any more. Says whether nobody uses the row any more.
    pub(super) fn forget(&mut self, gate: GateId) -> bool {
        self.exclusive.take_if(|held| *held == gate);
        self.any.take_if(|held| *held == gate);
        self.exclusive.is_none() && self.any.is_none()
    }
}
