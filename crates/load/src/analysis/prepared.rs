//! What a PREPARE prepares.

use super::{SessionFacts, StatementInfo, StatementKind, analyze};
use crate::lexer::{Kind, Token};

/// Whether a statement prepares nothing but a text that is known to write rows of tables.
pub(super) fn prepares_rows(all: &[Token<'_>], facts: &SessionFacts<'_>) -> bool {
    match all {
        [first, _, _, text] if first.is_word(b"PREPARE") => {
            let Kind::String([b'\'' | b'"', text @ .., _]) = text.kind else { return false };
            let is_plain = text.is_ascii() && memchr::memchr3(b'\\', b'\'', b'"', text).is_none();
            let of_rows =
                |info: StatementInfo| matches!(info.kind, StatementKind::Rows(_) | StatementKind::Write { .. });
            is_plain && of_rows(analyze(text, &SessionFacts { known_head: None, ..*facts }))
        }
        [first, ..] => !first.is_word(b"PREPARE"),
        [] => false,
    }
}
