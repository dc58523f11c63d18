//! Texts that hold several statements: what stands between two delimiters need not be one, and the client sends it whole.

use crate::lexer::{Dialect, Token, tokens};

/// What may have statements inside of it.
const WITH_BODY: [&[u8]; 5] = [b"PROCEDURE", b"FUNCTION", b"TRIGGER", b"EVENT", b"PACKAGE"];

/// Tokens among which the kind of what is created stands.
const HEAD_TOKENS: usize = 16;

/// Whether a text is more than one statement. A routine's body, from its BEGIN to its END, is part of one.
#[must_use]
pub fn is_multi_statement(text: &[u8], dialect: &Dialect) -> bool {
    if memchr::memchr(b';', text).is_none() {
        return false;
    }
    let mut all = tokens(text, dialect).peekable();
    let creates = all.peek().is_some_and(|first| first.is_word(b"CREATE") || first.is_word(b"ALTER"));
    let mut has_body = false;
    let mut is_behind = false;
    let mut several = false;
    // The last two tokens: a body ends with END, or with END and its label.
    let mut last: [Option<Token<'_>>; 2] = [None, None];
    for (index, token) in all.enumerate() {
        if token.is_symbol(b";") {
            is_behind = true;
            continue;
        }
        several |= is_behind;
        has_body |= creates && index < HEAD_TOKENS && WITH_BODY.iter().any(|word| token.is_word(word));
        let [_, newest] = last;
        last = [newest, Some(token)];
    }
    let ends = last.iter().flatten().any(|token| token.is_word(b"END"));
    several && !(has_body && ends)
}

/// The statements of a text that is several; the text itself where it is one.
#[must_use]
pub fn split_statements<'a>(text: &'a [u8], dialect: &Dialect) -> Vec<&'a [u8]> {
    if !is_multi_statement(text, dialect) {
        return vec![text];
    }
    let mut parts = Vec::new();
    let mut start = 0;
    for token in tokens(text, dialect).filter(|token| token.is_symbol(b";")) {
        parts.push(&text[start..token.offset]);
        start = token.end;
    }
    parts.push(&text[start..]);
    parts
}
