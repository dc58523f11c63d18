//! How far a comparison is, to be read from another thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Counters of a comparison.
#[derive(Debug, Default)]
pub struct Progress {
    /// Rows of the first side that are to be read, as its server estimates them.
    expected_rows: AtomicU64,
    rows: AtomicU64,
    table: Mutex<String>,
}

impl Progress {
    /// Rows of the first side read so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// Rows of the first side that are to be read, as its server estimates them; 0 while that is not known.
    #[must_use]
    pub fn expected_rows(&self) -> u64 {
        self.expected_rows.load(Ordering::Relaxed)
    }

    /// The table that was begun last.
    #[must_use]
    pub fn table(&self) -> String {
        self.table.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn expect(&self, rows: u64) {
        self.expected_rows.store(rows, Ordering::Relaxed);
    }

    pub(super) fn read(&self, rows: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
    }

    pub(super) fn begin(&self, table: String) {
        *self.table.lock().unwrap_or_else(PoisonError::into_inner) = table;
    }
}
