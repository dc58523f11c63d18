//! Statements that would do something else on the target than on the source.

use hortator_load::lexer::{Dialect, Token, tokens};

const ACCOUNT: &str = "the statement is about the account that runs it, which is another one on the target, and the source does not say \
                       which it was: run it there by hand";

const NO_SCHEMA: &str = "the statement asks for DATABASE() where the source has no default schema, and a session cannot be without one \
                         again: do by hand what it does, then `skip` it";

/// Words of a statement that are looked at: more than an account statement has before its list of accounts.
const WORDS_LIMIT: usize = 500;

/// Why a statement is not applied.
pub(super) fn refusal(text: &[u8]) -> Option<&'static str> {
    let words = words(text, WORDS_LIMIT);
    let has = |wanted: &str| words.iter().any(|word| word == wanted.as_bytes());
    let verb = words.first()?.as_slice();
    let next = |index: usize| words.get(index).map(Vec::as_slice);
    let kind = (1..=3).filter_map(next).find(|word| !matches!(*word, b"OR" | b"REPLACE"));
    match (verb, kind) {
        (b"CREATE", Some(b"ROLE")) if !has("ADMIN") || has("CURRENT_USER") || has("CURRENT_ROLE") => Some(ACCOUNT),
        (b"CREATE" | b"ALTER" | b"DROP", Some(b"USER")) | (b"GRANT" | b"REVOKE", _) if has("CURRENT_USER") => {
            Some(ACCOUNT)
        }
        (b"SET", Some(b"PASSWORD" | b"DEFAULT")) if has("CURRENT_USER") => Some(ACCOUNT),
        _ => None,
    }
}

/// Why a statement is not applied that runs without a default schema.
pub(super) fn refusal_without_schema(text: &[u8]) -> Option<&'static str> {
    let all: Vec<Token<'_>> = tokens(text, &Dialect::mariadb(u32::MAX)).collect();
    let asks =
        |pair: &[Token<'_>]| (pair[0].is_word(b"DATABASE") || pair[0].is_word(b"SCHEMA")) && pair[1].is_symbol(b"(");
    all.windows(2).any(asks).then_some(NO_SCHEMA)
}

/// Whether a statement means the account that runs it.
pub(super) fn is_about_account(text: &[u8]) -> bool {
    refusal(text) == Some(ACCOUNT)
}

/// Whether a statement may be about its default schema though its event says that it needs none: ALTER DATABASE, which may
/// name no schema.
pub(super) fn alters_schema(text: &[u8]) -> bool {
    let words = words(text, 2);
    words.first().is_some_and(|word| word == b"ALTER")
        && words.get(1).is_some_and(|word| word == b"DATABASE" || word == b"SCHEMA")
}

fn words(text: &[u8], limit: usize) -> Vec<Vec<u8>> {
    let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let words = behind_comments(text).split(|byte| !is_of_word(byte)).filter(|word| !word.is_empty()).take(limit);
    words.map(<[u8]>::to_ascii_uppercase).collect()
}

/// A statement without the comments before it.
fn behind_comments(text: &[u8]) -> &[u8] {
    let mut rest = text.trim_ascii_start();
    while rest.starts_with(b"/*") && !rest.starts_with(b"/*!") && !rest.starts_with(b"/*M!") {
        let Some(end) = rest.windows(2).position(|window| window == b"*/") else { return rest };
        rest = rest[end + 2..].trim_ascii_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_without_a_schema() {
        for (text, is_refused) in [
            ("INSERT INTO d.t VALUES (DATABASE())", true),
            ("INSERT INTO d.t SELECT schema ( )", true),
            ("INSERT INTO d.t VALUES ('DATABASE()')", false),
            ("CREATE DATABASE d /* ( */", false),
        ] {
            assert_eq!(refusal_without_schema(text.as_bytes()).is_some(), is_refused, "{text}");
        }
    }

    #[test]
    fn statements() {
        for (text, expected) in [
            ("CREATE TABLE temporary (id INT)", None),
            ("ALTER EVENT e ENABLE", None),
            ("GRANT SELECT ON d.t TO CURRENT_USER()", Some(ACCOUNT)),
            ("GRANT SELECT ON d.t TO app@localhost", None),
            ("CREATE ROLE r", Some(ACCOUNT)),
            ("CREATE ROLE r WITH ADMIN CURRENT_USER", Some(ACCOUNT)),
            ("CREATE ROLE r WITH ADMIN app@localhost", None),
            ("ALTER USER CURRENT_USER IDENTIFIED BY 'x'", Some(ACCOUNT)),
            ("CREATE DEFINER=CURRENT_USER VIEW v AS SELECT 1", None),
            ("CREATE TABLE t (v VARCHAR(80) DEFAULT CURRENT_USER())", None),
            ("INSERT INTO t VALUES ('CREATE TEMPORARY TABLE')", None),
            ("TRUNCATE t", None),
        ] {
            assert_eq!(refusal(text.as_bytes()), expected, "{text}");
        }
    }
}
