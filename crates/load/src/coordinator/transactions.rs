//! Transactions of the dump's own: what ends them, and when their rows count.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;

use hortator_mysql::catalog::TableName;

use super::Coordinator;
use crate::analysis::{DdlTarget, StatementInfo, StatementKind, Trait};
use crate::apply::Stopped;
use crate::lexer::Location;

/// The locks of a LOCK TABLES that was left out.
#[derive(Debug, Default)]
pub(super) struct LeftOutLocks {
    /// The tables that would be locked.
    tables: BTreeSet<TableName>,
    /// All of them are dropped, and UNLOCK TABLES would still commit: on MySQL, until a transaction begins or another
    /// definition commits (seen with 9.7).
    outlive_tables: bool,
}

impl LeftOutLocks {
    fn is_empty(&self) -> bool {
        self.tables.is_empty() && !self.outlive_tables
    }
}

impl Coordinator<'_> {
    /// Takes note of a statement that is not sent.
    pub(super) fn left_out(&mut self, info: &StatementInfo) {
        self.progress.skipped.fetch_add(1, Relaxed);
        if info.is(Trait::Unlocks) || info.is(Trait::Locks) {
            self.left_out_locks = LeftOutLocks::default();
        }
        if info.is(Trait::Locks) {
            let tables = self.names().resolve_all(&info.tables).unwrap_or_default();
            self.left_out_locks.tables = tables.into_iter().collect();
        }
    }

    /// A statement comes: a transaction that begins releases the locks, and dropping what is locked does.
    pub(super) fn release_left_out_locks(&mut self, info: &StatementInfo) {
        if info.is(Trait::BeginsTransaction) {
            self.left_out_locks = LeftOutLocks::default();
            return;
        }
        if matches!(info.kind, StatementKind::TableDdl | StatementKind::OtherDdl) {
            self.left_out_locks.outlive_tables = false;
        }
        if !self.left_out_locks.tables.is_empty() && info.ddl_target.as_ref().is_some_and(DdlTarget::drops) {
            for dropped in self.names().resolve_all(&info.tables).unwrap_or_default() {
                self.left_out_locks.tables.remove(&dropped);
            }
            self.left_out_locks.outlive_tables = self.left_out_locks.tables.is_empty() && !self.main.dialect().mariadb;
        }
    }

    /// Whether LOCK TABLES, had it been sent, would be in force. A transaction that is open while every statement commits
    /// by itself was begun after it, and has released the locks.
    pub(super) fn has_left_out_locks(&self) -> bool {
        let status = self.main.status();
        let are_released = status.autocommit() && status.in_transaction();
        !self.left_out_locks.is_empty() && !are_released
    }

    /// A statement comes that locks or unlocks and is sent: had LOCK TABLES been sent before, it would end the transaction.
    pub(super) fn end_left_out_locks(&mut self, info: &StatementInfo, location: &Location) -> Result<(), Stopped> {
        if !info.is(Trait::Locks) && !info.is(Trait::Unlocks) {
            return Ok(());
        }
        if self.has_left_out_locks() {
            self.commit_instead(location)?;
        }
        self.left_out_locks = LeftOutLocks::default();
        Ok(())
    }

    /// Ends the dump's transaction, as a statement that is left out would have done.
    pub(super) fn commit_instead(&mut self, location: &Location) -> Result<(), Stopped> {
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
