//! Statements that the server would not take for their length: it says so and closes the connection, with whatever is open
//! on it. They are refused here, in its words.

use hortator_mysql::error::PACKET_TOO_LARGE;
use hortator_mysql::{Connection, Error, ServerError};

/// Says that a statement of `text_bytes` is more than a server with this `max_allowed_packet` takes.
///
/// # Errors
/// 1153, as the server would say it.
pub fn check_packet(text_bytes: usize, packet_limit_bytes: usize) -> Result<(), Error> {
    // Seen with MariaDB: of the limit, one byte is the command's, and one is never filled.
    if text_bytes.saturating_add(1) < packet_limit_bytes {
        return Ok(());
    }
    Err(Error::Server(ServerError {
        code: PACKET_TOO_LARGE,
        sqlstate: *b"08S01",
        message: "Got a packet bigger than 'max_allowed_packet' bytes".to_owned(),
    }))
}

/// Statements that go to the server in this order, in as few packets as it takes.
#[derive(Debug)]
pub(crate) struct Packets {
    /// All but the last.
    full: Vec<Vec<u8>>,
    last: Vec<u8>,
    /// Statements in the last.
    in_last: usize,
    limit_bytes: usize,
}

impl Packets {
    /// `limit_bytes`: the server's `max_allowed_packet`.
    pub(crate) fn new(limit_bytes: usize) -> Self {
        Self { full: Vec::new(), last: Vec::new(), in_last: 0, limit_bytes }
    }

    /// Appends a statement, which does not end in a comment.
    pub(crate) fn push(&mut self, statement: &[u8]) {
        if !self.last.is_empty() {
            if check_packet(self.last.len() + 1 + statement.len(), self.limit_bytes).is_ok() {
                self.last.push(b';');
            } else {
                self.full.push(std::mem::take(&mut self.last));
                self.in_last = 0;
            }
        }
        self.last.extend_from_slice(statement);
        self.in_last += 1;
    }

    /// Sends all packets but the last, and gives that one and how many statements are in it.
    ///
    /// # Errors
    /// Those of the first statement that fails; what follows it is not sent.
    pub(crate) fn send_to_last(self, connection: &mut Connection) -> Result<(Vec<u8>, usize), Error> {
        for packet in self.full {
            connection.execute(&packet)?;
        }
        Ok((self.last, self.in_last))
    }

    /// Sends them.
    ///
    /// # Errors
    /// Those of the first statement that fails; what follows it is not sent.
    pub(crate) fn send(self, connection: &mut Connection) -> Result<(), Error> {
        let (last, _) = self.send_to_last(connection)?;
        connection.execute(&last).map(drop)
    }
}
