//! Takes note of what the stream should leave behind, where that is to be verified.

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use crate::analysis::StatementKind;
use crate::expect::{Expectations, NameContext};

impl Coordinator<'_> {
    /// From here on, what passes is kept in these.
    pub(crate) fn with_expectations(mut self, expectations: Option<Expectations>) -> Self {
        self.expectations = expectations;
        self
    }

    /// What was kept, at the end of the stream.
    pub(crate) fn into_expectations(mut self) -> Option<Expectations> {
        if self.main.status().in_transaction()
            && let Some(expectations) = &mut self.expectations
        {
            expectations.left_open();
        }
        self.expectations
    }

    /// A statement passes, whether it is sent or was recorded before.
    pub(super) fn expect(&mut self, statement: &AnalyzedStatement) {
        // Rows of the form that was noted already bring nothing new.
        let is_known = matches!(&statement.info.kind, StatementKind::Rows(rows) if rows.head.is_none());
        if self.expectations.is_some() && !is_known {
            let (dialect, names) = (self.main.dialect(), self.name_context());
            if let Some(expectations) = &mut self.expectations {
                expectations.statement(&statement.text, &statement.info, &dialect, &names, &statement.location);
            }
        }
    }

    /// Rows go through the main session, and may be of a form that begins as a known one.
    pub(super) fn expect_rows(&mut self, statement: &AnalyzedStatement) {
        if self.expectations.is_some() {
            let (dialect, names) = (self.main.dialect(), self.name_context());
            if let Some(expectations) = &mut self.expectations {
                expectations.rows(&statement.text, &dialect, &names, &statement.location);
            }
        }
    }

    /// A statement is done already, and no record tells the table of its rows.
    pub(super) fn expect_uncounted(&mut self, statement: &AnalyzedStatement) {
        let (dialect, names) = (self.main.dialect(), self.name_context());
        if let Some(expectations) = &mut self.expectations {
            expectations.uncounted(&statement.text, &dialect, &names, &statement.location);
        }
    }

    fn name_context(&self) -> NameContext {
        let state = self.main.state();
        NameContext {
            database: state.database.clone(),
            folds_case: self.folds_case,
            names_are_utf8: state.names_are_utf8(),
            checks_foreign_keys: state.checks_foreign_keys(),
        }
    }
}
