//! Quoted pieces of SQL: where they end, and what they stand for.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::charset::Charset;

/// The quote that ends a piece: that which begins it, or the other bracket.
fn closing(opening: u8) -> u8 {
    if opening == b'[' { b']' } else { opening }
}

/// Length of the quoted piece that `text` begins with, both quotes included; all of `text` when it has no end.
/// A doubled quote does not end it, and with `escapes` neither does one behind a backslash.
pub(crate) fn end_of_quoted(text: &[u8], charset: Charset, escapes: bool) -> usize {
    let quote = closing(text[0]);
    let mut at = 1;
    loop {
        at = match next_special(text, at, quote, charset, escapes) {
            None => return text.len(),
            Some(found) if text[found] == quote => {
                if text.get(found + 1) != Some(&quote) {
                    return found + 1;
                }
                found + 2
            }
            Some(backslash) => (backslash + 2).min(text.len()),
        };
    }
}

/// The next quote, or with `escapes` backslash, at or after `from` that is not part of a longer character.
fn next_special(text: &[u8], from: usize, quote: u8, charset: Charset, escapes: bool) -> Option<usize> {
    if charset == Charset::AsciiSafe {
        let rest = &text[from..];
        let found = if escapes { memchr2(quote, b'\\', rest) } else { memchr(quote, rest) };
        return found.map(|found| from + found);
    }
    let mut at = from;
    while at < text.len() {
        let length = charset.character_length(&text[at..]);
        if length == 1 && (text[at] == quote || (escapes && text[at] == b'\\')) {
            return Some(at);
        }
        at += length;
    }
    None
}

/// The value of a quoted piece, given with its quotes (a missing end quote is forgiven).
/// Escapes: MariaDB manual, "String Literals".
pub(crate) fn decode(quoted: &[u8], charset: Charset, escapes: bool) -> Cow<'_, [u8]> {
    let quote = closing(quoted[0]);
    let closed = quoted.len() >= 2 && end_is_quote(quoted, charset, escapes);
    let content = &quoted[1..quoted.len() - usize::from(closed)];
    let Some(first) = next_special(content, 0, quote, charset, escapes) else {
        return Cow::Borrowed(content);
    };
    let mut value = Vec::with_capacity(content.len());
    let mut copied = 0;
    let mut next = Some(first);
    while let Some(special) = next {
        value.extend_from_slice(&content[copied..special]);
        let Some(&escaped) = content.get(special + 1) else {
            value.push(content[special]);
            copied = content.len();
            break;
        };
        if content[special] == quote {
            value.push(quote);
            copied = special + 2;
        } else if escaped < 0x80 {
            match escaped {
                b'0' => value.push(0),
                b'n' => value.push(b'\n'),
                b't' => value.push(b'\t'),
                b'r' => value.push(b'\r'),
                b'b' => value.push(0x08),
                b'Z' => value.push(0x1a),
                b'%' | b'_' => value.extend_from_slice(&[b'\\', escaped]),
                other => value.push(other),
            }
            copied = special + 2;
        } else {
            // The backslash goes, the character behind it (of any length) is copied with what follows.
            copied = special + 1;
        }
        let from = if copied == special + 1 { copied + charset.character_length(&content[copied..]) } else { copied };
        next = next_special(content, from, quote, charset, escapes);
    }
    value.extend_from_slice(&content[copied..]);
    Cow::Owned(value)
}

/// Whether the last byte is the closing quote, not an escaped one or half a character.
fn end_is_quote(quoted: &[u8], charset: Charset, escapes: bool) -> bool {
    let last = quoted.len() - 1;
    let quote = closing(quoted[0]);
    if quoted[last] != quote {
        return false;
    }
    let mut at = 1;
    while let Some(found) = next_special(quoted, at, quote, charset, escapes) {
        if found == last {
            return true;
        }
        at = found + 2;
        if at > last {
            return false;
        }
    }
    false
}
