//! Files of rows: whether a load would read them.

use super::Reader;
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
}
