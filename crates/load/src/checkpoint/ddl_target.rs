//! The objects that a DDL statement changes: the queries that show them, and their state after the statement.

use super::idempotent::begins_with;
use crate::lexer::{Dialect, Kind, Token, tokens};

/// Tokens of a statement's beginning that are looked at.
pub(super) const HEAD_TOKENS: usize = 24;

/// Tokens of a statement that may be a list of names.
const LIST_TOKENS: usize = 4000;

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

/// What cannot, but is described in words that look like the above.
const OTHER_KINDS: &[&[u8]] = &[b"SERVER", b"TABLESPACE", b"LOGFILE", b"UNDO", b"RESOURCE"];

/// Changes of a table that its definition does not show.
const UNSEEN: &[&[u8]] = &[b"EXCHANGE", b"IMPORT", b"DISCARD"];

/// The state of the objects after the statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Postcondition {
    /// The definition has changed.
    Changed,
    /// None of them exists.
    Dropped,
    /// The first does not exist, the second does.
    Renamed,
}

/// The objects that a DDL statement changes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DdlTarget {
    /// Queries that show the objects, one each.
    pub(super) questions: Vec<Vec<u8>>,
    /// Their state after the statement.
    pub(super) postcondition: Postcondition,
}

/// The objects that a statement changes; `None` if there are none, or if their state does not show whether the whole
/// statement is applied.
pub(super) fn ddl_target(text: &[u8], dialect: &Dialect) -> Option<DdlTarget> {
    let head: Vec<Token<'_>> = tokens(text, dialect).take(HEAD_TOKENS).collect();
    let verb = head.first()?;
    let at = kind_at(&head)?;
    let kind = &head[at];
    let is_account = kind.is_word(b"USER") || kind.is_word(b"ROLE");
    let has = |wanted: &dyn Fn(&Token<'_>) -> bool| tokens(text, dialect).any(|token| wanted(&token));
    let has_comma = || has(&|token| token.is_symbol(b","));
    if verb.is_word(b"DROP") {
        let all = list(text, dialect)?;
        let questions =
            if kind.is_word(b"INDEX") { vec![question(&head, at)?.0] } else { questions_of_list(&all, at)? };
        let postcondition = if kind.is_word(b"INDEX") { Postcondition::Changed } else { Postcondition::Dropped };
        return Some(DdlTarget { questions, postcondition });
    }
    if verb.is_word(b"RENAME") {
        if has_comma() {
            return None;
        }
        let to = head.iter().position(|token| token.is_word(b"TO"))?;
        let (from, _) = question(&head, at)?;
        let (name, _) = qualified(&head[to + 1..])?;
        return Some(DdlTarget { questions: vec![from, show(kind, &name)?], postcondition: Postcondition::Renamed });
    }
    let is_create = verb.is_word(b"CREATE");
    let is_unseen = || has(&|token| UNSEEN.iter().any(|word| token.is_word(word)));
    if !(is_create || verb.is_word(b"ALTER")) || (is_account && has_comma()) || (!is_create && is_unseen()) {
        return None;
    }
    Some(DdlTarget { questions: vec![question(&head, at)?.0], postcondition: Postcondition::Changed })
}

/// Where the word stands that says what is created, changed or dropped.
pub(super) fn kind_at(head: &[Token<'_>]) -> Option<usize> {
    let second = if begins_with(head.get(1..)?, &[b"OR", b"REPLACE"]) { 3 } else { 1 };
    if OTHER_KINDS.iter().any(|kind| head.get(second).is_some_and(|token| token.is_word(kind))) {
        return None;
    }
    head.iter().position(|token| KINDS.iter().any(|kind| token.is_word(kind)))
}

/// All tokens of a statement that is not long.
fn list<'t>(text: &'t [u8], dialect: &Dialect) -> Option<Vec<Token<'t>>> {
    let all: Vec<Token<'t>> = tokens(text, dialect).take(LIST_TOKENS + 1).collect();
    (all.len() <= LIST_TOKENS).then_some(all)
}

/// The questions for all names behind the word at `at`.
fn questions_of_list(all: &[Token<'_>], at: usize) -> Option<Vec<Vec<u8>>> {
    let (first, mut end) = question(all, at)?;
    let mut questions = vec![first];
    while all.get(end).is_some_and(|token| token.is_symbol(b",")) {
        let (name, length) = qualified(&all[end + 1..])?;
        questions.push(show(&all[at], &name)?);
        end += 1 + length;
    }
    Some(questions)
}

/// What shows the first name behind the word at `at`, and where that name ends.
fn question(all: &[Token<'_>], at: usize) -> Option<(Vec<u8>, usize)> {
    let kind = &all[at];
    let mut start = at + 1;
    if begins_with(&all[start..], &[b"IF", b"EXISTS"]) {
        start += 2;
    } else if begins_with(&all[start..], &[b"IF", b"NOT", b"EXISTS"]) {
        start += 3;
    }
    if kind.is_word(b"INDEX") {
        start = all.iter().position(|token| token.is_word(b"ON"))? + 1;
    }
    if kind.is_word(b"PACKAGE") && all.get(start).is_some_and(|token| token.is_word(b"BODY")) {
        let (name, length) = qualified(&all[start + 1..])?;
        return Some(([b"SHOW CREATE PACKAGE BODY ".as_slice(), &name].concat(), start + 1 + length));
    }
    let (name, length) = qualified(all.get(start..)?)?;
    Some((show(kind, &name)?, start + length))
}

fn show(kind: &Token<'_>, name: &[u8]) -> Option<Vec<u8>> {
    let shown: &[u8] = match KINDS.iter().find(|known| kind.is_word(known))? {
        &b"INDEX" => b"TABLE",
        // There is no SHOW CREATE ROLE: its grants tell as much.
        &b"ROLE" => return Some([b"SHOW GRANTS FOR ".as_slice(), name].concat()),
        known => known,
    };
    Some([b"SHOW CREATE ".as_slice(), shown, b" ", name].concat())
}

/// A name of one or two parts, or an account's, as it is written; and its number of tokens.
fn qualified(rest: &[Token<'_>]) -> Option<(Vec<u8>, usize)> {
    let mut name = written(rest.first()?)?;
    if rest.get(1).is_some_and(|token| token.is_symbol(b".")) {
        name.push(b'.');
        name.extend(written(rest.get(2)?)?);
        return Some((name, 3));
    }
    if let Some(Kind::UserVariable(host)) = rest.get(1).map(|token| &token.kind) {
        name.push(b'@');
        name.extend_from_slice(&hortator_mysql::quote_string(host));
        return Some((name, 2));
    }
    Some((name, 1))
}

fn written(token: &Token<'_>) -> Option<Vec<u8>> {
    match &token.kind {
        Kind::Word(word) => Some(hortator_mysql::quote_identifier(word)),
        Kind::QuotedIdentifier(name) => Some(hortator_mysql::quote_identifier(name)),
        Kind::String(raw) => Some(raw.to_vec()),
        _ => None,
    }
}
