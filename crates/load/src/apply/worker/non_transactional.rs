//! Rows of tables that are not transactional.

use hortator_core::Seqno;
use hortator_mysql::Error;

use super::{Attempt, ChunkStats, Worker, is_of_server, number};
use crate::apply::chunk::{Chunk, RowTarget};
use crate::apply::row_sender::Protocol;
use crate::report::Failure;

impl Worker<'_> {
    /// Statements on a table that is not transactional: each commits implicitly, and none is sent twice.
    pub(super) fn apply_non_transactional(&mut self, seqno: Seqno, chunk: &Chunk, target: &RowTarget) -> Attempt {
        let mut stats = ChunkStats::default();
        let mut failed = None;
        let mut last_id = 0;
        let mut failures = Vec::new();
        let force = self.pool.is_forced();
        if let Err(error) = self.write_rows_intent(chunk, target) {
            return self.fail_checkpoint(seqno, chunk, &error);
        }
        let mut done_to = 0;
        let mut has_ended = false;
        self.targets.local_rows(&target.table.name);
        let outcome = self.on_connection(chunk, |connection, sender, pool| {
            if target.implicit_id {
                connection.execute(b"SET last_insert_id = 0")?;
            }
            for (index, statement) in chunk.statements.iter().enumerate() {
                if pool.is_cancelled_at(seqno) {
                    break;
                }
                done_to = index + 1;
                has_ended = false;
                match sender.send_text(connection, &statement.text, target) {
                    Ok(done) => stats.add(&done, Protocol::Text, 1),
                    Err(Error::Server(_)) if pool.is_interrupted() => break,
                    Err(error @ Error::Server(_)) => {
                        failures.push(Failure::new(statement, &error));
                        if !force {
                            break;
                        }
                    }
                    Err(error) => {
                        failed = Some(Failure::new(statement, &error));
                        return Err(error);
                    }
                }
                has_ended = true;
            }
            if target.implicit_id {
                last_id = number(connection, b"SELECT LAST_INSERT_ID()")?;
            }
            Ok(())
        });
        stats.last_id = last_id;
        stats.failed = if force { failures.len() as u64 } else { 0 };
        // An interrupted statement may have inserted some of its rows: the intent stays, and a resumed load counts the rows
        // of the table.
        if outcome.is_ok()
            && (has_ended || done_to == 0)
            && let Err(error) = self.mark_applied(chunk, done_to, &stats)
        {
            self.pool.fail(seqno, Failure::of_checkpoint_error(&chunk.statements[0], &error), true);
        }
        stats.count(target, self.progress);
        if last_id > 0 {
            self.pool.generated_id(seqno, last_id);
        }
        for failure in failures {
            self.pool.fail(seqno, failure, false);
        }
        if let Err(error) = outcome
            && !self.pool.is_interrupted()
        {
            let failure = failed.unwrap_or_else(|| Failure::new(&chunk.statements[0], &error));
            self.lost_or_failed(seqno, failure, &error);
        }
        Attempt::Done
    }

    /// The checkpoint could not be written: the load ends at this position.
    pub(super) fn fail_checkpoint(&self, seqno: Seqno, chunk: &Chunk, error: &Error) -> Attempt {
        if !self.pool.is_interrupted() {
            self.lost_or_failed(seqno, Failure::of_checkpoint_error(&chunk.statements[0], error), error);
        }
        Attempt::Done
    }

    /// Ends the load at this position; after a lost connection, the load may resume from its checkpoints.
    pub(super) fn lost_or_failed(&self, seqno: Seqno, failure: Failure, error: &Error) {
        if self.checkpoints.is_some() && (!is_of_server(error) || error.is_unready()) {
            self.pool.fail_lost(seqno, failure);
        } else {
            self.pool.fail(seqno, failure, true);
        }
    }
}
