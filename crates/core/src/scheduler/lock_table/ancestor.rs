//! The users of one server, schema or table.
//!
//! In the order of admission they look as below. Each user waits for the users to its left in its own line, or in a
//! line that its class excludes. `IntentionExclusive` and `Shared` exclude each other and alternate in groups:
//!
//! ```text
//!   Exclusive           ─X──────────────────────X──────────────
//!   IntentionShared      ┃ i i   i          i   ┃ i
//!   IntentionExclusive,  ┃ e e e │     │ e e e  ┃ e e │
//!   Shared               ┃       │ s s │        ┃     │ s s
//! ```

use super::LockClass;
use crate::Key;
use crate::scheduler::wait_groups::{WaitGroupId, WaitGroups};

/// The lock holds a wait group as long as the group has members at this key and no later exclusive use hides it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AncestorLock {
    key: Key,
    /// The last exclusive user.
    exclusive: Option<WaitGroupId>,
    /// All `IntentionShared` users since then.
    intention_shared: Option<WaitGroupId>,
    /// The last group of `IntentionExclusive` or `Shared` users since then, and its class.
    group: Option<(WaitGroupId, LockClass)>,
    /// The group before the last one; users that join the last group wait for it.
    group_before: Option<WaitGroupId>,
}

impl AncestorLock {
    pub(super) fn new(key: Key) -> Self {
        Self { key, exclusive: None, intention_shared: None, group: None, group_before: None }
    }

    pub(super) fn is_at(&self, key: Key) -> bool {
        self.key == key
    }

    pub(super) fn bits(&self) -> u64 {
        self.key.bits()
    }

    /// The groups that the next user of that class waits for. The members of these groups wait for all others.
    pub(super) fn predecessors(&self, class: LockClass) -> [Option<WaitGroupId>; 2] {
        match (class, self.group) {
            (LockClass::IntentionShared, _) | (LockClass::IntentionExclusive | LockClass::Shared, None) => {
                [self.exclusive, None]
            }
            (LockClass::Exclusive, None) => [self.intention_shared.or(self.exclusive), None],
            (LockClass::Exclusive, Some((wait_group, _))) => [self.intention_shared, Some(wait_group)],
            (LockClass::IntentionExclusive | LockClass::Shared, Some((_, same))) if same == class => {
                [self.group_before.or(self.exclusive), None]
            }
            (LockClass::IntentionExclusive | LockClass::Shared, Some((wait_group, _))) => [Some(wait_group), None],
        }
    }

    /// The group that the next user of that class belongs to: the last group of its class, or a new one.
    pub(super) fn join(
        &mut self,
        class: LockClass,
        own_group: &mut Option<WaitGroupId>,
        wait_groups: &mut WaitGroups,
    ) -> WaitGroupId {
        match (class, self.group) {
            (LockClass::IntentionShared, _) => *self.intention_shared.get_or_insert_with(|| wait_groups.create()),
            (LockClass::Exclusive, _) => {
                let wait_group = *own_group.get_or_insert_with(|| wait_groups.create());
                *self = Self { exclusive: Some(wait_group), ..Self::new(self.key) };
                wait_group
            }
            (LockClass::IntentionExclusive | LockClass::Shared, Some((wait_group, same))) if same == class => {
                wait_group
            }
            (LockClass::IntentionExclusive | LockClass::Shared, before) => {
                let wait_group = wait_groups.create();
                self.group_before = before.map(|(wait_group, _)| wait_group);
                self.group = Some((wait_group, class));
                wait_group
            }
        }
    }

    pub(super) fn contains(&self, wait_group: WaitGroupId) -> bool {
        let group = self.group.map(|(wait_group, _)| wait_group);
        [self.exclusive, self.intention_shared, group, self.group_before].contains(&Some(wait_group))
    }

    /// Removes a group that has no members here any more. Returns whether the key has no users any more.
    pub(super) fn remove_group(&mut self, wait_group: WaitGroupId) -> bool {
        self.exclusive.take_if(|held| *held == wait_group);
        self.intention_shared.take_if(|held| *held == wait_group);
        self.group_before.take_if(|held| *held == wait_group);
        self.group.take_if(|(held, _)| *held == wait_group);
        self.exclusive.is_none() && self.intention_shared.is_none() && self.group.is_none()
    }
}
