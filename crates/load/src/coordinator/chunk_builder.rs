//! The chunk that still takes statements: rows of one table, or definitions that add keys to one.

use std::sync::Arc;

use hortator_core::{Mode, WriteSet};
use hortator_mysql::catalog::TableName;

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use super::existence::{Existence, is_one_definition};
use super::journal::{Asked, RowEffects};
use super::new_tables::NewDefinition;
use super::plain_tables::has_innodb;
use crate::analysis::{KeyAddition, StatementKind, Trait, can_merge};
use crate::apply::{Atomicity, Chunk, ChunkStatement, RowTarget, Stopped, Work};
use crate::deferral::RowPolicy;
use crate::planner::first_rows::FIRST_ROWS_LIMIT_BYTES;
use crate::planner::insert_form::Placement;
use crate::planner::{Catalog, PlacedRows, write_sets};
use crate::session::SessionState;

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
            ChunkContent::Rows(_) => None,
        }
    }

    /// Whether it takes a statement of so many bytes and rows, and more after that.
    pub(super) fn has_room(&self, text_bytes: usize, rows: u64, limit_bytes: usize, limit_rows: u64) -> bool {
        self.bytes + text_bytes + STATEMENT_OVERHEAD_BYTES < limit_bytes && self.rows + rows < limit_rows
    }

    /// Adds a statement.
    pub(super) fn push(&mut self, statement: ChunkStatement, rows: u64) {
        self.bytes += statement.text.len() + STATEMENT_OVERHEAD_BYTES;
        self.rows += rows;
        self.chunk.statements.push(statement);
    }
}

/// What an open chunk takes more of.
enum ChunkContent {
    /// Rows that are placed like this.
    Rows(PlacedRows),
    /// Keys of a table: these are in it so far.
    Keys(TableName, Vec<KeyAddition>),
}

impl Coordinator<'_> {
    /// Adds rows to the open chunk, or begins a new one.
    pub(super) fn add_rows(&mut self, statement: AnalyzedStatement, placed: PlacedRows) -> Result<(), Stopped> {
        let StatementKind::Rows(rows_statement) = &statement.info.kind else { return Ok(()) };
        let values = rows_statement.values;
        let rows = values.rows;
        let own_state = self.main.state().clone();
        let (placed, session) = self.with_deferred_checks(placed, &own_state);
        let limit_bytes = match placed {
            PlacedRows::Known(..) => self.chunk_limits.bytes,
            PlacedRows::First(_) => self.chunk_limits.bytes.min(FIRST_ROWS_LIMIT_BYTES),
        };
        let (rate_rows, rate_bytes) = self.throttle.chunk_limits(self.workers.workers());
        let limit_bytes =
            rate_bytes.map_or(limit_bytes, |limit| limit_bytes.min(usize::try_from(limit).unwrap_or(usize::MAX)));
        let limit_rows = rate_rows.map_or(self.chunk_limits.rows, |limit| self.chunk_limits.rows.min(limit));
        let bytes = statement.text.len() + STATEMENT_OVERHEAD_BYTES;
        let Some(statement) = statement.into_rows() else { return Ok(()) };
        if let Some(open) = &mut self.open
            && let ChunkContent::Rows(before) = &open.content
            && placed.joins(before)
            && Arc::ptr_eq(&open.chunk.session, &session)
            && open.bytes < limit_bytes
            && open.rows + rows <= limit_rows
        {
            open.push(statement, rows);
            self.begin_run(&placed, values, limit_bytes, limit_rows);
        } else {
            self.flush()?;
            let atomicity = self.large.atomicity();
            let (write_set, chunk) = self.begin_rows(&placed, session, atomicity, vec![statement]);
            self.open = Some(OpenChunk { chunk, content: ChunkContent::Rows(placed), write_set, bytes, rows });
        }
        // The workers need not wait for the next statement to be told about a chunk that takes no more.
        match &self.open {
            Some(open) if open.bytes >= limit_bytes || open.rows >= limit_rows => self.flush(),
            _ => Ok(()),
        }
    }

    /// A chunk of rows, and its write set.
    pub(super) fn begin_rows(
        &mut self,
        placed: &PlacedRows,
        session: Arc<SessionState>,
        atomicity: Atomicity,
        statements: Vec<ChunkStatement>,
    ) -> (WriteSet, Chunk) {
        self.workers.request();
        self.catalog.new_tables.begin_chunk(Some(placed.table()));
        self.deferral.rows(placed.table(), self.main.state(), placed.replaces());
        let looked_into = if session.checks_foreign_keys() { placed.parents() } else { &[] };
        let write_set = write_sets::rows(placed.table(), placed.are_in_order(), looked_into);
        let work = row_work(placed, atomicity);
        (write_set, Chunk { work, session, dialect: self.main.dialect(), statements })
    }

    /// The place of rows and the session for them, where checks are deferred.
    pub(super) fn with_deferred_checks(
        &self,
        placed: PlacedRows,
        own: &Arc<SessionState>,
    ) -> (PlacedRows, Arc<SessionState>) {
        match placed {
            PlacedRows::Known(form, placement) => {
                let RowPolicy { session, first } =
                    self.deferral.row_policy(own, &form.name, form.table.partitioned, form.only_adds());
                let in_order = placement.in_order || first;
                (PlacedRows::Known(form, Placement { in_order, ..placement }), session)
            }
            first @ PlacedRows::First(_) => (first, self.deferral.first_rows_session(own)),
        }
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
        let row_numbers = info.row_numbers;
        // A key that is added before it may be what a reference to the table itself needs.
        let adds = match &tables[..] {
            [table] if !references.contains(table) => info.key_additions.clone(),
            _ => None,
        };
        let bytes = statement.text.len() + STATEMENT_OVERHEAD_BYTES;
        if let (Some(adds), [table]) = (&adds, &tables[..])
            && !drains
            && let Some(open) = self.open_for_keys(table, adds)
        {
            for name in &references {
                open.write_set.add(write_sets::table(name), Mode::Shared);
            }
            let AnalyzedStatement { text, location, .. } = statement;
            open.chunk.statements.push(ChunkStatement { text, location, tuples: None });
            open.bytes += bytes;
            return Ok(());
        }
        let is_awaited = self.held.is_awaited;
        if !is_awaited {
            self.workers.request();
        }
        let references = self.rows_that_must_be_in(&tables, references, reads_rows, &statement.location)?;
        self.flush()?;
        self.catalog.new_tables.begin_chunk(None);
        if drains {
            self.finish()?;
        }
        let may_create = creates && !self.surely_creates(info);
        let mut creates_absent = creates && tables.len() == 1;
        for table in &tables {
            let is_absent = self.catalog.exists(table) == Some(false);
            creates_absent &= is_absent;
            if may_create && is_absent {
                self.main.record_created(table, &statement)?;
            }
            self.forget(table);
            if creates {
                self.catalog.note_created(table, !self.pool.is_forced());
            }
            self.catalog.plain_tables.remove(table);
            if creates && is_absent && !self.pool.is_forced() {
                let row_numbers = row_numbers.filter(|_| has_innodb(self.main.state()));
                let definition = || NewDefinition { references: references.clone(), row_numbers };
                self.catalog.new_tables.add(table, is_plain.then(definition));
                if is_plain {
                    self.catalog.plain_tables.created(table, self.main.state());
                }
            }
        }
        if creates_absent && let [table] = &tables[..] {
            self.deferred_indexes.created(table, &statement.location, self.main.state());
        }
        if is_awaited && self.can_define_in_main(&statement) {
            return self.define_in_main(&statement, creates_absent);
        }
        let AnalyzedStatement { text, location, info, .. } = statement;
        let (info, statement) = (Arc::from(info), ChunkStatement { text, location, tuples: None });
        let write_set = write_sets::define(&tables, &references, reads_rows);
        let session = self.main.state().clone();
        let dialect = self.main.dialect();
        let chunk =
            Chunk { work: Work::Definition { info, creates_absent }, session, dialect, statements: vec![statement] };
        match (adds, tables.into_iter().next()) {
            (Some(adds), Some(table)) => {
                self.open =
                    Some(OpenChunk { chunk, content: ChunkContent::Keys(table, adds), write_set, bytes, rows: 0 });
                Ok(())
            }
            _ => self.admit(write_set, bytes, chunk),
        }
    }

    /// Whether the main session may run a definition of a table in place of a worker: nothing else is under way, and no
    /// variable is set that an intent would have to leave to the definition. A worker does it again after a conflict with
    /// another node's write.
    fn can_define_in_main(&self, statement: &AnalyzedStatement) -> bool {
        self.pool.is_idle()
            && is_one_definition(&statement.info)
            && !self.main.has_one_shot_variable()
            && !self.main.is_on_cluster()
    }

    /// Runs a definition of a table that the next statement waits for.
    fn define_in_main(&mut self, statement: &AnalyzedStatement, creates_absent: bool) -> Result<(), Stopped> {
        self.wait_for_throttle()?;
        self.main.check_writer(&statement.text, &statement.location)?;
        let existence = match creates_absent && !statement.info.is_idempotent() {
            true => Existence::Absent,
            false => Existence::Unknown,
        };
        self.main.run_recorded(statement, &RowEffects::default(), existence, Asked::No)?;
        self.throttle.charge(0, statement.text.len() as u64);
        self.look_after_main(&statement.location)
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

    pub(super) fn admit(&mut self, write_set: WriteSet, bytes: usize, mut chunk: Chunk) -> Result<(), Stopped> {
        let table = match &chunk.work {
            Work::Rows { target, .. } => Some(target.table.name.clone()),
            Work::FirstRows { form, .. } => Some(form.name.clone()),
            Work::Definition { .. } | Work::DropKeys { .. } | Work::BuildKeys(_) => None,
        };
        if let Some(table) = table {
            let was_empty = self.catalog.new_tables.fill(&table);
            if let Work::FirstRows { is_empty_before, .. } = &mut chunk.work {
                *is_empty_before = was_empty;
            }
            if let (Work::Rows { target, .. }, Some(first)) = (&chunk.work, chunk.statements.first()) {
                self.look_at_found(&target.table, &first.location)?;
            }
            self.defer_keys(&table, bytes)?;
        }
        self.connect_workers()?;
        self.progress.chunk_begun(&chunk);
        self.pool.admit(write_set, bytes, chunk, &mut || self.main.keep_alive())
    }

    /// Sends off what is gathered: the batch of the main session, or the chunk.
    pub(super) fn flush(&mut self) -> Result<(), Stopped> {
        self.run_batch()?;
        self.admit_open()
    }

    /// Gives the workers the chunk that still takes statements.
    pub(super) fn admit_open(&mut self) -> Result<(), Stopped> {
        self.run = None;
        match self.open.take() {
            Some(open) => self.admit(open.write_set, open.bytes, open.chunk),
            None => Ok(()),
        }
    }
}

/// What a worker does with rows.
fn row_work(placed: &PlacedRows, atomicity: Atomicity) -> Work {
    match placed {
        // That is known when the chunk before it has gone off.
        PlacedRows::First(form) => Work::FirstRows { form: form.clone(), atomicity, is_empty_before: false },
        PlacedRows::Known(form, placement) => Work::Rows {
            target: Arc::new(RowTarget {
                table: form.table.clone(),
                columns: form.columns.clone(),
                plain: placement.plain,
                implicit_id: placement.implicit_id,
            }),
            commit_queue: (!placement.in_order).then(|| write_sets::commit_queue(&form.name)),
            atomicity,
        },
    }
}
