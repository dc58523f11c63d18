//! The lock table: the users of each key. This is the heart of the scheduler.
//!
//! The modes fall into four classes. Only these exclude each other: `Exclusive` excludes all, `IntentionExclusive` and
//! `Shared` exclude one another. So a key has, at any time, a last exclusive user and wait groups of users since then.
//! A new user joins the last group of its class or creates the next one, and waits for the last of each kind that
//! excludes it. Everything earlier is implied, because the users that it waits for wait for it themselves.
//!
//! Rows have two classes only, and there are many of them: `row` keeps them small. `ancestor` holds the rest.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::in_flight::TransactionId;
use super::wait_groups::{WaitGroupId, WaitGroups};
use crate::Mode;
use crate::write_set::LockRequest;

mod ancestor;
mod row;

use ancestor::AncestorLock;
use row::RowLock;

/// The modes, as far as they matter for the order of execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockClass {
    /// Excludes only `Exclusive`: intention shared, and reads of a row.
    IntentionShared,
    /// Excludes `Shared` and `Exclusive`: intention exclusive.
    IntentionExclusive,
    /// Excludes `IntentionExclusive` and `Exclusive`: shared.
    Shared,
    /// Excludes every class: exclusive, and writes of a row.
    Exclusive,
}

impl LockClass {
    pub(super) fn of(mode: Mode) -> Self {
        match mode {
            Mode::IntentionShared | Mode::RowShared | Mode::RowReference => Self::IntentionShared,
            Mode::IntentionExclusive => Self::IntentionExclusive,
            Mode::Shared => Self::Shared,
            Mode::Exclusive | Mode::RowUpdate | Mode::RowExclusive => Self::Exclusive,
        }
    }
}

/// The membership of a transaction in a wait group at a key: all that release needs, and smaller than the key.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldLock {
    bits: u64,
    pub(super) wait_group: WaitGroupId,
    is_row: bool,
    is_exclusive: bool,
}

/// All keys that transactions in flight use.
#[derive(Debug)]
pub(super) struct LockTable {
    rows: HashTable<RowLock>,
    ancestors: HashTable<AncestorLock>,
}

impl LockTable {
    pub(super) fn new() -> Self {
        Self { rows: HashTable::new(), ancestors: HashTable::new() }
    }

    /// Adds the use of a key by a transaction that is being admitted. Returns its lock, and the number of groups that
    /// the transaction waits for because of it. `own_group` is the group of the transaction at all keys that it uses
    /// exclusively.
    pub(super) fn lock(
        &mut self,
        request: LockRequest,
        id: TransactionId,
        own_group: &mut Option<WaitGroupId>,
        wait_groups: &mut WaitGroups,
    ) -> (HeldLock, u32) {
        let (bits, class) = (request.key.bits(), LockClass::of(request.mode));
        let is_row = request.key.is_row();
        let (predecessors, wait_group) = if is_row {
            let lock = match self.rows.entry(bits, |lock| lock.is_at(request.key), RowLock::bits) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => entry.insert(RowLock::new(request.key)).into_mut(),
            };
            ([lock.predecessor(class), None], lock.join(class, own_group, wait_groups))
        } else {
            let lock = match self.ancestors.entry(bits, |lock| lock.is_at(request.key), AncestorLock::bits) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => entry.insert(AncestorLock::new(request.key)).into_mut(),
            };
            (lock.predecessors(class), lock.join(class, own_group, wait_groups))
        };
        wait_groups.add(wait_group);
        let waits = predecessors.into_iter().flatten().map(|wait_group| wait_groups.wait(wait_group, id)).sum();
        (HeldLock { bits, wait_group, is_row, is_exclusive: class == LockClass::Exclusive }, waits)
    }

    /// Ends the use of a key. Returns whether the wait group has no members any more, at this or any key.
    pub(super) fn release(&mut self, held_lock: HeldLock, wait_groups: &mut WaitGroups) -> bool {
        let HeldLock { bits, wait_group, is_row, is_exclusive } = held_lock;
        let is_free = wait_groups.done(wait_group);
        // A transaction is a member of its own group once for each of its keys; any other group belongs to one key. A
        // lock that later users have taken over does not contain the group any more.
        if !is_free && !is_exclusive {
            return is_free;
        }
        if is_row {
            if let Ok(mut entry) = self.rows.find_entry(bits, |lock| lock.bits() == bits && lock.contains(wait_group))
                && entry.get_mut().remove_group(wait_group)
            {
                entry.remove();
            }
        } else if let Ok(mut entry) =
            self.ancestors.find_entry(bits, |lock| lock.bits() == bits && lock.contains(wait_group))
            && entry.get_mut().remove_group(wait_group)
        {
            entry.remove();
        }
        is_free
    }

    /// Whether a use of that key would have to wait now.
    pub(super) fn would_wait(&self, request: LockRequest) -> bool {
        let (bits, class) = (request.key.bits(), LockClass::of(request.mode));
        if request.key.is_row() {
            let lock = self.rows.find(bits, |lock| lock.is_at(request.key));
            lock.is_some_and(|lock| lock.predecessor(class).is_some())
        } else {
            let lock = self.ancestors.find(bits, |lock| lock.is_at(request.key));
            lock.is_some_and(|lock| lock.predecessors(class).iter().any(Option::is_some))
        }
    }

    /// The number of keys in use.
    pub(super) fn len(&self) -> usize {
        self.rows.len() + self.ancestors.len()
    }
}
