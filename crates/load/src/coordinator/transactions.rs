//! Transactions of the dump's own: what ends them, and when their rows count.

use std::sync::atomic::Ordering::Relaxed;

use hortator_mysql::catalog::TableName;

use super::Coordinator;
use crate::apply::Stopped;
use crate::lexer::Location;

impl Coordinator<'_> {
    /// Leaves such a statement out and ends the dump's transaction, as it would have done.
    pub(super) fn commit_instead(&mut self, location: &Location) -> Result<(), Stopped> {
        self.progress.skipped.fetch_add(1, Relaxed);
        if self.main.status().in_transaction() { self.main.commit(location) } else { Ok(()) }
    }

    /// Takes note of rows that are there once the transaction is committed.
    pub(super) fn affected(&mut self, name: &TableName, rows: u64) {
        *self.uncommitted.entry(name.clone()).or_default() += rows;
    }

    /// Counts what is committed by now.
    pub(super) fn count_committed(&mut self) {
        if !self.main.status().in_transaction() {
            for (name, rows) in std::mem::take(&mut self.uncommitted) {
                self.progress.loaded(&name, rows);
            }
        }
    }
}
