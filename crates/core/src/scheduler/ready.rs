//! The queue of ready transactions, the earliest first.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::in_flight::TransactionId;
use crate::Seqno;

/// Most transactions are ready when they are admitted, and so arrive in order: a plain queue holds them. Transactions
/// that had to wait arrive in any order: a heap holds them.
#[derive(Debug)]
pub(super) struct Ready {
    in_order: VecDeque<(Seqno, TransactionId)>,
    out_of_order: BinaryHeap<Reverse<(Seqno, TransactionId)>>,
}

impl Ready {
    pub(super) fn new() -> Self {
        Self { in_order: VecDeque::new(), out_of_order: BinaryHeap::new() }
    }

    pub(super) fn push(&mut self, seqno: Seqno, id: TransactionId) {
        if self.in_order.back().is_none_or(|&(last, _)| last < seqno) {
            self.in_order.push_back((seqno, id));
        } else {
            self.out_of_order.push(Reverse((seqno, id)));
        }
    }

    pub(super) fn pop(&mut self) -> Option<(Seqno, TransactionId)> {
        match (self.in_order.front(), self.out_of_order.peek()) {
            (Some(one), Some(Reverse(other))) if one < other => self.in_order.pop_front(),
            (_, Some(_)) => self.out_of_order.pop().map(|Reverse(earliest)| earliest),
            (_, None) => self.in_order.pop_front(),
        }
    }

    /// What [`Ready::pop`] would give.
    pub(super) fn first(&self) -> Option<Seqno> {
        let in_order = self.in_order.front().map(|&(seqno, _)| seqno);
        let out_of_order = self.out_of_order.peek().map(|&Reverse((seqno, _))| seqno);
        in_order.into_iter().chain(out_of_order).min()
    }

    pub(super) fn len(&self) -> usize {
        self.in_order.len() + self.out_of_order.len()
    }
}
