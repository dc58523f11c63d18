//! The session state of a statement: the variables that MariaDB writes too, with its values; the others are left out.

use super::collations;
use crate::binlog::Fields;

/// `sql_mode`: fractions of seconds are cut off, as MariaDB does where it is not told to round.
const TIME_TRUNCATE_FRACTIONAL: u64 = 1 << 32;
const TIME_ROUND_FRACTIONAL: u64 = 1 << 34;
/// Bits that both servers have.
const COMMON_MODES: u64 = u32::MAX as u64;

/// Session variables as MariaDB has them, and the number of `default_collation_for_utf8mb4`.
///
/// # Errors
/// What MariaDB cannot have, or what is not known.
pub(super) fn for_mariadb(status: &[u8]) -> Result<(Vec<u8>, Option<u16>), String> {
    let mut fields = Fields(status);
    let mut found = Vec::with_capacity(status.len());
    let mut default_collation = None;
    let what = "a session variable";
    while let Some(&kind) = fields.0.first() {
        let start = fields.0;
        fields.u8(what)?;
        let is_same = match kind {
            1 => {
                let mode = fields.u64("sql_mode")?;
                let rounds = if mode & TIME_TRUNCATE_FRACTIONAL == 0 { TIME_ROUND_FRACTIONAL } else { 0 };
                found.push(kind);
                found.extend((mode & COMMON_MODES | rounds).to_le_bytes());
                false
            }
            4 => {
                found.push(kind);
                for _ in 0..3 {
                    found.extend(collation(fields.u16("a collation")?)?.to_le_bytes());
                }
                false
            }
            8 => {
                found.push(kind);
                found.extend(collation(fields.u16("a collation")?)?.to_le_bytes());
                false
            }
            // Whether a definition has an XID; whether a table needs a primary key, and is encrypted by default.
            17 => fields.u64(what).map(|_| false)?,
            18 => {
                default_collation = Some(fields.u16("default_collation_for_utf8mb4")?);
                false
            }
            // The last is of 9.7's statements that change rows: whether the engine or the server cascades foreign keys.
            19..=21 => fields.u8(what).map(|_| false)?,
            2 => {
                fields.short_text(what)?;
                fields.zero(what)?;
                true
            }
            12 => {
                let count = fields.u8("the number of schemas")?;
                // 254: more than are named.
                for _ in 0..if count == 254 { 0 } else { count } {
                    let end = fields.0.iter().position(|byte| *byte == 0).ok_or("a schema's name has no end")?;
                    fields.bytes(end + 1, what)?;
                }
                true
            }
            5 | 6 => fields.short_text(what).map(|_| true)?,
            11 => {
                fields.short_text(what)?;
                fields.short_text(what)?;
                true
            }
            other => match FIXED.iter().find(|(kind, _)| *kind == other) {
                Some((_, bytes)) => fields.bytes(*bytes, what).map(|_| true)?,
                None => return Err(format!("session variable {other} of a statement is not known")),
            },
        };
        if is_same {
            found.extend_from_slice(&start[..start.len() - fields.0.len()]);
        }
    }
    Ok((found, default_collation))
}

/// Variables of a fixed length that MariaDB has too, and their bytes.
const FIXED: [(u8, usize); 7] = [(0, 4), (3, 4), (7, 2), (9, 8), (10, 4), (13, 3), (16, 1)];

fn collation(id: u16) -> Result<u16, String> {
    let found = collations::number(id.into()).and_then(|id| u16::try_from(id).ok());
    found.ok_or_else(|| {
        collations::refusal(&format!("the one of number {id}, which the session or its schema has")).to_string()
    })
}
