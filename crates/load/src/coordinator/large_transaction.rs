//! Transactions of the dump with more rows than a chunk, all of one table that this load has created and that was empty
//! before them: their rows are committed chunk by chunk, side by side, like rows outside of a transaction.
//!
//! ```text
//!   more is held than a chunk ──► chunks, as rows come ── COMMIT, or what is left out and commits ──► done
//!                                    │
//!                                    ├── any other statement ──► the main session, in a transaction that it begins
//!                                    │                              └── COMMIT ──► done;  ROLLBACK ──► taken back
//!                                    └── a failure, or the dump ends ──► taken back
//! ```
//!
//! Taken back means that all rows of the table are deleted, which were all of this transaction, with their checkpoints.
//!
//! The checkpoint of its first chunk says whether it is committed: it is marked as a part of a transaction
//! ([`RecoveryHint::PartOf`]), and the transaction that the main session begins takes the mark off, with its first
//! statement. So the mark goes when that transaction is committed, by whatever statement, and stays when it is rolled back.
//! A load that resumes goes on with what is marked. Without checkpoints, no transaction is large.

use hortator_core::Seqno;
use hortator_mysql::catalog::{TableKind, TableName};
use hortator_mysql::{Connection, Error, quote_identifier};

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use super::main_session::IN_TRANSACTION;
use super::row_effects::counters;
use crate::apply::{Atomicity, ROLLBACK, Stopped};
use crate::checkpoint::{Checkpoint, Checkpoints, LargeTransactionBegin, RecoveryHint, Span, State, TakenBack};
use crate::lexer::Location;
use crate::planner::{PlacedRows, Step};
use crate::report::Failure;

/// Transactions whose last chunks may still be under way.
const COMMITTED_LIMIT: usize = 1000;

/// A transaction whose rows are committed chunk by chunk.
#[derive(Clone, Debug)]
pub(super) struct LargeTransaction {
    table: TableName,
    /// Its first statement.
    first: Location,
    /// The table's next AUTO_INCREMENT value before it; 0 for none.
    next_id: u64,
}

impl LargeTransaction {
    fn begin(&self) -> LargeTransactionBegin {
        LargeTransactionBegin { first: self.first.ordinal, next_id: self.next_id }
    }

    /// Deletes its rows and their checkpoints; gives the number of rows.
    fn delete(
        &self,
        connection: &mut Connection,
        checkpoints: &Checkpoints,
        taken_back: TakenBack,
    ) -> Result<u64, Error> {
        let place = [quote_identifier(&self.table.schema), quote_identifier(&self.table.table)].join(&b'.');
        let rows = connection.execute(&[b"DELETE FROM ".as_slice(), &place].concat())?.affected_rows;
        checkpoints.take_back(connection, &self.table, self.first.ordinal, taken_back)?;
        if taken_back == TakenBack::Undone && self.next_id > 0 {
            checkpoints.write(connection, &self.to_run_again())?;
        }
        Ok(rows)
    }

    /// To be recorded when it is taken back: a load that resumes gives its rows the same numbers again.
    fn to_run_again(&self) -> Checkpoint {
        let Location { file, line, byte, ordinal } = &self.first;
        Checkpoint {
            span: Span {
                first: *ordinal,
                last: *ordinal,
                digest: 0,
                file: file.to_string(),
                line: *line,
                byte: *byte,
                end_byte: *byte,
            },
            state: State::Intent,
            table: self.table.to_string(),
            rows: 0,
            last_id: 0,
            recovery_hint: RecoveryHint::Counters(vec![(self.table.clone(), self.next_id)]),
        }
    }
}

/// The large transactions of a load that may have to be taken back.
#[derive(Debug, Default)]
pub(super) struct LargeTransactions {
    /// The one whose rows go to the workers now.
    open: Option<LargeTransaction>,
    /// The one that the main session goes on with.
    in_main: Option<LargeTransaction>,
    /// Those whose COMMIT has come, with the position behind their last chunks.
    committed: Vec<(LargeTransaction, Seqno)>,
}

impl LargeTransactions {
    /// Whether rows go to the workers as parts of a transaction.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Whether these rows are parts of it.
    pub(super) fn takes(&self, placed: &PlacedRows) -> bool {
        self.open.as_ref().is_some_and(|open| open.table == *placed.table())
    }

    /// What becomes of a chunk of rows when one of its statements fails.
    pub(super) fn atomicity(&self) -> Atomicity {
        self.open.as_ref().map_or(Atomicity::Statement, |open| Atomicity::PartOf(open.begin()))
    }
}

/// What has become of a transaction.
enum End {
    /// Nothing yet.
    None,
    Committed,
    RolledBack,
}

impl Coordinator<'_> {
    /// Whether rows of the transaction that is held can go as chunks, since they can be taken back.
    pub(super) fn can_be_large(&mut self, placed: &PlacedRows, first: &Location) -> Result<bool, Stopped> {
        let name = placed.table();
        // What the open chunk has of the table stands before it.
        self.flush()?;
        let may_delete = first.ordinal != 0
            && self.main.is_recorded()
            && !self.pool.is_forced()
            // A node takes no transaction as large as the one that would delete all.
            && !self.main.is_on_cluster()
            // The deletion is in the binary log, so the rows must be.
            && !self.main.state().has_changed("sql_log_bin")
            && self.catalog.new_tables.is_empty(name);
        if !may_delete {
            return Ok(false);
        }
        let table = self.table(&name.clone(), first)?;
        Ok(table.is_some_and(|table| {
            table.kind == TableKind::Base { transactional: true } && !table.versioned && !table.has_triggers
        }))
    }

    /// Gives the workers what is held of a transaction, and then its rows as they come.
    pub(super) fn begin_large(
        &mut self,
        table: TableName,
        first: Location,
        held: Vec<AnalyzedStatement>,
    ) -> Result<(), Stopped> {
        let next_id = self.next_id(&table, &first)?;
        self.large.open = Some(LargeTransaction { table, first, next_id });
        for mut statement in held {
            // The server has described the table by now.
            statement.info = self.analyze_anew(&statement.text);
            match self.next_step(&mut statement)? {
                Step::Rows(placed) if self.large.takes(&placed) => self.add_rows(statement, placed)?,
                _ => {
                    self.large_to_main()?;
                    self.run_in_main(statement, IN_TRANSACTION)?;
                }
            }
        }
        Ok(())
    }

    /// A table's next AUTO_INCREMENT value; 0 for none.
    fn next_id(&mut self, name: &TableName, location: &Location) -> Result<u64, Stopped> {
        if self.table(name, location)?.is_none_or(|table| table.auto_increment().is_none()) {
            return Ok(0);
        }
        let found = self.ask(location, |catalog| counters(&mut catalog.connection(), name, &[]))?;
        // MySQL tells none of a table that has not given a number yet.
        Ok(found.first().map_or(1, |(_, next_id)| *next_id))
    }

    /// Its COMMIT has come.
    pub(super) fn commit_large(&mut self) -> Result<(), Stopped> {
        self.flush()?;
        let Some(open) = self.large.open.take() else { return Ok(()) };
        if self.large.committed.len() >= COMMITTED_LIMIT {
            self.pool.drain(&mut || self.main.keep_alive())?;
            self.large.committed.clear();
        }
        self.large.committed.push((open, self.pool.position()));
        Ok(())
    }

    /// Has the main session go on with it, in a transaction.
    pub(super) fn large_to_main(&mut self) -> Result<(), Stopped> {
        let Some(open) = &self.large.open else { return Ok(()) };
        let location = open.first.clone();
        self.finish()?;
        self.main.run_command(b"START TRANSACTION", &location)?;
        if let Some(checkpoints) = self.main.checkpoints {
            self.main.run_command(&checkpoints.unmark_statement(location.ordinal), &location)?;
        }
        self.large.in_main = self.large.open.take();
        Ok(())
    }

    /// The main session has run a statement, which may have ended the transaction.
    pub(super) fn large_may_have_ended(&mut self, location: &Location) -> Result<(), Stopped> {
        let Some(large) = self.large.in_main.clone() else { return Ok(()) };
        let ended = self.end_of(&large).and_then(|end| match end {
            End::None => Ok(false),
            End::Committed => Ok(true),
            End::RolledBack => self.take_back(&large, TakenBack::ByDump).map(|()| true),
        });
        match ended {
            Ok(false) => Ok(()),
            Ok(true) => {
                self.large.in_main = None;
                Ok(())
            }
            Err(error) => {
                self.main.end_at(Failure::at(location, b"", &error), &error);
                Err(Stopped)
            }
        }
    }

    /// What has become of the transaction that the main session went on with.
    fn end_of(&self, large: &LargeTransaction) -> Result<End, Error> {
        let Some(checkpoints) = self.main.checkpoints else { return Ok(End::None) };
        let first = large.first.ordinal;
        checkpoints.on_internal_connection(|checkpoints, connection| {
            Ok(match checkpoints.is_marked(connection, first)? {
                false => End::Committed,
                // The session may have begun another by now; this one would still hold the checkpoint.
                true if self.main.status().in_transaction() && checkpoints.is_held(connection, first)? => End::None,
                true => End::RolledBack,
            })
        })
    }

    /// A statement is recorded as done: it may be the first of a large transaction.
    pub(super) fn resume_large(&mut self, checkpoint: &Checkpoint, statement: &AnalyzedStatement) {
        if let RecoveryHint::PartOf(LargeTransactionBegin { first, next_id }) = checkpoint.recovery_hint
            && statement.location.ordinal == first
        {
            let first = statement.location.clone();
            let table = self.written_table(&statement.info);
            self.large.open = table.map(|table| LargeTransaction { table, first, next_id });
        }
    }

    /// The load ends: what is not committed by the dump is taken back, where the load does not go on later.
    pub(super) fn take_back_large(&mut self) {
        let failed_at = self.pool.failed_at();
        if failed_at.is_none() && self.pool.is_ending() {
            return;
        }
        let position = failed_at.unwrap_or_else(|| self.pool.position());
        let LargeTransactions { open, in_main, committed } = std::mem::take(&mut self.large);
        let unfinished = committed.into_iter().filter(|(_, end)| *end > position).map(|(large, _)| large);
        for large in unfinished.chain(open) {
            let taken = self.take_back(&large, TakenBack::Undone);
            self.report_kept_rows(&large, taken, position);
        }
        if let Some(large) = in_main {
            let taken = self.main.roll_back().and_then(|()| match self.end_of(&large)? {
                End::Committed => Ok(()),
                End::None | End::RolledBack => self.take_back(&large, TakenBack::Undone),
            });
            self.report_kept_rows(&large, taken, position);
        }
    }

    fn report_kept_rows(&self, large: &LargeTransaction, taken: Result<(), Error>, position: Seqno) {
        if let Err(error) = taken {
            let message = format!(
                "the rows in {} of the transaction that begins here are not committed by the dump and could not be \
                 deleted: {error}",
                large.table,
            );
            self.pool.fail(position, Failure::finding(&large.first, b"", message), true);
        }
    }

    /// Deletes all rows of its table, with their checkpoints.
    fn take_back(&mut self, large: &LargeTransaction, taken_back: TakenBack) -> Result<(), Error> {
        let Some(checkpoints) = self.main.checkpoints else { return Ok(()) };
        let rows = checkpoints.on_internal_connection(|checkpoints, connection| {
            // No other table's rows count: those that refer to them would be left by a ROLLBACK, too.
            connection.execute(b"SET SESSION foreign_key_checks = 0")?;
            connection.execute(b"START TRANSACTION")?;
            let deleted = large.delete(connection, checkpoints, taken_back);
            let ended = connection.execute(if deleted.is_ok() { b"COMMIT".as_slice() } else { ROLLBACK });
            let _ = connection.execute(b"SET SESSION foreign_key_checks = DEFAULT");
            deleted.and_then(|rows| ended.map(|_| rows))
        })?;
        self.progress.taken_back(&large.table, rows);
        Ok(())
    }
}
