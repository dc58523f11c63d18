//! What session variables were when the dump saved them in user variables: `SET @saved = @@sql_mode; …; SET sql_mode = @saved`.
//!
//! Dumps do that around each view and routine, mostly without changing anything. Where a SET gives a session variable the
//! value that it has, the SETs behind it can go along with it.

use std::collections::HashMap;

use super::analyzed_statement::AnalyzedStatement;
use crate::analysis::{PlainSet, StatementKind};
use crate::session::SessionState;

/// Variables remembered; beyond that all are forgotten.
const LIMIT: usize = 100;

/// Values of session variables by the user variables that hold them.
#[derive(Debug, Default)]
pub(super) struct SavedValues(HashMap<Vec<u8>, Vec<u8>>);

impl SavedValues {
    /// A statement comes: one that may change user variables makes all unknown.
    pub(super) fn statement_comes(&mut self, statement: &AnalyzedStatement) {
        let info = &statement.info;
        let keeps = match info.kind {
            StatementKind::Set => info.assignments.plain.is_some() || !info.assignments.user_variables,
            // A definition runs nothing of what it defines.
            StatementKind::OtherDdl | StatementKind::Skip => true,
            _ => false,
        };
        if !keeps {
            self.0.clear();
        } else if let Some(name) = info.assignments.plain.as_ref().and_then(PlainSet::user_variable) {
            self.0.remove(name);
        }
    }

    /// Nothing is certain any more.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// A SET is kept: what it saves is known, if no SET that is kept before it changes that.
    pub(super) fn note(&mut self, set: &PlainSet, state: &SessionState, is_certain: impl Fn(&str) -> bool) {
        if let (Some(user_variable), Some(variable)) = (set.user_variable(), set.read_variable())
            && is_certain(variable)
        {
            if self.0.len() >= LIMIT {
                self.0.clear();
            }
            self.0.insert(user_variable.to_vec(), state.value(variable).to_vec());
        }
    }

    /// Whether a SET gives a session variable the value that it has.
    pub(super) fn leaves_as_it_is(&self, set: &PlainSet, name: &str, state: &SessionState) -> bool {
        let value = state.value(name);
        match (&set.constant, set.read_user_variable()) {
            (Some(constant), _) => {
                constant.eq_ignore_ascii_case(value) || constant.eq_ignore_ascii_case(&[b"'", value, b"'"].concat())
            }
            (None, Some(user_variable)) => self.0.get(user_variable).is_some_and(|saved| saved == value),
            (None, None) => false,
        }
    }
}
