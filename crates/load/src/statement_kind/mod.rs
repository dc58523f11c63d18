//! Which kind a statement belongs to and which tables it names: what the planner needs to give it a place.
//!
//! The kinds are data, in [`RULES`]; this module only matches them. A statement that is not understood is a barrier:
//! it is sent as written, after all before it and before all behind it.

mod key_additions;
mod multi_statement;
mod rules;

use crate::lexer::{Dialect, Kind, Token, Tokens, tokens};
use crate::rows::{InsertHead, insert_head, name};

pub use key_additions::{KeyAddition, can_merge, merge_key_additions, parse_key_additions};
pub use multi_statement::{is_multi_statement, split_statements};
pub use rules::{Effect, RULES, Rule};

/// How many tokens of a statement decide its kind; none of the patterns reaches further.
const HEAD_TOKENS: usize = 64;

/// A table as a statement names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedTable {
    /// The schema, where the statement gives one; else the session's.
    pub schema: Option<Vec<u8>>,
    /// The table.
    pub table: Vec<u8>,
}

/// A statement's kind, with what the kind asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// Rows for one table.
    Rows(InsertHead),
    /// A table's definition.
    TableDdl {
        /// The tables whose definition changes.
        tables: Vec<NamedTable>,
        /// The tables behind REFERENCES.
        references: Vec<NamedTable>,
    },
    /// Anything else in the catalog; `tables` are those whose rows must be in before.
    OtherDdl {
        /// The tables named.
        tables: Vec<NamedTable>,
    },
    /// A SET or USE.
    Session,
    /// Reads nothing that statements write.
    Constant,
    /// Not sent; `tables` are those whose absence would have been an error.
    Skip {
        /// The tables named.
        tables: Vec<NamedTable>,
    },
    /// After all before it, before all behind it.
    Barrier {
        /// Why, in words for a user.
        reason: &'static str,
    },
    /// Only comments, or a version comment that this server skips: sent as the client does, to no effect.
    Empty,
}

/// The kind of a statement.
#[must_use]
pub fn classify(text: &[u8], dialect: &Dialect) -> StatementKind {
    let mut head = tokens(text, dialect);
    let mut leading = Vec::with_capacity(HEAD_TOKENS.min(text.len() / 4 + 1));
    // An INSERT of a megabyte is not worth 64 tokens.
    let Some(first) = head.next() else { return StatementKind::Empty };
    let is_insert = first.is_word(b"INSERT");
    if is_insert || first.is_word(b"REPLACE") {
        let behind_verb = head.clone();
        if !head.next().is_some_and(|token| token.is_word(b"DELAYED")) {
            return match insert_head(!is_insert, behind_verb) {
                Some(head) => StatementKind::Rows(head),
                None => StatementKind::Barrier { reason: "INSERT of an unknown form" },
            };
        }
        return StatementKind::Barrier { reason: "INSERT DELAYED" };
    }
    leading.push(first);
    leading.extend(head.by_ref().take(HEAD_TOKENS));

    if is_multi_statement(text, dialect) {
        return StatementKind::Barrier { reason: "several statements in one text" };
    }
    for rule in RULES {
        let Some(tables) = matches(rule.pattern, &leading) else { continue };
        if let Some(word) = forbidden(rule, text, dialect) {
            return StatementKind::Barrier { reason: word };
        }
        // `DISABLE KEYS` may be one of several changes.
        let is_more = rule.effect == Effect::Skip
            && leading[0].is_word(b"ALTER")
            && leading.iter().any(|token| token.is_symbol(b","));
        if is_more {
            continue;
        }
        return match rule.effect {
            Effect::Rows => StatementKind::Barrier { reason: "INSERT of an unknown form" },
            Effect::TableDdl if uses_session(text, dialect) => {
                StatementKind::Barrier { reason: "the table definition reads a user variable" }
            }
            Effect::TableDdl => StatementKind::TableDdl { tables, references: references(text, dialect) },
            Effect::OtherDdl => StatementKind::OtherDdl { tables },
            Effect::Session => StatementKind::Session,
            Effect::Constant if is_constant(text, dialect) => StatementKind::Constant,
            Effect::Constant => StatementKind::Barrier { reason: "SELECT reads the current state" },
            Effect::Skip if leading.first().is_some_and(|first| first.is_word(b"LOCK")) => {
                StatementKind::Skip { tables: locked_tables(&leading) }
            }
            Effect::Skip => StatementKind::Skip { tables },
            Effect::Barrier(reason) => StatementKind::Barrier { reason },
        };
    }
    StatementKind::Barrier { reason: "a statement of an unknown kind" }
}

/// Matches a pattern against a statement's leading tokens; gives the tables that it names.
fn matches(pattern: &str, leading: &[Token<'_>]) -> Option<Vec<NamedTable>> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut elements = pattern.split(' ').peekable();
    while let Some(element) = elements.next() {
        match element {
            "..." => {
                let next = elements.peek()?;
                at += leading[at..].iter().position(|token| token.is_word(next.as_bytes()))?;
            }
            "<table>" => at = table_name(leading, at, &mut found)?,
            "<tables>" => loop {
                at = table_name(leading, at, &mut found)?;
                if !leading.get(at).is_some_and(|token| token.is_symbol(b",")) {
                    break;
                }
                at += 1;
            },
            "<name>" => {
                name(leading.get(at)?)?;
                at += 1;
            }
            "[definer]" => at = clause_end(leading, at, b"DEFINER"),
            "[algorithm]" => at = clause_end(leading, at, b"ALGORITHM"),
            "[security]" => {
                if leading.get(at).is_some_and(|token| token.is_word(b"SQL")) {
                    at += 3;
                }
            }
            _ if element.starts_with('[') => {
                // The words of an optional group, to its closing bracket.
                let mut words = vec![element.trim_matches(['[', ']'])];
                let mut last = element;
                while !last.ends_with(']') {
                    last = elements.next()?;
                    words.push(last.trim_end_matches(']'));
                }
                let is_there = words
                    .iter()
                    .enumerate()
                    .all(|(offset, word)| leading.get(at + offset).is_some_and(|token| token.is_word(word.as_bytes())));
                at += if is_there { words.len() } else { 0 };
            }
            word => {
                if !leading.get(at)?.is_word(word.as_bytes()) {
                    return None;
                }
                at += 1;
            }
        }
    }
    Some(found)
}

/// Reads `[schema.]table` at `at`; gives the position behind it.
fn table_name(leading: &[Token<'_>], at: usize, found: &mut Vec<NamedTable>) -> Option<usize> {
    let first = name(leading.get(at)?)?;
    if leading.get(at + 1).is_some_and(|token| token.is_symbol(b".")) {
        found.push(NamedTable { schema: Some(first), table: name(leading.get(at + 2)?)? });
        Some(at + 3)
    } else {
        found.push(NamedTable { schema: None, table: first });
        Some(at + 1)
    }
}

/// The end of `WORD = value[@value][()]` at `at`, or `at` where there is none.
fn clause_end(leading: &[Token<'_>], at: usize, word: &[u8]) -> usize {
    let is = |index: usize, symbol: &[u8]| leading.get(index).is_some_and(|token| token.is_symbol(symbol));
    if !leading.get(at).is_some_and(|token| token.is_word(word)) || !is(at + 1, b"=") {
        return at;
    }
    let mut end = at + 3;
    if leading.get(end).is_some_and(|token| matches!(token.kind, Kind::UserVariable(_))) {
        end += 1;
    }
    if is(end, b"(") && is(end + 1, b")") {
        end += 2;
    }
    end
}

/// The tables of `LOCK TABLES a READ, b.c AS d WRITE`: the name at the start and behind every comma.
fn locked_tables(leading: &[Token<'_>]) -> Vec<NamedTable> {
    let mut found = Vec::new();
    let mut at = 2;
    while table_name(leading, at, &mut found).is_some() {
        match leading[at..].iter().position(|token| token.is_symbol(b",")) {
            Some(comma) => at += comma + 1,
            None => break,
        }
    }
    found
}

/// Why a statement that fits the rule is a barrier nevertheless.
fn forbidden(rule: &Rule, text: &[u8], dialect: &Dialect) -> Option<&'static str> {
    if rule.unless.is_empty() {
        return None;
    }
    tokens(text, dialect)
        .any(|token| rule.unless.iter().any(|word| token.is_word(word.as_bytes())))
        .then_some("the table definition reads other tables")
}

/// Whether a statement reads a user variable, which only the main session has.
pub fn uses_session(text: &[u8], dialect: &Dialect) -> bool {
    memchr::memchr(b'@', text).is_some()
        && tokens(text, dialect).any(|token| matches!(token.kind, Kind::UserVariable(_) | Kind::SystemVariable(_)))
}

/// Whether a SET reads more than constants and variables that stand still: tables, functions, the last statement's
/// results.
pub fn reads_session_results(text: &[u8], dialect: &Dialect) -> bool {
    const RESULTS: [&[u8]; 2] = [b"identity", b"last_insert_id"];
    tokens(text, dialect).any(|token| match token.kind {
        Kind::Symbol(symbol) => symbol == b"(",
        Kind::SystemVariable(name) => {
            let name = name.rsplit(|byte| *byte == b'.').next().unwrap_or(name);
            RESULTS.iter().any(|result| name.eq_ignore_ascii_case(result))
        }
        _ => false,
    })
}

/// Whether a statement asks what the one before it did: its warnings, its row counts.
pub fn reads_diagnostics(text: &[u8], dialect: &Dialect) -> bool {
    // Rows are many and long; what they ask is looked for where their values turn out to be no literals.
    !matches!(text.first(), Some(b'i' | b'I' | b'r' | b'R')) && mentions_diagnostics(text, dialect)
}

/// Whether any word or variable of a statement stands for what the statement before it did.
pub fn mentions_diagnostics(text: &[u8], dialect: &Dialect) -> bool {
    const WORDS: [&[u8]; 5] = [b"ROW_COUNT", b"FOUND_ROWS", b"WARNINGS", b"ERRORS", b"DIAGNOSTICS"];
    const VARIABLES: [&[u8]; 2] = [b"warning_count", b"error_count"];
    tokens(text, dialect).any(|token| match token.kind {
        Kind::Word(word) => WORDS.iter().any(|asking| word.eq_ignore_ascii_case(asking)),
        Kind::SystemVariable(name) => {
            let name = name.rsplit(|byte| *byte == b'.').next().unwrap_or(name);
            VARIABLES.iter().any(|asking| name.eq_ignore_ascii_case(asking))
        }
        _ => false,
    })
}

/// The tables behind the word REFERENCES.
fn references(text: &[u8], dialect: &Dialect) -> Vec<NamedTable> {
    let mut found = Vec::new();
    let mut rest: Tokens<'_> = tokens(text, dialect);
    while let Some(token) = rest.next() {
        if token.is_word(b"REFERENCES") {
            let behind: Vec<Token<'_>> = rest.clone().take(3).collect();
            let _ = table_name(&behind, 0, &mut found);
        }
    }
    found
}

/// Whether a SELECT reads only constants and user variables: no table, no function, no system variable, no sequence.
fn is_constant(text: &[u8], dialect: &Dialect) -> bool {
    // `NEXT VALUE FOR s` and `s.nextval` take a number without any parenthesis.
    const READING: [&[u8]; 6] = [b"FROM", b"INTO", b"NEXT", b"PREVIOUS", b"NEXTVAL", b"CURRVAL"];
    tokens(text, dialect).all(|token| match token.kind {
        Kind::SystemVariable(_) => false,
        Kind::Symbol(symbol) => !matches!(symbol, b"(" | b":="),
        Kind::Word(_) => !READING.iter().any(|word| token.is_word(word)),
        _ => true,
    })
}

#[cfg(test)]
mod tests;
