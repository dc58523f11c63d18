//! Events with other bytes than the source wrote: without compression, for a table of another name, with a further column.

use std::sync::Arc;

use super::event::{Content, Event};
use super::event_kind::EventKind;
use super::fields::Found;
use super::format_description::FormatDescription;
use super::header::HEADER_BYTES;
use super::row_images::{ColumnFormat, RowImages, with_column};
use super::rows::plain_kind;

/// Where the type and the length stand in a header.
const KIND_AT: usize = 4;
const LENGTH_AT: usize = 9;
const CHECKSUM_BYTES: usize = 4;
/// Where the flags of rows stand, and that the statement ends with them.
pub(super) const ROWS_FLAGS_AT: usize = HEADER_BYTES + 6;
pub(super) const END_OF_STATEMENT: u8 = 0x01;
/// The flag of rows of a session with `foreign_key_checks=0`.
const NO_FOREIGN_KEY_CHECKS: u8 = 0x02;
/// The flag of rows of a session with `unique_checks=0`.
const RELAXED_UNIQUE_CHECKS: u8 = 0x04;
/// The number of a table and its flags: what a table map begins with.
const MAP_HEAD_BYTES: usize = 8;

/// A column that the target has and the source has not, with the one value that all its rows have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedColumn {
    /// Its place among the target's columns, from 0.
    pub index: usize,
    /// The longest value of the column, in bytes: it is a VARCHAR or VARBINARY.
    pub limit_bytes: u16,
    /// The value.
    pub value: Vec<u8>,
}

impl Event {
    /// Whether these are rows of a session that did not check foreign keys.
    pub(crate) fn is_without_foreign_key_checks(&self) -> bool {
        let flags = self.bytes.get(ROWS_FLAGS_AT).copied().unwrap_or_default();
        matches!(self.content, Content::Rows(_)) && flags & NO_FOREIGN_KEY_CHECKS != 0
    }

    /// The images of rows that are not compressed any more.
    pub(crate) fn row_images<'a>(
        &'a self,
        formats: &'a [ColumnFormat],
        format: &FormatDescription,
    ) -> Option<RowImages<'a>> {
        let Content::Rows(rows) = &self.content else { return None };
        let body = self.bytes.get(HEADER_BYTES..self.body_end(format))?;
        Some(RowImages::new(formats, rows.present(body), body.get(rows.images_at..)?))
    }

    /// Takes MariaDB's compression out of the event's bytes: a server refuses it in BINLOG statements. The checksum is that of
    /// the new bytes.
    pub fn uncompress(&mut self, format: &FormatDescription) {
        let Content::Rows(rows) = &mut self.content else { return };
        let (Some(images), Some(kind)) = (rows.uncompressed.take(), plain_kind(self.header.kind)) else { return };
        let head = self.bytes[HEADER_BYTES..HEADER_BYTES + rows.images_at].to_vec();
        self.replace_body(kind, &[&head, &images], format);
    }

    /// Makes a table map one of a table with another name.
    pub fn rename_table(&mut self, schema: &[u8], table: &[u8], format: &FormatDescription) {
        let Content::TableMap(map) = &mut self.content else { return };
        let map = Arc::make_mut(map);
        let names_end = HEADER_BYTES + MAP_HEAD_BYTES + name_bytes(&map.schema) + name_bytes(&map.table);
        (map.schema, map.table) = (schema.to_vec(), table.to_vec());
        let head = self.bytes[HEADER_BYTES..HEADER_BYTES + MAP_HEAD_BYTES].to_vec();
        let rest = self.bytes[names_end..self.body_end(format)].to_vec();
        self.replace_body(self.header.kind, &[&head, &name(schema), &name(table), &rest], format);
    }

    /// Lets the target check unique keys where the source's session did not. Without any checks InnoDB inserts in bulk into an
    /// empty table, and a server crashes where these rows come in several BINLOG statements of a transaction (seen with 10.11.19).
    pub fn check_unique(&mut self, format: &FormatDescription) {
        if !matches!(self.content, Content::Rows(_)) || self.bytes[ROWS_FLAGS_AT] & RELAXED_UNIQUE_CHECKS == 0 {
            return;
        }
        self.bytes[ROWS_FLAGS_AT] &= !RELAXED_UNIQUE_CHECKS;
        let body = self.bytes[HEADER_BYTES..self.body_end(format)].to_vec();
        self.replace_body(self.header.kind, &[&body], format);
    }

    /// Makes these rows the last ones of their statement.
    pub fn end_statement(&mut self, format: &FormatDescription) {
        let Content::Rows(rows) = &mut self.content else { return };
        rows.ends_statement = true;
        self.bytes[ROWS_FLAGS_AT] |= END_OF_STATEMENT;
        let body = self.bytes[HEADER_BYTES..self.body_end(format)].to_vec();
        self.replace_body(self.header.kind, &[&body], format);
    }

    /// Puts a column into a table map. Gives the formats of the columns that the source has.
    ///
    /// # Errors
    /// A table map that cannot be read.
    pub fn add_column_to_map(
        &mut self,
        column: &AddedColumn,
        format: &FormatDescription,
    ) -> Result<Vec<ColumnFormat>, Found> {
        let Content::TableMap(map) = &mut self.content else { return Err("it is no table map".to_owned()) };
        let map = Arc::make_mut(map);
        let at = HEADER_BYTES + MAP_HEAD_BYTES + name_bytes(&map.schema) + name_bytes(&map.table);
        let formats = ColumnFormat::read_all(map)?;
        let index = column.index.min(formats.len());
        let mut all: Vec<ColumnFormat> = formats.clone();
        all.insert(index, ColumnFormat::text(column.limit_bytes));
        let is_nullable = |index: usize| map.nullable.get(index / 8).is_some_and(|byte| byte >> (index % 8) & 1 == 1);
        let mut nullable: Vec<bool> = (0..formats.len()).map(is_nullable).collect();
        nullable.insert(index, false);
        let mut bits = vec![0u8; nullable.len().div_ceil(8)];
        for (index, _) in nullable.iter().enumerate().filter(|(_, is)| **is) {
            bits[index / 8] |= 1 << (index % 8);
        }
        let types: Vec<u8> = all.iter().map(|format| format.column_type).collect();
        let metadata: Vec<u8> = all.iter().flat_map(|format| format.metadata.clone()).collect();
        map.column_types.clone_from(&types);
        map.metadata.clone_from(&metadata);
        map.nullable.clone_from(&bits);
        let head = self.bytes[HEADER_BYTES..at].to_vec();
        // What MariaDB writes behind that with binlog_row_metadata is for readers, not for the server.
        let parts: [&[u8]; 6] =
            [&head, &length_encoded(types.len()), &types, &length_encoded(metadata.len()), &metadata, &bits];
        self.replace_body(self.header.kind, &parts, format);
        Ok(formats)
    }

    /// Puts the column's value into each image of rows. `formats` are those of the source's columns.
    ///
    /// # Errors
    /// Rows that cannot be read.
    pub fn add_column_to_rows(
        &mut self,
        column: &AddedColumn,
        formats: &[ColumnFormat],
        format: &FormatDescription,
    ) -> Result<(), Found> {
        let Content::Rows(rows) = &mut self.content else { return Err("these are no rows".to_owned()) };
        if rows.columns != formats.len() {
            return Err(format!("rows of {} columns, of a table with {}", rows.columns, formats.len()));
        }
        let images_at = HEADER_BYTES + rows.images_at;
        let present = rows.present(&self.bytes[HEADER_BYTES..]);
        let sets = present.iter().filter(|set| !set.is_empty()).count();
        let bits_bytes = rows.columns.div_ceil(8);
        let count_bytes = length_encoded(rows.columns).len();
        let head_end = images_at - sets * bits_bytes - count_bytes;
        let head = self.bytes[HEADER_BYTES..head_end].to_vec();
        let end = self.bytes.len() - if format.has_checksums { CHECKSUM_BYTES } else { 0 };
        let (present, images) = with_column(column, formats, present, &self.bytes[images_at..end])?;
        let bits = present.concat();
        rows.columns += 1;
        rows.images_at = head.len() + length_encoded(rows.columns).len() + bits.len();
        let count = length_encoded(rows.columns);
        self.replace_body(self.header.kind, &[&head, &count, &bits, &images], format);
        Ok(())
    }

    /// Behind the body, in bytes.
    pub(super) fn body_end(&self, format: &FormatDescription) -> usize {
        self.bytes.len() - if format.has_checksums { CHECKSUM_BYTES } else { 0 }
    }

    /// Puts other bytes between header and checksum.
    pub(super) fn replace_body(&mut self, kind: EventKind, body: &[&[u8]], format: &FormatDescription) {
        let mut bytes = self.bytes[..HEADER_BYTES].to_vec();
        body.iter().for_each(|part| bytes.extend_from_slice(part));
        let checksum_bytes = if format.has_checksums { CHECKSUM_BYTES } else { 0 };
        let length = u32::try_from(bytes.len() + checksum_bytes).unwrap_or(u32::MAX);
        (self.header.kind, self.header.length_bytes) = (kind, length);
        bytes[KIND_AT] = kind.0;
        bytes[LENGTH_AT..LENGTH_AT + 4].copy_from_slice(&length.to_le_bytes());
        if format.has_checksums {
            let checksum = crc32fast::hash(&bytes);
            bytes.extend_from_slice(&checksum.to_le_bytes());
        }
        self.bytes = bytes;
    }
}

/// A name with its length before it and a zero byte behind it.
pub(super) fn name(text: &[u8]) -> Vec<u8> {
    let length = u8::try_from(text.len()).unwrap_or(u8::MAX);
    [&[length][..], text, &[0]].concat()
}

fn name_bytes(text: &[u8]) -> usize {
    text.len() + 2
}

/// A number as tables maps and rows write their lengths.
pub(super) fn length_encoded(number: usize) -> Vec<u8> {
    let bytes = number.to_le_bytes();
    match number {
        0..=0xfa => vec![bytes[0]],
        0xfb..=0xffff => [&[0xfc][..], &bytes[..2]].concat(),
        0x1_0000..=0xff_ffff => [&[0xfd][..], &bytes[..3]].concat(),
        _ => [&[0xfe][..], &bytes[..8]].concat(),
    }
}
