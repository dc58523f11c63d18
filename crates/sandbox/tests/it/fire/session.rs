//! A client's connection to one of the nodes; it moves to the next node when that one is gone or takes no statements.

use std::fmt;
use std::thread;
use std::time::Duration;

use hortator_mysql::error::{DEADLOCK, LOCK_WAIT_TIMEOUT};
use hortator_mysql::{Connection, Error};
use hortator_sandbox::Sandbox;

/// The client gives up a paused node after this time.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(4);
/// The interval between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(20);

/// The outcome of a transaction, as far as the client knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The server confirmed the commit.
    Confirmed,
    /// The server refused the commit, or was never asked.
    Refused,
    /// The answer to the commit is missing or inconclusive.
    Unknown,
}

pub struct Session<'a> {
    sandbox: &'a Sandbox,
    node: usize,
    may_move: bool,
    connection: Option<Connection>,
    /// The last error, for a message.
    pub error: Option<Error>,
}

impl fmt::Display for Session<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on node{}", if self.may_move { "a client" } else { "a reader" }, self.node + 1)
    }
}

impl<'a> Session<'a> {
    /// A session that stays with its node.
    pub fn on(sandbox: &'a Sandbox, node: usize) -> Session<'a> {
        Session { sandbox, node, may_move: false, connection: None, error: None }
    }

    /// A session that starts with this node, and moves to others.
    pub fn from(sandbox: &'a Sandbox, node: usize) -> Session<'a> {
        Session { may_move: true, ..Session::on(sandbox, node) }
    }

    /// The index of its node.
    pub fn node(&self) -> usize {
        self.node
    }

    /// Runs statements and commits them together.
    pub fn transact(&mut self, body: impl FnOnce(&mut Connection) -> Result<(), Error>) -> Outcome {
        self.transact_with("DO 0", body)
    }

    /// The same, after a statement with settings.
    pub fn transact_with(
        &mut self,
        settings: &str,
        body: impl FnOnce(&mut Connection) -> Result<(), Error>,
    ) -> Outcome {
        let Some(mut connection) = self.take() else { return Outcome::Refused };
        let begun = connection.execute(settings.as_bytes()).and_then(|_| connection.execute(b"BEGIN"));
        if let Err(error) = begun.and_then(|_| body(&mut connection)) {
            self.give_back(connection, error);
            return Outcome::Refused;
        }
        let committed = connection.execute(b"COMMIT").map(drop);
        self.outcome(connection, committed)
    }

    /// Runs one autocommit statement.
    pub fn commit(&mut self, sql: &str) -> Outcome {
        let Some(mut connection) = self.take() else { return Outcome::Refused };
        let committed = connection.execute(sql.as_bytes()).map(drop);
        self.outcome(connection, committed)
    }

    /// Reads in a separate transaction; `None` if that fails.
    pub fn look<T>(&mut self, body: impl FnOnce(&mut Connection) -> Result<T, Error>) -> Option<T> {
        let mut connection = self.take()?;
        let read = connection.execute(b"BEGIN").and_then(|_| body(&mut connection));
        match read.and_then(|seen| connection.execute(b"COMMIT").map(|_| seen)) {
            Ok(seen) => {
                self.connection = Some(connection);
                Some(seen)
            }
            Err(error) => {
                self.give_back(connection, error);
                None
            }
        }
    }

    /// Reads without waiting for what is confirmed elsewhere; `None` if that fails.
    pub fn look_plainly<T>(&mut self, body: impl FnOnce(&mut Connection) -> Result<T, Error>) -> Option<T> {
        let mut connection = self.take()?;
        let read = connection.execute(b"SET SESSION wsrep_sync_wait = 0").and_then(|_| body(&mut connection));
        match read.and_then(|seen| connection.execute(b"SET SESSION wsrep_sync_wait = 1").map(|_| seen)) {
            Ok(seen) => {
                self.connection = Some(connection);
                Some(seen)
            }
            Err(error) => {
                // A new connection has its setting.
                self.move_on(error);
                None
            }
        }
    }

    fn outcome(&mut self, connection: Connection, committed: Result<(), Error>) -> Outcome {
        let Err(error) = committed else {
            self.connection = Some(connection);
            return Outcome::Confirmed;
        };
        let is_refusal = matches!(error.code(), Some(DEADLOCK | LOCK_WAIT_TIMEOUT)) || error.is_unready();
        self.give_back(connection, error);
        if is_refusal { Outcome::Refused } else { Outcome::Unknown }
    }

    /// The connection, or a new one.
    fn take(&mut self) -> Option<Connection> {
        if let Some(connection) = self.connection.take() {
            return Some(connection);
        }
        let mut options = self.sandbox.node(self.node).connect_options();
        options.connect_timeout = CLIENT_TIMEOUT;
        options.read_timeout = Some(CLIENT_TIMEOUT);
        let opened = Connection::open(&options).and_then(|mut connection| {
            // A session that stays with its node reads: it must see everything that was confirmed anywhere.
            let causal = if self.may_move { "0" } else { "1" };
            connection.execute(format!("SET SESSION wsrep_sync_wait = {causal}").as_bytes())?;
            connection.execute(b"USE fire")?;
            Ok(connection)
        });
        match opened {
            Ok(connection) => Some(connection),
            Err(error) => {
                self.move_on(error);
                None
            }
        }
    }

    /// Keeps a connection that is still good, without an open transaction.
    fn give_back(&mut self, mut connection: Connection, error: Error) {
        let is_conflict = matches!(error.code(), Some(DEADLOCK | LOCK_WAIT_TIMEOUT));
        if is_conflict && connection.execute(b"ROLLBACK").is_ok() {
            self.error = Some(error);
            self.connection = Some(connection);
            return;
        }
        self.move_on(error);
    }

    fn move_on(&mut self, error: Error) {
        self.error = Some(error);
        if self.may_move {
            self.node = (self.node + 1) % self.sandbox.topology().nodes();
        }
        // Not more often: a recovering cluster needs the CPU.
        thread::sleep(PAUSE);
    }
}
