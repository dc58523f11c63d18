//! How the rows of one statement travel: as a typed array where that is exact, as written otherwise.

use std::collections::HashMap;

use hortator_mysql::catalog::Column;
use hortator_mysql::error::PACKET_TOO_LARGE;
use hortator_mysql::{Connection, Done, Error, Prepared, ServerError};

use super::chunk::{ChunkStatement, RowTarget};
use crate::lexer::Dialect;
use crate::rows::{Tuples, encode, scan};

/// Statement heads that a connection keeps prepared.
const PREPARED_LIMIT: usize = 32;
/// Statements below this size are sent together with their neighbours.
const SMALL_BYTES: usize = 64 << 10;
/// Text of all statements that are sent as one.
const MERGED_BYTES: usize = 512 << 10;

/// Memory for an array that is kept for the next one.
const COMMAND_KEPT_BYTES: usize = 8 << 20;

/// What one connection needs to send rows: prepared heads, and memory that is used again.
#[derive(Debug, Default)]
pub struct Road {
    prepared: HashMap<Vec<u8>, Prepared>,
    tuples: Tuples,
    command: Vec<u8>,
    merged: Vec<u8>,
    /// The server takes no command as long as this.
    packet_limit_bytes: usize,
}

/// Which way a statement went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As a typed array.
    Array,
    /// As written.
    Text,
}

impl Road {
    /// For a connection to a server with this `max_allowed_packet`, in bytes.
    #[must_use]
    pub fn new(max_allowed_packet: u64) -> Self {
        Self { packet_limit_bytes: usize::try_from(max_allowed_packet).unwrap_or(usize::MAX), ..Self::default() }
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

    /// Sends one statement; the outcome and the error are those of its text.
    ///
    /// # Errors
    /// What the server says to the text, or a lost connection.
    pub fn send(
        &mut self,
        connection: &mut Connection,
        statement: &ChunkStatement,
        target: &RowTarget,
        dialect: &Dialect,
    ) -> Result<(Done, Way), Error> {
        if let Some(done) = self.send_array(connection, &statement.text, statement.tuples, target, dialect)? {
            return Ok((done, Way::Array));
        }
        if statement.text.len() >= self.packet_limit_bytes {
            // The server would say just that, and close the connection with the transaction on it.
            return Err(Error::Server(ServerError {
                code: PACKET_TOO_LARGE,
                sqlstate: *b"08S01",
                message: "Got a packet bigger than 'max_allowed_packet' bytes".to_owned(),
            }));
        }
        Ok((connection.execute(&statement.text)?, Way::Text))
    }

    /// How many of the first statements can be sent as one: small ones with the same head.
    #[must_use]
    pub fn mergeable(connection: &Connection, statements: &[ChunkStatement], target: &RowTarget) -> usize {
        let Some(first) = statements.first() else { return 0 };
        let Some(offset) = first.tuples.filter(|_| target.plain && connection.supports_bulk()) else { return 1 };
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

    /// Sends several statements as one array; `None` when that is not exact or the server refuses any of it, in which
    /// case the transaction must be rolled back and replayed statement by statement.
    ///
    /// # Errors
    /// A lost connection, a deadlock or a lock wait.
    pub fn send_merged(
        &mut self,
        connection: &mut Connection,
        statements: &[ChunkStatement],
        target: &RowTarget,
        dialect: &Dialect,
    ) -> Result<Option<Done>, Error> {
        let mut merged = std::mem::take(&mut self.merged);
        merged.clear();
        for statement in statements {
            if merged.is_empty() {
                merged.extend_from_slice(&statement.text);
            } else {
                merged.push(b',');
                merged.extend_from_slice(&statement.text[statement.tuples.unwrap_or_default()..]);
            }
        }
        let sent = self.send_array(connection, &merged, statements[0].tuples, target, dialect);
        self.merged = merged;
        sent
    }

    /// `None` when the array is not exact, or the server refused it: its text then tells why.
    fn send_array(
        &mut self,
        connection: &mut Connection,
        text: &[u8],
        tuples: Option<usize>,
        target: &RowTarget,
        dialect: &Dialect,
    ) -> Result<Option<Done>, Error> {
        let (Some(offset), Some(columns)) = (tuples, &target.columns) else { return Ok(None) };
        if !target.plain || !connection.supports_bulk() || scan(text, offset, dialect, &mut self.tuples).is_err() {
            return Ok(None);
        }
        let Some(statement_id) = self.statement_id(connection, &text[..offset], columns.len())? else {
            return Ok(None);
        };
        let columns: Vec<&Column> = columns.iter().map(|&index| &target.table.columns[index]).collect();
        if encode(text, &self.tuples, &columns, dialect, statement_id, &mut self.command).is_err() {
            return Ok(None);
        }
        if self.command.len() >= self.packet_limit_bytes {
            return Ok(None);
        }
        let sent = connection.execute_raw(&self.command);
        self.command.shrink_to(COMMAND_KEPT_BYTES);
        match sent {
            Ok(done) => Ok(Some(done)),
            Err(error) if error.is_lost() || error.is_transient() => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// The prepared form of `head (?, …)`; `None` when the server does not take it.
    fn statement_id(&mut self, connection: &mut Connection, head: &[u8], width: usize) -> Result<Option<u32>, Error> {
        if let Some(prepared) = self.prepared.get(head) {
            return Ok(Some(prepared.id));
        }
        if self.prepared.len() >= PREPARED_LIMIT {
            self.forget(connection)?;
        }
        let mut text = head.to_vec();
        text.extend_from_slice(b" (?");
        for _ in 1..width {
            text.extend_from_slice(b",?");
        }
        text.push(b')');
        match connection.prepare(&text) {
            Ok(prepared) => {
                let id = prepared.id;
                self.prepared.insert(head.to_vec(), prepared);
                Ok(Some(id))
            }
            Err(error) if error.is_lost() => Err(error),
            Err(_) => Ok(None),
        }
    }
}
