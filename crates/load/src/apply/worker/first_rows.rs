//! The first rows of a table that this load has created just before: what the server says of the table decides how they go.

use std::sync::Arc;

use hortator_core::Seqno;
use hortator_mysql::catalog::{Table, TableKind, TableName};

use super::Worker;
use crate::apply::chunk::{Chunk, RowTarget};
use crate::planner::first_rows::FirstRows;
use crate::report::Failure;

impl Worker<'_> {
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
