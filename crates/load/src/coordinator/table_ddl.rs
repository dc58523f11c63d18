//! Gives definitions their place, and gathers those that add keys to one table: a table is gone through once for all of
//! them, and a cluster stops once.

use std::sync::Arc;

use hortator_core::Mode;
use hortator_mysql::catalog::TableName;

use super::{ChunkContent, Coordinator, OpenChunk, STATEMENT_OVERHEAD_BYTES, write_sets};
use crate::apply::{Chunk, ChunkStatement, Stopped, Work};
use crate::lexer::Location;
use crate::statement_kind::{KeyAddition, NamedTable, can_merge, parse_key_additions};

impl Coordinator<'_> {
    pub(super) fn table_ddl(
        &mut self,
        text: Vec<u8>,
        location: Location,
        tables: &[NamedTable],
        references: &[NamedTable],
    ) -> Result<(), Stopped> {
        let (Some(tables), Some(references)) = (self.resolve_all(tables), self.resolve_all(references)) else {
            return self.barrier(&text, &location, "the table name cannot be resolved");
        };
        let reads_rows = text.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"ALTER"));
        let dialect = self.main.dialect();
        // A key that is added before it may be what a reference to the table itself needs.
        let adds = match &tables[..] {
            [table] if !references.contains(table) => parse_key_additions(&text, &dialect).map(|found| found.kinds),
            _ => None,
        };
        let bytes = text.len() + STATEMENT_OVERHEAD_BYTES;
        let statement = ChunkStatement { text, location, tuples: None };
        if let (Some(adds), [table]) = (&adds, &tables[..])
            && let Some(open) = self.open_for_keys(table, adds)
        {
            for name in &references {
                open.write_set.add(write_sets::table(name), Mode::Shared);
            }
            open.chunk.statements.push(statement);
            open.bytes += bytes;
            return Ok(());
        }
        let references = self.rows_that_must_be_in(&tables, references, reads_rows, &statement.location)?;
        self.flush()?;
        for table in &tables {
            self.forget(table);
        }
        let write_set = write_sets::define(&tables, &references, reads_rows);
        let session = self.main.state().clone();
        let chunk = Chunk { work: Work::Definition, session, dialect, statements: vec![statement] };
        match (adds, tables.into_iter().next()) {
            (Some(adds), Some(table)) => {
                self.open =
                    Some(OpenChunk { chunk, content: ChunkContent::Keys(table, adds), write_set, bytes, rows: 0 });
                Ok(())
            }
            _ => self.admit(write_set, bytes, chunk),
        }
    }

    /// The open chunk, if it takes these keys of a table too.
    fn open_for_keys(&mut self, table: &TableName, adds: &[KeyAddition]) -> Option<&mut OpenChunk> {
        let session = self.main.state().clone();
        let dialect = self.main.dialect();
        let open = self.open.as_mut()?;
        let ChunkContent::Keys(of, kinds) = &mut open.content else { return None };
        let all = [&kinds[..], adds].concat();
        let is_same = of == table && Arc::ptr_eq(&open.chunk.session, &session) && open.chunk.dialect == dialect;
        if open.chunk.statements.is_empty() || !is_same || !can_merge(&all) {
            return None;
        }
        *kinds = all;
        Some(open)
    }

    /// Ends a chunk of keys at a statement that is not sent.
    pub(super) fn end_keys(&mut self) -> Result<(), Stopped> {
        match &self.open {
            Some(OpenChunk { content: ChunkContent::Keys(..), .. }) => self.flush(),
            _ => Ok(()),
        }
    }
}
