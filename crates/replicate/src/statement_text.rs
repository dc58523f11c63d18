//! Parts of a statement's text, and what they become.

use hortator_load::lexer::{Dialect, Kind, Token, decode_string};

/// A part of the text that becomes another one.
pub(crate) struct Edit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) text: String,
}

impl Edit {
    /// In the place of a token.
    pub(crate) fn replace(token: &Token<'_>, text: &str) -> Edit {
        Edit { start: token.offset, end: token.end, text: text.to_owned() }
    }
}

/// The token of an option's value, which may have `=` before it.
pub(crate) fn value_at<'a, 't>(all: &'a [Token<'t>], index: usize) -> Option<&'a Token<'t>> {
    let has_sign = all.get(index)?.is_symbol(b"=");
    all.get(if has_sign { index + 1 } else { index })
}

pub(crate) fn name_of(token: &Token<'_>, dialect: &Dialect) -> Option<String> {
    let bytes = match &token.kind {
        Kind::Word(word) => word.to_vec(),
        Kind::QuotedIdentifier(name) => name.to_vec(),
        Kind::String(raw) => decode_string(raw, dialect).into_owned(),
        _ => return None,
    };
    String::from_utf8(bytes).ok()
}

/// Columns stand in one pair of parentheses, their expressions in further ones.
pub(crate) const COLUMNS_DEPTH: usize = 1;

/// In how many pairs of parentheses each token stands.
pub(crate) fn depths(all: &[Token<'_>]) -> Vec<usize> {
    let mut depth = 0usize;
    let mut depths = Vec::with_capacity(all.len());
    for token in all {
        if token.is_symbol(b")") {
            depth = depth.saturating_sub(1);
        }
        depths.push(depth);
        if token.is_symbol(b"(") {
            depth += 1;
        }
    }
    depths
}

/// Whether a name in a statement is that of a character set.
pub(crate) fn is_charset(name: &str, charset: &str) -> bool {
    name.eq_ignore_ascii_case(charset) || charset == "utf8mb3" && name.eq_ignore_ascii_case("utf8")
}

/// Names the collation that a source takes where CREATE or ALTER of a table or a schema names this character set only: the
/// target's default is another one.
pub(crate) fn name_collation(
    all: &[Token<'_>],
    dialect: &Dialect,
    charset: &str,
    collation: &str,
    is_table: bool,
    edits: &mut Vec<Edit>,
) {
    let is_character = |token: &Token<'_>| token.is_word(b"CHARACTER") || token.is_word(b"CHAR");
    let is_alter = all.first().is_some_and(|verb| verb.is_word(b"ALTER"));
    let depths = depths(all);
    for (index, token) in all.iter().enumerate().filter(|(index, _)| depths[*index] <= COLUMNS_DEPTH) {
        let behind = match token {
            token if token.is_word(b"CHARSET") => index + 1,
            token if is_character(token) && all.get(index + 1).is_some_and(|next| next.is_word(b"SET")) => index + 2,
            _ => continue,
        };
        let Some(value) = value_at(all, behind) else { continue };
        // BINARY before or behind it stands for a collation.
        let is_binary = |at: Option<usize>| at.and_then(|at| all.get(at)).is_some_and(|token| token.is_word(b"BINARY"));
        let next = all.partition_point(|token| token.offset <= value.offset);
        let is_it = name_of(value, dialect).is_some_and(|name| is_charset(&name, charset));
        if !is_it || is_binary(index.checked_sub(1)) || is_binary(Some(next)) {
            continue;
        }
        // An item ends at a comma. The options of a new table or of a schema are one.
        let is_one = depths[index] == 0 && !(is_table && is_alter);
        let ends = |other: &usize| {
            depths[*other] < depths[index] || depths[*other] == depths[index] && all[*other].is_symbol(b",") && !is_one
        };
        let first = (0..index).rev().find(ends).map_or(0, |end| end + 1);
        let last = (index..all.len()).find(ends).unwrap_or(all.len());
        let of_item = (first..last).find(|other| depths[*other] == depths[index] && all[*other].is_word(b"COLLATE"));
        match of_item.map(|other| value_at(all, other + 1)) {
            None => edits.push(Edit { start: value.end, end: value.end, text: format!(" COLLATE {collation}") }),
            Some(Some(named)) if named.is_word(b"DEFAULT") => edits.push(Edit::replace(named, collation)),
            Some(_) => {}
        }
    }
}

/// The text with the edits; `None` without one.
pub(crate) fn apply(text: &[u8], mut edits: Vec<Edit>) -> Option<Vec<u8>> {
    if edits.is_empty() {
        return None;
    }
    edits.sort_by_key(|edit| (edit.start, edit.end));
    let mut found = Vec::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        // Nothing is taken twice.
        found.extend_from_slice(text.get(at..edit.start).unwrap_or_default());
        found.extend_from_slice(edit.text.as_bytes());
        at = at.max(edit.end);
    }
    found.extend_from_slice(&text[at..]);
    Some(found)
}
