//! Rows for servers that take no arrays: a statement of the dump as several executions of one prepared statement.
//!
//! A prepared statement of as many rows as the dump's would have to be prepared for each of them, which costs the server
//! more than the text. Prepared once for a fixed number of rows and executed over and over, it costs little more than
//! half. So the rows are cut into pieces of that number; what is left goes as text. All of it is one transaction, and a
//! statement of the dump stays one: if the server has anything to say to a piece, all pieces are undone and the text is
//! sent, so that the error, its row and the warnings are the client's.

use hortator_mysql::{Connection, Error, ExecResult};

use super::chunk::RowTarget;
use super::road::{Road, Typed};
use crate::lexer::Dialect;
use crate::rows::{WireType, encode_piece, scan};

/// Rows of one execution. Measured on MySQL 9.7 with narrow rows: from 100 to 4,000 the server's time is the same.
const PIECE_ROWS: usize = 256;
/// Values of one execution: the protocol counts placeholders in two bytes.
const PLACEHOLDERS_LIMIT: usize = 65_535;
/// Fewer rows than so many pieces go as text: a savepoint and more round trips would cost more than they save.
const PIECES_WORTHWHILE: usize = 2;

/// What every execution has in common.
struct Piece {
    rows: usize,
    statement_id: u32,
    types: Vec<WireType>,
}

impl Road {
    /// One statement, undone by a savepoint where the server does not take it as it would the text.
    pub(super) fn send_pieces(
        &mut self,
        connection: &mut Connection,
        text: &[u8],
        offset: usize,
        target: &RowTarget,
        dialect: &Dialect,
    ) -> Result<Typed, Error> {
        let may_divide = target.plain && target.is_divisible();
        if !may_divide || scan(text, offset, dialect, &mut self.tuples).is_err() {
            return Ok(Typed::Refused(None));
        }
        if self.tuples.rows() < self.rows_of_piece() * PIECES_WORTHWHILE {
            return Ok(Typed::Refused(None));
        }
        let Some(piece) = self.piece(connection, text, offset, target)? else { return Ok(Typed::Refused(None)) };
        connection.execute(b"SAVEPOINT hortator")?;
        let refusal = match self.execute_pieces(connection, text, offset, target, Some(&piece), dialect)? {
            Typed::Refused(refusal) => refusal,
            done @ Typed::Done(_) => return Ok(done),
        };
        match (connection.execute(b"ROLLBACK TO SAVEPOINT hortator"), refusal) {
            (Ok(_), refusal) => Ok(Typed::Refused(refusal)),
            // The server has rolled back more than the piece: its reason is the one to tell.
            (Err(Error::Server(_)), Some(reason)) => Err(reason),
            (Err(error), _) => Err(error),
        }
    }

    /// Several statements as one. Where the server does not take it as it would the text, the caller rolls back.
    pub(super) fn send_merged_pieces(
        &mut self,
        connection: &mut Connection,
        text: &[u8],
        offset: usize,
        target: &RowTarget,
        dialect: &Dialect,
    ) -> Result<Typed, Error> {
        if scan(text, offset, dialect, &mut self.tuples).is_err() {
            return Ok(Typed::Refused(None));
        }
        if self.tuples.rows() < self.rows_of_piece() {
            return self.execute_pieces(connection, text, offset, target, None, dialect);
        }
        match self.piece(connection, text, offset, target)? {
            Some(piece) => self.execute_pieces(connection, text, offset, target, Some(&piece), dialect),
            None => Ok(Typed::Refused(None)),
        }
    }

    /// Sends all rows that were located: whole pieces, and the rest as text.
    fn execute_pieces(
        &mut self,
        connection: &mut Connection,
        text: &[u8],
        offset: usize,
        target: &RowTarget,
        piece: Option<&Piece>,
        dialect: &Dialect,
    ) -> Result<Typed, Error> {
        let mut at = 0;
        let mut all = ExecResult::default();
        if let Some(Piece { rows, statement_id, types }) = piece {
            while at + rows <= self.tuples.rows() {
                let (tuples, command) = (&self.tuples, &mut self.command);
                let encoded = encode_piece(text, tuples, at..at + rows, types, dialect, *statement_id, command);
                if encoded.is_err() || self.command.len() >= self.packet_limit_bytes {
                    return Ok(Typed::Refused(None));
                }
                if let Some(refused) = take(&mut all, self.send_command(connection))? {
                    return Ok(refused);
                }
                at += rows;
            }
        }
        if at < self.tuples.rows() {
            let rest = [&text[..offset], b" ", &text[self.tuples.start(at)..]].concat();
            if let Some(refused) = take(&mut all, self.send_text(connection, &rest, target))? {
                return Ok(refused);
            }
        }
        Ok(Typed::Done(all))
    }

    /// The prepared statement for the rows that were located; `None` where there is none that is exact.
    fn piece(
        &mut self,
        connection: &mut Connection,
        text: &[u8],
        offset: usize,
        target: &RowTarget,
    ) -> Result<Option<Piece>, Error> {
        let Some(types) = self.types(text, target) else { return Ok(None) };
        let rows = self.rows_of_piece();
        let prepared = self.statement_id(connection, &text[..offset], target, types.len(), rows)?;
        Ok(prepared.map(|statement_id| Piece { rows, statement_id, types }))
    }

    fn rows_of_piece(&self) -> usize {
        let most = PLACEHOLDERS_LIMIT / self.tuples.width().max(1);
        self.piece_rows.unwrap_or(PIECE_ROWS).min(most).max(1)
    }
}

/// Adds what a piece did to what all have done. That the server has a warning is a refusal too: it names its row by a
/// number, which would be another.
fn take(all: &mut ExecResult, sent: Result<ExecResult, Error>) -> Result<Option<Typed>, Error> {
    match sent {
        Ok(done) if done.warnings > 0 => Ok(Some(Typed::Refused(None))),
        Ok(done) => {
            all.affected_rows += done.affected_rows;
            Ok(None)
        }
        Err(error) if error.is_lost() || error.is_transient() => Err(error),
        Err(error) => Ok(Some(Typed::Refused(Some(error)))),
    }
}
