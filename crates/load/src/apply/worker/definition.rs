//! Definitions, which commit by themselves: one statement at a time, or several that add keys to a table as one.

use std::sync::atomic::Ordering::Relaxed;

use hortator_core::Seqno;
use hortator_mysql::Error;

use super::{ChunkStats, PAUSE, REPLAYS_LIMIT, Worker, is_of_server};
use crate::apply::chunk::Chunk;
use crate::report::Failure;
use crate::analysis::merge_key_additions;

/// What became of a statement that commits by itself.
enum Defined {
    /// It is done; or the load ends here, which is told.
    Over,
    /// The server refuses it, and nothing of it is there. Its record still says that it has begun.
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
        if let Err(error) = self.end_begun(chunk, 0, &ChunkStats::default()) {
            self.cannot_begin(seqno, chunk, &error);
            return false;
        }
        true
    }

    /// A chunk of one statement.
    fn define(&mut self, seqno: Seqno, chunk: &Chunk) {
        let statement = &chunk.statements[0];
        let Defined::Refused(error) = self.with_intent(seqno, chunk, &statement.text) else { return };
        // Forced on, it is not to be tried again either.
        let covered = usize::from(self.pool.is_forced());
        let recorded = self.end_begun(chunk, covered, &ChunkStats { failed: 1, ..ChunkStats::default() });
        self.pool.fail(seqno, Failure::new(statement, &error), false);
        if let Err(error) = recorded {
            self.cannot_begin(seqno, chunk, &error);
        }
    }

    /// Sends a statement between a record that the chunk has begun and one that it has ended. A deadlock leaves nothing of
    /// it; a lost connection leaves that open.
    fn with_intent(&mut self, seqno: Seqno, chunk: &Chunk, text: &[u8]) -> Defined {
        if let Err(error) = self.begin_definition(chunk) {
            self.cannot_begin(seqno, chunk, &error);
            return Defined::Over;
        }
        let mut replays = 0;
        loop {
            match self.on_connection(chunk, |connection, sender, _| sender.send_alone(connection, text)) {
                Ok(done) => {
                    let statements = chunk.statements.len();
                    self.progress.warnings.fetch_add(done.warnings.into(), Relaxed);
                    self.progress.text_statements.fetch_add(statements as u64, Relaxed);
                    if let Err(error) = self.end_begun(chunk, statements, &ChunkStats::default()) {
                        self.cannot_begin(seqno, chunk, &error);
                    }
                    return Defined::Over;
                }
                Err(_) if self.pool.is_interrupted() => return Defined::Over,
                Err(error) if error.is_transient() && replays < REPLAYS_LIMIT => {
                    replays += 1;
                    self.progress.replays.fetch_add(1, Relaxed);
                    std::thread::sleep(PAUSE);
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
