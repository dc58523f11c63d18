//! The users of one server, schema or table.
//!
//! In the order of admission they look like this, and each waits for what is left of it in its own line or in a line
//! that its own excludes; `Below` and `Whole`, which exclude each other, take turns in groups:
//!
//! ```text
//!   Exclusive  ─X──────────────────────X──────────────
//!   Any         ┃ a a   a          a   ┃ a
//!   Below,      ┃ b b b │     │ b b b  ┃ b b │
//!   Whole       ┃       │ w w │        ┃     │ w w
//! ```

use super::Class;
use crate::Key;
use crate::scheduler::gates::{GateId, Gates};

/// A gate stands here as long as somebody holds it at this key and no later exclusive use hides it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlaceAbove {
    key: Key,
    /// The last exclusive user.
    exclusive: Option<GateId>,
    /// Everybody of class `Any` since then.
    any: Option<GateId>,
    /// The last group of `Below` or `Whole` since then, and which of them it is.
    group: Option<(GateId, Class)>,
    /// The group before the last one; those who join the last one wait for it.
    group_before: Option<GateId>,
}

impl PlaceAbove {
    pub(super) fn new(key: Key) -> Self {
        Self { key, exclusive: None, any: None, group: None, group_before: None }
    }

    pub(super) fn is_at(&self, key: Key) -> bool {
        self.key == key
    }

    pub(super) fn bits(&self) -> u64 {
        self.key.bits()
    }

    /// The gates that the next user of that class waits for. Whoever holds one of them waits for the rest.
    pub(super) fn predecessors(&self, class: Class) -> [Option<GateId>; 2] {
        match (class, self.group) {
            (Class::Any, _) | (Class::Below | Class::Whole, None) => [self.exclusive, None],
            (Class::Exclusive, None) => [self.any.or(self.exclusive), None],
            (Class::Exclusive, Some((gate, _))) => [self.any, Some(gate)],
            (Class::Below | Class::Whole, Some((_, same))) if same == class => {
                [self.group_before.or(self.exclusive), None]
            }
            (Class::Below | Class::Whole, Some((gate, _))) => [Some(gate), None],
        }
    }

    /// The gate that the next user of that class holds: that of the group it joins or begins.
    pub(super) fn enter(&mut self, class: Class, own_gate: &mut Option<GateId>, gates: &mut Gates) -> GateId {
        match (class, self.group) {
            (Class::Any, _) => *self.any.get_or_insert_with(|| gates.open()),
            (Class::Exclusive, _) => {
                let gate = *own_gate.get_or_insert_with(|| gates.open());
                *self = Self { exclusive: Some(gate), ..Self::new(self.key) };
                gate
            }
            (Class::Below | Class::Whole, Some((gate, same))) if same == class => gate,
            (Class::Below | Class::Whole, before) => {
                let gate = gates.open();
                self.group_before = before.map(|(gate, _)| gate);
                self.group = Some((gate, class));
                gate
            }
        }
    }

    pub(super) fn knows(&self, gate: GateId) -> bool {
        let group = self.group.map(|(gate, _)| gate);
        [self.exclusive, self.any, group, self.group_before].contains(&Some(gate))
    }

    /// Nobody holds that gate here any more. Says whether nobody uses the place any more.
    pub(super) fn forget(&mut self, gate: GateId) -> bool {
        self.exclusive.take_if(|held| *held == gate);
        self.any.take_if(|held| *held == gate);
        self.group_before.take_if(|held| *held == gate);
        self.group.take_if(|(held, _)| *held == gate);
        self.exclusive.is_none() && self.any.is_none() && self.group.is_none()
    }
}
