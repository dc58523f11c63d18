//! A table's facts from `SHOW CREATE TABLE` of MariaDB.
//!
//! `information_schema.COLUMNS` costs the server a temporary table on disk for each query, five times the work of this
//! statement. The text is the server's own, printed after settings that we choose, and what is not understood of it is
//! left to `information_schema`: a test holds both against each other.

mod types;

use super::tokens::{Backslash, Token, tokens};
use super::{Column, Table, TableKind, TableName, described_column, kind, merge};
use crate::quote_identifier;

pub use types::ColumnType;
pub(super) use types::types;

/// The statement whose answer [`parse`] takes.
pub(super) fn query(name: &TableName) -> Vec<u8> {
    [
        b"SET STATEMENT sql_mode = '', sql_quote_show_create = 1 FOR SHOW CREATE TABLE ".as_slice(),
        &quote_identifier(&name.schema),
        b".",
        &quote_identifier(&name.table),
    ]
    .concat()
}

/// Reads the text of a table's definition; `None` where anything in it is unknown (a view's is).
pub(super) fn parse(name: &TableName, text: &[u8], has_triggers: bool) -> Option<Table> {
    let mut reader = Reader::new(text);
    reader.create_table()?;
    let (mut columns, mut parents) = (Vec::new(), Vec::new());
    loop {
        let item = reader.item()?;
        let mut parts = Reader::new(item.text);
        match parts.next()? {
            Token::Name(column) => columns.push(parse_column(column.into_owned(), &mut parts)?),
            Token::Word(b"CONSTRAINT") => {
                parts.name()?;
                if parts.next()?.is_word("FOREIGN") {
                    parents.push(parse_parent(&mut parts, &name.schema)?);
                }
            }
            Token::Word(
                b"PRIMARY" | b"UNIQUE" | b"KEY" | b"FULLTEXT" | b"SPATIAL" | b"VECTOR" | b"PERIOD" | b"CHECK",
            ) => {}
            _ => return None,
        }
        if item.is_last {
            break;
        }
    }
    parents.sort();
    parents.dedup();

    let options = Options::parse(&mut reader)?;
    let is_merge = options.engine.eq_ignore_ascii_case(merge::ENGINE);
    Some(Table {
        name: name.clone(),
        kind: if options.is_sequence { TableKind::Other } else { kind(&options.engine) },
        merge_children: Some(if is_merge {
            merge::union_list(text, &name.schema, Backslash::Escapes)
        } else {
            Vec::new()
        }),
        engine: options.engine,
        columns,
        parents,
        has_triggers,
        versioned: options.versioned,
        partitioned: options.partitioned,
    })
}

/// What a column's definition says behind its name.
fn parse_column(name: Vec<u8>, reader: &mut Reader<'_>) -> Option<Column> {
    let Token::Word(data_type) = reader.next()? else { return None };
    let data_type = String::from_utf8_lossy(data_type).into_owned();
    let (mut nullable, mut default, mut computed, mut extra) = (true, None, None, String::new());
    while let Some(token) = reader.next() {
        let Token::Word(word) = token else {
            // What belongs to the type or an attribute: lengths, members, conditions, texts.
            if token.is_symbol(b'(') {
                reader.skip_parentheses()?;
            }
            continue;
        };
        match word {
            b"NOT" => {
                reader.words(&["NULL"])?;
                nullable = false;
            }
            b"DEFAULT" => default = Some(reader.default_value()?),
            b"AUTO_INCREMENT" | b"INVISIBLE" => {
                extra.push(' ');
                extra.push_str(&String::from_utf8_lossy(word));
            }
            b"GENERATED" => {
                reader.words(&["ALWAYS", "AS"])?;
                extra.push_str(" GENERATED");
                // The columns of a row's period have no value without one; computed ones may be NULL.
                nullable = !reader.next()?.is_word("ROW");
                if nullable {
                    let from = reader.rest;
                    reader.skip_parentheses()?;
                    computed = Some(&from[..from.len() - reader.rest.len()]);
                }
            }
            // An option of the engine, `name=value`, would read like an attribute.
            _ if reader.peek().is_some_and(|next| next.is_symbol(b'=')) => {
                reader.next();
                reader.next();
            }
            _ => {}
        }
    }
    Some(described_column(name, &data_type, nullable, default, computed, &extra, true))
}

/// The table behind `FOREIGN`.
fn parse_parent(reader: &mut Reader<'_>, schema: &[u8]) -> Option<TableName> {
    reader.words(&["KEY"])?;
    reader.symbol(b'(')?;
    reader.skip_parentheses()?;
    reader.words(&["REFERENCES"])?;
    let first = reader.name()?;
    if !reader.peek()?.is_symbol(b'.') {
        return Some(TableName { schema: schema.to_vec(), table: first });
    }
    reader.next();
    Some(TableName { schema: first, table: reader.name()? })
}

/// What stands behind the columns and keys.
#[derive(Default)]
struct Options {
    engine: Vec<u8>,
    is_sequence: bool,
    versioned: bool,
    partitioned: bool,
}

impl Options {
    fn parse(reader: &mut Reader<'_>) -> Option<Options> {
        let mut options = Options::default();
        while let Some(token) = reader.next() {
            if token.is_symbol(b'(') {
                reader.skip_parentheses()?;
            }
            let Token::Word(word) = token else { continue };
            if reader.peek().is_some_and(|next| next.is_symbol(b'=')) {
                reader.next();
                let value = reader.next()?;
                match (word, value) {
                    (b"ENGINE", Token::Word(engine)) => options.engine = engine.to_vec(),
                    (b"ENGINE", _) => return None,
                    (b"SEQUENCE", _) => options.is_sequence = true,
                    (_, Token::Symbol(b'(')) => reader.skip_parentheses()?,
                    _ => {}
                }
                continue;
            }
            match word {
                b"WITH" => {
                    reader.words(&["SYSTEM", "VERSIONING"])?;
                    options.versioned = true;
                }
                b"PARTITION" => {
                    options.partitioned = true;
                    break;
                }
                _ => {}
            }
        }
        (!options.engine.is_empty()).then_some(options)
    }
}

/// One of the definition's items.
struct Item<'a> {
    text: &'a [u8],
    is_last: bool,
}

/// The tokens of a definition, one at a time. Everything gives `None` where the text is not as expected.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn new(text: &'a [u8]) -> Reader<'a> {
        Reader { rest: text }
    }

    fn next(&mut self) -> Option<Token<'a>> {
        let mut tokens = tokens(self.rest, Backslash::Escapes);
        let token = tokens.next();
        self.rest = tokens.rest();
        token
    }

    fn peek(&self) -> Option<Token<'a>> {
        tokens(self.rest, Backslash::Escapes).next()
    }

    fn words(&mut self, words: &[&str]) -> Option<()> {
        words.iter().try_for_each(|word| self.next()?.is_word(word).then_some(()))
    }

    /// `CREATE TABLE [IF NOT EXISTS] name (`
    fn create_table(&mut self) -> Option<()> {
        self.words(&["CREATE", "TABLE"])?;
        if self.peek()?.is_word("IF") {
            self.words(&["IF", "NOT", "EXISTS"])?;
        }
        self.name()?;
        self.symbol(b'(')
    }

    fn symbol(&mut self, symbol: u8) -> Option<()> {
        self.next()?.is_symbol(symbol).then_some(())
    }

    fn name(&mut self) -> Option<Vec<u8>> {
        match self.next()? {
            Token::Name(name) => Some(name.into_owned()),
            _ => None,
        }
    }

    /// Goes behind the parenthesis that closes the one before.
    fn skip_parentheses(&mut self) -> Option<()> {
        let mut depth = 1_usize;
        while depth > 0 {
            match self.next()? {
                Token::Symbol(b'(') => depth += 1,
                Token::Symbol(b')') => depth -= 1,
                _ => {}
            }
        }
        Some(())
    }

    /// The text up to the next comma or closing parenthesis of this level, behind which the reader stands then.
    fn item(&mut self) -> Option<Item<'a>> {
        let from = self.rest;
        loop {
            let length = from.len() - self.rest.len();
            match self.next()? {
                Token::Symbol(b'(') => self.skip_parentheses()?,
                Token::Symbol(end @ (b',' | b')')) => {
                    return Some(Item { text: &from[..length], is_last: end == b')' });
                }
                _ => {}
            }
        }
    }

    /// The text of a default value: up to the next attribute of its level.
    fn default_value(&mut self) -> Option<&'a [u8]> {
        const ATTRIBUTES: [&str; 7] = ["ON", "COMMENT", "CHECK", "INVISIBLE", "AUTO_INCREMENT", "WITH", "WITHOUT"];
        let from = self.rest;
        while let Some(token) = self.peek() {
            if ATTRIBUTES.iter().any(|attribute| token.is_word(attribute)) {
                break;
            }
            self.next();
            if token.is_symbol(b'(') {
                self.skip_parentheses()?;
            }
        }
        Some(from[..from.len() - self.rest.len()].trim_ascii())
    }
}

#[cfg(test)]
mod tests;
