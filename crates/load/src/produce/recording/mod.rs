//! What is recorded of the statements that the main session runs: each with what it changes, where that can be.
//!
//! - Changes of rows run in a transaction of ours, with their record in it. It is left open until the next statement, so
//!   that one which asks for warnings or counts still finds them (`own`).
//! - Within a transaction of the dump's own the record is written right before whatever may end it (`pending`).
//! - What commits by itself is bracketed: a record that it has begun, and how things stood; closed behind it (`bracket`).
//! - While tables are locked or an XA transaction is under way nothing else can be written: one record brackets it all.
//! - What only concerns the session has none: a load that goes on runs it again (`treatment`).

mod bracket;
mod own;
mod pending;
mod treatment;

use hortator_mysql::Error;
use hortator_mysql::catalog::TableName;

use super::main_session::MainSession;
use crate::apply::Stopped;
use crate::class::Class;
use crate::lexer::Location;
use crate::record::{Digest, Entry, Note, Span, State};
use crate::report::Failure;

use own::Open;
use pending::Pending;
use treatment::assigns_autocommit;
pub(super) use treatment::{Treatment, asking, treatment};

/// What of the recording is open.
#[derive(Debug, Default)]
pub(super) struct Recording {
    /// A transaction of ours, not yet committed.
    open: Option<Open>,
    /// Statements of the dump's transaction that are not recorded yet.
    pending: Pending,
    /// A bracket around more than one statement.
    stretch: Option<Run>,
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
    is_begun: bool,
}

/// What a statement of the main session is known to do with rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Puts {
    /// The table that they go to, as `schema.table`; empty where it is not one, or none.
    pub(super) table: String,
    /// Its engine cannot roll back, or is not known.
    pub(super) for_good: bool,
    /// Next AUTO_INCREMENT values of the tables that it may put rows into: these do not roll back.
    pub(super) counters: Vec<(TableName, u64)>,
}

impl Run {
    fn new(text: &[u8], location: &Location, table: &str) -> Self {
        let mut digest = Digest::default();
        digest.add(text);
        let span = span_of(text, location);
        Self { span, digest, state: State::Done, table: table.to_owned(), rows: 0, failed: 0, is_begun: false }
    }

    fn add(&mut self, text: &[u8], location: &Location) {
        self.digest.add(text);
        self.span.last = location.ordinal;
        self.span.end_byte = location.byte + text.len() as u64;
    }

    fn entry(&self) -> Entry {
        let span = Span { digest: self.digest.value(), ..self.span.clone() };
        let note = if self.failed > 0 { Note::Failed(self.failed) } else { Note::Nothing };
        Entry { span, state: self.state, table: self.table.clone(), rows: self.rows, last_id: 0, note }
    }
}

/// The record of one statement.
fn entry_of(text: &[u8], location: &Location, state: State, table: &str, note: Note) -> Entry {
    Entry { span: span_of(text, location), state, table: table.to_owned(), rows: 0, last_id: 0, note }
}

fn span_of(text: &[u8], location: &Location) -> Span {
    Span {
        first: location.ordinal,
        last: location.ordinal,
        digest: crate::record::digest([text]),
        file: location.file.to_string(),
        line: location.line,
        byte: location.byte,
        end_byte: location.byte + text.len() as u64,
    }
}

fn done_or_bound(binds: bool) -> State {
    if binds { State::Bound } else { State::Done }
}

impl MainSession<'_> {
    /// Runs a statement and records it; gives the number of rows affected.
    pub(super) fn run_recorded(
        &mut self,
        text: &[u8],
        location: &Location,
        class: &Class,
        puts: &Puts,
    ) -> Result<u64, Stopped> {
        if self.records.is_none() || location.ordinal == 0 {
            return self.run(text, location);
        }
        if let Some(asking) = asking(text, self) {
            return self.run_asking(text, location, asking, puts);
        }
        let (treatment, binds) = treatment(text, class, self);
        if treatment == Treatment::Session {
            if self.status().in_transaction() && assigns_autocommit(text, self) {
                self.write_pending(location)?;
            }
            let rows = self.run(text, location)?;
            return self.end_stretch(location).map(|()| rows);
        }
        self.settle()?;
        if let Some(stretch) = &mut self.recording.stretch {
            if treatment != Treatment::Control {
                stretch.add(text, location);
            }
            let rows = self.run(text, location)?;
            return self.end_stretch(location).map(|()| rows);
        }
        if treatment == Treatment::Control {
            return self.run_control(text, location);
        }
        if self.is_in_dumps_transaction() {
            if treatment == Treatment::Rows {
                return self.run_within(text, location, binds, puts);
            }
            self.write_pending(location)?;
        }
        // What acts on the next statement only must not be taken by one of ours.
        if treatment == Treatment::Rows && !puts.for_good && !self.acts_on_next() {
            self.run_in_own(text, location, binds, puts)
        } else {
            self.run_in_bracket(text, location, binds, puts, treatment == Treatment::Rows)
        }
    }

    /// Whether what runs now is committed by a later statement of the dump.
    fn is_in_dumps_transaction(&self) -> bool {
        self.recording.open.is_none() && (self.status().in_transaction() || !self.status().autocommit())
    }

    /// A record could not be written: that ends the load, forced or not.
    fn record_failed(&mut self, location: &Location, text: &[u8], error: &Error) -> Result<(), Stopped> {
        let message = format!("its progress record could not be written: {error}");
        self.end_at(Failure::of_record(location, text, message), error);
        Err(Stopped)
    }

    /// Writes with the records' own connection.
    fn apart(
        &mut self,
        location: &Location,
        text: &[u8],
        work: impl FnOnce(
            &crate::record::Records,
            &mut hortator_mysql::Connection,
        ) -> Result<hortator_mysql::ExecResult, Error>,
    ) -> Result<(), Stopped> {
        let Some(records) = self.records else { return Ok(()) };
        match records.apart(work) {
            Ok(_) => Ok(()),
            Err(error) => self.record_failed(location, text, &error),
        }
    }

    /// LAST_INSERT_ID() of this session.
    fn last_id(&mut self) -> Result<u64, Error> {
        let rows = self.connection.fetch(b"SELECT LAST_INSERT_ID()")?;
        let value = rows.first().and_then(|row| row.first()?.as_deref());
        Ok(value.and_then(|value| std::str::from_utf8(value).ok()?.parse().ok()).unwrap_or(0))
    }
}
