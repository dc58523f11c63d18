//! What is recorded of the statements that the main session runs: each with what it changes, where that can be.
//!
//! ```text
//!            write of rows                      next statement
//!   Idle ───────────────────► Internal ───────────────────────────► Idle      a transaction of ours, its record in it
//!    │    several together: a batch, and Idle again                           (internal_transaction, joined, batch)
//!    │
//!    ├── write within the dump's transaction ──► Dump ── COMMIT ──► Idle      recorded right before what may end it
//!    │                                                                        (dump_transaction)
//!    ├── what commits by itself: an intent before it, closed behind it        (intent)
//!    │
//!    └── LOCK TABLES, XA ──► Section ── UNLOCK TABLES, XA COMMIT ──► Idle     nothing else can be written: one intent
//!                                                                             around all of it
//! ```
//!
//! What only concerns the session is not recorded: a load that resumes runs it again. Nor are definitions that can be
//! repeated (idempotent), or compared with what is there (compared).

mod batch;
mod compared;
mod dump_transaction;
mod idempotent;
mod intent;
mod internal_transaction;
mod joined;

use hortator_mysql::catalog::TableName;
use hortator_mysql::error::LOCK_WAIT_TIMEOUT;
use hortator_mysql::{Connection, Error, ExecResult};

use super::analyzed_statement::AnalyzedStatement;
use super::existence::Existence;
use super::main_session::MainSession;
use crate::analysis::{JournalMode, StatementKind};
use crate::apply::Stopped;
use crate::checkpoint::{Checkpoint, Checkpoints, Digest, RecoveryHint, Span, State};
use crate::lexer::Location;
use crate::report::Failure;

pub(super) use batch::{BatchResult, BatchStatement};
pub(super) use compared::{is_compared, is_defined};
use dump_transaction::DumpTransaction;
pub(super) use idempotent::{Unrecorded, is_passed_in_order};
use internal_transaction::InternalTransaction;

/// What of the journal is open.
#[derive(Debug, Default)]
pub(super) enum Journal {
    /// Nothing.
    #[default]
    Idle,
    /// A transaction of ours, not yet committed.
    Internal(Box<InternalTransaction>),
    /// Statements of the dump's transaction that are not recorded yet.
    Dump(DumpTransaction),
    /// An intent around more than one statement.
    Section(Box<Run>),
}

/// Whether the next statement asks what this one did, so that nothing of ours may run in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// It asks nothing.
    No,
    /// By a query of the diagnostics, which also answers while a transaction of ours is open.
    ByQuery,
    /// By what may notice a transaction of ours: a routine, a block, a query of the server's counters.
    ByProgram,
}

impl Journal {
    /// A section behind a statement at which every load that resumes stops: nothing of it is recorded.
    pub(super) fn unrecorded_section(location: &Location) -> Self {
        Self::Section(Box::new(Run::at(location, b"", "")))
    }

    /// The dump's transaction, begun with its first statement. Only where nothing else is open.
    fn dump_transaction(&mut self) -> &mut DumpTransaction {
        if !matches!(self, Self::Dump(_)) {
            debug_assert!(matches!(self, Self::Idle), "one thing is open at a time");
            *self = Self::Dump(DumpTransaction::default());
        }
        let Self::Dump(transaction) = self else { unreachable!("set just above") };
        transaction
    }
}

/// A run of statements that grows.
#[derive(Debug)]
pub(super) struct Run {
    span: Span,
    digest: Digest,
    state: State,
    table: String,
    rows: u64,
    /// Statements that failed in a forced load.
    failed: u64,
    /// It is recorded as begun, and to be closed.
    is_begun: bool,
}

/// What a statement of the main session is known to do with rows.
#[derive(Clone, Debug, Default)]
pub(super) struct RowEffects {
    /// The table that they go to, as `schema.table`; empty where it is not one, or none.
    pub(super) table: String,
    /// Its engine cannot roll back, or is not known.
    pub(super) is_non_transactional: bool,
    /// The statement names tables that no transaction protects, or may do so.
    pub(super) names_other_engines: bool,
    /// Next AUTO_INCREMENT values of the tables that it may put rows into: these do not roll back.
    pub(super) counters: Vec<(TableName, u64)>,
    /// The table is a base table on which nothing fires, and no default of it draws from a sequence; or the statement copies
    /// the definition of a base table.
    pub(super) is_plain_table: bool,
    /// It must run by itself, in no transaction of ours with others.
    pub(super) must_stand_alone: bool,
    /// What fires on its table may change the session: its variables, its temporary tables.
    pub(super) may_change_session: bool,
    /// What fires on its table may fill user variables.
    pub(super) is_session_bound: bool,
    /// What it does may be something else when it is rolled back and done again: it reads what a rollback does not restore,
    /// or nothing is known of what fires on its tables.
    pub(super) is_unrepeatable: bool,
}

impl Run {
    fn new(statement: &AnalyzedStatement, table: &str) -> Self {
        Self::at(&statement.location, &statement.text, table)
    }

    fn at(location: &Location, text: &[u8], table: &str) -> Self {
        let mut digest = Digest::default();
        digest.add(text);
        let span = span_at(location, text);
        Self { span, digest, state: State::Applied, table: table.to_owned(), rows: 0, failed: 0, is_begun: false }
    }

    fn add(&mut self, statement: &AnalyzedStatement) {
        self.digest.add(&statement.text);
        self.span.last = statement.location.ordinal;
        self.span.end_byte = statement.location.byte + statement.text.len() as u64;
    }

    fn checkpoint(&self) -> Checkpoint {
        let span = Span { digest: self.digest.value(), ..self.span.clone() };
        let recovery_hint = if self.failed > 0 { RecoveryHint::Failed(self.failed) } else { RecoveryHint::None };
        Checkpoint { span, state: self.state, table: self.table.clone(), rows: self.rows, last_id: 0, recovery_hint }
    }
}

/// The record of one statement.
fn checkpoint_of(statement: &AnalyzedStatement, state: State, table: &str, recovery_hint: RecoveryHint) -> Checkpoint {
    Checkpoint { span: span_of(statement), state, table: table.to_owned(), rows: 0, last_id: 0, recovery_hint }
}

fn span_of(statement: &AnalyzedStatement) -> Span {
    span_at(&statement.location, &statement.text)
}

fn span_at(location: &Location, text: &[u8]) -> Span {
    Span {
        first: location.ordinal,
        last: location.ordinal,
        digest: crate::checkpoint::digest([text]),
        file: location.file.to_string(),
        line: location.line,
        byte: location.byte,
        end_byte: location.byte + text.len() as u64,
    }
}

fn applied_or_bound(is_session_bound: bool) -> State {
    if is_session_bound { State::SessionBound } else { State::Applied }
}

impl MainSession<'_> {
    /// Runs a statement and records it; gives the number of rows affected. `existence`: of what it defines.
    pub(super) fn run_recorded(
        &mut self,
        statement: &AnalyzedStatement,
        effects: &RowEffects,
        existence: Existence,
        asked: Asked,
    ) -> Result<u64, Stopped> {
        if self.checkpoints.is_none() || statement.location.ordinal == 0 {
            return self.run(statement);
        }
        let info = &statement.info;
        if info.diagnostics.is_some() || matches!(info.journal, JournalMode::Rows | JournalMode::Control) {
            self.register(statement)?;
        }
        if let Some(query) = info.diagnostics {
            return self.run_diagnostics_query(statement, query, effects);
        }
        if info.journal == JournalMode::Session {
            // A SET may end the transaction; or a program behind the statement asks what it did, and then nothing can be written
            // any more.
            let is_of_variables = matches!(info.kind, StatementKind::Set) && info.assignments.is_of_user_variables();
            if !is_of_variables && self.is_in_dumps_transaction() {
                self.write_pending(&statement.location)?;
            }
            let rows = self.run(statement)?;
            return self.end_section(&statement.location).map(|()| rows);
        }
        if self.joins_open(statement, effects, asked) {
            return self.run_joined(statement, effects);
        }
        self.commit_pending()?;
        if let Journal::Section(section) = &mut self.journal {
            if info.journal != JournalMode::Control {
                section.add(statement);
            }
            let rows = self.run(statement)?;
            return self.end_section(&statement.location).map(|()| rows);
        }
        if info.journal == JournalMode::Control {
            return self.run_control(statement);
        }
        let mut results = Vec::new();
        if self.is_in_dumps_transaction() {
            self.unrecorded.forget_dropped();
            if info.journal == JournalMode::Rows {
                return self.run_within(statement, effects, asked);
            }
            results = self.write_pending_before(statement)?;
        }
        if self.is_idempotent(statement) {
            return self.run_idempotent(&[], statement);
        }
        self.unrecorded.forget_dropped();
        // What acts on the next statement only must not be taken by one of ours.
        let is_rows = info.journal == JournalMode::Rows;
        let is_unseen = match asked {
            Asked::No => true,
            // A node of a cluster keeps what it rolls back in a transaction's write set: that transaction must not be kept.
            Asked::ByQuery => !self.is_on_cluster(),
            Asked::ByProgram => false,
        };
        let may_begin = is_unseen && !effects.must_stand_alone && !self.has_one_shot_variable();
        let rows = if is_rows && !effects.is_non_transactional && may_begin {
            self.run_in_internal_transaction(statement, effects)
        } else {
            // What is asked about must not be looked at first either.
            self.run_with_intent(statement, effects, existence, is_rows || asked != Asked::No)
        }?;
        self.record_results(results, &statement.location).map(|()| rows)
    }

    /// Puts the load on record on the server, if it is not: before a transaction that its records are to be in.
    pub(in crate::coordinator) fn register(&mut self, statement: &AnalyzedStatement) -> Result<(), Stopped> {
        self.apart(&statement.location, &statement.text, Checkpoints::register)
    }

    /// The local record of the load names a table that the statement creates.
    pub(in crate::coordinator) fn record_created(
        &mut self,
        table: &TableName,
        statement: &AnalyzedStatement,
    ) -> Result<(), Stopped> {
        self.apart(&statement.location, &statement.text, |checkpoints| checkpoints.create_table(table))
    }

    /// Whether what runs now is committed by a later statement of the dump.
    pub(super) fn is_in_dumps_transaction(&self) -> bool {
        !matches!(self.journal, Journal::Internal(_)) && (self.status().in_transaction() || !self.status().autocommit())
    }

    /// Whether what ran last has left something in this session that no other has.
    fn has_bound_session(&self, statement: &AnalyzedStatement, effects: &RowEffects) -> bool {
        // What a SET assigns runs again when the load resumes.
        let is_set = matches!(statement.info.kind, StatementKind::Set | StatementKind::Use(_));
        statement.info.is_session_bound() || effects.is_session_bound || (!is_set && self.left_behind().is_changed)
    }

    /// A record could not be written: that ends the load, forced or not.
    fn record_failed(&mut self, location: &Location, text: &[u8], error: &Error) -> Result<(), Stopped> {
        if self.is_interrupted() {
            // The end of the load has cancelled it.
            return Err(Stopped);
        }
        let message = match error.code() == Some(LOCK_WAIT_TIMEOUT) && self.is_locking_records() {
            true => "its checkpoint could not be written: the dump's session holds a lock (FLUSH TABLES WITH READ LOCK, LOCK \
                     TABLES or BACKUP STAGE, run by a text from a variable or by a routine) that keeps the load's own records \
                     from being written; load with --no-checkpoint"
                .to_owned(),
            false => format!("its checkpoint could not be written: {error}"),
        };
        self.end_at(Failure::finding(location, text, message), error);
        Err(Stopped)
    }

    /// Records a run with the records' own connection.
    fn record_apart(&mut self, run: &Run, location: &Location, text: &[u8]) -> Result<(), Stopped> {
        let checkpoint = run.checkpoint();
        match run.is_begun {
            true => self.apart(location, text, |checkpoints| checkpoints.close_apart(&checkpoint, None, false)),
            false => self.on_internal_connection(location, text, |checkpoints, internal| {
                checkpoints.write(internal, &checkpoint)
            }),
        }
    }

    /// Records outside of any transaction: in the local journal where there is one.
    fn apart(
        &mut self,
        location: &Location,
        text: &[u8],
        work: impl FnOnce(&Checkpoints) -> Result<(), Error>,
    ) -> Result<(), Stopped> {
        let Some(checkpoints) = self.checkpoints else { return Ok(()) };
        work(checkpoints).or_else(|error| self.record_failed(location, text, &error))
    }

    /// Writes with the records' own connection.
    fn on_internal_connection(
        &mut self,
        location: &Location,
        text: &[u8],
        work: impl FnOnce(&Checkpoints, &mut Connection) -> Result<ExecResult, Error>,
    ) -> Result<(), Stopped> {
        let Some(checkpoints) = self.checkpoints else { return Ok(()) };
        match checkpoints.on_internal_connection(work) {
            Ok(_) => Ok(()),
            Err(error) => self.record_failed(location, text, &error),
        }
    }
}
