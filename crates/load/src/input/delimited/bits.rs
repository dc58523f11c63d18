//! The field of a BIT column as `SELECT … INTO OUTFILE` writes it: all bytes of the value as they are. A tab among them is a
//! byte of the value, and so is a backslash. Only the number of bytes tells where the field ends.

use super::Format;
use super::records::{FieldStop, Malformed, Record, Separator, separator};

/// Reads the field of a column of so many bits at `start`. What the server wrote is one of the readings that the separators
/// allow; where there are several, nobody can tell which. `None` where there is none: no server wrote it.
pub(super) fn bits_field(
    text: &[u8],
    start: usize,
    is_last: bool,
    format: &Format,
    bits: u32,
    record: &mut Record,
) -> Option<FieldStop> {
    let rest = &text[start..];
    let width = bits.div_ceil(8).max(1) as usize;
    let separator_bytes = format.fields_terminated.len().max(format.lines_terminated.len());
    let longest_null = format.null.as_ref().map_or(0, Vec::len).max(b"NULL".len());
    if !is_last && rest.len() < (width + 2).max(longest_null) + separator_bytes {
        return Some(FieldStop::Incomplete);
    }
    let mut readings = Vec::new();
    let mut add = |value, length: usize| {
        let Some(behind) = rest.get(length..).filter(|behind| !behind.is_empty()) else { return };
        let stop = match separator(behind, true, format) {
            Separator::Field(bytes) => FieldStop::Field(start + length + bytes),
            Separator::Line(bytes) => FieldStop::Line(start + length + bytes),
            Separator::None | Separator::Incomplete => return,
        };
        readings.push((value, stop));
    };
    // The first byte has the bits that are over.
    let unused_bits = width as u32 * 8 - bits;
    let fits = |value: &&[u8]| value.first().is_some_and(|byte| byte.leading_zeros() >= unused_bits);
    if let Some(value) = rest.get(..width).filter(fits) {
        add(Some(value), width);
    }
    if let Some(quote) = format.enclosed
        && let Some(value) = rest.get(1..=width).filter(fits)
        && rest[0] == quote
        && rest.get(width + 1) == Some(&quote)
    {
        add(Some(value), width + 2);
    }
    let escaped = format.escaped.map(|escape| vec![escape, b'N']);
    let word = (format.escaped.is_none() || format.enclosed.is_some()).then(|| b"NULL".to_vec());
    let mut nulls = [escaped, word, format.null.clone()].into_iter().flatten().collect::<Vec<_>>();
    nulls.sort();
    nulls.dedup();
    for null in nulls.iter().filter(|null| rest.starts_with(null)) {
        add(None, null.len());
    }
    if readings.len() > 1 {
        return Some(FieldStop::Malformed(Malformed::AmbiguousBits, text.len()));
    }
    let (value, stop) = readings.pop()?;
    record.push_field(value);
    Some(stop)
}
