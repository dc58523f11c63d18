//! Idempotent statements, which the load may run again whatever the outcome of the first attempt.

use super::ddl_target::{HEAD_TOKENS, kind_at};
use crate::lexer::{Dialect, Token, tokens};

/// Idempotent statements, by their first word.
const FIRST: &[&[u8]] = &[
    b"TRUNCATE",
    b"GRANT",
    b"REVOKE",
    b"FLUSH",
    b"OPTIMIZE",
    b"CHECK",
    b"REPAIR",
    b"CHECKSUM",
    b"RESET",
    b"PURGE",
    b"START",
    b"STOP",
    b"CHANGE",
    b"HELP",
    b"SHOW",
];

/// What stands behind ANALYZE where it looks at tables; anything else is a statement that it runs.
const ANALYZED: &[&[u8]] = &[b"TABLE", b"TABLES", b"LOCAL", b"NO_WRITE_TO_BINLOG"];

/// Whether a statement is idempotent.
pub(super) fn is_idempotent(text: &[u8], dialect: &Dialect) -> bool {
    let head: Vec<Token<'_>> = tokens(text, dialect).take(HEAD_TOKENS).collect();
    let Some(first) = head.first() else { return true };
    let second_is = |words: &[&[u8]]| head.get(1).is_some_and(|second| words.iter().any(|word| second.is_word(word)));
    if first.is_word(b"ANALYZE") {
        return second_is(ANALYZED);
    }
    if first.is_word(b"SET") {
        // `SET STATEMENT … FOR` runs another statement, and what is computed may call a function.
        return !second_is(&[b"STATEMENT"]) && !tokens(text, dialect).any(|token| token.is_symbol(b"("));
    }
    if FIRST.iter().any(|word| first.is_word(word)) {
        return true;
    }
    if first.is_word(b"ALTER") {
        let switches = |pair: &[Token<'_>]| {
            (pair[0].is_word(b"ENABLE") || pair[0].is_word(b"DISABLE")) && pair[1].is_word(b"KEYS")
        };
        let is_one = || !tokens(text, dialect).any(|token| token.is_symbol(b","));
        return second_is(&[b"DATABASE", b"SCHEMA"]) || (head.windows(2).any(switches) && is_one());
    }
    if !(first.is_word(b"CREATE") || first.is_word(b"DROP")) {
        return false;
    }
    let replaces = begins_with(&head[1..], &[b"OR", b"REPLACE"]);
    let Some(at) = kind_at(&head) else { return replaces };
    replaces
        || begins_with(&head[at + 1..], &[b"IF", b"EXISTS"])
        || begins_with(&head[at + 1..], &[b"IF", b"NOT", b"EXISTS"])
}

/// Whether tokens begin with these words.
pub(super) fn begins_with(tokens: &[Token<'_>], words: &[&[u8]]) -> bool {
    tokens.len() >= words.len() && tokens.iter().zip(words).all(|(token, word)| token.is_word(word))
}
