//! Files of rows: whether they are read.

use std::sync::atomic::Ordering::Relaxed;

use super::Coordinator;
use crate::input::delimited::RowsFile;
use crate::planner::Names;

impl Coordinator<'_> {
    /// A file of rows comes: passes it over where it is left out.
    pub(crate) fn rows_file(&mut self, file: &RowsFile) {
        let state = self.main.state().clone();
        let names = Names {
            database: state.database.as_deref(),
            folds_case: self.folds_case,
            are_utf8: state.names_are_utf8(),
        };
        if self.filter.leaves_out_rows(&file.table, names) {
            self.progress.skipped.fetch_add(1, Relaxed);
            self.main.look_ahead.pass_rows();
        }
    }
}
