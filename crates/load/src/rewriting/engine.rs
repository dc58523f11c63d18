//! `--engine OLD=NEW`: tables of one storage engine get another.

use std::fmt;
use std::str::FromStr;

use super::Edit;
use crate::lexer::{Kind, Token};

/// A storage engine, and the one that takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineMap {
    from: String,
    to: String,
}

/// Why a text maps no engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no two engines: write OLD=NEW, as in MyISAM=InnoDB")]
pub struct EngineMapError(String);

impl FromStr for EngineMap {
    type Err = EngineMapError;

    fn from_str(text: &str) -> Result<Self, EngineMapError> {
        let is_word =
            |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        match text.split_once('=') {
            Some((from, to)) if is_word(from) && is_word(to) => Ok(Self { from: from.to_owned(), to: to.to_owned() }),
            _ => Err(EngineMapError(text.to_owned())),
        }
    }
}

impl fmt::Display for EngineMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.from, self.to)
    }
}

/// The changes of the engines that a definition of a table or a sequence names, those of partitions too.
pub(super) fn edits(all: &[Token<'_>], engines: &[EngineMap]) -> Vec<Edit> {
    let Some(options) = options_of_table(all) else { return Vec::new() };
    let mut found = Vec::new();
    let mut depth = 0_usize;
    let mut has_partitions = false;
    for (index, token) in all.iter().enumerate().skip(options) {
        if token.is_symbol(b"(") {
            depth += 1;
        } else if token.is_symbol(b")") {
            depth = depth.saturating_sub(1);
        } else if token.is_word(b"SELECT") {
            // Behind the options, `WHERE engine = 'MyISAM'` compares a column.
            break;
        }
        has_partitions |= depth == 0 && token.is_word(b"PARTITION");
        // `CHECK (engine = 'MyISAM')` does so too.
        if !token.is_word(b"ENGINE") || (depth > 0 && !has_partitions) {
            continue;
        }
        let has_sign = all.get(index + 1).is_some_and(|next| next.is_symbol(b"="));
        let value = all.get(index + 1 + usize::from(has_sign));
        let Some(value) = value else { continue };
        let Some(name) = engine_name(value) else { continue };
        if let Some(engine) = engines.iter().find(|engine| engine.from.as_bytes().eq_ignore_ascii_case(name)) {
            found.push((value.offset..value.end, engine.to.clone().into_bytes()));
        }
    }
    found
}

/// Where the options of a table may begin: behind the parentheses around its columns.
fn options_of_table(all: &[Token<'_>]) -> Option<usize> {
    let first = all.first()?;
    let head = &all[..all.len().min(6)];
    let is_of = |kind: &[u8]| head.iter().any(|token| token.is_word(kind));
    if first.is_word(b"ALTER") {
        return is_of(b"TABLE").then_some(1);
    }
    if !first.is_word(b"CREATE") || !(is_of(b"TABLE") || is_of(b"SEQUENCE")) {
        return None;
    }
    let mut depth = 0_usize;
    for (index, token) in all.iter().enumerate() {
        if token.is_symbol(b"(") {
            depth += 1;
        } else if token.is_symbol(b")") {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return Some(index + 1);
            }
        } else if depth == 0 && (token.is_word(b"SELECT") || token.is_word(b"ENGINE")) {
            // No columns of its own.
            return Some(index);
        }
    }
    None
}

fn engine_name<'t>(token: &'t Token<'_>) -> Option<&'t [u8]> {
    match &token.kind {
        Kind::Word(word) => Some(word),
        Kind::QuotedIdentifier(name) => Some(name),
        Kind::String([b'\'' | b'"', name @ .., _]) => Some(name),
        _ => None,
    }
}
