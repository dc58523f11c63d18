//! A worker: one connection that applies chunks, each in a transaction that is replayed whole when it must be.
//!
//! Rooms: `transaction` is one attempt at a chunk, `unprotected` rows that no transaction protects, `definition` what
//! commits by itself, `recording` what is recorded of each, `link` the connection and its session.

mod definition;
mod link;
mod recording;
mod transaction;
mod unprotected;

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use hortator_core::{Key, Seqno};
use hortator_mysql::catalog::TableKind;
use hortator_mysql::{Connection, Error, ExecResult};

use super::chunk::{Chunk, RowTarget, Work};
use super::pool::{Pool, Turn};
use super::road::{Road, Way};
use crate::cluster::{Gate, Targets};
use crate::progress::Progress;
use crate::record::{Note, Records};
use crate::report::Failure;
use link::Link;
use recording::Begun;
pub(crate) use recording::set_next_id;

/// Times that a chunk is replayed after deadlocks, lock waits and lost connections before that counts as failed.
const REPLAYS_LIMIT: u32 = 30;
/// Replays after deadlocks and lock waits before a chunk is applied in transactions of one statement each: on a cluster
/// the writes of other nodes win, and the shorter a transaction is, the less likely is one to be in its way.
const REPLAYS_WHOLE: u32 = 10;
/// Before a replay.
const PAUSE: Duration = Duration::from_millis(200);
/// How long a chunk that is ready to commit waits before it looks whether its locks hold up an earlier one.
const TURN_PATIENCE: Duration = Duration::from_millis(500);
/// One of the connections that apply chunks.
#[derive(Debug)]
pub struct Worker<'l> {
    pool: &'l Pool,
    progress: &'l Progress,
    targets: &'l Targets,
    gate: &'l Gate,
    records: Option<&'l Records>,
    /// From 1; 0 is the main session.
    number: usize,
    link: Option<Link>,
    road: Road,
    /// See [`Road::new`].
    piece_rows: Option<usize>,
}

/// Ends a transaction of ours, whatever the dump has set as `completion_type`.
pub(crate) const COMMIT: &[u8] = b"COMMIT AND NO CHAIN NO RELEASE";
/// The same, with nothing of it left.
pub(crate) const ROLLBACK: &[u8] = b"ROLLBACK AND NO CHAIN NO RELEASE";
/// The server's refusal to change anything in a transaction that may only read.
pub(crate) const READ_ONLY: u16 = 1792;

/// What a chunk's statements did, counted once they are committed.
#[derive(Debug, Default)]
struct Sent {
    rows: u64,
    warnings: u64,
    by_array: u64,
    as_written: u64,
    /// LAST_INSERT_ID() behind them; 0 where they numbered nothing.
    last_id: u64,
    /// Statements that failed in a forced load.
    failed: u64,
}

impl Sent {
    /// What a record says of it.
    fn note(&self) -> Note {
        if self.failed > 0 { Note::Failed(self.failed) } else { Note::Nothing }
    }

    fn add(&mut self, done: &ExecResult, way: Way, statements: u64) {
        self.rows += done.affected_rows;
        self.warnings += u64::from(done.warnings);
        match way {
            Way::Typed => self.by_array += statements,
            Way::Text => self.as_written += statements,
        }
    }

    fn count(&self, target: &RowTarget, progress: &Progress) {
        progress.loaded(&target.table.name, self.rows);
        progress.warnings.fetch_add(self.warnings, Relaxed);
        progress.by_array.fetch_add(self.by_array, Relaxed);
        progress.as_written.fetch_add(self.as_written, Relaxed);
    }
}

/// What became of one attempt at a chunk.
enum Attempt {
    /// All that was to be done is committed.
    Done,
    /// Rolled back: to be applied again from its first statement.
    Replay(Error),
    /// Rolled back, because an earlier chunk waits for its locks: apply again when it is its turn.
    GiveWay,
    /// Rolled back: applied again, statement by statement.
    Unmerge,
    /// Rolled back: not to be done any more.
    Void,
}

impl<'l> Worker<'l> {
    /// A worker that connects when it gets its first chunk.
    #[must_use]
    pub fn new(
        number: usize,
        pool: &'l Pool,
        progress: &'l Progress,
        targets: &'l Targets,
        gate: &'l Gate,
        records: Option<&'l Records>,
    ) -> Self {
        Self { pool, progress, targets, gate, records, number, link: None, road: Road::default(), piece_rows: None }
    }

    /// Sends rows by prepared statements of so many rows, even where the server takes arrays.
    #[must_use]
    pub fn with_piece_rows(self, piece_rows: Option<usize>) -> Self {
        Self { piece_rows, ..self }
    }

    /// Applies chunks until there are no more.
    pub fn run(mut self) {
        while let Some((seqno, chunk)) = self.next_chunk() {
            self.progress.at(self.number, &chunk);
            match &chunk.work {
                Work::Rows { target, lane } => self.rows(seqno, &chunk, target, *lane, Begun::default()),
                Work::Definition => self.definition(seqno, &chunk),
            }
            self.progress.idle(self.number);
            self.progress.chunk_ended(&chunk);
            self.pool.complete(seqno, chunk.lane());
            self.gate.leave();
        }
    }

    /// The next chunk, once there is room for it: whoever is held back holds no chunk, so that nobody waits for it.
    fn next_chunk(&self) -> Option<(Seqno, Chunk)> {
        self.gate.enter(&|| self.pool.is_ending());
        let next = self.pool.take();
        if next.is_none() {
            self.gate.leave();
        }
        next
    }

    fn rows(&mut self, seqno: Seqno, chunk: &Chunk, target: &RowTarget, lane: Option<Key>, mut begun: Begun) {
        let transactional = target.table.kind == TableKind::Base { transactional: true };
        let mut merge = true;
        let mut in_turn = false;
        let mut replays = 0;
        let mut lost: Option<Error> = None;
        loop {
            if in_turn
                && let Some(lane) = lane
                && !self.wait_for_turn(seqno, lane)
            {
                return;
            }
            let attempt = if transactional {
                self.transaction(seqno, chunk, target, lane, merge, &mut begun)
            } else {
                self.one_by_one(seqno, chunk, target)
            };
            match attempt {
                Attempt::Done | Attempt::Void => return,
                Attempt::Unmerge => merge = false,
                Attempt::GiveWay => {
                    self.progress.replays.fetch_add(1, Relaxed);
                    in_turn = true;
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
                    if error.is_transient() && replays > REPLAYS_WHOLE && chunk.statements.len() > 1 {
                        return self.statement_by_statement(seqno, chunk, target, lane, begun);
                    }
                    if error.is_lost() {
                        lost = Some(error);
                    }
                    // The sole holder of the turn cannot be in conflict with its own kind again.
                    in_turn = replays > 1;
                    std::thread::sleep(PAUSE.min(Duration::from_millis(10) * replays));
                }
            }
        }
    }

    /// Each statement in a transaction of its own, in the chunk's turn: what fails ends the rest, as within a chunk.
    fn statement_by_statement(
        &mut self,
        seqno: Seqno,
        chunk: &Chunk,
        target: &RowTarget,
        lane: Option<Key>,
        mut begun: Begun,
    ) {
        if let Some(lane) = lane
            && !self.wait_for_turn(seqno, lane)
        {
            return;
        }
        for statement in &chunk.statements {
            if !self.pool.may_go_on_at(seqno) {
                return;
            }
            self.rows(seqno, &chunk.of_one(statement), target, lane, std::mem::take(&mut begun));
        }
    }

    /// Waits for the turn however long it takes; false when the chunk is not to be done any more.
    fn wait_for_turn(&self, seqno: Seqno, lane: Key) -> bool {
        while self.pool.await_turn(seqno, lane, TURN_PATIENCE) == Turn::NotYet {
            if self.pool.is_void_at(seqno) {
                return false;
            }
        }
        !self.pool.is_void_at(seqno)
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
