//! The schema of the checkpoints is no place for a dump: one that drops it would take away what is known of itself.

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use crate::apply::Stopped;
use crate::report::Failure;

impl Coordinator<'_> {
    /// Ends the load at a statement that would change the checkpoints themselves.
    pub(super) fn check_schema_guard(&mut self, statement: &AnalyzedStatement) -> Result<(), Stopped> {
        let Some(checkpoints) = self.main.checkpoints else { return Ok(()) };
        let info = &statement.info;
        let is_guarded = |name: &[u8]| name.eq_ignore_ascii_case(checkpoints.schema().as_bytes());
        let database = self.main.state().database.as_deref();
        let in_guarded = |schema: Option<&[u8]>| schema.or(database).is_some_and(is_guarded);
        let concerns = info.tables.iter().chain(&info.changes).any(|table| in_guarded(table.schema.as_deref()))
            || info.schema.as_deref().is_some_and(is_guarded);
        if !concerns {
            return Ok(());
        }
        // What stands before goes in.
        self.flush()?;
        let message = format!(
            "the statement changes the checkpoint schema `{}`: choose another schema with --checkpoint-schema, or remove the \
             statement",
            checkpoints.schema(),
        );
        let failure = Failure::finding(&statement.location, &statement.text, message);
        self.pool.fail(self.pool.position(), failure, true);
        Err(Stopped)
    }
}
