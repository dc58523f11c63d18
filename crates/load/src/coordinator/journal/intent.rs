//! What commits by itself, or does anything: an intent before it, closed behind it.

use hortator_mysql::Error;
use hortator_mysql::error::LOCK_WAIT_TIMEOUT;

use super::{Journal, RowEffects, Run, applied_or_bound, checkpoint_of};
use crate::analysis::is_durable;
use crate::apply::Stopped;
use crate::checkpoint::State;
use crate::checkpoint::{Checkpoint, Checkpoints, RecoveryHint, fingerprint_unseen};
use crate::coordinator::analyzed_statement::AnalyzedStatement;
use crate::coordinator::existence::Existence;
use crate::coordinator::main_session::MainSession;
use crate::lexer::Location;

impl MainSession<'_> {
    /// Runs a statement with an intent. `existence`: of what it defines. `is_rows`: it changes rows, and no transaction
    /// tells whether it is done.
    pub(super) fn run_with_intent(
        &mut self,
        statement: &AnalyzedStatement,
        effects: &RowEffects,
        existence: Existence,
        is_rows: bool,
    ) -> Result<u64, Stopped> {
        let (text, location) = (&statement.text[..], &statement.location);
        let Some(checkpoints) = self.checkpoints else { return self.run(statement) };
        if self.is_bound {
            return self.run_behind_bound(statement);
        }
        let recovery_hint = match is_rows || self.has_one_shot_for_reads() {
            true => Ok(RecoveryHint::NotInTransaction),
            false => match existence.recovery_hint(&statement.info) {
                Some(known) => Ok(known),
                None => fingerprint_unseen(&mut self.connection, &statement.info),
            },
        };
        let recovery_hint = match recovery_hint {
            Ok(recovery_hint) => recovery_hint,
            Err(error) => return self.record_failed(location, text, &error).map(|()| 0),
        };
        let begun = checkpoint_of(statement, State::Intent, &effects.table, recovery_hint);
        self.apart(location, text, |checkpoints| checkpoints.begin_apart(&begun))?;
        let failures = self.failures();
        let result = self.run(statement);
        let rows = *result.as_ref().unwrap_or(&0);
        let has_failed = result.is_err() || self.failures() > failures;
        if has_failed && !self.is_forced() {
            // A refused definition leaves nothing. Of anything else a part may be there: its record stays open and says so.
            let is_definition = matches!(begun.recovery_hint, RecoveryHint::Definition(_) | RecoveryHint::Exists);
            if is_definition && !self.is_gone() && !self.is_interrupted() {
                self.apart(location, text, |checkpoints| checkpoints.retract_apart(begun.span.first))?;
            }
            return result;
        }
        if has_failed && self.is_gone() {
            return result;
        }
        if !has_failed && self.is_closed_to_others() {
            self.journal = Journal::Section(Box::new(Run { is_begun: true, ..Run::new(statement, "") }));
            return result;
        }
        let recovery_hint = if has_failed { RecoveryHint::Failed(1) } else { RecoveryHint::None };
        let state = applied_or_bound(self.has_bound_session(statement, effects));
        let checkpoint = Checkpoint { state, rows, recovery_hint, ..begun };
        let is_durable = is_durable(text, &statement.info, effects.is_plain_table);
        if !has_failed && self.status().in_transaction() {
            // It was part of the dump's transaction after all, and goes with it.
            self.apart(location, text, |checkpoints| checkpoints.retract_apart(checkpoint.span.first))?;
            let run = Run::new(statement, &effects.table);
            self.journal.dump_transaction().push(Run { state: checkpoint.state, rows, ..run });
            return result;
        }
        match self.close_unless_locked(checkpoints, &checkpoint, text, is_durable) {
            Ok(()) => {
                // The rows of a table can be taken back, and their records with them.
                self.is_bound = state == State::SessionBound && checkpoint.table.is_empty();
                result
            }
            Err(error) => self.record_failed(location, text, &error).and(result),
        }
    }

    /// Closes an intent. Behind a statement that may have locked tables or the server, it does not wait for this session's
    /// own locks; those of another session will go.
    fn close_unless_locked(
        &mut self,
        checkpoints: &Checkpoints,
        checkpoint: &Checkpoint,
        text: &[u8],
        is_durable: bool,
    ) -> Result<(), Error> {
        if !self.may_hold_locks() {
            return checkpoints.close_with_next(checkpoint, text, is_durable);
        }
        checkpoints.limit_lock_waits(true);
        let closed = loop {
            match checkpoints.close_with_next(checkpoint, text, is_durable) {
                Err(error)
                    if error.code() == Some(LOCK_WAIT_TIMEOUT)
                        && !self.is_interrupted()
                        && !self.is_locking_records() => {}
                closed => break closed,
            }
        };
        checkpoints.limit_lock_waits(false);
        closed
    }

    /// Runs a statement behind one at which every load that resumes stops.
    fn run_behind_bound(&mut self, statement: &AnalyzedStatement) -> Result<u64, Stopped> {
        let failures = self.failures();
        let result = self.run(statement);
        if result.is_ok() && self.failures() == failures && self.is_closed_to_others() {
            self.journal = Journal::Section(Box::new(Run::new(statement, "")));
        }
        result
    }

    /// Closes the intent around a section in which nothing could be recorded, if it is over.
    pub(super) fn end_section(&mut self, location: &Location) -> Result<(), Stopped> {
        if self.is_closed_to_others() || !matches!(self.journal, Journal::Section(_)) {
            return Ok(());
        }
        let Journal::Section(section) = std::mem::take(&mut self.journal) else { return Ok(()) };
        if self.is_bound {
            return Ok(());
        }
        self.apart(location, b"", |checkpoints| checkpoints.close_apart(&section.checkpoint(), None, false))
    }
}
