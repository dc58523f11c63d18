//! Foreign keys that change rows by themselves: the source's log does not have these changes, so that a rule cannot leave them
//! out.

use hortator_load::lexer::{Dialect, Token, tokens};

use super::names::Definition;
use super::statement::BY_HAND;
use super::{Change, Decision, Rule, Rules};

/// What a foreign key does by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cascade {
    /// The words of its definition.
    pub(crate) words: [&'static str; 3],
    /// The change of the table that it refers to.
    pub(crate) parent: Change,
    /// The change of its own table.
    pub(crate) own: Change,
    /// That in words.
    pub(crate) verb: &'static str,
}

/// All of them. SET NULL and SET DEFAULT begin with the same words.
pub(crate) const CASCADES: [Cascade; 4] = [
    Cascade { words: ["ON", "DELETE", "CASCADE"], parent: Change::Delete, own: Change::Delete, verb: "deletes" },
    Cascade { words: ["ON", "DELETE", "SET"], parent: Change::Delete, own: Change::Update, verb: "changes" },
    Cascade { words: ["ON", "UPDATE", "CASCADE"], parent: Change::Update, own: Change::Update, verb: "changes" },
    Cascade { words: ["ON", "UPDATE", "SET"], parent: Change::Update, own: Change::Update, verb: "changes" },
];

/// Why a definition would change rows that a rule keeps as they are.
pub(super) fn objection(
    rules: &Rules,
    rule: &Rule,
    (schema, table): (&[u8], &[u8]),
    default: &[u8],
    found: &Definition,
    text: &[u8],
    dialect: &Dialect,
) -> Option<String> {
    if !matches!(found.change, Change::Create | Change::Alter) {
        return None;
    }
    let all: Vec<Token<'_>> = tokens(text, dialect).collect();
    let is_applied = |change: Change| {
        found.names.iter().filter(|named| named.is_read).any(|named| {
            match rules.decide(named.schema.as_deref().unwrap_or(default), &named.name) {
                Decision::AsIs => true,
                Decision::LeaveOut => false,
                Decision::Apply(parent) => !parent.leaves_out(change),
            }
        })
    };
    let has = |cascade: &&Cascade| {
        let is_it =
            |some: &[Token<'_>]| some.iter().zip(cascade.words).all(|(token, word)| token.is_word(word.as_bytes()));
        rule.leaves_out(cascade.own) && all.windows(cascade.words.len()).any(is_it) && is_applied(cascade.parent)
    };
    let Cascade { words, own, verb, .. } = CASCADES.iter().find(has)?;
    Some(format!(
        "its foreign key {verb} rows of {}.{} with those of another table ({}), and a rule leaves {} out: {BY_HAND}, without \
         the foreign key",
        String::from_utf8_lossy(schema),
        String::from_utf8_lossy(table),
        words.join(" "),
        own.word(),
    ))
}
