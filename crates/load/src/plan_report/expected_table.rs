//! What a definition's text shows of a table that is not there yet.

use crate::lexer::{Dialect, Kind};

/// What a definition's text shows of a table that is not there yet.
#[derive(Clone, Debug, Default)]
pub(super) struct ExpectedTable {
    /// The AUTO_INCREMENT column.
    pub(super) id_column: Option<Vec<u8>>,
    /// Its engine cannot roll back: its rows travel as text.
    pub(super) is_text: bool,
    /// A default value names a variable.
    pub(super) reads_variables: bool,
}

impl ExpectedTable {
    pub(super) fn of_text(text: &[u8], dialect: &Dialect) -> Self {
        let mut expected = Self::default();
        let mut depth = 0_usize;
        let mut first = None;
        let mut begins = false;
        let mut names_engine = false;
        for token in crate::lexer::tokens(text, dialect) {
            expected.reads_variables |= matches!(token.kind, Kind::UserVariable(_) | Kind::SystemVariable(_));
            if token.is_symbol(b"(") {
                depth += 1;
                begins = depth == 1;
            } else if token.is_symbol(b")") {
                depth = depth.saturating_sub(1);
            } else if token.is_symbol(b",") {
                begins = depth == 1;
            } else if begins {
                first = crate::rows::name(&token);
                begins = false;
            } else if token.is_word(b"AUTO_INCREMENT") && depth == 1 {
                expected.id_column = expected.id_column.take().or(first.clone());
            } else if depth == 0 && token.is_word(b"ENGINE") {
                names_engine = true;
            } else if names_engine && !token.is_symbol(b"=") {
                expected.is_text = !token.is_word(b"InnoDB") && !token.is_word(b"ROCKSDB");
                names_engine = false;
            }
        }
        expected
    }
}
