//! One connection to one server: opening it, and the commands that go over it.
//!
//! From the outside in: `Connection` (commands), `handshake` and `auth` (opening), `result` (reading answers),
//! `wire` (packets), `transport` (sockets and TLS).

mod auth;
mod awake;
mod binlog_stream;
mod charset;
mod command_error;
mod connect_options;
mod fields;
mod handshake;
mod response;
mod result;
#[cfg(test)]
mod script;
mod sent_ahead;
mod session_changes;
mod session_tracking;
mod statement_batch;
mod transport;
mod wire;

use std::collections::VecDeque;
use std::fmt;
use std::ops::ControlFlow;

pub use binlog_stream::{BinlogRequest, BinlogStart, BinlogStream};
pub use connect_options::{ConnectOptions, DEFAULT_CONNECT_TIMEOUT};
pub use response::{Column, ExecResult, Prepared, Row, RowSink, Status};
pub use session_changes::SessionChanges;

use crate::{Error, Version};
use command_error::{CommandError, describe, ends_connection};
use result::ResponseReader;
use transport::Transport;
use wire::{ERR_HEADER, Wire};

const COM_QUIT: u8 = 0x01;
const COM_INIT_DB: u8 = 0x02;
const COM_QUERY: u8 = 0x03;
const COM_PING: u8 = 0x0e;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_CLOSE: u8 = 0x19;
const COM_SET_OPTION: u8 = 0x1b;
/// `MYSQL_OPTION_MULTI_STATEMENTS_ON`, as COM_SET_OPTION takes it.
const MULTI_STATEMENTS_ON: [u8; 2] = [0, 0];

/// A blocking connection to a server. Dropping it says goodbye to the server, best effort.
///
/// Every command either returns what the server answered, with the connection ready for the next, or an error.
/// After [`Error::Server`] and [`Error::Unsupported`] the connection is as good as before; after
/// [`Error::Lost`] and [`Error::Protocol`] every further call fails with the same error.
pub struct Connection {
    wire: Wire<Transport>,
    address: String,
    version: Version,
    id: u32,
    status: Status,
    deprecate_eof: bool,
    supports_bulk: bool,
    /// CLIENT_SESSION_TRACK was agreed on.
    tracks_session: bool,
    has_multi_statements: bool,
    session_changes: SessionChanges,
    /// The number with which the answer to each statement begins that was sent ahead and is not answered.
    sent_ahead: VecDeque<u8>,
    /// Why nothing goes over this connection any more.
    broken: Option<Error>,
}

/// A server can have a `sql_select_limit` of its own, and cuts results without an error.
const WHOLE_RESULTS: &[u8] = b"SET SESSION sql_select_limit = 18446744073709551615";

impl Connection {
    /// Connects and authenticates. SELECTs of the session give all of their rows, whatever the server's `sql_select_limit` is.
    ///
    /// # Errors
    /// [`Error::Connect`] when nobody answers, [`Error::Server`] when the server refuses (a wrong password, an
    /// unknown database, too many connections), [`Error::Tls`], [`Error::Unsupported`] for an authentication
    /// method or a character set that cannot be used, [`Error::Protocol`].
    pub fn open(options: &ConnectOptions) -> Result<Connection, Error> {
        let opened = handshake::open(options)?;
        let mut connection = Connection {
            wire: opened.wire,
            address: options.address.to_string(),
            version: opened.version,
            id: opened.id,
            status: opened.status,
            deprecate_eof: opened.deprecate_eof,
            supports_bulk: opened.supports_bulk,
            tracks_session: opened.tracks_session,
            has_multi_statements: false,
            session_changes: SessionChanges::default(),
            sent_ahead: VecDeque::new(),
            broken: None,
        };
        connection.execute(WHOLE_RESULTS)?;
        if let Some(command) = &options.init_command {
            connection.execute(command.as_bytes())?;
        }
        Ok(connection)
    }

    /// The server's version.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// The server's id of this connection, as `KILL` takes it.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The session's state as of the last answer that was not an error.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Whether the server runs on this machine.
    pub fn is_local(&self) -> bool {
        self.wire.stream().socket().is_local()
    }

    /// Whether the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.wire.stream().is_encrypted()
    }

    /// Whether the server takes arrays of parameters (`COM_STMT_BULK_EXECUTE`).
    pub fn supports_bulk(&self) -> bool {
        self.supports_bulk
    }

    /// Runs one statement and hands over the rows of its result sets as they arrive. `sql` is bytes in the
    /// connection's character set, without the `;`.
    ///
    /// # Errors
    /// See [`Connection`]. A statement longer than the server's `max_allowed_packet` gives [`Error::Server`] with
    /// the code 1153, after which the server may have ended the connection: the next call then fails with
    /// [`Error::Lost`].
    pub fn query(&mut self, sql: &[u8], rows: &mut dyn RowSink) -> Result<ExecResult, Error> {
        self.command("a statement", &[COM_QUERY], sql, Some(rows))
    }

    /// The same; calls `meanwhile` when the statement is sent, before it waits for the answer.
    ///
    /// # Errors
    /// As in [`Connection::query`].
    pub fn query_while(
        &mut self,
        sql: &[u8],
        rows: &mut dyn RowSink,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<ExecResult, Error> {
        self.send("a statement", &[COM_QUERY], sql)?;
        meanwhile();
        let outcome = self.response().read(Some(rows));
        outcome.map_err(|failure| self.explain("waiting for the answer to a statement", failure))
    }

    /// From here on, the thread stays awake for answers that come at once, if the server is on this machine and there are two
    /// cores: for a connection whose short statements are all that runs. It costs a core up to 60 µs for each of them.
    pub fn stay_awake(&mut self) {
        if std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) {
            self.wire.stream_mut().socket_mut().stay_awake();
        }
    }

    /// Runs one statement and drops its rows. Errors as in [`Connection::query`].
    pub fn execute(&mut self, sql: &[u8]) -> Result<ExecResult, Error> {
        self.command("a statement", &[COM_QUERY], sql, None)
    }

    /// Runs one statement and returns all rows of all its result sets: for small answers. Errors as in
    /// [`Connection::query`].
    pub fn fetch(&mut self, sql: &[u8]) -> Result<Vec<Row>, Error> {
        let mut collected = Collected(Vec::new());
        self.query(sql, &mut collected)?;
        Ok(collected.0)
    }

    /// Prepares a statement. Errors as in [`Connection::query`].
    pub fn prepare(&mut self, sql: &[u8]) -> Result<Prepared, Error> {
        self.send("a preparation", &[COM_STMT_PREPARE], sql)?;
        let outcome = self.response().read_prepared();
        outcome.map_err(|failure| self.explain("waiting for the answer to a preparation", failure))
    }

    /// Frees a prepared statement. The server does not answer to this.
    pub fn close(&mut self, prepared: Prepared) -> Result<(), Error> {
        self.send("the end of a prepared statement", &[COM_STMT_CLOSE], &prepared.id.to_le_bytes())
    }

    /// Sends a whole command packet (its first byte is the command, as 0xfa for `COM_STMT_BULK_EXECUTE`) of any
    /// length without copying it, and drops the rows of the answer. Errors as in [`Connection::query`].
    pub fn execute_raw(&mut self, command: &[u8]) -> Result<ExecResult, Error> {
        self.command("a prepared statement", &[], command, None)
    }

    /// Lets statements from here on be several, with `;` between them, as the `mariadb` client does. Never for text that
    /// is put together from values.
    pub fn enable_multi_statements(&mut self) -> Result<(), Error> {
        let doing = "a change of the connection's options";
        self.send(doing, &[COM_SET_OPTION], &MULTI_STATEMENTS_ON)?;
        let outcome = self.response().read_acknowledgement();
        outcome.map_err(|failure| self.explain(&format!("waiting for the answer to {doing}"), failure))?;
        self.has_multi_statements = true;
        Ok(())
    }

    /// Asks whether the server is there.
    pub fn ping(&mut self) -> Result<(), Error> {
        self.command("a ping", &[COM_PING], &[], None).map(drop)
    }

    /// Makes `name` (as it is, without quotes) the default database.
    pub fn select_db(&mut self, name: &[u8]) -> Result<(), Error> {
        self.command("a change of the database", &[COM_INIT_DB], name, None).map(drop)
    }

    /// Sends one command and reads its answer.
    fn command(
        &mut self,
        what: &str,
        head: &[u8],
        body: &[u8],
        rows: Option<&mut dyn RowSink>,
    ) -> Result<ExecResult, Error> {
        self.send(what, head, body)?;
        let outcome = self.response().read(rows);
        outcome.map_err(|failure| self.explain(&format!("waiting for the answer to {what}"), failure))
    }

    fn response(&mut self) -> ResponseReader<'_, Transport> {
        ResponseReader {
            wire: &mut self.wire,
            status: &mut self.status,
            changes: &mut self.session_changes,
            deprecate_eof: self.deprecate_eof,
        }
    }

    /// Sends one command, behind the answers to all statements that were sent ahead: an error of one of them is the error.
    fn send(&mut self, what: &str, head: &[u8], body: &[u8]) -> Result<(), Error> {
        while self.answers_due() > 0 {
            self.take_answer()?;
        }
        self.send_packet(what, head, body)
    }

    fn send_packet(&mut self, what: &str, head: &[u8], body: &[u8]) -> Result<(), Error> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        self.wire.begin();
        let Err(error) = self.wire.send(head, body) else { return Ok(()) };
        let doing = format!("sending {what}");
        // A server that ends the connection says why before it does: most of all that a packet is too big for it.
        let failure = match self.closing_error() {
            Some(CommandError::Server(words)) => {
                self.lose(&doing, words.to_string());
                CommandError::Server(words)
            }
            _ => CommandError::Io(error),
        };
        Err(self.explain(&doing, failure))
    }

    /// The error that lies unread in a connection that cannot be written to any more.
    fn closing_error(&mut self) -> Option<CommandError> {
        let packet = self.wire.receive().ok()?;
        (packet.first() == Some(&ERR_HEADER)).then(|| CommandError::from_err_packet(packet))
    }

    fn explain(&mut self, doing: &str, failure: CommandError) -> Error {
        match failure {
            CommandError::Server(error) if ends_connection(&error, self.version.flavor) => {
                self.lose(doing, error.to_string())
            }
            CommandError::Server(error) => Error::Server(error),
            CommandError::Unsupported(message) => Error::Unsupported(message),
            CommandError::LocalFile(name) => Error::LocalFile(name),
            CommandError::Io(error) => self.lose(doing, describe(&error)),
            CommandError::Protocol(found) => {
                let error = Error::Protocol { address: self.address.clone(), found };
                self.broken.insert(error).clone()
            }
        }
    }

    fn lose(&mut self, doing: &str, reason: String) -> Error {
        let error = Error::Lost { address: self.address.clone(), doing: doing.to_owned(), reason };
        self.broken.insert(error).clone()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connection {} to {}", self.id, self.address)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // A server that still runs a statement reads nothing.
        if self.broken.is_none() && self.sent_ahead.is_empty() {
            self.wire.begin();
            // Without it the server counts an aborted client; nobody is left to tell of a failure.
            let _ = self.wire.send(&[COM_QUIT], &[]);
        }
    }
}

/// Keeps every row.
struct Collected(Vec<Row>);

impl RowSink for Collected {
    fn columns(&mut self, _columns: &[Column]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        self.0.push(values.iter().map(|value| value.map(<[u8]>::to_vec)).collect());
        ControlFlow::Continue(())
    }
}
