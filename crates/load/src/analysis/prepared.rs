//! Statements that the dump prepares and executes: by name, or at once (EXECUTE IMMEDIATE).
//!
//! ```text
//!   the text writes rows               ──► what that statement is
//!   it locks, unlocks, or is of XA     ──► what that statement is, always sent: the server may not know the name
//!   it is of a transaction             ──► an EXECUTE that may do anything, with what it does to the transaction
//! ```

use std::borrow::Cow;

use super::{JournalMode, NamedTable, SessionFacts, StatementInfo, StatementKind, Trait, Traits, analyze, name};
use crate::lexer::{Kind, Token, decode_string};

/// What a statement does with one that has a name. Names are in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prepared {
    /// PREPARE of a text of which it is known what it does: what an EXECUTE of it is.
    Known(Vec<u8>, Box<StatementInfo>),
    /// PREPARE of any other text.
    Other(Vec<u8>),
    /// EXECUTE, with nothing but variables and constants for its values.
    Executed(Vec<u8>),
}

/// Why it stays in the main session.
const REASON: &str = "a prepared statement belongs to its session";

/// What a text does to locks and XA transactions.
const LOCKS_AND_XA: [Trait; 5] = [Trait::Locks, Trait::Unlocks, Trait::MayLockServer, Trait::BeginsXa, Trait::EndsXa];
/// What a text does to the transaction or its session, of which the server's status does not tell.
const OF_TRANSACTION: [Trait; 3] = [Trait::RollsBack, Trait::OfSavepoint, Trait::EndsSession];

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
    let [from, literal] = behind else { return Some(Prepared::Other(of)) };
    let known = from.is_word(b"FROM").then(|| text_of(literal, facts)).flatten().and_then(|text| {
        let info = analyze(&text, &SessionFacts { known_head: None, ..*facts });
        match info.kind {
            StatementKind::Rows(_) | StatementKind::Write { .. } => Some(info.executed()),
            _ => info.of_locks().or_else(|| info.of_transaction(analyze(b"EXECUTE s", facts))),
        }
    });
    Some(match known {
        Some(info) => Prepared::Known(of, Box::new(info)),
        None => Prepared::Other(of),
    })
}

/// What an EXECUTE IMMEDIATE of a literal is, where that is known. `execute`: what any EXECUTE IMMEDIATE is.
pub(super) fn immediate(all: &[Token<'_>], execute: StatementInfo, facts: &SessionFacts<'_>) -> StatementInfo {
    let [verb, at_once, literal] = all else { return execute };
    if !verb.is_word(b"EXECUTE") || !at_once.is_word(b"IMMEDIATE") {
        return execute;
    }
    let Some(text) = text_of(literal, facts) else { return execute };
    let info = analyze(&text, &SessionFacts { known_head: None, ..*facts });
    info.of_locks().or_else(|| info.of_transaction(execute.clone())).unwrap_or(execute)
}

/// The text that a literal holds. Other bytes than those of ASCII depend on the character set.
fn text_of<'a>(literal: &Token<'a>, facts: &SessionFacts<'_>) -> Option<Cow<'a, [u8]>> {
    let Kind::String(raw @ [b'\'' | b'"', ..]) = literal.kind else { return None };
    raw.is_ascii().then(|| decode_string(raw, &facts.dialect))
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

    /// What an EXECUTE of this statement is, which writes rows, with values that come from variables.
    fn executed(self) -> Self {
        let traits = self.traits.with(Trait::ReadsSession);
        let kind = StatementKind::Write { reason: REASON };
        Self { kind, journal: JournalMode::Rows, traits, ..self }
    }

    /// What an EXECUTE of this statement is, if it does nothing but to lock, to unlock, or to be part of an XA transaction.
    fn of_locks(&self) -> Option<Self> {
        let is_more = self.is(Trait::SeveralStatements) || self.is(Trait::MayDoAnything);
        if is_more || !LOCKS_AND_XA.into_iter().any(|one| self.is(one)) {
            return None;
        }
        let reason = match self.kind {
            StatementKind::Exclusive { reason } => reason,
            _ => REASON,
        };
        Some(Self { kind: StatementKind::Exclusive { reason }, ..self.clone() })
    }

    /// What `execute`, an EXECUTE of this statement, is, if this is one of those that act on a transaction.
    fn of_transaction(&self, execute: Self) -> Option<Self> {
        let found: Vec<Trait> = OF_TRANSACTION.into_iter().filter(|one| self.is(*one)).collect();
        let traits = execute.traits.with_all(Traits::of(&found));
        (!found.is_empty() && !self.is(Trait::SeveralStatements)).then_some(Self { traits, ..execute })
    }
}
