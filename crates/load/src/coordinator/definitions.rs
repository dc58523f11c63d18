//! What a statement that has run makes of what is known of definitions.

use hortator_mysql::catalog::TableName;

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use super::catalog_cache::RoutineEffect;
use crate::analysis::{StatementInfo, StatementKind, Trait};
use crate::apply::Stopped;
use crate::lexer::Location;

impl Coordinator<'_> {
    /// Takes note of what a definition that has run changes in what is known.
    pub(super) fn note_definition(&mut self, statement: &AnalyzedStatement, tables: &[TableName]) {
        let info = &statement.info;
        if info.is(Trait::DefinesFunction)
            && let Some(name) = &info.function
        {
            self.functions.remove(name);
        }
        if info.is(Trait::HasBody) {
            self.catalog.forget_routines();
        }
        // IF NOT EXISTS may have found a table of the name.
        let is_new_view = info.is(Trait::CreatesView) && (!info.is(Trait::Idempotent) || info.is(Trait::Destroys));
        for table in tables {
            self.catalog.note_changed(table);
            if is_new_view && !self.pool.is_forced() {
                self.catalog.note_view(table);
            }
        }
    }

    /// A statement of the main session may change, or has changed, any definition. No routine and no block can define a
    /// routine or a trigger but by text that it executes: what they may do stays known.
    pub(super) fn forget_definitions(&mut self, info: &StatementInfo, location: &Location) -> Result<(), Stopped> {
        let is_program = info.is(Trait::RunsRoutine) || info.is(Trait::Compound);
        let is_known = match is_program && !info.is(Trait::SeveralStatements) {
            true => !info.is(Trait::MayCreateTemporary),
            false => info.is(Trait::ExecutesPrepared) && self.prepared.are_of_rows(),
        };
        let runs_text = |catalog: &mut super::CatalogCache<'_>| catalog.routines_may(RoutineEffect::RunText);
        if is_known && !self.ask(location, runs_text)? {
            self.known = None;
            self.deferral.emptied(None);
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
        self.known = None;
        self.deferral.emptied(Some(table));
        self.catalog.forget(table);
    }

    pub(super) fn forget_all(&mut self) {
        self.known = None;
        self.deferral.emptied(None);
        self.catalog.forget_all();
    }
}

/// Whether a statement of the main session may change definitions that are known.
pub(super) fn changes_definitions(info: &StatementInfo) -> bool {
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
