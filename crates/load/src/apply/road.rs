//! How the rows of one statement travel: as typed parameters where that is exact, as written otherwise.
//!
//! Parameters are one array where the server takes arrays (MariaDB), and executions of a prepared statement of some rows
//! where it does not (MySQL): `pieces.rs`.

use std::collections::HashMap;

use hortator_mysql::catalog::Column;
use hortator_mysql::error::DEADLOCK;
use hortator_mysql::{Connection, Error, ExecResult, Prepared, ServerError};

use super::chunk::{ChunkStatement, RowTarget};
use super::packet::check_packet;
use crate::lexer::Dialect;
use crate::rows::{Tuples, WireType, encode_array, scan, wire_types};

/// Statement heads that a connection keeps prepared.
const PREPARED_LIMIT: usize = 32;
/// Statements below this size are sent together with their neighbours.
const SMALL_BYTES: usize = 64 << 10;
/// Text of all statements that are sent as one.
const MERGED_BYTES: usize = 512 << 10;

/// Memory for an array that is kept for the next one.
const COMMAND_KEPT_BYTES: usize = 8 << 20;

/// What one connection needs to send rows: prepared statements, and memory that is used again.
#[derive(Debug, Default)]
pub struct Road {
    /// By the statement's text up to its rows.
    prepared: HashMap<Vec<u8>, Prepared>,
    pub(super) tuples: Tuples,
    pub(super) command: Vec<u8>,
    merged: Vec<u8>,
    /// The server takes no command as long as this.
    pub(super) packet_limit_bytes: usize,
    /// Rows of a prepared statement where that was asked for, even if the server takes arrays.
    pub(super) piece_rows: Option<usize>,
    /// Stands before statements on tables that number their rows.
    numbering: Option<&'static [u8]>,
}

/// Which way a statement went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As typed parameters.
    Typed,
    /// As written.
    Text,
}

/// What became of typed parameters.
#[derive(Debug)]
pub(super) enum Typed {
    /// All rows are in.
    Done(ExecResult),
    /// Not exact, or refused by the server, with its reason if it is an error: the text tells all.
    Refused(Option<Error>),
}

impl Road {
    /// For a connection to a server with this `max_allowed_packet`, in bytes. With `piece_rows`, rows go by prepared
    /// statements of so many rows even to a server that takes arrays. `numbering` is to stand before statements on tables
    /// that number their rows: see [`crate::cluster::Targets::numbering`].
    #[must_use]
    pub fn new(max_allowed_packet: u64, piece_rows: Option<usize>, numbering: Option<&'static [u8]>) -> Self {
        let packet_limit_bytes = usize::try_from(max_allowed_packet).unwrap_or(usize::MAX);
        Self { packet_limit_bytes, piece_rows, numbering, ..Self::default() }
    }

    /// What stands before statements on this table.
    fn prefix(&self, target: &RowTarget) -> &'static [u8] {
        self.numbering.filter(|_| target.table.auto_increment().is_some()).unwrap_or_default()
    }

    /// Gives up what was prepared: heads are read differently now.
    ///
    /// # Errors
    /// A lost connection.
    pub fn forget(&mut self, connection: &mut Connection) -> Result<(), Error> {
        for (_, prepared) in self.prepared.drain() {
            connection.close(prepared)?;
        }
        Ok(())
    }

    /// Sends one statement in the open transaction; the outcome and the error are those of its text.
    ///
    /// # Errors
    /// What the server says to the text, or a lost connection.
    pub fn send(
        &mut self,
        connection: &mut Connection,
        statement: &ChunkStatement,
        target: &RowTarget,
        dialect: &Dialect,
    ) -> Result<(ExecResult, Way), Error> {
        if let Some(offset) = statement.tuples {
            let typed = if self.takes_arrays(connection) {
                self.send_array(connection, &statement.text, offset, target, dialect)?
            } else {
                self.send_pieces(connection, &statement.text, offset, target, dialect)?
            };
            if let Typed::Done(done) = typed {
                return Ok((done, Way::Typed));
            }
        }
        Ok((self.send_text(connection, &statement.text, target)?, Way::Text))
    }

    /// How many of the first statements can be sent as one: small ones with the same head.
    #[must_use]
    pub fn mergeable(&self, connection: &Connection, statements: &[ChunkStatement], target: &RowTarget) -> usize {
        let Some(first) = statements.first() else { return 0 };
        let may_merge = target.plain && (self.takes_arrays(connection) || target.is_divisible());
        let Some(offset) = first.tuples.filter(|_| may_merge) else { return 1 };
        let mut total = 0;
        let head = &first.text[..offset];
        let same = statements.iter().take_while(|statement| {
            total += statement.text.len();
            statement.text.len() < SMALL_BYTES
                && total < MERGED_BYTES
                && statement.tuples == Some(offset)
                && statement.text[..offset] == *head
        });
        same.count().max(1)
    }

    /// Sends several statements as one; `None` when that is not exact or the server refuses any of it, in which case the
    /// transaction must be rolled back and replayed statement by statement.
    ///
    /// # Errors
    /// A lost connection, a deadlock or a lock wait.
    pub fn send_merged(
        &mut self,
        connection: &mut Connection,
        statements: &[ChunkStatement],
        target: &RowTarget,
        dialect: &Dialect,
    ) -> Result<Option<ExecResult>, Error> {
        let Some(offset) = statements[0].tuples else { return Ok(None) };
        let mut merged = std::mem::take(&mut self.merged);
        merged.clear();
        for statement in statements {
            if merged.is_empty() {
                merged.extend_from_slice(&statement.text);
            } else {
                merged.push(b',');
                merged.extend_from_slice(&statement.text[offset..]);
            }
        }
        let sent = if self.takes_arrays(connection) {
            self.send_array(connection, &merged, offset, target, dialect)
        } else {
            self.send_merged_pieces(connection, &merged, offset, target, dialect)
        };
        self.merged = merged;
        Ok(match sent? {
            Typed::Done(done) => Some(done),
            Typed::Refused(_) => None,
        })
    }

    fn takes_arrays(&self, connection: &Connection) -> bool {
        self.piece_rows.is_none() && connection.supports_bulk()
    }

    pub(super) fn send_text(
        &self,
        connection: &mut Connection,
        text: &[u8],
        target: &RowTarget,
    ) -> Result<ExecResult, Error> {
        let prefix = self.prefix(target);
        check_packet(prefix.len() + text.len(), self.packet_limit_bytes)?;
        match prefix {
            b"" => connection.execute(text),
            prefix => connection.execute(&[prefix, text].concat()),
        }
    }

    /// Sends a statement that is no row's, as it is written.
    ///
    /// # Errors
    /// What the server says, or a lost connection.
    pub fn send_alone(&self, connection: &mut Connection, text: &[u8]) -> Result<ExecResult, Error> {
        check_packet(text.len(), self.packet_limit_bytes)?;
        connection.execute(text)
    }

    /// The types of the columns of the rows that were located, if there are any that are exact.
    pub(super) fn types(&self, text: &[u8], target: &RowTarget) -> Option<Vec<WireType>> {
        let columns = target.columns.as_ref()?;
        let columns: Vec<&Column> = columns.iter().map(|&index| &target.table.columns[index]).collect();
        wire_types(text, &self.tuples, &columns).ok()
    }

    fn send_array(
        &mut self,
        connection: &mut Connection,
        text: &[u8],
        offset: usize,
        target: &RowTarget,
        dialect: &Dialect,
    ) -> Result<Typed, Error> {
        if !target.plain || scan(text, offset, dialect, &mut self.tuples).is_err() {
            return Ok(Typed::Refused(None));
        }
        let Some(types) = self.types(text, target) else { return Ok(Typed::Refused(None)) };
        let Some(id) = self.statement_id(connection, &text[..offset], target, types.len(), 1)? else {
            return Ok(Typed::Refused(None));
        };
        if encode_array(text, &self.tuples, &types, dialect, id, &mut self.command).is_err()
            || self.command.len() >= self.packet_limit_bytes
        {
            return Ok(Typed::Refused(None));
        }
        match self.send_command(connection) {
            // A Galera node answers OK to an array whose transaction it has just rolled back in favour of another node's
            // (seen with 10.11): only the transaction's state in that answer tells.
            Ok(_) if !connection.status().in_transaction() => Err(rolled_back_by_server()),
            Ok(done) => Ok(Typed::Done(done)),
            Err(error) if error.is_lost() || error.is_transient() => Err(error),
            Err(error) => match is_in_transaction(connection)? {
                true => Ok(Typed::Refused(Some(error))),
                // The server has rolled back more than the array: the text would stand alone.
                false => Err(error),
            },
        }
    }

    pub(super) fn send_command(&mut self, connection: &mut Connection) -> Result<ExecResult, Error> {
        let sent = connection.execute_raw(&self.command);
        self.command.shrink_to(COMMAND_KEPT_BYTES);
        sent
    }

    /// The prepared form of `head (?, …), …`; `None` when the server does not take it.
    pub(super) fn statement_id(
        &mut self,
        connection: &mut Connection,
        head: &[u8],
        target: &RowTarget,
        width: usize,
        rows: usize,
    ) -> Result<Option<u32>, Error> {
        if let Some(&prepared) = self.prepared.get(head) {
            if usize::from(prepared.parameters) == width * rows {
                return Ok(Some(prepared.id));
            }
            // Without a list of columns, the head means others since the table was changed.
            self.prepared.remove(head);
            connection.close(prepared)?;
        }
        if self.prepared.len() >= PREPARED_LIMIT {
            self.forget(connection)?;
        }
        let row = format!(" ({})", vec!["?"; width].join(","));
        let text = [self.prefix(target), head, vec![row; rows].join(",").as_bytes()].concat();
        match connection.prepare(&text) {
            Ok(prepared) => {
                self.prepared.insert(head.to_vec(), prepared);
                Ok(Some(prepared.id))
            }
            Err(error) if error.is_lost() || error.is_transient() => Err(error),
            Err(_) => Ok(None),
        }
    }
}

/// What the server should have said.
pub(super) fn rolled_back_by_server() -> Error {
    Error::Server(ServerError {
        code: DEADLOCK,
        sqlstate: *b"40001",
        message: "the server rolled the transaction back and did not say so".to_owned(),
    })
}

/// Whether the transaction is still open: some errors end it, where most undo one statement.
pub(super) fn is_in_transaction(connection: &mut Connection) -> Result<bool, Error> {
    // Any statement's answer carries the session's status; this one does nothing on MariaDB and MySQL alike.
    connection.execute(b"DO 0")?;
    Ok(connection.status().in_transaction())
}
