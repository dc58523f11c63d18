//! The field of a BIT column as `SELECT … INTO OUTFILE` writes it: all bytes of the value as they are. A tab among them is a
//! byte of the value, and so is a backslash. Only the number of bytes tells where the field ends, and only what follows
//! whether it is NULL.

use std::ops::Range;

use super::Format;
use super::split::{Separator, separator};

/// A BIT column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// How many bits a value has.
    pub bits: u32,
    /// Whether it takes NULL.
    pub nullable: bool,
}

/// One way to read a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// Where its value stands in the text; `None` for NULL.
    pub(super) value: Option<Range<usize>>,
    /// Where the next field or line begins.
    pub(super) next: usize,
}

/// What a field may be.
pub(super) enum Readings {
    /// In one of these ways. With none, no server wrote it.
    Known(Vec<Reading>),
    Incomplete,
    /// The text ends within it. What is left may look like a field of another kind.
    Truncated,
}

/// Where a field stands.
#[derive(Clone, Copy)]
pub(super) struct FieldPosition {
    /// Its first byte.
    pub(super) start: usize,
    /// Whether its line ends behind it.
    pub(super) is_last_of_record: bool,
    /// Whether nothing follows the text.
    pub(super) is_last_text: bool,
}

/// How the separators allow to read a field. Where NULL and a value end at one place, it is NULL, which is more frequent.
pub(super) fn readings(text: &[u8], place: FieldPosition, format: &Format, column: Bits) -> Readings {
    let rest = &text[place.start..];
    let width = column.bits.div_ceil(8).max(1) as usize;
    let separator_bytes = format.fields_terminated.len().max(format.lines_terminated.len());
    let nulls = if column.nullable { nulls(format) } else { Vec::new() };
    let longest = nulls.iter().map(Vec::len).max().unwrap_or_default().max(width + 2);
    if !place.is_last_text && rest.len() < longest + separator_bytes {
        return Readings::Incomplete;
    }
    let mut found: Vec<Reading> = Vec::new();
    let mut add = |value: Option<Range<usize>>, length: usize| {
        let behind = rest.get(length..).unwrap_or_default();
        let bytes = match separator(behind, true, format) {
            Separator::Field(bytes) if !place.is_last_of_record => bytes,
            Separator::Line(bytes) if place.is_last_of_record => bytes,
            _ => return,
        };
        let value = value.map(|value| place.start + value.start..place.start + value.end);
        let next = place.start + length + bytes;
        if found.iter().all(|reading| reading.next != next) {
            found.push(Reading { value, next });
        }
    };
    for null in nulls.iter().filter(|null| rest.starts_with(null)) {
        add(None, null.len());
    }
    // The first byte has the bits that are over.
    let unused_bits = width as u32 * 8 - column.bits;
    let fits = |value: &[u8]| value.first().is_some_and(|byte| byte.leading_zeros() >= unused_bits);
    // Without OPTIONALLY, each value is in quotes; with it, texts only.
    let is_quoted = format.enclosed.is_some() && !format.is_optionally_enclosed;
    if !is_quoted && rest.get(..width).is_some_and(fits) {
        add(Some(0..width), width);
    }
    let is_quote = |at: usize| rest.get(at).copied() == format.enclosed;
    if is_quoted && is_quote(0) && is_quote(width + 1) && rest.get(1..=width).is_some_and(fits) {
        add(Some(1..width + 1), width + 2);
    }
    let least_bytes = width + if is_quoted { 2 } else { 0 } + format.lines_terminated.len();
    // A line that ends is whole, where more fields must follow: they are missing.
    let is_cut = place.is_last_text
        && rest.len() < least_bytes
        && (place.is_last_of_record || !rest.ends_with(&format.lines_terminated));
    if found.is_empty() && is_cut { Readings::Truncated } else { Readings::Known(found) }
}

/// How NULL is written.
fn nulls(format: &Format) -> Vec<Vec<u8>> {
    let written = format.escaped.map_or_else(|| b"NULL".to_vec(), |escape| vec![escape, b'N']);
    [Some(written), format.null.clone()].into_iter().flatten().collect()
}
