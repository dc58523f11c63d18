//! Definitions that need no record: doing them again is as good as once.
//!
//! An intent and its end cost two commits, each of which waits for the disk, while `CREATE VIEW` itself waits for none. So
//! what can be repeated is not recorded:
//!
//! - `DROP … IF EXISTS`, `CREATE OR REPLACE …`, `CREATE … IF NOT EXISTS`;
//! - `CREATE` of what such a `DROP` has just taken away, while nothing between them is recorded.
//!
//! The main session runs them one after the other, before anything behind them gets its place. So a load that resumes
//! passes them over where there is a record behind them, and else runs them again.

use std::collections::HashSet;

use crate::analysis::{Postcondition, StatementKind, Trait};
use crate::apply::Stopped;
use crate::checkpoint::{Checkpoint, RecoveryHint, State};
use crate::coordinator::analyzed_statement::AnalyzedStatement;
use crate::coordinator::main_session::MainSession;

use super::{applied_or_bound, checkpoint_of};

/// Names that are remembered; beyond that all are forgotten, and the next definitions are recorded.
const DROPPED_LIMIT: usize = 1000;

/// What `DROP … IF EXISTS` has taken away since the last record, as statements that would show it.
#[derive(Debug, Default)]
pub(in crate::coordinator) struct Dropped(HashSet<Vec<u8>>);

impl Dropped {
    /// Something is recorded: a load that resumes does not repeat what stands before it.
    pub(in crate::coordinator) fn clear(&mut self) {
        self.0.clear();
    }
}

impl MainSession<'_> {
    /// Whether a definition needs no record.
    pub(super) fn is_idempotent(&self, statement: &AnalyzedStatement) -> bool {
        let info = &statement.info;
        if !matches!(info.kind, StatementKind::OtherDdl) || self.is_in_dumps_transaction() {
            return false;
        }
        let is_replaced = || match &info.ddl_target {
            Some(target) if target.postcondition == Postcondition::Changed => {
                target.questions.iter().all(|question| self.dropped.0.contains(question))
            }
            _ => false,
        };
        info.is(Trait::Idempotent) || is_replaced()
    }

    /// Runs a definition that needs no record. One that fails in a forced load is recorded, so that the failure is not
    /// forgotten.
    pub(super) fn run_idempotent(&mut self, statement: &AnalyzedStatement) -> Result<u64, Stopped> {
        let failures = self.failures();
        let rows = self.run(statement)?;
        if self.failures() > failures {
            self.dropped.clear();
            if self.is_gone() {
                return Ok(rows);
            }
            let checkpoint = checkpoint_of(statement, State::Applied, "", RecoveryHint::Failed(1));
            self.on_internal_connection(&statement.location, &statement.text, |checkpoints, internal| {
                checkpoints.write(internal, &checkpoint)
            })?;
            return Ok(rows);
        }
        let info = &statement.info;
        if let Some(target) = info.ddl_target.as_ref().filter(|_| info.is(Trait::IfExists)) {
            if self.dropped.0.len() + target.questions.len() > DROPPED_LIMIT {
                self.dropped.clear();
            }
            self.dropped.0.extend(target.questions.iter().cloned());
        }
        let state = applied_or_bound(self.has_bound_session(statement, &super::RowEffects::default()));
        if state == State::SessionBound {
            self.dropped.clear();
            let checkpoint = Checkpoint { state, ..checkpoint_of(statement, state, "", RecoveryHint::None) };
            self.on_internal_connection(&statement.location, &statement.text, |checkpoints, internal| {
                checkpoints.write(internal, &checkpoint)
            })?;
        }
        Ok(rows)
    }
}
