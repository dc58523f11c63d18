//! Row events on their way into BINLOG statements.
//!
//! Those of a large transaction that the target can roll back go ahead: the next statement is made and sent while the target
//! runs the one before it. An error of one is known only when the next one runs, too. Both are rolled back then: while
//! statements are ahead, nothing commits by itself.

use super::{AUTOCOMMIT_ON, Applier};
use crate::apply::binlog_statement::{BinlogStatement, OF_PARAMETERS, PARAMETERS};
use crate::apply::error::Error;
use crate::binlog::{Content, Event};

/// Bytes of a statement of several: enough that its own costs do not count, and few enough that the target runs one while the
/// next is on its way.
const STATEMENT_BYTES: usize = 1 << 20;
/// From this number of bytes on, rows go as parameters, which takes another statement.
const PARAMETERS_BYTES: usize = 64 << 10;

/// The target has `max_prepared_stmt_count` prepared statements.
const TOO_MANY_PREPARED: u16 = 1461;

/// The statement that takes rows as parameters.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum RowParameters {
    /// It is prepared with the first rows.
    #[default]
    Unprepared,
    /// The session has it, by this number.
    Prepared(u32),
    /// The target has too many of them: rows go as texts.
    Refused,
}

impl Applier {
    /// Adds a table map or rows to a BINLOG statement; sends it before that if it is full.
    ///
    /// A server forgets the table maps at the end of a BINLOG statement, and passes over rows without one as if they were
    /// filtered (seen with 10.11). So each begins with those of the statement that it is in the middle of.
    pub(super) fn add_rows(&mut self, event: &Event, rows: &mut BinlogStatement, place: &str) -> Result<(), Error> {
        let limit = self.packet_limit_bytes.min(STATEMENT_BYTES);
        if rows.text_bytes_with(event.bytes.len()) > limit && !rows.is_empty() {
            self.send_rows(rows, place)?;
        }
        if let Content::Rows(found) = &event.content {
            if rows.is_empty() {
                self.open_maps.iter().for_each(|map| rows.push(map));
            }
            if found.ends_statement {
                self.open_maps.clear();
            }
        } else {
            self.open_maps.push(event.bytes.clone());
        }
        rows.push(&event.bytes);
        Ok(())
    }

    /// A single event can be larger than a statement may be.
    pub(super) fn send_rows(&mut self, rows: &mut BinlogStatement, place: &str) -> Result<(), Error> {
        self.use_charset_for_rows(rows.text_bytes_with(0), place)?;
        if rows.text_bytes_with(0) > self.packet_limit_bytes {
            return rows.take_fragments().iter().try_for_each(|statement| self.execute(statement, place));
        }
        if !self.is_autocommit_off {
            return self.execute(&rows.take_text(), place);
        }
        let answers = self.send_ahead(rows, place)?;
        // Before them: those of the rows before.
        self.take_answers_but(answers)?;
        self.ahead = Some(place.to_owned());
        Ok(())
    }

    /// Sends rows; gives the number of answers to them.
    fn send_ahead(&mut self, rows: &mut BinlogStatement, place: &str) -> Result<usize, Error> {
        let is_long = rows.text_bytes_with(0) >= PARAMETERS_BYTES;
        let (sent, answers) = match if is_long { self.row_parameters(place)? } else { None } {
            Some(prepared_id) => {
                let sent = self.connection.send_ahead_raw(&rows.take_parameters(prepared_id));
                (sent.and_then(|()| self.connection.send_ahead(OF_PARAMETERS)), 2)
            }
            None => (self.connection.send_ahead(&rows.take_text()), 1),
        };
        sent.map_err(|error| self.failed(error, place))?;
        Ok(answers)
    }

    /// The number of the prepared statement that takes rows as parameters.
    fn row_parameters(&mut self, place: &str) -> Result<Option<u32>, Error> {
        if let RowParameters::Unprepared = self.row_parameters {
            self.take_answers()?;
            self.row_parameters = match self.connection.prepare(PARAMETERS) {
                Ok(prepared) => RowParameters::Prepared(prepared.id),
                // Other errors can roll back what is open, whose first rows would be missing.
                Err(error) if error.code() == Some(TOO_MANY_PREPARED) => RowParameters::Refused,
                Err(error) => return Err(self.failed(error, place)),
            };
        }
        Ok(match self.row_parameters {
            RowParameters::Prepared(id) => Some(id),
            RowParameters::Unprepared | RowParameters::Refused => None,
        })
    }

    /// Whether the target has not answered to all statements yet.
    #[must_use]
    pub fn has_answers_due(&self) -> bool {
        self.connection.answers_due() > 0
    }

    /// Waits for the answers to what was sent ahead.
    ///
    /// # Errors
    /// What the target refuses; nothing of the open transaction is left then.
    pub fn take_answers(&mut self) -> Result<(), Error> {
        self.take_answers_but(0)
    }

    fn take_answers_but(&mut self, left: usize) -> Result<(), Error> {
        while self.connection.answers_due() > left {
            if let Err(error) = self.connection.take_answer() {
                let place = self.ahead.take().unwrap_or_default();
                return Err(self.failed(error, &place));
            }
        }
        Ok(())
    }

    /// The session commits each statement by itself again. What is open is rolled back before, since that would commit it.
    pub(super) fn restore_autocommit(&mut self) -> Result<(), Error> {
        if self.is_autocommit_off {
            self.execute(b"ROLLBACK", "the end of a large transaction")?;
            self.execute(AUTOCOMMIT_ON, "the end of a large transaction")?;
            self.is_autocommit_off = false;
        }
        Ok(())
    }
}
