//! Tables that the dump holds open with HANDLER: until it closes them, they belong to its session.

use std::collections::BTreeSet;

use crate::lexer::{Dialect, Token, tokens};
use crate::rows::name;

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

    /// ChunkContent note of a statement that has run: `HANDLER [schema.]table OPEN [[AS] alias]` or `HANDLER name CLOSE`.
    pub(super) fn note(&mut self, text: &[u8], dialect: &Dialect) {
        let words: Vec<Token<'_>> = tokens(text, dialect).take(8).collect();
        if !words.first().is_some_and(|first| first.is_word(b"HANDLER")) {
            return;
        }
        let is_qualified = words.get(2).is_some_and(|token| token.is_symbol(b"."));
        let at = if is_qualified { 3 } else { 1 };
        let lower = |token: Option<&Token<'_>>| Some(name(token?)?.to_ascii_lowercase());
        let verb_is = |verb: &[u8]| words.get(at + 1).is_some_and(|token| token.is_word(verb));
        if verb_is(b"CLOSE") {
            if let Some(closed) = lower(words.get(at)) {
                self.names.remove(&closed);
            }
        } else if verb_is(b"OPEN") {
            let has_as = words.get(at + 2).is_some_and(|token| token.is_word(b"AS"));
            let alias = words.get(at + if has_as { 3 } else { 2 });
            match lower(alias.or(words.get(at))) {
                Some(opened) if self.names.len() < NAMES_LIMIT => drop(self.names.insert(opened)),
                _ => self.has_others = true,
            }
        }
    }
}
