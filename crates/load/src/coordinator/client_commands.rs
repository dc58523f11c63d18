//! The client's own commands, which are no statements.

use super::Coordinator;
use crate::apply::Stopped;
use crate::lexer::Location;

impl Coordinator<'_> {
    /// `use`.
    pub(crate) fn use_database(&mut self, database: &[u8], location: &Location) -> Result<(), Stopped> {
        let Some(database) = self.filtered_schema(database, location)? else { return Ok(()) };
        let database = &database[..];
        self.place_all()?;
        self.flush()?;
        self.main.check_released(&[b"use ", database].concat(), location)?;
        self.main.commit_pending()?;
        self.main.write_pending(location)?;
        self.main.unrecorded.forget_dropped();
        self.resume_use(database, location)?;
        self.look_after_main(location)
    }

    /// `charset`, which sets the client's character set and the session's.
    pub(crate) fn use_charset(&mut self, name: &[u8], location: &Location) -> Result<(), Stopped> {
        self.place_all()?;
        self.flush()?;
        self.main.check_released(&[b"charset ", name].concat(), location)?;
        self.main.commit_pending()?;
        self.main.run_command(&[b"SET NAMES ", name].concat(), location)
    }
}
