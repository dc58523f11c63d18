//! The users of one row: readers, which share it, and writers, which do not.

use super::LockClass;
use crate::Key;
use crate::scheduler::wait_groups::{WaitGroupId, WaitGroups};

/// Small on purpose: a scheduler with ten thousand transactions holds a hundred thousand row locks, and most of its
/// time goes into fetching them from memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowLock {
    /// 128 bits, computed from the row and its table.
    row: [u64; 2],
    /// The last writer.
    exclusive: Option<WaitGroupId>,
    /// All readers since then.
    shared: Option<WaitGroupId>,
}

impl RowLock {
    pub(super) fn new(key: Key) -> Self {
        Self { row: key.row_hash(), exclusive: None, shared: None }
    }

    pub(super) fn is_at(&self, key: Key) -> bool {
        self.row == key.row_hash()
    }

    pub(super) fn bits(&self) -> u64 {
        self.row[0]
    }

    /// The wait group that the next user of that class waits for.
    pub(super) fn predecessor(&self, class: LockClass) -> Option<WaitGroupId> {
        // The readers since the last writer wait for that writer themselves.
        let readers = if class == LockClass::Exclusive { self.shared } else { None };
        readers.or(self.exclusive)
    }

    /// The wait group that the next user of that class belongs to.
    pub(super) fn join(
        &mut self,
        class: LockClass,
        own_group: &mut Option<WaitGroupId>,
        wait_groups: &mut WaitGroups,
    ) -> WaitGroupId {
        if class == LockClass::Exclusive {
            let wait_group = *own_group.get_or_insert_with(|| wait_groups.create());
            (self.exclusive, self.shared) = (Some(wait_group), None);
            wait_group
        } else {
            *self.shared.get_or_insert_with(|| wait_groups.create())
        }
    }

    pub(super) fn contains(&self, wait_group: WaitGroupId) -> bool {
        self.exclusive == Some(wait_group) || self.shared == Some(wait_group)
    }

    /// Removes a group that has no members here any more. Returns whether the row has no users any more.
    pub(super) fn remove_group(&mut self, wait_group: WaitGroupId) -> bool {
        self.exclusive.take_if(|held| *held == wait_group);
        self.shared.take_if(|held| *held == wait_group);
        self.exclusive.is_none() && self.shared.is_none()
    }
}
