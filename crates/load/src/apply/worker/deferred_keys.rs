//! Keys that are built after the rows of their table.

use hortator_core::Seqno;
use hortator_mysql::Error;
use hortator_mysql::catalog::TableName;

use super::Worker;
use crate::apply::chunk::Chunk;
use crate::deferred_keys::Origin;
use crate::report::Failure;

impl Worker<'_> {
    /// Drops the keys of a table that can be built later. The chunk stands at the table's CREATE TABLE or first rows.
    pub(super) fn drop_keys(&mut self, seqno: Seqno, chunk: &Chunk, table: &TableName, origin: Origin) {
        let (Some(checkpoints), Some(deferred_keys)) = (self.checkpoints, self.deferred_keys) else { return };
        let statement = &chunk.statements[0];
        match deferred_keys.drop_keys(checkpoints, table, origin, &statement.location) {
            Err(error @ Error::Server(_)) => {
                self.pool.fail(seqno, Failure::of_checkpoint_error(statement, &error), true);
            }
            Err(error) => self.lost_or_failed(seqno, Failure::new(statement, &error), &error),
            Ok(()) => {}
        }
    }

    /// Builds them. Without them, the load cannot go on: later statements may need them.
    pub(super) fn build_keys(&mut self, seqno: Seqno, chunk: &Chunk, table: &TableName) {
        let (Some(checkpoints), Some(deferred_keys)) = (self.checkpoints, self.deferred_keys) else { return };
        if let Err(failed) = deferred_keys.build_keys(checkpoints, table, self.progress) {
            let failure = failed.failure(&chunk.statements[0].text);
            self.lost_or_failed(seqno, failure, &failed.error);
        }
    }
}
