//! The transactions in flight: found by seqno, walked in order, kept in slots that are used again.

use hashbrown::HashTable;

use super::places::Hold;
use crate::{Seqno, WriteSet};

/// Names a transaction among those in flight; reused when it is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct TransactionId(u32);

/// How far a transaction is.
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
    /// How many gates it follows that are still held.
    pub(super) waits_for: u32,
    pub(super) write_set: WriteSet,
    /// What it holds at each key of the write set, in the same order.
    pub(super) holds: Vec<Hold>,
    pub(super) held_bytes: usize,
    pub(super) payload: Option<T>,
    earlier: Option<TransactionId>,
    later: Option<TransactionId>,
}

#[derive(Debug)]
enum Slot<T> {
    Occupied(Transaction<T>),
    /// Keeps the empty list, so that the next transaction here need not allocate one.
    Vacant(Vec<Hold>),
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

    /// Puts a transaction that uses nothing yet at the end of the order.
    pub(super) fn insert(&mut self, seqno: Seqno, payload: T, held_bytes: usize) -> TransactionId {
        let id = self.vacant.pop().unwrap_or_else(|| {
            let id = u32::try_from(self.slots.len()).expect("memory is full long before 2^32 transactions");
            self.slots.push(Slot::Vacant(Vec::new()));
            TransactionId(id)
        });
        let slot = &mut self.slots[id.0 as usize];
        let holds = match slot {
            Slot::Vacant(holds) => std::mem::take(holds),
            Slot::Occupied(_) => unreachable!("a slot on the list of vacant ones is vacant"),
        };
        *slot = Slot::Occupied(Transaction {
            seqno,
            stage: Stage::Waiting,
            waits_for: 0,
            write_set: WriteSet::new(),
            holds,
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

    /// Takes a transaction out. Its slot stays reserved until [`InFlight::recycle`].
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

    /// Gives a slot free for the next transaction, with an emptied list that it can use.
    pub(super) fn recycle(&mut self, id: TransactionId, mut holds: Vec<Hold>) {
        holds.clear();
        self.slots[id.0 as usize] = Slot::Vacant(holds);
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

/// Neighbouring numbers spread over the table: the odd factor of Fibonacci hashing.
fn bits(seqno: Seqno) -> u64 {
    seqno.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
