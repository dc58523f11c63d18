//! The row count and checksums of a range.

use std::ops::ControlFlow;

use hortator_mysql::{Column, RowSink};

use crate::row_source::hash;

/// The number of buckets: rows are assigned by their hash. Of a very large range only one bucket is read again.
pub(super) const BUCKETS: usize = 256;

/// The rows of one range at one endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Checksums {
    pub(super) rows: u64,
    /// The wrapping sum of the hashes of each bucket's rows: independent of their order, and changed by an additional
    /// row.
    checksums: Vec<u128>,
}

impl Checksums {
    pub(super) fn new() -> Self {
        Self { rows: 0, checksums: vec![0; BUCKETS] }
    }

    /// The first bucket that differs.
    pub(super) fn first_difference(&self, other: &Self) -> Option<usize> {
        (0..BUCKETS).find(|bucket| self.checksums[*bucket] != other.checksums[*bucket])
    }
}

/// The bucket of a row.
pub(super) fn bucket(hash: u128) -> usize {
    (hash >> 120) as usize % BUCKETS
}

impl RowSink for Checksums {
    fn columns(&mut self, _: &[Column]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        let hash = hash(values);
        let sum = &mut self.checksums[bucket(hash)];
        *sum = sum.wrapping_add(hash);
        self.rows += 1;
        ControlFlow::Continue(())
    }
}
