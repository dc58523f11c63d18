//! Statements that are sent before the answer to the one before them has come: the server finds the next one when it has
//! ended with one.
//!
//! The server runs all of them, also behind one that fails. So they must be such that nothing of them stays if one fails: in a
//! transaction that does not commit by itself (`autocommit = 0`: an error can have rolled the transaction back, and the next
//! statement begins another one).
//!
//! Only statements with small answers may be sent ahead. A server that cannot send its answer reads nothing.

use super::{COM_QUERY, Connection, ExecResult};
use crate::Error;

impl Connection {
    /// Sends a statement, and does not wait for its answer: [`Connection::take_answer`]. It returns when the server has taken
    /// most of it.
    ///
    /// # Errors
    /// [`Error::Lost`] where it could not be sent; answers that are due are lost with it.
    pub fn send_ahead(&mut self, sql: &[u8]) -> Result<(), Error> {
        self.send_packet("a statement", &[COM_QUERY], sql)?;
        self.sent_ahead.push_back(self.wire.sequence());
        Ok(())
    }

    /// The same for a whole command packet, as [`Connection::execute_raw`] takes it.
    ///
    /// # Errors
    /// As [`Connection::send_ahead`].
    pub fn send_ahead_raw(&mut self, command: &[u8]) -> Result<(), Error> {
        self.send_packet("a prepared statement", &[], command)?;
        self.sent_ahead.push_back(self.wire.sequence());
        Ok(())
    }

    /// Statements that were sent ahead, and whose answers are not taken.
    #[must_use]
    pub fn answers_due(&self) -> usize {
        self.sent_ahead.len()
    }

    /// Waits for the answer to the earliest statement that was sent ahead. Where none is due, that is an empty one.
    ///
    /// # Errors
    /// As in [`Connection::query`]. The statements behind it have run all the same.
    pub fn take_answer(&mut self) -> Result<ExecResult, Error> {
        let Some(sequence) = self.sent_ahead.pop_front() else { return Ok(ExecResult::default()) };
        if let Some(broken) = &self.broken {
            self.sent_ahead.clear();
            return Err(broken.clone());
        }
        self.wire.expect(sequence);
        let outcome = self.response().read(None);
        outcome.map_err(|failure| self.explain("waiting for the answer to a statement", failure))
    }
}
