//! Tables that a query names: what stands where its grammar has tables.

use crate::analysis::NamedTable;
use crate::analysis::pattern::read_table;
use crate::lexer::{Kind, Token};

/// Words behind which a table stands.
const BEFORE_TABLES: &[&[u8]] =
    &[b"FROM", b"JOIN", b"STRAIGHT_JOIN", b"INTO", b"UPDATE", b"TABLE", b"TABLES", b"USING"];

/// Words that may stand between such a word and the table.
const BETWEEN: &[&[u8]] = &[b"LOW_PRIORITY", b"IGNORE", b"QUICK", b"LATERAL", b"ONLY"];

/// Functions in whose parentheses FROM stands before a value.
const WITH_FROM: &[&[u8]] = &[b"EXTRACT", b"TRIM", b"SUBSTRING", b"SUBSTR", b"MID", b"OVERLAY"];

/// Words that are no table behind FROM or INTO.
const NO_TABLES: &[&[u8]] = &[b"DUAL", b"OUTFILE", b"DUMPFILE", b"SELECT", b"VALUES", b"SET"];

/// The tables that a query names, as far as its grammar tells. A name too many may be among them, such as that of a common
/// table expression.
pub(crate) fn named_tables(all: &[Token<'_>]) -> Vec<NamedTable> {
    let is_one_of = |token: &Token<'_>, words: &[&[u8]]| words.iter().any(|word| token.is_word(word));
    let mut found = Vec::new();
    // For each open parenthesis, whether FROM in it stands before a value.
    let mut open = Vec::new();
    for (index, token) in all.iter().enumerate() {
        if token.is_symbol(b"(") {
            open.push(index > 0 && is_one_of(&all[index - 1], WITH_FROM));
        } else if token.is_symbol(b")") {
            open.pop();
        }
        // `FOR UPDATE`, `ON DUPLICATE KEY UPDATE`.
        let is_no_verb = token.is_word(b"UPDATE") && index > 0 && is_one_of(&all[index - 1], &[b"FOR", b"KEY", b"ON"]);
        // `CONVERT(a USING utf8mb4)`.
        let is_of_function = token.is_word(b"USING") && !open.is_empty();
        let is_distinct_from = token.is_word(b"FROM") && index > 0 && all[index - 1].is_word(b"DISTINCT");
        if !is_one_of(token, BEFORE_TABLES)
            || open.last() == Some(&true)
            || is_distinct_from
            || is_no_verb
            || is_of_function
        {
            continue;
        }
        let mut at = index + 1;
        while let Some(next) = all.get(at).filter(|next| is_one_of(next, BETWEEN) || next.is_symbol(b"(")) {
            // `USING (column)` names no table.
            if next.is_symbol(b"(") && (token.is_word(b"USING") || token.is_word(b"INTO")) {
                break;
            }
            at += 1;
        }
        read_list(all, at, &mut found);
    }
    found
}

/// Reads `a, b AS c, d.e f`, …
fn read_list(all: &[Token<'_>], mut at: usize, found: &mut Vec<NamedTable>) {
    while let Some(first) = all.get(at) {
        if NO_TABLES.iter().any(|word| first.is_word(word)) || !is_name(first) {
            return;
        }
        let mut names = Vec::new();
        let Some(end) = read_table(all, at, &mut names) else { return };
        // A function that gives rows.
        if !all.get(end).is_some_and(|next| next.is_symbol(b"(")) {
            found.append(&mut names);
        }
        // An alias, if there is one.
        at = end;
        if all.get(at).is_some_and(|token| token.is_word(b"AS")) {
            at += 1;
        }
        if all.get(at).is_some_and(is_name) && all.get(at + 1).is_some_and(|token| token.is_symbol(b",")) {
            at += 1;
        }
        if !all.get(at).is_some_and(|token| token.is_symbol(b",")) {
            return;
        }
        at += 1;
    }
}

fn is_name(token: &Token<'_>) -> bool {
    matches!(token.kind, Kind::Word(_) | Kind::QuotedIdentifier(_))
}
