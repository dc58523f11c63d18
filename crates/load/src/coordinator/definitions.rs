//! What a statement that has run makes of what is known of definitions.

use hortator_mysql::catalog::TableName;

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use super::catalog_cache::RoutineEffect;
use super::existence::{is_of_accounts, is_one_definition};
use crate::analysis::{DdlTarget, StatementInfo, StatementKind, Trait};
use crate::apply::Stopped;
use crate::lexer::Location;

impl Coordinator<'_> {
    /// Takes note of what a definition that has run changes in what is known.
    pub(super) fn note_definition(&mut self, statement: &AnalyzedStatement, tables: &[TableName], has_failed: bool) {
        let info = &statement.info;
        if info.is(Trait::DefinesFunction)
            && let Some(name) = &info.function
        {
            self.main.look_ahead.define_function(name);
        }
        if info.is(Trait::HasBody) {
            self.catalog.forget_routines();
        }
        // IF NOT EXISTS may have found a table of the name.
        let is_new_view = info.is(Trait::CreatesView) && (!info.is(Trait::Idempotent) || info.is(Trait::Destroys));
        // IF EXISTS may have found a view in place of a table; and a temporary table may have gone in the place of another.
        let is_gone = info.ddl_target.as_ref().is_some_and(DdlTarget::drops)
            && is_one_definition(info)
            && !info.is(Trait::IfExists)
            && !has_failed
            && !self.main.has_temporary_tables();
        for table in tables {
            self.catalog.note_changed(table);
            if is_new_view && !self.pool.is_forced() {
                self.catalog.note_view(table);
            }
            if is_gone {
                self.catalog.note_dropped(table);
            }
        }
    }

    /// What a statement of the main session may change of the definitions that are known.
    pub(super) fn definition_changes(&self, info: &StatementInfo) -> DefinitionChanges {
        if !changes_definitions(info) || is_of_accounts(info) {
            return DefinitionChanges::Nothing;
        }
        let target = info.ddl_target.as_ref().filter(|_| is_one_definition(info));
        if !matches!(info.kind, StatementKind::Exclusive { .. }) || target.is_none() || self.main.has_temporary_tables()
        {
            return DefinitionChanges::Anything;
        }
        let drops_schema = info.is(Trait::OfSchema) && target.is_some_and(DdlTarget::drops);
        let schema = info.schema.as_deref().filter(|_| drops_schema).and_then(|name| self.names().resolve_schema(name));
        if let Some(schema) = schema {
            return DefinitionChanges::Schema(schema);
        }
        let is_new_table = info.is(Trait::CreatesTable) && !info.is(Trait::CreatesTemporary);
        match self.names().resolve_all(&info.tables).filter(|_| is_new_table).as_deref() {
            Some([table]) => DefinitionChanges::Table(table.clone()),
            _ => DefinitionChanges::Anything,
        }
    }

    /// Forgets what a statement of the main session may change, or has changed.
    pub(super) fn forget_changed(
        &mut self,
        changes: &DefinitionChanges,
        info: &StatementInfo,
        location: &Location,
    ) -> Result<(), Stopped> {
        match changes {
            DefinitionChanges::Nothing => {}
            DefinitionChanges::Table(table) => {
                self.forget(table);
                self.catalog.note_changed(table);
            }
            DefinitionChanges::Schema(schema) => {
                self.main.look_ahead.known = None;
                self.deferral.emptied(None);
                self.deferred_indexes.forget(None);
                self.catalog.forget_schema(schema);
            }
            DefinitionChanges::Anything => self.forget_definitions(info, location)?,
        }
        Ok(())
    }

    /// Takes note of a table that a statement of the main session has created.
    pub(super) fn note_new_table(&mut self, changes: &DefinitionChanges, info: &StatementInfo, has_failed: bool) {
        // IF NOT EXISTS may have found a view of the name.
        if let DefinitionChanges::Table(table) = changes
            && !has_failed
            && !info.is_idempotent()
        {
            self.catalog.note_created_in_main(table);
            let source = info.copies.as_ref().and_then(|named| self.names().resolve(named));
            if let Some(source) = source.filter(|_| !self.main.has_temporary_tables()) {
                self.catalog.plain_tables.copied(table, &source, self.main.state());
            }
        }
    }

    /// A statement of the main session may change, or has changed, any definition. No routine and no block can define a
    /// routine or a trigger but by text that it executes: what they may do stays known.
    fn forget_definitions(&mut self, info: &StatementInfo, location: &Location) -> Result<(), Stopped> {
        let is_program = info.is(Trait::RunsRoutine) || info.is(Trait::Compound);
        let is_known = match is_program && !info.is(Trait::SeveralStatements) {
            true => !info.is(Trait::MayCreateTemporary),
            false => info.is(Trait::ExecutesPrepared) && self.prepared.are_of_rows(),
        };
        let runs_text = |catalog: &mut super::CatalogCache<'_>| catalog.routines_may(RoutineEffect::RunText);
        if is_known && !self.ask(location, runs_text)? {
            self.main.look_ahead.known = None;
            self.deferral.emptied(None);
            self.deferred_indexes.forget(None);
            self.catalog.forget_all_but_routines();
        } else {
            self.forget_all();
            if info.is(Trait::RunsRoutine) || info.is(Trait::ExecutesPrepared) {
                self.prepared.are_unknown();
            }
        }
        Ok(())
    }

    pub(super) fn forget(&mut self, table: &TableName) {
        self.main.look_ahead.known = None;
        self.deferred_indexes.forget(Some(table));
        self.deferral.emptied(Some(table));
        self.catalog.forget(table);
    }

    pub(super) fn forget_all(&mut self) {
        self.main.look_ahead.known = None;
        self.deferral.emptied(None);
        self.deferred_indexes.forget(None);
        self.catalog.forget_all();
    }
}

/// What a statement may change of the definitions that are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DefinitionChanges {
    /// Nothing.
    Nothing,
    /// One table.
    Table(TableName),
    /// All in one schema.
    Schema(Vec<u8>),
    /// Anything.
    Anything,
}

/// Whether a statement of the main session may change definitions that are known.
fn changes_definitions(info: &StatementInfo) -> bool {
    match info.kind {
        StatementKind::TableDdl | StatementKind::OtherDdl => true,
        StatementKind::Exclusive { .. } if info.is(Trait::CreatesTemporary) || info.is(Trait::DropsTemporary) => {
            info.is(Trait::MayCallFunction)
        }
        StatementKind::Exclusive { .. } => {
            !info.is(Trait::NoRows) && !info.is(Trait::WritesRows) || info.is(Trait::MayDoAnything)
        }
        _ => false,
    }
}
