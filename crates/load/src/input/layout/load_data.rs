//! Reads a LOAD DATA statement that a dump tool has written for a file of rows: Hortator loads the rows itself.
//!
//! Only the clauses that such tools write are taken; any other is an error. Grammar: MariaDB manual, "LOAD DATA INFILE".

use std::path::PathBuf;

use crate::input::delimited::{Columns, Encoding, Field, Format, RowsFile, RowsTable, Separators};
use crate::lexer::{Dialect, Kind, Token, decode_string, tokens};

/// A LOAD DATA statement.
#[derive(Debug)]
pub(super) struct LoadData {
    /// The file, as the statement names it.
    pub(super) file: String,
    table: Vec<u8>,
    format: Format,
    columns: Columns,
    ignored_lines: u64,
    /// The statements before it.
    pub(super) settings: Vec<u8>,
}

impl LoadData {
    /// The rows that it loads into a table of this schema.
    pub(super) fn into_rows(self, path: PathBuf, schema: &[u8]) -> RowsFile {
        let Self { table, columns, format, ignored_lines, .. } = self;
        let table = RowsTable { schema: Some(schema.to_vec()), name: table };
        RowsFile { path, table, columns, format, ignored_lines, is_defined: true, unreadable: None }
    }
}

/// Reads the text of a file with one LOAD DATA statement, and settings before it.
///
/// # Errors
/// What is not understood.
pub(super) fn parse(text: &[u8]) -> Result<LoadData, String> {
    let dialect = Dialect::mariadb(u32::MAX);
    let all: Vec<Token<'_>> = tokens(text, &dialect).collect();
    let start = all.iter().position(|token| token.is_word(b"LOAD")).ok_or("it has no LOAD DATA statement")?;
    let mut reader = Reader { rest: &all[start..], dialect };
    let loaded = reader.load_data();
    let mut loaded = loaded.map_err(|wanted| match reader.rest.first() {
        Some(token) => {
            let found = String::from_utf8_lossy(&text[token.offset..token.end]);
            format!("its LOAD DATA statement has {found} where Hortator expects {wanted}")
        }
        None => format!("its LOAD DATA statement ends where Hortator expects {wanted}"),
    })?;
    loaded.settings = text[..all[start].offset].to_vec();
    Ok(loaded)
}

struct Reader<'t> {
    rest: &'t [Token<'t>],
    dialect: Dialect,
}

impl Reader<'_> {
    fn load_data(&mut self) -> Result<LoadData, &'static str> {
        self.words(&[b"LOAD", b"DATA"])?;
        let _ = self.take_word(b"LOCAL");
        self.words(&[b"INFILE"])?;
        let file = String::from_utf8_lossy(&self.string()?).into_owned();
        let _ = self.take_word(b"REPLACE") || self.take_word(b"IGNORE");
        self.words(&[b"INTO", b"TABLE"])?;
        let table = self.name()?;
        if self.take_word(b"CHARACTER") {
            self.words(&[b"SET"])?;
            // The file is read under the settings before it, which name the same character set.
            self.name_or_word()?;
        }
        let mut separators = Separators::default();
        if self.take_word(b"FIELDS") || self.take_word(b"COLUMNS") {
            self.fields(&mut separators)?;
        }
        if self.take_word(b"LINES") {
            if self.take_word(b"STARTING") {
                self.words(&[b"BY"])?;
                if !self.string()?.is_empty() {
                    return Err("lines that start with nothing of their own");
                }
            }
            if self.take_word(b"TERMINATED") {
                self.words(&[b"BY"])?;
                separators.lines_terminated = Some(self.string()?);
            }
        }
        let mut ignored_lines = 0;
        if self.take_word(b"IGNORE") {
            ignored_lines = self.number()?;
            if !(self.take_word(b"LINES") || self.take_word(b"ROWS")) {
                return Err("LINES");
            }
        }
        let columns = self.columns()?;
        if self.rest.first().is_some_and(|token| !token.is_symbol(b";")) {
            return Err("the end of the statement");
        }
        let format =
            Format::load_data().of_dump().with(&separators).map_err(|_| "separators that can be told apart")?;
        Ok(LoadData { file, table, format, columns, ignored_lines, settings: Vec::new() })
    }

    fn fields(&mut self, separators: &mut Separators) -> Result<(), &'static str> {
        loop {
            let is_optional = self.take_word(b"OPTIONALLY");
            separators.is_optionally_enclosed |= is_optional;
            let into = if self.take_word(b"TERMINATED") {
                &mut separators.fields_terminated
            } else if self.take_word(b"ENCLOSED") {
                &mut separators.enclosed
            } else if self.take_word(b"ESCAPED") {
                &mut separators.escaped
            } else if is_optional {
                return Err("ENCLOSED");
            } else {
                return Ok(());
            };
            self.words(&[b"BY"])?;
            *into = Some(self.string()?);
        }
    }

    /// `(column, @variable, …) SET column = FUNCTION(@variable), …`
    fn columns(&mut self) -> Result<Columns, &'static str> {
        if !self.take_symbol(b"(") {
            return Ok(Columns::All);
        }
        // Each field with whether it goes into a variable.
        let mut fields = Vec::new();
        loop {
            let Some((token, rest)) = self.rest.split_first() else { return Err("a column") };
            let is_variable = match &token.kind {
                Kind::UserVariable(name) => {
                    fields.push((Field::encoded(name.to_vec(), Encoding::Omitted), true));
                    true
                }
                _ => false,
            };
            if is_variable {
                self.rest = rest;
            } else {
                fields.push((Field::plain(self.name_or_word()?), false));
            }
            if self.take_symbol(b")") {
                break;
            }
            self.symbol(b",")?;
        }
        if self.take_word(b"SET") {
            loop {
                self.assignment(&mut fields)?;
                if !self.take_symbol(b",") {
                    break;
                }
            }
        }
        Ok(Columns::Named(fields.into_iter().map(|(field, _)| field).collect()))
    }

    fn assignment(&mut self, fields: &mut [(Field, bool)]) -> Result<(), &'static str> {
        let column = self.name_or_word()?;
        self.symbol(b"=")?;
        let function = self.name_or_word()?.to_ascii_uppercase();
        self.symbol(b"(")?;
        let Some(Token { kind: Kind::UserVariable(variable), .. }) = self.rest.first() else {
            return Err("a variable of the column list");
        };
        let field = fields.iter_mut().find(|(field, is_variable)| *is_variable && field.name == **variable);
        let Some((field, is_variable)) = field else { return Err("a variable of the column list") };
        self.rest = &self.rest[1..];
        field.name = column;
        field.encoding = match &function[..] {
            b"UNHEX" => Encoding::Hex,
            b"FROM_BASE64" => Encoding::Base64,
            b"CONVERT" => {
                self.words(&[b"USING"])?;
                if !(self.take_word(b"UTF8MB4") || self.take_word(b"UTF8")) {
                    return Err("utf8mb4");
                }
                Encoding::Utf8
            }
            _ => return Err("UNHEX, FROM_BASE64 or CONVERT"),
        };
        *is_variable = false;
        self.symbol(b")")
    }

    fn take_word(&mut self, word: &[u8]) -> bool {
        self.take_if(|token| token.is_word(word))
    }

    fn take_symbol(&mut self, symbol: &[u8]) -> bool {
        self.take_if(|token| token.is_symbol(symbol))
    }

    fn take_if(&mut self, is_wanted: impl FnOnce(&Token<'_>) -> bool) -> bool {
        let taken = self.rest.first().is_some_and(is_wanted);
        self.rest = &self.rest[usize::from(taken)..];
        taken
    }

    fn words(&mut self, words: &[&'static [u8]]) -> Result<(), &'static str> {
        for word in words {
            if !self.take_word(word) {
                return Err(std::str::from_utf8(word).unwrap_or("another word"));
            }
        }
        Ok(())
    }

    fn symbol(&mut self, symbol: &'static [u8]) -> Result<(), &'static str> {
        if self.take_symbol(symbol) { Ok(()) } else { Err(std::str::from_utf8(symbol).unwrap_or("another symbol")) }
    }

    fn string(&mut self) -> Result<Vec<u8>, &'static str> {
        let Some(Token { kind: Kind::String(raw), .. }) = self.rest.first() else { return Err("a string") };
        let value = decode_string(raw, &self.dialect).into_owned();
        self.rest = &self.rest[1..];
        Ok(value)
    }

    fn number(&mut self) -> Result<u64, &'static str> {
        let Some(Token { kind: Kind::Number(digits), .. }) = self.rest.first() else { return Err("a number") };
        let value = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).ok_or("a number")?;
        self.rest = &self.rest[1..];
        Ok(value)
    }

    fn name(&mut self) -> Result<Vec<u8>, &'static str> {
        let first = self.name_or_word()?;
        if self.take_symbol(b".") { self.name_or_word() } else { Ok(first) }
    }

    fn name_or_word(&mut self) -> Result<Vec<u8>, &'static str> {
        let name = match self.rest.first().map(|token| &token.kind) {
            Some(Kind::QuotedIdentifier(name)) => name.to_vec(),
            Some(Kind::Word(name)) => name.to_vec(),
            _ => return Err("a name"),
        };
        self.rest = &self.rest[1..];
        Ok(name)
    }
}
