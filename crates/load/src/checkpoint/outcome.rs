//! The outcome of a statement that had started when a load ended, read from the objects that it changes.
//!
//! DDL is atomic (MariaDB from 10.6, MySQL from 8.0). So a statement is applied if the definition has changed, and can be
//! run again if it has not. A statement that names several objects may have changed some of them: then the outcome is
//! certain only if it changed all or none.

use std::collections::BTreeSet;

use hortator_mysql::{Connection, Error, quote_string};

use super::ddl_target::{DdlTarget, HEAD_TOKENS, Postcondition, ddl_target};
use super::idempotent::is_idempotent;
use super::{RecoveryHint, digest};
use crate::lexer::{Dialect, Kind, Token, tokens};
use crate::statement_kind::is_multi_statement;

/// The outcome of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The database has the statement.
    Applied,
    /// The statement had no effect, or is idempotent.
    Reapply,
    /// The outcome cannot be determined.
    InDoubt,
}

/// What servers say of something that is not there: a table or view, a schema (twice), a routine, a trigger, an event, a
/// sequence, an account (three times).
const NOT_THERE: &[u16] = &[1146, 1049, 1008, 1305, 1360, 1539, 4091, 1133, 1141, 3162];

/// Names of one statement that are looked up among the tables.
const NAMES_LIMIT: usize = 10_000;

/// The hash of the definitions that a statement changes, before it runs, read in its session.
///
/// # Errors
/// A lost connection.
pub fn fingerprint(connection: &mut Connection, text: &[u8], dialect: &Dialect) -> Result<RecoveryHint, Error> {
    if is_idempotent(text, dialect) {
        return Ok(RecoveryHint::None);
    }
    let Some(DdlTarget { questions, .. }) = ddl_target(text, dialect) else { return Ok(RecoveryHint::None) };
    Ok(look(connection, &questions)?.map_or(RecoveryHint::None, |found| recovery_hint(&found)))
}

/// Hashes of the definitions that the questions ask for, `None` for what is not there; no answer where the server does
/// not show one of them, as for want of rights.
fn look(connection: &mut Connection, questions: &[Vec<u8>]) -> Result<Option<Vec<Option<u128>>>, Error> {
    let mut found = Vec::with_capacity(questions.len());
    for question in questions {
        match connection.fetch(question) {
            Ok(rows) => {
                let values: Vec<u8> = rows.into_iter().flatten().flatten().flat_map(without_counter).collect();
                found.push(Some(digest([values.as_slice()])));
            }
            Err(Error::Server(error)) if NOT_THERE.contains(&error.code) => found.push(None),
            Err(Error::Server(_)) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(found))
}

fn recovery_hint(found: &[Option<u128>]) -> RecoveryHint {
    match found {
        [one] => RecoveryHint::Definition(*one),
        several => {
            let texts: Vec<Vec<u8>> =
                several.iter().map(|hash| hash.map_or(Vec::new(), |hash| hash.to_le_bytes().to_vec())).collect();
            RecoveryHint::Definition(Some(digest(texts.iter().map(Vec::as_slice))))
        }
    }
}

/// The outcome of a statement that had started, from the hint that was recorded before it.
///
/// # Errors
/// A lost connection.
pub fn outcome(
    connection: &mut Connection,
    text: &[u8],
    dialect: &Dialect,
    before: &RecoveryHint,
) -> Result<Outcome, Error> {
    if *before == RecoveryHint::NotInTransaction {
        return Ok(Outcome::InDoubt);
    }
    let head: Vec<Token<'_>> = tokens(text, dialect).take(HEAD_TOKENS).collect();
    if is_multi_statement(text, dialect) || takes_rows_along(text, &head, dialect) {
        return Ok(Outcome::InDoubt);
    }
    if is_idempotent(text, dialect) {
        return Ok(Outcome::Reapply);
    }
    if changes_rows(&head) {
        let is_certain = !names_other_engines(connection, text, dialect)?;
        return Ok(if is_certain { Outcome::Reapply } else { Outcome::InDoubt });
    }
    let (RecoveryHint::Definition(_), Some(DdlTarget { questions, postcondition })) =
        (before, ddl_target(text, dialect))
    else {
        return Ok(Outcome::InDoubt);
    };
    let Some(found) = look(connection, &questions)? else { return Ok(Outcome::InDoubt) };
    if recovery_hint(&found) == *before {
        return Ok(Outcome::Reapply);
    }
    let is_done = match postcondition {
        Postcondition::Changed => true,
        Postcondition::Dropped => found.iter().all(Option::is_none),
        Postcondition::Renamed => matches!(found[..], [None, Some(_)]),
    };
    Ok(if is_done { Outcome::Applied } else { Outcome::InDoubt })
}

/// A CREATE TABLE … SELECT: the table may exist without its rows.
fn takes_rows_along(text: &[u8], head: &[Token<'_>], dialect: &Dialect) -> bool {
    let is_table = head.iter().take(4).any(|token| token.is_word(b"TABLE"));
    let is_create = head.first().is_some_and(|first| first.is_word(b"CREATE"));
    is_create && is_table && tokens(text, dialect).any(|token| token.is_word(b"SELECT"))
}

/// Statements whose rows are part of a transaction, if the engine is transactional.
const ROW_CHANGES: &[&[u8]] =
    &[b"INSERT", b"REPLACE", b"UPDATE", b"DELETE", b"LOAD", b"WITH", b"SELECT", b"DO", b"VALUES"];

/// Whether a statement changes rows, if anything.
#[must_use]
pub fn changes_rows(head: &[Token<'_>]) -> bool {
    head.first().is_some_and(|first| ROW_CHANGES.iter().any(|word| first.is_word(word)))
}

/// Whether a statement names, or may name, a table that is not transactional; a view counts as one.
///
/// # Errors
/// What the server or the connection says.
pub fn names_other_engines(connection: &mut Connection, text: &[u8], dialect: &Dialect) -> Result<bool, Error> {
    // Words of the language are among them: a table of such a name is one too many, and never one too few.
    let mut names = BTreeSet::new();
    for token in tokens(text, dialect) {
        let name = match &token.kind {
            Kind::Word(name) => *name,
            Kind::QuotedIdentifier(name) => name,
            _ => continue,
        };
        if std::str::from_utf8(name).is_err() || names.len() >= NAMES_LIMIT {
            return Ok(true);
        }
        // Servers fold case by their platform; here all do.
        names.insert([b"LOWER(".as_slice(), &quote_string(name), b")"].concat());
    }
    if names.is_empty() {
        return Ok(false);
    }
    let names: Vec<Vec<u8>> = names.into_iter().collect();
    let names = names.join(&b","[..]);
    // Tables of the server's own have everybody's names, such as `user`: they count where their schema is meant.
    let query = [
        b"SELECT COUNT(*) FROM information_schema.TABLES WHERE LOWER(TABLE_NAME) IN (".as_slice(),
        &names,
        b") AND NOT (TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND COALESCE(ENGINE, '') IN ('InnoDB', 'ROCKSDB')) \
          AND (TABLE_SCHEMA NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema') \
          OR TABLE_SCHEMA = LOWER(DATABASE()) OR LOWER(TABLE_SCHEMA) IN (",
        &names,
        b"))",
    ]
    .concat();
    let rows = connection.fetch(&query)?;
    Ok(rows.first().and_then(|row| row.first()?.as_deref()) != Some(b"0"))
}

/// A definition without the AUTO_INCREMENT value, which changes with the rows.
fn without_counter(definition: Vec<u8>) -> Vec<u8> {
    const COUNTER: &[u8] = b" AUTO_INCREMENT=";
    let Some(at) = memchr::memmem::find(&definition, COUNTER) else { return definition };
    let digits = definition[at + COUNTER.len()..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    [&definition[..at], &definition[at + COUNTER.len() + digits..]].concat()
}
