//! Statements that would do something else on the target than on the source.

use hortator_load::lexer::{Dialect, Kind, Token, tokens};

use super::stored_text::is_only_stored;
use crate::binlog::QueryEvent;

const ACCOUNT: &str = "the statement is about the account that runs it, which is another one on the target, and the source does not say \
                       which it was: run it there by hand";

const NO_SCHEMA: &str = "the statement asks for DATABASE() where the source has no default schema, and a session cannot be without one \
                         again: do by hand what it does, then `skip` it";

/// Words of a statement that are looked at: more than an account statement has before its list of accounts.
const WORDS_LIMIT: usize = 500;
/// First words of statements about accounts.
const VERBS: [&[u8]; 6] = [b"ALTER", b"CREATE", b"DROP", b"GRANT", b"REVOKE", b"SET"];
/// Words up to that which says what a definition is of.
const HEAD_WORDS: usize = 4;

/// Why a statement is not applied.
pub(super) fn refusal(text: &[u8], dialect: &Dialect) -> Option<&'static str> {
    // Others, which can be long, are not looked at further.
    if !words(text, dialect, 1).first().is_some_and(|verb| VERBS.contains(&verb.as_slice())) {
        return None;
    }
    let head = words(text, dialect, HEAD_WORDS);
    let has = |wanted: &str| words(text, dialect, WORDS_LIMIT).iter().any(|word| word == wanted.as_bytes());
    let verb = head.first()?.as_slice();
    let kind = head.iter().skip(1).map(Vec::as_slice).find(|word| !matches!(*word, b"OR" | b"REPLACE"));
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
pub(super) fn refusal_without_schema(text: &[u8], dialect: &Dialect) -> Option<&'static str> {
    let all: Vec<Token<'_>> = tokens(text, dialect).collect();
    let asks =
        |pair: &[Token<'_>]| (pair[0].is_word(b"DATABASE") || pair[0].is_word(b"SCHEMA")) && pair[1].is_symbol(b"(");
    (all.windows(2).any(asks) && !is_only_stored(&all)).then_some(NO_SCHEMA)
}

/// Whether a statement means the account that runs it.
pub(super) fn is_about_account(query: &QueryEvent) -> bool {
    refusal(&query.text, &query.dialect()) == Some(ACCOUNT)
}

/// Whether a statement may be about its default schema though its event says that it needs none: ALTER DATABASE, which may
/// name no schema.
pub(super) fn alters_schema(query: &QueryEvent) -> bool {
    let dialect = query.dialect();
    let is_alter = words(&query.text, &dialect, 1).first().is_some_and(|word| word == b"ALTER");
    let is_of_schema = |word: &Vec<u8>| word == b"DATABASE" || word == b"SCHEMA";
    is_alter && words(&query.text, &dialect, 2).get(1).is_some_and(is_of_schema)
}

/// Unquoted words of a statement, in capital letters.
fn words(text: &[u8], dialect: &Dialect, limit: usize) -> Vec<Vec<u8>> {
    let word = |token: Token<'_>| match token.kind {
        Kind::Word(word) => Some(word.to_ascii_uppercase()),
        _ => None,
    };
    tokens(text, dialect).filter_map(word).take(limit).collect()
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
            ("CREATE VIEW d.v AS SELECT DATABASE()", false),
            ("CREATE TABLE d.t (a VARCHAR(9) DEFAULT (DATABASE()))", false),
            ("CREATE TABLE d.t SELECT DATABASE()", true),
        ] {
            let found = refusal_without_schema(text.as_bytes(), &Dialect::mariadb(u32::MAX));
            assert_eq!(found.is_some(), is_refused, "{text}");
        }
        let dialect = Dialect { no_backslash_escapes: true, ..Dialect::mariadb(u32::MAX) };
        assert!(refusal_without_schema(br"INSERT INTO d.t VALUES ('\', DATABASE())", &dialect).is_some());
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
            ("/*!100000 CREATE ROLE r */", Some(ACCOUNT)),
            ("/* c */ -- d\n CREATE /*M!100000 OR REPLACE */ ROLE r", Some(ACCOUNT)),
            ("GRANT SELECT ON d.`CURRENT_USER` TO app@localhost", None),
        ] {
            assert_eq!(refusal(text.as_bytes(), &Dialect::mariadb(u32::MAX)), expected, "{text}");
        }
    }
}
