//! Transactions of the dump's own: what ends them, and when their rows count.

use std::sync::atomic::Ordering::Relaxed;

use hortator_mysql::catalog::TableName;

use super::Coordinator;
use crate::apply::Stopped;
use crate::lexer::{Location, Token, tokens};
use crate::statement_kind::NamedTable;

impl Coordinator<'_> {
    /// Whether a statement that is left out elsewhere (locks, keys switched off and on) stands within the dump's transaction,
    /// where it is only one more way to end it.
    pub(super) fn ends_transaction_only(
        &mut self,
        tables: &[NamedTable],
        location: &Location,
    ) -> Result<bool, Stopped> {
        let status = self.main.status();
        let is_outside = status.autocommit() && !status.in_transaction();
        if is_outside || self.main.is_closed_to_others() {
            return Ok(false);
        }
        for named in tables {
            let is_there = match self.resolve(named) {
                Some(name) => self.table(&name, location)?.is_some(),
                None => false,
            };
            if !is_there {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Leaves such a statement out and ends the dump's transaction, as it would have done.
    pub(super) fn commit_instead(&mut self, location: &Location) -> Result<(), Stopped> {
        self.progress.skipped.fetch_add(1, Relaxed);
        if self.main.status().in_transaction() { self.main.commit(location) } else { Ok(()) }
    }

    /// ChunkContent note of rows that are there once the transaction is committed.
    pub(super) fn affected(&mut self, name: &TableName, rows: u64) {
        *self.uncommitted.entry(name.clone()).or_default() += rows;
    }

    /// A statement has run: what it rolled back is not counted.
    pub(super) fn forget_rolled_back(&mut self, text: &[u8]) {
        let words: Vec<Token<'_>> = tokens(text, &self.main.dialect()).take(4).collect();
        let is = |word: &[u8]| words.iter().any(|token| token.is_word(word));
        if words.first().is_some_and(|first| first.is_word(b"ROLLBACK")) && !is(b"TO") {
            self.uncommitted.clear();
        }
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
