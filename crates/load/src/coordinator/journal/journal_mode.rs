//! How a statement of the main session is recorded, told from its words.

use crate::checkpoint::changes_rows;
use crate::coordinator::main_session::MainSession;
use crate::lexer::{Kind, Token, tokens};
use crate::session::assignments;
use crate::statement_kind::{StatementKind, is_multi_statement, mentions_diagnostics, reads_session_results};

/// How a statement of the main session is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::coordinator) enum JournalMode {
    /// Not at all: it concerns the session only, or reads.
    Session,
    /// It controls a transaction of the dump's own.
    Control,
    /// It changes rows: within a transaction.
    Rows,
    /// An intent: the statement commits implicitly, or its effect is unknown.
    Intent,
}

/// Words that begin statements which control a transaction.
const CONTROL: &[&[u8]] = &[b"BEGIN", b"COMMIT", b"ROLLBACK", b"SAVEPOINT", b"RELEASE"];
/// Words that begin statements which only read, or prepare something in the session.
const READS: &[&[u8]] =
    &[b"SHOW", b"HELP", b"EXPLAIN", b"DESCRIBE", b"DESC", b"USE", b"PREPARE", b"DEALLOCATE", b"HANDLER"];
/// Words that begin statements which may leave anything behind in their session.
const BINDING: &[&[u8]] = &[b"CALL", b"EXECUTE"];

/// How a statement is recorded, and whether it leaves something in its session that no other session has.
pub(in crate::coordinator) fn journal_mode(
    text: &[u8],
    kind: &StatementKind,
    main: &MainSession<'_>,
) -> (JournalMode, bool) {
    let dialect = main.dialect();
    let head: Vec<Token<'_>> = tokens(text, &dialect).take(3).collect();
    let Some(first) = head.first() else { return (JournalMode::Session, false) };
    let is = |words: &[&[u8]]| words.iter().any(|word| first.is_word(word));
    let second_is = |word: &[u8]| head.get(1).is_some_and(|token| token.is_word(word));
    if first.is_word(b"LOCK") {
        return (JournalMode::Intent, false);
    }
    if is_multi_statement(text, &dialect) {
        return (JournalMode::Intent, true);
    }
    match kind {
        StatementKind::Session if reads_session_results(text, &dialect) => return (JournalMode::Intent, true),
        StatementKind::Session => {
            let assigned = assignments(text, &dialect);
            let is_global = assigned.beyond_session && assigned.session_local.is_empty();
            return (if is_global { JournalMode::Intent } else { JournalMode::Session }, false);
        }
        StatementKind::Constant | StatementKind::Empty | StatementKind::Skip { .. } => {
            return (JournalMode::Session, false);
        }
        _ => {}
    }
    if is(CONTROL) || (first.is_word(b"START") && second_is(b"TRANSACTION")) {
        return (JournalMode::Control, false);
    }
    if is(READS) {
        return (JournalMode::Session, false);
    }
    let is_temporary = first.is_word(b"CREATE") && head.iter().any(|token| token.is_word(b"TEMPORARY"));
    let changes = changes_rows(&head);
    let is_binding = is(BINDING) || is_temporary || (changes && assigns_variable(text, first, main));
    (if changes { JournalMode::Rows } else { JournalMode::Intent }, is_binding)
}

/// Whether a statement that changes or reads rows puts something into a user variable on the way.
fn assigns_variable(text: &[u8], first: &Token<'_>, main: &MainSession<'_>) -> bool {
    if memchr::memchr(b'@', text).is_none() {
        return false;
    }
    // LOAD DATA names the variables that it fills; SELECT does so behind INTO.
    let mut names_targets = first.is_word(b"LOAD");
    let mut assigns = false;
    let mut has_variable = false;
    for token in tokens(text, &main.dialect()) {
        names_targets |= first.is_word(b"SELECT") && token.is_word(b"INTO");
        assigns |= token.is_symbol(b":=");
        has_variable |= matches!(token.kind, Kind::UserVariable(_));
    }
    has_variable && (names_targets || assigns)
}

/// What a statement that asks about the one before it leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::coordinator) struct DiagnosticsQuery {
    /// It changes rows.
    pub(in crate::coordinator) changes: bool,
    /// It keeps the answer in a user variable.
    pub(in crate::coordinator) keeps: bool,
}

/// Whether a statement asks about the one before it, and what it leaves behind.
pub(in crate::coordinator) fn diagnostics_query(text: &[u8], main: &MainSession<'_>) -> Option<DiagnosticsQuery> {
    let dialect = main.dialect();
    if !mentions_diagnostics(text, &dialect) {
        return None;
    }
    let head: Vec<Token<'_>> = tokens(text, &dialect).take(1).collect();
    let keeps = tokens(text, &dialect).any(|token| matches!(token.kind, Kind::UserVariable(_)));
    Some(DiagnosticsQuery { changes: changes_rows(&head) && !head[0].is_word(b"SELECT"), keeps })
}

/// Whether a statement may change rows of tables that it only names, whatever their engine: what such a one had done when
/// it was cut off, no transaction tells.
pub(super) fn may_be_non_transactional(text: &[u8], main: &MainSession<'_>) -> bool {
    let first = tokens(text, &main.dialect()).next();
    first.is_some_and(|first| ["UPDATE", "DELETE", "LOAD", "WITH"].iter().any(|word| first.is_word(word.as_bytes())))
}

/// Whether a SET may end the transaction.
pub(super) fn assigns_autocommit(text: &[u8], main: &MainSession<'_>) -> bool {
    tokens(text, &main.dialect()).any(|token| match token.kind {
        Kind::Word(word) => word.eq_ignore_ascii_case(b"autocommit"),
        Kind::SystemVariable(name) => name.to_ascii_lowercase().ends_with(b"autocommit"),
        _ => false,
    })
}
