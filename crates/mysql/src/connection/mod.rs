//! One connection to one server: opening it, and the commands that go over it.

mod answer;
mod connect_options;

pub use answer::{Column, Done, Prepared, Rows, Status};
pub use connect_options::{ConnectOptions, DEFAULT_CONNECT_TIMEOUT};

use crate::{Error, Version};

/// A blocking connection to a server. Dropping it says goodbye to the server, best effort.
#[derive(Debug)]
pub struct Connection {
    version: Version,
}

impl Connection {
    /// Connects and authenticates.
    pub fn open(_options: &ConnectOptions) -> Result<Connection, Error> {
        unfinished()
    }

    /// The server's version.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// The server's id of this connection, as `KILL` takes it.
    pub fn id(&self) -> u32 {
        0
    }

    /// The session's state as of the last answer.
    pub fn status(&self) -> Status {
        Status::default()
    }

    /// Whether the server runs on this machine.
    pub fn is_local(&self) -> bool {
        false
    }

    /// Whether the server takes arrays of parameters (`COM_STMT_BULK_EXECUTE`).
    pub fn supports_bulk(&self) -> bool {
        false
    }

    /// Runs one statement and hands over the rows of its result sets as they arrive.
    pub fn query(&mut self, _sql: &[u8], _rows: &mut dyn Rows) -> Result<Done, Error> {
        unfinished()
    }

    /// Runs one statement and drops its rows.
    pub fn execute(&mut self, _sql: &[u8]) -> Result<Done, Error> {
        unfinished()
    }

    /// Runs one statement and returns all rows of all its result sets: for small answers.
    #[allow(clippy::type_complexity)]
    pub fn fetch(&mut self, _sql: &[u8]) -> Result<Vec<Vec<Option<Vec<u8>>>>, Error> {
        unfinished()
    }

    /// Prepares a statement.
    pub fn prepare(&mut self, _sql: &[u8]) -> Result<Prepared, Error> {
        unfinished()
    }

    /// Frees a prepared statement. The server does not answer to this.
    pub fn close(&mut self, _prepared: Prepared) -> Result<(), Error> {
        unfinished()
    }

    /// Sends a whole command packet (its first byte is the command) and drops the rows of the answer.
    pub fn execute_raw(&mut self, _command: &[u8]) -> Result<Done, Error> {
        unfinished()
    }

    /// Asks whether the server is there.
    pub fn ping(&mut self) -> Result<(), Error> {
        unfinished()
    }

    /// Makes `name` the default database.
    pub fn select_db(&mut self, _name: &[u8]) -> Result<(), Error> {
        unfinished()
    }
}

fn unfinished<T>() -> Result<T, Error> {
    Err(Error::Unsupported("not built yet".to_owned()))
}
