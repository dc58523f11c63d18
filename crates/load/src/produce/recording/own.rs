//! A change of rows with its record in a transaction of ours, left open for statements that ask what it did.

use hortator_mysql::error::DEADLOCK;
use hortator_mysql::{Error, ExecResult};

use super::treatment::{Asking, may_be_for_good};
use super::{Puts, Run, done_or_bound, entry_of};
use crate::apply::{COMMIT, READ_ONLY, ROLLBACK, Stopped};
use crate::lexer::Location;
use crate::produce::main_session::MainSession;
use crate::record::{Entry, Note, State};

/// How often such a transaction is replayed after a deadlock, or a conflict with another node's write.
const REPLAYS_LIMIT: u32 = 10;

/// Statements in a row that ask about the one before, of which the records are kept open.
const MORE_LIMIT: usize = 10_000;

/// Such a transaction.
#[derive(Debug)]
pub(super) struct Open {
    /// The record to be closed.
    entry: Entry,
    /// The record stands within the transaction, and goes with it if that is rolled back.
    is_within: bool,
    /// The statement failed: nothing of it is to stay.
    has_failed: bool,
    /// It may have numbered rows.
    numbers: bool,
    /// Records of statements behind it that asked what it did.
    more: Vec<Entry>,
    location: Location,
    text: Vec<u8>,
}

impl MainSession<'_> {
    /// Runs a change of rows with its record in one transaction.
    pub(super) fn run_in_own(
        &mut self,
        text: &[u8],
        location: &Location,
        binds: bool,
        puts: &Puts,
    ) -> Result<u64, Stopped> {
        let Some(records) = self.records else { return self.run(text, location) };
        let note = match puts.counters.is_empty() {
            true => Note::Nothing,
            false => Note::Counters(puts.counters.clone()),
        };
        let entry = entry_of(text, location, State::Begun, &puts.table, note);
        // Some name tables that no transaction protects, some move counters: there a record beforehand tells that they began.
        let is_within = puts.counters.is_empty() && !may_be_for_good(text, self);
        let begin = |main: &mut Self| main.connection.execute(b"START TRANSACTION");
        let begun = match is_within {
            true => begin(self).and_then(|_| records.write(&mut self.connection, &entry)),
            false => records.apart(|records, own| records.write(own, &entry)).and_then(|_| begin(self)),
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
        if self.is_interrupted() {
            return Err(Stopped);
        }
        let mut sent = self.send(text);
        let mut replays = 0;
        while sent.as_ref().is_err_and(|error| self.may_replay(error, replays)) {
            replays += 1;
            sent = self.replay(text, &entry, is_within);
        }
        let result = self.took(text, location, sent);
        let rows = *result.as_ref().unwrap_or(&0);
        let has_failed = result.is_err() || self.failures() > failures;
        self.recording.open = Some(Open {
            entry: Entry { state: done_or_bound(binds), rows, note: Note::Nothing, ..entry },
            is_within,
            has_failed,
            numbers: !puts.counters.is_empty(),
            more: Vec::new(),
            location: location.clone(),
            text: text.to_vec(),
        });
        if result.is_err() {
            // The load ends here: nothing will ask any more.
            self.settle()?;
        }
        result
    }

    /// Commits what is open of ours, with its record. Before anything that does not ask about the statement before.
    pub(in crate::produce) fn settle(&mut self) -> Result<(), Stopped> {
        let (Some(mut open), Some(records)) = (self.recording.open.take(), self.records) else { return Ok(()) };
        if self.is_gone() {
            return Ok(());
        }
        let settled = match open.has_failed {
            false => self.commit_open_replaying(&mut open),
            true => self.connection.execute(ROLLBACK).and_then(|done| {
                if !self.is_forced() {
                    // What was recorded apart stays: it says that the statement had begun.
                    return Ok(done);
                }
                let failed = Entry { state: State::Done, rows: 0, note: Note::Failed(1), ..open.entry.clone() };
                match open.is_within {
                    true => records.write(&mut self.connection, &failed),
                    false => records.apart(|records, own| records.close(own, &failed)),
                }
            }),
        };
        match settled {
            Ok(_) => Ok(()),
            Err(error) => self.record_failed(&open.location, &open.text, &error),
        }
    }

    /// A cluster may refuse a commit because of another node's write, as it may refuse any statement.
    fn commit_open_replaying(&mut self, open: &mut Open) -> Result<ExecResult, Error> {
        let mut settled = self.commit_open(open);
        let mut replays = 0;
        // What has been asked about it has been answered, and must not become another answer.
        while open.more.is_empty() && settled.as_ref().is_err_and(|error| self.may_replay(error, replays)) {
            replays += 1;
            let begun = Entry { state: State::Begun, rows: 0, ..open.entry.clone() };
            settled = match self.replay(&open.text.clone(), &begun, open.is_within) {
                Ok(done) => {
                    open.entry.rows = done.affected_rows;
                    self.commit_open(open)
                }
                Err(error) => Err(error),
            };
        }
        settled
    }

    fn may_replay(&self, error: &Error, replays: u32) -> bool {
        error.code() == Some(DEADLOCK) && replays < REPLAYS_LIMIT && !self.is_interrupted()
    }

    /// Begins the transaction again, from its beginning.
    fn replay(&mut self, text: &[u8], begun: &Entry, is_within: bool) -> Result<ExecResult, Error> {
        self.replays();
        self.connection.execute(ROLLBACK)?;
        self.connection.execute(b"START TRANSACTION")?;
        if let Some(records) = self.records.filter(|_| is_within) {
            records.write(&mut self.connection, begun)?;
        }
        self.send(text)
    }

    fn commit_open(&mut self, open: &Open) -> Result<ExecResult, Error> {
        let last_id = if open.numbers { self.last_id()? } else { 0 };
        if let Some(records) = self.records {
            records.close(&mut self.connection, &Entry { last_id, ..open.entry.clone() })?;
            for entry in &open.more {
                records.write(&mut self.connection, entry)?;
            }
        }
        self.connection.execute(COMMIT)
    }

    /// A statement that asks what the one before it did, so that nothing of ours may run in between.
    pub(super) fn run_asking(
        &mut self,
        text: &[u8],
        location: &Location,
        asking: Asking,
        puts: &Puts,
    ) -> Result<u64, Stopped> {
        let counts = asking.changes || asking.keeps;
        let within = self.is_in_dumps_transaction();
        let is_alone = self.recording.open.is_none() && self.recording.stretch.is_none() && (!within || puts.for_good);
        let mut begun = entry_of(text, location, State::Begun, &puts.table, Note::Alone);
        if asking.changes && is_alone {
            self.apart(location, text, |records, own| records.write(own, &begun))?;
        }
        let failures = self.failures();
        let rows = self.run(text, location)?;
        if !counts || self.failures() > failures {
            return Ok(rows);
        }
        begun.rows = rows;
        let entry = Entry { state: done_or_bound(asking.keeps), note: Note::Nothing, ..begun };
        if let Some(open) = &mut self.recording.open {
            open.more.push(entry);
            if open.more.len() >= MORE_LIMIT {
                self.settle()?;
            }
        } else if let Some(stretch) = &mut self.recording.stretch {
            stretch.add(text, location);
        } else if within {
            let run = Run::new(text, location, &puts.table);
            self.recording.pending.push(Run { state: entry.state, rows, is_begun: asking.changes && is_alone, ..run });
        } else {
            self.apart(location, text, |records, own| match asking.changes {
                true => records.close(own, &entry),
                false => records.write(own, &entry),
            })?;
        }
        Ok(rows)
    }
}
