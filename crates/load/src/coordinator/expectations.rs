//! ChunkContent note of what the stream should leave behind, where that is to be verified.

use std::sync::Arc;

use super::Coordinator;
use crate::expect::{Expectations, NameContext};
use crate::lexer::Location;

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
    pub(super) fn expect(&mut self, text: &[u8], location: &Location) {
        if self.expectations.is_none() {
            return;
        }
        // Rows of the form that was noted already bring nothing new.
        let is_known = self
            .known
            .as_ref()
            .is_some_and(|known| text.starts_with(&known.text) && Arc::ptr_eq(&known.session, self.main.state()));
        if !is_known {
            let (dialect, context) = (self.main.dialect(), self.name_context());
            if let Some(expectations) = &mut self.expectations {
                expectations.statement(text, &dialect, &context, location);
            }
        }
    }

    /// Rows go through the main session, and may be of a form that begins as a known one.
    pub(super) fn expect_rows(&mut self, text: &[u8], location: &Location) {
        if self.expectations.is_some() {
            let (dialect, context) = (self.main.dialect(), self.name_context());
            if let Some(expectations) = &mut self.expectations {
                expectations.rows(text, &dialect, &context, location);
            }
        }
    }

    /// A statement is done already, and no record tells the table of its rows.
    pub(super) fn expect_uncounted(&mut self, text: &[u8], location: &Location) {
        let (dialect, context) = (self.main.dialect(), self.name_context());
        if let Some(expectations) = &mut self.expectations {
            expectations.uncounted(text, &dialect, &context, location);
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
