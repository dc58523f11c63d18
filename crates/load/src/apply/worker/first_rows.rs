//! The first rows of a table that this load has created just before: what the server says of the table decides how they go.

use std::sync::Arc;

use hortator_core::Seqno;
use hortator_mysql::catalog::{Table, TableKind, TableName};

use super::journal::first_rows_intent;
use super::{ChunkStats, Worker, is_of_server};
use crate::apply::chunk::{Atomicity, Chunk, RowTarget, Work};
use crate::apply::row_sender::Protocol;
use crate::planner::first_rows::FirstRows;
use crate::report::Failure;

/// The longest statement that is sent as it is written: less than this is not worth a prepared statement.
const UNSEEN_BYTES: usize = 16 << 10;

impl Worker<'_> {
    /// Sends the only statement of a chunk as it is written, where nothing that the server could say of the table matters: it
    /// gives no number to these rows, and tells by its rows whether the statement is done. So the statement needs no transaction
    /// with a record, and is one by itself. False where nothing of it is done, and the chunk is to be applied as any.
    pub(super) fn insert_unseen(&mut self, seqno: Seqno, chunk: &Chunk) -> bool {
        let Work::FirstRows { form, atomicity: Atomicity::Statement, is_empty_before: true } = &chunk.work else {
            return false;
        };
        let ([statement], Some(checkpoints)) = (&chunk.statements[..], self.checkpoints) else { return false };
        let is_unnumbered = |offset| form.is_unnumbered(&statement.text, offset, chunk.dialect);
        if statement.text.len() > UNSEEN_BYTES
            || !statement.tuples.is_some_and(is_unnumbered)
            || self.pool.is_cancelled_at(seqno)
        {
            return false;
        }
        let Some(intent) = first_rows_intent(chunk, &form.name) else { return false };
        match checkpoints.begin_rows_in_open_journal(&intent) {
            Ok(true) => {}
            Ok(false) => return false,
            Err(error) => {
                self.fail_checkpoint(seqno, chunk, &error);
                return true;
            }
        }
        let mut stats = ChunkStats::default();
        let sent = self.on_connection(chunk, |connection, sender, _| sender.send_alone(connection, &statement.text));
        let is_done = match sent {
            Ok(done) => {
                stats.add(&done, Protocol::Text, 1);
                true
            }
            Err(_) if self.pool.is_interrupted() => return true,
            Err(error) if is_of_server(&error) && !error.is_unready() => false,
            Err(error) => match self.rows_after_loss(chunk, &form.name) {
                Ok(rows) => {
                    stats.rows = rows;
                    rows > 0
                }
                Err(_) => {
                    // The intent is on record: a load that resumes looks at the rows.
                    self.lost_or_failed(seqno, Failure::new(statement, &error), &error);
                    return true;
                }
            },
        };
        if let Err(error) = self.mark_committed(chunk, usize::from(is_done), &stats) {
            self.fail_checkpoint(seqno, chunk, &error);
            return true;
        }
        if is_done {
            stats.count(&form.name, self.progress);
            self.applied_rows += stats.rows;
        }
        is_done
    }

    /// Where the rows of a chunk go, now that their table is there; `None` where the load ends here.
    pub(super) fn target_of_new(&self, seqno: Seqno, chunk: &Chunk, form: &FirstRows) -> Option<Arc<RowTarget>> {
        let table = match self.catalog.new_table(&form.name) {
            Ok(table) => Arc::new(table.unwrap_or_else(|| missing(&form.name))),
            Err(_) if self.pool.is_interrupted() => return None,
            Err(error) => {
                // As where the coordinator cannot ask: the load starts again from its records.
                self.lost_or_failed(seqno, Failure::new(&chunk.statements[0], &error), &error);
                return None;
            }
        };
        let statements = chunk.statements.iter().map(|one| (one.text.as_slice(), one.tuples.unwrap_or_default()));
        let target = match form.resolve(&table, statements, &chunk.session, chunk.dialect) {
            Some((form, placement)) => {
                RowTarget { table, columns: form.columns, plain: placement.plain, implicit_id: placement.implicit_id }
            }
            // As they are written.
            None => RowTarget { columns: None, plain: false, implicit_id: table.auto_increment().is_some(), table },
        };
        Some(Arc::new(target))
    }
}

/// For rows that the server will refuse.
fn missing(name: &TableName) -> Table {
    Table {
        name: name.clone(),
        kind: TableKind::Base { transactional: true },
        engine: Vec::new(),
        merge_children: None,
        columns: Vec::new(),
        parents: Vec::new(),
        has_triggers: false,
        versioned: false,
        partitioned: false,
    }
}
