//! Which keys of a table can be built after its rows: a pure function of what `SHOW CREATE TABLE` prints.
//!
//! The text of a key is taken over byte for byte, so that the table gets the same key again. MariaDB lists unique keys
//! first, then the others (SPATIAL among them) as they were added, then FULLTEXT as they were added. A key that is dropped and
//! added again is therefore the last of its list: only those behind the last key that stays can be deferred.

use std::collections::BTreeSet;

use hortator_mysql::catalog::DOCUMENT_NUMBER_COLUMN;
use serde::{Deserialize, Serialize};

/// A key as the server prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// Its name.
    pub name: String,
    /// Its definition, as in ``KEY `name` (`column`)``.
    pub definition: String,
}

impl Key {
    /// Whether it is a FULLTEXT key.
    pub(super) fn is_fulltext(&self) -> bool {
        self.definition.starts_with(FULLTEXT)
    }
}

/// How the server begins the definition of a FULLTEXT key.
const FULLTEXT: &str = "FULLTEXT KEY `";
/// How it begins those of the others that can be deferred.
const OTHERS: [&str; 2] = ["KEY `", "SPATIAL KEY `"];
/// How it names the parser of a FULLTEXT key: a comment that every MariaDB carries out.
const PARSER: &str = "/*!50100 WITH PARSER ";

/// Why the keys of a table stay.
pub(super) type KeptReason = &'static str;

const NOT_PRINTED: KeptReason = "the server does not print its definition in a known form";
const NO_KEYS: KeptReason = "it has no non-unique key";
const ALL_NEEDED: KeptReason =
    "its non-unique keys, or keys behind them, are needed for a foreign key or AUTO_INCREMENT";
const NUMBERS_DOCUMENTS: KeptReason = "it numbers the documents of its FULLTEXT indexes itself, in FTS_DOC_ID";
const HAS_STOPWORDS: KeptReason = "the server does not have the default list of stopwords for FULLTEXT indexes";

const COMPUTED_DEFAULT: KeptReason = "it has a default that is an expression";

/// Words behind the columns that say that a table is not deferred, and why.
const OF_TABLE: [(&str, KeptReason); 3] = [
    ("PARTITION BY", "it is partitioned"),
    ("SYSTEM VERSIONING", "it is system-versioned"),
    ("PAGE_CHECKSUM", "ALTER TABLE loses its PAGE_CHECKSUM"),
];

/// How the server begins what follows a column's default.
const BEHIND_DEFAULT: [&str; 7] = ["COMMENT", "CHECK", "ON", "INVISIBLE", "WITHOUT", "WITH", "/*"];
/// Functions in defaults whose values no definition holds.
const OF_EACH_ROW: [&str; 5] = ["current_timestamp(", "curdate(", "curtime(", "uuid(", "nextval("];

/// A table's definition, in parts.
struct Definition<'a> {
    /// What stands between the parentheses, divided at the commas.
    items: Vec<&'a [u8]>,
    /// What follows, without what is quoted.
    options: String,
}

/// Whether a definition has a FULLTEXT key.
pub(super) fn has_fulltext(definition: &[u8]) -> bool {
    divide(definition).is_some_and(|divided| divided.items.iter().any(|item| item.starts_with(FULLTEXT.as_bytes())))
}

/// The keys that can be built after the rows. `referenced`: columns that foreign keys of other tables may refer to.
/// `has_default_stopwords`: a FULLTEXT key that is built later leaves the same words out.
pub(super) fn deferrable(
    definition: &[u8],
    referenced: &BTreeSet<Vec<u8>>,
    has_default_stopwords: bool,
) -> Result<Vec<Key>, KeptReason> {
    let Definition { items, options } = divide(definition).ok_or(NOT_PRINTED)?;
    if !options.contains("ENGINE=InnoDB") {
        return Err("its engine is not InnoDB");
    }
    if let Some((_, reason)) = OF_TABLE.iter().find(|(words, _)| options.contains(words)) {
        return Err(reason);
    }
    let mut needed = referenced.clone();
    let mut keys: Vec<(Option<Key>, Vec<u8>)> = Vec::new();
    let mut fulltext: Vec<Option<Key>> = Vec::new();
    let mut fulltext_stays = (!has_default_stopwords).then_some(HAS_STOPWORDS);
    for item in items {
        let plain = unquoted(item);
        if plain.contains(" CHECK (") && (!item.is_ascii() || item.contains(&b'\\')) {
            // ALTER TABLE writes it anew, by the settings of its own session.
            return Err("it has an expression with a string that depends on the session");
        }
        if item.starts_with(b"`") {
            if plain.contains(" GENERATED ") || plain.contains(" AS (") || plain.contains(" AS ROW ") {
                // Whether the server computes a value while rows go in can depend on its keys.
                return Err("it has computed columns");
            }
            if plain.split_once(" DEFAULT ").is_some_and(|(_, default)| is_computed(default)) {
                // The server keeps the value of a constant expression, which ALTER TABLE computes anew: by another sql_mode, time
                // zone or collation.
                return Err(COMPUTED_DEFAULT);
            }
            if plain.contains("AUTO_INCREMENT") {
                needed.extend(names(item).into_iter().take(1));
            }
            if names(item).first().is_some_and(|name| name.eq_ignore_ascii_case(DOCUMENT_NUMBER_COLUMN)) {
                // With a FULLTEXT key, the server refuses rows whose numbers do not ascend.
                fulltext_stays = Some(NUMBERS_DOCUMENTS);
            }
        } else if OTHERS.iter().any(|kind| item.starts_with(kind.as_bytes())) {
            let column = names(item).into_iter().nth(1).ok_or(NOT_PRINTED)?;
            // Options that this session's mode comments out would be lost.
            keys.push((key(item)?.filter(|_| !plain.contains("/*")), column));
        } else if item.starts_with(FULLTEXT.as_bytes()) {
            fulltext.push(key(item)?.filter(|_| !plain.replacen(PARSER, "", 1).contains("/*")));
        } else if plain.contains("FOREIGN KEY") {
            needed.extend(names(item));
        }
    }
    if keys.is_empty() && fulltext.is_empty() {
        return Err(NO_KEYS);
    }
    let stays = |(key, column): &(Option<Key>, Vec<u8>)| key.is_none() || needed.contains(column);
    let first = keys.iter().rposition(stays).map_or(0, |last| last + 1);
    let mut deferred: Vec<Key> = keys.drain(first..).filter_map(|(key, _)| key).collect();
    if fulltext_stays.is_none() {
        let first = fulltext.iter().rposition(Option::is_none).map_or(0, |last| last + 1);
        deferred.extend(fulltext.drain(first..).flatten());
    }
    if deferred.is_empty() {
        Err(fulltext_stays.filter(|_| keys.is_empty()).unwrap_or(ALL_NEEDED))
    } else {
        Ok(deferred)
    }
}

/// Whether a column's default, without what is quoted, is an expression; what follows it may stand behind it.
fn is_computed(default: &str) -> bool {
    let words: Vec<&str> = default.split_whitespace().collect();
    let is_behind = |word: &str| BEHIND_DEFAULT.iter().any(|begin| word.starts_with(begin));
    let is_number = |word: &str| word.starts_with(|sign: char| sign.is_ascii_digit() || "+-.".contains(sign));
    let value = match words.first() {
        Some(word) if OF_EACH_ROW.iter().any(|function| word.starts_with(function)) => {
            words.iter().position(|word| word.ends_with(')')).map_or(words.len(), |last| last + 1)
        }
        Some(&word) if is_number(word) || ["NULL", "b", "x"].contains(&word) => 1,
        _ => 0,
    };
    words.get(value).is_some_and(|word| !is_behind(word))
}

/// A key from its definition; `None` for one that is not UTF-8.
fn key(item: &[u8]) -> Result<Option<Key>, KeptReason> {
    let name = names(item).into_iter().next().ok_or(NOT_PRINTED)?;
    let definition = String::from_utf8(item.to_vec()).ok();
    Ok(definition.zip(String::from_utf8(name).ok()).map(|(definition, name)| Key { name, definition }))
}

/// The keys by the statements that add them: InnoDB builds one FULLTEXT key at a time, and copies the table for two. The
/// first statement has all others too, which reads the rows once.
pub(super) fn by_statement<'k>(keys: &[&'k Key]) -> Vec<Vec<&'k Key>> {
    let (fulltext, mut first): (Vec<&Key>, Vec<&Key>) = keys.iter().partition(|key| key.is_fulltext());
    let mut fulltext = fulltext.into_iter();
    first.extend(fulltext.next());
    let others = fulltext.map(|key| vec![key]);
    std::iter::once(first).filter(|first| !first.is_empty()).chain(others).collect()
}

/// All names in the foreign keys that a definition holds: the columns that it refers to are among them.
pub(super) fn names_in_foreign_keys(definition: &[u8]) -> Option<BTreeSet<Vec<u8>>> {
    let items = divide(definition)?.items;
    let foreign = items.into_iter().filter(|item| !item.starts_with(b"`") && unquoted(item).contains("FOREIGN KEY"));
    Some(foreign.flat_map(names).collect())
}

/// The names of the keys that a definition holds, without the primary key.
pub(super) fn key_names(definition: &[u8]) -> Option<BTreeSet<Vec<u8>>> {
    const KINDS: [&[u8]; 4] = [b"KEY `", b"UNIQUE KEY `", b"FULLTEXT KEY `", b"SPATIAL KEY `"];
    let items = divide(definition)?.items;
    let keys = items.into_iter().filter(|item| KINDS.iter().any(|kind| item.starts_with(kind)));
    Some(keys.filter_map(|item| names(item).into_iter().next()).collect())
}

/// Divides a definition; `None` for a text of another form, such as that of a view.
fn divide(text: &[u8]) -> Option<Definition<'_>> {
    if !text.starts_with(b"CREATE TABLE ") {
        return None;
    }
    let (mut items, mut depth, mut begin, mut at) = (Vec::new(), 0_usize, 0, 0);
    while at < text.len() {
        match text[at] {
            quote @ (b'`' | b'\'' | b'"') => {
                at = end_of_quoted(text, at, quote);
                continue;
            }
            b'(' => {
                depth += 1;
                if depth == 1 {
                    begin = at + 1;
                }
            }
            b',' if depth == 1 => {
                items.push(text[begin..at].trim_ascii());
                begin = at + 1;
            }
            b')' if depth == 1 => {
                items.push(text[begin..at].trim_ascii());
                return Some(Definition { items, options: unquoted(&text[at + 1..]) });
            }
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// The position behind what is quoted from `at` on.
fn end_of_quoted(text: &[u8], at: usize, quote: u8) -> usize {
    let mut end = at + 1;
    while end < text.len() {
        if text[end] == b'\\' && quote != b'`' {
            end += 2;
        } else if text[end] != quote {
            end += 1;
        } else if text.get(end + 1) == Some(&quote) {
            end += 2;
        } else {
            return end + 1;
        }
    }
    text.len()
}

/// The text without what is quoted, a space in its place.
fn unquoted(text: &[u8]) -> String {
    let (mut plain, mut at) = (Vec::new(), 0);
    while at < text.len() {
        match text[at] {
            quote @ (b'`' | b'\'' | b'"') => {
                at = end_of_quoted(text, at, quote);
                plain.push(b' ');
            }
            byte => {
                plain.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

/// The names between backticks, in their order.
fn names(text: &[u8]) -> Vec<Vec<u8>> {
    let (mut names, mut at) = (Vec::new(), 0);
    while at < text.len() {
        match text[at] {
            quote @ (b'`' | b'\'' | b'"') => {
                let end = end_of_quoted(text, at, quote);
                if quote == b'`' {
                    let name = text[at + 1..(end - 1).max(at + 1)].to_vec();
                    names.push(single_backticks(&name));
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    names
}

fn single_backticks(name: &[u8]) -> Vec<u8> {
    let mut single = Vec::with_capacity(name.len());
    let mut bytes = name.iter();
    while let Some(&byte) = bytes.next() {
        single.push(byte);
        if byte == b'`' {
            bytes.next();
        }
    }
    single
}

#[cfg(test)]
mod tests;
