//! Who uses each key: the heart of the scheduler.
//!
//! The modes fall into four classes, of which only these exclude each other: `Exclusive` everybody, `Below` and `Whole`
//! one another. So the users of a key, in the order of admission, look like this, and each waits for what is left of it
//! in its own line or in the line that crosses it:
//!
//! ```text
//!   any      ┃ any any    any          ┃ any            any: IS; reads of a row
//!   ─────────X─────────────────────────X───────────     X:   exclusive; writes of a row
//!            ┃ below below │ whole │ below ┃            below: IX        whole: S
//! ```
//!
//! For each key we keep the last group of each kind, as gates; all before are implied. New users join the last group or
//! begin the next one; a group that others have begun to wait for is never joined.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::gates::{GateId, Gates};
use super::in_flight::TransactionId;
use crate::write_set::Claim;
use crate::{Key, Mode};

/// The modes, as far as the order of execution can tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Excludes only `Exclusive`.
    Any,
    /// Excludes `Whole` and `Exclusive`.
    Below,
    /// Excludes `Below` and `Exclusive`.
    Whole,
    /// Excludes every class.
    Exclusive,
}

impl Class {
    pub(super) fn of(mode: Mode) -> Self {
        match mode {
            Mode::IntentionShared | Mode::RowShared | Mode::RowReference => Self::Any,
            Mode::IntentionExclusive => Self::Below,
            Mode::Shared => Self::Whole,
            Mode::Exclusive | Mode::RowUpdate | Mode::RowExclusive => Self::Exclusive,
        }
    }
}

/// The users of one key. A gate stands here as long as somebody holds it at this key and no later exclusive use hides it.
#[derive(Clone, Copy, Debug)]
struct Place {
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

/// Every key that somebody in flight uses.
#[derive(Debug)]
pub(super) struct Places {
    table: HashTable<Place>,
}

impl Places {
    pub(super) fn new() -> Self {
        Self { table: HashTable::new() }
    }

    /// Enters the use of a key by a transaction that is being admitted. Gives the gate that it holds there, and how many
    /// gates it follows because of it. `own_gate` is the one that it holds at every key that it uses exclusively.
    pub(super) fn claim(
        &mut self,
        claim: Claim,
        id: TransactionId,
        own_gate: &mut Option<GateId>,
        gates: &mut Gates,
    ) -> (GateId, u32) {
        let place = match self.table.entry(claim.key.bits(), |place| place.key == claim.key, |place| place.key.bits()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(Place::new(claim.key)).into_mut(),
        };
        let class = Class::of(claim.mode);
        let waits = place.predecessors(class).map(|gate| gate.map_or(0, |gate| gates.follow(gate, id)));
        let gate = place.enter(class, own_gate, gates);
        gates.hold(gate);
        (gate, waits[0] + waits[1])
    }

    /// Ends the use of a key. Says whether nobody holds the gate any more, at this or any key.
    pub(super) fn release(&mut self, claim: Claim, gate: GateId, gates: &mut Gates) -> bool {
        let free = gates.let_go(gate);
        // A transaction's own gate is held once at each of its keys, any other at one key only.
        if (free || Class::of(claim.mode) == Class::Exclusive)
            && let Ok(mut entry) = self.table.find_entry(claim.key.bits(), |place| place.key == claim.key)
        {
            let place = entry.get_mut();
            place.forget(gate);
            if place.is_unused() {
                entry.remove();
            }
        }
        free
    }

    /// Whether a use of that key would have to wait now.
    pub(super) fn would_wait(&self, claim: Claim) -> bool {
        let place = self.table.find(claim.key.bits(), |place| place.key == claim.key);
        place.is_some_and(|place| place.predecessors(Class::of(claim.mode)).iter().any(Option::is_some))
    }

    /// How many keys are in use.
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }
}

impl Place {
    fn new(key: Key) -> Self {
        Self { key, exclusive: None, any: None, group: None, group_before: None }
    }

    /// The gates that the next user of that class waits for. Whoever holds one of them waits for the rest.
    fn predecessors(&self, class: Class) -> [Option<GateId>; 2] {
        match (class, self.group) {
            (Class::Any, _) | (Class::Below | Class::Whole, None) => [self.exclusive, None],
            (Class::Exclusive, None) if self.any.is_none() => [self.exclusive, None],
            (Class::Exclusive, group) => [self.any, group.map(|(gate, _)| gate)],
            (Class::Below | Class::Whole, Some((_, same))) if same == class => {
                [self.group_before.or(self.exclusive), None]
            }
            (Class::Below | Class::Whole, Some((gate, _))) => [Some(gate), None],
        }
    }

    /// The gate that the next user of that class holds: that of the group it joins or begins.
    fn enter(&mut self, class: Class, own_gate: &mut Option<GateId>, gates: &mut Gates) -> GateId {
        match class {
            Class::Any => *self.any.get_or_insert_with(|| gates.open()),
            Class::Exclusive => {
                let gate = *own_gate.get_or_insert_with(|| gates.open());
                *self = Self { exclusive: Some(gate), ..Self::new(self.key) };
                gate
            }
            Class::Below | Class::Whole => match self.group {
                Some((gate, same)) if same == class => gate,
                before => {
                    let gate = gates.open();
                    self.group_before = before.map(|(gate, _)| gate);
                    self.group = Some((gate, class));
                    gate
                }
            },
        }
    }

    /// Nobody holds that gate here any more.
    fn forget(&mut self, gate: GateId) {
        let gone = |held: &mut GateId| *held == gate;
        self.exclusive.take_if(gone);
        self.any.take_if(gone);
        self.group_before.take_if(gone);
        self.group.take_if(|(held, _)| *held == gate);
    }

    fn is_unused(&self) -> bool {
        self.exclusive.is_none() && self.any.is_none() && self.group.is_none()
    }
}
