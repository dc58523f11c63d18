//! What the coordinator does for constraints whose checks are deferred: keeps the order that those need which are still
//! made, and takes note of what must be validated.

use hortator_mysql::catalog::TableName;

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use crate::analysis::{StatementKind, Trait};
use crate::apply::Stopped;
use crate::deferral::Checks;
use crate::lexer::Location;
use crate::rows::InsertVerb;

impl Coordinator<'_> {
    /// The tables that a definition reads, of those that it names and those that its tables refer to already: a copy of
    /// a table's rows is checked like new rows, so that with checks deferred for rows, these must wait here.
    pub(super) fn rows_that_must_be_in(
        &mut self,
        tables: &[TableName],
        mut references: Vec<TableName>,
        reads_rows: bool,
        location: &Location,
    ) -> Result<Vec<TableName>, Stopped> {
        let checks = self.main.state().checks_foreign_keys();
        self.deferral.defined(tables, checks);
        if self.deferral.foreign_keys() == Checks::Deferred && checks && reads_rows {
            for name in tables {
                if let Some(table) = self.table(name, location)? {
                    references.extend(table.parents.iter().cloned());
                }
            }
        }
        Ok(references)
    }

    /// Takes note of a statement that runs in the main session, or has been applied before, by what it may do to
    /// constraints.
    pub(super) fn note_constraints(&mut self, statement: &AnalyzedStatement) -> Result<(), Stopped> {
        let info = &statement.info;
        let checks = self.main.state().checks_foreign_keys();
        let defers = self.deferral.foreign_keys() == Checks::Deferred;
        match &info.kind {
            StatementKind::Rows(_) | StatementKind::Write { .. }
                if info.is(Trait::NumbersRows) && self.is_insert(info) =>
            {
                let Some(name) = self.written_table(info) else {
                    self.note_anything();
                    return Ok(());
                };
                let only_adds = defers
                    && matches!(&info.kind, StatementKind::Rows(rows)
                        if rows.head.as_ref().is_none_or(|head| head.verb == InsertVerb::Insert));
                self.deferral.rows(&name, self.main.state(), !only_adds);
                if defers && !checks && self.table(&name, &statement.location)?.is_some_and(|table| table.has_triggers)
                {
                    self.note_anything();
                }
            }
            StatementKind::TableDdl | StatementKind::OtherDdl => match self.names().resolve_all(&info.tables) {
                Some(tables) => self.deferral.defined(&tables, checks),
                None => self.note_anything(),
            },
            StatementKind::Exclusive { .. } | StatementKind::Write { .. } => {
                if info.is(Trait::SkipsChecks) {
                    self.deferral.anything(info.schema.as_deref());
                }
                if (!checks && !info.is(Trait::NoRows)) || info.is(Trait::MovesTables) {
                    self.note_anything();
                }
                if !checks && info.is(Trait::DropsTables) {
                    self.deferral.anything(info.schema.as_deref());
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether a write names the one table that its rows go to.
    fn is_insert(&self, info: &crate::analysis::StatementInfo) -> bool {
        matches!(info.kind, StatementKind::Rows(_)) || !info.tables.is_empty()
    }

    fn note_anything(&mut self) {
        self.deferral.anything(self.main.state().database.as_deref());
    }
}
