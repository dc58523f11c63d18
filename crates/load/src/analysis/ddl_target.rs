//! What a definition statement changes: how each of its subjects is asked for, and how they stand once it is done.

use crate::lexer::{Kind, Token};
use crate::rows::name;

/// Tokens of a statement's beginning among which its kind stands.
const HEAD_TOKENS: usize = 24;

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

/// How its subjects stand once a statement is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Postcondition {
    /// The one is another than before.
    Changed,
    /// None of them is there.
    Dropped,
    /// The first is not there, the second is.
    Renamed,
}

/// All that a statement names as changed by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DdlTarget {
    /// Statements that show the subjects, one each.
    pub questions: Vec<Vec<u8>>,
    /// How they stand afterwards.
    pub postcondition: Postcondition,
}

impl DdlTarget {
    /// Whether all that it names is gone behind it.
    pub(crate) fn drops(&self) -> bool {
        self.postcondition == Postcondition::Dropped
    }
}

/// The subjects of a statement; `None` where there are none, or where looking at them would not tell whether all of it
/// is done.
#[must_use]
pub fn ddl_target(all: &[Token<'_>]) -> Option<DdlTarget> {
    let verb = all.first()?;
    let at = kind_at(all)?;
    let kind = &all[at];
    let is_account = kind.is_word(b"USER") || kind.is_word(b"ROLE");
    let has_comma = || all.iter().any(|token| token.is_symbol(b","));
    if verb.is_word(b"DROP") {
        let is_index = kind.is_word(b"INDEX");
        let questions = if is_index { vec![question(all, at)?.0] } else { questions_of_list(all, at)? };
        let postcondition = if is_index { Postcondition::Changed } else { Postcondition::Dropped };
        return Some(DdlTarget { questions, postcondition });
    }
    if verb.is_word(b"RENAME") {
        if has_comma() {
            return None;
        }
        let to = all.iter().position(|token| token.is_word(b"TO"))?;
        let (from, _) = question(all, at)?;
        let (name, _) = qualified(&all[to + 1..])?;
        return Some(DdlTarget { questions: vec![from, show(kind, &name)?], postcondition: Postcondition::Renamed });
    }
    let is_create = verb.is_word(b"CREATE");
    let is_unseen = || all.iter().any(|token| UNSEEN.iter().any(|word| token.is_word(word)));
    if !(is_create || verb.is_word(b"ALTER")) || (is_account && has_comma()) || (!is_create && is_unseen()) {
        return None;
    }
    Some(DdlTarget { questions: vec![question(all, at)?.0], postcondition: Postcondition::Changed })
}

/// Where the word stands that says what is created, changed or dropped.
fn kind_at(all: &[Token<'_>]) -> Option<usize> {
    let head = &all[..all.len().min(HEAD_TOKENS)];
    let second = if begins_with(head.get(1..)?, &[b"OR", b"REPLACE"]) { 3 } else { 1 };
    if OTHER_KINDS.iter().any(|kind| head.get(second).is_some_and(|token| token.is_word(kind))) {
        return None;
    }
    head.iter().position(|token| KINDS.iter().any(|kind| token.is_word(kind)))
}

/// Whether tokens begin with these words.
fn begins_with(tokens: &[Token<'_>], words: &[&[u8]]) -> bool {
    tokens.len() >= words.len() && tokens.iter().zip(words).all(|(token, word)| token.is_word(word))
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

/// What may stand behind ALTER DATABASE in the place of a name.
const SCHEMA_OPTIONS: &[&[u8]] =
    &[b"DEFAULT", b"CHARACTER", b"CHARSET", b"COLLATE", b"COMMENT", b"ENCRYPTION", b"READ", b"UPGRADE"];

/// The schema of CREATE, ALTER or DROP DATABASE.
pub fn schema_name(all: &[Token<'_>]) -> Option<Vec<u8>> {
    let at = all.iter().position(|token| token.is_word(b"DATABASE") || token.is_word(b"SCHEMA"))?;
    let words: [&[u8]; 3] = [b"IF", b"NOT", b"EXISTS"];
    let behind = all[at + 1..].iter().find(|token| !words.iter().any(|word| token.is_word(word)))?;
    // ALTER DATABASE without a name changes the default schema.
    let is_option = all[0].is_word(b"ALTER") && SCHEMA_OPTIONS.iter().any(|word| behind.is_word(word));
    if is_option { None } else { name(behind) }
}
