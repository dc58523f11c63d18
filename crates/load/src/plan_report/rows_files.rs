//! Files of rows: whether a load would read them, and the columns that their tables have.

use hortator_mysql::{Error, catalog};

use super::Reader;
use crate::analysis::NamedTable;
use crate::input::delimited::RowsTable;
use crate::planner::Names;

impl Reader {
    /// Whether the file of a table's rows is left out.
    pub(super) fn leaves_out(&mut self, table: &RowsTable) -> bool {
        let database = self.database.clone();
        let names = Names {
            database: database.as_deref(),
            folds_case: self.folds_case,
            are_utf8: self.tracker.state().names_are_utf8(),
        };
        let is_left_out = self.filter.leaves_out_rows(table, names);
        self.plan.skipped += u64::from(is_left_out);
        is_left_out
    }

    /// How many values the table takes for a row, as the server has it now; `None` where it is not there, or is to be defined
    /// by the input.
    pub(super) fn values_per_row(&mut self, table: &RowsTable) -> Result<Option<usize>, Error> {
        let mapped = self.filter.mapped_table(table, self.folds_case);
        let named = NamedTable { schema: mapped.schema, table: mapped.name };
        let Some(name) = self.resolve(&named).filter(|name| !self.defined.contains_key(name)) else { return Ok(None) };
        Ok(catalog::table(&mut self.catalog, &name)?.and_then(|table| table.values_per_row()))
    }
}
