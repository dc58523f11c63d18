//! The scheduler's rule in its simplest form: compare all pairs at every step.

use crate::{Key, Mode, Seqno, WriteSet};

/// The transactions in flight, in order, with their keys.
#[derive(Default)]
pub(super) struct Oracle {
    transactions: Vec<(Seqno, Vec<(Key, Mode)>)>,
}

impl Oracle {
    pub(super) fn admit(&mut self, seqno: Seqno, write_set: &WriteSet) {
        self.transactions.push((seqno, write_set.keys().collect()));
    }

    pub(super) fn complete(&mut self, seqno: Seqno) {
        self.transactions.retain(|&(other, _)| other != seqno);
    }

    /// The earlier transactions in flight that this one conflicts with.
    pub(super) fn predecessors(&self, seqno: Seqno) -> Vec<Seqno> {
        let (_, keys) = self.transactions.iter().find(|&&(other, _)| other == seqno).expect("it is in flight");
        let earlier = self.transactions.iter().filter(|&&(other, _)| other < seqno);
        earlier.filter(|(_, held)| conflict(keys, held)).map(|&(other, _)| other).collect()
    }

    /// The transactions that wait for no other.
    pub(super) fn free(&self) -> Vec<Seqno> {
        let all = self.transactions.iter().map(|&(seqno, _)| seqno);
        all.filter(|&seqno| self.predecessors(seqno).is_empty()).collect()
    }

    pub(super) fn in_flight(&self) -> Vec<Seqno> {
        self.transactions.iter().map(|&(seqno, _)| seqno).collect()
    }
}

fn conflict(second: &[(Key, Mode)], first: &[(Key, Mode)]) -> bool {
    second.iter().any(|&(key, wanted)| first.iter().any(|&(other, held)| key == other && wanted.waits_for(held)))
}
