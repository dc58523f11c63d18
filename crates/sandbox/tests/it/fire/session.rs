//! A client's connection to one of the nodes: to the next one when that is gone or takes no statements.

use std::fmt;
use std::thread;
use std::time::Duration;

use hortator_mysql::error::{DEADLOCK, LOCK_WAIT_TIMEOUT};
use hortator_mysql::{Connection, Error};
use hortator_sandbox::Sandbox;

/// A node that stands still is given up after this.
const ANSWER_LIMIT: Duration = Duration::from_secs(4);
/// Between two tries to connect.
const PAUSE: Duration = Duration::from_millis(20);

/// What a client knows of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The server said that it is committed.
    Confirmed,
    /// The server said that it is not, or it was never asked to commit.
    Refused,
    /// The answer to the commit did not come, or does not tell.
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
    /// One that stays with its node.
    pub fn on(sandbox: &'a Sandbox, node: usize) -> Session<'a> {
        Session { sandbox, node, may_move: false, connection: None, error: None }
    }

    /// One that begins with this node, and goes to others.
    pub fn from(sandbox: &'a Sandbox, node: usize) -> Session<'a> {
        Session { may_move: true, ..Session::on(sandbox, node) }
    }

    /// Statements that are to be committed together.
    pub fn transact(&mut self, body: impl FnOnce(&mut Connection) -> Result<(), Error>) -> Outcome {
        let Some(mut connection) = self.take() else { return Outcome::Refused };
        if let Err(error) = connection.execute(b"BEGIN").and_then(|_| body(&mut connection)) {
            self.give_back(connection, error);
            return Outcome::Refused;
        }
        let committed = connection.execute(b"COMMIT").map(drop);
        self.outcome(connection, committed)
    }

    /// One statement that commits by itself.
    pub fn commit(&mut self, sql: &str) -> Outcome {
        let Some(mut connection) = self.take() else { return Outcome::Refused };
        let committed = connection.execute(sql.as_bytes()).map(drop);
        self.outcome(connection, committed)
    }

    /// Reads in a transaction of its own; `None` when that did not work.
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
        options.connect_timeout = ANSWER_LIMIT;
        options.read_timeout = Some(ANSWER_LIMIT);
        let opened = Connection::open(&options).and_then(|mut connection| {
            // Those that stay are those that read: what was confirmed anywhere is to be seen.
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

    /// Keeps a connection that is still good, with nothing open in it.
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
        // No more than that: a cluster that comes back needs the processors.
        thread::sleep(PAUSE);
    }
}
