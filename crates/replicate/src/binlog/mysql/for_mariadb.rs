//! MySQL's row events as MariaDB reads them: JSON as text, no partial updates, nothing behind a table map's columns.

use std::collections::HashMap;
use std::sync::Arc;

use super::json::{JsonDiffs, json_text};
use crate::binlog::event::{Content, Event};
use crate::binlog::event_kind::EventKind;
use crate::binlog::fields::{Fields, Found};
use crate::binlog::format_description::FormatDescription;
use crate::binlog::header::HEADER_BYTES;
use crate::binlog::rewrite::{length_encoded, name};
use crate::binlog::row_images::{ColumnFormat, has};
use crate::binlog::rows::{RowsEvent, RowsForm, TableMap};

/// MySQL's own types of columns, and the type as which MariaDB stores their values: texts and bytes of any length.
const VECTOR: u8 = 242;
const JSON: u8 = 245;
const BLOB: u8 = 252;
/// The number of a table, and flags.
const HEAD_BYTES: usize = 8;
/// Flags of rows that MariaDB knows: the end of a statement, no checks of foreign keys and of unique keys, whole rows.
const KNOWN_FLAGS: u8 = 0x0f;
/// JSON is written with four bytes for its length, as LONGBLOB.
const JSON_LENGTH_BYTES: usize = 4;
/// The algorithm of checksums stands before the bytes of a checksum.
const ALGORITHM_AT_END: usize = 5;
/// Of a partial update: that some JSON values are changes.
const HAS_DIFFS: u64 = 1;

/// Columns of tables, by the table's number, while their statement goes on.
#[derive(Debug, Default)]
pub struct JsonTables(HashMap<u64, Vec<ColumnFormat>>);

impl ColumnFormat {
    fn is_json(&self) -> bool {
        self.column_type == JSON
    }
}

impl Event {
    /// Makes it one that MariaDB reads, without a checksum; `checksum_bytes` are those of the one that it has, `plain` is the
    /// form without one.
    ///
    /// # Errors
    /// Rows that cannot be read, or whose values are not all there.
    pub fn for_mariadb(
        mut self,
        checksum_bytes: usize,
        plain: &FormatDescription,
        tables: &mut JsonTables,
    ) -> Result<Event, Found> {
        match &mut self.content {
            Content::Format(content) => {
                // Four bytes stand in the place of its checksum whatever the algorithm is.
                if content.has_checksums
                    && let Some(at) = self.bytes.len().checked_sub(ALGORITHM_AT_END)
                {
                    self.bytes[at] = 0;
                }
                **content = content.as_ref().clone().without_checksums();
            }
            Content::TableMap(map) => {
                let flags = self.bytes[HEADER_BYTES + 6..HEADER_BYTES + HEAD_BYTES].to_vec();
                let body = table_map(Arc::make_mut(map), &flags, tables)?;
                self.replace_body(EventKind::TABLE_MAP, &[&body], plain);
            }
            Content::Rows(rows) => {
                let end = self.bytes.len() - checksum_bytes;
                let (kind, body) = rows_body(rows, self.header.kind, &self.bytes[HEADER_BYTES..end], tables)?;
                self.replace_body(kind, &[&body], plain);
            }
            _ => {}
        }
        Ok(self)
    }
}

fn table_map(map: &mut TableMap, flags: &[u8], tables: &mut JsonTables) -> Result<Vec<u8>, Found> {
    match ColumnFormat::read_all(map) {
        Ok(formats) => drop(tables.0.insert(map.table_id, formats)),
        Err(found) if map.column_types.contains(&JSON) => return Err(found),
        Err(_) => {}
    }
    for column_type in &mut map.column_types {
        if [JSON, VECTOR].contains(column_type) {
            *column_type = BLOB;
        }
    }
    let columns = length_encoded(map.column_types.len());
    let metadata_bytes = length_encoded(map.metadata.len());
    let parts: [&[u8]; 9] = [
        &map.table_id.to_le_bytes()[..6],
        flags,
        &name(&map.schema),
        &name(&map.table),
        &columns,
        &map.column_types,
        &metadata_bytes,
        &map.metadata,
        &map.nullable,
    ];
    Ok(parts.concat())
}

/// The type and the body of rows.
fn rows_body(
    rows: &mut RowsEvent,
    kind: EventKind,
    body: &[u8],
    tables: &mut JsonTables,
) -> Result<(EventKind, Vec<u8>), Found> {
    let formats = tables.0.get(&rows.table_id);
    let images = &body[rows.images_at..];
    let images = match formats {
        // A session that may write parts of JSON values writes all its updates as partial ones.
        Some(formats) if rows.form == RowsForm::PartialUpdate || formats.iter().any(ColumnFormat::is_json) => {
            with_json_texts(rows, formats, body)?
        }
        None if rows.form == RowsForm::PartialUpdate => {
            return Err("a partial update of a table with columns of unknown types".to_owned());
        }
        _ => images.to_vec(),
    };
    if rows.ends_statement {
        tables.0.clear();
    }
    let is_second_version = [EventKind::WRITE_ROWS, EventKind::UPDATE_ROWS, EventKind::DELETE_ROWS].contains(&kind);
    let is_partial = rows.form == RowsForm::PartialUpdate;
    if is_partial {
        rows.form = RowsForm::Update;
    }
    // Behind the flags: two bytes for the length of more, which counts itself, and that.
    let extra: &[u8] = if is_second_version || is_partial { &[2, 0] } else { &[] };
    let flags = [body[HEAD_BYTES - 2] & KNOWN_FLAGS, 0];
    let columns = length_encoded(rows.columns);
    let [before, after] = rows.present(body);
    let head = [&body[..HEAD_BYTES - 2], &flags, extra, &columns, before, after].concat();
    rows.images_at = head.len();
    Ok((if is_partial { EventKind::UPDATE_ROWS } else { kind }, [head, images].concat()))
}

/// Row images with JSON as text.
fn with_json_texts(rows: &RowsEvent, formats: &[ColumnFormat], body: &[u8]) -> Result<Vec<u8>, Found> {
    if formats.len() != rows.columns {
        return Err(format!("rows of {} columns, of a table with {}", rows.columns, formats.len()));
    }
    let images = &body[rows.images_at..];
    let sets: Vec<&[u8]> = rows.present(body).into_iter().filter(|set| !set.is_empty()).collect();
    if sets.is_empty() {
        return Err("images without columns".to_owned());
    }
    let mut fields = Fields(images);
    let mut found = Vec::with_capacity(images.len() * 2);
    // JSON values of the image before, by column.
    let mut before: HashMap<usize, &[u8]> = HashMap::new();
    while !fields.0.is_empty() {
        before.clear();
        for (number, set) in sets.iter().enumerate() {
            let is_after = number == 1;
            let mut diffs = match rows.form {
                RowsForm::PartialUpdate if is_after => read_diff_bits(formats, &mut fields)?,
                _ => Vec::new(),
            }
            .into_iter();
            let held: Vec<usize> = (0..formats.len()).filter(|index| has(set, *index)).collect();
            let nulls = fields.bytes(held.len().div_ceil(8), "which values are NULL")?;
            found.extend_from_slice(nulls);
            for (place, index) in held.into_iter().enumerate() {
                let format = &formats[index];
                let is_json = format.is_json();
                let is_diff = is_json && diffs.next().unwrap_or_default();
                if has(nulls, place) {
                    continue;
                }
                let start = fields.0;
                let value = format.take(&mut fields)?;
                if !is_json {
                    found.extend_from_slice(&start[..start.len() - fields.0.len()]);
                    continue;
                }
                let text = match (is_diff, before.get(&index)) {
                    (false, _) => json_text(value)?,
                    (true, Some(before)) => JsonDiffs::read(value)?.apply(before)?,
                    (true, None) => return Err(NO_VALUE_BEFORE.to_owned()),
                };
                before.insert(index, value);
                let length = u32::try_from(text.len()).map_err(|_| "JSON of more than 4 GiB".to_owned())?;
                found.extend_from_slice(&length.to_le_bytes()[..JSON_LENGTH_BYTES]);
                found.extend_from_slice(&text);
            }
        }
    }
    Ok(found)
}

const NO_VALUE_BEFORE: &str = "a change of a part of a JSON value whose row image does not have the value: set \
     binlog_row_value_options = '' or binlog_row_image = FULL on the source, and copy the table again";

/// Of a partial update: for each JSON column, whether its value is a list of changes.
fn read_diff_bits(formats: &[ColumnFormat], fields: &mut Fields<'_>) -> Result<Vec<bool>, Found> {
    let options = fields.length_encoded("the options of a partial update")?;
    if options & HAS_DIFFS == 0 {
        return Ok(Vec::new());
    }
    let count = formats.iter().filter(|format| format.is_json()).count();
    let bits = fields.bytes(count.div_ceil(8), "which JSON values are changes")?;
    Ok((0..count).map(|index| has(bits, index)).collect())
}
