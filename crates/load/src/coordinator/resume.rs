//! Going on with a load that ended early: the stream is read from its beginning, and what is recorded is passed over.
//!
//! Statements that only concern the session run again, so that it is as it was. Of what is recorded as done the text is
//! compared by its hash. What is recorded as begun is looked up in what it changes: see [`crate::checkpoint::outcome`].

use std::collections::BTreeSet;

use hortator_mysql::catalog::{TableKind, TableName};
use hortator_mysql::{Error, quote_identifier};

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use super::journal::{is_compared, is_defined, is_passed_in_order};
use crate::analysis::{JournalMode, StatementKind, Trait};
use crate::apply::{COMMIT, Stopped, set_next_id};
use crate::checkpoint::{Checkpoint, CheckpointReader, Digest, Outcome, RecoveryHint, State, drop_sequence, outcome};
use crate::lexer::Location;
use crate::report::Failure;

/// What to take a statement for that had begun, where the server cannot tell what became of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InDoubt {
    /// The load ends there and says so.
    #[default]
    Stop,
    /// It is in the database.
    Applied,
    /// Nothing of it is: it is run again.
    Reapply,
}

/// What an earlier run has recorded, read along with the stream.
#[derive(Debug)]
pub(crate) struct Resume {
    pub(super) reader: CheckpointReader,
    pub(super) in_doubt: InDoubt,
    /// The same program has read the stream before: it knows what failed then.
    is_restart: bool,
    /// The hash of what was passed over of the record that the stream is at.
    digest: Digest,
    /// Rows of a table that cannot roll back, which statements of an open record have left there.
    partial_rows: Option<PartialRows>,
    /// SETs that act on the next statement only, kept until it is known whether that is run.
    held: Vec<AnalyzedStatement>,
    /// A record of several statements that was begun and is found to be done, until all of them are seen to be its own.
    found_applied: Option<Checkpoint>,
    /// The dump has selected a schema that is gone by now.
    has_lost_schema: bool,
    /// AUTO_INCREMENT counters are what they were before the rows that were not committed.
    has_counters: bool,
    /// Behind the last record, nothing has come yet that the earlier run can not have passed.
    is_in_gap: bool,
}

/// Of a record that was begun: rows found in the table, statement by statement.
#[derive(Debug)]
struct PartialRows {
    checkpoint: Checkpoint,
    /// Rows that no statement has been found for yet.
    rows: u64,
    /// Those passed over, as far as they go.
    passed: Option<Checkpoint>,
    digest: Digest,
}

impl Resume {
    pub(crate) fn new(reader: CheckpointReader, in_doubt: InDoubt, is_restart: bool) -> Self {
        Self {
            reader,
            in_doubt,
            is_restart,
            digest: Digest::default(),
            partial_rows: None,
            held: Vec::new(),
            found_applied: None,
            has_lost_schema: false,
            has_counters: false,
            is_in_gap: true,
        }
    }
}

impl Coordinator<'_> {
    /// Whether a statement is done already, or is none of those that are recorded; else it is to be run as any.
    pub(super) fn skip_if_applied(&mut self, statement: &AnalyzedStatement) -> Result<bool, Stopped> {
        let location = &statement.location;
        if let Err(error) = self.reset_counters() {
            return self.fail_resume(statement, &error);
        }
        let Some(resume) = &mut self.resume else { return Ok(false) };
        let checkpoint = match resume.reader.of(location.ordinal) {
            Ok(checkpoint) => checkpoint.cloned(),
            Err(error) => return self.fail_resume(statement, &error),
        };
        let Some(checkpoint) = checkpoint else {
            self.end_partial_rows(statement)?;
            return self.resume_unrecorded(statement);
        };
        if let Some(resume) = &mut self.resume {
            resume.held.clear();
        }
        if checkpoint.table.is_empty() {
            self.expect_uncounted(statement);
        }
        self.held_to_main()?;
        self.resume_large(&checkpoint, statement);
        let is_outside = self.is_outside_transaction(&checkpoint, statement)?;
        // A transaction of which a statement is done is done, unless it is one that no transaction protects.
        let begin = if is_outside { None } else { self.batch.take_begin() };
        // A chunk must not reach across what is done already.
        self.flush()?;
        self.main.commit_pending()?;
        if checkpoint.state == State::Intent {
            let is_done = self.resolve_intent(&checkpoint, statement)?;
            if let Some(begin) = begin.filter(|_| !is_done) {
                self.batch.open_block(begin);
            }
            return Ok(is_done);
        }
        self.skip_applied(&checkpoint, statement, is_outside)
    }

    /// Before anything runs: once a transaction of the dump is open again, it may hold locks on the tables.
    fn reset_counters(&mut self) -> Result<(), Error> {
        let Some(resume) = self.resume.as_mut().filter(|resume| !resume.has_counters) else { return Ok(()) };
        resume.has_counters = true;
        let mut known = BTreeSet::new();
        for intent in resume.reader.intents()? {
            let RecoveryHint::Counters(counters) = intent.recovery_hint else { continue };
            for (table, next) in counters {
                if known.insert(table.clone()) {
                    match set_next_id(&mut self.catalog.connection(), &table, next) {
                        // What is wrong with the table is told at its statement.
                        Ok(()) | Err(Error::Server(_)) => {}
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a statement that is done stands within a transaction of the dump, and is done whatever became of that one.
    fn is_outside_transaction(
        &mut self,
        checkpoint: &Checkpoint,
        statement: &AnalyzedStatement,
    ) -> Result<bool, Stopped> {
        let is_within = self.batch.has_open_block() || self.main.status().in_transaction();
        if !is_within || checkpoint.state != State::Applied || statement.info.journal != JournalMode::Rows {
            return Ok(false);
        }
        let Some(name) = self.written_table(&statement.info).or_else(|| self.changed_table(statement)) else {
            return Ok(false);
        };
        let table = self.table(&name, &statement.location)?;
        Ok(table.is_some_and(|table| table.kind == TableKind::Base { transactional: false }))
    }

    fn changed_table(&self, statement: &AnalyzedStatement) -> Option<TableName> {
        statement.info.changes.as_ref().and_then(|named| self.names().resolve(named))
    }

    /// A statement that has no record. Where there are records behind it, it ran if the main session was to run it; what
    /// it reads or locks may be gone by now.
    fn resume_unrecorded(&mut self, statement: &AnalyzedStatement) -> Result<bool, Stopped> {
        let info = &statement.info;
        let Some(resume) = &mut self.resume else { return Ok(false) };
        let is_set = matches!(info.kind, StatementKind::Set);
        if is_set && resume.reader.has_more() && info.assignments.is_one_shot {
            resume.held.push(statement.clone());
            return Ok(true);
        }
        if let StatementKind::Use(Some(name)) = &info.kind {
            let name = name.clone();
            self.resume_use(&name, &statement.location)?;
            return self.look_after_main(&statement.location).map(|()| true);
        }
        let only_reads = info.journal == JournalMode::Session;
        let is_within = self.transaction.is_some()
            || self.large.is_open()
            || self.batch.has_open_block()
            || self.main.status().in_transaction();
        if matches!(info.kind, StatementKind::Skip) && resume.reader.has_more() && !is_within {
            self.left_out(info);
            return Ok(true);
        }
        if only_reads && !is_set && resume.reader.has_more() && !info.is(Trait::PreparesSession) {
            return Ok(true);
        }
        if is_set || matches!(info.kind, StatementKind::Use(_)) {
            return Ok(false);
        }
        if is_passed_in_order(info) && resume.reader.has_more() {
            // The main session ran it before anything behind it got its place.
            return Ok(true);
        }
        self.check_lost_journal(statement)?;
        let Some(resume) = &mut self.resume else { return Ok(false) };
        if resume.has_lost_schema && !info.is(Trait::OfSchema) {
            let found = "the schema that the dump selected before this statement no longer exists: create the schema, or load again without --resume";
            return self.stop_resume(statement, found.to_owned());
        }
        for held in std::mem::take(&mut resume.held) {
            self.place(held)?;
        }
        // What the earlier run may have passed without a record: that of rows comes when a worker has committed them, and that
        // of a transaction is of what it changes, whether it is committed or rolled back.
        let may_be_passed = matches!(info.kind, StatementKind::Rows(_) | StatementKind::Skip)
            || matches!(info.journal, JournalMode::Session | JournalMode::Control)
            || self.main.is_idempotent(statement);
        let Some(resume) = &mut self.resume else { return Ok(false) };
        let is_in_gap = resume.is_in_gap && !is_within;
        resume.is_in_gap &= may_be_passed || resume.reader.has_more();
        if is_in_gap && is_compared(statement) {
            let database = self.main.state().database.clone();
            let found = is_defined(&mut self.catalog.connection(), statement, database.as_deref());
            return found.or_else(|error| self.fail_resume(statement, &error));
        }
        Ok(false)
    }

    /// The dump selects a schema. Where there are records behind, it may be gone by now, and another be selected later.
    pub(super) fn resume_use(&mut self, name: &[u8], location: &Location) -> Result<(), Stopped> {
        let has_more = self.resume.as_ref().is_some_and(|resume| resume.reader.has_more());
        let is_there = !has_more || self.main.has_schema(name, location)?;
        if let Some(resume) = &mut self.resume {
            resume.has_lost_schema = !is_there;
        }
        if is_there { self.main.use_database(name, location) } else { Ok(()) }
    }

    /// A statement of a record that is done.
    /// `is_outside`: the transaction that it stands in is not.
    fn skip_applied(
        &mut self,
        checkpoint: &Checkpoint,
        statement: &AnalyzedStatement,
        is_outside: bool,
    ) -> Result<bool, Stopped> {
        let (info, text, location) = (&statement.info, &statement.text, &statement.location);
        let counts = match info.diagnostics {
            Some(query) => query.writes || query.keeps,
            // Locks are left out of a chunk, and are the beginning of a section.
            None if matches!(info.kind, StatementKind::Skip) && !checkpoint.table.is_empty() => false,
            None => matches!(info.journal, JournalMode::Rows | JournalMode::Intent | JournalMode::Repeated),
        };
        if let Some(resume) = &mut self.resume {
            if location.ordinal == checkpoint.span.first {
                resume.digest = Digest::default();
            }
            if counts {
                resume.digest.add(text);
            }
            if location.ordinal == checkpoint.span.last && resume.digest.value() != checkpoint.span.digest {
                return self.stop_resume(statement,
                    format!(
                        "the input differs from the dump that was loaded: the hash of the statements from line {} to here is not \
                         the recorded hash; resume with the same dump and options, or load again without --resume",
                        checkpoint.span.line,
                    ),
                );
            }
        }
        if checkpoint.state == State::SessionBound {
            return self.stop_resume(statement,
                "the statement is applied and may have left temporary tables or variables in its session, which no longer \
                 exists: you cannot resume this load; load again without --resume"
                    .to_owned(),
            );
        }
        if location.ordinal == checkpoint.span.last {
            if let Some(found) = self.resume.as_mut().and_then(|resume| resume.found_applied.take()) {
                self.check_resume_result(self.close(&found), statement)?;
            }
            if let RecoveryHint::Failed(count) = checkpoint.recovery_hint
                && !self.resume.as_ref().is_some_and(|resume| resume.is_restart)
            {
                self.report_earlier_failures(count, location);
            }
            if checkpoint.last_id > 0 {
                self.pool.generated_id(self.pool.position(), checkpoint.last_id);
            }
            if self.main.status().in_transaction() && !is_outside {
                // All that stood in this transaction up to here is committed.
                self.main.run_command(COMMIT, location)?;
            }
        }
        // Inside of a record only what changes rows or definitions is recorded; SET and the like run again, but for what a
        // statement of the record has used up.
        let is_of_session = matches!(info.kind, StatementKind::Set | StatementKind::Use(_));
        let runs_again = is_of_session || info.is(Trait::PreparesSession);
        Ok(info.journal != JournalMode::Session || info.assignments.is_one_shot || !runs_again)
    }

    /// Statements of a forced load had failed before it was resumed: they are not tried again, and not forgotten.
    fn report_earlier_failures(&mut self, count: u64, location: &Location) {
        let message = format!("{count} statement(s) up to here failed before this load was resumed");
        self.pool.fail(self.pool.position(), Failure::finding(location, b"", message), false);
    }

    /// A statement of a record that says "begun".
    fn resolve_intent(&mut self, checkpoint: &Checkpoint, statement: &AnalyzedStatement) -> Result<bool, Stopped> {
        let (text, location) = (&statement.text[..], &statement.location);
        self.main.sync(location)?;
        match checkpoint.recovery_hint {
            RecoveryHint::Counters(ref counters) => {
                // The rows are a transaction's that was not committed, but they have moved the counters. Within a transaction of
                // the dump, these are reset already.
                let result = match self.main.status().in_transaction() {
                    true => Ok(()),
                    false => counters
                        .iter()
                        .try_for_each(|(table, next)| set_next_id(&mut self.catalog.connection(), table, *next)),
                };
                self.check_resume_result(result.and_then(|()| self.retract(checkpoint.span.first)), statement)?;
                // Its other statements must not take away what is recorded of them from here on.
                self.discard_intent();
                Ok(false)
            }
            RecoveryHint::Rows(before) => self.resolve_partial_rows(checkpoint, before, statement),
            RecoveryHint::None
            | RecoveryHint::NotInTransaction
            | RecoveryHint::Failed(_)
            | RecoveryHint::PartOf(_)
            | RecoveryHint::Definition(_)
            | RecoveryHint::Exists => {
                let dialect = self.main.dialect();
                let hint = &checkpoint.recovery_hint;
                let found = match outcome(&mut self.main.connection, text, &statement.info, &dialect, hint) {
                    Ok(found) => found,
                    Err(error) => return self.fail_resume(statement, &error),
                };
                // Another text than the one that had begun tells nothing of that one. Of several statements the hash is known at the
                // last.
                let has_several_statements = checkpoint.span.first < checkpoint.span.last;
                let is_same = has_several_statements || checkpoint.span.digest == crate::checkpoint::digest([text]);
                let found = match found {
                    Outcome::Applied if !is_same => Outcome::InDoubt,
                    Outcome::PartialSequence if !is_same || has_several_statements => Outcome::InDoubt,
                    found => found,
                };
                if found == Outcome::PartialSequence {
                    let dropped = drop_sequence(&mut self.main.connection, &statement.info);
                    self.check_resume_result(dropped, statement)?;
                }
                let in_doubt = self.resume.as_ref().map_or(InDoubt::Stop, |resume| resume.in_doubt);
                let is_done = match (found, in_doubt) {
                    (Outcome::Applied, _) | (Outcome::InDoubt, InDoubt::Applied) => true,
                    (Outcome::Reapply | Outcome::PartialSequence, _) | (Outcome::InDoubt, InDoubt::Reapply) => false,
                    (Outcome::InDoubt, InDoubt::Stop) => {
                        return self.stop_resume(statement,
                            "the statement is in doubt: it had started when the load ended, and the server cannot tell whether it is \
                             applied; check what it changes, then resume with --in-doubt=applied or --in-doubt=reapply"
                                .to_owned(),
                        );
                    }
                };
                if !is_done {
                    self.check_resume_result(self.retract(checkpoint.span.first), statement)?;
                    self.discard_intent();
                    return Ok(false);
                }
                if !has_several_statements {
                    return self.check_resume_result(self.close(checkpoint), statement).map(|()| true);
                }
                let done = Checkpoint { state: State::Applied, ..checkpoint.clone() };
                if let Some(resume) = &mut self.resume {
                    resume.reader.mark_applied();
                    resume.found_applied = Some(done.clone());
                }
                self.skip_applied(&done, statement, false)
            }
        }
    }

    /// Rows that have no record in their transaction: as many statements are done as the table has rows more than before.
    fn resolve_partial_rows(
        &mut self,
        checkpoint: &Checkpoint,
        before: u64,
        statement: &AnalyzedStatement,
    ) -> Result<bool, Stopped> {
        let (text, location) = (&statement.text[..], &statement.location);
        let Some(name) = self.written_table(&statement.info) else { return Ok(false) };
        if location.ordinal == checkpoint.span.first {
            let counted = self.count(&name);
            let now = match counted {
                Ok(now) => now,
                Err(error) => return self.fail_resume(statement, &error),
            };
            let Some(rows) = now.checked_sub(before) else {
                let found =
                    format!("table {name} has {now} rows and had {before} rows before the statement: rows are lost");
                return self.stop_resume(statement, found);
            };
            if let Some(resume) = &mut self.resume {
                resume.partial_rows =
                    Some(PartialRows { checkpoint: checkpoint.clone(), rows, passed: None, digest: Digest::default() });
            }
        }
        let tuples = match &statement.info.kind {
            StatementKind::Rows(rows) => Some(rows.values.rows),
            _ => None,
        };
        let Some(partial) = self.resume.as_mut().and_then(|resume| resume.partial_rows.as_mut()) else {
            return Ok(false);
        };
        if partial.rows == 0 {
            return self.end_partial_rows(statement).map(|()| false);
        }
        if tuples.is_none_or(|tuples| tuples > partial.rows) {
            let found = format!(
                "the statement had started when the load ended, and table {name} has {} rows of it, which are not all; delete \
                 these rows and resume",
                partial.rows,
            );
            return self.stop_resume(statement, found);
        }
        let tuples = tuples.unwrap_or_default();
        partial.rows -= tuples;
        partial.digest.add(text);
        let mut passed = partial.passed.take().unwrap_or_else(|| Checkpoint { rows: 0, ..partial.checkpoint.clone() });
        passed.rows += tuples;
        passed.state = State::Applied;
        passed.span.last = location.ordinal;
        passed.span.digest = partial.digest.value();
        passed.span.end_byte = location.byte + text.len() as u64;
        partial.passed = Some(passed);
        if location.ordinal == checkpoint.span.last {
            if partial.rows > 0 {
                let found = "more rows than these statements insert: somebody else has changed it; delete the other rows and resume";
                return self.stop_resume(statement, format!("table {name} has {found}"));
            }
            self.end_partial_rows(statement)?;
        }
        Ok(true)
    }

    /// Checkpoints what of such rows is done.
    fn end_partial_rows(&mut self, statement: &AnalyzedStatement) -> Result<(), Stopped> {
        let Some(partial) = self.resume.as_mut().and_then(|resume| resume.partial_rows.take()) else {
            return Ok(());
        };
        let result = match &partial.passed {
            Some(passed) => self.close(passed),
            None => self.retract(partial.checkpoint.span.first),
        };
        self.check_resume_result(result, statement)
    }

    /// What was begun is not there: all of its statements run as any.
    fn discard_intent(&mut self) {
        if let Some(resume) = &mut self.resume {
            resume.reader.discard_current();
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

    fn count(&mut self, name: &TableName) -> Result<u64, Error> {
        let place = [quote_identifier(&name.schema), quote_identifier(&name.table)].join(&b'.');
        let rows = self.catalog.connection().fetch(&[b"SELECT COUNT(*) FROM ".as_slice(), &place].concat())?;
        let value = rows.first().and_then(|row| row.first()?.as_deref());
        Ok(value.and_then(|value| std::str::from_utf8(value).ok()?.parse().ok()).unwrap_or(0))
    }

    fn check_resume_result(&mut self, result: Result<(), Error>, statement: &AnalyzedStatement) -> Result<(), Stopped> {
        match result {
            Ok(()) => Ok(()),
            Err(error) => self.fail_resume(statement, &error).map(drop),
        }
    }

    fn fail_resume(&mut self, statement: &AnalyzedStatement, error: &Error) -> Result<bool, Stopped> {
        self.main.end_at(Failure::at(&statement.location, &statement.text, error), error);
        Err(Stopped)
    }

    pub(super) fn stop_resume(&mut self, statement: &AnalyzedStatement, message: String) -> Result<bool, Stopped> {
        let failure = Failure::finding(&statement.location, &statement.text, message);
        self.pool.fail(self.pool.position(), failure, true);
        Err(Stopped)
    }
}
