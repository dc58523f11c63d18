//! A count and sums of hashes: what is left of the rows of a range.

use std::ops::ControlFlow;

use hortator_mysql::{Column, Rows};

use crate::row_source::hash;

/// Rows are dealt to so many buckets by their hash: of a range that is too large to look at, one of them is.
pub(super) const BUCKETS: usize = 256;

/// The rows of one range on one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) rows: u64,
    /// The wrapping sum of the hashes of each bucket's rows: whatever their order, and changed by a row more.
    sums: Vec<u128>,
}

impl Sums {
    pub(super) fn new() -> Self {
        Self { rows: 0, sums: vec![0; BUCKETS] }
    }

    /// The first bucket that is not the same.
    pub(super) fn first_difference(&self, other: &Self) -> Option<usize> {
        (0..BUCKETS).find(|bucket| self.sums[*bucket] != other.sums[*bucket])
    }
}

/// The bucket of a row.
pub(super) fn bucket(hash: u128) -> usize {
    (hash >> 120) as usize % BUCKETS
}

impl Rows for Sums {
    fn columns(&mut self, _: &[Column]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        let hash = hash(values);
        let sum = &mut self.sums[bucket(hash)];
        *sum = sum.wrapping_add(hash);
        self.rows += 1;
        ControlFlow::Continue(())
    }
}
