//! Who uses each key: the heart of the scheduler.
//!
//! The modes fall into four classes, of which only these exclude each other: `Exclusive` everybody, `Below` and `Whole`
//! one another. So a key has, at any time, a last exclusive user and groups of users since then, which are gates; a new
//! user joins the last group of its class or begins the next one, and waits for the last of each kind that excludes it.
//! What lies further back is implied, because those it waits for wait for that themselves.
//!
//! Rows have two classes only, and there are many of them: `row` keeps them small. `above` keeps the rest.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::gates::{GateId, Gates};
use super::in_flight::TransactionId;
use crate::Mode;
use crate::write_set::Claim;

mod above;
mod row;

use above::PlaceAbove;
use row::RowPlace;

/// The modes, as far as the order of execution can tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Excludes only `Exclusive`: intention shared, and reads of a row.
    Any,
    /// Excludes `Whole` and `Exclusive`: intention exclusive.
    Below,
    /// Excludes `Below` and `Exclusive`: shared.
    Whole,
    /// Excludes every class: exclusive, and writes of a row.
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

/// That a transaction holds a gate at a key: all that is needed to end it, smaller than the key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    bits: u64,
    pub(super) gate: GateId,
    is_row: bool,
    is_exclusive: bool,
}

/// Every key that somebody in flight uses.
#[derive(Debug)]
pub(super) struct Places {
    rows: HashTable<RowPlace>,
    above: HashTable<PlaceAbove>,
}

impl Places {
    pub(super) fn new() -> Self {
        Self { rows: HashTable::new(), above: HashTable::new() }
    }

    /// Enters the use of a key by a transaction that is being admitted. Gives what it holds there now, and how many
    /// gates it follows because of it. `own_gate` is the one that it holds at every key that it uses exclusively.
    pub(super) fn claim(
        &mut self,
        claim: Claim,
        id: TransactionId,
        own_gate: &mut Option<GateId>,
        gates: &mut Gates,
    ) -> (Hold, u32) {
        let (bits, class) = (claim.key.bits(), Class::of(claim.mode));
        let is_row = claim.key.is_row();
        let (predecessors, gate) = if is_row {
            let place = match self.rows.entry(bits, |place| place.is_at(claim.key), RowPlace::bits) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => entry.insert(RowPlace::new(claim.key)).into_mut(),
            };
            ([place.predecessor(class), None], place.enter(class, own_gate, gates))
        } else {
            let place = match self.above.entry(bits, |place| place.is_at(claim.key), PlaceAbove::bits) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => entry.insert(PlaceAbove::new(claim.key)).into_mut(),
            };
            (place.predecessors(class), place.enter(class, own_gate, gates))
        };
        gates.hold(gate);
        let waits = predecessors.into_iter().flatten().map(|gate| gates.follow(gate, id)).sum();
        (Hold { bits, gate, is_row, is_exclusive: class == Class::Exclusive }, waits)
    }

    /// Ends the use of a key. Says whether nobody holds the gate any more, at this or any key.
    pub(super) fn release(&mut self, hold: Hold, gates: &mut Gates) -> bool {
        let Hold { bits, gate, is_row, is_exclusive } = hold;
        let free = gates.let_go(gate);
        // A transaction's own gate is held once at each of its keys, any other at one key only. A place that later
        // users have taken over does not know the gate any more.
        if !free && !is_exclusive {
            return free;
        }
        if is_row {
            if let Ok(mut entry) = self.rows.find_entry(bits, |place| place.bits() == bits && place.knows(gate))
                && entry.get_mut().forget(gate)
            {
                entry.remove();
            }
        } else if let Ok(mut entry) = self.above.find_entry(bits, |place| place.bits() == bits && place.knows(gate))
            && entry.get_mut().forget(gate)
        {
            entry.remove();
        }
        free
    }

    /// Whether a use of that key would have to wait now.
    pub(super) fn would_wait(&self, claim: Claim) -> bool {
        let (bits, class) = (claim.key.bits(), Class::of(claim.mode));
        if claim.key.is_row() {
            let place = self.rows.find(bits, |place| place.is_at(claim.key));
            place.is_some_and(|place| place.predecessor(class).is_some())
        } else {
            let place = self.above.find(bits, |place| place.is_at(claim.key));
            place.is_some_and(|place| place.predecessors(class).iter().any(Option::is_some))
        }
    }

    /// How many keys are in use.
    pub(super) fn len(&self) -> usize {
        self.rows.len() + self.above.len()
    }
}
