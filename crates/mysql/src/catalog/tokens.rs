//! Tokens of the SQL text that a server prints of its own objects: default values and `SHOW CREATE TABLE`.

use std::borrow::Cow;

/// A token of printed SQL. Such text has no comments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Letters, digits, `_`, `$` and bytes beyond ASCII without quotes: a keyword, a function, a name or a number.
    Word(&'a [u8]),
    /// A name between backticks or double quotes, without them.
    Name(Cow<'a, [u8]>),
    /// A string between apostrophes.
    Text,
    /// Any other character.
    Symbol(u8),
}

impl Token<'_> {
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self, Token::Word(found) if found.eq_ignore_ascii_case(word.as_bytes()))
    }

    pub(super) fn is_symbol(&self, symbol: u8) -> bool {
        *self == Token::Symbol(symbol)
    }
}

/// What a backslash in a string is: servers print strings after the session's `sql_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backslash {
    /// The next character belongs to the string, whatever it is.
    Escapes,
    /// A character like any other.
    Plain,
}

/// The tokens of `text`. A quote that does not end takes the rest.
pub(super) fn tokens(text: &[u8], backslash: Backslash) -> Tokens<'_> {
    Tokens { rest: text, backslash }
}

pub(super) struct Tokens<'a> {
    rest: &'a [u8],
    backslash: Backslash,
}

impl<'a> Tokens<'a> {
    /// What follows the token that came last.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// What stands between the quote at the beginning of the rest and its end, doubled quotes made single.
    fn quoted(&mut self, quote: u8) -> Cow<'a, [u8]> {
        let escapes = quote != b'`' && self.backslash == Backslash::Escapes;
        let text = &self.rest[1..];
        let (mut at, mut doubled) = (0, false);
        while at < text.len() {
            if text[at] == b'\\' && escapes {
                at += 2;
            } else if text[at] != quote {
                at += 1;
            } else if text.get(at + 1) == Some(&quote) {
                doubled = true;
                at += 2;
            } else {
                break;
            }
        }
        let content = &text[..at.min(text.len())];
        self.rest = text.get(at + 1..).unwrap_or_default();
        if !doubled {
            return Cow::Borrowed(content);
        }
        let mut single = Vec::with_capacity(content.len());
        let mut bytes = content.iter();
        while let Some(&byte) = bytes.next() {
            single.push(byte);
            if byte == quote {
                bytes.next();
            }
        }
        Cow::Owned(single)
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.rest = self.rest.trim_ascii_start();
        let first = *self.rest.first()?;
        Some(match first {
            b'\'' => {
                self.quoted(first);
                Token::Text
            }
            b'`' | b'"' => Token::Name(self.quoted(first)),
            _ if is_word(first) => {
                let length = self.rest.iter().take_while(|byte| is_word(**byte)).count();
                let (word, rest) = self.rest.split_at(length);
                self.rest = rest;
                Token::Word(word)
            }
            _ => {
                self.rest = &self.rest[1..];
                Token::Symbol(first)
            }
        })
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens as text: words as they are, names in brackets, strings as `''`.
    fn shown(text: &str, backslash: Backslash) -> String {
        let parts = tokens(text.as_bytes(), backslash).map(|token| match token {
            Token::Word(word) => String::from_utf8_lossy(word).into_owned(),
            Token::Name(name) => format!("[{}]", String::from_utf8_lossy(&name)),
            Token::Text => "''".to_owned(),
            Token::Symbol(symbol) => char::from(symbol).to_string(),
        });
        parts.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn printed_sql_in_tokens() {
        use Backslash::{Escapes, Plain};
        for (text, backslash, expected) in [
            ("concat('it\\'s', `a``b`,\"c\"\"d\")", Escapes, "concat ( '' , [a`b] , [c\"d] )"),
            ("'a\\' + 'b'", Plain, "'' + ''"),
            ("'a\\' + 'b'", Escapes, "'' b ''"),
            ("''''", Plain, "''"),
            ("@`x` := 1.5e3", Plain, "@ [x] : = 1 . 5e3"),
            ("`a\\`", Escapes, "[a\\]"),
            ("`open", Plain, "[open]"),
            ("'open\\", Escapes, "''"),
            ("`", Plain, "[]"),
            ("ü$1\n", Plain, "ü$1"),
            ("", Plain, ""),
        ] {
            assert_eq!(shown(text, backslash), expected, "{text} {backslash:?}");
        }
    }
}
