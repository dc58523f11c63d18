//! Texts that hold several statements.

use super::{JournalMode, SessionFacts, StatementInfo, Trait, Traits, analyze_one};
use crate::lexer::Token;

/// A text that holds several statements: it runs exclusively, and does what any of them does.
pub(super) fn multi_statement(text: &[u8], several: &[&[Token<'_>]], facts: &SessionFacts<'_>) -> StatementInfo {
    let always = Traits::of(&[Trait::SessionBound, Trait::SeveralStatements, Trait::NumbersRows]);
    let mut info = StatementInfo::exclusive("several statements in one text", JournalMode::Intent, always);
    let mut harmless = true;
    for part in several {
        let found = analyze_one(text, part, facts);
        harmless &= found.is(Trait::NoRows);
        info.traits = info.traits.with_all(found.traits);
        info.assignments.session_local.extend(found.assignments.session_local);
        info.assignments.propagated.extend(found.assignments.propagated);
        info.assignments.is_one_shot |= found.assignments.is_one_shot;
        info.assignments.beyond_session |= found.assignments.beyond_session;
        info.diagnostics = info.diagnostics.or(found.diagnostics);
        info.schema = info.schema.or(found.schema);
        info.tables.extend(found.tables);
        info.handler = info.handler.or(found.handler);
    }
    // What holds for a part does not hold for all.
    let of_one =
        [Trait::Idempotent, Trait::OfSavepoint, Trait::BringsRows, Trait::ExecutesPrepared, Trait::RunsRoutine];
    for of_one in of_one {
        info.traits = info.traits.without(of_one);
    }
    if !harmless {
        info.traits = info.traits.without(Trait::NoRows);
    }
    info
}
