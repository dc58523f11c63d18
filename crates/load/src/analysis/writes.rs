//! Which table a statement writes rows of, and where they come from.

use super::{NamedTable, StatementInfo, StatementKind, Trait, pattern};
use crate::lexer::Token;

/// The table of an UPDATE or a DELETE of one table; `None` for other forms.
pub(crate) fn changed_table(all: &[Token<'_>]) -> Option<NamedTable> {
    const OPTIONS: [&[u8]; 4] = [b"LOW_PRIORITY", b"QUICK", b"IGNORE", b"FROM"];
    let is_delete = all.first()?.is_word(b"DELETE");
    let at = 1 + all[1..].iter().take_while(|token| OPTIONS.iter().any(|word| token.is_word(word))).count();
    let mut tables = Vec::new();
    let end = pattern::read_table(all, at, &mut tables)?;
    let next: &[&[u8]] = if is_delete { &[b"WHERE", b"ORDER", b"LIMIT", b"RETURNING"] } else { &[b"SET"] };
    let is_single = match all.get(end) {
        None => is_delete,
        Some(token) => next.iter().any(|word| token.is_word(word)),
    };
    let names_one = is_single && (!is_delete || all[at - 1].is_word(b"FROM"));
    tables.pop().filter(|_| names_one)
}

/// An INSERT whose values are not all literals, or come from elsewhere.
pub(super) fn insert(all: &[Token<'_>], info: &mut StatementInfo) -> StatementKind {
    let mut at = 1;
    let is_word = |at: usize, word: &[u8]| all.get(at).is_some_and(|token| token.is_word(word));
    while ["LOW_PRIORITY", "HIGH_PRIORITY", "IGNORE", "INTO"].iter().any(|word| is_word(at, word.as_bytes())) {
        at += 1;
    }
    let Some(end) = pattern::read_table(all, at, &mut info.tables) else {
        return StatementKind::Exclusive { reason: "INSERT of an unknown form" };
    };
    if all[end..].iter().any(|token| token.is_word(b"DUPLICATE")) {
        info.traits = info.traits.with(Trait::UpdatesDuplicates);
    }
    let from_values = all[end..].iter().any(|token| token.is_word(b"VALUES") || token.is_word(b"VALUE"));
    let reads_tables = all[end..].iter().any(|token| token.is_word(b"SELECT") || token.is_word(b"TABLE"));
    if from_values && !reads_tables {
        let returns = info.is(Trait::ReturnsRows);
        StatementKind::Write { reason: if returns { "it returns rows" } else { "the values are not all literals" } }
    } else {
        info.traits = info.traits.with(Trait::AnyEngine);
        StatementKind::Write { reason: "the rows do not come from VALUES" }
    }
}
