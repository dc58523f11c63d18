//! The keys that rows use.

use std::collections::HashMap;
use std::sync::Arc;

use hortator_core::{Key, Mode, WriteSet};
use hortator_mysql::catalog::TableName;

use super::table_keys::KeyColumns;
use super::{Order, TableKeys};
use crate::binlog::{ByTableMap, ColumnFormat, Content, Event, FormatDescription, RowsForm, TableMap, Value};

/// Tables that are remembered.
const TABLES_LIMIT: usize = 10_000;

/// A table of rows: how their values stand, and its keys on the target.
#[derive(Debug)]
pub(crate) struct KeyedTable {
    table: Key,
    keys: Arc<TableKeys>,
    formats: Vec<ColumnFormat>,
    /// What `formats` are read from.
    types: Vec<u8>,
    metadata: Vec<u8>,
}

impl KeyedTable {
    /// A table as its table map describes it; `None` where that cannot be read, or the target makes values for columns that
    /// the source has not.
    fn new(map: &TableMap, keys: Arc<TableKeys>) -> Option<KeyedTable> {
        if keys.columns_with_made_values > map.column_types.len() {
            return None;
        }
        Some(KeyedTable {
            table: Key::table(&map.schema, &map.table),
            keys,
            formats: ColumnFormat::read_all(map).ok()?,
            types: map.column_types.clone(),
            metadata: map.metadata.clone(),
        })
    }

    /// Adds what rows of this table use.
    pub(crate) fn add(&self, event: &Event, format: &FormatDescription, order: Order, set: &mut WriteSet) {
        if let (Order::Schema, Some(schema)) = (order, self.table.parent()) {
            set.add(schema, Mode::Exclusive);
        } else if self.add_each(event, format, set).is_none() {
            set.add(self.table, Mode::Exclusive);
        }
    }

    /// None: its rows cannot be told apart.
    fn add_each(&self, event: &Event, format: &FormatDescription, set: &mut WriteSet) -> Option<()> {
        let Content::Rows(rows) = &event.content else { return Some(()) };
        if rows.form == RowsForm::PartialUpdate || rows.columns != self.formats.len() || self.keys.unique.is_empty() {
            return None;
        }
        let mut images = event.row_images(&self.formats, format)?;
        let (mut values, mut image) = (Vec::with_capacity(rows.columns), Vec::new());
        let mut is_before = true;
        while images.next_into(&mut values).ok()? {
            let mut has_key = false;
            for columns in &self.keys.unique {
                if self.image(columns, &values, &mut image) {
                    has_key = true;
                    set.add(Key::row_in(self.table, columns.number, &image), Mode::RowExclusive);
                }
            }
            // An after image may hold what was changed only.
            if !has_key && is_before {
                return None;
            }
            for (parent, columns) in &self.keys.references {
                if self.image(columns, &values, &mut image) {
                    set.add(Key::row_in(*parent, columns.number, &image), Mode::RowReference);
                }
            }
            is_before = rows.form != RowsForm::Update || !is_before;
        }
        Some(())
    }

    /// Writes a key's values into `image`. False: one is not in the image, or NULL.
    fn image(&self, columns: &KeyColumns, values: &[Option<Value<'_>>], image: &mut Vec<u8>) -> bool {
        image.clear();
        for index in &columns.indexes {
            let (Some(Some(Some(value))), Some(format)) = (values.get(*index), self.formats.get(*index)) else {
                return false;
            };
            let start = image.len();
            if format.is_text() {
                image.extend(value.iter().map(u8::to_ascii_lowercase));
                let spaces = image[start..].iter().rev().take_while(|byte| **byte == b' ').count();
                image.truncate(image.len() - spaces);
            } else {
                image.extend_from_slice(value);
            }
            let length = image.len() - start;
            image.extend_from_slice(&length.to_le_bytes());
        }
        true
    }
}

/// Tables of rows by their names.
#[derive(Debug, Default)]
pub(crate) struct TableCache {
    tables: HashMap<TableName, Option<Arc<KeyedTable>>>,
    recent: ByTableMap<Option<Arc<KeyedTable>>>,
}

impl TableCache {
    /// Forgets all: a statement may have changed them.
    pub(crate) fn forget(&mut self) {
        self.tables.clear();
        self.recent.clear();
    }

    /// The table of a table map. `keys` asks for its keys. `None`: rows of it must run alone.
    ///
    /// # Errors
    /// Those of `keys`.
    pub(crate) fn get<E>(
        &mut self,
        map: &Arc<TableMap>,
        keys: impl FnOnce(&TableName) -> Result<Option<Arc<TableKeys>>, E>,
    ) -> Result<Option<Arc<KeyedTable>>, E> {
        if let Some(known) = self.recent.get(map) {
            return Ok(known.clone());
        }
        let found = self.by_name(map, keys)?;
        self.recent.insert(map, found.clone());
        Ok(found)
    }

    fn by_name<E>(
        &mut self,
        map: &TableMap,
        keys: impl FnOnce(&TableName) -> Result<Option<Arc<TableKeys>>, E>,
    ) -> Result<Option<Arc<KeyedTable>>, E> {
        let name = TableName { schema: map.schema.clone(), table: map.table.clone() };
        match self.tables.get(&name) {
            Some(None) => return Ok(None),
            Some(Some(known)) if (&known.types, &known.metadata) == (&map.column_types, &map.metadata) => {
                return Ok(Some(known.clone()));
            }
            _ => {}
        }
        let found = keys(&name)?.and_then(|keys| KeyedTable::new(map, keys)).map(Arc::new);
        if self.tables.len() >= TABLES_LIMIT {
            self.tables.clear();
        }
        self.tables.insert(name, found.clone());
        Ok(found)
    }
}
