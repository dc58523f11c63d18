//! A change of rows with its record in a transaction of ours, left open for statements that ask what it did.

use hortator_mysql::error::{ANONYMOUS_TRANSACTION, DEADLOCK};
use hortator_mysql::{Error, ExecResult};

use super::{Journal, RowEffects, Run, applied_or_bound, checkpoint_of};
use crate::analysis::DiagnosticsQuery;
use crate::apply::{COMMIT, Packets, READ_ONLY, ROLLBACK, Stopped};
use crate::checkpoint::{Checkpoint, Digest, LastId, RecoveryHint, State};
use crate::coordinator::analyzed_statement::AnalyzedStatement;
use crate::coordinator::existence::Existence;
use crate::coordinator::main_session::MainSession;

/// How often such a transaction is replayed after a deadlock, or a conflict with another node's write.
pub(super) const REPLAYS_LIMIT: u32 = 10;

/// Statements in a row that ask about the one before, of which the records are kept open.
const MORE_LIMIT: usize = 10_000;

/// Such a transaction.
#[derive(Debug)]
pub(in crate::coordinator) struct InternalTransaction {
    /// The record to be closed.
    pub(super) checkpoint: Checkpoint,
    /// The record stands within the transaction, and goes with it if that is rolled back.
    pub(super) is_within: bool,
    /// The statement failed: nothing of it is to stay.
    pub(super) has_failed: bool,
    /// It may have numbered rows.
    numbers: bool,
    /// Checkpoints of statements behind it that asked what it did, or of the last one where that failed.
    pub(super) more: Vec<Checkpoint>,
    /// The statement, and those that have joined it.
    pub(super) statements: Vec<AnalyzedStatement>,
    /// The texts of them.
    pub(super) digest: Digest,
    pub(super) bytes: usize,
    /// A statement that joined it has failed: the server may have rolled back all of it.
    pub(super) has_failed_behind: bool,
}

/// The record of one whose statement failed in a forced load.
fn failed(open: &InternalTransaction) -> Checkpoint {
    let recovery_hint = RecoveryHint::Failed(1);
    Checkpoint { state: State::Applied, rows: 0, recovery_hint, ..open.checkpoint.clone() }
}

impl MainSession<'_> {
    /// Runs a change of rows with its record in one transaction.
    pub(super) fn run_in_internal_transaction(
        &mut self,
        statement: &AnalyzedStatement,
        effects: &RowEffects,
    ) -> Result<u64, Stopped> {
        let (text, location) = (&statement.text[..], &statement.location);
        let Some(checkpoints) = self.checkpoints else { return self.run(statement) };
        let recovery_hint = match effects.counters.is_empty() {
            true => RecoveryHint::None,
            false => RecoveryHint::Counters(effects.counters.clone()),
        };
        let checkpoint = checkpoint_of(statement, State::Intent, &effects.table, recovery_hint);
        // Some name tables that no transaction protects, some move counters: there a record beforehand tells that they began.
        let is_within = self.is_bound || (effects.counters.is_empty() && !effects.names_other_engines);
        let begin = |main: &mut Self| main.connection.execute(b"START TRANSACTION");
        let begun = match is_within {
            true => self.begin_with(&checkpoints.write_statement(&checkpoint, LastId::Known)),
            false => checkpoints
                .on_internal_connection(|checkpoints, internal| checkpoints.write(internal, &checkpoint))
                .and_then(|_| begin(self)),
        };
        match begun {
            Err(error) if error.code() == Some(READ_ONLY) => {
                // Nothing can be changed here, so there is nothing to record.
                return match self.connection.execute(ROLLBACK) {
                    Ok(_) => self.run(statement),
                    Err(error) => self.record_failed(location, text, &error).map(|()| 0),
                };
            }
            Err(error) if error.code() == Some(ANONYMOUS_TRANSACTION) && self.is_forced() => {
                // This session can begin no transaction, ours included: the statement fails as it would with the client, and the
                // next ones run.
                if !is_within {
                    let first = checkpoint.span.first;
                    self.on_internal_connection(location, text, |checkpoints, internal| {
                        checkpoints.retract(internal, first)
                    })?;
                }
                return self.run_with_intent(statement, effects, Existence::Unknown, true);
            }
            Err(error) => self.record_failed(location, text, &error)?,
            Ok(_) => {}
        }
        let failures = self.failures();
        if self.is_interrupted() {
            return Err(Stopped);
        }
        self.show_as(statement);
        let mut sent = self.send(statement);
        let mut replays = 0;
        while sent.as_ref().is_err_and(|error| self.may_replay(error, replays)) {
            replays += 1;
            sent = self.replay(statement, &checkpoint, is_within);
        }
        let result = self.handle_result(statement, sent);
        let rows = *result.as_ref().unwrap_or(&0);
        let has_failed = result.is_err() || self.failures() > failures;
        let state = applied_or_bound(self.has_bound_session(statement, effects));
        self.journal = Journal::Internal(Box::new(InternalTransaction {
            checkpoint: Checkpoint { state, rows, recovery_hint: RecoveryHint::None, ..checkpoint },
            is_within,
            has_failed,
            numbers: !effects.counters.is_empty(),
            more: Vec::new(),
            digest: Digest::of(text),
            bytes: text.len(),
            statements: vec![statement.clone()],
            has_failed_behind: false,
        }));
        if result.is_err() {
            // The load ends here: nothing will ask any more.
            self.commit_pending()?;
        }
        result
    }

    /// Commits what is open of ours, with its record. Before anything that does not ask about the statement before.
    pub(in crate::coordinator) fn commit_pending(&mut self) -> Result<(), Stopped> {
        if !matches!(self.journal, Journal::Internal(_)) {
            return Ok(());
        }
        let (Journal::Internal(mut open), Some(checkpoints)) = (std::mem::take(&mut self.journal), self.checkpoints)
        else {
            return Ok(());
        };
        if self.is_gone() {
            return Ok(());
        }
        let result = match open.has_failed {
            false if open.has_failed_behind => self.commit_joined(&open),
            false => self.commit_replaying(&mut open),
            // What has asked about it stays: the server has taken the statement back by itself.
            true if self.is_forced() && !open.more.is_empty() => self.commit_failed(&open).map(drop),
            true => self.connection.execute(ROLLBACK).and_then(|_| {
                if !self.is_forced() {
                    // What was recorded apart stays: it says that the statement had begun.
                    return Ok(());
                }
                let failed = failed(&open);
                match open.is_within {
                    // What has asked about it may have committed it.
                    true => checkpoints.close_or_write(&mut self.connection, &failed),
                    false => {
                        checkpoints.on_internal_connection(|checkpoints, internal| checkpoints.close(internal, &failed))
                    }
                }
                .map(drop)
            }),
        };
        match result {
            Ok(()) => Ok(()),
            Err(error) => self.record_failed(&open.statements[0].location, &open.statements[0].text, &error),
        }
    }

    /// A cluster may refuse a commit because of another node's write, as it may refuse any statement.
    fn commit_replaying(&mut self, open: &mut InternalTransaction) -> Result<(), Error> {
        let mut committed = self.commit_open(open);
        let mut replays = 0;
        // What has been asked about it has been answered, and must not become another answer.
        while open.more.is_empty()
            && open.statements.len() == 1
            && committed.as_ref().is_err_and(|error| self.may_replay(error, replays))
        {
            replays += 1;
            let begun = Checkpoint { state: State::Intent, rows: 0, ..open.checkpoint.clone() };
            committed = match self.replay(&open.statements[0], &begun, open.is_within) {
                Ok(done) => {
                    open.checkpoint.rows = done.affected_rows;
                    self.commit_open(open)
                }
                Err(error) => Err(error),
            };
        }
        committed
    }

    pub(super) fn may_replay(&self, error: &Error, replays: u32) -> bool {
        error.code() == Some(DEADLOCK) && replays < REPLAYS_LIMIT && !self.is_interrupted()
    }

    /// Begins the transaction again, from its beginning.
    fn replay(
        &mut self,
        statement: &AnalyzedStatement,
        begun: &Checkpoint,
        is_within: bool,
    ) -> Result<ExecResult, Error> {
        self.replays();
        self.connection.execute(ROLLBACK)?;
        match self.checkpoints.filter(|_| is_within) {
            Some(checkpoints) => self.begin_with(&checkpoints.write_statement(begun, LastId::Known))?,
            None => self.connection.execute(b"START TRANSACTION")?,
        };
        self.send(statement)
    }

    /// Begins a transaction with a record.
    pub(super) fn begin_with(&mut self, record: &[u8]) -> Result<ExecResult, Error> {
        self.connection.execute(&[b"START TRANSACTION;", record].concat())
    }

    /// Records a statement that failed, and those that asked about it.
    fn commit_failed(&mut self, open: &InternalTransaction) -> Result<ExecResult, Error> {
        if let Some(checkpoints) = self.checkpoints {
            // With the statement, the server may have taken back the whole transaction, and the record in it.
            checkpoints.close_or_write(&mut self.connection, &failed(open))?;
            for checkpoint in &open.more {
                checkpoints.write(&mut self.connection, checkpoint)?;
            }
        }
        self.connection.execute(COMMIT)
    }

    pub(super) fn commit_open(&mut self, open: &InternalTransaction) -> Result<(), Error> {
        let last_id = if open.numbers { LastId::OfSession } else { LastId::Known };
        let mut packets = Packets::new(self.packet_limit_bytes());
        if let Some(checkpoints) = self.checkpoints {
            packets.push(&checkpoints.close_statement(&open.checkpoint, last_id));
            for checkpoint in &open.more {
                packets.push(&checkpoints.write_statement(checkpoint, LastId::Known));
            }
        }
        packets.push(COMMIT);
        packets.send(&mut self.connection)
    }

    /// A statement that asks what the one before it did, so that nothing of ours may run in between.
    pub(super) fn run_diagnostics_query(
        &mut self,
        statement: &AnalyzedStatement,
        query: DiagnosticsQuery,
        effects: &RowEffects,
    ) -> Result<u64, Stopped> {
        let (text, location) = (&statement.text[..], &statement.location);
        if query.sees_transaction {
            // One that others have asked about is still open.
            self.commit_pending()?;
        }
        let counts = query.writes || query.keeps;
        let within = self.is_in_dumps_transaction();
        let is_alone = matches!(self.journal, Journal::Idle | Journal::Dump(_))
            && (!within || effects.is_non_transactional)
            && !self.is_bound;
        let mut begun = checkpoint_of(statement, State::Intent, &effects.table, RecoveryHint::NotInTransaction);
        if query.writes && is_alone {
            self.on_internal_connection(location, text, |checkpoints, internal| checkpoints.write(internal, &begun))?;
        }
        let failures = self.failures();
        let rows = self.run(statement)?;
        if !counts || self.failures() > failures {
            return Ok(rows);
        }
        begun.rows = rows;
        let checkpoint =
            Checkpoint { state: applied_or_bound(query.keeps), recovery_hint: RecoveryHint::None, ..begun };
        match &mut self.journal {
            Journal::Internal(open) => {
                open.more.push(checkpoint);
                if open.more.len() >= MORE_LIMIT {
                    self.commit_pending()?;
                }
            }
            Journal::Section(section) => section.add(statement),
            Journal::Idle | Journal::Dump(_) if within => {
                let run = Run::new(statement, &effects.table);
                let is_begun = query.writes && is_alone;
                self.journal.dump_transaction().push(Run { state: checkpoint.state, rows, is_begun, ..run });
            }
            Journal::Idle | Journal::Dump(_) if self.is_bound => {}
            Journal::Idle | Journal::Dump(_) => {
                self.on_internal_connection(location, text, |checkpoints, internal| match query.writes {
                    true => checkpoints.close(internal, &checkpoint),
                    false => checkpoints.write(internal, &checkpoint),
                })?;
            }
        }
        Ok(rows)
    }
}
