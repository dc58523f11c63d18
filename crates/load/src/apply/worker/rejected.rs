//! Statements that fail in a forced load go to the file of `--reject`, before they count as done.

use super::Worker;
use crate::apply::chunk::{Chunk, ChunkStatement};
use crate::rejects::{RejectError, Rejected, Repeat, Written, repeat_of_rows};
use crate::report::Failure;

impl Worker<'_> {
    /// Puts failed statements of a chunk into the file; does nothing without one. To be undone by [`Self::reopen_rejected`] if
    /// the chunk is rolled back after all.
    pub(super) fn reject(&self, chunk: &Chunk, failed: &[(&ChunkStatement, Failure)]) -> Result<Written, RejectError> {
        let Some(rejects) = self.rejects.filter(|_| !failed.is_empty()) else { return Ok(Written::default()) };
        let rejected: Vec<Rejected<'_>> = failed
            .iter()
            .map(|(statement, failure)| {
                let repeat = match statement.tuples {
                    Some(offset) => repeat_of_rows(&statement.text, offset, &chunk.dialect),
                    None => Repeat::AsWritten,
                };
                rejected(chunk, statement, &statement.text, failure, repeat)
            })
            .collect();
        rejects.append(&rejected)
    }

    /// The statements are applied again.
    pub(super) fn reopen_rejected(&self, written: Written) {
        if let Some(rejects) = self.rejects {
            rejects.reopen(written);
        }
    }
}

/// A statement of a chunk, or what is left of it.
pub(super) fn rejected<'r>(
    chunk: &'r Chunk,
    statement: &ChunkStatement,
    text: &'r [u8],
    failure: &'r Failure,
    repeat: Repeat,
) -> Rejected<'r> {
    let ordinal = statement.location.ordinal;
    Rejected { ordinal, text, failure, session: &chunk.session, dialect: chunk.dialect, repeat }
}
