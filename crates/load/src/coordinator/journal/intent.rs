//! What commits by itself, or does anything: between a record that it has begun and one that it has ended.

use super::{RowEffects, Run, applied_or_bound, checkpoint_of};
use crate::apply::Stopped;
use crate::checkpoint::{Checkpoint, RecoveryHint, State, fingerprint};
use crate::coordinator::main_session::MainSession;
use crate::lexer::Location;

impl MainSession<'_> {
    /// Runs a statement between two records. `is_not_in_transaction`: it changes rows, and no transaction tells whether it is done.
    pub(super) fn run_with_intent(
        &mut self,
        text: &[u8],
        location: &Location,
        is_session_bound: bool,
        effects: &RowEffects,
        is_not_in_transaction: bool,
    ) -> Result<u64, Stopped> {
        let Some(checkpoints) = self.checkpoints else { return self.run(text, location) };
        let dialect = self.dialect();
        let recovery_hint = match is_not_in_transaction || self.has_one_shot_variable() {
            true => Ok(RecoveryHint::NotInTransaction),
            false => fingerprint(&mut self.connection, text, &dialect),
        };
        let recovery_hint = match recovery_hint {
            Ok(recovery_hint) => recovery_hint,
            Err(error) => return self.checkpoint_failed(location, text, &error).map(|()| 0),
        };
        let intent = checkpoint_of(text, location, State::Intent, &effects.table, recovery_hint);
        self.on_internal_connection(location, text, |checkpoints, internal| checkpoints.write(internal, &intent))?;
        let failures = self.failures();
        let result = self.run(text, location);
        let rows = *result.as_ref().unwrap_or(&0);
        let has_failed = result.is_err() || self.failures() > failures;
        if has_failed && !self.is_forced() {
            // A refused definition leaves nothing. Of anything else a part may be there: its record stays open and says so.
            if matches!(intent.recovery_hint, RecoveryHint::Definition(_)) && !self.is_gone() && !self.is_interrupted()
            {
                self.on_internal_connection(location, text, |checkpoints, internal| {
                    checkpoints.retract(internal, intent.span.first)
                })?;
            }
            return result;
        }
        if has_failed && self.is_gone() {
            return result;
        }
        if !has_failed && self.is_closed_to_others() {
            self.journal.serial_section = Some(Run::new(text, location, ""));
            return result;
        }
        let recovery_hint = if has_failed { RecoveryHint::Failed(1) } else { RecoveryHint::None };
        let checkpoint = Checkpoint { state: applied_or_bound(is_session_bound), rows, recovery_hint, ..intent };
        if !has_failed && self.status().in_transaction() {
            // It was part of the dump's transaction after all, and goes with it.
            self.on_internal_connection(location, text, |checkpoints, internal| {
                checkpoints.retract(internal, checkpoint.span.first)
            })?;
            let run = Run::new(text, location, &effects.table);
            self.journal.pending.push(Run { state: checkpoint.state, rows, ..run });
            return result;
        }
        match checkpoints.on_internal_connection(|checkpoints, internal| checkpoints.close(internal, &checkpoint)) {
            Ok(_) => result,
            Err(error) => self.checkpoint_failed(location, text, &error).and(result),
        }
    }

    /// Marks the intent of a serial section as applied, if the section is over.
    pub(super) fn end_serial_section(&mut self, location: &Location) -> Result<(), Stopped> {
        if self.is_closed_to_others() {
            return Ok(());
        }
        let Some(serial_section) = self.journal.serial_section.take() else { return Ok(()) };
        self.on_internal_connection(location, b"", |checkpoints, internal| {
            checkpoints.close(internal, &serial_section.checkpoint())
        })
    }
}
