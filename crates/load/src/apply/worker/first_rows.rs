//! The first rows of a table that this load has created just before: what the server says of the table decides how they go.

use std::sync::Arc;

use hortator_core::Seqno;

use super::{ChunkStart, Worker};
use crate::apply::chunk::{Chunk, RowTarget, Work};
use crate::planner::first_rows::{FirstRows, Sending};
use crate::report::Failure;

impl Worker<'_> {
    /// A chunk of first rows.
    pub(super) fn first_rows(&mut self, seqno: Seqno, chunk: &Chunk, form: &FirstRows) {
        let table = match self.catalog.new_table(&form.name) {
            Ok(table) => table,
            Err(_) if self.pool.is_interrupted() => return,
            Err(error) => {
                // As where the coordinator cannot ask: the load starts again from its records.
                let failure = Failure::new(&chunk.statements[0], &error);
                return self.lost_or_failed(seqno, failure, &error);
            }
        };
        let statements = chunk.statements.iter().map(|one| (one.text.as_slice(), one.tuples.unwrap_or_default()));
        let Sending { table, columns, plain, implicit_id } =
            form.sending(table, statements, &chunk.session, chunk.dialect);
        let target = Arc::new(RowTarget { table, columns, plain, implicit_id });
        let chunk = Chunk {
            work: Work::Rows { target: target.clone(), commit_queue: None },
            session: chunk.session.clone(),
            dialect: chunk.dialect,
            statements: chunk.statements.clone(),
        };
        self.rows(seqno, &chunk, &target, None, ChunkStart::default());
    }
}
