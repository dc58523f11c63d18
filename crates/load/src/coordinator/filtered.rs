//! Statements on their way through the filter: what is selected, with which text, and what a left-out statement leaves to do.

use std::borrow::Cow;
use std::sync::atomic::Ordering::Relaxed;

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use crate::apply::Stopped;
use crate::filter::{Passage, Refusal};
use crate::lexer::Location;
use crate::report::Failure;

impl Coordinator<'_> {
    /// The statement as it is to run; `None` where it is left out.
    pub(super) fn pass_filter(
        &mut self,
        mut statement: AnalyzedStatement,
    ) -> Result<Option<AnalyzedStatement>, Stopped> {
        if self.filter.is_idle() {
            return Ok(Some(statement));
        }
        let (dialect, folds_case) = (self.main.dialect(), self.folds_case);
        let state = self.main.state().clone();
        let names =
            crate::planner::Names { database: state.database.as_deref(), folds_case, are_utf8: state.names_are_utf8() };
        match self.filter.statement(&statement.text, &statement.info, &dialect, names) {
            Ok(Passage::Unchanged) => Ok(Some(statement)),
            Ok(Passage::Rewritten(text)) => {
                statement.text = text;
                Ok(Some(self.analyzed_again(statement)))
            }
            // What was open is committed, as the statement would have done.
            Ok(Passage::LeftOut { commits: true }) if self.may_be_in_transaction() => {
                statement.text = b"COMMIT".to_vec();
                Ok(Some(self.analyzed_again(statement)))
            }
            Ok(Passage::LeftOut { .. }) => {
                self.progress.skipped.fetch_add(1, Relaxed);
                Ok(None)
            }
            Err(Refusal(reason)) => {
                let failure = Failure::finding(&statement.location, &statement.text, reason);
                self.pool.fail(self.pool.position(), failure, true);
                Err(Stopped)
            }
        }
    }

    /// The schema that the client's `use` selects; `None` where it is left out.
    pub(super) fn filtered_schema<'d>(
        &mut self,
        database: &'d [u8],
        location: &Location,
    ) -> Result<Option<Cow<'d, [u8]>>, Stopped> {
        let state = self.main.state().clone();
        let names = crate::planner::Names {
            database: state.database.as_deref(),
            folds_case: self.folds_case,
            are_utf8: state.names_are_utf8(),
        };
        match self.filter.use_schema(database, names) {
            Ok(None) => Ok(Some(Cow::Borrowed(database))),
            Ok(Some(mapped)) => Ok(mapped.map(Cow::Owned)),
            Err(Refusal(reason)) => {
                let failure = Failure::finding(location, &[b"use ", database].concat(), reason);
                self.pool.fail(self.pool.position(), failure, true);
                Err(Stopped)
            }
        }
    }

    fn analyzed_again(&self, mut statement: AnalyzedStatement) -> AnalyzedStatement {
        statement.info = self.prepared.resolve(self.main.analyze(&statement.text, None));
        statement
    }

    /// Whether something may be open that a commit would end.
    fn may_be_in_transaction(&self) -> bool {
        let status = self.main.status();
        !status.autocommit()
            || status.in_transaction()
            || self.transaction.is_some()
            || self.large.is_open()
            || self.batch.has_open_block()
    }
}
