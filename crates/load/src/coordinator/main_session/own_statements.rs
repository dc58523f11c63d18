//! Statements of our own in the dump's session: the client's commands, ends of its transactions, and questions about its
//! state.

use hortator_mysql::Error;

use super::MainSession;
use crate::apply::{ROLLBACK, Stopped};
use crate::coordinator::found_rows;
use crate::lexer::Location;

impl MainSession<'_> {
    /// Runs a command of the client's that is no statement of the stream's.
    pub(in crate::coordinator) fn run_command(&mut self, text: &[u8], location: &Location) -> Result<(), Stopped> {
        let result = self.connection.execute(text);
        let changes = self.connection.take_session_changes();
        self.apply_changes(&changes, &[], true)?;
        match result {
            Ok(_) => Ok(()),
            Err(error) => self.failed(location, text, &error),
        }
    }

    /// Selects a schema, as the client's `use` does.
    pub(in crate::coordinator) fn use_database(&mut self, database: &[u8], location: &Location) -> Result<(), Stopped> {
        // The client asks for the schema that is selected before it selects one: FOUND_ROWS() and the warnings tell.
        let _ = self.connection.execute(b"SELECT DATABASE()");
        let result = self.connection.select_db(database);
        let changes = self.connection.take_session_changes();
        self.apply_changes(&changes, &[], true)?;
        match result {
            Ok(()) => Ok(()),
            Err(error) => self.failed(location, &[b"use ", database].concat(), &error),
        }
    }

    /// Ends the dump's transaction.
    pub(in crate::coordinator) fn commit(&mut self, location: &Location) -> Result<(), Stopped> {
        self.write_pending(location)?;
        match self.connection.execute(b"COMMIT") {
            Ok(_) => Ok(()),
            Err(error) => self.failed(location, b"COMMIT", &error),
        }
    }

    /// Ends a transaction that is open, with nothing of it left.
    pub(in crate::coordinator) fn roll_back(&mut self) -> Result<(), Error> {
        match self.status().in_transaction() {
            true => self.connection.execute(ROLLBACK).map(drop),
            false => Ok(()),
        }
    }

    /// Whether there is such a schema; asked with this session's own words for its name.
    pub(in crate::coordinator) fn has_schema(&mut self, name: &[u8], location: &Location) -> Result<bool, Stopped> {
        let query = [b"SHOW CREATE DATABASE ".as_slice(), &hortator_mysql::quote_identifier(name)].concat();
        match self.connection.fetch(&query) {
            Ok(_) => Ok(true),
            Err(Error::Server(_)) => Ok(false),
            Err(error) => self.failed(location, b"", &error).map(|()| false),
        }
    }

    /// Why the server refuses a statement before it runs, if it does. The statement does not run.
    pub(in crate::coordinator) fn check_only(
        &mut self,
        text: &[u8],
        location: &Location,
    ) -> Result<Option<Error>, Stopped> {
        let checked = match self.connection.prepare(text) {
            Ok(prepared) => self.connection.close(prepared),
            Err(error) => Err(error),
        };
        match checked {
            Ok(()) => Ok(None),
            Err(error @ Error::Server(_)) => Ok(Some(error)),
            Err(_) if self.pool.is_interrupted() => Err(Stopped),
            Err(error) => self.failed(location, text, &error).map(|()| None),
        }
    }

    /// Reads of the session's state what is not known: all of it, if a failed statement may have changed it, or what reports
    /// have left open.
    pub(in crate::coordinator) fn sync(&mut self, location: &Location) -> Result<(), Stopped> {
        self.find_locks(location)?;
        if !self.is_stale() {
            return Ok(());
        }
        let read = self.read_state();
        self.dialect = self.tracker.state().dialect(self.server);
        match read {
            // Some states of a session answer no SELECT, such as a prepared XA transaction: nothing has changed then.
            Ok(()) | Err(Error::Server(_)) => Ok(()),
            Err(error) => self.failed(location, b"", &error),
        }
    }

    fn read_state(&mut self) -> Result<(), Error> {
        if std::mem::take(&mut self.is_stale) {
            let rows = found_rows::read(&mut self.connection).unwrap_or(0);
            self.tracker.refresh(&mut self.connection)?;
            found_rows::restore(&mut self.connection, rows)?;
        }
        match self.tracker.has_unread() {
            true => self.tracker.read_unread(&mut self.connection),
            false => Ok(()),
        }
    }

    /// Makes LAST_INSERT_ID() what it would be, had the workers' statements run here.
    pub(in crate::coordinator) fn take_latest_id(&mut self, location: &Location) -> Result<(), Stopped> {
        let Some(id) = self.pool.take_latest_id() else { return Ok(()) };
        let set = self.connection.execute(format!("SET last_insert_id = {id}").as_bytes());
        // It is no change of the dump's.
        drop(self.connection.take_session_changes());
        match set {
            Ok(_) => Ok(()),
            Err(error) => self.failed(location, b"", &error),
        }
    }
}
