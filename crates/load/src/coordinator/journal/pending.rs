//! Statements within a transaction of the dump's own: recorded in it, right before whatever may end it.

use std::collections::BTreeSet;

use super::journal_mode::may_be_non_transactional;
use super::{RowEffects, Run, applied_or_bound, checkpoint_of};
use crate::apply::{READ_ONLY, Stopped};
use crate::checkpoint::{Checkpoint, RecoveryHint, State, names_other_engines};
use crate::coordinator::main_session::MainSession;
use crate::lexer::{Location, Token, tokens};

/// Runs of one transaction; beyond that, tables are not told apart any more.
const RUNS_LIMIT: usize = 1000;

/// What of the dump's transaction is not recorded yet.
#[derive(Debug, Default)]
pub(super) struct Pending {
    runs: Vec<Run>,
    /// Tables of which the counter before this transaction is on record.
    counted: BTreeSet<String>,
    /// It may have numbered rows.
    numbers: bool,
}

impl Pending {
    pub(super) fn push(&mut self, run: Run) {
        self.runs.push(run);
    }

    /// One more statement: of the last run, if that is of its kind.
    fn add(&mut self, text: &[u8], location: &Location, run: Run) {
        let is_full = self.runs.len() >= RUNS_LIMIT;
        match self.runs.last_mut() {
            Some(last) if !run.has_intent && last.state == run.state && (last.table == run.table || is_full) => {
                last.add(text, location);
                last.rows += run.rows;
                last.failed += run.failed;
                if last.table != run.table {
                    last.table.clear();
                }
            }
            _ => self.runs.push(run),
        }
    }
}

impl MainSession<'_> {
    /// A change of rows within the dump's transaction.
    pub(super) fn run_within(
        &mut self,
        text: &[u8],
        location: &Location,
        is_session_bound: bool,
        effects: &RowEffects,
    ) -> Result<u64, Stopped> {
        let recovery_hint = self.recovery_hint_within(text, location, effects)?;
        let has_intent = recovery_hint.is_some();
        if let Some(recovery_hint) = recovery_hint {
            let checkpoint = checkpoint_of(text, location, State::Intent, &effects.table, recovery_hint);
            self.on_internal_connection(location, text, |checkpoints, internal| {
                checkpoints.write(internal, &checkpoint)
            })?;
        }
        let failures = self.failures();
        let rows = self.run(text, location)?;
        let failed = self.failures() - failures;
        self.journal.pending.numbers |= !effects.counters.is_empty();
        let run = Run {
            state: applied_or_bound(is_session_bound),
            rows,
            failed,
            has_intent,
            ..Run::new(text, location, &effects.table)
        };
        if effects.is_non_transactional {
            // These rows are there already, whatever becomes of the transaction.
            return self
                .on_internal_connection(location, text, |checkpoints, internal| {
                    checkpoints.close(internal, &run.checkpoint())
                })
                .map(|()| rows);
        }
        self.journal.pending.add(text, location, run);
        Ok(rows)
    }

    /// What has to be on record before such a change, if anything.
    fn recovery_hint_within(
        &mut self,
        text: &[u8],
        location: &Location,
        effects: &RowEffects,
    ) -> Result<Option<RecoveryHint>, Stopped> {
        if effects.is_non_transactional {
            return Ok(Some(RecoveryHint::NotInTransaction));
        }
        if may_be_non_transactional(text, self) {
            // Asked in this session: names without a schema are those of its default one.
            let dialect = self.dialect();
            match names_other_engines(&mut self.connection, text, &dialect) {
                Ok(true) => return Ok(Some(RecoveryHint::NotInTransaction)),
                Ok(false) => {}
                Err(error) => self.checkpoint_failed(location, text, &error)?,
            }
        }
        let counted = &mut self.journal.pending.counted;
        let new = effects.counters.iter().filter(|(table, _)| counted.insert(table.to_string()));
        let new: Vec<_> = new.cloned().collect();
        Ok((!new.is_empty()).then_some(RecoveryHint::Counters(new)))
    }

    /// A statement that controls the dump's transaction.
    pub(super) fn run_control(&mut self, text: &[u8], location: &Location) -> Result<u64, Stopped> {
        let words: Vec<Token<'_>> = tokens(text, &self.dialect()).take(4).collect();
        let first_is = |word: &[u8]| words.first().is_some_and(|token| token.is_word(word));
        let rolls_back = first_is(b"ROLLBACK");
        let is_to = rolls_back && words.iter().any(|token| token.is_word(b"TO"));
        if first_is(b"SAVEPOINT") || first_is(b"RELEASE") || is_to {
            // It means something only together with what stands around it.
            if let Some(last) = self.journal.pending.runs.last_mut() {
                last.span.last = location.ordinal;
            }
            return self.run(text, location);
        }
        if !rolls_back {
            self.write_pending(location)?;
            return self.run(text, location);
        }
        let pending = std::mem::take(&mut self.journal.pending);
        let rows = self.run(text, location)?;
        // Nothing of it stays, but what can't be rolled back; and none of it is to be tried again.
        for run in pending.runs {
            let checkpoint = Checkpoint { rows: 0, ..run.checkpoint() };
            self.on_internal_connection(location, text, |checkpoints, internal| match run.has_intent {
                true => checkpoints.close(internal, &checkpoint),
                false => checkpoints.write(internal, &checkpoint),
            })?;
        }
        Ok(rows)
    }

    /// Writes the record of the dump's transaction so far, within it.
    pub(in crate::coordinator) fn write_pending(&mut self, location: &Location) -> Result<(), Stopped> {
        let pending = std::mem::take(&mut self.journal.pending);
        let Some(checkpoints) = self.checkpoints.filter(|_| !pending.runs.is_empty()) else { return Ok(()) };
        let last_id = match pending.numbers {
            true => self.last_id(),
            false => Ok(0),
        };
        let written = last_id.and_then(|last_id| {
            for run in &pending.runs {
                let checkpoint = Checkpoint { last_id, ..run.checkpoint() };
                match run.has_intent {
                    true => checkpoints.close(&mut self.connection, &checkpoint)?,
                    false => checkpoints.write(&mut self.connection, &checkpoint)?,
                };
            }
            Ok(())
        });
        match written {
            Ok(()) => Ok(()),
            // A transaction that may only read has changed nothing.
            Err(error) if error.code() == Some(READ_ONLY) => Ok(()),
            Err(error) => self.checkpoint_failed(location, b"", &error),
        }
    }
}
