//! What the coordinator does for constraints whose checks are put off: keeps the order that those need which are still
//! made, and takes note of what must be proven.

use hortator_mysql::catalog::TableName;

use super::Coordinator;
use crate::apply::Stopped;
use crate::deferral::Checks;
use crate::lexer::{Location, tokens};
use crate::rows::{InsertVerb, RowSource, prescan};
use crate::statement_kind::{NamedTable, StatementKind, classify};

/// Statements of no known effect that change no rows and no table.
const HARMLESS: [&[u8]; 22] = [
    b"SHOW",
    b"SELECT",
    b"SET",
    b"DO",
    b"BEGIN",
    b"START",
    b"COMMIT",
    b"ROLLBACK",
    b"SAVEPOINT",
    b"RELEASE",
    b"XA",
    b"FLUSH",
    b"KILL",
    b"GRANT",
    b"REVOKE",
    b"LOCK",
    b"UNLOCK",
    b"PREPARE",
    b"DEALLOCATE",
    b"ANALYZE",
    b"CHECK",
    b"CHECKSUM",
];

/// Statements that may give a table another name, or do anything at all, so that rows put off may be elsewhere then.
const MOVING: [&[u8]; 4] = [b"RENAME", b"ALTER", b"CALL", b"EXECUTE"];

impl Coordinator<'_> {
    /// The tables that a definition reads, of those that it names and those that its tables refer to already: a copy of
    /// a table's rows is checked like new rows, so that with checks put off for rows, these must wait here.
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

    /// ChunkContent note of a statement that runs in the main session, by what it may do to constraints.
    pub(super) fn note_constraints(&mut self, text: &[u8], location: &Location) -> Result<(), Stopped> {
        let checks = self.main.state().checks_foreign_keys();
        let dialect = self.main.dialect();
        let defers = self.deferral.foreign_keys() == Checks::Deferred;
        match classify(text, &dialect) {
            StatementKind::Rows(head) => {
                let named = NamedTable { schema: head.schema.clone(), table: head.table.clone() };
                let Some(name) = self.resolve(&named) else {
                    self.note_anything();
                    return Ok(());
                };
                let only_adds = defers
                    && head.verb == InsertVerb::Insert
                    && matches!(head.source, RowSource::Values { offset }
                        if prescan(text, offset, None, &dialect).is_ok_and(|prescan| !prescan.has_suffix));
                self.deferral.rows(&name, self.main.state(), !only_adds);
                if defers && !checks && self.table(&name, location)?.is_some_and(|table| table.has_triggers) {
                    self.note_anything();
                }
            }
            StatementKind::TableDdl { tables, .. } | StatementKind::OtherDdl { tables } => {
                match self.resolve_all(&tables) {
                    Some(tables) => self.deferral.defined(&tables, checks),
                    None => self.note_anything(),
                }
            }
            StatementKind::Barrier { .. } => {
                let Some(first) = tokens(text, &dialect).next() else { return Ok(()) };
                let is_one_of = |words: &[&[u8]]| words.iter().any(|word| first.is_word(word));
                if (!checks && !is_one_of(&HARMLESS)) || is_one_of(&MOVING) {
                    self.note_anything();
                }
                if !checks && first.is_word(b"DROP") {
                    // DROP DATABASE: the last name.
                    let name = tokens(text, &dialect).last().and_then(|token| crate::rows::name(&token));
                    self.deferral.anything(name.as_deref());
                }
            }
            StatementKind::Session | StatementKind::Constant | StatementKind::Skip { .. } | StatementKind::Empty => {}
        }
        Ok(())
    }

    fn note_anything(&mut self) {
        self.deferral.anything(self.main.state().database.as_deref());
    }
}
