//! Sends the rows of a statement: by the binary protocol if that is exact, else by the text protocol.
//!
//! The binary protocol is bulk execute if the server supports it (MariaDB), else batches of a prepared statement (MySQL):
//! `batches.rs`.

use std::collections::HashMap;

use hortator_mysql::catalog::Column;
use hortator_mysql::error::DEADLOCK;
use hortator_mysql::{Connection, Error, ExecResult, Prepared, ServerError};

use super::chunk::{ChunkStatement, RowTarget};
use super::packet::check_packet;
use crate::lexer::Dialect;
use crate::rows::{Tuples, WireType, encode_bulk_execute, scan, wire_types};

/// Statement heads that a connection keeps prepared.
const PREPARED_LIMIT: usize = 32;
/// Statements below this size are sent together with their neighbours.
const SMALL_BYTES: usize = 64 << 10;
/// Text of all statements that are sent as one.
const MERGED_BYTES: usize = 512 << 10;

/// Memory of a command that is kept for the next one.
const COMMAND_KEPT_BYTES: usize = 8 << 20;

/// The prepared statements and buffers of one connection.
#[derive(Debug, Default)]
pub struct RowSender {
    /// By the statement's text up to its rows.
    prepared: HashMap<Vec<u8>, Prepared>,
    pub(super) tuples: Tuples,
    pub(super) command: Vec<u8>,
    merged: Vec<u8>,
    /// The server takes no command as long as this.
    pub(super) packet_limit_bytes: usize,
    /// Rows of one batch; with a value, the sender does not use bulk execute.
    pub(super) batch_rows: Option<usize>,
    /// The prefix for statements on tables with AUTO_INCREMENT.
    auto_increment_prefix: Option<&'static [u8]>,
}

/// The protocol that sent a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Typed parameters.
    Binary,
    /// The text of the dump.
    Text,
}

/// The result of sending rows by the binary protocol.
#[derive(Debug)]
pub(super) enum BinaryResult {
    /// All rows are in.
    Applied(ExecResult),
    /// Not exact, or refused by the server, with the error if there is one: send the text.
    Refused(Option<Error>),
}

impl RowSender {
    /// For a connection to a server with this `max_allowed_packet`, in bytes. With `batch_rows`, the sender uses
    /// batches of this size instead of bulk execute. `auto_increment_prefix` is the prefix for statements on tables with
    /// AUTO_INCREMENT: see [`crate::cluster::Targets::auto_increment_prefix`].
    #[must_use]
    pub fn new(
        max_allowed_packet: u64,
        batch_rows: Option<usize>,
        auto_increment_prefix: Option<&'static [u8]>,
    ) -> Self {
        let packet_limit_bytes = usize::try_from(max_allowed_packet).unwrap_or(usize::MAX);
        Self { packet_limit_bytes, batch_rows, auto_increment_prefix, ..Self::default() }
    }

    /// What stands before statements on this table.
    fn prefix(&self, target: &RowTarget) -> &'static [u8] {
        self.auto_increment_prefix.filter(|_| target.table.auto_increment().is_some()).unwrap_or_default()
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
    ) -> Result<(ExecResult, Protocol), Error> {
        if let Some(offset) = statement.tuples {
            let typed = if self.supports_bulk_execute(connection) {
                self.send_bulk_execute(connection, &statement.text, offset, target, dialect)?
            } else {
                self.send_batches(connection, &statement.text, offset, target, dialect)?
            };
            if let BinaryResult::Applied(done) = typed {
                return Ok((done, Protocol::Binary));
            }
        }
        Ok((self.send_text(connection, &statement.text, target)?, Protocol::Text))
    }

    /// How many of the first statements can be sent as one: small ones with the same head.
    #[must_use]
    pub fn mergeable(&self, connection: &Connection, statements: &[ChunkStatement], target: &RowTarget) -> usize {
        let Some(first) = statements.first() else { return 0 };
        let may_merge = target.plain && (self.supports_bulk_execute(connection) || target.is_divisible());
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
        let sent = if self.supports_bulk_execute(connection) {
            self.send_bulk_execute(connection, &merged, offset, target, dialect)
        } else {
            self.send_merged_batches(connection, &merged, offset, target, dialect)
        };
        self.merged = merged;
        Ok(match sent? {
            BinaryResult::Applied(done) => Some(done),
            BinaryResult::Refused(_) => None,
        })
    }

    fn supports_bulk_execute(&self, connection: &Connection) -> bool {
        self.batch_rows.is_none() && connection.supports_bulk()
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

    fn send_bulk_execute(
        &mut self,
        connection: &mut Connection,
        text: &[u8],
        offset: usize,
        target: &RowTarget,
        dialect: &Dialect,
    ) -> Result<BinaryResult, Error> {
        if !target.plain || scan(text, offset, dialect, &mut self.tuples).is_err() {
            return Ok(BinaryResult::Refused(None));
        }
        let Some(types) = self.types(text, target) else { return Ok(BinaryResult::Refused(None)) };
        let Some(id) = self.statement_id(connection, &text[..offset], target, types.len(), 1)? else {
            return Ok(BinaryResult::Refused(None));
        };
        if encode_bulk_execute(text, &self.tuples, &types, dialect, id, &mut self.command).is_err()
            || self.command.len() >= self.packet_limit_bytes
        {
            return Ok(BinaryResult::Refused(None));
        }
        match self.send_command(connection) {
            // A Galera node answers OK to a bulk execute whose transaction it has just aborted (seen with 10.11): only the
            // in-transaction flag of the answer shows it.
            Ok(_) if !connection.status().in_transaction() => Err(rolled_back_by_server()),
            Ok(done) => Ok(BinaryResult::Applied(done)),
            Err(error) if error.is_lost() || error.is_transient() => Err(error),
            Err(error) => match is_in_transaction(connection)? {
                true => Ok(BinaryResult::Refused(Some(error))),
                // The server has rolled back the whole transaction: the text would run without it.
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
        message: "the server rolled back the transaction and reported success".to_owned(),
    })
}

/// Whether the transaction is still open: some errors end it, where most undo one statement.
pub(super) fn is_in_transaction(connection: &mut Connection) -> Result<bool, Error> {
    // Any statement's answer carries the session's status; this one does nothing on MariaDB and MySQL alike.
    connection.execute(b"DO 0")?;
    Ok(connection.status().in_transaction())
}
