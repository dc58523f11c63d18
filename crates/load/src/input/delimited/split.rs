//! Splits delimited text into fields. [`split_record`] is the whole format: it reads one record of the bytes at hand, or says
//! that more are needed. Where a field has several readings, `search` finds the one that makes a record of the table.
//!
//! Formats: MariaDB manual, "LOAD DATA INFILE"; RFC 4180 for CSV.

use memchr::memchr3;

use super::bits::{FieldPosition, Reading, Readings, readings};
use super::search::Position;
use super::{Content, Format};
use crate::lexer::Charset;

/// One record: its fields as values, one behind the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    bytes: Vec<u8>,
    fields: Vec<FieldEnd>,
    /// Its line is empty: not even quotes are in it.
    is_blank: bool,
}

#[derive(Clone, Copy, Debug)]
struct FieldEnd {
    end: usize,
    is_null: bool,
}

impl Record {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.fields.clear();
        self.is_blank = false;
    }

    pub(super) fn width(&self) -> usize {
        self.fields.len()
    }

    /// The values; `None` is NULL.
    pub(super) fn values(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let mut start = 0;
        self.fields.iter().map(move |field| {
            let value = &self.bytes[std::mem::replace(&mut start, field.end)..field.end];
            (!field.is_null).then_some(value)
        })
    }

    /// Whether its line is empty: not even quotes are in it.
    pub(super) fn is_blank(&self) -> bool {
        self.is_blank
    }

    /// Makes it that of a line without content.
    pub(super) fn set_blank(&mut self, format: &Format) {
        self.clear();
        end_plain(b"", 0, true, format, self);
    }

    /// Ends a field with these bytes as its value; `None` is NULL.
    pub(super) fn push_field(&mut self, value: Option<&[u8]>) {
        self.bytes.extend_from_slice(value.unwrap_or_default());
        self.end_field(value.is_none());
    }

    fn end_field(&mut self, is_null: bool) {
        self.fields.push(FieldEnd { end: self.bytes.len(), is_null });
    }
}

/// What is wrong with the bytes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// A quote is opened and not closed.
    OpenQuote,
    /// The last line has no end, and the writer ends each line.
    Truncated,
    /// A value of a BIT column has more than one reading, and none of them makes a record of the table, or several do.
    AmbiguousBits,
    /// Something stands between a closing quote and the next separator.
    BehindQuote,
}

/// What [`split_record`] has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A record of this many bytes, its end included.
    Record(usize),
    /// The bytes end within a record.
    Incomplete,
    /// What is wrong, and up to where the bytes were read to know it.
    Malformed(Malformed, usize),
}

/// Where a field ends, and whether its line does.
pub(super) enum FieldStop {
    Field(usize),
    Line(usize),
    Incomplete,
    Malformed(Malformed, usize),
}

/// The next of these bytes at or after `from` that is not a part of a longer character.
fn next_special(text: &[u8], from: usize, special: [u8; 3], charset: Charset) -> Option<usize> {
    let [one, two, three] = special;
    if charset == Charset::AsciiSafe {
        return memchr3(one, two, three, &text[from..]).map(|found| from + found);
    }
    let mut at = from;
    while at < text.len() {
        let length = charset.character_length(&text[at..]);
        if length == 1 && special.contains(&text[at]) {
            return Some(at);
        }
        at += length;
    }
    None
}

/// Reads the record that `text` begins with; `is_last`: nothing follows `text`. `contents`: of its fields, as far as they are
/// known.
pub(super) fn split_record(
    text: &[u8],
    is_last: bool,
    format: &Format,
    contents: &[Content],
    record: &mut Record,
) -> Found {
    record.clear();
    Splitter { text, is_last, format, contents }.split(record)
}

/// Splits one record.
pub(super) struct Splitter<'t> {
    pub(super) text: &'t [u8],
    pub(super) is_last: bool,
    format: &'t Format,
    pub(super) contents: &'t [Content],
}

impl Splitter<'_> {
    fn split(&self, record: &mut Record) -> Found {
        let mut at = 0;
        loop {
            let stop = match self.contents.get(record.width()).copied().unwrap_or_default() {
                Content::Text(charset) => self.text_field(at, charset, record),
                Content::Bits(_) => {
                    let position = Position { field: record.width(), start: at };
                    match self.readings_at(position) {
                        Readings::Incomplete => FieldStop::Incomplete,
                        Readings::Truncated => FieldStop::Malformed(Malformed::Truncated, self.text.len()),
                        Readings::Known(found) => match &found[..] {
                            [] => FieldStop::Malformed(Malformed::AmbiguousBits, self.text.len()),
                            [only] => self.push(only, record),
                            _ => return self.search(position, record),
                        },
                    }
                }
            };
            match stop {
                FieldStop::Field(next) => at = next,
                FieldStop::Line(end) => return Found::Record(end),
                FieldStop::Incomplete => return Found::Incomplete,
                FieldStop::Malformed(what, read) => return Found::Malformed(what, read),
            }
        }
    }

    /// How a BIT field may be read.
    pub(super) fn readings_at(&self, position: Position) -> Readings {
        let Some(Content::Bits(column)) = self.contents.get(position.field) else { return Readings::Known(Vec::new()) };
        let position = FieldPosition {
            start: position.start,
            is_last_of_record: position.field + 1 == self.contents.len(),
            is_last_text: self.is_last,
        };
        readings(self.text, position, self.format, *column)
    }

    /// Adds a BIT field in this reading.
    pub(super) fn push(&self, reading: &Reading, record: &mut Record) -> FieldStop {
        record.push_field(reading.value.clone().map(|value| &self.text[value]));
        if record.width() == self.contents.len() {
            FieldStop::Line(reading.next)
        } else {
            FieldStop::Field(reading.next)
        }
    }

    pub(super) fn text_field(&self, at: usize, charset: Charset, record: &mut Record) -> FieldStop {
        let Self { text, is_last, format, .. } = *self;
        if format.enclosed.is_some() && text.get(at).copied() == format.enclosed {
            quoted_field(text, at, is_last, format, charset, record)
        } else {
            plain_field(text, at, is_last, format, charset, record)
        }
    }
}

fn plain_field(
    text: &[u8],
    start: usize,
    is_last: bool,
    format: &Format,
    charset: Charset,
    record: &mut Record,
) -> FieldStop {
    let (field, line) = (format.fields_terminated[0], format.lines_terminated[0]);
    let escape = format.escaped.unwrap_or(field);
    let value_start = record.bytes.len();
    let (mut at, mut copied) = (start, start);
    loop {
        let Some(found) = next_special(text, at, [field, line, escape], charset) else {
            if !is_last {
                return FieldStop::Incomplete;
            }
            if format.is_of_dump {
                return FieldStop::Malformed(Malformed::Truncated, text.len());
            }
            record.bytes.extend_from_slice(&text[copied..]);
            end_plain(&text[start..], value_start, true, format, record);
            return FieldStop::Line(text.len());
        };
        if format.escaped == Some(text[found]) {
            record.bytes.extend_from_slice(&text[copied..found]);
            match text.get(found + 1) {
                Some(&escaped) => record.bytes.push(unescaped(escaped)),
                None if is_last => record.bytes.push(text[found]),
                None => return FieldStop::Incomplete,
            }
            at = (found + 2).min(text.len());
            copied = at;
            continue;
        }
        let (length, is_line) = match separator(&text[found..], is_last, format) {
            Separator::None => {
                at = found + 1;
                continue;
            }
            Separator::Incomplete => return FieldStop::Incomplete,
            Separator::Field(length) => (length, false),
            Separator::Line(length) => (length, true),
        };
        record.bytes.extend_from_slice(&text[copied..found]);
        end_plain(&text[start..found], value_start, is_line, format, record);
        let next = found + length;
        return if is_line { FieldStop::Line(next) } else { FieldStop::Field(next) };
    }
}

/// Ends a field without quotes: `raw` is what stands in the file.
fn end_plain(raw: &[u8], value_start: usize, is_line_end: bool, format: &Format, record: &mut Record) {
    let mut raw = raw;
    if format.takes_crlf
        && is_line_end
        && let Some((b'\r', before)) = raw.split_last()
        && !ends_with_escape(before, format)
    {
        raw = before;
        record.bytes.pop();
    }
    record.is_blank = is_line_end && raw.is_empty() && record.fields.is_empty();
    let is_null = format.null.as_deref() == Some(raw)
        || format.escaped.is_some_and(|escape| raw == [escape, b'N'])
        || (format.enclosed.is_some() && !format.is_csv && &record.bytes[value_start..] == b"NULL");
    if is_null {
        record.bytes.truncate(value_start);
    }
    record.end_field(is_null);
}

/// Whether the byte behind `raw` is escaped.
fn ends_with_escape(raw: &[u8], format: &Format) -> bool {
    let is_escape = |byte: &&u8| format.escaped == Some(**byte);
    raw.iter().rev().take_while(is_escape).count() % 2 == 1
}

/// Ends a field with quotes: `raw` is what stands between them.
fn end_quoted(raw: &[u8], value_start: usize, format: &Format, record: &mut Record) {
    let is_null = !format.is_csv && format.escaped.is_some_and(|escape| raw == [escape, b'N']);
    if is_null {
        record.bytes.truncate(value_start);
    }
    record.end_field(is_null);
}

fn quoted_field(
    text: &[u8],
    start: usize,
    is_last: bool,
    format: &Format,
    charset: Charset,
    record: &mut Record,
) -> FieldStop {
    let quote = text[start];
    let escape = format.escaped.unwrap_or(quote);
    let value_start = record.bytes.len();
    let mut at = start + 1;
    let open = if is_last { FieldStop::Malformed(Malformed::OpenQuote, text.len()) } else { FieldStop::Incomplete };
    // SELECT … INTO OUTFILE never doubles a quote: it escapes it, or writes it as it is where there are no escapes.
    let is_doubled = format.escaped.is_some() || !format.is_of_dump;
    loop {
        let Some(found) = next_special(text, at, [quote, escape, escape], charset) else { return open };
        record.bytes.extend_from_slice(&text[at..found]);
        if text[found] != quote {
            let Some(&escaped) = text.get(found + 1) else { return open };
            record.bytes.push(unescaped(escaped));
            at = found + 2;
            continue;
        }
        let behind = found + 1;
        match text.get(behind) {
            None if is_last && format.is_of_dump => return FieldStop::Malformed(Malformed::Truncated, text.len()),
            None if is_last => {
                end_quoted(&text[start + 1..found], value_start, format, record);
                return FieldStop::Line(behind);
            }
            None => return FieldStop::Incomplete,
            Some(&next) if next == quote && is_doubled => {
                record.bytes.push(quote);
                at = behind + 1;
                continue;
            }
            Some(_) => {}
        }
        match separator(&text[behind..], is_last, format) {
            Separator::Incomplete => return FieldStop::Incomplete,
            Separator::Field(length) => {
                end_quoted(&text[start + 1..found], value_start, format, record);
                return FieldStop::Field(behind + length);
            }
            Separator::Line(length) => {
                end_quoted(&text[start + 1..found], value_start, format, record);
                return FieldStop::Line(behind + length);
            }
            Separator::None if format.is_csv => return FieldStop::Malformed(Malformed::BehindQuote, behind),
            // LOAD DATA takes a quote that no separator follows for a part of the value.
            Separator::None => {
                record.bytes.push(quote);
                at = behind;
            }
        }
    }
}

pub(super) enum Separator {
    None,
    Field(usize),
    Line(usize),
    Incomplete,
}

/// Which separator `text` begins with, and its length.
pub(super) fn separator(text: &[u8], is_last: bool, format: &Format) -> Separator {
    for (separator, is_line) in [(&format.lines_terminated, true), (&format.fields_terminated, false)] {
        if text.starts_with(separator) {
            return if is_line { Separator::Line(separator.len()) } else { Separator::Field(separator.len()) };
        }
        if !is_last && separator.starts_with(text) {
            return Separator::Incomplete;
        }
    }
    match text {
        [b'\r', b'\n', ..] if format.takes_crlf => Separator::Line(2),
        [b'\r'] if format.takes_crlf && is_last => Separator::Line(1),
        [b'\r'] if format.takes_crlf => Separator::Incomplete,
        _ => Separator::None,
    }
}

/// The byte that stands for itself behind an escape, or for another one.
const fn unescaped(byte: u8) -> u8 {
    match byte {
        b'0' => 0,
        b'b' => 0x08,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'Z' => 0x1a,
        other => other,
    }
}
