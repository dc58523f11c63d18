//! Literals as typed parameters: which wire type carries a column's values, and the bytes of one value.
//!
//! The type is chosen per column and statement, such that the server stores the same value as it would from the text;
//! where no type is certain to, [`Inexact`] sends the statement as written. The decisions are one function,
//! [`wire_type`]. Format: the binary protocol's value encodings,
//! <https://mariadb.com/kb/en/com_stmt_execute/#binary-parameter-encoding>.

use hortator_mysql::catalog::{Column, ColumnKind};

use super::literal::{ColumnRange, Literal, LiteralKind, Tuples};
use super::temporal;
use crate::lexer::{Dialect, decode};

/// No parameters are certain to store what the text would.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inexact;

/// How a column's values travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireType {
    /// A signed number of one byte.
    Tiny,
    /// Of two.
    Short,
    /// Of four.
    Long,
    /// Of eight.
    LongLong,
    /// An unsigned number of eight bytes.
    UnsignedLongLong,
    /// As the digits that stand in the text.
    NewDecimal,
    /// A floating-point number of eight bytes.
    Double,
    /// A day.
    Date,
    /// A day and a time of it.
    DateTime,
    /// Bytes in the session's client character set, as a quoted string is.
    VarString,
    /// Bytes without a character set.
    Blob,
}

impl WireType {
    /// The protocol's type code and its flag byte (0x80: unsigned).
    pub(super) const fn code(self) -> [u8; 2] {
        match self {
            Self::Tiny => [0x01, 0],
            Self::Short => [0x02, 0],
            Self::Long => [0x03, 0],
            Self::LongLong => [0x08, 0],
            Self::UnsignedLongLong => [0x08, 0x80],
            Self::NewDecimal => [0xf6, 0],
            Self::Double => [0x05, 0],
            Self::Date => [0x0a, 0],
            Self::DateTime => [0x0c, 0],
            Self::VarString => [0xfd, 0],
            Self::Blob => [0xfc, 0],
        }
    }
}

/// Decimal literals beyond this many digits are rounded by rules of the server's own.
const EXACT_DECIMAL_DIGITS: usize = 60;

/// The type of each column of all `tuples`; `columns` are the target columns in the order of the tuples' values.
///
/// # Errors
/// [`Inexact`] where the text must be sent as written.
pub fn wire_types(text: &[u8], tuples: &Tuples, columns: &[&Column]) -> Result<Vec<WireType>, Inexact> {
    if columns.len() != tuples.width() || columns.is_empty() {
        return Err(Inexact);
    }
    let literals = |index| tuples.literals.iter().skip(index).step_by(tuples.width());
    let types = columns.iter().enumerate();
    types.map(|(index, column)| wire_type(text, column, &tuples.columns[index], literals(index))).collect()
}

/// Which type carries all of a column's literals without changing what is stored.
fn wire_type<'a>(
    text: &[u8],
    column: &Column,
    range: &ColumnRange,
    mut literals: impl Iterator<Item = &'a Literal>,
) -> Result<WireType, Inexact> {
    use LiteralKind as L;
    const SIGNED: u16 = L::Signed.bit();
    const WHOLE: u16 = L::Signed.bit() | L::Unsigned.bit();
    const EXACT: u16 = WHOLE | L::Decimal.bit();
    const NUMBER: u16 = EXACT | L::Float.bit();
    const STRING: u16 = L::Plain.bit() | L::Escaped.bit();
    const BYTES: u16 = L::BinaryPlain.bit() | L::BinaryEscaped.bit() | L::Hex.bit();
    let within = |kinds: u16, set: u16| kinds & !set == 0;

    if column.generated {
        return Err(Inexact);
    }
    // A single-row insert refuses what a many-row insert bends (NULL into NOT NULL, a default that is not there), and
    // every row of a bulk execute counts as a single-row insert.
    if range.kinds & L::Null.bit() != 0 && (!column.nullable || column.auto_increment) {
        return Err(Inexact);
    }
    if range.kinds & L::Default.bit() != 0
        && (!column.has_default || column.auto_increment || column.draws_from_sequence)
    {
        return Err(Inexact);
    }
    let kinds = range.kinds & !(L::Null.bit() | L::Default.bit());

    match column.kind {
        _ if kinds == 0 => Ok(WireType::VarString),
        _ if within(kinds, SIGNED) => Ok(signed_type(range)),
        ColumnKind::Integer | ColumnKind::Bit if within(kinds, L::Unsigned.bit()) => Ok(WireType::UnsignedLongLong),
        ColumnKind::Integer if within(kinds, WHOLE) && range.min >= 0 => Ok(WireType::UnsignedLongLong),
        ColumnKind::Bit if within(kinds, L::Bits.bit()) => Ok(WireType::UnsignedLongLong),
        ColumnKind::Decimal if within(kinds, EXACT) => exact_digits(text, literals, WireType::NewDecimal),
        ColumnKind::Real if within(kinds, NUMBER) => exact_digits(text, literals, WireType::Double),
        // mysqldump --hex-blob writes '' for no bytes among 0x….
        ColumnKind::Bytes
            if within(kinds, BYTES | L::Plain.bit())
                && literals.all(|literal| literal.kind != L::Plain || literal.content(text).is_empty()) =>
        {
            Ok(WireType::Blob)
        }
        ColumnKind::Date if within(kinds, L::Plain.bit()) => {
            let canonical =
                literals.all(|literal| literal.kind != L::Plain || temporal::date(literal.content(text)).is_some());
            Ok(if canonical { WireType::Date } else { WireType::VarString })
        }
        ColumnKind::DateTime if within(kinds, L::Plain.bit()) => {
            let canonical = literals
                .all(|literal| literal.kind != L::Plain || temporal::date_time(literal.content(text)).is_some());
            Ok(if canonical { WireType::DateTime } else { WireType::VarString })
        }
        _ if within(kinds, STRING) => Ok(WireType::VarString),
        _ => Err(Inexact),
    }
}

/// The narrowest integer that holds the range.
fn signed_type(range: &ColumnRange) -> WireType {
    let fits = |low: i64, high: i64| range.min >= low && range.max <= high;
    if fits(i8::MIN.into(), i8::MAX.into()) {
        WireType::Tiny
    } else if fits(i16::MIN.into(), i16::MAX.into()) {
        WireType::Short
    } else if fits(i32::MIN.into(), i32::MAX.into()) {
        WireType::Long
    } else {
        WireType::LongLong
    }
}

/// `wire` if no decimal literal is longer than the server keeps exactly.
fn exact_digits<'a>(
    text: &[u8],
    mut literals: impl Iterator<Item = &'a Literal>,
    wire: WireType,
) -> Result<WireType, Inexact> {
    let exact = literals.all(|literal| {
        !matches!(literal.kind, LiteralKind::Decimal) || {
            let content = literal.content(text);
            let fraction = content.iter().position(|&byte| byte == b'.').map_or(0, |point| content.len() - point - 1);
            content.len() <= EXACT_DECIMAL_DIGITS && fraction <= EXACT_DECIMAL_DIGITS / 2
        }
    });
    if exact { Ok(wire) } else { Err(Inexact) }
}

/// One value that is neither NULL nor DEFAULT.
pub(super) fn value(
    text: &[u8],
    literal: &Literal,
    wire: WireType,
    dialect: &Dialect,
    out: &mut Vec<u8>,
) -> Result<(), Inexact> {
    match wire {
        WireType::Tiny => out.push(literal.unsigned() as u8),
        WireType::Short => out.extend_from_slice(&(literal.unsigned() as u16).to_le_bytes()),
        WireType::Long => out.extend_from_slice(&(literal.unsigned() as u32).to_le_bytes()),
        WireType::LongLong | WireType::UnsignedLongLong => out.extend_from_slice(&literal.unsigned().to_le_bytes()),
        WireType::NewDecimal => match literal.kind {
            LiteralKind::Signed => lenenc(literal.signed().to_string().as_bytes(), out),
            LiteralKind::Unsigned => lenenc(literal.unsigned().to_string().as_bytes(), out),
            _ => lenenc(literal.content(text), out),
        },
        WireType::Double => out.extend_from_slice(&double(text, literal)?.to_le_bytes()),
        WireType::Date => {
            let (year, month, day) = temporal::date(literal.content(text)).ok_or(Inexact)?;
            out.extend_from_slice(&[4, year.to_le_bytes()[0], year.to_le_bytes()[1], month, day]);
        }
        WireType::DateTime => temporal::date_time(literal.content(text)).ok_or(Inexact)?.encode(out),
        WireType::VarString => match literal.kind {
            LiteralKind::Plain => lenenc(literal.content(text), out),
            LiteralKind::Escaped => {
                lenenc(&decode(literal.quoted(text), dialect.charset, !dialect.no_backslash_escapes), out);
            }
            _ => return Err(Inexact),
        },
        WireType::Blob => match literal.kind {
            LiteralKind::Plain | LiteralKind::BinaryPlain => lenenc(literal.content(text), out),
            LiteralKind::BinaryEscaped => {
                lenenc(&decode(literal.quoted(text), dialect.charset, !dialect.no_backslash_escapes), out);
            }
            LiteralKind::Hex => {
                let digits = literal.content(text);
                lenenc_prefix(digits.len() / 2, out);
                out.extend(digits.chunks_exact(2).map(|pair| hex_digit(pair[0]) << 4 | hex_digit(pair[1])));
            }
            _ => return Err(Inexact),
        },
    }
    Ok(())
}

/// The number nearest to a literal's digits, as the server's own reading gives it.
fn double(text: &[u8], literal: &Literal) -> Result<f64, Inexact> {
    match literal.kind {
        LiteralKind::Signed => Ok(literal.signed() as f64),
        LiteralKind::Unsigned => Ok(literal.unsigned() as f64),
        kind => {
            let digits = std::str::from_utf8(literal.content(text)).map_err(|_| Inexact)?;
            let number: f64 = digits.parse().map_err(|_| Inexact)?;
            if !number.is_finite() {
                return Err(Inexact);
            }
            // A decimal has no negative zero; a floating-point number has.
            Ok(if kind == LiteralKind::Decimal && number == 0.0 { 0.0 } else { number })
        }
    }
}

const fn hex_digit(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit - b'A' + 10,
    }
}

/// A length-encoded integer.
pub(super) fn lenenc_prefix(length: usize, out: &mut Vec<u8>) {
    let bytes = (length as u64).to_le_bytes();
    match length {
        0..=250 => out.push(bytes[0]),
        251..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&bytes[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&bytes);
        }
    }
}

fn lenenc(content: &[u8], out: &mut Vec<u8>) {
    lenenc_prefix(content.len(), out);
    out.extend_from_slice(content);
}
