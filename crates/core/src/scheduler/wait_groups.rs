//! Wait groups: users of a key that later transactions wait for as a whole.
//!
//! A group counts its members. A transaction that must wait for all of them waits for the group, once, and is woken
//! when the last member is done. So ten thousand transactions that intend to write below one schema are one counter
//! there, and a transaction that locks the schema waits for one group.

use std::num::NonZeroU32;

use super::in_flight::TransactionId;

/// Identifies an existing group; reused after the group is gone. Never zero, so that `Option` needs no extra space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct WaitGroupId(NonZeroU32);

impl WaitGroupId {
    fn slot(self) -> usize {
        self.0.get() as usize - 1
    }
}

#[derive(Debug, Default)]
struct WaitGroup {
    members: u32,
    waiters: Vec<TransactionId>,
}

/// All groups that have members.
#[derive(Debug)]
pub(super) struct WaitGroups {
    slots: Vec<WaitGroup>,
    vacant: Vec<WaitGroupId>,
}

impl WaitGroups {
    pub(super) fn new() -> Self {
        Self { slots: Vec::new(), vacant: Vec::new() }
    }

    /// Creates a group without members and waiters.
    pub(super) fn create(&mut self) -> WaitGroupId {
        self.vacant.pop().unwrap_or_else(|| {
            self.slots.push(WaitGroup::default());
            let number = u32::try_from(self.slots.len()).ok().and_then(NonZeroU32::new);
            WaitGroupId(number.expect("memory is full long before 2^32 wait groups"))
        })
    }

    pub(super) fn add(&mut self, wait_group: WaitGroupId) {
        self.slots[wait_group.slot()].members += 1;
    }

    /// Removes one member, and returns whether it was the last one.
    pub(super) fn done(&mut self, wait_group: WaitGroupId) -> bool {
        let wait_group = &mut self.slots[wait_group.slot()];
        wait_group.members -= 1;
        wait_group.members == 0
    }

    /// Makes a transaction that is being admitted wait for the group. Returns 1, or 0 when it waits for the group
    /// already.
    pub(super) fn wait(&mut self, wait_group: WaitGroupId, id: TransactionId) -> u32 {
        let waiters = &mut self.slots[wait_group.slot()].waiters;
        // Transactions are admitted one by one: if it waits for this group already, it is the last waiter.
        if waiters.last() == Some(&id) {
            return 0;
        }
        waiters.push(id);
        1
    }

    /// Takes the waiters of a group that has no members any more.
    pub(super) fn take_waiters(&mut self, wait_group: WaitGroupId) -> Vec<TransactionId> {
        std::mem::take(&mut self.slots[wait_group.slot()].waiters)
    }

    /// Ends a group whose waiters are taken, and keeps its empty list for the next group with this id.
    pub(super) fn recycle(&mut self, wait_group: WaitGroupId, mut waiters: Vec<TransactionId>) {
        waiters.clear();
        self.slots[wait_group.slot()].waiters = waiters;
        self.vacant.push(wait_group);
    }

    /// The number of existing groups.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }

    pub(super) fn members(&self, wait_group: WaitGroupId) -> u32 {
        self.slots[wait_group.slot()].members
    }

    pub(super) fn waiters(&self, wait_group: WaitGroupId) -> &[TransactionId] {
        &self.slots[wait_group.slot()].waiters
    }
}
