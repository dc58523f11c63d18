//! Rows of tables that are not transactional.

use hortator_core::Seqno;
use hortator_mysql::{Connection, Error, quote_identifier};

use super::{Attempt, ChunkStats, Worker, is_of_server, number};
use crate::apply::chunk::{Chunk, ChunkStatement, RowTarget};
use crate::apply::row_sender::Protocol;
use crate::rejects::{RejectError, Rejects, Repeat, SOME_STAYED, remaining_rows, repeat_of_rows};
use crate::report::Failure;

impl Worker<'_> {
    /// Statements on a table that is not transactional: each commits implicitly, and none is sent twice.
    pub(super) fn apply_non_transactional(&mut self, seqno: Seqno, chunk: &Chunk, target: &RowTarget) -> Attempt {
        let mut stats = ChunkStats::default();
        let mut failed = None;
        let mut last_id = 0;
        let mut failures = Vec::new();
        let mut unkept = None;
        let force = self.pool.is_forced();
        if let Err(error) = self.write_rows_intent(chunk, target) {
            return self.fail_checkpoint(seqno, chunk, &error);
        }
        let mut done_to = 0;
        let mut has_ended = false;
        self.targets.local_rows(&target.table.name);
        let rejects = self.rejects;
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
                let before = rejects.map(|_| count_rows(connection, target)).transpose()?;
                match sender.send_text(connection, &statement.text, target) {
                    Ok(done) => stats.add(&done, Protocol::Text, 1),
                    Err(Error::Server(_)) if pool.is_interrupted() => break,
                    Err(error @ Error::Server(_)) => {
                        let failure = Failure::new(statement, &error);
                        if let (Some(rejects), Some(before)) = (rejects, before) {
                            let kept = count_rows(connection, target)?.checked_sub(before);
                            if let Err(error) = reject_rest(rejects, chunk, statement, &failure, kept) {
                                if kept == Some(0) {
                                    // It has left nothing, so what stands before it is all that was done.
                                    (done_to, has_ended) = (index, true);
                                }
                                unkept =
                                    Some(Failure::finding(&statement.location, &statement.text, error.to_string()));
                                break;
                            }
                        }
                        failures.push(failure);
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
        stats.count(&target.table.name, self.progress);
        self.applied_rows += stats.rows;
        if last_id > 0 {
            self.pool.generated_id(seqno, last_id);
        }
        for failure in failures {
            self.pool.fail(seqno, failure, false);
        }
        if let Some(failure) = unkept {
            self.pool.fail(seqno, failure, true);
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

/// The rows of a table.
fn count_rows(connection: &mut Connection, target: &RowTarget) -> Result<u64, Error> {
    let name = &target.table.name;
    let place = [quote_identifier(&name.schema), quote_identifier(&name.table)].join(&b'.');
    number(connection, &[b"SELECT COUNT(*) FROM ".as_slice(), &place].concat())
}

/// Puts a failed statement into the file of `--reject`, without its first `kept` rows, which have stayed.
fn reject_rest(
    rejects: &Rejects,
    chunk: &Chunk,
    statement: &ChunkStatement,
    failure: &Failure,
    kept: Option<u64>,
) -> Result<(), RejectError> {
    let offset = statement.tuples.unwrap_or_default();
    let rest = kept.and_then(|kept| remaining_rows(&statement.text, offset, &chunk.dialect, kept));
    let repeat = match repeat_of_rows(&statement.text, offset, &chunk.dialect) {
        Repeat::AsWritten if rest.is_none() => Repeat::WithNote(SOME_STAYED),
        repeat => repeat,
    };
    let text = rest.as_deref().unwrap_or(&statement.text);
    rejects.append(&[super::rejected::rejected(chunk, statement, text, failure, repeat)]).map(drop)
}
