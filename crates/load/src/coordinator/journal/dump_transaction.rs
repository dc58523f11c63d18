//! Statements within a transaction of the dump: recorded in it, right before whatever may end it.

use std::collections::BTreeSet;

use super::{Asked, Journal, RowEffects, Run, applied_or_bound, checkpoint_of};
use crate::analysis::Trait;
use crate::apply::{Packets, READ_ONLY, Stopped};
use crate::checkpoint::{LastId, RecoveryHint, State};
use crate::coordinator::analyzed_statement::AnalyzedStatement;
use crate::coordinator::main_session::MainSession;
use crate::lexer::Location;

/// A transaction may not change a row that another session has inserted or changed since it first read: error 1020, by
/// default from MariaDB 11.6 on. Its records may be such rows. (`SET STATEMENT` gives the session another value back than
/// it had: seen with 10.11.)
const SNAPSHOT_ISOLATION: &str = "innodb_snapshot_isolation";
const WITHOUT_SNAPSHOT: &[u8] = b"SET SESSION innodb_snapshot_isolation = OFF";
const WITH_SNAPSHOT: &[u8] = b"SET SESSION innodb_snapshot_isolation = ON";

/// Runs of one transaction; beyond that, tables are not told apart any more.
const RUNS_LIMIT: usize = 1000;

/// What of the dump's transaction is not recorded yet.
#[derive(Debug, Default)]
pub(in crate::coordinator) struct DumpTransaction {
    runs: Vec<Run>,
    /// Tables of which the counter before this transaction is on record.
    counted: BTreeSet<String>,
    /// Statements, by number, that are on record as begun and have not run, because one before them in their packet failed.
    begun: BTreeSet<u64>,
    /// It may have numbered rows.
    numbers: bool,
    /// What is not recorded are only the results of the last statement, which itself is on record.
    is_recorded_ahead: bool,
    /// A statement with a record of its own stands behind the last run, which cannot grow across it.
    is_cut: bool,
}

impl DumpTransaction {
    /// A statement that is on record as begun is yet to run.
    pub(super) fn still_begun(&mut self, statement: &AnalyzedStatement) {
        self.begun.insert(statement.location.ordinal);
    }

    pub(super) fn push(&mut self, run: Run) {
        self.is_recorded_ahead = false;
        self.runs.push(run);
    }

    /// One more statement: of the last run, if that is of its kind.
    pub(super) fn add(&mut self, statement: &AnalyzedStatement, run: Run) {
        self.is_recorded_ahead = false;
        let is_full = self.runs.len() >= RUNS_LIMIT;
        let is_cut = std::mem::take(&mut self.is_cut);
        match self.runs.last_mut() {
            Some(last)
                if !run.is_begun && !is_cut && last.state == run.state && (last.table == run.table || is_full) =>
            {
                last.add(statement);
                last.rows += run.rows;
                last.failed += run.failed;
                if last.table != run.table {
                    last.table.clear();
                }
            }
            _ => self.runs.push(run),
        }
    }
}

impl MainSession<'_> {
    /// A change of rows within the dump's transaction. Where a program asks about it, which may end the transaction, it is
    /// recorded before it runs: in the transaction, so that neither stays without the other.
    pub(super) fn run_within(
        &mut self,
        statement: &AnalyzedStatement,
        effects: &RowEffects,
        asked: Asked,
    ) -> Result<u64, Stopped> {
        let mut is_begun = self.begin_within(statement, effects)?;
        let is_ahead = asked == Asked::ByProgram && !effects.is_non_transactional;
        if is_ahead {
            let run = Run::new(statement, &effects.table);
            self.journal.dump_transaction().push(Run { is_begun, ..run });
            self.write_pending(&statement.location)?;
            is_begun = true;
        }
        let failures = self.failures();
        let rows = self.run(statement)?;
        let failed = self.failures() - failures;
        self.end_within(statement, effects, rows, failed, is_begun)?;
        if let Journal::Dump(transaction) = &mut self.journal {
            transaction.is_recorded_ahead = is_ahead && transaction.runs.len() == 1;
        }
        Ok(rows)
    }

    /// Writes the record of the dump's transaction before what may end it. What a program asks about is on record already:
    /// gives its results, which are yet to be recorded.
    pub(super) fn write_pending_before(&mut self, statement: &AnalyzedStatement) -> Result<Vec<Run>, Stopped> {
        match &mut self.journal {
            Journal::Dump(transaction) if statement.info.reads_diagnostics() && transaction.is_recorded_ahead => {
                let results = std::mem::take(&mut transaction.runs);
                self.journal = Journal::Idle;
                Ok(results)
            }
            _ => self.write_pending(&statement.location).map(|()| Vec::new()),
        }
    }

    /// Records the results of what was recorded ahead: with the dump's transaction, or apart from it once it is over.
    pub(super) fn record_results(&mut self, results: Vec<Run>, location: &Location) -> Result<(), Stopped> {
        for run in results {
            match self.journal {
                Journal::Section(_) => {}
                _ if self.is_in_dumps_transaction() => self.journal.dump_transaction().push(run),
                _ => self.record_apart(&run, location, b"")?,
            }
        }
        Ok(())
    }

    /// What has to be on record before such a change, if anything; gives whether there is something.
    pub(super) fn begin_within(
        &mut self,
        statement: &AnalyzedStatement,
        effects: &RowEffects,
    ) -> Result<bool, Stopped> {
        if let Journal::Dump(transaction) = &mut self.journal
            && transaction.begun.remove(&statement.location.ordinal)
        {
            return Ok(true);
        }
        if self.is_bound {
            return Ok(false);
        }
        let recovery_hint = if effects.is_non_transactional || effects.names_other_engines {
            RecoveryHint::NotInTransaction
        } else {
            let counted = &mut self.journal.dump_transaction().counted;
            let new = effects.counters.iter().filter(|(table, _)| counted.insert(table.to_string()));
            let new: Vec<_> = new.cloned().collect();
            if new.is_empty() {
                return Ok(false);
            }
            RecoveryHint::Counters(new)
        };
        let checkpoint = checkpoint_of(statement, State::Intent, &effects.table, recovery_hint);
        self.on_internal_connection(&statement.location, &statement.text, |checkpoints, internal| {
            checkpoints.write(internal, &checkpoint)
        })?;
        Ok(true)
    }

    /// Takes note of such a change that has run.
    pub(super) fn end_within(
        &mut self,
        statement: &AnalyzedStatement,
        effects: &RowEffects,
        rows: u64,
        failed: u64,
        is_begun: bool,
    ) -> Result<(), Stopped> {
        let state = applied_or_bound(self.has_bound_session(statement, effects));
        let run = Run { state, rows, failed, is_begun, ..Run::new(statement, &effects.table) };
        if effects.is_non_transactional {
            // These rows are there already, whatever becomes of the transaction.
            if let Journal::Dump(transaction) = &mut self.journal {
                transaction.is_cut = true;
            }
            return self.record_apart(&run, &statement.location, &statement.text);
        }
        let transaction = self.journal.dump_transaction();
        transaction.numbers |= !effects.counters.is_empty();
        transaction.add(statement, run);
        Ok(())
    }

    /// A statement that controls the dump's transaction.
    pub(super) fn run_control(&mut self, statement: &AnalyzedStatement) -> Result<u64, Stopped> {
        let location = &statement.location;
        if statement.info.is(Trait::OfSavepoint) {
            // It means something only together with what stands around it.
            if let Journal::Dump(transaction) = &mut self.journal
                && let Some(last) = transaction.runs.last_mut()
            {
                last.span.last = location.ordinal;
            }
            return self.run(statement);
        }
        if statement.info.commits_transaction() {
            return self.commit_recorded(statement);
        }
        if !statement.info.is(Trait::RollsBack) {
            self.write_pending(location)?;
            return self.run(statement);
        }
        let journal = std::mem::take(&mut self.journal);
        let rows = self.run(statement)?;
        let Journal::Dump(transaction) = journal else { return Ok(rows) };
        // Nothing of it stays, but what can't be rolled back; and none of it is to be tried again.
        for run in transaction.runs {
            self.record_apart(&Run { rows: 0, ..run }, location, &statement.text)?;
        }
        Ok(rows)
    }

    /// A COMMIT of the dump, and before it the record of what it commits.
    fn commit_recorded(&mut self, statement: &AnalyzedStatement) -> Result<u64, Stopped> {
        let Some(mut packets) = self.take_pending() else { return self.run(statement) };
        packets.push(&statement.text);
        let mut results = Vec::new();
        // A single COMMIT in the last packet: what records it is done.
        let (sent, is_recorded) = match packets.send_to_last(&mut self.connection) {
            Err(error) => (Err(error), false),
            Ok((last, count)) => {
                let sent = self.query_together(&last, &mut results);
                (sent, results.len() + 1 >= count)
            }
        };
        if sent.is_err() {
            self.give_snapshot_back();
        }
        drop(self.connection.take_session_changes());
        match sent {
            Err(error) if !is_recorded && error.code() == Some(READ_ONLY) => self.run(statement),
            Err(error) if !is_recorded => self.record_failed(&statement.location, b"", &error).map(|()| 0),
            sent => self.handle_result(statement, sent.map(|()| results.pop().unwrap_or_default())),
        }
    }

    /// Writes the record of the dump's transaction so far, within it.
    pub(in crate::coordinator) fn write_pending(&mut self, location: &Location) -> Result<(), Stopped> {
        if !self.status().in_transaction() {
            return self.write_apart(location);
        }
        let Some(packets) = self.take_pending() else { return Ok(()) };
        let sent = packets.send(&mut self.connection);
        if sent.is_err() {
            self.give_snapshot_back();
        }
        drop(self.connection.take_session_changes());
        match sent {
            Ok(()) => Ok(()),
            // A transaction that may only read has changed nothing.
            Err(error) if error.code() == Some(READ_ONLY) => Ok(()),
            Err(error) => self.record_failed(location, b"", &error),
        }
    }

    /// Records what is left of a transaction that is over, or in which every statement has failed: in the dump's session, a
    /// record would begin another one.
    fn write_apart(&mut self, location: &Location) -> Result<(), Stopped> {
        if !matches!(self.journal, Journal::Dump(_)) {
            return Ok(());
        }
        let Journal::Dump(transaction) = std::mem::take(&mut self.journal) else { return Ok(()) };
        for run in &transaction.runs {
            self.record_apart(run, location, b"")?;
        }
        Ok(())
    }

    /// The statements that record the dump's transaction so far; `None` where there is nothing to record.
    fn take_pending(&mut self) -> Option<Packets> {
        if !matches!(self.journal, Journal::Dump(_)) {
            return None;
        }
        let Journal::Dump(transaction) = std::mem::take(&mut self.journal) else { return None };
        let checkpoints = self.checkpoints.filter(|_| !transaction.runs.is_empty())?;
        let last_id = if transaction.numbers { LastId::OfSession } else { LastId::Known };
        let mut packets = Packets::new(self.packet_limit_bytes());
        let keeps_snapshot = self.keeps_snapshot();
        if keeps_snapshot {
            packets.push(WITHOUT_SNAPSHOT);
        }
        for run in &transaction.runs {
            packets.push(&match run.is_begun {
                true => checkpoints.close_statement(&run.checkpoint(), last_id),
                false => checkpoints.write_statement(&run.checkpoint(), last_id),
            });
        }
        if keeps_snapshot {
            packets.push(WITH_SNAPSHOT);
        }
        Some(packets)
    }

    fn keeps_snapshot(&self) -> bool {
        self.state().value(SNAPSHOT_ISOLATION).eq_ignore_ascii_case(b"ON")
    }

    /// What records a transaction has stopped somewhere.
    fn give_snapshot_back(&mut self) {
        if self.keeps_snapshot() {
            // A connection that cannot do even that is over.
            let _ = self.connection.execute(WITH_SNAPSHOT);
        }
    }
}
