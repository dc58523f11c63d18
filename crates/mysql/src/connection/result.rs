//! Reads a server's answer to a command: OK, an error, or result sets.
//!
//! Source: MariaDB knowledge base, "4 - Server Response Packets".

use std::io::{Read, Write};
use std::ops::ControlFlow;

use super::command_error::CommandError;
use super::fields::{Fields, NULL};
use super::response::{Column, ExecResult, Prepared, RowSink, Status};
use super::session_changes::SessionChanges;
use super::wire::{ERR_HEADER, Wire};

const OK_HEADER: u8 = 0x00;
/// A request for the contents of a file of ours.
const LOCAL_INFILE_HEADER: u8 = 0xfb;
/// The end of columns or rows; with CLIENT_DEPRECATE_EOF an OK packet with this header ends the rows.
const EOF_HEADER: u8 = 0xfe;
/// A row may begin with the same byte, then its first value is longer than any end.
const EOF_LIMIT_BYTES: usize = 0xff_ffff;
/// More columns than any server's table or result can have are a broken packet.
const COLUMN_LIMIT: u64 = 65_535;

/// Reads one answer off `wire`.
pub(super) struct ResponseReader<'a, T> {
    pub(super) wire: &'a mut Wire<T>,
    /// The last status the server gave; kept up to date.
    pub(super) status: &'a mut Status,
    /// Collects what OK packets say of changes of the session.
    pub(super) changes: &'a mut SessionChanges,
    /// CLIENT_DEPRECATE_EOF was agreed on.
    pub(super) deprecate_eof: bool,
}

impl<T: Read + Write> ResponseReader<'_, T> {
    /// Reads to the answer's end. RowSink go to `rows` as long as it wants them; without it they are dropped, and
    /// may be of the binary protocol.
    pub(super) fn read(&mut self, mut rows: Option<&mut dyn RowSink>) -> Result<ExecResult, CommandError> {
        let mut done = ExecResult::default();
        let mut refused = None;
        loop {
            self.read_one(&mut rows, &mut done, &mut refused)?;
            if !self.status.more_results() {
                return refused.map_or(Ok(done), Err);
            }
        }
    }

    /// Reads the next of an answer's results into `done`; the status says whether more follow. A request for a file
    /// is noted in `refused`, and takes the place of an error that follows it.
    pub(super) fn read_one(
        &mut self,
        rows: &mut Option<&mut dyn RowSink>,
        done: &mut ExecResult,
        refused: &mut Option<CommandError>,
    ) -> Result<(), CommandError> {
        loop {
            let packet = self.wire.receive()?;
            match packet.first() {
                Some(&OK_HEADER) => return read_ok(packet, done, self.status, self.changes),
                Some(&ERR_HEADER) => {
                    return Err(refused.take().unwrap_or_else(|| CommandError::from_err_packet(packet)));
                }
                Some(&LOCAL_INFILE_HEADER) => {
                    *refused = Some(CommandError::LocalFile(String::from_utf8_lossy(&packet[1..]).into_owned()));
                    // An empty file: the server goes on and answers as to any statement.
                    self.wire.send(&[], &[]).map_err(CommandError::Io)?;
                }
                _ => {
                    let count = Fields::new(packet, "a result set's header").length_encoded()?;
                    return self.read_result_set(count, rows, done);
                }
            }
        }
    }

    /// Reads an answer that says yes or no only.
    pub(super) fn read_acknowledgement(&mut self) -> Result<(), CommandError> {
        let packet = self.wire.receive()?;
        match packet.first() {
            Some(&OK_HEADER | &EOF_HEADER) => Ok(()),
            Some(&ERR_HEADER) => Err(CommandError::from_err_packet(packet)),
            other => Err(CommandError::Protocol(format!("an acknowledgement begins with {other:?}"))),
        }
    }

    /// Reads the answer to a statement's preparation.
    pub(super) fn read_prepared(&mut self) -> Result<Prepared, CommandError> {
        let packet = self.wire.receive()?;
        let mut fields = Fields::new(packet, "the answer to a preparation");
        match fields.u8()? {
            OK_HEADER => {}
            ERR_HEADER => return Err(CommandError::from_err_packet(packet)),
            other => return Err(CommandError::Protocol(format!("a preparation's answer begins with {other:#04x}"))),
        }
        let (id, columns, parameters) = (fields.u32()?, fields.u16()?, fields.u16()?);
        for count in [parameters, columns] {
            for _ in 0..count {
                self.receive_in_answer()?;
            }
            if count > 0 {
                self.skip_eof()?;
            }
        }
        Ok(Prepared { id, parameters })
    }

    fn read_result_set(
        &mut self,
        count: u64,
        rows: &mut Option<&mut dyn RowSink>,
        done: &mut ExecResult,
    ) -> Result<(), CommandError> {
        if count > COLUMN_LIMIT {
            return Err(CommandError::Protocol(format!("a result set of {count} columns")));
        }
        let mut columns = Vec::new();
        for _ in 0..count {
            columns.push(read_column(self.receive_in_answer()?)?);
        }
        self.skip_eof()?;
        if let Some(wanted) = rows
            && wanted.columns(&columns).is_break()
        {
            *rows = None;
        }
        let mut values = Vec::new();
        loop {
            let packet = self.wire.receive()?;
            match packet.first() {
                Some(&ERR_HEADER) => return Err(CommandError::from_err_packet(packet)),
                Some(&EOF_HEADER) if packet.len() < EOF_LIMIT_BYTES => {
                    if self.deprecate_eof {
                        read_ok(packet, done, self.status, self.changes)?;
                    } else {
                        read_eof(packet, done, self.status)?;
                    }
                    if let Some(wanted) = rows {
                        wanted.end();
                    }
                    return Ok(());
                }
                _ => {}
            }
            done.rows += 1;
            let Some(wanted) = rows else { continue };
            let mut row = emptied(values);
            read_row(packet, columns.len(), &mut row)?;
            let flow = wanted.row(&row);
            values = emptied(row);
            if flow == ControlFlow::Break(()) {
                *rows = None;
            }
        }
    }

    /// A packet that can be nothing but part of an answer begun, or an error.
    fn receive_in_answer(&mut self) -> Result<&[u8], CommandError> {
        let packet = self.wire.receive()?;
        if packet.first() == Some(&ERR_HEADER) {
            return Err(CommandError::from_err_packet(packet));
        }
        Ok(packet)
    }

    fn skip_eof(&mut self) -> Result<(), CommandError> {
        if self.deprecate_eof {
            return Ok(());
        }
        let packet = self.receive_in_answer()?;
        match packet.first() {
            Some(&EOF_HEADER) => Ok(()),
            _ => Err(CommandError::Protocol("no end after the columns".to_owned())),
        }
    }
}

/// The same allocation, emptied, for slices of another lifetime.
fn emptied<'to>(mut values: Vec<Option<&[u8]>>) -> Vec<Option<&'to [u8]>> {
    values.clear();
    values.into_iter().map(|_| None).collect()
}

/// Reads an OK packet, under its own header or that of an EOF.
pub(super) fn read_ok(
    packet: &[u8],
    done: &mut ExecResult,
    status: &mut Status,
    changes: &mut SessionChanges,
) -> Result<(), CommandError> {
    let mut fields = Fields::new(packet, "an OK packet");
    fields.u8()?;
    done.affected_rows = fields.length_encoded()?;
    done.last_insert_id = fields.length_encoded()?;
    *status = Status(fields.u16()?);
    done.status = *status;
    done.warnings = fields.u16()?;
    done.info.clear();
    if !fields.is_empty() {
        done.info.extend_from_slice(fields.length_encoded_bytes()?);
    }
    // Nothing is left where CLIENT_SESSION_TRACK was not agreed on.
    if status.has_session_changes() && !fields.is_empty() {
        changes.read(&mut fields)?;
    }
    Ok(())
}

fn read_eof(packet: &[u8], done: &mut ExecResult, status: &mut Status) -> Result<(), CommandError> {
    let mut fields = Fields::new(packet, "an EOF packet");
    fields.u8()?;
    done.warnings = fields.u16()?;
    *status = Status(fields.u16()?);
    done.status = *status;
    Ok(())
}

fn read_column(packet: &[u8]) -> Result<Column, CommandError> {
    let mut fields = Fields::new(packet, "a column's definition");
    let _catalog = fields.length_encoded_bytes()?;
    let schema = fields.length_encoded_bytes()?.to_vec();
    let table = fields.length_encoded_bytes()?.to_vec();
    let _original_table = fields.length_encoded_bytes()?;
    let name = fields.length_encoded_bytes()?.to_vec();
    let _original_name = fields.length_encoded_bytes()?;
    let _fixed_length = fields.length_encoded()?;
    Ok(Column {
        schema,
        table,
        name,
        collation: fields.u16()?,
        length_bytes: fields.u32()?,
        kind: fields.u8()?,
        flags: fields.u16()?,
        decimals: fields.u8()?,
    })
}

fn read_row<'a>(packet: &'a [u8], columns: usize, values: &mut Vec<Option<&'a [u8]>>) -> Result<(), CommandError> {
    let mut fields = Fields::new(packet, "a row");
    for _ in 0..columns {
        if fields.peek() == Some(NULL) {
            fields.u8()?;
            values.push(None);
        } else {
            values.push(Some(fields.length_encoded_bytes()?));
        }
    }
    match fields.is_empty() {
        true => Ok(()),
        false => Err(CommandError::Protocol(format!("a row has more than its {columns} columns"))),
    }
}

#[cfg(test)]
mod tests;
