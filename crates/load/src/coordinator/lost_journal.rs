//! Resuming a load of which the local journal cannot be used: whether a statement ran that it may have recorded is not
//! known. The load stops before the first one that would change anything, so that nothing is done twice and nothing is
//! taken away that a later statement has made.

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use super::resume::InDoubt;
use crate::analysis::{JournalMode, StatementKind};
use crate::apply::Stopped;
use crate::checkpoint::Checkpoints;

impl Coordinator<'_> {
    /// Stops before a statement without a checkpoint that may have one in a local journal, unless it is to be run again.
    pub(super) fn check_lost_journal(&mut self, statement: &AnalyzedStatement) -> Result<(), Stopped> {
        let Some(lost) = self.main.checkpoints.and_then(Checkpoints::lost_journal) else { return Ok(()) };
        let is_reapplied = self.resume.as_ref().is_some_and(|resume| resume.in_doubt == InDoubt::Reapply);
        if is_reapplied || statement.location.ordinal < lost.from || !may_change(statement) {
            return Ok(());
        }
        let found = format!(
            "the statement is in doubt, and with it all that follow without a checkpoint: they may be recorded in {}; make \
             that file available (--local-journal-dir names its directory) and resume; or, if these statements may run \
             again, resume with --in-doubt=reapply; or load again without --resume",
            lost.reason,
        );
        self.stop_resume(statement, found).map(drop)
    }
}

/// Whether a statement may change more than its session.
fn may_change(statement: &AnalyzedStatement) -> bool {
    !matches!(statement.info.kind, StatementKind::Constant)
        && match statement.info.journal {
            JournalMode::Rows | JournalMode::Intent | JournalMode::Repeated => true,
            JournalMode::Session | JournalMode::Control => false,
        }
}
