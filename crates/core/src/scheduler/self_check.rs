//! What must hold between any two calls to the scheduler.

use hashbrown::{HashMap, HashSet};

use super::gates::GateId;
use super::in_flight::Stage;
use super::{KEY_BYTES, Scheduler, TRANSACTION_BYTES};
use crate::Key;

impl<T> Scheduler<T> {
    /// Checks every invariant, for tests and for hunting a fault. Looks at everything in flight.
    ///
    /// # Panics
    /// When an invariant does not hold.
    pub fn self_check(&self) {
        self.check_transactions();
        self.check_gates();
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
            assert!(transaction.held_bytes >= own_bytes, "{seqno} counts less than its own keys");
            assert_eq!(transaction.holds.len(), transaction.write_set.keys().len(), "{seqno} holds one gate a key");
            let waiting = transaction.stage == Stage::Waiting;
            assert_eq!(waiting, transaction.waits_for > 0, "{seqno} waits while there is something to wait for");
            assert_eq!(transaction.payload.is_none(), transaction.stage == Stage::Taken, "{seqno} has its payload");
            keys.extend(transaction.write_set.keys().map(|(key, _)| key));
        }
        assert_eq!(count, self.in_flight.len(), "the order and the table hold the same transactions");
        assert_eq!(held_bytes, self.held_bytes, "what is held is the sum of its parts");
        assert_eq!(ready, self.ready.len(), "all that are ready stand in line");
        assert_eq!(keys.len(), self.places.len(), "a key is known exactly as long as somebody in flight uses it");
        assert!(held_bytes <= self.limit_bytes || count <= 1, "the limit holds but for a lone transaction");
    }

    fn check_gates(&self) {
        let mut holders: HashMap<GateId, u32> = HashMap::new();
        for transaction in self.in_flight.in_order() {
            for hold in &transaction.holds {
                *holders.entry(hold.gate).or_default() += 1;
            }
        }
        let mut follows = HashMap::new();
        for (&gate, &count) in &holders {
            assert_eq!(self.gates.holders(gate), count, "{gate:?} counts its holders");
            for id in self.gates.followers(gate) {
                *follows.entry(*id).or_insert(0) += 1;
            }
        }
        assert_eq!(holders.len(), self.gates.len(), "a gate exists exactly as long as somebody holds it");
        let waiting = self.in_flight.in_order().filter(|transaction| transaction.waits_for > 0);
        assert_eq!(follows.len(), waiting.count(), "who follows a gate waits, and the reverse");
        for (id, count) in follows {
            assert_eq!(self.in_flight.get(id).waits_for, count, "{id:?} counts the gates that it follows");
        }
    }
}
