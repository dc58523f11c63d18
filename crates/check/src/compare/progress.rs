//! The progress of a comparison, readable from another thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The counters of a comparison.
#[derive(Debug, Default)]
pub struct Progress {
    /// The server's estimate of the rows at the first endpoint.
    expected_rows: AtomicU64,
    rows: AtomicU64,
    table: Mutex<String>,
}

impl Progress {
    /// Rows read from the first endpoint so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// The server's estimate of the rows at the first endpoint; 0 while unknown.
    #[must_use]
    pub fn expected_rows(&self) -> u64 {
        self.expected_rows.load(Ordering::Relaxed)
    }

    /// The table that was started last.
    #[must_use]
    pub fn table(&self) -> String {
        self.table.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn expect(&self, rows: u64) {
        self.expected_rows.store(rows, Ordering::Relaxed);
    }

    pub(super) fn expect_more(&self, rows: u64) {
        self.expected_rows.fetch_add(rows, Ordering::Relaxed);
    }

    pub(super) fn read(&self, rows: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
    }

    pub(super) fn begin(&self, table: String) {
        *self.table.lock().unwrap_or_else(PoisonError::into_inner) = table;
    }
}
