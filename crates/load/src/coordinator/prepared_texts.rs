//! What the statements do that the dump has prepared: an EXECUTE of one is what that statement is.

use std::collections::HashMap;

use crate::analysis::{Prepared, StatementInfo, StatementKind, Trait};

/// Statements remembered; of those beyond that nothing is known.
const LIMIT: usize = 1000;

/// Prepared statements of the main session.
#[derive(Debug, Default)]
pub(super) struct PreparedTexts {
    /// Those of which it is known what they do, by name: what an EXECUTE of each is.
    known: HashMap<Vec<u8>, StatementInfo>,
    /// There are, or were, others than those that write rows of tables.
    has_others: bool,
}

impl PreparedTexts {
    /// A statement is about to run while this is the default schema: it may prepare others.
    pub(super) fn note(&mut self, info: &StatementInfo, database: Option<&[u8]>) {
        let is_one = info.is(Trait::RunsRoutine) || info.is(Trait::ExecutesPrepared);
        let is_any =
            (info.is(Trait::MayDoAnything) && !is_one) || info.is(Trait::Compound) || info.is(Trait::SeveralStatements);
        match &info.prepared {
            _ if is_any => self.are_unknown(),
            Some(Prepared::Known(name, info)) if self.known.len() < LIMIT => {
                self.has_others |= !matches!(info.kind, StatementKind::Write { .. });
                self.known.insert(name.clone(), (**info).clone().qualified(database));
            }
            Some(Prepared::Known(name, _) | Prepared::Other(name)) => {
                self.known.remove(name);
                self.has_others = true;
            }
            Some(Prepared::Executed(_)) | None => {}
        }
    }

    /// Any may have been prepared, under any name.
    pub(super) fn are_unknown(&mut self) {
        self.known.clear();
        self.has_others = true;
    }

    /// Whether none does anything else than to write rows.
    pub(super) fn are_of_rows(&self) -> bool {
        !self.has_others
    }

    /// What a statement does that may be an EXECUTE.
    pub(super) fn resolve(&self, info: Box<StatementInfo>) -> Box<StatementInfo> {
        match &info.prepared {
            Some(Prepared::Executed(name)) => match self.known.get(name) {
                Some(prepared) => Box::new(prepared.clone()),
                None => info,
            },
            _ => info,
        }
    }
}
