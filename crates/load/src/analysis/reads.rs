//! What a statement reads and fills besides its tables: user variables, diagnostics, functions.

use crate::lexer::{Kind, Token};

use super::rules::{Rule, RuleKind};
use super::{DiagnosticsQuery, FunctionSet, JournalMode, Trait, Traits};

/// Whether a statement that changes or reads rows puts something into a user variable on the way.
pub(super) fn assigns_user_variable(all: &[Token<'_>], traits: &Traits) -> bool {
    let mut names_targets = false;
    let (mut assigns, mut has_variable) = (false, false);
    for (index, token) in all.iter().enumerate() {
        // LOAD DATA names the variables that it fills; SELECT does so behind INTO.
        names_targets |=
            traits.has(Trait::NamesVariables) && (token.is_word(b"INTO") || (index == 0 && token.is_word(b"LOAD")));
        assigns |= token.is_symbol(b":=");
        has_variable |= matches!(token.kind, Kind::UserVariable(_));
    }
    has_variable && (names_targets || assigns) && !traits.has(Trait::HasBody)
}

/// What of a statement stands for what the statement before it did.
pub(super) fn diagnostics(all: &[Token<'_>], rule: &Rule) -> Option<DiagnosticsQuery> {
    const WORDS: [&[u8]; 5] = [b"ROW_COUNT", b"FOUND_ROWS", b"WARNINGS", b"ERRORS", b"DIAGNOSTICS"];
    // What SHOW STATUS and the like say of the statements before.
    const COUNTING_WORDS: [&[u8]; 6] =
        [b"STATUS", b"SESSION_STATUS", b"PROFILE", b"PROFILES", b"PROFILING", b"OPTIMIZER_TRACE"];
    const VARIABLES: [&[u8]; 3] = [b"warning_count", b"error_count", b"identity"];
    const COMMIT_VARIABLES: [&[u8]; 1] = [b"last_gtid"];
    let has_word = |words: &[&[u8]]| {
        let is_one = |word: &[u8]| words.iter().any(|asking| word.eq_ignore_ascii_case(asking));
        all.iter().any(|token| matches!(token.kind, Kind::Word(word) if is_one(word)))
    };
    let has_variable = |names: &[&[u8]]| {
        let is_one = |name: &[u8]| {
            let name = name.rsplit(|byte| *byte == b'.').next().unwrap_or(name);
            names.iter().any(|asking| name.eq_ignore_ascii_case(asking))
        };
        all.iter().any(|token| matches!(token.kind, Kind::SystemVariable(name) if is_one(name)))
    };
    if all.first().is_some_and(|first| first.is_word(b"FLUSH")) {
        // FLUSH STATUS asks nothing.
        return None;
    }
    let counts = has_word(&COUNTING_WORDS) || has_variable(&COMMIT_VARIABLES);
    if !counts && !has_word(&WORDS) && !has_variable(&VARIABLES) {
        return None;
    }
    let writes = rule.journal == JournalMode::Rows && rule.kind != RuleKind::Select;
    let keeps = all.iter().any(|token| matches!(token.kind, Kind::UserVariable(_)));
    let reads = |token: &Token<'_>| matches!(token.kind, Kind::SystemVariable(name) if reads_transaction(name));
    let reads_last_id = has_word(&[b"LAST_INSERT_ID"]) || has_variable(&[b"identity", b"last_insert_id"]);
    Some(DiagnosticsQuery {
        writes,
        keeps,
        sees_transaction: all.iter().any(reads),
        sees_counters: counts,
        reads_last_id,
    })
}

/// Whether a SELECT reads only constants and user variables: no table, no function, no system variable, no sequence.
pub(super) fn is_constant(all: &[Token<'_>]) -> bool {
    // `NEXT VALUE FOR s` and `s.nextval` take a number without any parenthesis.
    const READING: [&[u8]; 6] = [b"FROM", b"INTO", b"NEXT", b"PREVIOUS", b"NEXTVAL", b"CURRVAL"];
    all.iter().all(|token| match token.kind {
        Kind::SystemVariable(_) => false,
        Kind::Symbol(symbol) => !matches!(symbol, b"(" | b":="),
        Kind::Word(_) => !READING.iter().any(|word| token.is_word(word)),
        _ => true,
    })
}

/// Whether a statement is `SELECT SETVAL(…)` or `DO SETVAL(…)` of a sequence and numbers, and nothing else.
pub(super) fn is_setval(all: &[Token<'_>]) -> bool {
    let [verb, function, open, of, behind @ .., close] = all else { return false };
    let is_name = |token: &Token<'_>| matches!(token.kind, Kind::Word(_) | Kind::QuotedIdentifier(_));
    let numbers = match behind {
        [dot, name, rest @ ..] if dot.is_symbol(b".") && is_name(name) => rest,
        rest => rest,
    };
    let is_literal = |token: &Token<'_>| {
        matches!(token.kind, Kind::Number(_))
            || [b",".as_slice(), b"-"].iter().any(|symbol| token.is_symbol(symbol))
            || [b"TRUE".as_slice(), b"FALSE"].iter().any(|word| token.is_word(word))
    };
    (verb.is_word(b"SELECT") || verb.is_word(b"DO"))
        && function.is_word(b"SETVAL")
        && open.is_symbol(b"(")
        && is_name(of)
        && numbers.iter().all(is_literal)
        && close.is_symbol(b")")
}

/// Whether a statement's values may come from what a rollback does not restore.
pub(super) fn reads_session(all: &[Token<'_>]) -> bool {
    const WORDS: [&[u8]; 11] = [
        b"LAST_INSERT_ID",
        b"RAND",
        b"NEXT",
        b"NEXTVAL",
        b"PREVIOUS",
        b"LASTVAL",
        b"CURRVAL",
        b"SETVAL",
        b"UUID_SHORT",
        b"GET_LOCK",
        b"RELEASE_LOCK",
    ];
    all.iter().any(|token| match token.kind {
        Kind::UserVariable(_) | Kind::SystemVariable(_) => true,
        Kind::Word(_) => WORDS.iter().any(|word| token.is_word(word)),
        _ => false,
    })
}

pub(super) fn reads_transaction(variable: &[u8]) -> bool {
    variable.to_ascii_lowercase().ends_with(b"in_transaction")
}

/// Whether a SELECT that calls no unknown function changes nothing: it fills no variable and no file.
pub(super) fn only_reads(all: &[Token<'_>], functions: &FunctionSet) -> bool {
    const CHANGING: [&[u8]; 5] = [b"INTO", b"NEXT", b"NEXTVAL", b"SETVAL", b"PROCEDURE"];
    all.iter().all(|token| match token.kind {
        Kind::Word(word) => {
            !CHANGING.iter().any(|changing| token.is_word(changing)) && !functions.changes_something(word)
        }
        Kind::Symbol(symbol) => symbol != b":=",
        _ => true,
    })
}

/// Whether a statement calls anything that is not known to only read. A name before a list of columns looks like a call
/// where it is not behind INTO.
pub(super) fn may_call_function(all: &[Token<'_>], functions: &FunctionSet) -> bool {
    all.iter().enumerate().any(|(index, token)| {
        let is_called = all.get(index + 1).is_some_and(|next| next.is_symbol(b"("));
        let before = |word: &[u8]| index > 0 && all[index - 1].is_word(word);
        let is_table = before(b"INTO") || before(b"INSERT") || before(b"REPLACE") || before(b"TABLE");
        let is_qualified = index > 0 && all[index - 1].is_symbol(b".");
        let is_qualified_table = is_qualified
            && index > 2
            && [&b"INTO"[..], b"INSERT", b"REPLACE", b"TABLE"].iter().any(|word| all[index - 3].is_word(word));
        if !is_called || is_table || is_qualified_table {
            return false;
        }
        match &token.kind {
            Kind::Word(word) => is_qualified || !functions.is_built_in(word),
            Kind::QuotedIdentifier(_) => true,
            _ => false,
        }
    })
}

/// Whether a definition schedules an event that does not come to an end.
pub(super) fn recurs(all: &[Token<'_>]) -> bool {
    let every = |pair: &[Token<'_>]| pair[0].is_word(b"SCHEDULE") && pair[1].is_word(b"EVERY");
    all.windows(2).any(every) && !all.iter().any(|token| token.is_word(b"ENDS"))
}
