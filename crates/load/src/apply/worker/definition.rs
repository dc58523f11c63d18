//! DDL, which commits implicitly: one statement at a time, or several that add keys to a table as one.

use std::sync::atomic::Ordering::Relaxed;

use hortator_core::Seqno;
use hortator_mysql::Error;

use super::{ChunkStats, REPLAY_INTERVAL, REPLAYS_LIMIT, Worker, is_of_server};
use crate::analysis::merge_key_additions;
use crate::apply::chunk::Chunk;
use crate::report::Failure;

/// The result of a DDL statement.
enum Defined {
    /// The statement is applied, or its failure is recorded and ends the load.
    Over,
    /// The server refused the statement, which had no effect. Its intent is still recorded.
    Refused(Error),
}

impl Worker<'_> {
    /// A chunk of definitions.
    pub(super) fn definition(&mut self, seqno: Seqno, chunk: &Chunk) {
        let texts = || chunk.statements.iter().map(|statement| statement.text.as_slice());
        if chunk.statements.len() > 1
            && let Some(text) = merge_key_additions(texts(), &chunk.dialect)
            && !self.is_merged_refused(seqno, chunk, &text)
        {
            return;
        }
        for statement in &chunk.statements {
            if !self.pool.may_go_on_at(seqno) {
                return;
            }
            self.define(seqno, &chunk.of_one(statement));
        }
    }

    /// Sends all of the chunk's statements as one. If that is refused, each is to be sent as it is written: then the
    /// error, its place and what is done before it are theirs.
    fn is_merged_refused(&mut self, seqno: Seqno, chunk: &Chunk, text: &[u8]) -> bool {
        let Defined::Refused(_) = self.with_intent(seqno, chunk, text) else { return false };
        if let Err(error) = self.mark_applied(chunk, 0, &ChunkStats::default()) {
            self.fail_checkpoint(seqno, chunk, &error);
            return false;
        }
        true
    }

    /// A chunk of one statement.
    fn define(&mut self, seqno: Seqno, chunk: &Chunk) {
        let statement = &chunk.statements[0];
        let Defined::Refused(error) = self.with_intent(seqno, chunk, &statement.text) else { return };
        let failure = Failure::new(statement, &error);
        if let Err(error) = self.reject(chunk, &[(statement, failure.clone())]) {
            // It is not done, and to be tried again.
            let retracted = self.mark_applied(chunk, 0, &ChunkStats::default());
            self.pool.fail(seqno, Failure::finding(&statement.location, &statement.text, error.to_string()), true);
            if let Err(error) = retracted {
                self.fail_checkpoint(seqno, chunk, &error);
            }
            return;
        }
        // Forced on, it is not to be tried again either.
        let covered = usize::from(self.pool.is_forced());
        let recorded = self.mark_applied(chunk, covered, &ChunkStats { failed: 1, ..ChunkStats::default() });
        self.pool.fail(seqno, failure, false);
        if let Err(error) = recorded {
            self.fail_checkpoint(seqno, chunk, &error);
        }
    }

    /// Records the intent, sends the statement and marks the intent as applied. A deadlock means no effect; a lost
    /// connection leaves the statement in doubt.
    fn with_intent(&mut self, seqno: Seqno, chunk: &Chunk, text: &[u8]) -> Defined {
        if let Err(error) = self.write_ddl_intent(chunk) {
            self.fail_checkpoint(seqno, chunk, &error);
            return Defined::Over;
        }
        let mut replays = 0;
        loop {
            match self.on_connection(chunk, |connection, sender, _| sender.send_alone(connection, text)) {
                Ok(done) => {
                    let statements = chunk.statements.len();
                    self.progress.warnings.fetch_add(done.warnings.into(), Relaxed);
                    self.progress.text_statements.fetch_add(statements as u64, Relaxed);
                    if let Err(error) = self.mark_applied(chunk, statements, &ChunkStats::default()) {
                        self.fail_checkpoint(seqno, chunk, &error);
                    }
                    return Defined::Over;
                }
                Err(_) if self.pool.is_interrupted() => return Defined::Over,
                Err(error) if error.is_transient() && replays < REPLAYS_LIMIT => {
                    replays += 1;
                    self.progress.replays.fetch_add(1, Relaxed);
                    std::thread::sleep(REPLAY_INTERVAL);
                }
                Err(error) if is_of_server(&error) => return Defined::Refused(error),
                Err(error) => {
                    self.lost_or_failed(seqno, Failure::new(&chunk.statements[0], &error), &error);
                    return Defined::Over;
                }
            }
        }
    }
}
