//! The chunk that still takes statements: rows of one table, or definitions that add keys to one.

use std::sync::Arc;

use hortator_core::{Mode, WriteSet};
use hortator_mysql::catalog::TableName;

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use crate::analysis::{KeyAddition, StatementKind, Trait, can_merge};
use crate::apply::{Chunk, ChunkStatement, RowTarget, Stopped, Work};
use crate::deferral::RowPolicy;
use crate::planner::first_rows::{FIRST_ROWS_LIMIT_BYTES, FirstRows};
use crate::planner::insert_form::{InsertForm, Placement};
use crate::planner::{Catalog, write_sets};

/// Bytes that a chunk takes in memory beside its statements' text, for each statement.
const STATEMENT_OVERHEAD_BYTES: usize = size_of::<ChunkStatement>();

/// A chunk that still takes statements.
pub(super) struct OpenChunk {
    chunk: Chunk,
    content: ChunkContent,
    write_set: WriteSet,
    bytes: usize,
    rows: u64,
}

impl OpenChunk {
    /// The table that it adds keys to.
    pub(super) fn keys_of(&self) -> Option<&TableName> {
        match &self.content {
            ChunkContent::Keys(table, _) => Some(table),
            ChunkContent::Rows(..) | ChunkContent::FirstRows(_) => None,
        }
    }
}

/// What an open chunk takes more of.
enum ChunkContent {
    /// Rows of this form, placed like this.
    Rows(Arc<InsertForm>, Placement),
    /// The first rows of a new table.
    FirstRows(Arc<FirstRows>),
    /// Keys of a table: these are in it so far.
    Keys(TableName, Vec<KeyAddition>),
}

impl Coordinator<'_> {
    /// Adds rows to the open chunk, or begins a new one.
    pub(super) fn add_rows(
        &mut self,
        statement: AnalyzedStatement,
        form: &Arc<InsertForm>,
        placement: Placement,
    ) -> Result<(), Stopped> {
        let StatementKind::Rows(rows_statement) = &statement.info.kind else { return Ok(()) };
        let (rows, offset) = (rows_statement.values.rows, rows_statement.offset);
        let own_state = self.main.state().clone();
        let RowPolicy { session: state, first } =
            self.deferral.row_policy(&own_state, &form.name, form.table.partitioned, form.only_adds());
        let placement = Placement { in_order: placement.in_order || first, ..placement };
        let bytes = statement.text.len() + STATEMENT_OVERHEAD_BYTES;
        let statement = ChunkStatement { text: statement.text, location: statement.location, tuples: Some(offset) };
        if let Some(open) = &mut self.open
            && let ChunkContent::Rows(of, placed) = &open.content
            && Arc::ptr_eq(of, form)
            && *placed == placement
            && Arc::ptr_eq(&open.chunk.session, &state)
            && open.bytes < self.chunk_limits.bytes
            && open.rows + rows <= self.chunk_limits.rows
        {
            open.chunk.statements.push(statement);
            open.bytes += bytes;
            open.rows += rows;
        } else {
            self.flush()?;
            self.catalog.new_tables.begin_chunk(Some(&form.name));
            self.deferral.rows(&form.name, &own_state, form.replaces());
            let looked_into = if state.checks_foreign_keys() { &form.table.parents[..] } else { &[] };
            let write_set = write_sets::rows(&form.name, placement.in_order, looked_into);
            let commit_queue = (!placement.in_order).then(|| write_sets::commit_queue(&form.name));
            let target = self.target(form, placement);
            let chunk = Chunk {
                work: Work::Rows { target, commit_queue },
                session: state,
                dialect: self.main.dialect(),
                statements: vec![statement],
            };
            let content = ChunkContent::Rows(form.clone(), placement);
            self.open = Some(OpenChunk { chunk, content, write_set, bytes, rows });
        }
        // The workers need not wait for the next statement to be told about a chunk that takes no more.
        match &self.open {
            Some(open) if open.bytes >= self.chunk_limits.bytes => self.flush(),
            _ => Ok(()),
        }
    }

    /// Adds first rows of a new table to the open chunk, or begins a new one.
    pub(super) fn add_first_rows(
        &mut self,
        statement: AnalyzedStatement,
        form: &Arc<FirstRows>,
    ) -> Result<(), Stopped> {
        let StatementKind::Rows(rows_statement) = &statement.info.kind else { return Ok(()) };
        let (rows, offset) = (rows_statement.values.rows, rows_statement.offset);
        let own_state = self.main.state().clone();
        let state = self.deferral.first_rows_session(&own_state);
        let bytes = statement.text.len() + STATEMENT_OVERHEAD_BYTES;
        let statement = ChunkStatement { text: statement.text, location: statement.location, tuples: Some(offset) };
        if let Some(open) = &mut self.open
            && let ChunkContent::FirstRows(of) = &open.content
            && of.name == form.name
            && of.head == form.head
            && Arc::ptr_eq(&open.chunk.session, &state)
            && open.rows + rows <= self.chunk_limits.rows
        {
            open.chunk.statements.push(statement);
            open.bytes += bytes;
            open.rows += rows;
        } else {
            self.flush()?;
            self.catalog.new_tables.begin_chunk(Some(&form.name));
            self.deferral.rows(&form.name, &own_state, false);
            let looked_into = if state.checks_foreign_keys() { &form.parents[..] } else { &[] };
            let write_set = write_sets::rows(&form.name, true, looked_into);
            let chunk = Chunk {
                work: Work::FirstRows { form: form.clone() },
                session: state,
                dialect: self.main.dialect(),
                statements: vec![statement],
            };
            self.open =
                Some(OpenChunk { chunk, content: ChunkContent::FirstRows(form.clone()), write_set, bytes, rows });
        }
        match &self.open {
            Some(open) if open.bytes >= self.chunk_limits.bytes.min(FIRST_ROWS_LIMIT_BYTES) => self.flush(),
            _ => Ok(()),
        }
    }

    fn target(&self, form: &InsertForm, placement: Placement) -> Arc<RowTarget> {
        Arc::new(RowTarget {
            table: form.table.clone(),
            columns: form.columns.clone(),
            plain: placement.plain,
            implicit_id: placement.implicit_id,
        })
    }

    /// Gives a table's definition to the workers, with others where they only add keys to one table.
    pub(super) fn add_table_ddl(
        &mut self,
        statement: AnalyzedStatement,
        tables: Vec<TableName>,
        references: Vec<TableName>,
        drains: bool,
    ) -> Result<(), Stopped> {
        let info = &statement.info;
        let reads_rows = info.is(Trait::AltersTable);
        let creates = info.is(Trait::CreatesTable);
        let is_plain = info.is(Trait::PlainDefinition);
        // A key that is added before it may be what a reference to the table itself needs.
        let adds = match &tables[..] {
            [table] if !references.contains(table) => info.key_additions.clone(),
            _ => None,
        };
        let bytes = statement.text.len() + STATEMENT_OVERHEAD_BYTES;
        let location = statement.location.clone();
        let info = Arc::new(statement.info);
        let statement = ChunkStatement { text: statement.text, location: statement.location, tuples: None };
        if let (Some(adds), [table]) = (&adds, &tables[..])
            && !drains
            && let Some(open) = self.open_for_keys(table, adds)
        {
            for name in &references {
                open.write_set.add(write_sets::table(name), Mode::Shared);
            }
            open.chunk.statements.push(statement);
            open.bytes += bytes;
            return Ok(());
        }
        let references = self.rows_that_must_be_in(&tables, references, reads_rows, &location)?;
        self.flush()?;
        self.catalog.new_tables.begin_chunk(None);
        if drains {
            self.finish()?;
        }
        for table in &tables {
            let is_absent = self.catalog.exists(table) == Some(false);
            self.forget(table);
            if creates {
                self.catalog.note_created(table, !self.pool.is_forced());
            }
            if creates && is_absent && !self.pool.is_forced() {
                self.catalog.new_tables.add(table, is_plain.then(|| references.clone()));
            }
        }
        let write_set = write_sets::define(&tables, &references, reads_rows);
        let session = self.main.state().clone();
        let dialect = self.main.dialect();
        let chunk = Chunk { work: Work::Definition { info }, session, dialect, statements: vec![statement] };
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
        if !is_same || !can_merge(&all) {
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

    fn admit(&mut self, write_set: WriteSet, bytes: usize, chunk: Chunk) -> Result<(), Stopped> {
        self.progress.chunk_begun(&chunk);
        match &chunk.work {
            Work::Rows { target, .. } => self.catalog.new_tables.fill(&target.table.name),
            Work::FirstRows { form } => self.catalog.new_tables.fill(&form.name),
            Work::Definition { .. } => {}
        }
        self.pool.admit(write_set, bytes, chunk, &mut || self.main.keep_alive())
    }

    /// Sends off what is gathered: the batch of the main session, or the chunk.
    pub(super) fn flush(&mut self) -> Result<(), Stopped> {
        self.run_batch()?;
        self.admit_open()
    }

    /// Gives the workers the chunk that still takes statements.
    pub(super) fn admit_open(&mut self) -> Result<(), Stopped> {
        match self.open.take() {
            Some(open) => self.admit(open.write_set, open.bytes, open.chunk),
            None => Ok(()),
        }
    }
}
