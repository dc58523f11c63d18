//! Tables that the dump holds open with HANDLER: until it closes them, they belong to its session.

use std::collections::BTreeSet;

use crate::analysis::HandlerUse;

/// Names that are kept apart; beyond that some are taken to be open for good.
const NAMES_LIMIT: usize = 1000;

/// The names that such tables are open under, in lower case.
#[derive(Debug, Default)]
pub(super) struct Handlers {
    names: BTreeSet<Vec<u8>>,
    /// More than that, or some of which the name was not understood.
    has_others: bool,
}

impl Handlers {
    /// Whether any is open.
    pub(super) fn are_open(&self) -> bool {
        self.has_others || !self.names.is_empty()
    }

    /// Takes note of a statement that has run.
    pub(super) fn note(&mut self, used: &HandlerUse) {
        match used {
            HandlerUse::Close(name) => drop(self.names.remove(name)),
            HandlerUse::Open(Some(name)) if self.names.len() < NAMES_LIMIT => drop(self.names.insert(name.clone())),
            HandlerUse::Open(_) => self.has_others = true,
        }
    }
}
