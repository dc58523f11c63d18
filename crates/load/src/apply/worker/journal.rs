//! The checkpoints of a worker.

use std::time::{Duration, Instant};

use hortator_mysql::catalog::TableName;
use hortator_mysql::{Connection, Error, quote_identifier, quote_string};

use super::{ChunkStats, READ_ONLY, Worker, number};
use crate::analysis::is_durable_ddl;
use crate::apply::chunk::{Chunk, ChunkStatement, RowTarget, Work};
use crate::checkpoint::{Checkpoint, Checkpoints, RecoveryHint, Span, State, digest, fingerprint};

/// How long the checkpoint of a commit without an answer is asked for, and how often.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(30);
const LOOKUP_PAUSE: Duration = Duration::from_millis(200);

/// The engine whose rows and commits are all or nothing.
const INNODB: &[u8] = b"InnoDB";

/// Duplicate entry for a key.
const DUPLICATE: u16 = 1062;

/// The start of a chunk, over all attempts.
#[derive(Debug, Default)]
pub(super) struct ChunkStart {
    /// The table's next AUTO_INCREMENT value before the first attempt.
    next_id: Option<u64>,
    /// The intent of the chunk is recorded.
    is_recorded: bool,
    /// The rows are the first of their table, which this load has created.
    is_first: bool,
    /// The intent is in the local journal, and the transaction has no record.
    is_local: bool,
}

impl ChunkStart {
    /// Of a chunk that has only that to say so far.
    pub(super) fn of_first_rows(is_first: bool) -> Self {
        Self { is_first, ..Self::default() }
    }

    /// The rows are recorded in the local journal, and not in their transaction.
    pub(super) fn is_local(&self) -> bool {
        self.is_local
    }

    /// Decides, before the transaction, where the rows are recorded. Without a record on the server, the table tells a load
    /// that resumes whether they are committed: it has no other rows.
    pub(super) fn place_record(
        &mut self,
        checkpoints: &Checkpoints,
        chunk: &Chunk,
        target: &RowTarget,
    ) -> Result<(), Error> {
        if self.is_local || checkpoints.is_on_server() {
            return Ok(());
        }
        let is_only_table = self.is_first && !target.implicit_id && target.table.engine.eq_ignore_ascii_case(INNODB);
        if is_only_table && let Some(intent) = first_rows_intent(chunk, &target.table.name) {
            self.is_local = checkpoints.begin_rows_locally(&intent)?;
            return Ok(());
        }
        checkpoints.register()
    }

    /// For rows with generated AUTO_INCREMENT values, which do not roll back: the first attempt reads and records the next
    /// value, later attempts reset the table to it.
    pub(super) fn counter(
        &mut self,
        connection: &mut Connection,
        checkpoints: Option<&Checkpoints>,
        chunk: &Chunk,
        target: &RowTarget,
    ) -> Result<(), Error> {
        let table = &target.table.name;
        let Some(next_id) = self.next_id else {
            let next_id = next_id(connection, table)?;
            if let (Some(checkpoints), Some(span)) = (checkpoints, span(&chunk.statements)) {
                let recovery_hint = RecoveryHint::Counters(vec![(table.clone(), next_id)]);
                let checkpoint = Checkpoint {
                    span,
                    state: State::Intent,
                    table: table.to_string(),
                    rows: 0,
                    last_id: 0,
                    recovery_hint,
                };
                match checkpoints.write(connection, &checkpoint) {
                    // Written by an attempt that got no answer; nothing has moved the counter since.
                    Err(error) if error.code() == Some(DUPLICATE) => {}
                    written => drop(written?),
                }
                self.is_recorded = true;
            }
            self.next_id = Some(next_id);
            return Ok(());
        };
        set_next_id(connection, table, next_id)
    }
}

/// A table's next AUTO_INCREMENT value; 0 where it has none.
fn next_id(connection: &mut Connection, table: &TableName) -> Result<u64, Error> {
    // The dump may limit what a SELECT reads, for which each row of information_schema counts.
    let query = [
        b"/*M! SET STATEMENT max_join_size=18446744073709551615 FOR */ \
          SELECT /*+ SET_VAR(max_join_size=18446744073709551615) */ AUTO_INCREMENT \
          FROM information_schema.TABLES WHERE TABLE_SCHEMA = "
            .as_slice(),
        &quote_string(&table.schema),
        b" AND TABLE_NAME = ",
        &quote_string(&table.table),
    ]
    .concat();
    number(connection, &query)
}

/// Sets a table's next AUTO_INCREMENT value; no lower than its rows allow.
pub(crate) fn set_next_id(connection: &mut Connection, table: &TableName, next_id: u64) -> Result<(), Error> {
    if next_id == 0 {
        return Ok(());
    }
    let place = [quote_identifier(&table.schema), quote_identifier(&table.table)].join(&b'.');
    let statement = [b"ALTER TABLE ".as_slice(), &place, format!(" AUTO_INCREMENT = {next_id}").as_bytes()].concat();
    match connection.execute(&statement) {
        // An account that may only insert: the numbers are then as after any load that was rolled back.
        Err(Error::Server(_)) | Ok(_) => Ok(()),
        Err(error) => Err(error),
    }
}

fn count_rows(connection: &mut Connection, table: &TableName) -> Result<u64, Error> {
    let place = [quote_identifier(&table.schema), quote_identifier(&table.table)].join(&b'.');
    number(connection, &[b"SELECT COUNT(*) FROM ".as_slice(), &place].concat())
}

/// The intent of the first rows of a table.
pub(super) fn first_rows_intent(chunk: &Chunk, table: &TableName) -> Option<Checkpoint> {
    let (table, recovery_hint) = (table.to_string(), RecoveryHint::Rows(0));
    let span = span(&chunk.statements)?;
    Some(Checkpoint { span, state: State::Intent, table, rows: 0, last_id: 0, recovery_hint })
}

/// The run that these statements are; `None` for none.
pub(super) fn span(statements: &[ChunkStatement]) -> Option<Span> {
    let (first, last) = (statements.first()?, statements.last()?);
    Some(Span {
        first: first.location.ordinal,
        last: last.location.ordinal,
        digest: digest(statements.iter().map(|statement| statement.text.as_slice())),
        file: first.location.file.to_string(),
        line: first.location.line,
        byte: first.location.byte,
        end_byte: last.location.byte + last.text.len() as u64,
    })
}

/// The checkpoint of the first `covered` statements of a chunk.
fn checkpoint_of(chunk: &Chunk, covered: usize, stats: &ChunkStats) -> Option<Checkpoint> {
    let table = match &chunk.work {
        Work::Rows { target, .. } => target.table.name.to_string(),
        Work::FirstRows { form, .. } => form.name.to_string(),
        Work::Definition { .. } | Work::DropKeys { .. } | Work::BuildKeys(_) => String::new(),
    };
    let span = span(&chunk.statements[..covered])?;
    Some(Checkpoint {
        span,
        state: State::Applied,
        table,
        rows: stats.rows,
        last_id: stats.last_id,
        recovery_hint: chunk.transaction_begin().map_or_else(|| stats.recovery_hint(), RecoveryHint::PartOf),
    })
}

/// Records an intent in the local journal where there is one, else over this connection.
fn begin(checkpoints: &Checkpoints, connection: &mut Connection, intent: &Checkpoint) -> Result<(), Error> {
    match checkpoints.begin_locally(intent)? {
        true => Ok(()),
        false => checkpoints.write(connection, intent).map(drop),
    }
}

impl Worker<'_> {
    /// Checkpoints, within the open transaction, that the first `covered` statements of the chunk are done. False where
    /// that is recorded already, by an attempt whose commit went unanswered.
    pub(super) fn write_checkpoint(
        &mut self,
        chunk: &Chunk,
        covered: usize,
        stats: &ChunkStats,
        start: &ChunkStart,
    ) -> Result<bool, Error> {
        let (Some(checkpoints), Some(current)) = (self.checkpoints, &mut self.connection) else { return Ok(true) };
        if start.is_local {
            return Ok(true);
        }
        let first = chunk.statements[0].location.ordinal;
        let Some(checkpoint) = checkpoint_of(chunk, covered, stats) else {
            // Nothing of it stays.
            if start.is_recorded {
                checkpoints.retract(&mut current.connection, first)?;
            }
            return Ok(true);
        };
        if start.is_recorded {
            return Ok(checkpoints.close(&mut current.connection, &checkpoint)?.affected_rows > 0);
        }
        match checkpoints.write(&mut current.connection, &checkpoint) {
            Err(error) if error.code() == Some(DUPLICATE) => Ok(false),
            // All of it was refused, so there is nothing to record.
            Err(error) if error.code() == Some(READ_ONLY) => Ok(true),
            written => written.map(|_| true),
        }
    }

    /// The first `covered` statements of a chunk are committed without a record: records that.
    pub(super) fn mark_committed(&mut self, chunk: &Chunk, covered: usize, stats: &ChunkStats) -> Result<(), Error> {
        let Some(checkpoints) = self.checkpoints else { return Ok(()) };
        let checkpoint = checkpoint_of(chunk, covered, stats);
        let is_marked = match &checkpoint {
            Some(checkpoint) => checkpoints.close_locally(checkpoint, None)?,
            None => checkpoints.retract_locally(chunk.statements[0].location.ordinal)?,
        };
        // Else the intent has gone to the server meanwhile.
        if is_marked { Ok(()) } else { self.mark_on_server(chunk, checkpoint.as_ref()) }
    }

    /// Whether a commit without an answer is applied; `None` without checkpoints, or if there was nothing to record. A node
    /// that has just left its cluster may still take a connection, and then no statement: it is asked again, or another.
    pub(super) fn was_committed(
        &mut self,
        chunk: &Chunk,
        target: &RowTarget,
        covered: usize,
        start: &ChunkStart,
    ) -> Result<Option<bool>, Error> {
        let Some(checkpoints) = self.checkpoints.filter(|_| covered > 0) else { return Ok(None) };
        let first = chunk.statements[0].location.ordinal;
        if start.is_local {
            return self.rows_after_loss(chunk, &target.table.name).map(|rows| Some(rows > 0));
        }
        self.ask_after_loss(chunk, |connection| checkpoints.is_applied(connection, first)).map(Some)
    }

    /// The rows of a table, once the session is over that has lost its connection.
    pub(super) fn rows_after_loss(&mut self, chunk: &Chunk, table: &TableName) -> Result<u64, Error> {
        self.ask_after_loss(chunk, |connection| count_rows(connection, table))
    }

    fn ask_after_loss<T>(
        &mut self,
        chunk: &Chunk,
        ask: impl Fn(&mut Connection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let begun = Instant::now();
        loop {
            match self.on_connection(chunk, |connection, _, _| ask(connection)) {
                Err(error)
                    if (error.is_unready() || error.is_lost())
                        && begun.elapsed() < LOOKUP_TIMEOUT
                        && !self.pool.is_interrupted() =>
                {
                    std::thread::sleep(LOOKUP_PAUSE);
                }
                outcome => return outcome,
            }
        }
    }

    /// Records the intent of DDL. All statements of the chunk are on the table of the first.
    pub(super) fn write_ddl_intent(&mut self, chunk: &Chunk) -> Result<(), Error> {
        let Some(checkpoints) = self.checkpoints else { return Ok(()) };
        let Work::Definition { info, creates_absent } = &chunk.work else { return Ok(()) };
        self.on_connection(chunk, |connection, _, _| {
            let recovery_hint = match *creates_absent && !info.is_idempotent() {
                true => RecoveryHint::Definition(None),
                false => fingerprint(connection, info)?,
            };
            let Some(checkpoint) = checkpoint_of(chunk, chunk.statements.len(), &ChunkStats::default()) else {
                return Ok(());
            };
            begin(checkpoints, connection, &Checkpoint { state: State::Intent, recovery_hint, ..checkpoint })
        })
    }

    /// Records the intent of rows of a table that is not transactional.
    pub(super) fn write_rows_intent(&mut self, chunk: &Chunk, target: &RowTarget) -> Result<(), Error> {
        let Some(checkpoints) = self.checkpoints else { return Ok(()) };
        self.on_connection(chunk, |connection, _, _| {
            let count = count_rows(connection, &target.table.name)?;
            let Some(checkpoint) = checkpoint_of(chunk, chunk.statements.len(), &ChunkStats::default()) else {
                return Ok(());
            };
            let recovery_hint = RecoveryHint::Rows(count);
            let intent = Checkpoint { state: State::Intent, recovery_hint, ..checkpoint };
            checkpoints.write(connection, &intent).map(drop)
        })
    }

    /// Marks the intent as applied for the first `covered` statements.
    pub(super) fn mark_applied(&mut self, chunk: &Chunk, covered: usize, stats: &ChunkStats) -> Result<(), Error> {
        let Some(checkpoints) = self.checkpoints else { return Ok(()) };
        let first = chunk.statements[0].location.ordinal;
        let checkpoint = checkpoint_of(chunk, covered, stats);
        let is_durable = chunk.statements.iter().all(|statement| is_durable_ddl(&statement.text));
        let is_local = match &checkpoint {
            Some(checkpoint) if is_durable => checkpoints.close_locally(checkpoint, None)?,
            Some(checkpoint) => checkpoints.close_with_server(checkpoint)?,
            None => checkpoints.retract_locally(first)?,
        };
        if is_local { Ok(()) } else { self.mark_on_server(chunk, checkpoint.as_ref()) }
    }

    fn mark_on_server(&mut self, chunk: &Chunk, checkpoint: Option<&Checkpoint>) -> Result<(), Error> {
        let Some(checkpoints) = self.checkpoints else { return Ok(()) };
        let first = chunk.statements[0].location.ordinal;
        self.on_connection(chunk, |connection, _, _| match checkpoint {
            Some(checkpoint) => checkpoints.close(connection, checkpoint).map(drop),
            None => checkpoints.retract(connection, first).map(drop),
        })
    }
}
