//! Events of rows: which table, what was done with it, and the rows in the server's own form.

use super::compressed::uncompress;
use super::event_kind::EventKind;
use super::fields::{Fields, Found};
use super::format_description::FormatDescription;

/// The fixed part of a table map or of rows, with a table's number of six bytes. Very old servers wrote four.
const FIXED_BYTES: usize = 8;
const FIXED_V2_BYTES: usize = 10;
/// The last rows of a statement: the table maps before them are over.
const END_OF_STATEMENT: u16 = 0x0001;

/// The table that a number stands for, up to the end of the statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableMap {
    /// The number.
    pub table_id: u64,
    /// The table's schema.
    pub schema: Vec<u8>,
    /// Its name.
    pub table: Vec<u8>,
    /// The types of its columns, one byte each.
    pub column_types: Vec<u8>,
    /// What is said of the columns' types further, one after the other.
    pub metadata: Vec<u8>,
    /// Which columns may be NULL, a bit each.
    pub nullable: Vec<u8>,
    /// The names of its columns, each behind its length, where the source writes them (binlog_row_metadata = FULL).
    pub(crate) names: Vec<u8>,
}

impl TableMap {
    /// Reads the event's bytes between header and checksum.
    pub(super) fn read(body: &[u8], format: &FormatDescription) -> Result<TableMap, Found> {
        let mut fields = Fields(body);
        check_fixed(EventKind::TABLE_MAP, format, FIXED_BYTES)?;
        let table_id = fields.u48("the table's number")?;
        fields.u16("the flags")?;
        let schema = fields.short_text("the schema's name")?.to_vec();
        fields.zero("the schema's name")?;
        let table = fields.short_text("the table's name")?.to_vec();
        fields.zero("the table's name")?;
        let columns = fields.length_encoded("the number of columns")?;
        let columns = usize::try_from(columns).unwrap_or(usize::MAX);
        let column_types = fields.bytes(columns, "the types of the columns")?.to_vec();
        let metadata = fields.length_encoded("the length of the columns' metadata")?;
        let metadata = usize::try_from(metadata).unwrap_or(usize::MAX);
        let metadata = fields.bytes(metadata, "the columns' metadata")?.to_vec();
        let nullable = fields.bytes(columns.div_ceil(8), "which columns may be NULL")?.to_vec();
        let names = read_names(fields.0);
        Ok(TableMap { table_id, schema, table, column_types, metadata, nullable, names })
    }

    /// The table's number, in the event's bytes behind its header.
    pub(super) fn table_id(body: &[u8]) -> Result<u64, Found> {
        Fields(body).u48("the table's number")
    }

    /// The names of its columns; none where the source does not write them.
    #[must_use]
    pub fn column_names(&self) -> Vec<&[u8]> {
        let (mut fields, mut names) = (Fields(&self.names), Vec::new());
        while !fields.0.is_empty() {
            let length =
                fields.length_encoded("the length of a name").ok().and_then(|length| usize::try_from(length).ok());
            let Some(Ok(name)) = length.map(|length| fields.bytes(length, "a name")) else { return Vec::new() };
            names.push(name);
        }
        names
    }
}

/// What stands behind the fixed parts: fields of a type, a length and a value. What cannot be read has no names.
fn read_names(rest: &[u8]) -> Vec<u8> {
    /// The type of the columns' names.
    const COLUMN_NAMES: u8 = 4;
    let mut fields = Fields(rest);
    while let Some((&kind, behind)) = fields.0.split_first() {
        fields.0 = behind;
        let length = fields.length_encoded("a length").ok().and_then(|length| usize::try_from(length).ok());
        let Some(Ok(value)) = length.map(|length| fields.bytes(length, "a value")) else { return Vec::new() };
        if kind == COLUMN_NAMES {
            return value.to_vec();
        }
    }
    Vec::new()
}

/// What was done with rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowsForm {
    /// Inserted: after images.
    Write,
    /// Changed: before and after images, in turn.
    Update,
    /// Deleted: before images.
    Delete,
    /// Changed, with parts of JSON columns only in the after images (MySQL).
    PartialUpdate,
}

/// Rows of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowsEvent {
    /// What was done with them.
    pub form: RowsForm,
    /// The number that a table map before it stands for.
    pub table_id: u64,
    /// Whether the statement ends with it.
    pub ends_statement: bool,
    /// The number of the table's columns.
    pub columns: usize,
    /// Where the images begin in the event's body, in bytes: behind the sets of columns that they hold.
    pub(crate) images_at: usize,
    /// The images of a compressed event; others stand in the event as they are.
    pub(super) uncompressed: Option<Box<[u8]>>,
}

impl RowsEvent {
    /// Rows without a table.
    #[cfg(test)]
    pub(crate) fn empty(form: RowsForm) -> RowsEvent {
        RowsEvent { form, table_id: 0, ends_statement: true, columns: 0, images_at: 0, uncompressed: None }
    }

    /// Which columns the images hold, a bit each, in the event's bytes behind its header; of an update those before it, then
    /// those after.
    pub(crate) fn present<'b>(&self, body: &'b [u8]) -> [&'b [u8]; 2] {
        let bits = self.columns.div_ceil(8);
        let set = |behind: usize| {
            let at = self.images_at.checked_sub(behind * bits);
            at.and_then(|at| body.get(at..at + bits)).unwrap_or_default()
        };
        if self.has_after_images() { [set(2), set(1)] } else { [set(1), &[]] }
    }

    /// Whether each image is followed by the one after the change.
    fn has_after_images(&self) -> bool {
        matches!(self.form, RowsForm::Update | RowsForm::PartialUpdate)
    }

    /// Whether events of a type hold rows.
    pub(super) fn is_of(kind: EventKind) -> bool {
        FORMS.iter().any(|row| row.0 == kind)
    }

    /// Reads the event's bytes between header and checksum.
    pub(super) fn read(kind: EventKind, body: &[u8], format: &FormatDescription) -> Result<RowsEvent, Found> {
        let Some(&(_, form, has_extra, is_compressed)) = FORMS.iter().find(|row| row.0 == kind) else {
            return Err("it is no event of rows".to_owned());
        };
        check_fixed(kind, format, if has_extra { FIXED_V2_BYTES } else { FIXED_BYTES })?;
        let mut fields = Fields(body);
        let table_id = fields.u48("the table's number")?;
        let flags = fields.u16("the flags")?;
        if has_extra {
            let extra = fields.u16("the length of extra data")?;
            // The length counts itself.
            fields.bytes(usize::from(extra).saturating_sub(2), "the extra data")?;
        }
        let columns = usize::try_from(fields.length_encoded("the number of columns")?).unwrap_or(usize::MAX);
        let bits = columns.div_ceil(8);
        fields.bytes(bits, "which columns the images hold")?;
        if matches!(form, RowsForm::Update | RowsForm::PartialUpdate) {
            fields.bytes(bits, "which columns the after images hold")?;
        }
        let images_at = body.len() - fields.0.len();
        let uncompressed = if is_compressed { Some(uncompress(fields.0)?.into()) } else { None };
        let ends_statement = flags & END_OF_STATEMENT != 0;
        Ok(RowsEvent { form, table_id, ends_statement, columns, images_at, uncompressed })
    }
}

/// Each type of rows: what is done with them, whether it has extra data, and whether its images are compressed.
const FORMS: [(EventKind, RowsForm, bool, bool); 13] = [
    (EventKind::WRITE_ROWS_V1, RowsForm::Write, false, false),
    (EventKind::UPDATE_ROWS_V1, RowsForm::Update, false, false),
    (EventKind::DELETE_ROWS_V1, RowsForm::Delete, false, false),
    (EventKind::WRITE_ROWS, RowsForm::Write, true, false),
    (EventKind::UPDATE_ROWS, RowsForm::Update, true, false),
    (EventKind::DELETE_ROWS, RowsForm::Delete, true, false),
    (EventKind::PARTIAL_UPDATE_ROWS, RowsForm::PartialUpdate, true, false),
    (EventKind::WRITE_ROWS_COMPRESSED_V1, RowsForm::Write, false, true),
    (EventKind::UPDATE_ROWS_COMPRESSED_V1, RowsForm::Update, false, true),
    (EventKind::DELETE_ROWS_COMPRESSED_V1, RowsForm::Delete, false, true),
    (EventKind::WRITE_ROWS_COMPRESSED, RowsForm::Write, true, true),
    (EventKind::UPDATE_ROWS_COMPRESSED, RowsForm::Update, true, true),
    (EventKind::DELETE_ROWS_COMPRESSED, RowsForm::Delete, true, true),
];

/// The type without compression of each compressed one.
const PLAIN: [(EventKind, EventKind); 6] = [
    (EventKind::WRITE_ROWS_COMPRESSED_V1, EventKind::WRITE_ROWS_V1),
    (EventKind::UPDATE_ROWS_COMPRESSED_V1, EventKind::UPDATE_ROWS_V1),
    (EventKind::DELETE_ROWS_COMPRESSED_V1, EventKind::DELETE_ROWS_V1),
    (EventKind::WRITE_ROWS_COMPRESSED, EventKind::WRITE_ROWS),
    (EventKind::UPDATE_ROWS_COMPRESSED, EventKind::UPDATE_ROWS),
    (EventKind::DELETE_ROWS_COMPRESSED, EventKind::DELETE_ROWS),
];

/// The type of rows of a form, without compression, in the version of another type of rows.
pub(super) fn kind_of(form: RowsForm, like: EventKind) -> Option<EventKind> {
    let (_, _, has_extra, _) = FORMS.iter().find(|row| row.0 == like)?;
    let is_it = |row: &&(EventKind, RowsForm, bool, bool)| (row.1, row.2, row.3) == (form, *has_extra, false);
    FORMS.iter().find(is_it).map(|row| row.0)
}

/// The type that a compressed one is without its compression; `None` for every other.
pub(super) fn plain_kind(kind: EventKind) -> Option<EventKind> {
    PLAIN.iter().find(|(compressed, _)| *compressed == kind).map(|(_, plain)| *plain)
}

/// The fixed part of a type must be as long as it is read.
fn check_fixed(kind: EventKind, format: &FormatDescription, expected: usize) -> Result<(), Found> {
    match format.post_header_bytes(kind) {
        found if found == expected => Ok(()),
        found => Err(format!("its fixed part has {found} bytes by the format description, not {expected}")),
    }
}
