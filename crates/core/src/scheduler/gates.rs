//! Gates: groups of users of a key that later transactions wait for as one.
//!
//! A gate counts those who hold it. Whoever must wait for all of them follows the gate, once, and passes when the last
//! one lets go. So ten thousand transactions that all intend to write below one schema are one number there, and one
//! that wants the schema for itself waits for one thing.

use std::num::NonZeroU32;

use super::in_flight::TransactionId;

/// Names a gate among those that exist; reused when it is gone. Never zero, so that an optional one is as small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct GateId(NonZeroU32);

impl GateId {
    fn slot(self) -> usize {
        self.0.get() as usize - 1
    }
}

#[derive(Debug, Default)]
struct Gate {
    holders: u32,
    followers: Vec<TransactionId>,
}

/// Every gate that somebody holds.
#[derive(Debug)]
pub(super) struct Gates {
    slots: Vec<Gate>,
    vacant: Vec<GateId>,
}

impl Gates {
    pub(super) fn new() -> Self {
        Self { slots: Vec::new(), vacant: Vec::new() }
    }

    /// A gate that nobody holds or follows yet.
    pub(super) fn open(&mut self) -> GateId {
        self.vacant.pop().unwrap_or_else(|| {
            self.slots.push(Gate::default());
            let number = u32::try_from(self.slots.len()).ok().and_then(NonZeroU32::new);
            GateId(number.expect("memory is full long before 2^32 gates"))
        })
    }

    pub(super) fn hold(&mut self, gate: GateId) {
        self.slots[gate.slot()].holders += 1;
    }

    /// Lets go, and says whether that was the last holder.
    pub(super) fn let_go(&mut self, gate: GateId) -> bool {
        let gate = &mut self.slots[gate.slot()];
        gate.holders -= 1;
        gate.holders == 0
    }

    /// Makes a transaction that is being admitted follow the gate. Gives 1, or 0 when it follows it already.
    pub(super) fn follow(&mut self, gate: GateId, id: TransactionId) -> u32 {
        let followers = &mut self.slots[gate.slot()].followers;
        // Transactions are admitted one by one: if it follows this gate already, nobody has come since.
        if followers.last() == Some(&id) {
            return 0;
        }
        followers.push(id);
        1
    }

    /// The followers of a gate that has no holder any more.
    pub(super) fn close(&mut self, gate: GateId) -> Vec<TransactionId> {
        std::mem::take(&mut self.slots[gate.slot()].followers)
    }

    /// Ends a closed gate, and keeps its empty list for the next that gets its number.
    pub(super) fn recycle(&mut self, gate: GateId, mut followers: Vec<TransactionId>) {
        followers.clear();
        self.slots[gate.slot()].followers = followers;
        self.vacant.push(gate);
    }

    /// How many gates exist.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }

    pub(super) fn holders(&self, gate: GateId) -> u32 {
        self.slots[gate.slot()].holders
    }

    pub(super) fn followers(&self, gate: GateId) -> &[TransactionId] {
        &self.slots[gate.slot()].followers
    }
}
