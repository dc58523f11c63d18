//! Writes of rows that are sent together: one packet for many statements, and one record and one commit for all of them.
//!
//! The server runs the statements of a packet one after the other and stops at the first that fails, as the client does.
//! Outside of a transaction of the dump, a batch is a transaction of ours:
//!
//! ```text
//!   START TRANSACTION; s1; SAVEPOINT b; s2; … sn          one packet
//!   INSERT INTO chunks …; COMMIT                          one packet
//! ```
//!
//! Before each transaction of the dump stands a savepoint: where a statement fails in it and the load ends, it goes. With
//! `--force` the rest of it stays, as with the client.
//!
//! What came before a statement that fails is committed with its record, as the client would have left it. Statements that
//! ask what the one before them did never stand in a batch, nor do those that no transaction protects.

use std::collections::BTreeMap;

use hortator_mysql::catalog::TableName;
use hortator_mysql::error::{ANONYMOUS_TRANSACTION, PARSE_ERROR};
use hortator_mysql::{Error, ExecResult};

use super::{Journal, RowEffects, Run, applied_or_bound};
use crate::analysis::binlog::merge_binlogs;
use crate::analysis::{StatementKind, Trait};
use crate::apply::{COMMIT, Packets, READ_ONLY, ROLLBACK, Stopped, check_packet, set_next_id};
use crate::checkpoint::{Checkpoint, LastId, RecoveryHint, State};
use crate::coordinator::analyzed_statement::AnalyzedStatement;
use crate::coordinator::existence::Existence;
use crate::coordinator::main_session::MainSession;

/// Stands before a transaction of the dump.
const SAVEPOINT: &[u8] = b"SAVEPOINT hortator_block";
const ROLLBACK_TO_SAVEPOINT: &[u8] = b"ROLLBACK TO SAVEPOINT hortator_block";
/// What stands between two statements of a packet: a comment at the end of the first ends with its line.
const SEPARATOR: &[u8] = b"\n;\n";

/// A statement of a batch.
#[derive(Clone, Debug)]
pub(in crate::coordinator) struct BatchStatement {
    pub(in crate::coordinator) statement: AnalyzedStatement,
    pub(in crate::coordinator) effects: RowEffects,
    /// The table that its rows are counted for.
    pub(in crate::coordinator) table: Option<TableName>,
    /// The transaction of the dump that it belongs to, by its number in the batch.
    pub(in crate::coordinator) block: Option<usize>,
}

impl BatchStatement {
    /// Whether it is a BINLOG with row events.
    pub(in crate::coordinator) fn applies_events(&self) -> bool {
        self.statement.info.is(Trait::AppliesEvents)
    }

    /// Whether it is a SET: for the statement behind it, or of user variables.
    pub(in crate::coordinator) fn is_setting(&self) -> bool {
        matches!(self.statement.info.kind, StatementKind::Set)
    }

    /// Whether it is recorded. A SET of constants is done again by a load that resumes.
    fn is_recorded(&self) -> bool {
        !self.is_setting() || self.statement.info.is_session_bound()
    }
}

/// What became of a batch.
#[derive(Debug)]
pub(in crate::coordinator) enum BatchResult {
    /// Its first statements ran, and are committed where no transaction of the dump is open: the rows that each affected.
    /// They are fewer than there are statements before one that is to be sent again, and behind one that failed in a
    /// forced load.
    Ran(Vec<u64>),
    /// Nothing of it is done: the transaction of the dump that its first statement belongs to must be run as written,
    /// because a statement of it fails.
    BlockFails,
}

/// What became of a packet.
struct Sent {
    /// Of the statements that succeeded, in order.
    results: Vec<ExecResult>,
    /// Of the one behind them.
    error: Option<Error>,
}

impl MainSession<'_> {
    /// Runs a batch.
    pub(in crate::coordinator) fn run_batch(&mut self, batch: &[BatchStatement]) -> Result<BatchResult, Stopped> {
        if self.is_interrupted() {
            return Err(Stopped);
        }
        if self.checkpoints.is_none() && self.is_in_dumps_transaction() {
            let sent = self.send_together(batch, &[], &mut 0)?;
            return self.note_results(batch, sent).map(|(rows, _)| BatchResult::Ran(rows));
        }
        self.register(&batch[0].statement)?;
        match self.is_in_dumps_transaction() {
            true => self.run_batch_within(batch).map(BatchResult::Ran),
            false => self.run_batch_apart(batch),
        }
    }

    /// A batch within the dump's transaction.
    fn run_batch_within(&mut self, batch: &[BatchStatement]) -> Result<Vec<u64>, Stopped> {
        let mut begun = Vec::with_capacity(batch.len());
        for item in batch {
            begun.push(self.begin_within(&item.statement, &item.effects)?);
        }
        let sent = self.send_together(batch, &[], &mut 0)?;
        let (rows, has_failed) = self.note_results(batch, sent)?;
        let tried = rows.len();
        for (index, item) in batch.iter().take(tried).enumerate().filter(|(_, item)| item.is_recorded()) {
            let failed = u64::from(has_failed && index + 1 == tried);
            self.end_within(&item.statement, &item.effects, rows[index], failed, begun[index])?;
        }
        for (item, _) in batch.iter().zip(begun).skip(tried).filter(|(_, is_begun)| *is_begun) {
            self.journal.dump_transaction().still_begun(&item.statement);
        }
        Ok(rows)
    }

    /// A batch as a transaction of ours.
    fn run_batch_apart(&mut self, batch: &[BatchStatement]) -> Result<BatchResult, Stopped> {
        let (location, text) = (&batch[0].statement.location, &batch[0].statement.text);
        let counters: BTreeMap<&TableName, u64> =
            batch.iter().flat_map(|item| &item.effects.counters).map(|(table, next)| (table, *next)).collect();
        let is_begun = !counters.is_empty() && self.checkpoints.is_some() && !self.is_bound;
        if is_begun {
            let hint = RecoveryHint::Counters(counters.iter().map(|(table, next)| ((*table).clone(), *next)).collect());
            let intent = Checkpoint { state: State::Intent, recovery_hint: hint, ..run_of(batch).checkpoint() };
            self.on_internal_connection(location, text, |checkpoints, internal| checkpoints.write(internal, &intent))?;
        }
        // What is sent, which becomes less where a statement fails; and what became of it, once that is known.
        let mut length = batch.len();
        let mut noted: Option<Vec<u64>> = None;
        let mut replays = 0;
        let mut printed = 0;
        loop {
            let sent = self.send_together(&batch[..length], b"START TRANSACTION", &mut printed)?;
            let tried = sent.results.len();
            let is_refused = sent.error.as_ref().is_some_and(|error| matches!(error, Error::Server(_)));
            if sent.error.as_ref().is_some_and(|error| self.may_replay(error, replays)) {
                replays += 1;
                self.roll_back_to(&counters, batch)?;
                continue;
            }
            let has_no_transaction = tried == 0 && !self.dialect().mariadb && self.is_forced();
            if has_no_transaction
                && sent.error.as_ref().is_some_and(|error| error.code() == Some(ANONYMOUS_TRANSACTION))
            {
                self.retract_intent(is_begun, batch)?;
                return self.run_first_alone(&batch[0]);
            }
            if let Some(error) = sent.error.as_ref().filter(|_| noted.is_some()) {
                // It had succeeded before.
                return self.record_failed(location, text, error).map(|()| BatchResult::Ran(Vec::new()));
            }
            // The server may have rolled back more than the statement, and a node of a cluster keeps what it has rolled back
            // in the transaction's write set (seen with 10.11: rows before a trigger's SIGNAL).
            if is_refused && (self.is_on_cluster() || !self.has_transaction()?) {
                let whole = start_of_block(batch, tried);
                if whole > 0 || batch[tried].block.is_some() {
                    self.roll_back_to(&counters, batch)?;
                }
                if whole > 0 {
                    // Those before it are done again, by themselves; it is sent again as the first of the next batch.
                    length = whole;
                    continue;
                }
                if batch[tried].block.is_some() {
                    self.retract_intent(is_begun, batch)?;
                    return Ok(BatchResult::BlockFails);
                }
                self.execute_own(ROLLBACK, batch)?;
                self.execute_own(b"START TRANSACTION", batch)?;
            }
            let affected: Vec<u64> = sent.results.iter().map(|done| done.affected_rows).collect();
            let (rows, has_failed) = match noted.take() {
                Some(rows) => (rows, false),
                None => match self.note_results(&batch[..length], sent) {
                    Ok(found) => found,
                    Err(Stopped) => {
                        // The load ends here; what stands before the statement that failed, or its transaction, stays.
                        if !self.is_gone() && !self.is_interrupted() {
                            let whole = start_of_block(batch, tried);
                            if batch.get(tried).is_some_and(|item| item.block.is_some()) {
                                self.execute_own(ROLLBACK_TO_SAVEPOINT, batch)?;
                            }
                            let committed = self.commit_batch(&batch[..whole], &affected, is_begun, 0);
                            committed.or_else(|error| self.record_failed(location, text, &error))?;
                        }
                        return Err(Stopped);
                    }
                },
            };
            match self.commit_batch(&batch[..rows.len()], &rows, is_begun, u64::from(has_failed)) {
                Ok(()) => return Ok(BatchResult::Ran(rows)),
                // Another node's write.
                Err(error) if !has_failed && self.may_replay(&error, replays) => {
                    replays += 1;
                    noted = Some(rows);
                    self.roll_back_to(&counters, batch)?;
                }
                Err(error) => {
                    return self.record_failed(location, text, &error).map(|()| BatchResult::Ran(Vec::new()));
                }
            }
        }
    }

    /// Runs the first statement of a batch in a session that can begin no transaction, ours included: it fails as it would with
    /// the client.
    fn run_first_alone(&mut self, first: &BatchStatement) -> Result<BatchResult, Stopped> {
        let BatchStatement { statement, effects, block, .. } = first;
        if block.is_some() {
            return Ok(BatchResult::BlockFails);
        }
        let rows = match first.is_setting() {
            true => self.run(statement),
            false => self.run_with_intent(statement, effects, Existence::Unknown, true),
        };
        rows.map(|rows| BatchResult::Ran(vec![rows]))
    }

    /// Takes back that a batch is recorded as begun.
    fn retract_intent(&mut self, is_begun: bool, batch: &[BatchStatement]) -> Result<(), Stopped> {
        if !is_begun {
            return Ok(());
        }
        let (statement, first) = (&batch[0].statement, run_of(batch).span.first);
        self.on_internal_connection(&statement.location, &statement.text, |checkpoints, internal| {
            checkpoints.retract(internal, first)
        })
    }

    /// Records a batch that has run and commits it.
    fn commit_batch(
        &mut self,
        batch: &[BatchStatement],
        rows: &[u64],
        is_begun: bool,
        failed: u64,
    ) -> Result<(), Error> {
        if batch.is_empty() {
            self.connection_rollback();
            return Ok(());
        }
        let Some(checkpoints) = self.checkpoints else { return self.connection.execute(COMMIT).map(drop) };
        let mut runs: Vec<Run> = Vec::new();
        for (index, item) in batch.iter().enumerate().filter(|(_, item)| item.is_recorded()) {
            let state = applied_or_bound(self.has_bound_session(&item.statement, &item.effects));
            let affected = rows.get(index).copied().unwrap_or_default();
            match runs.last_mut() {
                Some(last) if last.table == item.effects.table => {
                    last.add(&item.statement);
                    last.rows += affected;
                    if state == State::SessionBound {
                        last.state = state;
                    }
                }
                _ => runs.push(Run { state, rows: affected, ..Run::new(&item.statement, &item.effects.table) }),
            }
        }
        if let Some(last) = runs.last_mut() {
            last.failed = failed;
        }
        let numbers = batch.iter().any(|item| !item.effects.counters.is_empty());
        let last_id = if numbers { LastId::OfSession } else { LastId::Known };
        let mut packets = Packets::new(self.packet_limit_bytes());
        for (index, run) in runs.iter().enumerate() {
            let checkpoint = run.checkpoint();
            packets.push(&match is_begun && index == 0 {
                true => checkpoints.close_statement(&checkpoint, last_id),
                false => checkpoints.write_statement(&checkpoint, last_id),
            });
        }
        packets.push(COMMIT);
        let written = packets.send(&mut self.connection);
        drop(self.connection.take_session_changes());
        match written {
            Ok(()) => Ok(()),
            // A session that may only read has changed nothing.
            Err(error) if error.code() == Some(READ_ONLY) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Sends `before` and all statements in as few packets as the server takes. `printed`: how many of the result sets that
    /// they return have been printed by an earlier attempt.
    fn send_together(&mut self, batch: &[BatchStatement], before: &[u8], printed: &mut usize) -> Result<Sent, Stopped> {
        if batch.len() > 1 && batch[0].applies_events() {
            return self.send_events(batch);
        }
        let mut text = before.to_vec();
        let mut are_own = vec![true; usize::from(!before.is_empty())];
        let mut previous = None;
        for item in batch {
            if !text.is_empty() {
                text.extend_from_slice(SEPARATOR);
            }
            if item.block.is_some() && item.block != previous && !self.is_forced() {
                text.extend_from_slice(SAVEPOINT);
                text.extend_from_slice(SEPARATOR);
                are_own.push(true);
            }
            previous = item.block;
            are_own.push(false);
            text.extend_from_slice(self.auto_increment_prefix(&item.statement.info).unwrap_or_default());
            text.extend_from_slice(&item.statement.text);
        }
        let mut results = Vec::with_capacity(are_own.len());
        let outcome = match check_packet(text.len(), self.packet_limit_bytes()) {
            Ok(()) => self.query_printing(&text, &mut results, printed),
            Err(error) => Err(error),
        };
        let results = results.into_iter().zip(are_own).filter(|(_, is_own)| !is_own).map(|(done, _)| done).collect();
        Ok(Sent { results, error: outcome.err() })
    }

    /// Sends BINLOG statements within the dump's transaction as one; where that fails, each by itself, so that the error is
    /// that of the right one. What came behind a BINLOG in its packet would not be answered in order (seen with 10.11).
    fn send_events(&mut self, batch: &[BatchStatement]) -> Result<Sent, Stopped> {
        let texts = batch.iter().map(|item| item.statement.text.as_slice());
        if let Some(merged) = merge_binlogs(texts) {
            let mut results = Vec::with_capacity(2);
            match self.query_together(&[SAVEPOINT, SEPARATOR, &merged].concat(), &mut results) {
                Ok(()) => {
                    results.resize_with(batch.len(), ExecResult::default);
                    results.rotate_left(1);
                    return Ok(Sent { results, error: None });
                }
                // A deadlock has rolled back more than that.
                Err(Error::Server(_)) if self.connection.execute(ROLLBACK_TO_SAVEPOINT).is_ok() => {}
                Err(error) => return Ok(Sent { results: Vec::new(), error: Some(error) }),
            }
        }
        let mut results = Vec::with_capacity(batch.len());
        for item in batch {
            match self.send(&item.statement) {
                Ok(done) => results.push(done),
                Err(error) => return Ok(Sent { results, error: Some(error) }),
            }
        }
        Ok(Sent { results, error: None })
    }

    /// Takes note of what became of statements; gives the rows of those that were tried, and whether the last of them failed.
    fn note_results(&mut self, batch: &[BatchStatement], sent: Sent) -> Result<(Vec<u64>, bool), Stopped> {
        let Sent { results, error } = sent;
        let mut rows: Vec<u64> = results.iter().map(|done| done.affected_rows).collect();
        // The server's reports are of the SETs where there are any.
        let reported = batch.iter().take(results.len()).position(BatchStatement::is_setting);
        for (index, (item, done)) in batch.iter().zip(results).enumerate() {
            self.handle_ran(&item.statement, &done, reported.is_none_or(|reported| reported == index))?;
        }
        let Some(error) = error else { return Ok((rows, false)) };
        let failed = batch.get(rows.len()).unwrap_or(&batch[batch.len() - 1]);
        // A syntax error quotes what follows it, which must be the statement's own text.
        let error = match error.code() {
            Some(PARSE_ERROR) => self.send(&failed.statement).err().unwrap_or(error),
            _ => error,
        };
        self.handle_result(&failed.statement, Err(error))?;
        rows.push(0);
        Ok((rows, true))
    }

    /// Rolls back, and sets counters back to what they were.
    fn roll_back_to(&mut self, counters: &BTreeMap<&TableName, u64>, batch: &[BatchStatement]) -> Result<(), Stopped> {
        self.replays();
        self.execute_own(ROLLBACK, batch)?;
        for (table, next) in counters {
            if let Err(error) = set_next_id(&mut self.connection, table, *next) {
                return self.record_failed(&batch[0].statement.location, &batch[0].statement.text, &error);
            }
        }
        Ok(())
    }

    /// Whether a transaction is open on the server, whatever the last answer was.
    fn has_transaction(&mut self) -> Result<bool, Stopped> {
        // Any statement's answer carries the session's status; this one does nothing on MariaDB and MySQL alike.
        match self.connection.execute(b"DO 0") {
            Ok(_) => Ok(self.status().in_transaction()),
            Err(_) => Ok(true),
        }
    }

    fn execute_own(&mut self, text: &[u8], batch: &[BatchStatement]) -> Result<(), Stopped> {
        match self.connection.execute(text) {
            Ok(_) => Ok(()),
            Err(error) => self.record_failed(&batch[0].statement.location, &batch[0].statement.text, &error),
        }
    }

    fn connection_rollback(&mut self) {
        // A connection that cannot do even that is over, and the server rolls back.
        let _ = self.connection.execute(ROLLBACK);
    }
}

/// The place in a batch, or that of the first statement of the dump's transaction that it stands in.
fn start_of_block(batch: &[BatchStatement], at: usize) -> usize {
    match batch.get(at).and_then(|item| item.block) {
        Some(block) => batch.iter().take_while(|item| item.block != Some(block)).count(),
        None => at,
    }
}

/// What is recorded of a batch as one run; it has numbered rows, so there is something.
fn run_of(batch: &[BatchStatement]) -> Run {
    let mut recorded = batch.iter().filter(|item| item.is_recorded());
    let first = recorded.next().unwrap_or(&batch[0]);
    let mut run = Run::new(&first.statement, &first.effects.table);
    for item in recorded {
        run.add(&item.statement);
    }
    run
}

impl Journal {
    /// Whether statements may be sent together now.
    pub(in crate::coordinator) fn takes_batches(&self) -> bool {
        matches!(self, Self::Idle | Self::Dump(_))
    }
}
