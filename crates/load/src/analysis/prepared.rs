//! Statements that the dump prepares and executes by name.

use super::{JournalMode, NamedTable, SessionFacts, StatementInfo, StatementKind, Trait, analyze, name};
use crate::lexer::{Kind, Token};

/// What a statement does with one that has a name. Names are in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prepared {
    /// PREPARE of a text that is known to write rows of tables: what that does.
    Rows(Vec<u8>, Box<StatementInfo>),
    /// PREPARE of any other text.
    Other(Vec<u8>),
    /// EXECUTE, with nothing but variables and constants for its values.
    Executed(Vec<u8>),
}

/// Why it stays in the main session.
const REASON: &str = "a prepared statement belongs to its session";

/// What a PREPARE or an EXECUTE does.
pub(super) fn prepared(all: &[Token<'_>], facts: &SessionFacts<'_>) -> Option<Prepared> {
    let [verb, of, behind @ ..] = all else { return None };
    let executes = verb.is_word(b"EXECUTE");
    if !executes && !verb.is_word(b"PREPARE") {
        return None;
    }
    let of = name(of)?.to_ascii_lowercase();
    if executes {
        return takes_variables(behind).then_some(Prepared::Executed(of));
    }
    Some(match text_of(behind).map(|text| analyze(text, &SessionFacts { known_head: None, ..*facts })) {
        Some(info) if matches!(info.kind, StatementKind::Rows(_) | StatementKind::Write { .. }) => {
            let kind = StatementKind::Write { reason: REASON };
            Prepared::Rows(of, Box::new(StatementInfo { kind, ..info }))
        }
        _ => Prepared::Other(of),
    })
}

/// The text behind `PREPARE s`, where it is a literal without anything to decode.
fn text_of<'a>(behind: &[Token<'a>]) -> Option<&'a [u8]> {
    let [from, literal] = behind else { return None };
    let Kind::String([b'\'' | b'"', text @ .., _]) = literal.kind else { return None };
    let is_plain = from.is_word(b"FROM") && text.is_ascii() && memchr::memchr3(b'\\', b'\'', b'"', text).is_none();
    is_plain.then_some(text)
}

/// Whether what stands behind `EXECUTE s` calls nothing.
fn takes_variables(behind: &[Token<'_>]) -> bool {
    let Some((using, values)) = behind.split_first() else { return true };
    let is_plain = |token: &Token<'_>| {
        token.is_symbol(b",") || matches!(token.kind, Kind::UserVariable(_) | Kind::String(_) | Kind::Number(_))
    };
    using.is_word(b"USING") && values.iter().all(is_plain)
}

impl StatementInfo {
    /// For a statement that was prepared while this was the default schema: its tables are of that one.
    pub(crate) fn qualified(mut self, database: Option<&[u8]>) -> Self {
        let qualify = |named: &mut NamedTable| {
            if named.schema.is_none() {
                named.schema = database.map(<[u8]>::to_vec);
            }
        };
        self.tables.iter_mut().chain(&mut self.changes).for_each(qualify);
        self
    }

    /// What an EXECUTE of a statement is that does this, with values that come from variables.
    pub(crate) fn executed(&self) -> Self {
        let traits = self.traits.with(Trait::ReadsSession);
        Self { journal: JournalMode::Rows, traits, ..self.clone() }
    }
}
