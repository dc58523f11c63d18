//! The journal: the checkpoints of the statements that the main session runs.
//!
//! - Changes of rows run in an internal transaction together with their checkpoint. It stays open until the next
//!   statement, so that a diagnostics query still finds warnings and counts (`internal_transaction`).
//! - Within a transaction of the dump, the journal writes the checkpoint before any statement that may end it (`pending`).
//! - A statement that commits implicitly has an intent before it, marked as applied after it (`intent`).
//! - While tables are locked or an XA transaction is open, nothing else can be written: one intent covers this serial
//!   section.
//! - A statement that only changes the session has no checkpoint: a resumed load runs it again (`journal_mode`).

mod intent;
mod internal_transaction;
mod journal_mode;
mod pending;

use hortator_mysql::Error;
use hortator_mysql::catalog::TableName;

use super::main_session::MainSession;
use crate::apply::Stopped;
use crate::checkpoint::{Checkpoint, Digest, RecoveryHint, Span, State};
use crate::lexer::Location;
use crate::report::Failure;
use crate::statement_kind::StatementKind;

use internal_transaction::Open;
use journal_mode::assigns_autocommit;
pub(super) use journal_mode::{JournalMode, diagnostics_query, journal_mode};
use pending::Pending;

/// The open part of the journal.
#[derive(Debug, Default)]
pub(super) struct Journal {
    /// A transaction of ours, not yet committed.
    open: Option<Open>,
    /// Statements of the dump's transaction that are not recorded yet.
    pending: Pending,
    /// A serial section: one intent for several statements.
    serial_section: Option<Run>,
}

/// A run of statements that grows.
#[derive(Debug)]
struct Run {
    span: Span,
    digest: Digest,
    state: State,
    table: String,
    rows: u64,
    /// Statements that failed in a forced load.
    failed: u64,
    /// It is recorded as begun, and to be closed.
    has_intent: bool,
}

/// What a statement of the main session is known to do with rows.
#[derive(Clone, Debug, Default)]
pub(super) struct RowEffects {
    /// The table that they go to, as `schema.table`; empty where it is not one, or none.
    pub(super) table: String,
    /// Its engine cannot roll back, or is not known.
    pub(super) is_non_transactional: bool,
    /// Next AUTO_INCREMENT values of the tables that it may put rows into: these do not roll back.
    pub(super) counters: Vec<(TableName, u64)>,
}

impl Run {
    fn new(text: &[u8], location: &Location, table: &str) -> Self {
        let mut digest = Digest::default();
        digest.add(text);
        let span = span_of(text, location);
        Self { span, digest, state: State::Applied, table: table.to_owned(), rows: 0, failed: 0, has_intent: false }
    }

    fn add(&mut self, text: &[u8], location: &Location) {
        self.digest.add(text);
        self.span.last = location.ordinal;
        self.span.end_byte = location.byte + text.len() as u64;
    }

    fn checkpoint(&self) -> Checkpoint {
        let span = Span { digest: self.digest.value(), ..self.span.clone() };
        let recovery_hint = if self.failed > 0 { RecoveryHint::Failed(self.failed) } else { RecoveryHint::None };
        Checkpoint { span, state: self.state, table: self.table.clone(), rows: self.rows, last_id: 0, recovery_hint }
    }
}

/// The record of one statement.
fn checkpoint_of(
    text: &[u8],
    location: &Location,
    state: State,
    table: &str,
    recovery_hint: RecoveryHint,
) -> Checkpoint {
    Checkpoint { span: span_of(text, location), state, table: table.to_owned(), rows: 0, last_id: 0, recovery_hint }
}

fn span_of(text: &[u8], location: &Location) -> Span {
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
    /// Runs a statement and records it; gives the number of rows affected.
    pub(super) fn run_recorded(
        &mut self,
        text: &[u8],
        location: &Location,
        kind: &StatementKind,
        effects: &RowEffects,
    ) -> Result<u64, Stopped> {
        if self.checkpoints.is_none() || location.ordinal == 0 {
            return self.run(text, location);
        }
        if let Some(query) = diagnostics_query(text, self) {
            return self.run_diagnostics_query(text, location, query, effects);
        }
        let (mode, is_session_bound) = journal_mode(text, kind, self);
        if mode == JournalMode::Session {
            if self.status().in_transaction() && assigns_autocommit(text, self) {
                self.write_pending(location)?;
            }
            let rows = self.run(text, location)?;
            return self.end_serial_section(location).map(|()| rows);
        }
        self.commit_pending()?;
        if let Some(serial_section) = &mut self.journal.serial_section {
            if mode != JournalMode::Control {
                serial_section.add(text, location);
            }
            let rows = self.run(text, location)?;
            return self.end_serial_section(location).map(|()| rows);
        }
        if mode == JournalMode::Control {
            return self.run_control(text, location);
        }
        if self.is_in_dumps_transaction() {
            if mode == JournalMode::Rows {
                return self.run_within(text, location, is_session_bound, effects);
            }
            self.write_pending(location)?;
        }
        // What acts on the next statement only must not be taken by one of ours.
        if mode == JournalMode::Rows && !effects.is_non_transactional && !self.has_one_shot_variable() {
            self.run_in_internal_transaction(text, location, is_session_bound, effects)
        } else {
            self.run_with_intent(text, location, is_session_bound, effects, mode == JournalMode::Rows)
        }
    }

    /// Whether what runs now is committed by a later statement of the dump.
    fn is_in_dumps_transaction(&self) -> bool {
        self.journal.open.is_none() && (self.status().in_transaction() || !self.status().autocommit())
    }

    /// A record could not be written: that ends the load, forced or not.
    fn checkpoint_failed(&mut self, location: &Location, text: &[u8], error: &Error) -> Result<(), Stopped> {
        let message = format!("cannot write the checkpoint: {error}");
        self.end_at(Failure::of_checkpoint(location, text, message), error);
        Err(Stopped)
    }

    /// Writes with the records' own connection.
    fn on_internal_connection(
        &mut self,
        location: &Location,
        text: &[u8],
        work: impl FnOnce(
            &crate::checkpoint::Checkpoints,
            &mut hortator_mysql::Connection,
        ) -> Result<hortator_mysql::Done, Error>,
    ) -> Result<(), Stopped> {
        let Some(checkpoints) = self.checkpoints else { return Ok(()) };
        match checkpoints.on_internal_connection(work) {
            Ok(_) => Ok(()),
            Err(error) => self.checkpoint_failed(location, text, &error),
        }
    }

    /// LAST_INSERT_ID() of this session.
    fn last_id(&mut self) -> Result<u64, Error> {
        let rows = self.connection.fetch(b"SELECT LAST_INSERT_ID()")?;
        let value = rows.first().and_then(|row| row.first()?.as_deref());
        Ok(value.and_then(|value| std::str::from_utf8(value).ok()?.parse().ok()).unwrap_or(0))
    }
}
