//! Where a definition names the type of a column: a word there is no name, though a name may be the same word.

use hortator_load::lexer::{Kind, Token};

use crate::statement_text::{COLUMNS_DEPTH, depths};

/// Reserved words that stand where a column's name may stand.
const NO_NAMES: [&[u8]; 9] =
    [b"KEY", b"INDEX", b"CONSTRAINT", b"UNIQUE", b"FULLTEXT", b"SPATIAL", b"COLUMN", b"PARTITION", b"LIKE"];
/// Words between the first of a type and UNICODE.
const WITHIN_TYPES: [&[u8]; 4] = [b"BINARY", b"COMPRESSED", b"VARYING", b"VARCHAR"];

/// The tokens of CREATE or ALTER TABLE.
pub(super) struct TypePlaces<'a, 't> {
    all: &'a [Token<'t>],
    depths: Vec<usize>,
    /// Where its SELECT begins.
    pub(super) select: usize,
}

impl<'a, 't> TypePlaces<'a, 't> {
    pub(super) fn of(all: &'a [Token<'t>]) -> TypePlaces<'a, 't> {
        let select = all.iter().position(|token| token.is_word(b"SELECT")).unwrap_or(all.len());
        TypePlaces { all, depths: depths(all), select }
    }

    /// Whether a type begins here.
    pub(super) fn begins(&self, index: usize) -> bool {
        let Some(before) = index.checked_sub(1) else { return false };
        match index > self.select {
            true => self.is_in_cast(index),
            false => self.is_column(before),
        }
    }

    /// Whether this is an attribute right behind a type.
    pub(super) fn is_behind(&self, index: usize) -> bool {
        let mut at = index;
        while let Some(before) = at.checked_sub(1) {
            at = before;
            if self.all[at].is_symbol(b")") {
                let Some(opening) = self.opening(at, self.depths[at]) else { return false };
                at = opening;
            } else if self.begins(at) {
                return true;
            } else if !WITHIN_TYPES.iter().any(|word| self.all[at].is_word(word)) {
                return false;
            }
        }
        false
    }

    /// The parenthesis of this depth in which a token stands.
    fn opening(&self, index: usize, depth: usize) -> Option<usize> {
        (0..=index).rev().find(|at| self.depths[*at] == depth && self.all[*at].is_symbol(b"("))
    }

    /// `CAST(… AS type)` and `CONVERT(…, type)`.
    fn is_in_cast(&self, index: usize) -> bool {
        let Some(depth) = self.depths[index].checked_sub(1) else { return false };
        let function = self.opening(index - 1, depth).and_then(|opening| opening.checked_sub(1));
        let (Some(function), before) = (function, &self.all[index - 1]) else { return false };
        let function = &self.all[function];
        function.is_word(b"CAST") && before.is_word(b"AS") || function.is_word(b"CONVERT") && before.is_symbol(b",")
    }

    /// Whether this is the name of a column that is defined.
    fn is_column(&self, index: usize) -> bool {
        let token = &self.all[index];
        let is_name = matches!(token.kind, Kind::Word(_) | Kind::QuotedIdentifier(_));
        let Some(before) = index.checked_sub(1) else { return false };
        if !is_name || NO_NAMES.iter().any(|word| token.is_word(word)) || self.depths[index] > COLUMNS_DEPTH {
            return false;
        }
        let is_before = |word: &[u8]| self.all[before].is_word(word);
        let begins_item = self.all[before].is_symbol(b"(") || self.all[before].is_symbol(b",");
        let is_second = !is_before(b"COLUMN") && !is_before(b"EXISTS");
        begins_item && self.depths[index] == COLUMNS_DEPTH
            || self.is_behind_verb(index, &[b"ADD", b"MODIFY"])
            || is_second && self.is_behind_verb(before, &[b"CHANGE"])
    }

    /// Whether a name stands behind one of these: `ADD COLUMN IF NOT EXISTS name`.
    fn is_behind_verb(&self, index: usize, verbs: &[&[u8]]) -> bool {
        let mut before = self.all[..index].iter().rev().peekable();
        let mut is_there = |word: &[u8]| before.next_if(|token| token.is_word(word)).is_some();
        if is_there(b"EXISTS") {
            is_there(b"NOT");
            is_there(b"IF");
        }
        is_there(b"COLUMN");
        before.next().is_some_and(|token| verbs.iter().any(|verb| token.is_word(verb)))
    }
}
