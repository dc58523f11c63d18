//! HANDLER: tables that a statement opens or closes. Until they are closed, they belong to its session.

use crate::lexer::Token;
use crate::rows::name;

/// What a HANDLER statement does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandlerUse {
    /// It opens a table under this name, lower case; `None` where the name is not understood.
    Open(Option<Vec<u8>>),
    /// It closes what is open under this name, lower case.
    Close(Vec<u8>),
}

/// Reads `HANDLER [schema.]table OPEN [[AS] alias]` or `HANDLER name CLOSE`; `None` for one that reads rows.
pub fn handler_use(all: &[Token<'_>]) -> Option<HandlerUse> {
    let is_qualified = all.get(2).is_some_and(|token| token.is_symbol(b"."));
    let at = if is_qualified { 3 } else { 1 };
    let lower = |token: Option<&Token<'_>>| Some(name(token?)?.to_ascii_lowercase());
    let verb_is = |verb: &[u8]| all.get(at + 1).is_some_and(|token| token.is_word(verb));
    if verb_is(b"CLOSE") {
        return lower(all.get(at)).map(HandlerUse::Close);
    }
    if verb_is(b"OPEN") {
        let has_as = all.get(at + 2).is_some_and(|token| token.is_word(b"AS"));
        let alias = all.get(at + if has_as { 3 } else { 2 });
        return Some(HandlerUse::Open(lower(alias.or(all.get(at)))));
    }
    None
}
