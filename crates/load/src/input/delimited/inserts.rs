//! Writes records as INSERT statements. Each value is a string literal, as LOAD DATA takes each value for a string; the
//! server converts and checks it.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::blank_lines::BlankLines;
use super::records::{RecordError, RecordReader};
use super::split::{Malformed, Record};
use super::{Columns, Encoding, RowsFile};
use crate::input::{Error, Position, Progress, Source};

/// Statements end at this many rows or bytes, whichever comes first.
const ROWS_LIMIT: usize = 1;
const TEXT_LIMIT_BYTES: usize = 32 * 1024;
/// Limit of the memory that is reserved for a statement.
const USUAL_LIMIT_BYTES: usize = 1024;

/// An INSERT with the place of its first row.
#[derive(Debug)]
pub(crate) struct RowStatement {
    pub(crate) text: Vec<u8>,
    pub(crate) position: Position,
    pub(crate) end_byte: u64,
}

/// Why a statement cannot be made.
#[derive(Debug)]
pub(crate) enum RowError {
    /// The file cannot be read on.
    Input(Error),
    /// The record at this position is not one of the table's.
    Record { position: Position, reason: String },
    /// It is larger than a statement can be.
    TooLarge { position: Position, limit_bytes: usize },
}

/// The columns that a file of rows has values for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowsHead {
    /// Their names; `None` for all columns of the table.
    pub(crate) columns: Option<Vec<Vec<u8>>>,
    /// Where they are named, or the rows begin.
    pub(crate) position: Position,
}

/// The INSERT statements of a file of rows.
#[derive(Debug)]
pub(crate) struct RowStatements {
    name: Arc<str>,
    file: Arc<RowsFile>,
    records: RecordReader,
    record: Record,
    /// Where `record` ends.
    record_end: Position,
    /// Before the first record, where nobody has named the columns.
    blank_lines: BlankLines,
    /// The record behind `blank_lines`, where those are rows.
    first_record: Option<(Record, Position)>,
    /// Up to the first row; empty before the file is begun.
    head: Vec<u8>,
    encodings: Vec<Encoding>,
    /// Fields of each record; known from the first one where nobody has named the columns or counted those of the table.
    width: Option<usize>,
    /// No statement and no error has come of it.
    is_empty: bool,
    /// What stopped the last statement, told behind it.
    failed: Option<RowError>,
    /// Bytes of the longest statement so far, up to a limit: the next one may need as many.
    usual_bytes: usize,
}

impl RowStatements {
    pub(crate) fn open(file: &Arc<RowsFile>, progress: Arc<Progress>, limit_bytes: usize) -> Result<Self, Error> {
        let is_standard_input = file.path.as_os_str() == "-";
        if !is_standard_input {
            Source::measure(&file.path)?;
        }
        let source = if is_standard_input {
            Source::stdin_with(progress)?
        } else if file.format.is_of_dump {
            Source::open_by_name(&file.path, progress)?
        } else {
            Source::open_expected(&file.path, progress)?
        };
        let contents = match &file.columns {
            Columns::Named(fields) => fields.iter().map(|field| field.content).collect(),
            Columns::All | Columns::Header => Vec::new(),
        };
        Ok(Self {
            name: Arc::clone(source.name()),
            records: RecordReader::new(source, file.format.clone(), contents, limit_bytes),
            file: Arc::clone(file),
            record: Record::default(),
            record_end: Position { line: 1, byte: 0 },
            blank_lines: BlankLines::default(),
            first_record: None,
            head: Vec::new(),
            encodings: Vec::new(),
            width: None,
            is_empty: true,
            failed: None,
            usual_bytes: 0,
        })
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(crate) fn file(&self) -> &Arc<RowsFile> {
        &self.file
    }

    /// How far its records are read.
    pub(crate) fn position(&self) -> Position {
        self.records.position()
    }

    /// The next statement, behind [`Self::begin`]. Behind an error that is not of the input, the records go on.
    pub(crate) fn next(&mut self) -> Result<Option<RowStatement>, RowError> {
        if let Some(failed) = self.failed.take() {
            return Err(failed);
        }
        debug_assert!(!self.head.is_empty(), "it is begun");
        let next = self.next_statement();
        self.is_empty &= matches!(next, Ok(None));
        next
    }

    /// Whether nothing has come of its records so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// The table has so many columns: the width of the records, where nothing else tells it.
    pub(crate) fn expect_width(&mut self, columns: usize) {
        self.width = self.width.or(Some(columns));
    }

    fn next_statement(&mut self) -> Result<Option<RowStatement>, RowError> {
        let (mut text, mut first, mut rows) = (Vec::with_capacity(self.usual_bytes), None, 0);
        while rows < ROWS_LIMIT && text.len() < TEXT_LIMIT_BYTES {
            match self.read_row(&mut text) {
                Ok(Some(position)) => first = first.or(Some(position)),
                Ok(None) => break,
                Err(error) if rows == 0 => return Err(error),
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
            rows += 1;
        }
        self.usual_bytes = self.usual_bytes.max(text.len()).min(USUAL_LIMIT_BYTES);
        let end_byte = self.record_end.byte;
        Ok(first.map(|position| RowStatement { text, position, end_byte }))
    }

    /// Reads what stands before the rows. Behind an error, there are none.
    pub(crate) fn begin(&mut self) -> Result<RowsHead, RowError> {
        if !self.file.format.is_of_dump {
            self.records.skip_byte_order_mark().map_err(row_error)?;
        }
        for _ in 0..self.file.ignored_lines {
            self.records.skip_line().map_err(row_error)?;
        }
        let mut position = self.records.position();
        let columns: Option<Vec<Vec<u8>>> = match &self.file.columns {
            Columns::All => None,
            Columns::Named(fields) => {
                self.width = Some(fields.len());
                self.encodings = fields.iter().map(|field| field.encoding).collect();
                let kept = fields.iter().filter(|field| field.encoding != Encoding::Omitted);
                Some(kept.map(|field| field.name.clone()).collect())
            }
            Columns::Header => {
                position = self.read_header()?;
                self.width = Some(self.record.width());
                Some(self.record.values().flatten().map(<[u8]>::to_vec).collect())
            }
        };
        self.head = [b"INSERT INTO ", &self.file.table.quoted()[..]].concat();
        if let Some(columns) = &columns {
            name_columns(&mut self.head, columns.iter().map(Vec::as_slice));
        }
        self.head.extend_from_slice(b" VALUES ");
        Ok(RowsHead { columns, position })
    }

    /// Reads the record with the names of the columns, and tells where it begins.
    fn read_header(&mut self) -> Result<Position, RowError> {
        loop {
            let position = self.records.position();
            if !self.records.next(&mut self.record).map_err(row_error)? {
                let reason = "the file is empty: --header needs a first line with the names of the columns";
                return Err(RowError::Record { position, reason: reason.to_owned() });
            }
            if self.file.format.is_csv && self.record.is_blank() {
                continue;
            }
            if self.record.values().any(|name| name.is_none_or(<[u8]>::is_empty)) {
                let reason =
                    "the header has a column without a name: name it; nothing of the file is loaded".to_owned();
                return Err(RowError::Record { position, reason });
            }
            return Ok(position);
        }
    }

    /// Reads the next record that is a row, and tells where it begins; `None` at the end. A blank line of CSV is one only where
    /// a record can be one empty field.
    fn next_record(&mut self) -> Result<Option<Position>, RowError> {
        if self.width == Some(1) {
            if let Some((position, end)) = self.blank_lines.next() {
                self.record.set_blank(&self.file.format);
                self.record_end = end;
                return Ok(Some(position));
            }
            if let Some((record, position)) = self.first_record.take() {
                (self.record, self.record_end) = (record, self.records.position());
                return Ok(Some(position));
            }
        }
        loop {
            let position = self.records.position();
            if !self.records.next(&mut self.record).map_err(row_error)? {
                return Ok(None);
            }
            self.record_end = self.records.position();
            let is_blank = self.file.format.is_csv && self.record.is_blank();
            match self.width {
                None if is_blank => {
                    if !self.blank_lines.push(position, self.record_end) {
                        let reason = "the file begins with too many blank lines of different line ends: name its columns \
                                      with --columns";
                        return Err(RowError::Record { position, reason: reason.to_owned() });
                    }
                }
                None => return self.first_row(position),
                Some(width) if is_blank && width != 1 => {}
                Some(_) => return Ok(Some(position)),
            }
        }
    }

    /// The first row, of which the record at this position gives the width: that record, or a blank line before it.
    fn first_row(&mut self, position: Position) -> Result<Option<Position>, RowError> {
        self.width = Some(self.record.width());
        if self.width == Some(1) {
            self.first_record = Some((std::mem::take(&mut self.record), position));
            return self.next_record();
        }
        self.blank_lines.clear();
        Ok(Some(position))
    }

    /// Appends the next row to a statement and tells where it begins; `None` at the end.
    fn read_row(&mut self, text: &mut Vec<u8>) -> Result<Option<Position>, RowError> {
        let Some(position) = self.next_record()? else { return Ok(None) };
        let found = self.record.width();
        let expected = self.width.unwrap_or(found);
        if found != expected {
            let reason = format!(
                "the record has {found} fields, but {expected} columns are expected: correct the line, or check the \
                 separators"
            );
            return Err(RowError::Record { position, reason });
        }
        let whole_rows = text.len();
        if text.is_empty() {
            text.extend_from_slice(&self.head);
        } else {
            text.push(b',');
        }
        text.push(b'(');
        let row_start = text.len();
        for (index, value) in self.record.values().enumerate() {
            let encoding = self.encodings.get(index).copied().unwrap_or(Encoding::Plain);
            if encoding == Encoding::Omitted {
                continue;
            }
            if text.len() > row_start {
                text.push(b',');
            }
            if let Err(reason) = write_value(value, encoding, text) {
                text.truncate(whole_rows);
                return Err(RowError::Record { position, reason: format!("field {}: {reason}", index + 1) });
            }
        }
        text.push(b')');
        Ok(Some(position))
    }
}

fn name_columns<'n>(head: &mut Vec<u8>, names: impl Iterator<Item = &'n [u8]>) {
    head.extend_from_slice(b" (");
    for (index, name) in names.enumerate() {
        head.extend_from_slice(if index == 0 { b"" } else { b"," });
        head.extend_from_slice(&hortator_mysql::quote_identifier(name));
    }
    head.push(b')');
}

fn write_value(value: Option<&[u8]>, encoding: Encoding, text: &mut Vec<u8>) -> Result<(), String> {
    let Some(value) = value else {
        text.extend_from_slice(b"NULL");
        return Ok(());
    };
    match encoding {
        Encoding::Plain | Encoding::Omitted => quote(value, text),
        Encoding::Utf8 => {
            text.extend_from_slice(b"_utf8mb4");
            quote(value, text);
        }
        Encoding::Bytes => quote_bytes(value, text),
        Encoding::Number if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => text.extend_from_slice(value),
        Encoding::Number => return Err("the value is not decimal digits, which this column is written in".to_owned()),
        Encoding::Hex => {
            let bytes = unhex(value).ok_or("the value is not hexadecimal digits, which this column is written in")?;
            quote_bytes(&bytes, text);
        }
        Encoding::Base64 => {
            let digits: Vec<u8> = value.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
            let bytes = STANDARD
                .decode(digits)
                .map_err(|error| format!("the value is not Base64, which this column is written in: {error}"))?;
            quote_bytes(&bytes, text);
        }
    }
    Ok(())
}

fn quote_bytes(bytes: &[u8], text: &mut Vec<u8>) {
    text.extend_from_slice(b"_binary");
    quote(bytes, text);
}

/// Writes a string literal on one line, for a session with backslash escapes and a character set that is safe in ASCII.
fn quote(value: &[u8], text: &mut Vec<u8>) {
    text.push(b'\'');
    let mut copied = 0;
    for (at, byte) in value.iter().enumerate() {
        let escaped = match byte {
            b'\'' | b'\\' => *byte,
            0 => b'0',
            b'\n' => b'n',
            b'\r' => b'r',
            0x1a => b'Z',
            _ => continue,
        };
        text.extend_from_slice(&value[copied..at]);
        text.extend_from_slice(&[b'\\', escaped]);
        copied = at + 1;
    }
    text.extend_from_slice(&value[copied..]);
    text.push(b'\'');
}

/// The bytes that hexadecimal digits stand for.
pub(super) fn unhex(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pairs = digits.chunks(2);
    pairs.map(|pair| Some((digit(pair[0])? << 4 | digit(*pair.get(1)?)?) as u8)).collect()
}

fn row_error(error: RecordError) -> RowError {
    match error {
        RecordError::Input(error) => RowError::Input(error),
        RecordError::TooLarge { limit_bytes, position } => RowError::TooLarge { position, limit_bytes },
        RecordError::Malformed { what, position, last_line } => {
            let reason = match what {
                Malformed::OpenQuote => {
                    "a quote is opened in the record that starts here, and never closed, so that the rest of the file is in \
                     this record: close it, or get a complete file; the rest of the file is not loaded"
                }
                Malformed::Truncated => "the file ends within this record: it is truncated; get a complete copy",
                Malformed::AmbiguousBits => {
                    "the BIT values of this record cannot be told from NULL and from the ends of fields: the line is \
                     damaged; get a complete copy, or dump the table as SQL, without --tab; the rest of the file is not loaded"
                }
                Malformed::BehindQuote => "text follows a closing quote: a quote within a quoted field must be doubled",
            };
            let (first, is_passed) = (position.line, what == Malformed::BehindQuote && last_line > position.line);
            let passed =
                if is_passed { format!("; lines {first} to {last_line} are not loaded") } else { String::new() };
            RowError::Record { position, reason: format!("{reason}{passed}") }
        }
    }
}
