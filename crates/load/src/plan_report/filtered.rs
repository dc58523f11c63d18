//! The statements of a plan on their way through the filter.

use hortator_mysql::Error;

use super::{BARRIERS_KEPT, Reader};
use crate::analysis::{SessionFacts, StatementInfo, analyze};
use crate::filter::{Passage, Refusal};
use crate::lexer::Location;
use crate::planner::Names;
use crate::report::Failure;

impl Reader {
    /// Takes a statement of the input.
    pub(super) fn statement(&mut self, text: &[u8], location: &Location) -> Result<(), Error> {
        self.plan.statements += 1;
        self.needs.statement_bytes = self.needs.statement_bytes.max(text.len() as u64);
        let info = self.analyze(text);
        let (dialect, database) = (self.dialect(), self.database.clone());
        let names = Names {
            database: database.as_deref(),
            folds_case: self.folds_case,
            are_utf8: self.tracker.state().names_are_utf8(),
        };
        match self.filter.statement(text, &info, &dialect, names) {
            Ok(Passage::Unchanged) => self.passed(text, location, &info),
            Ok(Passage::Rewritten(text)) => {
                let info = self.analyze(&text);
                self.passed(&text, location, &info)
            }
            Ok(Passage::LeftOut { .. }) => {
                self.plan.skipped += 1;
                Ok(())
            }
            Err(Refusal(reason)) => {
                if self.plan.failures.len() < BARRIERS_KEPT {
                    self.plan.failures.push(Failure::finding(location, text, reason));
                }
                Ok(())
            }
        }
    }

    fn analyze(&self, text: &[u8]) -> StatementInfo {
        analyze(text, &SessionFacts { dialect: self.dialect(), functions: &self.functions, known_head: None })
    }

    /// The client's `use`.
    pub(super) fn use_schema(&mut self, schema: Vec<u8>, location: &Location) {
        let names = Names { database: None, folds_case: self.folds_case, are_utf8: true };
        match self.filter.use_schema(&schema, names) {
            Ok(None) => self.database = Some(schema),
            Ok(Some(Some(mapped))) => self.database = Some(mapped),
            Ok(Some(None)) => {}
            Err(Refusal(reason)) => {
                self.plan.failures.push(Failure::finding(location, &[b"use ", &schema[..]].concat(), reason));
            }
        }
    }
}
