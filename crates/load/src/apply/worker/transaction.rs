//! One attempt at a chunk as a transaction, up to its commit in the table's order.

use std::time::Duration;

use hortator_core::{Key, Seqno};
use hortator_mysql::{Error, awaits_definition};

use super::journal::ChunkStart;
use super::{Attempt, COMMIT_SLOT_TIMEOUT, ChunkStats, Worker, number};
use crate::apply::chunk::{Chunk, RowTarget};
use crate::apply::commit_queues::CommitSlot;
use crate::apply::row_sender::{Protocol, is_in_transaction, rolled_back_by_server};
use crate::report::Failure;

/// How often a chunk waits for its commit slot before it assumes that its locks block an earlier chunk, if the server does
/// not report lock waits.
const BLIND_WAITS_LIMIT: u32 = 20;
/// How often it waits before it asks whether the earlier chunk waits for the definition of its table: behind an ALTER TABLE of
/// another session, which waits for this transaction.
const DEFINITION_WAITS: u32 = 3;

impl Worker<'_> {
    /// One attempt at a chunk as a transaction.
    pub(super) fn transaction(
        &mut self,
        seqno: Seqno,
        chunk: &Chunk,
        target: &RowTarget,
        commit_queue: Option<Key>,
        merge: bool,
        start: &mut ChunkStart,
    ) -> Attempt {
        let force = self.pool.is_forced();
        let placed = self.checkpoints.map_or(Ok(()), |checkpoints| start.place_record(checkpoints, chunk, target));
        if let Err(error) = placed {
            return self.fail_checkpoint(seqno, chunk, &error);
        }
        let began_in_commit_slot = commit_queue.is_none_or(|commit_queue| {
            self.pool.wait_for_commit_slot(seqno, commit_queue, Duration::ZERO) == CommitSlot::Ready
        });
        let mut failures = Vec::new();
        let mut stats = ChunkStats::default();
        let mut last_id = 0;
        let checkpoints = self.checkpoints;
        // Statements that are committed if this attempt is: those before the first that failed.
        let mut covered = 0;
        let outcome = self.on_connection(chunk, |connection, sender, pool| {
            if target.implicit_id {
                start.counter(connection, checkpoints, chunk, target)?;
            }
            connection.execute(b"START TRANSACTION")?;
            if target.implicit_id {
                connection.execute(b"SET last_insert_id = 0")?;
            }
            let mut at = 0;
            while let Some(statement) = chunk.statements.get(at) {
                if pool.is_cancelled_at(seqno) {
                    return Ok(Some(Attempt::Cancelled));
                }
                let together = if merge { sender.mergeable(connection, &chunk.statements[at..], target) } else { 1 };
                if together > 1 {
                    let group = &chunk.statements[at..at + together];
                    let Some(done) = sender.send_merged(connection, group, target, &chunk.dialect)? else {
                        return Ok(Some(Attempt::RetryUnmerged));
                    };
                    stats.add(&done, Protocol::Binary, together as u64);
                } else {
                    match sender.send(connection, statement, target, &chunk.dialect) {
                        Ok((done, way)) => stats.add(&done, way, 1),
                        Err(error @ Error::Server(_)) if !error.is_transient() => {
                            if pool.is_interrupted() {
                                return Ok(Some(Attempt::Cancelled));
                            }
                            if !is_in_transaction(connection)? {
                                // The server has rolled back more than the statement.
                                return Err(error);
                            }
                            failures.push((statement, Failure::new(statement, &error)));
                            if !force {
                                break;
                            }
                        }
                        Err(error) => return Err(error),
                    }
                }
                at += together;
                covered = at;
            }
            if target.implicit_id {
                last_id = number(connection, b"SELECT LAST_INSERT_ID()")?;
            }
            Ok(None)
        });
        match outcome {
            Ok(None) => {}
            Ok(Some(attempt)) => return self.rolled_back(attempt),
            Err(error) => return self.rolled_back(Attempt::Replay(error)),
        }
        if !failures.is_empty() && !began_in_commit_slot {
            // Earlier rows may have been missing: a failure counts only in the commit slot.
            return self.rolled_back(Attempt::Yield);
        }
        if !failures.is_empty() && chunk.is_transaction() {
            for (_, failure) in failures {
                self.pool.fail(seqno, failure, true);
            }
            return self.rolled_back(Attempt::Done);
        }
        if let Some(commit_queue) = commit_queue
            && let Some(attempt) = self.enter_commit_slot(seqno, commit_queue)
        {
            return self.rolled_back(attempt);
        }
        if self.pool.is_cancelled_at(seqno) {
            return self.rolled_back(Attempt::Cancelled);
        }
        if self.connection.as_ref().is_some_and(|current| !current.connection.status().in_transaction()) {
            // What is gone is not to be committed, whoever took it away.
            return self.rolled_back(Attempt::Replay(rolled_back_by_server()));
        }
        stats.last_id = last_id;
        stats.failed = if force { failures.len() as u64 } else { 0 };
        let rejected = match self.reject(chunk, &failures) {
            Ok(rejected) => rejected,
            Err(error) => {
                let statement = failures.first().map_or(&chunk.statements[0], |(statement, _)| *statement);
                let failure = Failure::finding(&statement.location, &statement.text, error.to_string());
                self.pool.fail(seqno, failure, true);
                return self.rolled_back(Attempt::Done);
            }
        };
        if let Err(attempt) = self.commit_recorded(seqno, chunk, target, covered, &stats, start) {
            self.reopen_rejected(rejected);
            return attempt;
        }
        stats.count(&target.table.name, self.progress);
        self.applied_rows += stats.rows;
        if last_id > 0 {
            self.pool.generated_id(seqno, last_id);
        }
        for (_, failure) in failures {
            self.pool.fail(seqno, failure, false);
        }
        Attempt::Done
    }

    /// Writes the checkpoint and commits. An error is what becomes of the chunk where that is not done.
    fn commit_recorded(
        &mut self,
        seqno: Seqno,
        chunk: &Chunk,
        target: &RowTarget,
        covered: usize,
        stats: &ChunkStats,
        start: &mut ChunkStart,
    ) -> Result<(), Attempt> {
        match self.write_checkpoint(chunk, covered, stats, start) {
            Ok(true) => {}
            // An earlier attempt has been committed after all.
            Ok(false) => {
                self.rolled_back(Attempt::Done);
                return Ok(());
            }
            Err(error) if error.is_lost() || error.is_transient() => {
                return Err(self.rolled_back(Attempt::Replay(error)));
            }
            Err(error) => {
                self.pool.fail(seqno, Failure::of_checkpoint_error(&chunk.statements[0], &error), true);
                return Err(self.rolled_back(Attempt::Done));
            }
        }
        let Err(error) = self.commit() else {
            self.committed(seqno, chunk, covered, stats, start);
            return Ok(());
        };
        Err(match error {
            Error::Server(_) if self.pool.is_interrupted() => self.rolled_back(Attempt::Cancelled),
            Error::Server(_) if error.is_transient() => self.rolled_back(Attempt::Replay(error)),
            Error::Server(_) => {
                self.pool.fail(seqno, Failure::of_commit(chunk, &error), true);
                self.rolled_back(Attempt::Done)
            }
            _ => {
                self.connection = None;
                match self.was_committed(chunk, target, covered, start) {
                    Ok(Some(true)) => {
                        self.committed(seqno, chunk, covered, stats, start);
                        return Ok(());
                    }
                    Ok(Some(false)) => Attempt::Replay(error),
                    Ok(None) | Err(_) => {
                        self.pool.fail(seqno, Failure::ambiguous_commit(chunk, &error), true);
                        Attempt::Done
                    }
                }
            }
        })
    }

    /// A transaction is committed: where it has no record, that is recorded now.
    fn committed(&mut self, seqno: Seqno, chunk: &Chunk, covered: usize, stats: &ChunkStats, start: &ChunkStart) {
        if start.is_local()
            && let Err(error) = self.mark_committed(chunk, covered, stats)
        {
            self.fail_checkpoint(seqno, chunk, &error);
        }
    }

    /// Waits for the commit slot with the transaction open; returns what to do instead of committing, if anything.
    fn enter_commit_slot(&mut self, seqno: Seqno, commit_queue: Key) -> Option<Attempt> {
        let mut waited = 0;
        while self.pool.wait_for_commit_slot(seqno, commit_queue, COMMIT_SLOT_TIMEOUT) == CommitSlot::TimedOut {
            waited += 1;
            if self.pool.is_cancelled_at(seqno) {
                return Some(Attempt::Cancelled);
            }
            match self.blocks_others() {
                Ok(holds) if holds.unwrap_or(waited >= BLIND_WAITS_LIMIT) => return Some(Attempt::Yield),
                Ok(_) if waited < DEFINITION_WAITS => {}
                Ok(_) => match self.connection.as_mut().map(|current| awaits_definition(&mut current.connection)) {
                    Some(Ok(true)) => return Some(Attempt::Yield),
                    Some(Err(error)) => return Some(Attempt::Replay(error)),
                    Some(Ok(false)) | None => {}
                },
                Err(error) => return Some(Attempt::Replay(error)),
            }
        }
        None
    }

    /// Whether another transaction waits for this one's locks; `None` where the server does not say.
    fn blocks_others(&mut self) -> Result<Option<bool>, Error> {
        let lock_waits = self.pool.lock_waits();
        self.connection.as_mut().map_or(Ok(Some(false)), |current| lock_waits.blocks_others(&mut current.connection))
    }
}
