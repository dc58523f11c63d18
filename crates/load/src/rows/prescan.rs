//! The prescan: a fast pass over the tuples of an INSERT in the coordinator.
//!
//! It finds whether all values are literals (so that the statement reads nothing), whether the server generates an
//! AUTO_INCREMENT value, whether a clause follows the tuples, and the number of rows. It is the coordinator's hot path and
//! does not parse values; [`super::literal::scan`] does, in the worker.

use super::literal::NotLiteral;
use crate::analysis::{FunctionSet, SessionFacts};
use crate::lexer::end_of_quoted;

/// What the tuples of a statement hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Prescan {
    /// Number of rows.
    pub rows: u64,
    /// Which value of a tuple is the AUTO_INCREMENT column's, where that was known.
    pub id_value: Option<usize>,
    /// Some row leaves the AUTO_INCREMENT value to the server, or may do so.
    pub implicit_id: bool,
    /// Byte offset of what follows the last tuple: ON DUPLICATE KEY UPDATE, RETURNING.
    pub suffix: Option<usize>,
    /// Some value is DEFAULT.
    pub has_default: bool,
    /// Some value is an expression of functions that depend on nothing but their arguments and the statement's time.
    pub has_expression: bool,
}

/// Words that may stand in values without being called, and read nothing outside their statement; upper case.
const CONSTANT_WORDS: &[&[u8]] = &[
    b"BINARY",
    b"CHAR",
    b"CURRENT_DATE",
    b"CURRENT_TIME",
    b"CURRENT_TIMESTAMP",
    b"FALSE",
    b"LOCALTIME",
    b"LOCALTIMESTAMP",
    b"TRUE",
    b"USING",
    b"UTC_TIMESTAMP",
    b"UTF8",
    b"UTF8MB3",
    b"UTF8MB4",
];

/// Words that say how the literal behind them is read; upper case.
const INTRODUCERS: &[&[u8]] = &[
    b"B",
    b"DATE",
    b"N",
    b"TIME",
    b"TIMESTAMP",
    b"X",
    b"_BIG5",
    b"_BINARY",
    b"_CP932",
    b"_GBK",
    b"_LATIN1",
    b"_SJIS",
    b"_UTF8",
    b"_UTF8MB3",
    b"_UTF8MB4",
];

/// Scans the tuples from `offset`; `id_column` is the index of the AUTO_INCREMENT value in a row.
///
/// # Errors
/// [`NotLiteral`] for anything that may read more than its own statement, or that is no list of tuples.
pub fn prescan(
    text: &[u8],
    offset: usize,
    id_column: Option<usize>,
    facts: &SessionFacts<'_>,
) -> Result<Prescan, NotLiteral> {
    let dialect = &facts.dialect;
    let mut found = Prescan { id_value: id_column, ..Prescan::default() };
    let mut at = offset;
    // Depth 1 is inside a tuple, deeper is inside an expression's parentheses.
    let mut depth = 0_usize;
    let mut column = 0;
    let mut value_seen = false;
    let mut behind_tuple = false;
    while let Some(&byte) = text.get(at) {
        match byte {
            b' ' | b'\n' | b'\t' | b'\r' => {
                at += 1;
                continue;
            }
            b'(' => {
                if depth == 0 {
                    if behind_tuple {
                        return Err(NotLiteral);
                    }
                    column = 0;
                    value_seen = false;
                    found.rows += 1;
                } else {
                    found.has_expression = true;
                }
                depth += 1;
                at += 1;
                continue;
            }
            b')' => {
                depth = depth.checked_sub(1).ok_or(NotLiteral)?;
                if depth == 0 {
                    behind_tuple = true;
                    found.implicit_id |= id_column.is_some_and(|id| id >= column + usize::from(value_seen));
                }
                at += 1;
                continue;
            }
            b',' => {
                if depth == 0 {
                    if !behind_tuple {
                        return Err(NotLiteral);
                    }
                    behind_tuple = false;
                } else if depth == 1 {
                    column += 1;
                    value_seen = false;
                }
                at += 1;
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            if !behind_tuple {
                return Err(NotLiteral);
            }
            found.suffix = Some(at);
            return Ok(found);
        }
        if !value_seen {
            value_seen = true;
            found.implicit_id |= id_column == Some(column) && !is_explicit_id(&text[at..]);
        }
        at = match byte {
            b'\'' => at + end_of_quoted(&text[at..], dialect.charset, !dialect.no_backslash_escapes),
            b'"' if !dialect.ansi_quotes => {
                at + end_of_quoted(&text[at..], dialect.charset, !dialect.no_backslash_escapes)
            }
            b'0'..=b'9' => number_end(text, at),
            b'.' if text.get(at + 1).is_some_and(u8::is_ascii_digit) => number_end(text, at),
            b'+' | b'-' => at + 1,
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => word_end(text, at, facts.functions, &mut found)?,
            _ => return Err(NotLiteral),
        };
    }
    if depth == 0 && behind_tuple { Ok(found) } else { Err(NotLiteral) }
}

/// Whether a value is a whole number above 0, bare or quoted, and nothing else.
fn is_explicit_id(value: &[u8]) -> bool {
    let quote = value.first().copied().filter(|byte| matches!(byte, b'\'' | b'"'));
    let digits = &value[usize::from(quote.is_some())..];
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let behind = &digits[length..];
    let behind = match (quote, behind.first()) {
        (Some(quote), Some(&byte)) if byte == quote => &behind[1..],
        (Some(_), _) => return false,
        (None, _) => behind,
    };
    matches!(digits.first(), Some(b'1'..=b'9')) && matches!(behind.trim_ascii_start().first(), Some(b',' | b')'))
}

/// Behind a number: digits, point, exponent with its sign, hexadecimal digits.
fn number_end(text: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = text.get(at) {
        let exponent_sign = matches!(byte, b'+' | b'-') && matches!(text[at - 1], b'e' | b'E');
        if !(byte.is_ascii_alphanumeric() || byte == b'.' || exponent_sign) {
            break;
        }
        at += 1;
    }
    at
}

/// Behind a word that is known to read nothing.
fn word_end(text: &[u8], at: usize, functions: &FunctionSet, found: &mut Prescan) -> Result<usize, NotLiteral> {
    let length = text[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let (word, end) = (&text[at..at + length], at + length);
    if word.eq_ignore_ascii_case(b"NULL") {
        return Ok(end);
    }
    let behind = text[end..].trim_ascii_start();
    let is_called = behind.first() == Some(&b'(');
    let is_quoted = matches!(behind.first(), Some(b'\'' | b'"' | b'0' | b'x' | b'X' | b'b' | b'B'));
    if word == b"_binary" && is_quoted {
        return Ok(end);
    }
    if word.eq_ignore_ascii_case(b"DEFAULT") {
        found.has_default = true;
        // DEFAULT(column) may be an expression of anything.
        return if is_called { Err(NotLiteral) } else { Ok(end) };
    }
    let is_one_of = |words: &[&[u8]]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
    let is_known = if is_called {
        functions.has(word)
    } else {
        (is_quoted && is_one_of(INTRODUCERS)) || is_one_of(CONSTANT_WORDS)
    };
    found.has_expression |= length > 1 || is_called;
    if is_known && behind.first() != Some(&b'.') { Ok(end) } else { Err(NotLiteral) }
}
