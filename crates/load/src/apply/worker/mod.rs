//! A worker: one connection that applies chunks, each in a transaction that is replayed whole when it must be.
//!
//! Modules: `transaction` is one attempt at a chunk, `non_transactional` rows of engines without transactions,
//! `definition` DDL, `rejected` what failed in a forced load, `deferred_keys` keys that are
//! built after the rows, `first_rows` rows of a table that is new, `journal` the checkpoints, `worker_connection` the connection and its session.

mod deferred_keys;
mod definition;
mod first_rows;
mod journal;
mod non_transactional;
mod rejected;
mod transaction;
mod worker_connection;

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use hortator_core::{Key, Seqno};
use hortator_mysql::catalog::{TableKind, TableName};
use hortator_mysql::{Connection, Error, ExecResult};

use super::catalog_connection::CatalogConnection;
use super::chunk::{Atomicity, Chunk, RowTarget, Work};
use super::commit_queues::CommitSlot;
use super::pool::Pool;
use super::row_sender::{Protocol, RowSender};
use super::worker_start::WorkerStart;
use crate::checkpoint::{Checkpoints, RecoveryHint};
use crate::cluster::Targets;
use crate::deferred_keys::DeferredKeys;
use crate::progress::Progress;
use crate::rejects::Rejects;
use crate::report::Failure;
use crate::throttle::Throttle;
use journal::ChunkStart;
pub(crate) use journal::set_next_id;
use worker_connection::WorkerConnection;

/// Times that a chunk is replayed after deadlocks, lock waits and lost connections before that counts as failed.
const REPLAYS_LIMIT: u32 = 30;
/// Replays after deadlocks and lock waits before a chunk is applied in transactions of one statement each: on a cluster
/// the writes of other nodes win, and the shorter a transaction is, the less likely is one to be in its way.
const REPLAYS_WHOLE: u32 = 10;
/// Before a replay.
const REPLAY_INTERVAL: Duration = Duration::from_millis(200);
/// How long a chunk waits for its commit slot before it checks whether its locks block an earlier chunk.
const COMMIT_SLOT_TIMEOUT: Duration = Duration::from_millis(500);
/// One of the connections that apply chunks.
#[derive(Debug)]
pub struct Worker<'l> {
    pool: &'l Pool,
    progress: &'l Progress,
    targets: &'l Targets,
    throttle: &'l Throttle,
    checkpoints: Option<&'l Checkpoints>,
    catalog: &'l CatalogConnection,
    /// `None` for a worker that gets no such chunk.
    deferred_keys: Option<&'l DeferredKeys>,
    /// Where statements go that fail in a forced load.
    rejects: Option<&'l Rejects>,
    /// From 1; 0 is the main session.
    number: usize,
    connection: Option<WorkerConnection>,
    /// Rows of the chunk under way.
    applied_rows: u64,
    sender: RowSender,
    /// See [`RowSender::new`].
    batch_rows: Option<usize>,
}

/// Ends a transaction of ours, whatever the dump has set as `completion_type`.
pub(crate) const COMMIT: &[u8] = b"COMMIT AND NO CHAIN NO RELEASE";
/// The same, with nothing of it left.
pub(crate) const ROLLBACK: &[u8] = b"ROLLBACK AND NO CHAIN NO RELEASE";
/// The server's refusal to change anything in a transaction that may only read.
pub(crate) const READ_ONLY: u16 = 1792;

/// What a chunk's statements did, counted once they are committed.
#[derive(Debug, Default)]
struct ChunkStats {
    rows: u64,
    warnings: u64,
    binary_statements: u64,
    text_statements: u64,
    /// LAST_INSERT_ID() behind them; 0 where they numbered nothing.
    last_id: u64,
    /// Statements that failed in a forced load.
    failed: u64,
}

impl ChunkStats {
    /// The recovery hint of a checkpoint.
    fn recovery_hint(&self) -> RecoveryHint {
        if self.failed > 0 { RecoveryHint::Failed(self.failed) } else { RecoveryHint::None }
    }

    fn add(&mut self, done: &ExecResult, way: Protocol, statements: u64) {
        self.rows += done.affected_rows;
        self.warnings += u64::from(done.warnings);
        match way {
            Protocol::Binary => self.binary_statements += statements,
            Protocol::Text => self.text_statements += statements,
        }
    }

    fn count(&self, table: &TableName, progress: &Progress) {
        progress.loaded(table, self.rows);
        progress.warnings.fetch_add(self.warnings, Relaxed);
        progress.binary_statements.fetch_add(self.binary_statements, Relaxed);
        progress.text_statements.fetch_add(self.text_statements, Relaxed);
    }
}

/// What became of one attempt at a chunk.
enum Attempt {
    /// All that was to be done is committed.
    Done,
    /// Rolled back: to be applied again from its first statement.
    Replay(Error),
    /// Rolled back, because an earlier chunk waits for its locks: apply again in the commit slot.
    Yield,
    /// Rolled back: applied again, statement by statement.
    RetryUnmerged,
    /// Rolled back: the chunk is cancelled.
    Cancelled,
}

impl<'l> Worker<'l> {
    /// A worker without a connection: [`Worker::run`] opens it.
    #[must_use]
    pub fn new(
        number: usize,
        pool: &'l Pool,
        progress: &'l Progress,
        targets: &'l Targets,
        throttle: &'l Throttle,
        checkpoints: Option<&'l Checkpoints>,
        catalog: &'l CatalogConnection,
    ) -> Self {
        Self {
            pool,
            progress,
            targets,
            throttle,
            checkpoints,
            catalog,
            deferred_keys: None,
            rejects: None,
            number,
            connection: None,
            applied_rows: 0,
            sender: RowSender::default(),
            batch_rows: None,
        }
    }

    /// Drops and builds deferred keys.
    #[must_use]
    pub(crate) fn with_deferred_keys(self, deferred_keys: &'l DeferredKeys) -> Self {
        Self { deferred_keys: Some(deferred_keys), ..self }
    }

    /// Keeps failed statements.
    #[must_use]
    pub(crate) fn with_rejects(self, rejects: Option<&'l Rejects>) -> Self {
        Self { rejects, ..self }
    }

    /// Sends rows in batches of this size instead of bulk execute.
    #[must_use]
    pub fn with_batch_rows(self, batch_rows: Option<usize>) -> Self {
        Self { batch_rows, ..self }
    }

    /// Connects once workers are needed, and applies chunks until there are no more.
    pub fn run(mut self, start: &WorkerStart) {
        let Some(connecting) = start.wait_for_request(self.number) else { return };
        let connected = self.connect();
        if !connecting.finish(connected) {
            return;
        }
        while let Some((seqno, mut chunk)) = self.pool.next(self.throttle) {
            self.progress.at(self.number, &chunk);
            if !self.insert_unseen(seqno, &chunk) {
                self.apply(seqno, &mut chunk);
            }
            self.progress.idle(self.number);
            self.progress.chunk_ended(&chunk);
            self.pool.complete(seqno, chunk.commit_queue());
            self.throttle.leave(std::mem::take(&mut self.applied_rows), chunk.text_bytes() as u64);
        }
    }

    fn apply(&mut self, seqno: Seqno, chunk: &mut Chunk) {
        let is_first =
            matches!(chunk.work, Work::FirstRows { atomicity: Atomicity::Statement, is_empty_before: true, .. });
        if let Work::FirstRows { form, atomicity, .. } = &chunk.work
            && let Some(target) = self.target_of_new(seqno, chunk, form)
        {
            chunk.work = Work::Rows { target, commit_queue: None, atomicity: *atomicity };
        }
        match &chunk.work {
            Work::Rows { target, commit_queue, .. } => {
                self.rows(seqno, chunk, target, *commit_queue, ChunkStart::of_first_rows(is_first));
            }
            // The load ends here.
            Work::FirstRows { .. } => {}
            Work::Definition { .. } => self.definition(seqno, chunk),
            Work::DropKeys { table, origin } => self.drop_keys(seqno, chunk, table, *origin),
            Work::BuildKeys(table) => self.build_keys(seqno, chunk, table),
        }
    }

    fn rows(
        &mut self,
        seqno: Seqno,
        chunk: &Chunk,
        target: &RowTarget,
        commit_queue: Option<Key>,
        mut start: ChunkStart,
    ) {
        let transactional = target.table.kind == TableKind::Base { transactional: true };
        let mut merge = true;
        let mut in_commit_slot = false;
        let mut replays = 0;
        let mut lost: Option<Error> = None;
        loop {
            if in_commit_slot
                && let Some(commit_queue) = commit_queue
                && !self.wait_for_commit_slot(seqno, commit_queue)
            {
                return;
            }
            let attempt = if transactional {
                self.transaction(seqno, chunk, target, commit_queue, merge, &mut start)
            } else {
                self.apply_non_transactional(seqno, chunk, target)
            };
            match attempt {
                Attempt::Done | Attempt::Cancelled => return,
                Attempt::RetryUnmerged => merge = false,
                Attempt::Yield => {
                    self.progress.replays.fetch_add(1, Relaxed);
                    in_commit_slot = true;
                }
                Attempt::Replay(_) if self.pool.is_interrupted() => return,
                Attempt::Replay(error) => {
                    self.progress.replays.fetch_add(1, Relaxed);
                    replays += 1;
                    let may_pass = error.is_transient() || error.is_lost();
                    let may_replay = transactional && may_pass && replays <= REPLAYS_LIMIT;
                    if !may_replay {
                        // Not one statement's failure, but the whole chunk's: going on would leave its rows out.
                        let failure = Failure::after_loss(&chunk.statements[0], &error, lost.as_ref());
                        return self.pool.fail(seqno, failure, true);
                    }
                    let may_divide = chunk.statements.len() > 1 && !chunk.is_transaction();
                    if error.is_transient() && replays > REPLAYS_WHOLE && may_divide {
                        return self.statement_by_statement(seqno, chunk, target, commit_queue, start);
                    }
                    if error.is_lost() {
                        lost = Some(error);
                    }
                    // In its commit slot, the chunk cannot conflict with other chunks of the table.
                    in_commit_slot = replays > 1;
                    std::thread::sleep(REPLAY_INTERVAL.min(Duration::from_millis(10) * replays));
                }
            }
        }
    }

    /// Each statement in its own transaction, in the commit slot of the chunk: a failure ends the rest, as within a chunk.
    fn statement_by_statement(
        &mut self,
        seqno: Seqno,
        chunk: &Chunk,
        target: &RowTarget,
        commit_queue: Option<Key>,
        mut start: ChunkStart,
    ) {
        if let Some(commit_queue) = commit_queue
            && !self.wait_for_commit_slot(seqno, commit_queue)
        {
            return;
        }
        for statement in &chunk.statements {
            if !self.pool.may_go_on_at(seqno) {
                return;
            }
            self.rows(seqno, &chunk.of_one(statement), target, commit_queue, std::mem::take(&mut start));
        }
    }

    /// Waits for the commit slot without a limit; false if the chunk is cancelled.
    fn wait_for_commit_slot(&self, seqno: Seqno, commit_queue: Key) -> bool {
        while self.pool.wait_for_commit_slot(seqno, commit_queue, COMMIT_SLOT_TIMEOUT) == CommitSlot::TimedOut {
            if self.pool.is_cancelled_at(seqno) {
                return false;
            }
        }
        !self.pool.is_cancelled_at(seqno)
    }
}

/// The number that a query gives; 0 for none.
fn number(connection: &mut Connection, query: &[u8]) -> Result<u64, Error> {
    let rows = connection.fetch(query)?;
    let value = rows.first().and_then(|row| row.first()?.as_deref());
    Ok(value.and_then(|value| std::str::from_utf8(value).ok()?.parse().ok()).unwrap_or(0))
}

/// Whether the server itself refused: the connection is good, and the refusal is the statement's own.
fn is_of_server(error: &Error) -> bool {
    matches!(error, Error::Server(_))
}
