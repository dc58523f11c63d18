//! Encodes a batch of rows as the parameters of one COM_STMT_EXECUTE, for servers without bulk execute.
//!
//! Format: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_execute.html>.

use std::ops::Range;

use super::literal::{LiteralKind, Tuples};
use super::wire::{Inexact, WireType, value};
use crate::lexer::Dialect;

const COM_STMT_EXECUTE: u8 = 0x17;
const NO_CURSOR: u8 = 0;
const ITERATIONS: u32 = 1;
const TYPES_FOLLOW: u8 = 1;

/// Writes the command for the rows `rows` of `tuples` into `command`, whose memory is used again. `types` are the
/// columns' [`super::wire_types`]; the prepared statement has a placeholder for each value.
///
/// # Errors
/// [`Inexact`] where the text must be sent as written: the protocol has no word for DEFAULT.
pub fn encode_batch(
    text: &[u8],
    tuples: &Tuples,
    rows: Range<usize>,
    types: &[WireType],
    dialect: &Dialect,
    statement_id: u32,
    command: &mut Vec<u8>,
) -> Result<(), Inexact> {
    let literals = &tuples.literals[rows.start * tuples.width()..rows.end * tuples.width()];
    command.clear();
    command.push(COM_STMT_EXECUTE);
    command.extend_from_slice(&statement_id.to_le_bytes());
    command.push(NO_CURSOR);
    command.extend_from_slice(&ITERATIONS.to_le_bytes());
    let nulls = literals.chunks(8).map(|eight| {
        let bits = eight.iter().enumerate().map(|(bit, literal)| u8::from(literal.kind == LiteralKind::Null) << bit);
        bits.fold(0, |byte, bit| byte | bit)
    });
    command.extend(nulls);
    command.push(TYPES_FOLLOW);
    for _ in rows {
        for wire in types {
            command.extend_from_slice(&wire.code());
        }
    }
    for (literal, wire) in literals.iter().zip(types.iter().cycle()) {
        match literal.kind {
            LiteralKind::Null => {}
            LiteralKind::Default => return Err(Inexact),
            _ => value(text, literal, *wire, dialect, command)?,
        }
    }
    Ok(())
}
