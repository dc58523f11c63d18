//! What only definitions of tables have: invisible indexes, options of storage, names of types.

use hortator_load::lexer::{Dialect, Token};

use crate::statement_text::{COLUMNS_DEPTH, Edit, depths, name_of, value_at};

/// First words of an item that is an index.
const INDEXES: [&[u8]; 6] = [b"KEY", b"INDEX", b"UNIQUE", b"FULLTEXT", b"SPATIAL", b"CONSTRAINT"];
/// Words before them in ALTER TABLE.
const VERBS: [&[u8]; 2] = [b"ADD", b"ALTER"];

/// Edits the text of CREATE or ALTER TABLE.
pub(super) fn edit(all: &[Token<'_>], dialect: &Dialect, edits: &mut Vec<Edit>) {
    let is_alter = all.first().is_some_and(|verb| verb.is_word(b"ALTER"));
    let depths = depths(all);
    // Items stand in the parentheses of CREATE, and behind the table's name in ALTER.
    let level = if is_alter { 0 } else { COLUMNS_DEPTH };
    let mut is_index = false;
    for (index, token) in all.iter().enumerate() {
        let depth = depths[index];
        if depth == level {
            let first = match index.checked_sub(1).map(|before| &all[before]) {
                Some(before) if before.is_symbol(b"(") || before.is_symbol(b",") => true,
                Some(before) => is_alter && VERBS.iter().any(|verb| before.is_word(verb)),
                None => false,
            };
            if first {
                is_index = INDEXES.iter().any(|word| token.is_word(word));
            }
            if is_index && token.is_word(b"INVISIBLE") {
                edits.push(Edit::replace(token, "IGNORED"));
            } else if is_index && token.is_word(b"VISIBLE") {
                edits.push(Edit::replace(token, "NOT IGNORED"));
            }
            if token.is_word(b"GEOMCOLLECTION") {
                edits.push(Edit::replace(token, "GEOMETRYCOLLECTION"));
            }
        }
        if depth == 0 && !is_alter {
            storage(all, index, dialect, edits);
        }
    }
}

/// Options that say how InnoDB stores a new table.
fn storage(all: &[Token<'_>], index: usize, dialect: &Dialect, edits: &mut Vec<Edit>) {
    let token = &all[index];
    let Some(value) = value_at(all, index + 1) else { return };
    let mut put = |text: &str| edits.push(Edit { start: token.offset, end: value.end, text: text.to_owned() });
    if token.is_word(b"COMPRESSION") {
        let is_none = name_of(value, dialect).is_none_or(|name| name.is_empty() || name.eq_ignore_ascii_case("none"));
        put(if is_none { "" } else { "PAGE_COMPRESSED=1" });
    } else if token.is_word(b"AUTOEXTEND_SIZE") {
        put("");
    }
}
