//! The last statement, while it is held: one behind it may ask what it did.
//!
//! ```text
//!   INSERT IGNORE …;  SET @x = 1;  SHOW WARNINGS;      the question is about the INSERT: all three run in the main session
//!   INSERT IGNORE …;  SET @x = 1;  INSERT …;           nothing asks: each gets its own place
//! ```

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use super::journal::Asked;
use super::set_run::Joining;
use crate::analysis::{JournalMode, StatementInfo, StatementKind, Trait};
use crate::apply::Stopped;
use crate::planner::Form;

/// Statements that are held behind another.
const BEHIND_LIMIT: usize = 8;

/// What has no place yet.
#[derive(Default)]
pub(super) struct Held {
    /// A statement that may have to run in the main session.
    pub(super) statement: Option<AnalyzedStatement>,
    /// SETs of user variables right behind it: they leave its warnings as they are.
    pub(super) behind: Vec<AnalyzedStatement>,
    /// What comes next waits until it is done: a worker could do it no sooner than the main session.
    pub(super) is_awaited: bool,
}

impl Coordinator<'_> {
    /// Whether a statement behind the one that is held leaves what that one did to be asked for.
    pub(super) fn stays_behind_held(&self, info: &StatementInfo) -> bool {
        let is_transparent = matches!(info.kind, StatementKind::Set)
            && info.assignments.is_of_user_variables()
            && info.journal == JournalMode::Session
            && !info.is(Trait::MayCallFunction)
            && !info.is(Trait::SeveralStatements);
        let leaves_warnings = |held: &AnalyzedStatement| !matches!(held.info.kind, StatementKind::Skip);
        is_transparent
            && !info.reads_diagnostics()
            && self.held.statement.as_ref().is_some_and(leaves_warnings)
            && self.held.behind.len() < BEHIND_LIMIT
            && self.resume.is_none()
    }

    /// Gives the statement that was held its place before this one.
    pub(super) fn place_held_before(&mut self, next: &StatementInfo) -> Result<(), Stopped> {
        self.held.is_awaited = self.awaits_held(next);
        self.place_held()
    }

    /// Whether a statement waits for a definition that is held, whatever else is under way.
    fn awaits_held(&self, next: &StatementInfo) -> bool {
        let Some(held) = &self.held.statement else { return false };
        match next.kind {
            StatementKind::Exclusive { .. } | StatementKind::Write { .. } => true,
            StatementKind::OtherDdl => {
                let named = |info: &StatementInfo| self.names().resolve_all(&info.tables).unwrap_or_default();
                let tables = named(&held.info);
                next.is(Trait::Destroys) && named(next).iter().any(|table| tables.contains(table))
            }
            _ => false,
        }
    }

    /// Gives the statement that was held its place, and those behind it theirs.
    pub(super) fn place_held(&mut self) -> Result<(), Stopped> {
        if let Some(held) = self.held.statement.take() {
            self.place(held)?;
        }
        for behind in std::mem::take(&mut self.held.behind) {
            self.place(behind)?;
        }
        Ok(())
    }

    /// Gives all statements so far their place, those of a transaction that has not ended too.
    pub(super) fn place_all(&mut self) -> Result<(), Stopped> {
        self.place_held()?;
        self.run_sets(Joining::Allowed)?;
        self.transaction_to_main()
    }

    /// Runs what is held in the main session: the statement that comes asks about it.
    pub(super) fn run_asked(&mut self, question: &StatementInfo) -> Result<(), Stopped> {
        self.transaction_to_main()?;
        let Some(mut held) = self.held.statement.take() else { return Ok(()) };
        // What its rows hold is known by the form of its table.
        if let Some(Ok(Form::First(form))) = self.form(&mut held)? {
            self.table(&form.name, &held.location)?;
            self.form(&mut held)?;
        }
        self.progress.barrier("the statement behind it asks what it did");
        let asked = match question.diagnostics {
            Some(query) if !query.sees_transaction && !query.sees_counters && !question.is(Trait::MayDoAnything) => {
                Asked::ByQuery
            }
            _ => Asked::ByProgram,
        };
        self.run_exclusive(&held, asked)?;
        for behind in std::mem::take(&mut self.held.behind) {
            self.main.run(&behind)?;
        }
        Ok(())
    }
}
