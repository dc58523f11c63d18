//! Row images: where each value ends, as the types of a table map say.
//!
//! Source: MySQL internals, "Row Based Replication", TABLE_MAP_EVENT and ROWS_EVENT; MariaDB's types beyond those: the
//! knowledge base on compressed columns.

use super::fields::{Fields, Found};
use super::rewrite::AddedColumn;
use super::rows::TableMap;

/// VARCHAR.
const TEXT: u8 = 15;
/// CHAR, and with its first byte of metadata ENUM and SET.
const STRING: u8 = 254;
const ENUM: u8 = 247;
const SET: u8 = 248;
const BLOB: u8 = 252;

/// How long a type's metadata and its values are.
#[derive(Clone, Copy, Debug)]
enum Length {
    /// So many bytes.
    Fixed(usize),
    /// So many, and those of the fraction of a second.
    Fraction(usize),
    /// Behind a number of as many bytes as the metadata says.
    Behind,
    /// Behind one byte, or two where the values may be longer than 255 bytes.
    Text,
    /// CHAR, ENUM or SET.
    String,
    /// A row of bits.
    Bits,
    /// Digits.
    Decimal,
}

/// Each type: its number, the bytes of its metadata, and those of its values.
const TYPES: [(u8, usize, Length); 32] = [
    (1, 0, Length::Fixed(1)),
    (2, 0, Length::Fixed(2)),
    (3, 0, Length::Fixed(4)),
    (4, 1, Length::Fixed(4)),
    (5, 1, Length::Fixed(8)),
    (6, 0, Length::Fixed(0)),
    (7, 0, Length::Fixed(4)),
    (8, 0, Length::Fixed(8)),
    (9, 0, Length::Fixed(3)),
    (10, 0, Length::Fixed(3)),
    (11, 0, Length::Fixed(3)),
    (12, 0, Length::Fixed(8)),
    (13, 0, Length::Fixed(1)),
    (14, 0, Length::Fixed(3)),
    (TEXT, 2, Length::Text),
    (16, 2, Length::Bits),
    (17, 1, Length::Fraction(4)),
    (18, 1, Length::Fraction(5)),
    (19, 1, Length::Fraction(3)),
    // Compressed BLOB and VARCHAR of MariaDB.
    (140, 1, Length::Behind),
    (141, 2, Length::Text),
    // VECTOR and JSON of MySQL.
    (242, 1, Length::Behind),
    (245, 1, Length::Behind),
    (246, 2, Length::Decimal),
    (249, 1, Length::Behind),
    (250, 1, Length::Behind),
    (251, 1, Length::Behind),
    (BLOB, 1, Length::Behind),
    (253, 2, Length::Text),
    (STRING, 2, Length::String),
    (255, 1, Length::Behind),
    (ENUM, 2, Length::String),
];

/// How a column's values stand in images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnFormat {
    /// Its type.
    pub column_type: u8,
    /// What the table map says of it further.
    pub metadata: Vec<u8>,
}

impl ColumnFormat {
    /// The columns of a table map.
    ///
    /// # Errors
    /// A type that is not known.
    pub fn read_all(map: &TableMap) -> Result<Vec<ColumnFormat>, Found> {
        let mut fields = Fields(&map.metadata);
        let one = |column_type: &u8| {
            let metadata = fields.bytes(row_of(*column_type)?.1, "the metadata of a column")?.to_vec();
            Ok(ColumnFormat { column_type: *column_type, metadata })
        };
        map.column_types.iter().map(one).collect()
    }

    /// A VARCHAR of so many bytes.
    pub(super) fn text(limit_bytes: u16) -> ColumnFormat {
        ColumnFormat { column_type: TEXT, metadata: limit_bytes.to_le_bytes().to_vec() }
    }

    fn metadata_byte(&self, index: usize) -> usize {
        self.metadata.get(index).copied().unwrap_or_default().into()
    }

    /// Whether its values are texts, or bytes of no fixed number.
    pub(crate) fn is_text(&self) -> bool {
        let is_enum = [ENUM, SET].contains(&self.metadata.first().copied().unwrap_or_default());
        row_of(self.column_type).is_ok_and(|row| match row.2 {
            Length::Text => true,
            Length::String => !is_enum,
            _ => self.column_type == BLOB,
        })
    }

    /// Takes a value, without its length.
    pub(super) fn take<'a>(&self, fields: &mut Fields<'a>) -> Result<&'a [u8], Found> {
        let what = "a value";
        let (first, second) = (self.metadata_byte(0), self.metadata_byte(1));
        let length = match row_of(self.column_type)?.2 {
            Length::Fixed(length) => length,
            Length::Fraction(length) => length + first.div_ceil(2),
            Length::Behind => number(fields, first)?,
            Length::Text => number(fields, length_bytes(first | second << 8))?,
            Length::Bits => second + usize::from(first > 0),
            Length::Decimal => decimal_bytes(first, second),
            Length::String if [ENUM, SET].map(usize::from).contains(&first) => second,
            // Two bits of a length above 255 stand in the type, inverted.
            Length::String if first & 0x30 != 0x30 => {
                number(fields, length_bytes(second | ((first & 0x30) ^ 0x30) << 4))?
            }
            Length::String => number(fields, length_bytes(second))?,
        };
        fields.bytes(length, what)
    }
}

/// The images of rows, one after the other: of an update the one before it, then the one after.
pub(crate) struct RowImages<'a> {
    formats: &'a [ColumnFormat],
    sets: Vec<&'a [u8]>,
    fields: Fields<'a>,
    next: usize,
}

impl<'a> RowImages<'a> {
    /// Reads images of a table's columns; `present` says which columns they hold.
    pub(super) fn new(formats: &'a [ColumnFormat], present: [&'a [u8]; 2], images: &'a [u8]) -> RowImages<'a> {
        let sets = present.into_iter().filter(|set| !set.is_empty()).collect();
        RowImages { formats, sets, fields: Fields(images), next: 0 }
    }

    /// Puts the values of the next image into `values`, by column; `None` for a column that it does not hold. False: there
    /// is no further image.
    ///
    /// # Errors
    /// An image that cannot be read.
    pub(crate) fn next_into(&mut self, values: &mut Vec<Option<Value<'a>>>) -> Result<bool, Found> {
        values.clear();
        let Some(set) = self.sets.get(self.next).copied().filter(|_| !self.fields.0.is_empty()) else {
            return Ok(false);
        };
        self.next = (self.next + 1) % self.sets.len();
        let held = (0..self.formats.len()).filter(|index| has(set, *index)).count();
        let nulls = self.fields.bytes(held.div_ceil(8), "which values are NULL")?;
        let mut number = 0;
        for (index, format) in self.formats.iter().enumerate() {
            let value = match has(set, index) {
                false => None,
                true if has(nulls, number) => Some(None),
                true => Some(Some(format.take(&mut self.fields)?)),
            };
            number += usize::from(value.is_some());
            values.push(value);
        }
        Ok(true)
    }
}

/// A value without its length; `None` for NULL.
pub(crate) type Value<'a> = Option<&'a [u8]>;

fn row_of(column_type: u8) -> Result<&'static (u8, usize, Length), Found> {
    let row = TYPES.iter().find(|row| row.0 == column_type);
    row.ok_or_else(|| format!("a column of the unknown type {column_type}"))
}

/// The bytes of a value's length.
fn length_bytes(limit_bytes: usize) -> usize {
    if limit_bytes > 255 { 2 } else { 1 }
}

fn number(fields: &mut Fields<'_>, bytes: usize) -> Result<usize, Found> {
    let taken = fields.bytes(bytes, "the length of a value")?;
    Ok(taken.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

/// Nine digits take four bytes.
fn decimal_bytes(precision: usize, scale: usize) -> usize {
    const BYTES: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];
    let part = |digits: usize| digits / 9 * 4 + BYTES[digits % 9];
    part(precision.saturating_sub(scale)) + part(scale)
}

pub(super) fn has(bits: &[u8], index: usize) -> bool {
    bits.get(index / 8).is_some_and(|byte| byte >> (index % 8) & 1 == 1)
}

/// Bits with a further one at a place.
fn with_bit(bits: &[u8], count: usize, index: usize, is_set: bool) -> Vec<u8> {
    let mut all: Vec<bool> = (0..count).map(|index| has(bits, index)).collect();
    all.insert(index.min(count), is_set);
    let mut bytes = vec![0u8; all.len().div_ceil(8)];
    for (index, _) in all.iter().enumerate().filter(|(_, is_set)| **is_set) {
        bytes[index / 8] |= 1 << (index % 8);
    }
    bytes
}

/// Which columns the images hold, and the images, with a further column in each.
pub(super) fn with_column(
    column: &AddedColumn,
    formats: &[ColumnFormat],
    present: [&[u8]; 2],
    images: &[u8],
) -> Result<([Vec<u8>; 2], Vec<u8>), Found> {
    let index = column.index.min(formats.len());
    let mut value = match length_bytes(column.limit_bytes.into()) {
        1 => vec![u8::try_from(column.value.len()).map_err(|_| TOO_LONG)?],
        _ => u16::try_from(column.value.len()).map_err(|_| TOO_LONG)?.to_le_bytes().to_vec(),
    };
    value.extend_from_slice(&column.value);
    let sets: Vec<&[u8]> = present.into_iter().filter(|set| !set.is_empty()).collect();
    let mut fields = Fields(images);
    let mut found = Vec::with_capacity(images.len() * 2);
    while !fields.0.is_empty() {
        for set in &sets {
            let held: Vec<usize> = (0..formats.len()).filter(|index| has(set, *index)).collect();
            let nulls = fields.bytes(held.len().div_ceil(8), "which values are NULL")?;
            let place = held.iter().take_while(|held| **held < index).count();
            found.extend_from_slice(&with_bit(nulls, held.len(), place, false));
            let start = fields.0;
            let mut split = None;
            for (number, held) in held.iter().enumerate() {
                if number == place {
                    split = Some(start.len() - fields.0.len());
                }
                if !has(nulls, number) {
                    formats[*held].take(&mut fields)?;
                }
            }
            let taken = &start[..start.len() - fields.0.len()];
            let (before, behind) = taken.split_at(split.unwrap_or(taken.len()));
            found.extend_from_slice(before);
            found.extend_from_slice(&value);
            found.extend_from_slice(behind);
        }
        if sets.is_empty() {
            return Err("images without columns".to_owned());
        }
    }
    let widen = |set: &[u8]| if set.is_empty() { Vec::new() } else { with_bit(set, formats.len(), index, true) };
    Ok((present.map(widen), found))
}

const TOO_LONG: &str = "the source's name is longer than the source column";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_in_each_place() {
        // INT, VARCHAR(300), DECIMAL(5,2), CHAR(3); the second value of the second image is NULL.
        let formats: Vec<ColumnFormat> = [(3, vec![]), (15, vec![44, 1]), (246, vec![5, 2]), (254, vec![254, 3])]
            .map(|(column_type, metadata)| ColumnFormat { column_type, metadata })
            .to_vec();
        let full = b"\x00\x01\0\0\0\x02\0ab\x80\x01\x02\x01c";
        let null = b"\x02\x02\0\0\0\x80\x01\x02\x00";
        let images = [&full[..], null].concat();
        for (index, first, second) in [
            (0, "00 0173 01000000 02006162 800102 0163", "04 0173 02000000 800102 00"),
            (1, "00 01000000 0173 02006162 800102 0163", "04 02000000 0173 800102 00"),
            (4, "00 01000000 02006162 800102 0163 0173", "02 02000000 800102 00 0173"),
            (9, "00 01000000 02006162 800102 0163 0173", "02 02000000 800102 00 0173"),
        ] {
            let column = AddedColumn { index, limit_bytes: 64, value: b"s".to_vec() };
            let (present, found) = with_column(&column, &formats, [&[0x0f], &[]], &images).unwrap();
            let hex: String = found.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(hex, [first, second].concat().replace(' ', ""), "at {index}");
            assert_eq!(present, [vec![0x1f], vec![]]);
        }
    }

    #[test]
    fn images_of_some_columns() {
        let formats = vec![ColumnFormat { column_type: 3, metadata: vec![] }; 9];
        // Before: the first column; after: the ninth.
        let images = b"\0\x01\0\0\0\0\x02\0\0\0";
        let column = AddedColumn { index: 1, limit_bytes: 300, value: b"s".to_vec() };
        let (present, found) = with_column(&column, &formats, [&[0x01, 0x00], &[0x00, 0x01]], images).unwrap();
        assert_eq!(present, [vec![0x03, 0x00], vec![0x02, 0x02]]);
        assert_eq!(found, b"\0\x01\0\0\0\x01\0s\0\x01\0s\x02\0\0\0");
        let cut = with_column(&column, &formats, [&[0x01, 0x00], &[0x00, 0x01]], &images[..7]);
        assert!(cut.unwrap_err().contains("needs 4 bytes"), "a damaged event is refused");
    }
}
