//! Matches the patterns of the rule table against a statement's tokens.
//!
//! A pattern is a row of elements with blanks between them:
//!
//! | element | matches |
//! |---|---|
//! | `WORD` | this word, in any case, unquoted |
//! | `[A B]` | these words, or nothing |
//! | `[A B]?` | the same; the match tells whether they were there ([`Match::options`]) |
//! | `<table>` | `[schema.]table` |
//! | `<tables>` | one or more of them, with commas between |
//! | `<locks>` | what LOCK TABLES takes: `table [[AS] alias] READ [LOCAL] \| [LOW_PRIORITY] WRITE`, … |
//! | `<name>` | one name |
//! | `...` | everything up to the next word of the pattern |
//! | `[definer]` `[algorithm]` `[security]` | these clauses of CREATE, or nothing |
//! | `$` | the end of the statement |

use crate::lexer::{Kind, Token};
use crate::rows::name;

use super::NamedTable;

/// What a pattern found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// The tables named, in their order.
    pub tables: Vec<NamedTable>,
    /// The words of the `[…]?` groups that were there.
    pub options: Vec<&'static str>,
    /// Number of tokens matched.
    pub length: usize,
}

impl Match {
    /// Whether such a group was there.
    pub fn has(&self, option: &str) -> bool {
        self.options.contains(&option)
    }
}

/// Matches a pattern against the tokens of a statement, from its first.
pub fn match_pattern(pattern: &'static str, all: &[Token<'_>]) -> Option<Match> {
    let mut found = Match::default();
    let mut at = 0;
    let mut rest = pattern;
    while !rest.is_empty() {
        let element;
        (element, rest) = next_element(rest);
        match element {
            "$" => {
                if all[at..].iter().any(|token| !token.is_symbol(b";")) {
                    return None;
                }
                at = all.len();
            }
            "..." => {
                let (next, _) = next_element(rest);
                at += all.get(at..)?.iter().position(|token| token.is_word(next.as_bytes()))?;
            }
            "<table>" => at = read_table(all, at, &mut found.tables)?,
            "<tables>" => loop {
                at = read_table(all, at, &mut found.tables)?;
                if !all.get(at).is_some_and(|token| token.is_symbol(b",")) {
                    break;
                }
                at += 1;
            },
            "<locks>" => at = read_locks(all, at, &mut found.tables)?,
            "<name>" => {
                name(all.get(at)?)?;
                at += 1;
            }
            "[definer]" => at = clause_end(all, at, b"DEFINER"),
            "[algorithm]" => at = clause_end(all, at, b"ALGORITHM"),
            "[security]" => {
                if all.get(at).is_some_and(|token| token.is_word(b"SQL")) {
                    at += 3;
                }
            }
            _ if element.starts_with('[') => {
                let words = element.trim_start_matches('[').trim_end_matches(['?', ']']);
                let count = words.split(' ').count();
                let is_there = words
                    .split(' ')
                    .enumerate()
                    .all(|(offset, word)| all.get(at + offset).is_some_and(|token| token.is_word(word.as_bytes())));
                if is_there {
                    at += count;
                    if element.ends_with('?') {
                        found.options.push(words);
                    }
                }
            }
            word => {
                if !all.get(at)?.is_word(word.as_bytes()) {
                    return None;
                }
                at += 1;
            }
        }
    }
    found.length = at.min(all.len());
    Some(found)
}

/// The first element of a pattern, and what follows it. A group in brackets is one element.
fn next_element(pattern: &'static str) -> (&'static str, &'static str) {
    let end = match pattern.starts_with('[') {
        true => pattern.find(']').map_or(pattern.len(), |at| at + 1 + usize::from(pattern[at + 1..].starts_with('?'))),
        false => pattern.find(' ').unwrap_or(pattern.len()),
    };
    (&pattern[..end], pattern[end..].trim_start())
}

/// Reads `[schema.]table` at `at`; gives the position behind it.
pub fn read_table(all: &[Token<'_>], at: usize, found: &mut Vec<NamedTable>) -> Option<usize> {
    let first = name(all.get(at)?)?;
    if all.get(at + 1).is_some_and(|token| token.is_symbol(b".")) {
        found.push(NamedTable { schema: Some(first), table: name(all.get(at + 2)?)? });
        Some(at + 3)
    } else {
        found.push(NamedTable { schema: None, table: first });
        Some(at + 1)
    }
}

/// Reads `a READ, b.c AS d WRITE`, …
fn read_locks(all: &[Token<'_>], mut at: usize, found: &mut Vec<NamedTable>) -> Option<usize> {
    let is = |at: usize, word: &[u8]| all.get(at).is_some_and(|token| token.is_word(word));
    loop {
        at = read_table(all, at, found)?;
        if is(at, b"AS") {
            at += 1;
            name(all.get(at)?)?;
            at += 1;
        } else if !["READ", "WRITE", "LOW_PRIORITY"].iter().any(|word| is(at, word.as_bytes())) {
            name(all.get(at)?)?;
            at += 1;
        }
        if is(at, b"READ") {
            at += 1 + usize::from(is(at + 1, b"LOCAL"));
        } else {
            at += usize::from(is(at, b"LOW_PRIORITY"));
            if !is(at, b"WRITE") {
                return None;
            }
            at += 1 + usize::from(is(at + 1, b"CONCURRENT"));
        }
        if !all.get(at).is_some_and(|token| token.is_symbol(b",")) {
            return Some(at);
        }
        at += 1;
    }
}

/// The end of `WORD = value[@value][()]` at `at`, or `at` where there is none.
fn clause_end(all: &[Token<'_>], at: usize, word: &[u8]) -> usize {
    let is = |index: usize, symbol: &[u8]| all.get(index).is_some_and(|token| token.is_symbol(symbol));
    if !all.get(at).is_some_and(|token| token.is_word(word)) || !is(at + 1, b"=") {
        return at;
    }
    let mut end = at + 3;
    if all.get(end).is_some_and(|token| matches!(token.kind, Kind::UserVariable(_))) {
        end += 1;
    }
    if is(end, b"(") && is(end + 1, b")") {
        end += 2;
    }
    end
}
