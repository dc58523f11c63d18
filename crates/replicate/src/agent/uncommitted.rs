//! Transactions that the applier has taken and not committed: what the status says of them once they are.

use std::collections::VecDeque;

use crate::binlog::Event;
use crate::transaction::{Part, Transaction};

/// What is known of them, in their order.
#[derive(Debug, Default)]
pub(super) struct Uncommitted {
    transactions: VecDeque<Taken>,
    /// Of the parts that have come of a large transaction.
    parts_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Taken {
    bytes: u64,
    timestamp_s: u32,
}

/// Transactions that are committed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Committed {
    pub(super) transactions: u64,
    /// Of their events.
    pub(super) bytes: u64,
    /// When the last one began on the source, in seconds since 1970.
    pub(super) timestamp_s: Option<u64>,
}

impl Uncommitted {
    /// Some events of the transaction that comes next.
    pub(super) fn take_part(&mut self, part: &Part) {
        self.parts_bytes += bytes(&part.events);
    }

    pub(super) fn take(&mut self, transaction: &Transaction) {
        let bytes = bytes(&transaction.events) + std::mem::take(&mut self.parts_bytes);
        self.transactions.push_back(Taken { bytes, timestamp_s: transaction.timestamp_s });
    }

    /// The first so many are committed; all of them if nothing is left.
    pub(super) fn commit(&mut self, transactions: u64, is_all: bool) -> Committed {
        let known = self.transactions.len();
        let count = if is_all { known } else { usize::try_from(transactions).unwrap_or(known).min(known) };
        let mut committed = Committed { transactions, ..Committed::default() };
        for taken in self.transactions.drain(..count) {
            committed.bytes += taken.bytes;
            committed.timestamp_s = Some(u64::from(taken.timestamp_s));
        }
        committed
    }
}

fn bytes(events: &[Event]) -> u64 {
    events.iter().map(|event| event.bytes.len() as u64).sum()
}
