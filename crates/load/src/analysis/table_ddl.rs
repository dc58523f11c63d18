//! What a CREATE TABLE or ALTER TABLE does beyond its own table.

use hortator_mysql::catalog::DOCUMENT_NUMBER_COLUMN;

use crate::lexer::{Kind, Token};

use super::NamedTable;
use super::pattern::read_table;

/// Words that, anywhere in a CREATE TABLE, make it read or need other objects.
const READS_OTHERS: &[&[u8]] =
    &[b"UNION", b"MERGE", b"MRG_MYISAM", b"CONNECT", b"FEDERATED", b"SPIDER", b"NEXTVAL", b"LASTVAL", b"SETVAL"];

/// Words that, outside of parentheses, make it more than columns, keys, options and partitions.
const BEYOND_OPTIONS: &[&[u8]] = &[b"SELECT", b"AS", b"LIKE", b"TABLE", b"IGNORE", b"REPLACE", b"TRANSACTION"];

/// Why a CREATE TABLE cannot run on any connection; `behind` are the tokens behind the table's name.
pub fn create_table_reason(behind: &[Token<'_>]) -> Option<&'static str> {
    const OTHERS: Option<&str> = Some("the table definition reads other tables");
    if !behind.first()?.is_symbol(b"(") {
        return OTHERS;
    }
    let mut depth = 0_usize;
    for (index, token) in behind.iter().enumerate() {
        if token.is_symbol(b"(") {
            depth += 1;
            continue;
        }
        if token.is_symbol(b")") {
            depth = depth.saturating_sub(1);
            continue;
        }
        let next_is = |word: &[u8]| behind.get(index + 1).is_some_and(|next| next.is_word(word));
        let is_one_of = |words: &[&[u8]]| words.iter().any(|word| token.is_word(word));
        // `(LIKE t)`, `(SELECT 1)`.
        if depth == 1 && index == 1 && is_one_of(&[b"LIKE", b"SELECT", b"VALUES", b"WITH", b"TABLE"]) {
            return OTHERS;
        }
        if is_one_of(READS_OTHERS)
            || (token.is_word(b"NEXT") && next_is(b"VALUE"))
            || (token.is_word(b"PREVIOUS") && next_is(b"VALUE"))
        {
            return OTHERS;
        }
        let is_partition = token.is_word(b"VALUES") && (next_is(b"LESS") || next_is(b"IN"));
        let is_beyond = is_one_of(BEYOND_OPTIONS)
            || (token.is_word(b"VALUES") && !is_partition)
            || (token.is_word(b"WITH") && !next_is(b"SYSTEM") && !next_is(b"PARSER"));
        if depth == 0 && is_beyond {
            return OTHERS;
        }
        if matches!(token.kind, Kind::UserVariable(_) | Kind::SystemVariable(_)) {
            return Some("the table definition reads a user variable");
        }
    }
    None
}

/// The table whose definition a CREATE TABLE copies, where it does nothing else. `behind` are the tokens behind the new
/// table's name.
pub fn copied_table(behind: &[Token<'_>]) -> Option<NamedTable> {
    let source = match behind {
        [like, source @ ..] if like.is_word(b"LIKE") => source,
        [open, like, source @ .., close] if open.is_symbol(b"(") && like.is_word(b"LIKE") && close.is_symbol(b")") => {
            source
        }
        _ => return None,
    };
    let mut found = Vec::new();
    (read_table(source, 0, &mut found)? == source.len()).then(|| found.pop())?
}

/// Engines whose tables have rows of their own.
const ENGINES: &[&[u8]] = &[b"InnoDB", b"MyISAM", b"Aria", b"MEMORY"];

/// Whether tables of an engine have rows of their own.
pub(crate) fn is_plain_engine(name: &[u8]) -> bool {
    ENGINES.iter().any(|engine| engine.eq_ignore_ascii_case(name))
}

/// Words that may make columns computed, a table keep its history, or be a sequence.
const COMPUTES: &[&[u8]] = &[b"GENERATED", b"AS", b"PERIOD", b"VERSIONING", b"SEQUENCE"];

/// Words that make a column number rows without AUTO_INCREMENT, or take no value of a row.
const UNCERTAIN: &[&[u8]] = &[b"SERIAL", b"INVISIBLE"];

/// Words with which an item of a definition begins that is no column.
const KEYS: &[&[u8]] =
    &[b"PRIMARY", b"KEY", b"UNIQUE", b"INDEX", b"FULLTEXT", b"SPATIAL", b"CONSTRAINT", b"FOREIGN", b"CHECK"];

/// What may stand behind DEFAULT, beside literals: values that all sessions have, and the options of a table.
const DEFAULTS: &[&[u8]] = &[
    b"NULL",
    b"TRUE",
    b"FALSE",
    b"CURRENT_TIMESTAMP",
    b"NOW",
    b"LOCALTIME",
    b"LOCALTIMESTAMP",
    b"CHARSET",
    b"CHARACTER",
    b"COLLATE",
];

/// Whether rows of literals can be stored in a table of this definition over any connection: no default or column is
/// computed from anything but the time, no column numbers documents, and the engine is one that is known. `behind` are the tokens behind the table's
/// name, of a statement without `create_table_reason`.
pub fn is_plain_definition(behind: &[Token<'_>]) -> bool {
    behind.iter().enumerate().all(|(index, token)| {
        let next = behind.get(index + 1);
        let is_one_of = |token: &Token<'_>, words: &[&[u8]]| words.iter().any(|word| token.is_word(word));
        if token.is_word(b"DEFAULT") {
            let is_literal = |next: &Token<'_>| {
                matches!(next.kind, Kind::String(_) | Kind::Number(_)) || next.is_symbol(b"-") || next.is_symbol(b"+")
            };
            return next.is_some_and(|next| is_literal(next) || is_one_of(next, DEFAULTS));
        }
        if token.is_word(b"ENGINE") {
            let engine = if next.is_some_and(|next| next.is_symbol(b"=")) { behind.get(index + 2) } else { next };
            return engine.is_some_and(|engine| is_one_of(engine, ENGINES));
        }
        !is_one_of(token, COMPUTES) && !is_document_number(token)
    })
}

fn is_document_number(token: &Token<'_>) -> bool {
    match &token.kind {
        Kind::Word(name) => name.eq_ignore_ascii_case(DOCUMENT_NUMBER_COLUMN),
        Kind::QuotedIdentifier(name) => name.eq_ignore_ascii_case(DOCUMENT_NUMBER_COLUMN),
        _ => false,
    }
}

/// Which column of a table is AUTO_INCREMENT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowNumbers {
    /// None.
    Nowhere,
    /// The one at this place, from 0.
    Column(usize),
}

/// Which column numbers the rows, by a plain definition that names no engine but InnoDB; `None` where that is not certain.
pub fn row_numbers(behind: &[Token<'_>]) -> Option<RowNumbers> {
    let is_one_of = |token: &Token<'_>, words: &[&[u8]]| words.iter().any(|word| token.is_word(word));
    let engine_of = |(index, token): (usize, &Token<'_>)| {
        let has_sign = behind.get(index + 1).is_some_and(|next| next.is_symbol(b"="));
        token.is_word(b"ENGINE").then(|| behind.get(index + 1 + usize::from(has_sign)))
    };
    let mut engines = behind.iter().enumerate().filter_map(engine_of);
    if !engines.all(|engine| engine.is_some_and(|engine| engine.is_word(b"InnoDB")))
        || behind.iter().any(|token| is_one_of(token, UNCERTAIN))
    {
        return None;
    }
    let mut found = RowNumbers::Nowhere;
    let (mut depth, mut column) = (0_usize, 0);
    // At the beginning of an item, and within the definition of a column.
    let (mut is_first, mut is_column) = (false, false);
    for token in behind {
        if token.is_symbol(b"(") {
            depth += 1;
            is_first |= depth == 1;
        } else if token.is_symbol(b")") {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                break;
            }
        } else if depth == 1 && token.is_symbol(b",") {
            column += usize::from(is_column);
            is_first = true;
        } else if depth == 1 && is_first {
            is_column = !is_one_of(token, KEYS);
            is_first = false;
        } else if depth == 1 && token.is_word(b"AUTO_INCREMENT") {
            found = RowNumbers::Column(column);
        }
    }
    Some(found)
}

/// Whether a CREATE TABLE brings rows with it.
pub fn brings_rows(behind: &[Token<'_>]) -> bool {
    let words: [&[u8]; 4] = [b"SELECT", b"VALUES", b"TABLE", b"WITH"];
    behind.iter().enumerate().any(|(index, token)| {
        words.iter().any(|word| token.is_word(word))
            && !behind
                .get(index + 1)
                .is_some_and(|next| [&b"LESS"[..], b"IN", b"SYSTEM", b"PARSER"].iter().any(|word| next.is_word(word)))
    })
}

/// Words that make an ALTER TABLE concern other tables or files.
const ALTERS_OTHERS: &[&[u8]] = &[
    b"RENAME",
    b"CONVERT",
    b"EXCHANGE",
    b"UNION",
    b"CONNECTION",
    b"IMPORT",
    b"DISCARD",
    b"NEXTVAL",
    b"NEXT",
    b"LASTVAL",
];

/// Words of an ALTER TABLE that may take data away.
const DESTROYS: &[&[u8]] = &[
    b"DROP",
    b"TRUNCATE",
    b"MODIFY",
    b"CHANGE",
    b"COALESCE",
    b"REORGANIZE",
    b"REMOVE",
    b"PARTITION",
    b"ENGINE",
    b"IGNORE",
];

/// Words that, before PARTITION, make an ALTER TABLE return rows.
const RETURNS_ROWS: &[&[u8]] = &[b"ANALYZE", b"CHECK", b"OPTIMIZE", b"REPAIR"];

/// Why an ALTER TABLE cannot run on any connection.
pub fn alter_table_reason(behind: &[Token<'_>]) -> Option<&'static str> {
    let is_followed = |words: &[&[u8]], next: &[&[u8]]| {
        let is_one_of = |token: &Token<'_>, words: &[&[u8]]| words.iter().any(|word| token.is_word(word));
        behind.windows(2).any(|pair| is_one_of(&pair[0], words) && is_one_of(&pair[1], next))
    };
    if is_followed(RETURNS_ROWS, &[b"PARTITION"]) {
        return Some("the statement returns rows");
    }
    if is_followed(&[b"DROP"], &[b"FOREIGN", b"CONSTRAINT"]) {
        return Some("the statement may change what another table is referred to by");
    }
    if behind.iter().any(|token| ALTERS_OTHERS.iter().any(|word| token.is_word(word))) {
        return Some("the table definition reads other tables");
    }
    let reads_variable = |token: &Token<'_>| matches!(token.kind, Kind::UserVariable(_) | Kind::SystemVariable(_));
    behind.iter().any(reads_variable).then_some("the table definition reads a user variable")
}

/// Whether an ALTER TABLE may take data away.
pub fn alter_destroys(behind: &[Token<'_>]) -> bool {
    behind.iter().any(|token| DESTROYS.iter().any(|word| token.is_word(word)))
}

/// Whether it switches keys on or off and does nothing else.
pub fn only_switches_keys(behind: &[Token<'_>]) -> bool {
    matches!(behind, [verb, keys] if (verb.is_word(b"ENABLE") || verb.is_word(b"DISABLE")) && keys.is_word(b"KEYS"))
}

/// The tables behind the word REFERENCES.
pub fn references(all: &[Token<'_>]) -> Vec<NamedTable> {
    let mut found = Vec::new();
    for (index, token) in all.iter().enumerate() {
        if token.is_word(b"REFERENCES") {
            let _ = read_table(all, index + 1, &mut found);
        }
    }
    found
}
