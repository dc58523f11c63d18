//! The coordinator: reads the dump in order, has each statement planned, carries the steps out, and is itself the dump's
//! session.
//!
//! It owns the *main session*, the one connection that lives through the whole dump as the client's would: SET and USE
//! run there at once, and whatever is not certain to be independent runs there after all before it (a barrier). Rows
//! of literals and table definitions go to the workers, as chunks with the session state of their place.
//!
//! A statement that may go to a worker, or may be sent together with its neighbours, is held until the next one is
//! analyzed: one that asks what the statement before it did needs that one in the main session, right before it.

mod analyzed_statement;
mod catalog_cache;
mod chunk_builder;
mod client_commands;
mod constraints;
mod deferred_indexes;
mod definitions;
mod existence;
mod expectations;
mod filtered;
mod found_rows;
mod handlers;
mod held;
mod insert_forms;
mod journal;
mod large_transaction;
mod left_behind;
mod load_context;
mod look_ahead;
mod lost_journal;
mod main_batch;
mod main_session;
mod new_tables;
mod plain_tables;
mod prepared_texts;
mod record_place;
mod rejecting;
mod resume;
mod row_effects;
mod row_run;
mod row_transaction;
mod rows_files;
mod saved_values;
mod schema_guard;
mod set_run;
mod steps;
mod throttled;
mod transactions;
mod view_effects;
mod workers;

use std::collections::BTreeMap;

use hortator_mysql::Error;
use hortator_mysql::catalog::TableName;

use crate::analysis::{JournalMode, StatementKind, Trait};
use crate::apply::{Pool, Stopped, WorkerStart};
use crate::deferral::Deferral;
use crate::expect::Expectations;
use crate::filter::Filter;
use crate::lexer::{self, Dialect, Location, Statement, Statements, Terminator};
use crate::output::Output;
use crate::planner::{DdlEffect, Reason, Step, write_sets};
use crate::progress::Progress;
use crate::report::Failure;
use crate::throttle::Throttle;

use analyzed_statement::AnalyzedStatement;
pub(crate) use catalog_cache::CatalogCache;
use catalog_cache::RoutineEffect;
use chunk_builder::OpenChunk;
use deferred_indexes::DeferredIndexes;
use definitions::DefinitionChanges;
use held::Held;
use journal::{Asked, RowEffects, Unrecorded};
use large_transaction::LargeTransactions;
pub(crate) use load_context::{ChunkLimits, LoadContext};
pub(crate) use look_ahead::{Analysis, ItemAhead};
use main_batch::MainBatch;
use main_session::MainSession;
pub(crate) use main_session::{FreshSession, IN_TRANSACTION};
use prepared_texts::PreparedTexts;
use rejecting::Rejecting;
pub use resume::InDoubt;
pub(crate) use resume::Resume;
use row_run::RowRun;
use row_transaction::RowTransaction;
pub(crate) use row_transaction::{HELD_BYTES, SMALL_BYTES};
use saved_values::SavedValues;
use set_run::Joining;
use transactions::LeftOutLocks;

/// Gives statements their place.
pub(crate) struct Coordinator<'l> {
    pool: &'l Pool,
    workers: &'l WorkerStart,
    throttle: &'l Throttle,
    progress: &'l Progress,
    filter: Filter,
    deferral: &'l Deferral,
    deferred_indexes: DeferredIndexes<'l>,
    chunk_limits: ChunkLimits,
    main: MainSession<'l>,
    catalog: CatalogCache<'l>,
    /// Table names are the same in any case.
    folds_case: bool,
    held: Held,
    open: Option<OpenChunk>,
    run: Option<RowRun>,
    /// SETs that are not sent yet.
    sets: Vec<AnalyzedStatement>,
    saved: SavedValues,
    batch: MainBatch,
    /// A transaction of the dump that a worker may apply.
    transaction: Option<RowTransaction>,
    large: LargeTransactions,
    prepared: PreparedTexts,
    /// What an earlier run of this load has recorded; `None` for a load from the beginning.
    resume: Option<Resume>,
    left_out_locks: LeftOutLocks,
    /// Rows of the main session that are not committed yet.
    uncommitted: BTreeMap<TableName, u64>,
    /// What the stream should leave behind, where that is to be verified.
    expectations: Option<Expectations>,
}

impl<'l> Coordinator<'l> {
    pub(crate) fn open(
        load_context: LoadContext<'l>,
        fresh: FreshSession,
        chunk_limits: ChunkLimits,
        resume: Option<Resume>,
        output: &'l mut dyn Output,
    ) -> Result<Self, Error> {
        let LoadContext {
            pool,
            workers,
            progress,
            targets,
            catalog,
            deferral,
            deferred_keys,
            checkpoints,
            filter_rules,
            rejects,
            throttle,
        } = load_context;
        let functions = catalog.functions().clone();
        let rejecting = rejects.map(|rejects| Rejecting::new(rejects, catalog));
        let catalog = CatalogCache::new(catalog);
        let folds_case = fresh.folds_case();
        let mut main = MainSession::open(pool, progress, targets, fresh, checkpoints, functions, output)?;
        main.unrecorded = Unrecorded::new(resume.is_some());
        main.rejecting = rejecting;
        Ok(Self {
            pool,
            workers,
            throttle,
            progress,
            filter: Filter::new(filter_rules.clone(), progress.filter_report()),
            deferral,
            deferred_indexes: DeferredIndexes::new(deferred_keys),
            chunk_limits,
            main,
            catalog,
            folds_case,
            held: Held::default(),
            open: None,
            run: None,
            sets: Vec::new(),
            saved: SavedValues::default(),
            batch: MainBatch::default(),
            transaction: None,
            large: LargeTransactions::default(),
            prepared: PreparedTexts::default(),
            resume,
            left_out_locks: LeftOutLocks::default(),
            uncommitted: BTreeMap::new(),
            expectations: None,
        })
    }

    /// How the next statement's text is read.
    pub(crate) fn dialect(&self) -> Dialect {
        self.main.dialect()
    }

    /// Reads this stream from here on: [`Coordinator::next`].
    pub(crate) fn read_from(&mut self, statements: Statements) {
        self.main.look_ahead.read_from(statements);
    }

    /// The next item of the stream.
    pub(crate) fn next(&mut self) -> Option<Result<ItemAhead, lexer::Error>> {
        self.main.next_item()
    }

    /// Takes the next statement of the stream. `ahead`: what was found of it when it was read ahead.
    pub(crate) fn statement(&mut self, statement: Statement, ahead: Option<Analysis>) -> Result<(), Stopped> {
        let Some(Statement { text, location, terminator, .. }) = self.continue_run(statement) else { return Ok(()) };
        self.progress.statement_read(&text);
        let info = self.prepared.resolve(self.main.analyze(&text, ahead));
        let statement = AnalyzedStatement { text, location, is_vertical: terminator == Terminator::GoVertical, info };
        let Some(mut statement) = self.pass_filter(statement)? else { return Ok(()) };
        self.main.check_released(&statement.text, &statement.location)?;
        self.place_record(&statement)?;
        if workers::may_change_logins(&statement.info) && !self.is_of_other_accounts(&statement) {
            self.connect_workers()?;
        }
        if self.stays_behind_held(&statement.info) {
            self.saved.statement_comes(&statement);
            self.expect(&statement);
            self.held.behind.push(statement);
            return Ok(());
        }
        let asks = statement.info.reads_diagnostics();
        if !asks {
            self.place_held_before(&statement.info)?;
        }
        self.saved.statement_comes(&statement);
        if self.joins_sets(&statement) {
            self.expect(&statement);
            return self.gather_set(statement);
        }
        if !self.sets.is_empty() && !self.goes_behind_sets(&statement) {
            self.run_sets(if asks { Joining::Off } else { Joining::Allowed })?;
            statement.info = self.prepared.resolve(self.main.analyze(&statement.text, None));
        }
        if statement.info.reads_diagnostics() {
            self.run_asked(&statement.info)?;
        }
        self.expect(&statement);
        self.release_left_out_locks(&statement.info);
        self.main.check_writer(&statement.text, &statement.location)?;
        if self.resume.is_some() && self.skip_if_applied(&statement)? {
            self.main.settle_rejected(statement.location.ordinal);
            // What was done before counts as if it were done now: the validation is of the whole.
            return self.note_constraints(&statement);
        }
        match statement.info.kind {
            StatementKind::Rows(_) | StatementKind::Write { .. } | StatementKind::TableDdl | StatementKind::Skip => {
                self.held.statement = Some(statement);
                Ok(())
            }
            _ if self.is_commit_of_rows(&statement.info) => {
                self.held.statement = Some(statement);
                Ok(())
            }
            _ => self.place(statement),
        }
    }

    /// Gives all statements so far their place, and waits until they are done.
    pub(crate) fn finish_stream(&mut self) -> Result<(), Stopped> {
        self.held.is_awaited = true;
        self.place_all()?;
        self.build_keys()?;
        self.finish()
    }

    /// The stream is over, at its end or before: what was run is committed.
    pub(crate) fn end(&mut self) {
        let _ended_already = self.main.commit_pending();
        if self.pool.is_ending() {
            self.main.record_at_end();
        }
        self.count_committed();
        self.take_back_large();
    }

    /// Gives a statement its place: plans it, and carries the step out.
    fn place(&mut self, statement: AnalyzedStatement) -> Result<(), Stopped> {
        if statement.info.reads_diagnostics() {
            // Nothing of ours may run between it and the statement that it asks about.
            return self.run_in_main(statement, "the statement reads the diagnostics of the previous statement");
        }
        self.main.commit_pending()?;
        self.count_committed();
        self.wait_while_paused()?;
        if !matches!(statement.info.kind, StatementKind::OtherDdl | StatementKind::Set | StatementKind::Constant)
            && !self.main.is_idempotent(&statement)
        {
            // It may be recorded, or give names another meaning.
            self.main.unrecorded.forget_dropped();
        }
        self.main.sync(&statement.location)?;
        self.check_schema_guard(&statement)?;
        let Some(mut statement) = self.take_into_transaction(statement)? else { return Ok(()) };
        let step = self.next_step(&mut statement)?;
        if !self.sets.is_empty() && !matches!(step, Step::OtherDdl { .. }) {
            self.run_sets(Joining::Allowed)?;
            return self.place(statement);
        }
        match step {
            Step::LookUp(_) | Step::ListRelations(_) => unreachable!("looked up just above"),
            Step::Skip => {
                // A record of several definitions has no gaps.
                self.end_keys()?;
                self.left_out(&statement.info);
                self.build_keys_behind(&statement.info)
            }
            Step::CommitInstead => {
                self.run_batch()?;
                self.left_out(&statement.info);
                self.commit_instead(&statement.location)?;
                self.large_may_have_ended(&statement.location)
            }
            Step::Rows(rows) => {
                self.run_batch()?;
                self.add_rows(statement, rows)
            }
            Step::TableDdl { tables, references, drains } => {
                self.run_batch()?;
                self.build_keys_before(&statement, &tables, &references)?;
                self.add_table_ddl(statement, tables, references, drains)
            }
            Step::OtherDdl { tables, effect } => self.run_other_ddl(&statement, &tables, &effect),
            Step::Set | Step::Use => {
                self.flush()?;
                if self.can_gather(&statement) {
                    return self.gather_set(statement);
                }
                self.main.run(&statement)?;
                self.look_after_main(&statement.location)
            }
            Step::Constant => {
                // It prints only if nothing fails before it.
                self.finish()?;
                self.main.take_latest_id(&statement.location)?;
                self.main.run(&statement).map(drop)
            }
            Step::Main { reason } => self.run_in_main(statement, reason),
        }
    }

    fn run_other_ddl(
        &mut self,
        statement: &AnalyzedStatement,
        tables: &[TableName],
        effect: &DdlEffect,
    ) -> Result<(), Stopped> {
        self.wait_for_throttle()?;
        self.build_keys_before(statement, tables, &[])?;
        // What the dump takes away must not go if it fails before this place.
        if *effect == DdlEffect::Drops { self.finish() } else { self.flush() }?;
        self.deferral.defined(tables, self.main.state().checks_foreign_keys());
        let write_set = match effect {
            DdlEffect::None => write_sets::define(tables, &[], false),
            DdlEffect::CreatesSchema(schema) => write_sets::schema(schema),
            DdlEffect::Defines | DdlEffect::Drops => write_sets::catalog_change(tables),
        };
        self.pool.wait_clear(&write_set, &mut || self.main.keep_alive())?;
        self.main.check_writer(&statement.text, &statement.location)?;
        let existence = self.existence(statement)?;
        for table in tables {
            self.forget(table);
        }
        match effect {
            DdlEffect::None => self.main.unrecorded.note_absent(tables),
            DdlEffect::CreatesSchema(_) => {}
            DdlEffect::Defines | DdlEffect::Drops => {
                let needs_others = statement.info.is(Trait::CreatesView) || statement.info.is(Trait::HasBody);
                if needs_others && self.main.unrecorded.lacks_existing() {
                    let views = self.ask(&statement.location, CatalogCache::view_definitions)?;
                    self.main.unrecorded.note_existing(views.as_deref());
                }
                let dialect = self.main.dialect();
                self.main.unrecorded.note_names(statement, &dialect);
            }
        }
        let sets = std::mem::take(&mut self.sets);
        let failures = self.main.failures();
        if sets.is_empty() {
            self.main.run_recorded(statement, &RowEffects::default(), existence, Asked::No)?;
        } else {
            self.main.define_behind_sets(&sets, statement)?;
        }
        let has_failed = self.main.failures() > failures;
        if has_failed {
            self.saved.forget();
        }
        // TRUNCATE leaves the definition.
        if *effect != DdlEffect::None && statement.info.journal != JournalMode::Repeated {
            self.note_definition(statement, tables, has_failed);
        }
        self.throttle.charge(0, statement.text.len() as u64);
        self.note_existence(&statement.info, has_failed);
        self.look_after_main(&statement.location)
    }

    /// Runs a statement in the main session: with its neighbours where they are of its kind, else while nothing else runs.
    fn run_in_main(&mut self, statement: AnalyzedStatement, reason: Reason) -> Result<(), Stopped> {
        self.progress.barrier(reason);
        self.wait_for_throttle()?;
        self.build_keys()?;
        if statement.info.assignments.beyond_session {
            // What it sets may have a say in the keys of tables that are there.
            self.deferred_indexes.forget(None);
        }
        self.begin_for_events(&statement)?;
        if self.can_batch(&statement) {
            return self.add_to_batch(statement);
        }
        let Some(statement) = self.gather_transaction(statement) else { return Ok(()) };
        self.run_exclusive(&statement, Asked::No)
    }

    /// Runs a statement in the main session while nothing else runs.
    fn run_exclusive(&mut self, statement: &AnalyzedStatement, asked: Asked) -> Result<(), Stopped> {
        self.run_exclusive_with(statement, asked, None)
    }

    /// The same. `effects`: what the statement does with rows, if that was asked already and nothing ran since.
    fn run_exclusive_with(
        &mut self,
        statement: &AnalyzedStatement,
        asked: Asked,
        effects: Option<RowEffects>,
    ) -> Result<(), Stopped> {
        let (info, location) = (&statement.info, &statement.location);
        self.run_batch()?;
        self.build_keys()?;
        self.flush()?;
        let asks = info.reads_diagnostics();
        if !asks && !self.main.has_joinable(asked) {
            self.main.commit_pending()?;
        }
        self.pool.drain(&mut || self.main.keep_alive())?;
        // It may put rows anywhere, also by a function that it calls.
        self.catalog.new_tables.clear();
        self.main.check_writer(&statement.text, location)?;
        if asks {
            self.check_schema_guard(statement)?;
            if info.diagnostics.is_none_or(|query| query.reads_last_id) {
                // The statement before it ran here, and brought none.
                self.main.take_latest_id(location)?;
            }
        } else {
            self.main.sync(location)?;
            self.main.take_latest_id(location)?;
        }
        self.end_left_out_locks(info, location)?;
        self.prepared.note(info, self.main.state().database.as_deref());
        let table = self.written_table(info);
        let effects = match effects {
            Some(effects) => effects,
            None => self.row_effects(info, table.as_ref(), location)?,
        };
        self.note_constraints(statement)?;
        if info.is(Trait::RunsRoutine) && self.ask(location, |catalog| catalog.routines_may(RoutineEffect::Lock))? {
            self.main.may_lock();
        }
        let existence = self.existence(statement)?;
        let changes = self.definition_changes(info);
        if changes == DefinitionChanges::Anything {
            self.main.unrecorded.names_are_incomplete();
        }
        self.forget_changed(&changes, info, location)?;
        let failures = self.main.failures();
        self.count_before_rows(statement, table.as_ref(), &effects);
        let affected_rows = self.main.run_recorded(statement, &effects, existence, asked)?;
        self.main.all_rows_roll_back();
        self.throttle.charge(affected_rows, statement.text.len() as u64);
        self.forget_changed(&changes, info, location)?;
        let has_failed = self.main.failures() > failures;
        self.note_new_table(&changes, info, has_failed);
        self.note_existence(info, has_failed);
        if let Some(name) = table {
            self.affected(&name, affected_rows);
            self.expect_rows(statement);
            self.note_numbers(&name, info);
        }
        if info.is(Trait::RollsBack) {
            self.uncommitted.clear();
        }
        self.count_committed();
        self.large_may_have_ended(location)?;
        self.look_after_main(location)
    }

    /// Asks the server over the catalog's own connection.
    fn ask<T>(
        &mut self,
        location: &Location,
        question: impl FnOnce(&mut CatalogCache<'l>) -> Result<T, Error>,
    ) -> Result<T, Stopped> {
        question(&mut self.catalog).map_err(|error| {
            self.main.end_at(Failure::at(location, b"", &error), &error);
            Stopped
        })
    }

    /// Sends off what is gathered and waits until all is done.
    fn finish(&mut self) -> Result<(), Stopped> {
        self.flush()?;
        self.main.commit_pending()?;
        self.pool.drain(&mut || self.main.keep_alive())
    }
}
