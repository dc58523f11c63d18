//! Tables that a query names: what stands where its grammar has tables.

use crate::analysis::NamedTable;
use crate::analysis::pattern::read_table;
use crate::lexer::{Kind, Token};

/// Words behind which a list of tables stands.
const BEFORE_TABLES: &[&[u8]] = &[b"FROM", b"JOIN", b"STRAIGHT_JOIN", b"UPDATE", b"TABLE", b"TABLES", b"USING"];

/// Words that may stand between such a word and the table.
const BETWEEN: &[&[u8]] = &[b"LOW_PRIORITY", b"IGNORE", b"QUICK", b"LATERAL", b"ONLY"];

/// Functions in whose parentheses FROM stands before a value.
const WITH_FROM: &[&[u8]] = &[b"EXTRACT", b"TRIM", b"SUBSTRING", b"SUBSTR", b"MID", b"OVERLAY"];

/// Words that are no table behind FROM or INTO.
const NO_TABLES: &[&[u8]] = &[b"DUAL", b"OUTFILE", b"DUMPFILE", b"SELECT", b"VALUES", b"SET"];

/// Words at which a list of tables ends: commas behind them separate something else.
const ENDS: &[&[u8]] = &[
    b"SELECT",
    b"SET",
    b"VALUES",
    b"WHERE",
    b"GROUP",
    b"HAVING",
    b"ORDER",
    b"LIMIT",
    b"WINDOW",
    b"PROCEDURE",
    b"UNION",
    b"EXCEPT",
    b"INTERSECT",
    b"MINUS",
    b"DUPLICATE",
    b"RETURNING",
];

/// What the grammar has at a place, for each open parenthesis.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    /// FROM stands before a value.
    has_values: bool,
    /// A list of tables is open: behind a comma, the next one stands.
    is_list: bool,
    /// A table stands here.
    expects_table: bool,
}

/// The tables that a query names, as far as its grammar tells. A name too many may be among them.
pub(crate) fn named_tables(all: &[Token<'_>]) -> Vec<NamedTable> {
    let is_at = |at: Option<usize>, words: &[&[u8]]| {
        at.and_then(|at| all.get(at)).is_some_and(|token| words.iter().any(|word| token.is_word(word)))
    };
    let expressions = table_expressions(all);
    let mut found = Vec::new();
    let mut outer = Vec::new();
    let mut level = Level::default();
    let mut at = 0;
    while let Some(token) = all.get(at) {
        let (here, before, next) = (at, at.checked_sub(1), Some(at + 1));
        let is_word = |words: &[&[u8]]| is_at(Some(here), words);
        at += 1;
        if token.is_symbol(b"(") {
            // `FROM (a, b)`, `FROM (SELECT …)`.
            let is_list = std::mem::take(&mut level.expects_table);
            outer.push(level);
            level = Level { has_values: is_at(before, WITH_FROM), is_list, expects_table: is_list };
        } else if token.is_symbol(b")") {
            level = outer.pop().unwrap_or_default();
        } else if token.is_symbol(b",") {
            level.expects_table = level.is_list;
        } else if is_word(&[b"INTO"]) {
            // `INSERT INTO t (column)`.
            level = Level { is_list: false, expects_table: true, ..level };
        } else if is_word(BEFORE_TABLES) {
            if begins_tables(token, level, &outer, |words| is_at(before, words)) {
                // `USING (column)` names no table.
                let is_of_columns = token.is_word(b"USING") && all.get(at).is_some_and(|next| next.is_symbol(b"("));
                level = Level { is_list: true, expects_table: !is_of_columns, ..level };
            }
        } else if is_word(&[b"FOR"]) {
            // `FOR UPDATE OF a, b`, but not `USE INDEX FOR JOIN (i), b`.
            let goes_on: &[&[u8]] = &[b"SYSTEM_TIME", b"PORTION", b"JOIN", b"ORDER", b"GROUP"];
            level.is_list &= is_at(next, goes_on);
        } else if is_word(ENDS) && !is_at(before, &[b"FOR"]) {
            level = Level { is_list: false, expects_table: false, ..level };
        } else if level.expects_table && !is_word(BETWEEN) {
            level.expects_table = false;
            let mut names = Vec::new();
            if let Some(end) =
                (is_name(token) && !is_word(NO_TABLES)).then(|| read_table(all, here, &mut names)).flatten()
            {
                at = end;
                // A function that gives rows, or the table of an INSERT with its columns.
                let has_list = all.get(end).is_some_and(|next| next.is_symbol(b"("));
                found.extend(
                    names.into_iter().filter(|name| !has_list && !expressions.iter().any(|one| one.is_at(here, name))),
                );
            }
        }
    }
    found
}

/// Whether tables stand behind a word of [`BEFORE_TABLES`]. `is_behind`: whether one of these words stands before it.
fn begins_tables(token: &Token<'_>, level: Level, outer: &[Level], is_behind: impl Fn(&[&[u8]]) -> bool) -> bool {
    if token.is_word(b"FROM") {
        // `EXTRACT(DAY FROM a)`, `a IS DISTINCT FROM b`, `FOR SYSTEM_TIME FROM a TO b`.
        !level.has_values && !is_behind(&[b"DISTINCT", b"SYSTEM_TIME"])
    } else if token.is_word(b"UPDATE") {
        // `FOR UPDATE`, `ON DUPLICATE KEY UPDATE`.
        !is_behind(&[b"FOR", b"KEY", b"ON"])
    } else if token.is_word(b"USING") {
        // `CONVERT(a USING utf8mb4)`.
        outer.is_empty()
    } else if token.is_word(b"STRAIGHT_JOIN") {
        // `SELECT STRAIGHT_JOIN a, b FROM`.
        level.is_list
    } else {
        // `USE INDEX FOR JOIN (i)`.
        !is_behind(&[b"FOR"])
    }
}

/// A common table expression, and where its name stands for it.
struct TableExpression {
    name: Vec<u8>,
    from: usize,
    to: usize,
}

impl TableExpression {
    fn is_at(&self, at: usize, named: &NamedTable) -> bool {
        named.schema.is_none() && named.table == self.name && (self.from..self.to).contains(&at)
    }
}

/// The common table expressions of all WITH clauses. Within its own definition, a name is that of a table, unless the
/// clause is recursive.
fn table_expressions(all: &[Token<'_>]) -> Vec<TableExpression> {
    let mut found = Vec::new();
    for (with, _) in all.iter().enumerate().filter(|(_, token)| token.is_word(b"WITH")) {
        let is_recursive = all.get(with + 1).is_some_and(|next| next.is_word(b"RECURSIVE"));
        let to = end_of_level(all, with);
        let mut at = with + 1 + usize::from(is_recursive);
        loop {
            let mut names = Vec::new();
            let Some(mut end) = read_table(all, at, &mut names) else { break };
            let is_open = |at: usize| all.get(at).is_some_and(|token| token.is_symbol(b"("));
            if is_open(end) {
                end = end_of_level(all, end + 1) + 1;
            }
            if !all.get(end).is_some_and(|token| token.is_word(b"AS")) || !is_open(end + 1) {
                break;
            }
            end = end_of_level(all, end + 2) + 1;
            let from = if is_recursive { with } else { end };
            found.extend(names.into_iter().map(|name| TableExpression { name: name.table, from, to }));
            if !all.get(end).is_some_and(|token| token.is_symbol(b",")) {
                break;
            }
            at = end + 1;
        }
    }
    found
}

/// Where the parenthesis ends in which a token stands.
fn end_of_level(all: &[Token<'_>], from: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in all.iter().enumerate().skip(from) {
        if token.is_symbol(b"(") {
            depth += 1;
        } else if token.is_symbol(b")") {
            let Some(rest) = depth.checked_sub(1) else { return at };
            depth = rest;
        }
    }
    all.len()
}

fn is_name(token: &Token<'_>) -> bool {
    matches!(token.kind, Kind::Word(_) | Kind::QuotedIdentifier(_))
}
