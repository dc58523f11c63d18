//! What is recorded of the statements that the main session runs: each with what it changes, where that can be.
//!
//! - Changes of rows run in a transaction of ours, with their record in it. It is left open until the next statement, so
//!   that one which asks for warnings or counts still finds them.
//! - Within a transaction of the dump's own the record is written right before whatever may end it.
//! - What commits by itself is bracketed: a record that it has begun, and how things stood; closed behind it.
//! - While tables are locked or an XA transaction is under way nothing else can be written: one record brackets it all.
//! - What only concerns the session has none: a load that goes on runs it again.

use hortator_mysql::catalog::TableName;
use hortator_mysql::{Done, Error};

use super::main_session::MainSession;
use crate::apply::{COMMIT, READ_ONLY, ROLLBACK, Stopped};
use crate::class::{Class, is_several, mentions_diagnostics, reads_session_results};
use crate::lexer::{Kind, Location, Token, tokens};
use crate::record::{Digest, Entry, Note, Span, State, changes_rows, fingerprint};
use crate::report::Failure;
use crate::session::assignments;

/// How a statement of the main session is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Treatment {
    /// Not at all: it concerns the session only, or reads.
    Session,
    /// It controls a transaction of the dump's own.
    Control,
    /// It changes rows: within a transaction.
    Rows,
    /// It commits by itself, or does anything: a bracket.
    Bracket,
}

/// What of the recording is open.
#[derive(Debug, Default)]
pub(super) struct Recording {
    /// A transaction of ours, not yet committed.
    open: Option<Open>,
    /// Statements of the dump's transaction that are not recorded yet.
    pending: Vec<Run>,
    /// A bracket around more than one statement.
    stretch: Option<Run>,
}

#[derive(Debug)]
struct Open {
    /// The record to be closed; `None` where the statement failed, and nothing is to stay.
    entry: Option<Entry>,
    /// Records of statements behind it that asked what it did.
    more: Vec<Entry>,
    location: Location,
    text: Vec<u8>,
}

/// A run of statements that grows.
#[derive(Debug)]
struct Run {
    span: Span,
    digest: Digest,
    table: String,
    rows: u64,
}

/// What a statement of the main session is known to do with rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Puts {
    /// The table that they go to, as `schema.table`; empty where it is not one, or none.
    pub(super) table: String,
    /// Its engine cannot roll back.
    pub(super) for_good: bool,
    /// Next AUTO_INCREMENT values of the tables that it may put rows into: these do not roll back.
    pub(super) counters: Vec<(TableName, u64)>,
}

/// Runs of one transaction; beyond that, tables are not told apart any more.
const RUNS_LIMIT: usize = 1000;

impl Run {
    fn new(text: &[u8], location: &Location, table: &str) -> Self {
        let mut run =
            Self { span: span_of(text, location), digest: Digest::default(), table: table.to_owned(), rows: 0 };
        run.digest.add(text);
        run
    }

    fn add(&mut self, text: &[u8], location: &Location) {
        self.digest.add(text);
        self.span.last = location.ordinal;
        self.span.end_byte = location.byte + text.len() as u64;
    }

    fn entry(self, state: State) -> Entry {
        let span = Span { digest: self.digest.value(), ..self.span };
        Entry { span, state, table: self.table, rows: self.rows, note: Note::Nothing }
    }
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

/// Words that begin statements which control a transaction.
const CONTROL: &[&[u8]] = &[b"BEGIN", b"COMMIT", b"ROLLBACK", b"SAVEPOINT", b"RELEASE"];
/// Words that begin statements which only read, or prepare something in the session.
const READS: &[&[u8]] =
    &[b"SHOW", b"HELP", b"EXPLAIN", b"DESCRIBE", b"DESC", b"USE", b"PREPARE", b"DEALLOCATE", b"HANDLER"];
/// Words that begin statements which may leave anything behind in their session.
const BINDING: &[&[u8]] = &[b"CALL", b"EXECUTE"];

/// How a statement is recorded, and whether it leaves something in its session that no other session has.
pub(super) fn treatment(text: &[u8], class: &Class, main: &MainSession<'_>) -> (Treatment, bool) {
    let dialect = main.dialect();
    let head: Vec<Token<'_>> = tokens(text, &dialect).take(3).collect();
    let Some(first) = head.first() else { return (Treatment::Session, false) };
    let is = |words: &[&[u8]]| words.iter().any(|word| first.is_word(word));
    let second_is = |word: &[u8]| head.get(1).is_some_and(|token| token.is_word(word));
    if first.is_word(b"LOCK") {
        return (Treatment::Bracket, false);
    }
    if is_several(text, &dialect) {
        return (Treatment::Bracket, true);
    }
    match class {
        Class::Session if reads_session_results(text, &dialect) => return (Treatment::Bracket, true),
        Class::Session => {
            let assigned = assignments(text, &dialect);
            let is_global = assigned.beyond_session && assigned.pinned.is_empty();
            return (if is_global { Treatment::Bracket } else { Treatment::Session }, false);
        }
        Class::Standalone | Class::Nothing | Class::Omit { .. } => return (Treatment::Session, false),
        _ => {}
    }
    if is(CONTROL) || (first.is_word(b"START") && second_is(b"TRANSACTION")) {
        return (Treatment::Control, false);
    }
    if is(READS) {
        return (Treatment::Session, false);
    }
    let is_temporary = first.is_word(b"CREATE") && head.iter().any(|token| token.is_word(b"TEMPORARY"));
    let is_binding = is(BINDING) || is_temporary || (first.is_word(b"SELECT") && assigns_variable(text, main));
    (if changes_rows(&head) { Treatment::Rows } else { Treatment::Bracket }, is_binding)
}

/// Whether a SELECT puts something into a user variable.
fn assigns_variable(text: &[u8], main: &MainSession<'_>) -> bool {
    let mut has_into = false;
    let mut has_variable = false;
    let mut assigns = false;
    for token in tokens(text, &main.dialect()) {
        has_into |= token.is_word(b"INTO");
        assigns |= token.is_symbol(b":=");
        has_variable |= matches!(token.kind, Kind::UserVariable(_));
    }
    has_variable && (has_into || assigns)
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
        let (mut treatment, binds) = treatment(text, class, self);
        if self.records.is_none() || location.ordinal == 0 {
            return self.run(text, location);
        }
        if mentions_diagnostics(text, &self.dialect()) {
            return self.run_asking(text, location, puts);
        }
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
        if self.status().in_transaction() || !self.status().autocommit() {
            if treatment == Treatment::Rows {
                let rows = self.run(text, location)?;
                let pending = &mut self.recording.pending;
                let is_full = pending.len() >= RUNS_LIMIT;
                match pending.last_mut() {
                    Some(last) if last.table == puts.table || is_full => {
                        last.add(text, location);
                        if last.table != puts.table {
                            last.table.clear();
                        }
                    }
                    _ => pending.push(Run::new(text, location, &puts.table)),
                }
                if let Some(last) = pending.last_mut() {
                    last.rows += rows;
                }
                return Ok(rows);
            }
            self.write_pending(location)?;
        }
        // What acts on the next statement only must not be taken by one of ours.
        if puts.for_good || self.acts_on_next() {
            treatment = Treatment::Bracket;
        }
        if treatment == Treatment::Rows {
            self.run_in_transaction(text, location, binds, puts)
        } else {
            self.run_in_bracket(text, location, binds, puts)
        }
    }

    /// Commits what is open of ours, with its record. Before anything that does not ask about the statement before.
    pub(super) fn settle(&mut self) -> Result<(), Stopped> {
        let Some(Open { entry, more, location, text }) = self.recording.open.take() else { return Ok(()) };
        let Some(records) = self.records else { return Ok(()) };
        let connection = &mut self.connection;
        let mut settled = match &entry {
            Some(entry) => records.close(connection, entry),
            None => connection.execute(ROLLBACK),
        };
        for entry in &more {
            settled = settled.and_then(|_| records.write(connection, entry));
        }
        if entry.is_some() {
            settled = settled.and_then(|_| connection.execute(COMMIT));
        }
        match settled {
            Ok(_) => Ok(()),
            Err(error) => self.record_failed(&location, &text, &error),
        }
    }

    /// A statement that asks what the one before it did, so that nothing of ours may run in between.
    fn run_asking(&mut self, text: &[u8], location: &Location, puts: &Puts) -> Result<u64, Stopped> {
        let Some(records) = self.records else { return self.run(text, location) };
        let dialect = self.dialect();
        let head: Vec<Token<'_>> = tokens(text, &dialect).take(1).collect();
        let keeps = tokens(text, &dialect).any(|token| matches!(token.kind, Kind::UserVariable(_)));
        let changes = changes_rows(&head) && !head[0].is_word(b"SELECT");
        let failures = self.failures();
        let entry = Entry {
            span: span_of(text, location),
            state: if keeps { State::Bound } else { State::Done },
            table: puts.table.clone(),
            rows: 0,
            note: Note::Nothing,
        };
        let is_alone = self.recording.open.is_none() && self.recording.stretch.is_none();
        if changes && is_alone {
            let begun = Entry { state: State::Begun, ..entry.clone() };
            if let Err(error) = records.apart(|records, own| records.write(own, &begun)) {
                self.record_failed(location, text, &error)?;
            }
        }
        let rows = self.run(text, location)?;
        if !(changes || keeps) || self.failures() > failures {
            return Ok(rows);
        }
        let entry = Entry { rows, ..entry };
        match &mut self.recording.open {
            Some(open) => open.more.push(entry),
            None if self.recording.stretch.is_some() => {}
            None => {
                let written = records.apart(|records, own| match changes {
                    true => records.close(own, &entry),
                    false => records.write(own, &entry),
                });
                if let Err(error) = written {
                    self.record_failed(location, text, &error)?;
                }
            }
        }
        Ok(rows)
    }

    fn run_control(&mut self, text: &[u8], location: &Location) -> Result<u64, Stopped> {
        let words: Vec<Token<'_>> = tokens(text, &self.dialect()).take(4).collect();
        let is = |word: &[u8]| words.iter().any(|token| token.is_word(word));
        let to_savepoint = is(b"SAVEPOINT") || is(b"RELEASE") || is(b"TO");
        if to_savepoint {
            // It means something only together with what stands around it.
            if let Some(pending) = self.recording.pending.last_mut() {
                pending.span.last = location.ordinal;
            }
        } else {
            if words[0].is_word(b"ROLLBACK") {
                self.recording.pending.clear();
            } else {
                self.write_pending(location)?;
            }
        }
        self.run(text, location)
    }

    /// Writes the record of the dump's transaction so far, within it.
    pub(super) fn write_pending(&mut self, location: &Location) -> Result<(), Stopped> {
        let pending = std::mem::take(&mut self.recording.pending);
        let Some(records) = self.records else { return Ok(()) };
        for run in pending {
            if let Err(error) = records.write(&mut self.connection, &run.entry(State::Done)) {
                return self.record_failed(location, b"", &error);
            }
        }
        Ok(())
    }

    /// A change of rows with its record in one transaction.
    fn run_in_transaction(
        &mut self,
        text: &[u8],
        location: &Location,
        binds: bool,
        puts: &Puts,
    ) -> Result<u64, Stopped> {
        let Some(records) = self.records else { return self.run(text, location) };
        let entry = Entry {
            span: span_of(text, location),
            state: State::Begun,
            table: puts.table.clone(),
            rows: 0,
            note: if puts.counters.is_empty() { Note::Nothing } else { Note::Counters(puts.counters.clone()) },
        };
        // Others may name tables that no transaction protects: for them only a record beforehand tells that they began.
        let may_be_for_good =
            text.first().is_some_and(|first| matches!(first, b'U' | b'u' | b'D' | b'd' | b'L' | b'l'));
        let is_within = !may_be_for_good && puts.counters.is_empty();
        let begun = match is_within {
            true => begin(&mut self.connection).and_then(|_| records.write(&mut self.connection, &entry)),
            false => records.apart(|records, own| records.write(own, &entry)).and_then(|_| begin(&mut self.connection)),
        };
        match begun {
            Err(error) if error.code() == Some(READ_ONLY) => {
                // Nothing can be changed here, so there is nothing to record.
                return match self.connection.execute(ROLLBACK) {
                    Ok(_) => self.run(text, location),
                    Err(error) => self.record_failed(location, text, &error).map(|()| 0),
                };
            }
            Err(error) => self.record_failed(location, text, &error)?,
            Ok(_) => {}
        }
        let failures = self.failures();
        let result = self.run(text, location);
        let rows = *result.as_ref().unwrap_or(&0);
        let has_failed = result.is_err() || self.failures() > failures;
        if has_failed && !is_within && !self.is_interrupted() {
            let retracted = records.apart(|records, own| records.retract(own, entry.span.first));
            if let Err(error) = retracted {
                self.record_failed(location, text, &error)?;
            }
        }
        let state = if binds { State::Bound } else { State::Done };
        let entry = (!has_failed).then_some(Entry { state, rows, ..entry });
        self.recording.open = Some(Open { entry, more: Vec::new(), location: location.clone(), text: text.to_vec() });
        if result.is_err() {
            // The load ends here: nothing will ask any more.
            self.settle()?;
        }
        result
    }

    /// Something that commits by itself, or does anything, between two records.
    fn run_in_bracket(&mut self, text: &[u8], location: &Location, binds: bool, puts: &Puts) -> Result<u64, Stopped> {
        let Some(records) = self.records else { return self.run(text, location) };
        let dialect = self.dialect();
        let note = match self.acts_on_next() {
            true => Ok(Note::Nothing),
            false => fingerprint(&mut self.connection, text, &dialect),
        };
        let span = span_of(text, location);
        let begun = note.and_then(|note| {
            let entry = Entry { span: span.clone(), state: State::Begun, table: puts.table.clone(), rows: 0, note };
            records.apart(|records, own| records.write(own, &entry))
        });
        if let Err(error) = begun {
            self.record_failed(location, text, &error)?;
        }
        let failures = self.failures();
        let result = self.run(text, location);
        let rows = *result.as_ref().unwrap_or(&0);
        let has_failed = result.is_err() || self.failures() > failures;
        if !has_failed && self.is_closed_to_others() {
            self.recording.stretch = Some(Run::new(text, location, ""));
            return result;
        }
        if has_failed && (self.is_gone() || self.is_interrupted()) {
            // Whether it was done is not known: the record stays open and says so.
            return result;
        }
        let state = if binds { State::Bound } else { State::Done };
        let entry = Entry { span, state, table: puts.table.clone(), rows, note: Note::Nothing };
        let is_kept = !has_failed || self.is_forced();
        let ended = records.apart(|records, own| match is_kept {
            true => records.close(own, &entry),
            false => records.retract(own, entry.span.first),
        });
        match ended {
            Ok(_) => result,
            Err(error) => self.record_failed(location, text, &error).and(result),
        }
    }

    /// Closes the bracket around a stretch in which nothing could be recorded, if it is over.
    fn end_stretch(&mut self, location: &Location) -> Result<(), Stopped> {
        if self.is_closed_to_others() {
            return Ok(());
        }
        let (Some(stretch), Some(records)) = (self.recording.stretch.take(), self.records) else { return Ok(()) };
        match records.apart(|records, own| records.close(own, &stretch.entry(State::Done))) {
            Ok(_) => Ok(()),
            Err(error) => self.record_failed(location, b"", &error),
        }
    }

    /// A record could not be written: that ends the load, forced or not.
    fn record_failed(&mut self, location: &Location, text: &[u8], error: &Error) -> Result<(), Stopped> {
        let message = format!("its progress record could not be written: {error}");
        self.end_at(Failure::of_record(location, text, message), error);
        Err(Stopped)
    }
}

fn begin(connection: &mut hortator_mysql::Connection) -> Result<Done, Error> {
    connection.execute(b"START TRANSACTION")
}

/// Whether a SET may end the transaction.
fn assigns_autocommit(text: &[u8], main: &MainSession<'_>) -> bool {
    tokens(text, &main.dialect()).any(|token| match token.kind {
        Kind::Word(word) => word.eq_ignore_ascii_case(b"autocommit"),
        Kind::SystemVariable(name) => name.to_ascii_lowercase().ends_with(b"autocommit"),
        _ => false,
    })
}
