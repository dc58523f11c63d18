//! The tables and schemas that a definition names, and where in its text: for those forms of statements in which the names
//! stand in known places.

use hortator_load::lexer::{Dialect, Kind, Token, tokens};

use super::Change;

/// A name in a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// The schema, where the statement gives one.
    pub(super) schema: Option<Vec<u8>>,
    /// The table; of a schema's own statements the schema. ALTER DATABASE of the default schema has none.
    pub(super) name: Vec<u8>,
    /// Where it stands in the text, from its first byte to behind its last.
    pub(super) start: usize,
    pub(super) end: usize,
    /// It is behind REFERENCES or LIKE: it is read and not changed.
    pub(super) is_read: bool,
}

/// A statement of a known form.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Definition {
    pub(super) change: Change,
    /// It is about a schema, not about tables.
    pub(super) is_of_schema: bool,
    /// Its tables are a list of which some may be left out.
    pub(super) is_list: bool,
    pub(super) names: Vec<Named>,
    /// `OR REPLACE` stands in it.
    pub(super) replaces: bool,
    /// `IF [NOT] EXISTS` stands before the first name.
    pub(super) has_if: bool,
}

/// What the words of a statement's beginning say: the words, what it changes, whether it is about a schema, whether a list of
/// names follows. `?` stands before words that may be left out.
const HEADS: &[(&str, Change, bool, bool)] = &[
    ("CREATE ?OR ?REPLACE TABLE", Change::Create, false, false),
    ("CREATE ?OR ?REPLACE SEQUENCE", Change::Create, false, false),
    ("ALTER ?ONLINE ?IGNORE TABLE", Change::Alter, false, false),
    ("ALTER SEQUENCE", Change::Alter, false, false),
    ("DROP TABLE", Change::Drop, false, true),
    ("DROP SEQUENCE", Change::Drop, false, true),
    ("TRUNCATE ?TABLE", Change::Truncate, false, false),
    ("ANALYZE ?LOCAL ?NO_WRITE_TO_BINLOG TABLE", Change::Maintain, false, true),
    ("OPTIMIZE ?LOCAL ?NO_WRITE_TO_BINLOG TABLE", Change::Maintain, false, true),
    ("REPAIR ?LOCAL ?NO_WRITE_TO_BINLOG TABLE", Change::Maintain, false, true),
    ("FLUSH ?LOCAL ?NO_WRITE_TO_BINLOG TABLES", Change::Maintain, false, true),
    ("FLUSH ?LOCAL ?NO_WRITE_TO_BINLOG TABLE", Change::Maintain, false, true),
    ("RENAME TABLE", Change::Alter, false, false),
    ("CREATE ?OR ?REPLACE ?UNIQUE ?FULLTEXT ?SPATIAL INDEX", Change::Alter, false, false),
    ("DROP INDEX", Change::Alter, false, false),
    ("CREATE ?OR ?REPLACE DATABASE", Change::Create, true, false),
    ("CREATE ?OR ?REPLACE SCHEMA", Change::Create, true, false),
    ("ALTER DATABASE", Change::Alter, true, false),
    ("ALTER SCHEMA", Change::Alter, true, false),
    ("DROP DATABASE", Change::Drop, true, false),
    ("DROP SCHEMA", Change::Drop, true, false),
];

/// What stands behind ALTER DATABASE where it is about the default schema.
const OF_DEFAULT_SCHEMA: [&[u8]; 5] = [b"DEFAULT", b"CHARACTER", b"CHARSET", b"COLLATE", b"COMMENT"];

/// Words that make a definition one of no known form: what they bring names tables in other places.
const BEYOND: [&[u8]; 4] = [b"SELECT", b"VALUES", b"UNION", b"TABLESPACE"];

/// Reads a statement; `None` for a form that is not known.
pub(super) fn definition(text: &[u8], dialect: &Dialect) -> Option<Definition> {
    let all: Vec<Token<'_>> = tokens(text, dialect).filter(|token| !token.is_symbol(b";")).collect();
    let (head, mut at) = HEADS.iter().find_map(|head| Some((head, behind_head(head.0, &all)?)))?;
    let &(words, change, is_of_schema, is_list) = head;
    let replaces = at > 2 && all.get(1).is_some_and(|token| token.is_word(b"OR"));
    let mut found = Definition { change, is_of_schema, is_list, names: Vec::new(), replaces, has_if: false };
    if has_word(&all, at, b"IF") {
        found.has_if = true;
        at += if has_word(&all, at + 1, b"NOT") { 3 } else { 2 };
    }
    let beyond = |word: &&[u8]| {
        all.iter().enumerate().any(|(index, token)| {
            // Partitions by range have VALUES LESS THAN, VALUES IN, and VALUES (…) for one.
            let is_of_partition = *word == b"VALUES" && index > 2 && is_partition_value(&all, index);
            token.is_word(word) && !is_of_partition
        })
    };
    if !is_of_schema && BEYOND.iter().any(beyond) {
        return None;
    }
    if is_of_schema {
        let token = all.get(at)?;
        if change == Change::Alter && OF_DEFAULT_SCHEMA.iter().any(|word| token.is_word(word)) {
            return Some(found);
        }
        found.names.push(Named {
            schema: None,
            name: name(token)?,
            start: token.offset,
            end: token.end,
            is_read: false,
        });
        return Some(found);
    }
    if words.ends_with("INDEX") {
        name(all.get(at)?)?;
        at += 1;
        while !has_word(&all, at, b"ON") {
            all.get(at)?;
            at += 1;
        }
        read(&all, at + 1, false, &mut found.names)?;
    } else if words == "RENAME TABLE" {
        read_renames(&all, at, &mut found.names)?;
    } else {
        at = read(&all, at, false, &mut found.names)?;
        while is_list && all.get(at).is_some_and(|token| token.is_symbol(b",")) {
            at = read(&all, at + 1, false, &mut found.names)?;
        }
        if !is_list {
            read_further(&all, at, change, &mut found.names)?;
        }
    }
    Some(found)
}

/// `VALUES LESS THAN`, `VALUES IN`: behind `PARTITION name`.
fn is_partition_value(all: &[Token<'_>], index: usize) -> bool {
    has_word(all, index + 1, b"LESS") || has_word(all, index + 1, b"IN")
}

/// The place behind the words of a head.
fn behind_head(words: &str, all: &[Token<'_>]) -> Option<usize> {
    let mut at = 0;
    for word in words.split(' ') {
        match word.strip_prefix('?') {
            Some(word) => at += usize::from(has_word(all, at, word.as_bytes())),
            None if has_word(all, at, word.as_bytes()) => at += 1,
            None => return None,
        }
    }
    Some(at)
}

fn has_word(all: &[Token<'_>], at: usize, word: &[u8]) -> bool {
    all.get(at).is_some_and(|token| token.is_word(word))
}

pub(super) fn name(token: &Token<'_>) -> Option<Vec<u8>> {
    match &token.kind {
        Kind::Word(word) => Some(word.to_vec()),
        Kind::QuotedIdentifier(name) => Some(name.to_vec()),
        _ => None,
    }
}

/// Reads `[schema.]name`; gives the place behind it.
fn read(all: &[Token<'_>], at: usize, is_read: bool, found: &mut Vec<Named>) -> Option<usize> {
    let first = all.get(at)?;
    if !all.get(at + 1).is_some_and(|token| token.is_symbol(b".")) {
        found.push(Named { schema: None, name: name(first)?, start: first.offset, end: first.end, is_read });
        return Some(at + 1);
    }
    let second = all.get(at + 2)?;
    let (schema, table) = (Some(name(first)?), name(second)?);
    found.push(Named { schema, name: table, start: first.offset, end: second.end, is_read });
    Some(at + 3)
}

/// Reads `a TO b, c TO d`.
fn read_renames(all: &[Token<'_>], mut at: usize, found: &mut Vec<Named>) -> Option<()> {
    loop {
        at = read(all, at, false, found)?;
        while !has_word(all, at, b"TO") {
            // WAIT n, NOWAIT.
            all.get(at)?;
            at += 1;
        }
        at = read(all, at + 1, false, found)?;
        match all.get(at) {
            None => return Some(()),
            Some(token) if token.is_symbol(b",") => at += 1,
            Some(_) => return None,
        }
    }
}

/// Whether the word TABLE behind it has a table's name behind itself: EXCHANGE PARTITION … WITH TABLE, CONVERT PARTITION … TO
/// TABLE, CONVERT TABLE.
fn names_a_table(token: &Token<'_>, begins_clause: bool) -> bool {
    token.is_word(b"WITH") || token.is_word(b"TO") || begins_clause && token.is_word(b"CONVERT")
}

/// Names behind the first one: of what is referred to, of what a table is to be called, of a table that is exchanged.
fn read_further(all: &[Token<'_>], behind: usize, change: Change, found: &mut Vec<Named>) -> Option<()> {
    let mut at = behind;
    if change == Change::Alter {
        at += if has_word(all, at, b"NOWAIT") { 1 } else { 2 * usize::from(has_word(all, at, b"WAIT")) };
    }
    if change == Change::Create {
        let like = at + usize::from(all.get(at).is_some_and(|token| token.is_symbol(b"(")));
        if has_word(all, like, b"LIKE") {
            at = read(all, like + 1, true, found)?;
        }
    }
    let mut begins_clause = true;
    while at < all.len() {
        let begins = std::mem::replace(&mut begins_clause, all[at].is_symbol(b","));
        if all[at].is_word(b"REFERENCES") {
            at = read(all, at + 1, true, found)?;
            // It is in the schema of the table, which may be another than the default one.
            let own = found.first().and_then(|first| first.schema.clone());
            if let Some(last) = found.last_mut() {
                last.schema = last.schema.take().or(own);
            }
        } else if change == Change::Alter && begins && all[at].is_word(b"RENAME") {
            let next = at + 1;
            if ["COLUMN", "INDEX", "KEY"].iter().any(|word| has_word(all, next, word.as_bytes())) {
                at = next;
            } else {
                let is_worded = has_word(all, next, b"TO") || has_word(all, next, b"AS");
                let is_worded = is_worded || all.get(next).is_some_and(|token| token.is_symbol(b"="));
                at = read(all, next + usize::from(is_worded), false, found)?;
            }
        } else if change == Change::Alter && has_word(all, at + 1, b"TABLE") && names_a_table(&all[at], begins) {
            at = read(all, at + 2, false, found)?;
        } else {
            at += 1;
        }
    }
    Some(())
}

/// The schema that a statement creates, and where its name stands in the text. None where one that is there already stays, or
/// is replaced.
pub(crate) fn created_schema(text: &[u8], dialect: &Dialect) -> Option<(Vec<u8>, std::ops::Range<usize>)> {
    let found = definition(text, dialect)?;
    if !found.is_of_schema || found.change != Change::Create || found.replaces || found.has_if {
        return None;
    }
    let named = found.names.into_iter().next()?;
    Some((named.name, named.start..named.end))
}

/// The table that a statement creates, where it names its schema.
pub(crate) fn created_table(text: &[u8], dialect: &Dialect) -> Option<CreatedTable> {
    created_table_in(None, text, dialect)
}

/// The table that a statement creates, in this schema where it names none.
pub(crate) fn created_table_in(default: Option<&[u8]>, text: &[u8], dialect: &Dialect) -> Option<CreatedTable> {
    let found = definition(text, dialect)?;
    let is_table = tokens(text, dialect).take(4).any(|token| token.is_word(b"TABLE"));
    let first = found.names.into_iter().next().filter(|_| is_table && found.change == Change::Create)?;
    Some(CreatedTable {
        schema: first.schema.or_else(|| default.map(<[u8]>::to_vec))?,
        table: first.name,
        start: first.start,
        end: first.end,
        replaces: found.replaces,
    })
}

/// See [`created_table`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CreatedTable {
    pub(crate) schema: Vec<u8>,
    pub(crate) table: Vec<u8>,
    /// Where its name stands in the text, in bytes.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// An older table would be dropped.
    pub(crate) replaces: bool,
}

impl CreatedTable {
    /// Whether it is this table.
    pub(crate) fn is(&self, schema: &[u8], table: &[u8]) -> bool {
        (&self.schema[..], &self.table[..]) == (schema, table)
    }
}
