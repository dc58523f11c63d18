//! Whether a definition may need keys that are missing: on a cluster, keys are built late, and not before each definition.
//!
//! A pure function of the statement. Statements that are not definitions are judged elsewhere: rows of literals, SET and USE
//! need none, and what runs while nothing else runs may need any.

use hortator_mysql::catalog::TableName;

use crate::analysis::{StatementInfo, StatementKind, Trait};

/// Whether a definition of `tables` that refers to `references` may need a key of a table of which `is_missing` holds.
/// `text` is the statement.
pub(crate) fn may_need_keys(
    info: &StatementInfo,
    text: &[u8],
    tables: &[TableName],
    references: &[TableName],
    is_missing: impl Fn(&TableName) -> bool,
) -> bool {
    if info.is(Trait::HasBody) {
        // The server parses the body and does not run it, whichever table a trigger is for. An event may run at once.
        return !DEFINES_LATER_CODE.iter().any(|word| has_word(text, word)) || has_word(text, b"EVENT");
    }
    if tables.iter().chain(references).any(is_missing) {
        return true;
    }
    match info.kind {
        // What it copies may be such a table.
        StatementKind::TableDdl => info.copies.is_some(),
        // The server looks for the keys that a view names. One without FROM reads nothing.
        StatementKind::OtherDdl if info.is(Trait::CreatesView) => has_word(text, b"FROM"),
        StatementKind::OtherDdl => false,
        _ => true,
    }
}

/// What may stand in a statement with a body whose code runs later.
const DEFINES_LATER_CODE: [&[u8]; 3] = [b"TRIGGER", b"PROCEDURE", b"FUNCTION"];

/// Whether a text has these letters anywhere, in any case.
fn has_word(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests;
