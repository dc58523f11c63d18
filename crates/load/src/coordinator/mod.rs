//! The coordinator: reads the dump in order, schedules every statement, and runs the main session.
//!
//! It owns the *main session*, the one connection that lives through the whole dump as the client's would: SET and USE
//! run there at once, and whatever is not certain to be independent runs there after all before it (a barrier). Rows
//! of literals and table definitions go to the workers, as chunks with the session state of their place.

mod constraints;
mod expectations;
mod handlers;
mod journal;
mod load_context;
mod main_session;
mod name_resolution;
mod resume;
mod row_effects;
mod rows_plan;
mod schema_guard;
mod table_ddl;
mod tables;
mod transactions;
mod write_sets;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hortator_core::WriteSet;
use hortator_mysql::Error;
use hortator_mysql::catalog::{Table, TableName};

use crate::apply::{Chunk, ChunkStatement, Pool, Stopped, Work};
use crate::deferral::{Deferral, RowPolicy};
use crate::expect::Expectations;
use crate::lexer::{Dialect, Location, Statement, Terminator, tokens};
use crate::output::Output;
use crate::progress::Progress;
use crate::report::Failure;
use crate::rows::{InsertHead, RowSource, prescan};
use crate::session::{SessionState, assignments};
use crate::statement_kind::{
    KeyAddition, NamedTable, StatementKind, classify, mentions_diagnostics, reads_diagnostics, reads_session_results,
    split_statements,
};

use journal::RowEffects;
pub(crate) use load_context::{ChunkLimits, LoadContext};
use main_session::MainSession;
pub use resume::InDoubt;
pub(crate) use resume::Resume;
use rows_plan::{Placement, Reason, RowsPlan};
pub(crate) use tables::Tables;

/// Bytes that a chunk takes in memory beside its statements' text, for each statement.
const STATEMENT_OVERHEAD_BYTES: usize = size_of::<ChunkStatement>();

/// Gives statements their place.
pub(crate) struct Coordinator<'l> {
    pool: &'l Pool,
    progress: &'l Progress,
    deferral: &'l Deferral,
    chunk_limits: ChunkLimits,
    main: MainSession<'l>,
    tables: Tables,
    /// Table names are the same in any case.
    folds_case: bool,
    open: Option<OpenChunk>,
    known: Option<KnownHead>,
    /// What an earlier run of this load has recorded; `None` for a load from the beginning.
    resume: Option<Resume>,
    /// Rows of the main session that are not committed yet.
    uncommitted: BTreeMap<TableName, u64>,
    /// What the stream should leave behind, where that is to be verified.
    expectations: Option<Expectations>,
}

/// A chunk that still takes statements.
struct OpenChunk {
    chunk: Chunk,
    content: ChunkContent,
    write_set: WriteSet,
    bytes: usize,
    rows: u64,
}

/// What an open chunk takes more of.
enum ChunkContent {
    /// Rows for a table.
    Rows(Placement),
    /// Keys of a table: these are in it so far.
    Keys(TableName, Vec<KeyAddition>),
}

/// The form of the last INSERT: the next one is most often of the same.
struct KnownHead {
    text: Vec<u8>,
    session: Arc<SessionState>,
    plan: RowsPlan,
}

impl<'l> Coordinator<'l> {
    pub(crate) fn open(
        load_context: LoadContext<'l>,
        chunk_limits: ChunkLimits,
        resume: Option<Resume>,
        output: &'l mut dyn Output,
    ) -> Result<Self, Error> {
        let LoadContext { pool, progress, targets, deferral, checkpoints } = load_context;
        let main = MainSession::open(pool, progress, targets, checkpoints, output)?;
        let mut tables = Tables::open(targets)?;
        let folds = tables.connection().fetch(b"SELECT @@lower_case_table_names")?;
        let folds_case = folds.first().and_then(|row| row.first()?.as_deref()).is_some_and(|value| value != b"0");
        let (open, known, expectations) = (None, None, None);
        Ok(Self {
            pool,
            progress,
            deferral,
            chunk_limits,
            main,
            tables,
            folds_case,
            open,
            known,
            resume,
            uncommitted: BTreeMap::new(),
            expectations,
        })
    }

    /// How the next statement's text is read.
    pub(crate) fn dialect(&self) -> Dialect {
        self.main.dialect()
    }

    /// Gives one statement its place.
    pub(crate) fn statement(&mut self, statement: Statement) -> Result<(), Stopped> {
        let Statement { text, location, terminator, .. } = statement;
        self.main.shape(terminator == Terminator::GoVertical);
        self.progress.statement_read(&text);
        self.expect(&text, &location);
        self.main.check_writer(&text, &location)?;
        if self.resume.is_some() && self.skip_if_applied(&text, &location)? {
            // What was done before counts as if it were done now: the validation covers the whole load.
            return self.note_constraints(&text, &location);
        }
        let dialect = self.main.dialect();
        // The session's state is not to be read in between.
        let asks_main = self.main.is_stale() && mentions_diagnostics(&text, &dialect);
        if asks_main || reads_diagnostics(&text, &dialect) {
            return self.diagnostics(&text, &location);
        }
        self.main.commit_pending()?;
        self.count_committed();
        self.main.sync(&location)?;
        if let Some(reason) = self.main.must_be_serial() {
            return self.serial(&text, &location, reason);
        }
        // Not as soon as it was full: the last statement stays at hand for one that asks what it did.
        if self.open.as_ref().is_some_and(|open| open.bytes >= self.chunk_limits.bytes) {
            self.flush()?;
        }
        if let Some(known) = &self.known
            && text.starts_with(&known.text)
            && Arc::ptr_eq(&known.session, self.main.state())
        {
            return self.rows(text, location);
        }
        let kind = classify(&text, &self.main.dialect());
        self.check_schema_guard(&text, &location, &kind)?;
        match kind {
            StatementKind::Rows(head) => self.rows_of_new_form(text, location, &head),
            StatementKind::TableDdl { tables, references } => self.table_ddl(text, location, &tables, &references),
            StatementKind::OtherDdl { tables } => self.other_ddl(&text, &location, &tables),
            StatementKind::Session => self.session(&text, &location),
            StatementKind::Constant | StatementKind::Empty => {
                self.flush()?;
                self.main.run(&text, &location).map(drop)
            }
            StatementKind::Skip { tables } => self.skip(&text, &location, &tables),
            StatementKind::Barrier { reason } => self.barrier(&text, &location, reason),
        }
    }

    /// The client's `use`, which is no statement.
    pub(crate) fn use_database(&mut self, database: &[u8], location: &Location) -> Result<(), Stopped> {
        self.flush()?;
        self.main.commit_pending()?;
        self.resume_use(database, location)
    }

    /// The client's `charset`, which sets its own character set and the session's.
    pub(crate) fn use_charset(&mut self, name: &[u8], location: &Location) -> Result<(), Stopped> {
        self.flush()?;
        self.main.commit_pending()?;
        self.main.run(&[b"SET NAMES ", name].concat(), location)?;
        self.main.refresh(location)
    }

    /// Sends off what is gathered and waits until all is done.
    pub(crate) fn finish(&mut self) -> Result<(), Stopped> {
        self.flush()?;
        self.main.commit_pending()?;
        self.pool.drain()
    }

    /// The stream is over, at its end or before: what was run is committed.
    pub(crate) fn end(&mut self) {
        let _ended_already = self.main.commit_pending();
        self.count_committed();
    }

    fn rows_of_new_form(&mut self, text: Vec<u8>, location: Location, head: &InsertHead) -> Result<(), Stopped> {
        let RowSource::Values { offset } = head.source else {
            return self.barrier(&text, &location, "the rows do not come from VALUES");
        };
        let named = NamedTable { schema: head.schema.clone(), table: head.table.clone() };
        let Some(name) = self.resolve(&named) else {
            return self.barrier(&text, &location, "the table name cannot be resolved");
        };
        let Some(table) = self.table(&name, &location)? else {
            return self.barrier(&text, &location, "the table does not exist");
        };
        let known_text = text[..offset].to_vec();
        match RowsPlan::new(head, offset, name, table) {
            Ok(plan) => {
                self.known = Some(KnownHead { text: known_text, session: self.main.state().clone(), plan });
                self.rows(text, location)
            }
            Err(reason) => self.barrier(&text, &location, reason),
        }
    }

    /// Rows of the form that is known.
    fn rows(&mut self, text: Vec<u8>, location: Location) -> Result<(), Stopped> {
        let dialect = self.main.dialect();
        let own_state = self.main.state().clone();
        let force = self.pool.is_forced();
        let known = self.known.as_mut().expect("callers have just looked");
        let plan = &mut known.plan;
        let RowPolicy { session: state, first } = self.deferral.row_policy(&own_state, &plan.table, plan.only_adds());
        let numbered_in_main = self.tables.is_numbered_in_main(&plan.table);
        let placed = prescan(&text, plan.offset, plan.id_value, &dialect)
            .map_err(|_| "the values are not all literals")
            .and_then(|prescan| Ok((prescan.rows, plan.place(&prescan, &state, force)?)))
            .and_then(|placed| if numbered_in_main { Err(tables::NUMBERED_IN_MAIN) } else { Ok(placed) });
        let (rows, placement) = match placed {
            Ok((rows, placement)) => (rows, Placement { in_order: placement.in_order || first, ..placement }),
            Err(_) if mentions_diagnostics(&text, &dialect) => return self.diagnostics(&text, &location),
            Err(reason) => return self.barrier(&text, &location, reason),
        };
        let bytes = text.len() + STATEMENT_OVERHEAD_BYTES;
        let statement = ChunkStatement { text, location, tuples: Some(plan.offset) };
        if let Some(open) = &mut self.open
            && let ChunkContent::Rows(taken) = &open.content
            && Arc::ptr_eq(&taken.target, &placement.target)
            && Arc::ptr_eq(&open.chunk.session, &state)
            && taken.in_order == placement.in_order
            && open.rows + rows <= self.chunk_limits.rows
        {
            open.chunk.statements.push(statement);
            open.bytes += bytes;
            open.rows += rows;
        } else {
            self.deferral.rows(&plan.name, &own_state, plan.replaces());
            let looked_into = if state.checks_foreign_keys() { &plan.table.parents[..] } else { &[] };
            let write_set = write_sets::rows(&plan.name, placement.in_order, looked_into);
            let commit_queue = (!placement.in_order).then(|| write_sets::commit_queue(&plan.name));
            self.flush()?;
            let work = Work::Rows { target: placement.target.clone(), commit_queue };
            let chunk = Chunk { work, session: state, dialect, statements: vec![statement] };
            self.open = Some(OpenChunk { chunk, content: ChunkContent::Rows(placement), write_set, bytes, rows });
        }
        Ok(())
    }

    fn other_ddl(&mut self, text: &[u8], location: &Location, tables: &[NamedTable]) -> Result<(), Stopped> {
        let Some(tables) = self.resolve_all(tables) else {
            return self.barrier(text, location, "the table name cannot be resolved");
        };
        self.flush()?;
        if self.drops_existing(text, &tables, location)? {
            // What the dump takes away must not go if it fails before this place.
            self.finish()?;
        }
        self.deferral.defined(&tables, self.main.state().checks_foreign_keys());
        self.pool.wait_clear(&write_sets::catalog_change(&tables))?;
        self.main.check_writer(text, location)?;
        for table in &tables {
            self.forget(table);
        }
        self.main.run_recorded(
            text,
            location,
            &StatementKind::OtherDdl { tables: Vec::new() },
            &RowEffects::default(),
        )?;
        self.main.state_may_differ();
        Ok(())
    }

    /// Whether a statement drops or empties something that is there.
    fn drops_existing(&mut self, text: &[u8], tables: &[TableName], location: &Location) -> Result<bool, Stopped> {
        let first = tokens(text, &self.main.dialect())
            .next()
            .is_some_and(|first| first.is_word(b"DROP") || first.is_word(b"TRUNCATE"));
        if !first || tables.is_empty() {
            return Ok(first);
        }
        for table in tables {
            if self.table(table, location)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn session(&mut self, text: &[u8], location: &Location) -> Result<(), Stopped> {
        let dialect = self.main.dialect();
        let assignments = assignments(text, &dialect);
        if assignments.beyond_session || reads_session_results(text, &dialect) {
            return self.barrier(text, location, "SET changes or reads more than the session");
        }
        if self.main.is_new(&assignments) {
            self.finish()?;
        } else {
            self.flush()?;
        }
        self.main.run(text, location)?;
        self.main.assigned(&assignments, location)
    }

    /// Leaves a statement out, unless the statement names a table that does not exist: then it is sent, for the server's error.
    fn skip(&mut self, text: &[u8], location: &Location, tables: &[NamedTable]) -> Result<(), Stopped> {
        if self.main.has_locks() {
            return self.barrier(text, location, "tables are locked");
        }
        // A record of several definitions has no gaps.
        self.end_keys()?;
        for named in tables {
            let found = match self.resolve(named) {
                Some(name) => self.table(&name, location)?,
                None => None,
            };
            if found.is_none() {
                return self.barrier(text, location, "the statement names a table that does not exist");
            }
        }
        self.progress.skipped.fetch_add(1, Relaxed);
        Ok(())
    }

    /// Runs a statement in the main session, after all before it and before all behind it.
    fn barrier(&mut self, text: &[u8], location: &Location, reason: Reason) -> Result<(), Stopped> {
        self.progress.barrier(reason);
        self.run_exclusive(text, location)
    }

    /// A statement while everything must stay in the main session.
    fn serial(&mut self, text: &[u8], location: &Location, reason: Reason) -> Result<(), Stopped> {
        let kind = classify(text, &self.main.dialect());
        if let StatementKind::Skip { tables } = &kind
            && self.ends_transaction_only(tables, location)?
        {
            return self.commit_instead(location);
        }
        self.progress.barrier(reason);
        self.run_exclusive(text, location)
    }

    /// Runs a statement in the main session while nothing else runs. Anything may be different behind it.
    fn run_exclusive(&mut self, text: &[u8], location: &Location) -> Result<(), Stopped> {
        if mentions_diagnostics(text, &self.main.dialect()) {
            // Nothing of ours may run between it and the statement that it asks about.
            self.flush()?;
            self.pool.drain()?;
        } else {
            self.finish()?;
        }
        self.main.check_writer(text, location)?;
        self.known = None;
        self.deferral.emptied(None);
        self.tables.forget_all();
        self.main.take_latest_id(location)?;
        let dialect = self.main.dialect();
        let kind = classify(text, &dialect);
        let table = match &kind {
            StatementKind::Rows(head) => {
                self.resolve(&NamedTable { schema: head.schema.clone(), table: head.table.clone() })
            }
            _ => None,
        };
        let effects = match &table {
            Some(name) => self.row_effects(name, location)?,
            None => RowEffects::default(),
        };
        self.note_constraints(text, location)?;
        let affected_rows = self.main.run_recorded(text, location, &kind, &effects)?;
        if let Some(name) = table {
            self.affected(&name, affected_rows);
            self.expect_rows(text, location);
            self.tables.got_rows_in_main(&name, text, &self.main.dialect());
        }
        self.forget_rolled_back(text);
        self.count_committed();
        for part in split_statements(text, &dialect)
            .into_iter()
            .filter(|part| classify(part, &dialect) == StatementKind::Session)
        {
            self.main.assigned(&assignments(part, &dialect), location)?;
        }
        self.main.state_may_differ();
        Ok(())
    }

    /// A statement that asks what the one before it did: that one must run in the main session too, if it still can.
    fn diagnostics(&mut self, text: &[u8], location: &Location) -> Result<(), Stopped> {
        if let Some(last) = self.open.as_mut().and_then(|open| open.chunk.statements.pop()) {
            self.run_exclusive(&last.text, &last.location)?;
        }
        self.barrier(text, location, "the statement reads the diagnostics of the previous statement")
    }

    fn admit(&self, write_set: WriteSet, bytes: usize, chunk: Chunk) -> Result<(), Stopped> {
        self.progress.chunk_begun(&chunk);
        self.pool.admit(write_set, bytes, chunk)
    }

    /// Sends off the chunk that is gathered.
    fn flush(&mut self) -> Result<(), Stopped> {
        match self.open.take().filter(|open| !open.chunk.statements.is_empty()) {
            Some(open) => self.admit(open.write_set, open.bytes, open.chunk),
            None => Ok(()),
        }
    }

    /// What the server says of a table, after all definitions before this place.
    fn table(&mut self, name: &TableName, location: &Location) -> Result<Option<Arc<Table>>, Stopped> {
        if let Some(remembered) = self.tables.remembered(name) {
            return Ok(remembered);
        }
        self.flush()?;
        self.pool.wait_clear(&write_sets::look(name))?;
        self.main.check_writer(b"", location)?;
        self.tables.ask(name).map_err(|error| {
            self.main.end_at(Failure::at(location, b"", &error), &error);
            Stopped
        })
    }

    fn forget(&mut self, table: &TableName) {
        self.known = None;
        self.deferral.emptied(Some(table));
        self.tables.forget(table);
    }
}
