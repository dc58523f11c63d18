//! The invariants that hold between any two calls to the scheduler.

use hashbrown::{HashMap, HashSet};

use super::in_flight::Stage;
use super::wait_groups::WaitGroupId;
use super::{KEY_BYTES, Scheduler, TRANSACTION_BYTES};
use crate::Key;

impl<T> Scheduler<T> {
    /// Checks every invariant, for tests and for diagnosis. Reads everything in flight.
    ///
    /// # Panics
    /// When an invariant does not hold.
    pub fn self_check(&self) {
        self.check_transactions();
        self.check_wait_groups();
    }

    fn check_transactions(&self) {
        let mut held_bytes = 0;
        let mut ready = 0;
        let mut count = 0;
        let mut keys: HashSet<Key> = HashSet::new();
        let mut last = None;
        for transaction in self.in_flight.in_order() {
            let seqno = transaction.seqno;
            assert!(last < Some(seqno) && seqno <= self.last_admitted, "{seqno} is out of order");
            last = Some(seqno);
            count += 1;
            held_bytes += transaction.held_bytes;
            ready += usize::from(transaction.stage == Stage::Ready);
            let own_bytes = TRANSACTION_BYTES + transaction.write_set.keys().len() * KEY_BYTES;
            assert!(transaction.held_bytes >= own_bytes, "{seqno} counts fewer bytes than its keys need");
            assert_eq!(
                transaction.held_locks.len(),
                transaction.write_set.keys().len(),
                "{seqno} has one lock per key"
            );
            let waiting = transaction.stage == Stage::Waiting;
            assert_eq!(
                waiting,
                transaction.waits_for > 0,
                "{seqno} is in stage Waiting exactly while it waits for a group"
            );
            assert_eq!(
                transaction.payload.is_none(),
                transaction.stage == Stage::Taken,
                "{seqno} has a payload until it is taken"
            );
            keys.extend(transaction.write_set.keys().map(|(key, _)| key));
        }
        assert_eq!(count, self.in_flight.len(), "the order and the table held_lock the same transactions");
        assert_eq!(held_bytes, self.held_bytes, "held_bytes is the sum over the transactions in flight");
        assert_eq!(ready, self.ready.len(), "the ready queue holds all ready transactions");
        assert_eq!(
            keys.len(),
            self.lock_table.len(),
            "the lock table holds exactly the keys of transactions in flight"
        );
        assert!(held_bytes <= self.limit_bytes || count <= 1, "only a lone transaction may exceed the limit");
    }

    fn check_wait_groups(&self) {
        let mut members: HashMap<WaitGroupId, u32> = HashMap::new();
        for transaction in self.in_flight.in_order() {
            for held_lock in &transaction.held_locks {
                *members.entry(held_lock.wait_group).or_default() += 1;
            }
        }
        let mut waits = HashMap::new();
        for (&wait_group, &count) in &members {
            assert_eq!(self.wait_groups.members(wait_group), count, "{wait_group:?} counts its members");
            for id in self.wait_groups.waiters(wait_group) {
                *waits.entry(*id).or_insert(0) += 1;
            }
        }
        assert_eq!(members.len(), self.wait_groups.len(), "a wait group exists exactly while it has members");
        let waiting = self.in_flight.in_order().filter(|transaction| transaction.waits_for > 0);
        assert_eq!(waits.len(), waiting.count(), "exactly the waiting transactions wait for a group");
        for (id, count) in waits {
            assert_eq!(self.in_flight.get(id).waits_for, count, "{id:?} counts the groups that it waits for");
        }
    }
}
