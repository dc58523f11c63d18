//! Rows as text that means exactly the same on the target: a pure rule per data type.
//!
//! ```text
//!   data type                    SELECT …               literal
//!   whole numbers, DECIMAL       c                      12.50
//!   FLOAT, DOUBLE                c * 1e0                0.10000000149011612      all digits: FLOAT shows 6 of them
//!   BIT, ENUM, SET               c + 0                  3                        a name may mean two members
//!   dates and times              c                      '2020-02-30 …'           time_zone is UTC on both sides
//!   utf8mb4, utf8mb3, latin1     c                      '…'                      others: as stored, _sjis 0x…
//!   bytes, geometry, vectors     c                      0x…
//! ```

use hortator_mysql::quote_identifier;

use crate::row_end;

/// The session in which these literals mean what is stored. STRICT: a value that does not fit is an error. What the target has
/// set for its clients does not count: each statement commits, and has the time that it needs.
pub(super) const SESSION: &str = "SET NAMES utf8mb4;\nSET SESSION TRANSACTION READ WRITE;\n\
    SET SESSION autocommit = 1, completion_type = 0, max_statement_time = 0, time_zone = '+00:00', foreign_key_checks = 0, \
    check_constraint_checks = 0, sql_mode = 'NO_AUTO_VALUE_ON_ZERO,STRICT_ALL_TABLES,ALLOW_INVALID_DATES';\n";
/// Around a row with the error value of an ENUM, which no strict mode takes.
const BEGIN_LENIENT: &str = "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES';\n";
const END_LENIENT: &str = "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO,STRICT_ALL_TABLES,ALLOW_INVALID_DATES';\n";
/// Around the rows of a table with history.
pub(super) const BEGIN_HISTORY: &str = "SET SESSION system_versioning_insert_history = 1;\n";
pub(super) const END_HISTORY: &str = "SET SESSION system_versioning_insert_history = 0;\n";

/// Character sets whose every text survives the way through utf8mb4.
const EXACT_CHARSETS: [&str; 4] = ["utf8mb4", "utf8mb3", "utf8", "latin1"];

/// How a column is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Digits as they come.
    Number,
    /// A member's number, of which 0 is the error value.
    EnumNumber,
    /// Text in quotes.
    Quoted,
    /// Bytes without a character set.
    Hex,
    /// Bytes of this character set.
    HexOf(String),
    /// The moment when a row begins or ends, for a target that knows TIMESTAMPs to 2106 or not.
    RowTime { goes_to_2106: bool },
}

/// A column that is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CopiedColumn {
    /// Quoted.
    name: Vec<u8>,
    /// What is selected.
    expression: Vec<u8>,
    form: Form,
}

impl CopiedColumn {
    /// For a column of information_schema; `None` for a data type that is not known.
    pub(super) fn new(name: &[u8], data_type: &str, charset: &str) -> Option<CopiedColumn> {
        let name = quote_identifier(name);
        let with = |before: &str, behind: &str| [before.as_bytes(), &name, behind.as_bytes()].concat();
        let (expression, form) = match data_type {
            "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "decimal" | "year" => {
                (with("", ""), Form::Number)
            }
            "float" | "double" => (with("", " * 1e0"), Form::Number),
            "bit" | "set" => (with("", " + 0"), Form::Number),
            "enum" => (with("", " + 0"), Form::EnumNumber),
            // `json` is MySQL's, which has no character set.
            "date" | "datetime" | "timestamp" | "time" | "uuid" | "inet4" | "inet6" | "json" => {
                (with("", ""), Form::Quoted)
            }
            "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" => {
                match EXACT_CHARSETS.contains(&charset) {
                    true => (with("", ""), Form::Quoted),
                    false => (with("CAST(", " AS BINARY)"), Form::HexOf(charset.to_owned())),
                }
            }
            "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob" | "vector" | "geometry"
            | "point" | "linestring" | "polygon" | "multipoint" | "multilinestring" | "multipolygon"
            | "geometrycollection" | "geomcollection" => (with("", ""), Form::Hex),
            _ => return None,
        };
        Some(CopiedColumn { name, expression, form })
    }

    /// Its name, quoted.
    pub(super) fn name(&self) -> &[u8] {
        &self.name
    }

    /// What is selected.
    pub(super) fn expression(&self) -> &[u8] {
        &self.expression
    }

    /// A value of [`CopiedColumn::expression`] as a literal.
    pub(super) fn literal(&self, value: Option<&[u8]>) -> Vec<u8> {
        let mut text = Vec::new();
        literal(&self.form, value, &mut text);
        text
    }

    /// A moment at which a row of a table with history begins or ends.
    pub(super) fn row_time(name: &[u8]) -> CopiedColumn {
        let name = quote_identifier(name);
        CopiedColumn { expression: name.clone(), name, form: Form::RowTime { goes_to_2106: false } }
    }

    /// For a target of this version, as in version comments.
    pub(super) fn set_target(&mut self, version: u32) {
        if let Form::RowTime { goes_to_2106 } = &mut self.form {
            *goes_to_2106 = row_end::goes_to_2106(version);
        }
    }
}

/// What a row has before the columns of the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum FirstColumn {
    #[default]
    None,
    /// A column of this name with this text.
    Text { name: String, value: String },
    /// A column of this name with the row's number, from 1.
    Number { name: &'static str },
}

/// A query for all rows of a table; `table` is quoted, with its schema.
pub(super) fn select(table: &[u8], columns: &[CopiedColumn], has_history: bool) -> Vec<u8> {
    let expressions: Vec<&[u8]> = columns.iter().map(|column| &column.expression[..]).collect();
    let expressions = if expressions.is_empty() { b"1".to_vec() } else { expressions.join(&b", "[..]) };
    let history: &[u8] = if has_history { b" FOR SYSTEM_TIME ALL" } else { b"" };
    [b"SELECT SQL_NO_CACHE ".as_slice(), &expressions, b" FROM ", table, history].concat()
}

/// Puts rows into statements.
#[derive(Debug)]
pub(super) struct RowText {
    head: Vec<u8>,
    first: FirstColumn,
    forms: Vec<Form>,
    text: Vec<u8>,
    row: Vec<u8>,
    /// Rows, and their bytes.
    pushed: (u64, u64),
}

impl RowText {
    /// For the rows of [`select`].
    pub(super) fn new(table: &[u8], columns: &[CopiedColumn], first: FirstColumn) -> RowText {
        let first_name = match &first {
            FirstColumn::None => None,
            FirstColumn::Text { name, .. } => Some(quote_identifier(name)),
            FirstColumn::Number { name } => Some(quote_identifier(name)),
        };
        let names: Vec<&[u8]> =
            first_name.iter().map(Vec::as_slice).chain(columns.iter().map(|column| &column.name[..])).collect();
        let head = [b"INSERT INTO ".as_slice(), table, b" (", &names.join(&b", "[..]), b") VALUES "].concat();
        let forms = columns.iter().map(|column| column.form.clone()).collect();
        RowText { head, first, forms, text: Vec::new(), row: Vec::new(), pushed: (0, 0) }
    }

    /// Adds a row. Its text must be taken when it is long enough.
    pub(super) fn push(&mut self, values: &[Option<&[u8]>]) {
        self.row.clear();
        self.row.push(b'(');
        self.pushed.0 += 1;
        match &self.first {
            FirstColumn::None => {}
            FirstColumn::Text { value, .. } => quoted(value.as_bytes(), &mut self.row),
            FirstColumn::Number { .. } => self.row.extend_from_slice(self.pushed.0.to_string().as_bytes()),
        }
        let mut is_lenient = false;
        for (form, value) in self.forms.iter().zip(values) {
            if self.row.len() > 1 {
                self.row.push(b',');
            }
            is_lenient |= *form == Form::EnumNumber && *value == Some(b"0");
            literal(form, *value, &mut self.row);
        }
        self.row.push(b')');
        self.pushed.1 += self.row.len() as u64;
        if is_lenient {
            self.end_statement();
            self.text.extend_from_slice(BEGIN_LENIENT.as_bytes());
            self.text.extend([&self.head[..], &self.row, b";\n", END_LENIENT.as_bytes()].concat());
            return;
        }
        let before = if self.is_open() { &b","[..] } else { &self.head };
        self.text.extend_from_slice(before);
        self.text.extend_from_slice(&self.row);
    }

    /// Bytes that are not taken.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Rows that were added, and the bytes of their text.
    pub(super) fn pushed(&self) -> (u64, u64) {
        self.pushed
    }

    /// Takes whole statements.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.end_statement();
        std::mem::take(&mut self.text)
    }

    fn is_open(&self) -> bool {
        self.text.last() == Some(&b')')
    }

    fn end_statement(&mut self) {
        if self.is_open() {
            self.text.extend_from_slice(b";\n");
        }
    }
}

fn literal(form: &Form, value: Option<&[u8]>, text: &mut Vec<u8>) {
    let Some(value) = value else {
        text.extend_from_slice(b"NULL");
        return;
    };
    match form {
        Form::Number | Form::EnumNumber => text.extend_from_slice(value),
        Form::Quoted => quoted(value, text),
        Form::RowTime { goes_to_2106 } => quoted(row_end::text(value, *goes_to_2106), text),
        // `0x` alone is no number, and no bytes.
        Form::Hex | Form::HexOf(_) if value.is_empty() => text.extend_from_slice(b"''"),
        Form::Hex => hex(value, text),
        Form::HexOf(charset) => {
            text.push(b'_');
            text.extend_from_slice(charset.as_bytes());
            text.push(b' ');
            hex(value, text);
        }
    }
}

fn quoted(value: &[u8], text: &mut Vec<u8>) {
    text.push(b'\'');
    for &byte in value {
        match byte {
            b'\'' | b'\\' => text.extend_from_slice(&[b'\\', byte]),
            0 => text.extend_from_slice(b"\\0"),
            b'\r' => text.extend_from_slice(b"\\r"),
            _ => text.push(byte),
        }
    }
    text.push(b'\'');
}

fn hex(value: &[u8], text: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    text.extend_from_slice(b"0x");
    for byte in value {
        text.push(DIGITS[usize::from(byte >> 4)]);
        text.push(DIGITS[usize::from(byte & 15)]);
    }
}
