//! Temporary tables of the source's sessions, in our session.

use super::Applier;
use crate::apply::error::Error;
use crate::apply::position_table::SourcePosition;
use crate::apply::temporary_tables::{TemporaryTables, is_only_of_session};
use crate::binlog::{Content, Event, FormatDescription, QueryEvent};

/// What is known of them.
#[derive(Debug, Default)]
pub(super) struct Temporary {
    /// Open behind the last statement that was taken.
    pub(super) open: TemporaryTables,
    /// Those of `open` that our session does not have: an earlier one had them, or their statement was passed over.
    lost: TemporaryTables,
}

impl Temporary {
    /// For a session that begins where these are open.
    pub(super) fn of_new_session(open: TemporaryTables) -> Temporary {
        Temporary { lost: open.clone(), open }
    }

    /// What was taken is applied.
    pub(super) fn settle(&mut self, open: &TemporaryTables) {
        self.lost.keep(open);
        self.open = open.clone();
    }

    /// What was taken is passed over.
    pub(super) fn settle_skipped(&mut self, open: &TemporaryTables) {
        self.lost.add_new(&self.open, open);
        self.settle(open);
    }

    /// Whether a statement can run.
    pub(super) fn check(&self, query: &QueryEvent, place: &str) -> Result<(), Error> {
        let Some(name) = self.lost.named_by(query) else { return Ok(()) };
        Err(Error::Event {
            place: place.to_owned(),
            found: format!(
                "the temporary table `{name}` of the source's connection {} is lost: it lived in a session of an earlier run, \
                 or its CREATE was skipped. Do by hand what the statement does to permanent tables, then `skip` it",
                query.thread_id
            ),
        })
    }
}

impl Applier {
    /// The source has restarted behind the position: its temporary tables are gone, and a new session of ours has none.
    ///
    /// # Errors
    /// What the target refuses.
    pub fn forget_temporary_tables(&mut self) -> Result<(), Error> {
        let Some(at) = self.committed.clone() else { return Ok(()) };
        let at = SourcePosition { temporary: TemporaryTables::default(), ..at };
        self.move_to(&at, "the source's restart")?;
        self.temporary = Temporary::default();
        self.recorded(at, 0);
        Ok(())
    }

    /// With the source's process its temporary tables are gone: ours go with our session.
    ///
    /// # Errors
    /// [`Error::SourceRestarted`] if there were any; the next session goes on behind the restart.
    pub(super) fn end_sessions(&mut self, format: &FormatDescription) -> Result<(), Error> {
        let Some(at) = self.committed.clone().filter(|at| format.created_s != 0 && !at.temporary.is_empty()) else {
            return Ok(());
        };
        let at = SourcePosition { temporary: TemporaryTables::default(), ..at };
        self.move_to(&at, "the source's restart")?;
        Err(Error::SourceRestarted)
    }
}

/// Whether it only creates or drops a temporary table: nothing of it is there after a crash.
pub(super) fn is_of_session(events: &[Event]) -> bool {
    matches!(events, [Event { content: Content::Query(query), .. }] if is_only_of_session(&query.text))
}
