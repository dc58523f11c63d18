//! The rows of an INSERT as text: where each begins, and whether it holds given values.
//!
//! Not for loading, which must be exact about every value: this finds a row that is known to the server again in the
//! dump. What it does not understand holds nothing that it looks for.

use std::borrow::Cow;

use hortator_mysql::catalog::ColumnKind;

use crate::lexer::{Dialect, decode, end_of_quoted};

/// The tuples behind VALUES, one after the other.
pub(super) struct RowTexts<'t> {
    text: &'t [u8],
    at: usize,
    dialect: &'t Dialect,
}

/// One tuple.
pub(super) struct RowText<'t> {
    /// Where its parenthesis opens.
    pub(super) offset: usize,
    /// The text of each value.
    pub(super) values: Vec<&'t [u8]>,
}

impl<'t> RowTexts<'t> {
    /// From where the first parenthesis is to come.
    pub(super) fn new(text: &'t [u8], offset: usize, dialect: &'t Dialect) -> Self {
        Self { text, at: offset, dialect }
    }
}

impl<'t> Iterator for RowTexts<'t> {
    type Item = RowText<'t>;

    fn next(&mut self) -> Option<RowText<'t>> {
        while self.text.get(self.at).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b',') {
            self.at += 1;
        }
        let offset = self.at;
        if self.text.get(offset) != Some(&b'(') {
            return None;
        }
        let mut values = Vec::new();
        let mut depth = 1_usize;
        let mut at = offset + 1;
        let mut start = at;
        loop {
            let byte = *self.text.get(at)?;
            match byte {
                b'(' => depth += 1,
                b')' if depth > 1 => depth -= 1,
                b',' | b')' if depth == 1 => {
                    values.push(self.text[start..at].trim_ascii());
                    start = at + 1;
                    if byte == b')' {
                        self.at = start;
                        return Some(RowText { offset, values });
                    }
                }
                b'\'' | b'"' | b'`' => {
                    let escapes = byte != b'`' && !self.dialect.no_backslash_escapes;
                    at += end_of_quoted(&self.text[at..], self.dialect.charset, escapes) - 1;
                }
                _ => {}
            }
            at += 1;
        }
    }
}

/// Whether a value's text stands for what the server has stored in a column of this kind. `None` for NULL.
pub(super) fn stands_for(text: &[u8], stored: Option<&[u8]>, kind: ColumnKind, dialect: &Dialect) -> bool {
    let Some(stored) = stored else { return text.eq_ignore_ascii_case(b"NULL") };
    let Some(written) = content(text, dialect) else { return false };
    match kind {
        ColumnKind::Integer | ColumnKind::Decimal | ColumnKind::Real => {
            canonical_number(&written).is_some_and(|number| Some(number) == canonical_number(stored))
        }
        // Trailing spaces of CHAR and zero bytes of BINARY are the server's.
        ColumnKind::Text => *written == *stored || written.trim_ascii_end() == stored.trim_ascii_end(),
        ColumnKind::Bytes => trim_zeros(&written) == trim_zeros(stored),
        _ => *written == *stored,
    }
}

/// The bytes that a literal stands for; `None` for what is none.
fn content<'t>(text: &'t [u8], dialect: &Dialect) -> Option<Cow<'t, [u8]>> {
    let behind = |prefix: &[u8]| {
        let head = text.get(..prefix.len())?;
        head.eq_ignore_ascii_case(prefix).then(|| text[prefix.len()..].trim_ascii_start())
    };
    let quoted = behind(b"_binary").or_else(|| behind(b"_utf8mb4")).unwrap_or(text);
    let digits = behind(b"0x").or_else(|| behind(b"x'").and_then(|digits| digits.strip_suffix(b"'")));
    if let Some(digits) = digits {
        let pairs = digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
        return pairs.collect::<Option<Vec<u8>>>().map(Cow::Owned);
    }
    match quoted.first()? {
        b'\'' => {}
        b'"' if !dialect.ansi_quotes => {}
        b'0'..=b'9' | b'-' | b'+' | b'.' => return Some(Cow::Borrowed(text)),
        _ => return None,
    }
    // Two strings side by side are one to the server, but not here.
    let escapes = !dialect.no_backslash_escapes;
    (end_of_quoted(quoted, dialect.charset, escapes) == quoted.len()).then(|| decode(quoted, dialect.charset, escapes))
}

/// A number's sign and digits without what does not count; `None` for what is no plain number.
fn canonical_number(text: &[u8]) -> Option<(bool, Vec<u8>, Vec<u8>)> {
    let text = text.trim_ascii();
    let (is_negative, digits) = match text.first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let mut parts = digits.splitn(2, |byte| *byte == b'.');
    let whole = parts.next().unwrap_or_default();
    let fraction = parts.next().unwrap_or_default();
    if digits.is_empty() || !whole.iter().chain(fraction).all(u8::is_ascii_digit) {
        return None;
    }
    let zeros = whole.iter().take_while(|digit| **digit == b'0').count();
    let end = fraction.len() - fraction.iter().rev().take_while(|digit| **digit == b'0').count();
    let (whole, fraction) = (whole[zeros..].to_vec(), fraction[..end].to_vec());
    let is_zero = whole.is_empty() && fraction.is_empty();
    Some((is_negative && !is_zero, whole, fraction))
}

fn trim_zeros(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().rev().take_while(|byte| **byte == 0).count();
    &bytes[..bytes.len() - zeros]
}

#[cfg(test)]
mod tests;
