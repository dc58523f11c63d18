//! Files of rows on their way through the filter: one that is left out is not read.

use super::Filter;
use crate::analysis::NamedTable;
use crate::input::delimited::RowsTable;
use crate::planner::Names;
use crate::selection::{self, Decision, Scope};

impl Filter {
    /// Takes the file of a table's rows: whether it is left out. What is refused is left to its first statement.
    pub(crate) fn leaves_out_rows(&mut self, table: &RowsTable, names: Names<'_>) -> bool {
        if self.is_idle() {
            return false;
        }
        let database = self.database.clone();
        let names = Names { database: database.as_deref().or(names.database), ..names };
        let target = NamedTable { schema: table.schema.clone(), table: table.name.clone() };
        let scope = Scope::Rows { target, sources: Vec::new() };
        self.match_patterns(&scope, names);
        let Decision::LeaveOut(option) = selection::decide(&scope, &self.rules.selection, names) else { return false };
        self.leave_out(option, &[scope], names);
        true
    }

    /// A table of the input as the server is to be asked for it.
    pub(crate) fn mapped_table(&self, table: &RowsTable, folds_case: bool) -> RowsTable {
        let mapped = |schema: &Vec<u8>| {
            let mapped = self.rules.rewriting.mapped_schema(schema, folds_case);
            mapped.map_or_else(|| schema.clone(), <[u8]>::to_vec)
        };
        RowsTable { schema: table.schema.as_ref().map(mapped), name: table.name.clone() }
    }
}
