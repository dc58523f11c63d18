//! Splits delimited text into fields. [`split_record`] is the whole format: it reads one record of the bytes at hand, or says
//! that more are needed. Where a field has several readings, the number of fields decides.
//!
//! Formats: MariaDB manual, "LOAD DATA INFILE"; RFC 4180 for CSV.

use std::collections::{HashMap, HashSet};

use memchr::memchr3;

use super::bits::{FieldPosition, Reading, Readings, readings};
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
    fn clear(&mut self) {
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
    fn push_field(&mut self, value: Option<&[u8]>) {
        self.bytes.extend_from_slice(value.unwrap_or_default());
        self.end_field(value.is_none());
    }

    /// Takes all fields behind the first ones away.
    fn truncate(&mut self, width: usize) {
        self.fields.truncate(width);
        self.bytes.truncate(self.fields.last().map_or(0, |field| field.end));
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
enum FieldStop {
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
    let mut splitter =
        Splitter { text, is_last, format, contents, alternatives: Vec::new(), path: Vec::new(), met: HashSet::new() };
    let first = splitter.split(0, record);
    match first {
        Found::Incomplete => first,
        _ if splitter.alternatives.is_empty() => first,
        _ => splitter.choose(first, record),
    }
}

/// Splits one record, and remembers how else it may be split.
struct Splitter<'t> {
    text: &'t [u8],
    is_last: bool,
    format: &'t Format,
    contents: &'t [Content],
    /// Those that are not tried yet.
    alternatives: Vec<Alternative>,
    /// The BIT fields of this attempt, from the first one of several readings on.
    path: Vec<FieldStart>,
    /// Those of all attempts: what follows one of them is known.
    met: HashSet<FieldStart>,
}

/// Where a field starts, and how many are before it.
type FieldStart = (usize, usize);

/// Another reading of a field.
struct Alternative {
    /// Of the record, before this field.
    width: usize,
    reading: Reading,
}

impl Splitter<'_> {
    /// Tries the other readings. What makes a record of the table is the record. Of two that do, the shorter one is: a value that
    /// looks like the end of a line is rarer than NULL at the end of one. Of two that end at the same place, nobody knows which.
    fn choose(&mut self, first: Found, record: &mut Record) -> Found {
        // Where the record ends for whoever comes to one of these places.
        let mut ends: HashMap<FieldStart, usize> = HashMap::new();
        let mut fit: Option<(usize, Record)> = None;
        if let Some(end) = self.fit_of(first, record) {
            ends.extend(self.path.iter().map(|place| (*place, end)));
            fit = Some((end, record.clone()));
        }
        let mut is_ambiguous = false;
        while let Some(Alternative { width, reading }) = self.alternatives.pop() {
            record.truncate(width);
            let kept = self.path.iter().take_while(|place| place.1 <= width).count();
            self.path.truncate(kept);
            let found = match self.take(&reading, record) {
                FieldStop::Field(next) => self.split(next, record),
                FieldStop::Line(end) => Found::Record(end),
                FieldStop::Incomplete => Found::Incomplete,
                FieldStop::Malformed(what, read) => Found::Malformed(what, read),
            };
            if found == Found::Incomplete {
                return found;
            }
            let met = self.path[kept..].last().and_then(|place| ends.get(place)).copied();
            let whole = self.fit_of(found, record);
            let Some(end) = met.or(whole) else { continue };
            ends.extend(self.path.iter().map(|place| (*place, end)));
            match &fit {
                Some((shortest, _)) if end > *shortest => {}
                Some((shortest, _)) if end == *shortest => is_ambiguous = true,
                _ if whole.is_some() => (fit, is_ambiguous) = (Some((end, record.clone())), false),
                _ => {}
            }
        }
        match (fit, first) {
            (Some((end, of_fit)), _) if !is_ambiguous => {
                *record = of_fit;
                Found::Record(end)
            }
            (None, Found::Malformed(Malformed::Truncated, _)) => first,
            _ => Found::Malformed(Malformed::AmbiguousBits, self.text.len()),
        }
    }

    /// Where a record of the table ends.
    fn fit_of(&self, found: Found, record: &Record) -> Option<usize> {
        match found {
            Found::Record(end) if record.width() == self.contents.len() => Some(end),
            _ => None,
        }
    }

    /// Splits from a field on.
    fn split(&mut self, start: usize, record: &mut Record) -> Found {
        let mut at = start;
        loop {
            match self.field(at, record) {
                FieldStop::Field(next) => at = next,
                FieldStop::Line(end) => return Found::Record(end),
                FieldStop::Incomplete => return Found::Incomplete,
                FieldStop::Malformed(what, read) => return Found::Malformed(what, read),
            }
        }
    }

    fn field(&mut self, at: usize, record: &mut Record) -> FieldStop {
        let Self { text, is_last, format, contents, .. } = *self;
        let charset = match contents.get(record.width()).copied().unwrap_or_default() {
            Content::Text(charset) => charset,
            Content::Bits(column) => {
                let is_last_of_record = record.width() + 1 == contents.len();
                let place = FieldPosition { start: at, is_last_of_record, is_last_text: is_last };
                match readings(text, place, format, column) {
                    Readings::Incomplete => return FieldStop::Incomplete,
                    Readings::Truncated => return FieldStop::Malformed(Malformed::Truncated, text.len()),
                    Readings::Known(found) if found.is_empty() => Charset::AsciiSafe,
                    Readings::Known(found) => return self.take_first(at, found, record),
                }
            }
        };
        if format.enclosed.is_some() && text.get(at).copied() == format.enclosed {
            quoted_field(text, at, is_last, format, charset, record)
        } else {
            plain_field(text, at, is_last, format, charset, record)
        }
    }

    /// Reads the field at `start` in the first of these ways.
    fn take_first(&mut self, start: usize, found: Vec<Reading>, record: &mut Record) -> FieldStop {
        let width = record.width();
        if found.len() > 1 || !self.path.is_empty() {
            self.path.push((start, width));
            if !self.met.insert((start, width)) {
                return FieldStop::Malformed(Malformed::AmbiguousBits, self.text.len());
            }
        }
        let mut found = found.into_iter();
        let Some(first) = found.next() else { return FieldStop::Incomplete };
        self.alternatives.extend(found.rev().map(|reading| Alternative { width, reading }));
        self.take(&first, record)
    }

    fn take(&self, reading: &Reading, record: &mut Record) -> FieldStop {
        record.push_field(reading.value.clone().map(|value| &self.text[value]));
        if record.width() == self.contents.len() {
            FieldStop::Line(reading.next)
        } else {
            FieldStop::Field(reading.next)
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
    if format.is_csv
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
            Some(&next) if next == quote => {
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
        [b'\r', b'\n', ..] if format.is_csv => Separator::Line(2),
        [b'\r'] if format.is_csv && is_last => Separator::Line(1),
        [b'\r'] if format.is_csv => Separator::Incomplete,
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
