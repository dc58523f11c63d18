//! What became of a statement that had begun when a load ended: read from what it changes.
//!
//! Servers of today change a definition wholly or not at all, whatever happens (MariaDB from 10.6, MySQL from 8.0). So a
//! definition that is no longer what it was before is done, and one that is what it was can be run again.

use hortator_mysql::{Connection, Error};

use super::{Note, digest};
use crate::class::is_several;
use crate::lexer::{Dialect, Kind, Token, tokens};

/// What became of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is in the database.
    Done,
    /// Nothing of it is, or running it once more makes no difference.
    Again,
    /// The server cannot tell.
    Unknown,
}

/// Tokens of a statement's beginning that are looked at.
const HEAD_TOKENS: usize = 24;

/// Statements that may be run again, by their first word.
const REPEATABLE: &[&[u8]] = &[
    b"TRUNCATE",
    b"GRANT",
    b"REVOKE",
    b"FLUSH",
    b"ANALYZE",
    b"OPTIMIZE",
    b"CHECK",
    b"REPAIR",
    b"CHECKSUM",
    b"SET",
    b"RESET",
    b"PURGE",
    b"START",
    b"STOP",
    b"CHANGE",
    b"HELP",
    b"SHOW",
];

/// What can be shown by `SHOW CREATE`.
const KINDS: &[&[u8]] = &[
    b"TABLE",
    b"VIEW",
    b"TRIGGER",
    b"PROCEDURE",
    b"FUNCTION",
    b"EVENT",
    b"SEQUENCE",
    b"PACKAGE",
    b"DATABASE",
    b"SCHEMA",
    b"USER",
    b"INDEX",
    b"ROLE",
];

/// How a statement's subject stands, for a [`Note`] before it runs: on the session in which it runs.
///
/// # Errors
/// A lost connection.
pub fn fingerprint(connection: &mut Connection, text: &[u8], dialect: &Dialect) -> Result<Note, Error> {
    let head: Vec<Token<'_>> = tokens(text, dialect).take(HEAD_TOKENS).collect();
    if is_repeatable(&head) {
        return Ok(Note::Nothing);
    }
    let Some(question) = subject(&head) else { return Ok(Note::Nothing) };
    match connection.fetch(&question) {
        Ok(rows) => {
            let values: Vec<u8> = rows.into_iter().flatten().flatten().flat_map(without_counter).collect();
            Ok(Note::Definition(Some(digest([values.as_slice()]))))
        }
        Err(Error::Server(_)) => Ok(Note::Definition(None)),
        Err(error) => Err(error),
    }
}

/// What became of a statement that had begun, given how things stood before and the session that it ran in.
///
/// # Errors
/// A lost connection.
pub fn outcome(connection: &mut Connection, text: &[u8], dialect: &Dialect, before: &Note) -> Result<Outcome, Error> {
    if *before == Note::Alone {
        return Ok(Outcome::Unknown);
    }
    let head: Vec<Token<'_>> = tokens(text, dialect).take(HEAD_TOKENS).collect();
    if is_several(text, dialect) || takes_rows_along(text, &head, dialect) {
        return Ok(Outcome::Unknown);
    }
    if is_repeatable(&head) {
        return Ok(Outcome::Again);
    }
    if changes_rows(&head) {
        let is_certain = !names_other_engines(connection, text, dialect)?;
        return Ok(if is_certain { Outcome::Again } else { Outcome::Unknown });
    }
    let Note::Definition(_) = before else { return Ok(Outcome::Unknown) };
    let now = fingerprint(connection, text, dialect)?;
    Ok(if now == *before { Outcome::Again } else { Outcome::Done })
}

/// Whether running it twice is as good as once.
fn is_repeatable(head: &[Token<'_>]) -> bool {
    let Some(first) = head.first() else { return true };
    if REPEATABLE.iter().any(|word| first.is_word(word)) {
        return true;
    }
    if first.is_word(b"ALTER") {
        return head.get(1).is_some_and(|second| second.is_word(b"DATABASE") || second.is_word(b"SCHEMA"))
            || head.iter().any(|token| token.is_word(b"KEYS"));
    }
    if !(first.is_word(b"CREATE") || first.is_word(b"DROP")) {
        return false;
    }
    let replaces = begins_with(&head[1..], &[b"OR", b"REPLACE"]);
    let Some(at) = kind_at(head) else { return replaces };
    replaces
        || begins_with(&head[at + 1..], &[b"IF", b"EXISTS"])
        || begins_with(&head[at + 1..], &[b"IF", b"NOT", b"EXISTS"])
}

fn begins_with(tokens: &[Token<'_>], words: &[&[u8]]) -> bool {
    tokens.len() >= words.len() && tokens.iter().zip(words).all(|(token, word)| token.is_word(word))
}

/// Where the word stands that says what is created, changed or dropped.
fn kind_at(head: &[Token<'_>]) -> Option<usize> {
    head.iter().position(|token| KINDS.iter().any(|kind| token.is_word(kind)))
}

/// A definition that brings rows with it: it may be there without them.
fn takes_rows_along(text: &[u8], head: &[Token<'_>], dialect: &Dialect) -> bool {
    let is_table = head.iter().take(4).any(|token| token.is_word(b"TABLE"));
    let is_create = head.first().is_some_and(|first| first.is_word(b"CREATE"));
    is_create && is_table && tokens(text, dialect).any(|token| token.is_word(b"SELECT"))
}

/// Statements whose rows are a transaction's, if the engine has any: their record is closed within it.
const ROW_CHANGES: &[&[u8]] =
    &[b"INSERT", b"REPLACE", b"UPDATE", b"DELETE", b"LOAD", b"WITH", b"SELECT", b"DO", b"VALUES"];

/// Whether a statement changes rows, if anything.
#[must_use]
pub fn changes_rows(head: &[Token<'_>]) -> bool {
    head.first().is_some_and(|first| ROW_CHANGES.iter().any(|word| first.is_word(word)))
}

/// Whether a statement names a table that cannot roll back.
///
/// # Errors
/// What the server or the connection says.
pub fn names_other_engines(connection: &mut Connection, text: &[u8], dialect: &Dialect) -> Result<bool, Error> {
    let names = tokens(text, dialect).filter_map(|token| match token.kind {
        Kind::Word(name) => Some(hortator_mysql::quote_string(name)),
        Kind::QuotedIdentifier(name) => Some(hortator_mysql::quote_string(&name)),
        _ => None,
    });
    let names: Vec<Vec<u8>> = names.collect();
    if names.is_empty() {
        return Ok(false);
    }
    let query = [
        b"SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE' \
          AND ENGINE NOT IN ('InnoDB', 'ROCKSDB') \
          AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema') AND TABLE_NAME IN ("
            .as_slice(),
        &names.join(&b","[..]),
        b")",
    ]
    .concat();
    let rows = connection.fetch(&query)?;
    Ok(rows.first().and_then(|row| row.first()?.as_deref()) != Some(b"0"))
}

/// The statement that shows what this one changes.
fn subject(head: &[Token<'_>]) -> Option<Vec<u8>> {
    let verb = head.first()?;
    if !["CREATE", "ALTER", "DROP", "RENAME"].iter().any(|word| verb.is_word(word.as_bytes())) {
        return None;
    }
    let at = kind_at(head)?;
    let (kind, mut at) = (&head[at], at + 1);
    if begins_with(&head[at..], &[b"IF", b"EXISTS"]) {
        at += 2;
    } else if begins_with(&head[at..], &[b"IF", b"NOT", b"EXISTS"]) {
        at += 3;
    }
    if kind.is_word(b"INDEX") {
        at = head.iter().position(|token| token.is_word(b"ON"))? + 1;
    }
    if kind.is_word(b"PACKAGE") && head.get(at).is_some_and(|token| token.is_word(b"BODY")) {
        return Some([b"SHOW CREATE PACKAGE BODY ".as_slice(), &qualified(&head[at + 1..])?].concat());
    }
    let shown: &[u8] = match KINDS.iter().find(|known| kind.is_word(known))? {
        &b"INDEX" => b"TABLE",
        // There is no SHOW CREATE ROLE: its grants tell as much.
        &b"ROLE" => return Some([b"SHOW GRANTS FOR ".as_slice(), &qualified(&head[at..])?].concat()),
        known => known,
    };
    Some([b"SHOW CREATE ".as_slice(), shown, b" ", &qualified(&head[at..])?].concat())
}

/// A name of one or two parts, or an account's, as it is written.
fn qualified(rest: &[Token<'_>]) -> Option<Vec<u8>> {
    let mut name = written(rest.first()?)?;
    if rest.get(1).is_some_and(|token| token.is_symbol(b".")) {
        name.push(b'.');
        name.extend(written(rest.get(2)?)?);
    } else if let Some(Kind::UserVariable(host)) = rest.get(1).map(|token| &token.kind) {
        name.push(b'@');
        name.extend_from_slice(&hortator_mysql::quote_string(host));
    }
    Some(name)
}

fn written(token: &Token<'_>) -> Option<Vec<u8>> {
    match &token.kind {
        Kind::Word(word) => Some(hortator_mysql::quote_identifier(word)),
        Kind::QuotedIdentifier(name) => Some(hortator_mysql::quote_identifier(name)),
        Kind::String(raw) => Some(raw.to_vec()),
        _ => None,
    }
}

/// A definition without the counter in it, which moves with the rows.
fn without_counter(definition: Vec<u8>) -> Vec<u8> {
    const COUNTER: &[u8] = b" AUTO_INCREMENT=";
    let Some(at) = memchr::memmem::find(&definition, COUNTER) else { return definition };
    let digits = definition[at + COUNTER.len()..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    [&definition[..at], &definition[at + COUNTER.len() + digits..]].concat()
}
