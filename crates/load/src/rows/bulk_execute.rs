//! Encodes literals as one typed COM_STMT_BULK_EXECUTE, which costs a MariaDB server the least CPU.
//!
//! Format: <https://mariadb.com/kb/en/com_stmt_bulk_execute/>.

use super::literal::{LiteralKind, Tuples};
use super::wire::{Inexact, WireType, value};
use crate::lexer::Dialect;

const COM_STMT_BULK_EXECUTE: u8 = 0xfa;
/// The flag that says that types follow.
const SEND_TYPES_TO_SERVER: u16 = 128;
const INDICATOR_NONE: u8 = 0;
const INDICATOR_NULL: u8 = 1;
const INDICATOR_DEFAULT: u8 = 2;

/// Writes the command for all `tuples` into `command`, whose memory is used again. `types` are the columns'
/// [`super::wire_types`].
///
/// # Errors
/// [`Inexact`] where the text must be sent as written.
pub fn encode_bulk_execute(
    text: &[u8],
    tuples: &Tuples,
    types: &[WireType],
    dialect: &Dialect,
    statement_id: u32,
    command: &mut Vec<u8>,
) -> Result<(), Inexact> {
    command.clear();
    command.reserve(text.len());
    command.push(COM_STMT_BULK_EXECUTE);
    command.extend_from_slice(&statement_id.to_le_bytes());
    command.extend_from_slice(&SEND_TYPES_TO_SERVER.to_le_bytes());
    for wire in types {
        command.extend_from_slice(&wire.code());
    }
    for row in tuples.literals.chunks_exact(tuples.width()) {
        for (literal, wire) in row.iter().zip(types) {
            match literal.kind {
                LiteralKind::Null => command.push(INDICATOR_NULL),
                LiteralKind::Default => command.push(INDICATOR_DEFAULT),
                _ => {
                    command.push(INDICATOR_NONE);
                    value(text, literal, *wire, dialect, command)?;
                }
            }
        }
    }
    Ok(())
}
