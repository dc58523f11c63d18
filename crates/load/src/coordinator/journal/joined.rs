//! Changes of rows that join a transaction of ours which is still open, because only diagnostics are asked for between them:
//!
//! ```text
//!   dump:   INSERT …;  SHOW WARNINGS;  INSERT …;  SHOW WARNINGS;  …  other
//!   sent:   START TRANSACTION, record;  INSERT …;  SHOW WARNINGS;  INSERT …;  SHOW WARNINGS;  …  record closed, COMMIT;  other
//! ```
//!
//! So many statements have one record and one commit. The server takes a statement that fails back by itself; those before
//! it are committed then, as the client would have left them.

use hortator_mysql::Error;
use hortator_mysql::error::DEADLOCK;

use super::internal_transaction::{InternalTransaction, REPLAYS_LIMIT};
use super::{Asked, Journal, RowEffects, applied_or_bound, checkpoint_of};
use crate::analysis::JournalMode;
use crate::apply::{COMMIT, ROLLBACK, Stopped};
use crate::checkpoint::{Checkpoint, LastId, RecoveryHint, State};
use crate::coordinator::analyzed_statement::AnalyzedStatement;
use crate::coordinator::main_session::MainSession;

/// Statements of one such transaction, and their text.
const STATEMENTS_LIMIT: usize = 500;
const TEXT_LIMIT_BYTES: usize = 256 << 10;

impl MainSession<'_> {
    /// Whether a transaction of ours is open that others may join.
    pub(in crate::coordinator) fn has_joinable(&self, asked: Asked) -> bool {
        let Journal::Internal(open) = &self.journal else { return false };
        asked == Asked::ByQuery
            && open.is_within
            && !open.has_failed
            && !open.has_failed_behind
            && open.more.is_empty()
            && !open.checkpoint.table.is_empty()
            && open.statements.len() < STATEMENTS_LIMIT
            && open.bytes < TEXT_LIMIT_BYTES
            && self.status().in_transaction()
            && !self.is_on_cluster()
            && !self.is_gone()
    }

    /// Whether a change of rows may join the transaction of ours that is open.
    pub(super) fn joins_open(&self, statement: &AnalyzedStatement, effects: &RowEffects, asked: Asked) -> bool {
        let Journal::Internal(open) = &self.journal else { return false };
        self.has_joinable(asked)
            && statement.info.journal == JournalMode::Rows
            && statement.info.diagnostics.is_none()
            && effects.table == open.checkpoint.table
            && effects.counters.is_empty()
            && !effects.names_other_engines
            && !effects.is_non_transactional
            && !effects.must_stand_alone
            && !self.has_one_shot_variable()
    }

    /// Runs it there.
    pub(super) fn run_joined(&mut self, statement: &AnalyzedStatement, effects: &RowEffects) -> Result<u64, Stopped> {
        if self.is_interrupted() {
            return Err(Stopped);
        }
        let Journal::Internal(mut open) = std::mem::take(&mut self.journal) else { return Ok(0) };
        let failures = self.failures();
        self.show_as(statement);
        let mut sent = self.send(statement);
        let mut replays = 0;
        while sent.as_ref().is_err_and(|error| error.code() == Some(DEADLOCK))
            && replays < REPLAYS_LIMIT
            && !self.is_interrupted()
        {
            // The server has rolled back all of it.
            replays += 1;
            self.replays();
            sent = match self.do_again(&open) {
                Ok(()) => self.send(statement),
                Err(error) => Err(error),
            };
        }
        let result = self.handle_result(statement, sent);
        open.has_failed_behind = result.is_err() || self.failures() > failures;
        if open.has_failed_behind {
            if self.is_forced() && !self.is_gone() {
                open.more.push(checkpoint_of(statement, State::Applied, "", RecoveryHint::Failed(1)));
            }
        } else {
            let (location, text) = (&statement.location, &statement.text);
            open.digest.add(text);
            open.bytes += text.len();
            let bound = self.has_bound_session(statement, effects) || open.checkpoint.state == State::SessionBound;
            open.checkpoint.state = applied_or_bound(bound);
            open.checkpoint.rows += result.as_ref().unwrap_or(&0);
            open.checkpoint.span.last = location.ordinal;
            open.checkpoint.span.end_byte = location.byte + text.len() as u64;
            open.checkpoint.span.digest = open.digest.value();
            open.statements.push(statement.clone());
        }
        self.journal = Journal::Internal(open);
        if result.is_err() {
            // The load ends here: nothing will ask any more.
            self.commit_pending()?;
        }
        result
    }

    /// Commits what stands before the statement that failed.
    pub(super) fn commit_joined(&mut self, open: &InternalTransaction) -> Result<(), Error> {
        let Some(checkpoints) = self.checkpoints else { return self.connection.execute(COMMIT).map(drop) };
        if checkpoints.close(&mut self.connection, &open.checkpoint)?.affected_rows == 0 {
            // The record is in the transaction: with the statement that failed, the server has rolled back all of it.
            self.do_again(open)?;
            checkpoints.close(&mut self.connection, &open.checkpoint)?;
        }
        for checkpoint in &open.more {
            checkpoints.write(&mut self.connection, checkpoint)?;
        }
        self.connection.execute(COMMIT).map(drop)
    }

    /// Begins the transaction again, with all that is in it. What its statements return has been printed.
    fn do_again(&mut self, open: &InternalTransaction) -> Result<(), Error> {
        self.connection.execute(ROLLBACK)?;
        let first = &open.statements[0];
        let begun =
            Checkpoint { rows: 0, ..checkpoint_of(first, State::Intent, &open.checkpoint.table, RecoveryHint::None) };
        if let Some(checkpoints) = self.checkpoints {
            self.begin_with(&checkpoints.write_statement(&begun, LastId::Known))?;
        }
        for statement in &open.statements {
            self.connection.execute(statement.with_scopes().as_deref().unwrap_or(&statement.text))?;
        }
        drop(self.connection.take_session_changes());
        Ok(())
    }
}
