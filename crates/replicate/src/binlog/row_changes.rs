//! The rows of an event one by one, and events that are made of such rows: for rows that the target refuses.
//!
//! Values stay as they stand in the event. Nothing is converted.

use super::event::{Content, Event};
use super::fields::{Fields, Found};
use super::format_description::FormatDescription;
use super::header::HEADER_BYTES;
use super::rewrite::{END_OF_STATEMENT, ROWS_FLAGS_AT, length_encoded};
use super::row_images::{ColumnFormat, has};
use super::rows::{RowsForm, kind_of};

/// A value of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    Null,
    /// The bytes as they stand, and where the value begins in them: behind its length.
    Value {
        bytes: Vec<u8>,
        at: usize,
    },
}

impl Cell {
    /// The value without its length; `None` for NULL.
    pub(crate) fn value(&self) -> Option<&[u8]> {
        match self {
            Cell::Null => None,
            Cell::Value { bytes, at } => bytes.get(*at..),
        }
    }
}

/// The values of a row by column; `None` for a column that the image does not hold.
pub(crate) type Image = Vec<Option<Cell>>;

/// What was done with one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RowChange {
    Insert(Image),
    Update { before: Image, after: Image },
    Delete(Image),
}

impl RowChange {
    fn form(&self) -> RowsForm {
        match self {
            RowChange::Insert(_) => RowsForm::Write,
            RowChange::Update { .. } => RowsForm::Update,
            RowChange::Delete(_) => RowsForm::Delete,
        }
    }

    fn images(&self) -> Vec<&Image> {
        match self {
            RowChange::Insert(image) | RowChange::Delete(image) => vec![image],
            RowChange::Update { before, after } => vec![before, after],
        }
    }

    /// The image by which the row is known on the source: the one before the change, if it has one.
    pub(crate) fn known_by(&self) -> &Image {
        match self {
            RowChange::Insert(image) | RowChange::Delete(image) => image,
            RowChange::Update { before, .. } => before,
        }
    }
}

/// What an image holds, and what it does not hold as another one has it.
pub(crate) fn merged(image: &Image, other: &Image) -> Image {
    image.iter().zip(other).map(|(one, other)| one.clone().or_else(|| other.clone())).collect()
}

/// An image of some columns only.
pub(crate) fn only(image: &Image, columns: &[usize]) -> Image {
    let keep = |(index, cell): (usize, &Option<Cell>)| cell.clone().filter(|_| columns.contains(&index));
    image.iter().enumerate().map(keep).collect()
}

impl Event {
    /// The rows of an event whose images are not compressed.
    ///
    /// # Errors
    /// Rows that cannot be read.
    pub(crate) fn row_changes(
        &self,
        formats: &[ColumnFormat],
        format: &FormatDescription,
    ) -> Result<Vec<RowChange>, Found> {
        let Content::Rows(rows) = &self.content else { return Err("these are no rows".to_owned()) };
        if rows.columns != formats.len() {
            return Err(format!("rows of {} columns, of a table with {}", rows.columns, formats.len()));
        }
        let body = self.bytes.get(HEADER_BYTES..self.body_end(format)).unwrap_or_default();
        let present = rows.present(body);
        let mut fields = Fields(body.get(rows.images_at..).ok_or("rows that are cut off")?);
        let mut changes = Vec::new();
        while !fields.0.is_empty() {
            let first = take_image(&mut fields, formats, present[0])?;
            changes.push(match rows.form {
                RowsForm::Write => RowChange::Insert(first),
                RowsForm::Delete => RowChange::Delete(first),
                RowsForm::Update => {
                    RowChange::Update { before: first, after: take_image(&mut fields, formats, present[1])? }
                }
                RowsForm::PartialUpdate => return Err("parts of JSON values".to_owned()),
            });
            if formats.is_empty() {
                return Err("rows of no column".to_owned());
            }
        }
        Ok(changes)
    }

    /// An event of other rows of the same table, which ends its statement. All are changed in the same way, and their images
    /// hold the same columns.
    ///
    /// # Errors
    /// Rows of a form that is not known.
    pub(crate) fn of_changes(&self, changes: &[RowChange], format: &FormatDescription) -> Result<Vec<u8>, Found> {
        let (Content::Rows(rows), Some(first)) = (&self.content, changes.first()) else {
            return Err("these are no rows".to_owned());
        };
        let kind = kind_of(first.form(), self.header.kind).ok_or("rows of an unknown form")?;
        let present = rows.present(&self.bytes[HEADER_BYTES..]);
        let sets = present.iter().filter(|set| !set.is_empty()).count();
        let count = length_encoded(rows.columns);
        let head_end = HEADER_BYTES + rows.images_at - sets * rows.columns.div_ceil(8) - count.len();
        let mut head = self.bytes[HEADER_BYTES..head_end].to_vec();
        head[ROWS_FLAGS_AT - HEADER_BYTES] |= END_OF_STATEMENT;
        let held: Vec<u8> =
            first.images().into_iter().flat_map(|image| bits(image.iter().map(Option::is_some))).collect();
        let images: Vec<u8> = changes.iter().flat_map(RowChange::images).flat_map(written).collect();
        let mut made = self.clone();
        made.replace_body(kind, &[&head, &count, &held, &images], format);
        Ok(made.bytes)
    }
}

fn take_image(fields: &mut Fields<'_>, formats: &[ColumnFormat], set: &[u8]) -> Result<Image, Found> {
    let held = (0..formats.len()).filter(|index| has(set, *index)).count();
    let nulls = fields.bytes(held.div_ceil(8), "which values are NULL")?;
    let mut number = 0;
    let one = |(index, column): (usize, &ColumnFormat)| {
        if !has(set, index) {
            return Ok(None);
        }
        let is_null = has(nulls, number);
        number += 1;
        if is_null {
            return Ok(Some(Cell::Null));
        }
        let start = fields.0;
        let value = column.take(fields)?;
        let bytes = start[..start.len() - fields.0.len()].to_vec();
        let at = bytes.len() - value.len();
        Ok(Some(Cell::Value { bytes, at }))
    };
    formats.iter().enumerate().map(one).collect()
}

fn written(image: &Image) -> Vec<u8> {
    let held = || image.iter().flatten();
    let mut bytes = bits(held().map(|cell| *cell == Cell::Null));
    for cell in held() {
        if let Cell::Value { bytes: value, .. } = cell {
            bytes.extend_from_slice(value);
        }
    }
    bytes
}

fn bits(all: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, is_set) in all.enumerate() {
        if index % 8 == 0 {
            bytes.push(0);
        }
        if let Some(last) = bytes.last_mut() {
            *last |= u8::from(is_set) << (index % 8);
        }
    }
    bytes
}
