//! The transactions in flight: found by seqno, iterated in order, kept in reusable slots.

use hashbrown::HashTable;

use super::lock_table::HeldLock;
use crate::{Seqno, WriteSet};

/// Identifies a transaction in flight. The scheduler reuses the id after the transaction has completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct TransactionId(u32);

/// The stage of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Waiting,
    Ready,
    Taken,
}

#[derive(Debug)]
pub(super) struct Transaction<T> {
    pub(super) seqno: Seqno,
    pub(super) stage: Stage,
    /// The number of wait groups that it waits for.
    pub(super) waits_for: u32,
    pub(super) write_set: WriteSet,
    /// The lock on each key of the write set, in the same order.
    pub(super) held_locks: Vec<HeldLock>,
    pub(super) held_bytes: usize,
    pub(super) payload: Option<T>,
    earlier: Option<TransactionId>,
    later: Option<TransactionId>,
}

#[derive(Debug)]
enum Slot<T> {
    Occupied(Transaction<T>),
    /// Keeps the empty list, so that the next transaction in this slot need not allocate one.
    Vacant(Vec<HeldLock>),
}

/// Every transaction in flight.
#[derive(Debug)]
pub(super) struct InFlight<T> {
    slots: Vec<Slot<T>>,
    vacant: Vec<TransactionId>,
    by_seqno: HashTable<(Seqno, TransactionId)>,
    first: Option<TransactionId>,
    last: Option<TransactionId>,
}

const OCCUPIED: &str = "an id is only used while its transaction is in flight";

impl<T> InFlight<T> {
    pub(super) fn new() -> Self {
        Self { slots: Vec::new(), vacant: Vec::new(), by_seqno: HashTable::new(), first: None, last: None }
    }

    /// Appends a transaction without locks to the order.
    pub(super) fn insert(&mut self, seqno: Seqno, payload: T, held_bytes: usize) -> TransactionId {
        let id = self.vacant.pop().unwrap_or_else(|| {
            let id = u32::try_from(self.slots.len()).expect("memory is full long before 2^32 transactions");
            self.slots.push(Slot::Vacant(Vec::new()));
            TransactionId(id)
        });
        let slot = &mut self.slots[id.0 as usize];
        let held_locks = match slot {
            Slot::Vacant(held_locks) => std::mem::take(held_locks),
            Slot::Occupied(_) => unreachable!("a slot on the list of vacant ones is vacant"),
        };
        *slot = Slot::Occupied(Transaction {
            seqno,
            stage: Stage::Waiting,
            waits_for: 0,
            write_set: WriteSet::new(),
            held_locks,
            held_bytes,
            payload: Some(payload),
            earlier: self.last,
            later: None,
        });
        match self.last {
            Some(last) => self.get_mut(last).later = Some(id),
            None => self.first = Some(id),
        }
        self.last = Some(id);
        self.by_seqno.insert_unique(bits(seqno), (seqno, id), |&(seqno, _)| bits(seqno));
        id
    }

    /// Removes a transaction. Its slot stays reserved until [`InFlight::recycle`].
    pub(super) fn remove(&mut self, id: TransactionId) -> Transaction<T> {
        let slot = std::mem::replace(&mut self.slots[id.0 as usize], Slot::Vacant(Vec::new()));
        let Slot::Occupied(transaction) = slot else { unreachable!("{OCCUPIED}") };
        match transaction.earlier {
            Some(earlier) => self.get_mut(earlier).later = transaction.later,
            None => self.first = transaction.later,
        }
        match transaction.later {
            Some(later) => self.get_mut(later).earlier = transaction.earlier,
            None => self.last = transaction.earlier,
        }
        let seqno = transaction.seqno;
        if let Ok(entry) = self.by_seqno.find_entry(bits(seqno), |&(other, _)| other == seqno) {
            entry.remove();
        }
        transaction
    }

    /// Frees a slot for the next transaction, with an emptied list that it can use.
    pub(super) fn recycle(&mut self, id: TransactionId, mut held_locks: Vec<HeldLock>) {
        held_locks.clear();
        self.slots[id.0 as usize] = Slot::Vacant(held_locks);
        self.vacant.push(id);
    }

    pub(super) fn find(&self, seqno: Seqno) -> Option<TransactionId> {
        self.by_seqno.find(bits(seqno), |&(other, _)| other == seqno).map(|&(_, id)| id)
    }

    pub(super) fn get(&self, id: TransactionId) -> &Transaction<T> {
        match &self.slots[id.0 as usize] {
            Slot::Occupied(transaction) => transaction,
            Slot::Vacant(_) => unreachable!("{OCCUPIED}"),
        }
    }

    pub(super) fn get_mut(&mut self, id: TransactionId) -> &mut Transaction<T> {
        match &mut self.slots[id.0 as usize] {
            Slot::Occupied(transaction) => transaction,
            Slot::Vacant(_) => unreachable!("{OCCUPIED}"),
        }
    }

    /// Every transaction in flight, the earliest first.
    pub(super) fn in_order(&self) -> impl Iterator<Item = &Transaction<T>> {
        let first = self.first.map(|id| self.get(id));
        std::iter::successors(first, |transaction| transaction.later.map(|id| self.get(id)))
    }

    pub(super) fn len(&self) -> usize {
        self.by_seqno.len()
    }
}

/// Spreads consecutive numbers over the table: the odd factor of Fibonacci hashing.
fn bits(seqno: Seqno) -> u64 {
    seqno.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
