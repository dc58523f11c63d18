//! Going on with a load that ended early: the stream is read from its beginning, and what is recorded is passed over.
//!
//! Statements that only concern the session run again, so that it is as it was. Of what is recorded as done the text is
//! compared by its hash. What is recorded as begun is looked up in what it changes: see [`crate::checkpoint::outcome`].

use hortator_mysql::catalog::TableName;
use hortator_mysql::{Error, quote_identifier};

use super::Producer;
use super::recording::{Treatment, asking, treatment};
use crate::apply::{COMMIT, Stopped, set_next_id};
use crate::checkpoint::{Checkpoint, CheckpointReader, Digest, Outcome, RecoveryHint, State, outcome};
use crate::lexer::{Dialect, Kind, Location, tokens};
use crate::report::Failure;
use crate::rows::{RowSource, survey};
use crate::session::assignments;
use crate::statement_kind::{NamedTable, StatementKind, classify};

/// What to take a statement for that had begun, where the server cannot tell what became of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unsettled {
    /// The load ends there and says so.
    #[default]
    Stop,
    /// It is in the database.
    Done,
    /// Nothing of it is: it is run again.
    Again,
}

/// What an earlier run has recorded, read along with the stream.
#[derive(Debug)]
pub(crate) struct GoingOn {
    recorded: CheckpointReader,
    unsettled: Unsettled,
    /// The same program has read the stream before: it knows what failed then.
    is_restart: bool,
    /// The hash of what was passed over of the record that the stream is at.
    digest: Digest,
    /// Rows of a table that cannot roll back, which statements of an open record have left there.
    rows_left: Option<RowsLeft>,
    /// SETs that act on the next statement only, kept until it is known whether that is run.
    held: Vec<(Vec<u8>, Location)>,
    /// A record of several statements that was begun and is found to be done, until all of them are seen to be its own.
    found_done: Option<Checkpoint>,
    /// The dump has selected a schema that is gone by now.
    has_lost_schema: bool,
}

/// Of a record that was begun: rows found in the table, statement by statement.
#[derive(Debug)]
struct RowsLeft {
    checkpoint: Checkpoint,
    /// Rows that no statement has been found for yet.
    rows: u64,
    /// Those passed over, as far as they go.
    passed: Option<Checkpoint>,
    digest: Digest,
}

impl GoingOn {
    pub(crate) fn new(recorded: CheckpointReader, unsettled: Unsettled, is_restart: bool) -> Self {
        Self {
            recorded,
            unsettled,
            is_restart,
            digest: Digest::default(),
            rows_left: None,
            held: Vec::new(),
            found_done: None,
            has_lost_schema: false,
        }
    }
}

impl Producer<'_> {
    /// Whether a statement is done already, or is none of those that are recorded; else it is to be run as any.
    pub(super) fn passes_over(&mut self, text: &[u8], location: &Location) -> Result<bool, Stopped> {
        let Some(going_on) = &mut self.going_on else { return Ok(false) };
        let checkpoint = match going_on.recorded.of(location.ordinal) {
            Ok(checkpoint) => checkpoint.cloned(),
            Err(error) => return self.cannot_go_on(location, text, &error),
        };
        let Some(checkpoint) = checkpoint else {
            self.end_rows_left(location)?;
            return self.passes_unrecorded(text, location);
        };
        if let Some(going_on) = &mut self.going_on {
            going_on.held.clear();
        }
        if checkpoint.table.is_empty() {
            self.expect_uncounted(text, location);
        }
        // A chunk must not reach across what is done already.
        self.flush()?;
        self.main.settle()?;
        if checkpoint.state == State::Intent {
            return self.passes_begun(&checkpoint, text, location);
        }
        self.passes_done(&checkpoint, text, location)
    }

    /// A statement that has no record. Where there are records behind it, it ran if the main session was to run it; what
    /// it reads or locks may be gone by now.
    fn passes_unrecorded(&mut self, text: &[u8], location: &Location) -> Result<bool, Stopped> {
        let dialect = self.main.dialect();
        let kind = classify(text, &dialect);
        let (treatment, _) = treatment(text, &kind, &self.main);
        let Some(going_on) = &mut self.going_on else { return Ok(false) };
        let is_set = kind == StatementKind::Session;
        if is_set && going_on.recorded.has_more() && assignments(text, &dialect).pins_next {
            going_on.held.push((text.to_vec(), location.clone()));
            return Ok(true);
        }
        let only_reads = treatment == Treatment::Session || matches!(kind, StatementKind::Skip { .. });
        if only_reads && !is_set && going_on.recorded.has_more() && !keeps(text, &dialect) {
            return Ok(true);
        }
        let is_use = is_set && tokens(text, &dialect).next().is_some_and(|first| first.is_word(b"USE"));
        if is_use && let Some(name) = used_schema(text, &dialect) {
            return self.passes_use(&name, location).map(|()| true);
        }
        if is_set {
            return Ok(false);
        }
        if going_on.has_lost_schema {
            let found = "the schema that the dump has selected before this place is gone: go on by hand, or begin anew";
            return self.stops(location, text, found.to_owned());
        }
        for (text, location) in std::mem::take(&mut going_on.held) {
            self.session(&text, &location)?;
        }
        Ok(false)
    }

    /// The dump selects a schema. Where there are records behind, it may be gone by now, and another be selected later.
    pub(super) fn passes_use(&mut self, name: &[u8], location: &Location) -> Result<(), Stopped> {
        let has_more = self.going_on.as_ref().is_some_and(|going_on| going_on.recorded.has_more());
        let is_there = !has_more || self.main.has_schema(name, location)?;
        if let Some(going_on) = &mut self.going_on {
            going_on.has_lost_schema = !is_there;
        }
        if is_there { self.main.use_database(name, location) } else { Ok(()) }
    }

    /// A statement of a record that is done.
    fn passes_done(&mut self, checkpoint: &Checkpoint, text: &[u8], location: &Location) -> Result<bool, Stopped> {
        let kind = classify(text, &self.main.dialect());
        let (treatment, _) = treatment(text, &kind, &self.main);
        let counts = match asking(text, &self.main) {
            Some(asking) => asking.changes || asking.keeps,
            // Locks are left out of a chunk, and are the beginning of a stretch.
            None if matches!(kind, StatementKind::Skip { .. }) && !checkpoint.table.is_empty() => false,
            None => matches!(treatment, Treatment::Rows | Treatment::Bracket),
        };
        if let Some(going_on) = &mut self.going_on {
            if location.ordinal == checkpoint.span.first {
                going_on.digest = Digest::default();
            }
            if counts {
                going_on.digest.add(text);
            }
            if location.ordinal == checkpoint.span.last && going_on.digest.value() != checkpoint.span.digest {
                return self.stops(
                    location,
                    text,
                    format!(
                        "the input is not the one that was loaded: what stands from line {} to here has another hash than \
                         what was recorded; go on with the very same dump and options, or begin anew",
                        checkpoint.span.line,
                    ),
                );
            }
        }
        if checkpoint.state == State::SessionBound {
            return self.stops(
                location,
                text,
                "this statement is done, and may have left temporary tables or variables in its session, which is gone: \
                 the load can't be gone on with; begin anew"
                    .to_owned(),
            );
        }
        if location.ordinal == checkpoint.span.last {
            if let Some(found) = self.going_on.as_mut().and_then(|going_on| going_on.found_done.take()) {
                self.settled(self.close(&found), text, location)?;
            }
            if let RecoveryHint::Failed(count) = checkpoint.recovery_hint
                && !self.going_on.as_ref().is_some_and(|going_on| going_on.is_restart)
            {
                self.failed_before(count, location);
            }
            if checkpoint.last_id > 0 {
                self.pool.generated_id(self.pool.position(), checkpoint.last_id);
            }
            if self.main.status().in_transaction() {
                // All that stood in this transaction up to here is committed.
                self.main.run(COMMIT, location)?;
            }
        }
        // Inside of a record only what changes rows or definitions is recorded; SET and the like run again.
        Ok(treatment != Treatment::Session || kind != StatementKind::Session)
    }

    /// Statements of a forced load had failed before it was gone on with: they are not tried again, and not forgotten.
    fn failed_before(&mut self, count: u64, location: &Location) {
        let message = format!("{count} statement(s) up to here failed before this load was gone on with");
        self.pool.fail(self.pool.position(), Failure::of_record(location, b"", message), false);
    }

    /// A statement of a record that says "begun".
    fn passes_begun(&mut self, checkpoint: &Checkpoint, text: &[u8], location: &Location) -> Result<bool, Stopped> {
        self.main.sync(location)?;
        match checkpoint.recovery_hint {
            RecoveryHint::Counters(ref counters) => {
                // The rows are a transaction's that was not committed, but they have moved the counters.
                let connection = self.tables.connection();
                let settled = counters.iter().try_for_each(|(table, next)| set_next_id(connection, table, *next));
                self.settled(settled.and_then(|()| self.retract(checkpoint.span.first)), text, location)?;
                // Its other statements must not take away what is recorded of them from here on.
                self.is_void();
                Ok(false)
            }
            RecoveryHint::Rows(before) => self.passes_rows(checkpoint, before, text, location),
            RecoveryHint::None
            | RecoveryHint::NotInTransaction
            | RecoveryHint::Failed(_)
            | RecoveryHint::Definition(_) => {
                let dialect = self.main.dialect();
                let found = match outcome(&mut self.main.connection, text, &dialect, &checkpoint.recovery_hint) {
                    Ok(found) => found,
                    Err(error) => return self.cannot_go_on(location, text, &error),
                };
                // Another text than the one that had begun tells nothing of that one. Of several statements the hash is known at the
                // last.
                let has_several_statements = checkpoint.span.first < checkpoint.span.last;
                let is_same = has_several_statements || checkpoint.span.digest == crate::checkpoint::digest([text]);
                let found = if found == Outcome::Applied && !is_same { Outcome::InDoubt } else { found };
                let unsettled = self.going_on.as_ref().map_or(Unsettled::Stop, |going_on| going_on.unsettled);
                let is_done = match (found, unsettled) {
                    (Outcome::Applied, _) | (Outcome::InDoubt, Unsettled::Done) => true,
                    (Outcome::Reapply, _) | (Outcome::InDoubt, Unsettled::Again) => false,
                    (Outcome::InDoubt, Unsettled::Stop) => {
                        return self.stops(
                            location,
                            text,
                            "this statement had begun when the load ended, and the server can't tell whether it is done: \
                             look what it changes, then go on with --unsettled=done or --unsettled=again"
                                .to_owned(),
                        );
                    }
                };
                if !is_done {
                    self.settled(self.retract(checkpoint.span.first), text, location)?;
                    self.is_void();
                    return Ok(false);
                }
                if !has_several_statements {
                    return self.settled(self.close(checkpoint), text, location).map(|()| true);
                }
                let done = Checkpoint { state: State::Applied, ..checkpoint.clone() };
                if let Some(going_on) = &mut self.going_on {
                    going_on.recorded.is_done();
                    going_on.found_done = Some(done.clone());
                }
                self.passes_done(&done, text, location)
            }
        }
    }

    /// Rows of a table that cannot roll back: as many statements are done as the table has rows more than before.
    fn passes_rows(
        &mut self,
        checkpoint: &Checkpoint,
        before: u64,
        text: &[u8],
        location: &Location,
    ) -> Result<bool, Stopped> {
        let Some(name) = self.table_of(text) else { return Ok(false) };
        if location.ordinal == checkpoint.span.first {
            let counted = self.count(&name);
            let now = match counted {
                Ok(now) => now,
                Err(error) => return self.cannot_go_on(location, text, &error),
            };
            let Some(rows) = now.checked_sub(before) else {
                let found = format!("{name} has {now} rows, and had {before} before it: rows are lost");
                return self.stops(location, text, found);
            };
            if let Some(going_on) = &mut self.going_on {
                going_on.rows_left =
                    Some(RowsLeft { checkpoint: checkpoint.clone(), rows, passed: None, digest: Digest::default() });
            }
        }
        let tuples = self.tuples(text);
        let Some(left) = self.going_on.as_mut().and_then(|going_on| going_on.rows_left.as_mut()) else {
            return Ok(false);
        };
        if left.rows == 0 {
            return self.end_rows_left(location).map(|()| false);
        }
        if tuples.is_none_or(|tuples| tuples > left.rows) {
            let found = format!(
                "{name} can't roll back, and this statement had begun when the load ended: {} of its rows are there; \
                 remove them, or go on behind it by hand",
                left.rows,
            );
            return self.stops(location, text, found);
        }
        let tuples = tuples.unwrap_or_default();
        left.rows -= tuples;
        left.digest.add(text);
        let mut passed = left.passed.take().unwrap_or_else(|| Checkpoint { rows: 0, ..left.checkpoint.clone() });
        passed.rows += tuples;
        passed.state = State::Applied;
        passed.span.last = location.ordinal;
        passed.span.digest = left.digest.value();
        passed.span.end_byte = location.byte + text.len() as u64;
        left.passed = Some(passed);
        if location.ordinal == checkpoint.span.last {
            self.end_rows_left(location)?;
        }
        Ok(true)
    }

    /// Checkpoints what of such rows is done.
    fn end_rows_left(&mut self, location: &Location) -> Result<(), Stopped> {
        let Some(left) = self.going_on.as_mut().and_then(|going_on| going_on.rows_left.take()) else {
            return Ok(());
        };
        let settled = match &left.passed {
            Some(passed) => self.close(passed),
            None => self.retract(left.checkpoint.span.first),
        };
        self.settled(settled, b"", location)
    }

    /// What was begun is not there: all of its statements run as any.
    fn is_void(&mut self) {
        if let Some(going_on) = &mut self.going_on {
            going_on.recorded.is_void();
        }
    }

    fn close(&self, checkpoint: &Checkpoint) -> Result<(), Error> {
        let checkpoint = Checkpoint { state: State::Applied, ..checkpoint.clone() };
        self.main.checkpoints.map_or(Ok(()), |checkpoints| {
            checkpoints
                .on_internal_connection(|checkpoints, internal| checkpoints.close(internal, &checkpoint).map(drop))
        })
    }

    fn retract(&self, first: u64) -> Result<(), Error> {
        self.main.checkpoints.map_or(Ok(()), |checkpoints| {
            checkpoints.on_internal_connection(|checkpoints, internal| checkpoints.retract(internal, first).map(drop))
        })
    }

    /// Tuples of an INSERT of literals.
    fn tuples(&self, text: &[u8]) -> Option<u64> {
        let dialect = self.main.dialect();
        let StatementKind::Rows(head) = classify(text, &dialect) else { return None };
        let RowSource::Values { offset } = head.source else { return None };
        survey(text, offset, None, &dialect).ok().map(|survey| survey.rows)
    }

    fn table_of(&self, text: &[u8]) -> Option<TableName> {
        match classify(text, &self.main.dialect()) {
            StatementKind::Rows(head) => self.resolve(&NamedTable { schema: head.schema, table: head.table }),
            _ => None,
        }
    }

    fn count(&mut self, name: &TableName) -> Result<u64, Error> {
        let place = [quote_identifier(&name.schema), quote_identifier(&name.table)].join(&b'.');
        let rows = self.tables.connection().fetch(&[b"SELECT COUNT(*) FROM ".as_slice(), &place].concat())?;
        let value = rows.first().and_then(|row| row.first()?.as_deref());
        Ok(value.and_then(|value| std::str::from_utf8(value).ok()?.parse().ok()).unwrap_or(0))
    }

    fn settled(&mut self, result: Result<(), Error>, text: &[u8], location: &Location) -> Result<(), Stopped> {
        match result {
            Ok(()) => Ok(()),
            Err(error) => self.cannot_go_on(location, text, &error).map(drop),
        }
    }

    fn cannot_go_on(&mut self, location: &Location, text: &[u8], error: &Error) -> Result<bool, Stopped> {
        self.main.end_at(Failure::at(location, text, error), error);
        Err(Stopped)
    }

    fn stops(&mut self, location: &Location, text: &[u8], message: String) -> Result<bool, Stopped> {
        let failure = Failure::of_record(location, text, message);
        self.pool.fail(self.pool.position(), failure, true);
        Err(Stopped)
    }
}

/// Whether a statement prepares something in the session that later statements need.
fn keeps(text: &[u8], dialect: &Dialect) -> bool {
    tokens(text, dialect).next().is_some_and(|first| first.is_word(b"PREPARE") || first.is_word(b"DEALLOCATE"))
}

/// The schema that a USE statement names.
fn used_schema(text: &[u8], dialect: &Dialect) -> Option<Vec<u8>> {
    match tokens(text, dialect).nth(1)?.kind {
        Kind::Word(name) => Some(name.to_vec()),
        Kind::QuotedIdentifier(name) => Some(name.into_owned()),
        _ => None,
    }
}
