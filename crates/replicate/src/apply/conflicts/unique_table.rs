//! What of a table of the target decides about rows that are in the way: its unique keys, and what a deleted row takes along.

use hortator_mysql::catalog::TableName;
use hortator_mysql::{Connection, Error, quote_identifier, quote_string};

use super::key_values::{KeyColumn, literal, shown};
use crate::binlog::{Cell, ColumnFormat, Image};
use crate::query::{first_column, texts};

/// The name that every primary key has.
const PRIMARY: &str = "PRIMARY";
/// A key's values in a message, in bytes.
const SHOWN_BYTES: usize = 300;

/// A unique key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::apply) struct UniqueKey {
    pub(in crate::apply) name: String,
    pub(in crate::apply) columns: Vec<KeyColumn>,
}

/// A table of the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::apply) struct UniqueTable {
    /// The primary key is the first.
    keys: Vec<UniqueKey>,
    /// Why rows of it are not deleted for others: what would happen to more than them.
    pub(in crate::apply) keeps_rows: Option<String>,
    /// A trigger that a DELETE statement would fire.
    pub(in crate::apply) delete_trigger: Option<String>,
    /// It is system-versioned.
    pub(in crate::apply) has_history: bool,
}

impl UniqueTable {
    /// Asks the target.
    ///
    /// # Errors
    /// As for any statement.
    pub(in crate::apply) fn of_target(connection: &mut Connection, name: &TableName) -> Result<UniqueTable, Error> {
        let (schema, table) = (quote_string(&name.schema), quote_string(&name.table));
        let ask = |text: &str, schema_column: &str, table_column: &str, rest: &str| {
            let parts: [&[u8]; 7] = [
                text.as_bytes(),
                schema_column.as_bytes(),
                &schema,
                b" AND ",
                table_column.as_bytes(),
                &table,
                rest.as_bytes(),
            ];
            parts.concat()
        };
        let query = ask(
            "SELECT s.INDEX_NAME, s.COLUMN_NAME, c.ORDINAL_POSITION - 1, LOWER(c.DATA_TYPE), c.COLUMN_TYPE, \
             COALESCE(c.CHARACTER_SET_NAME, ''), COALESCE(s.SUB_PART, 0), c.EXTRA FROM information_schema.STATISTICS s \
             JOIN information_schema.COLUMNS c ON c.COLUMN_NAME = s.COLUMN_NAME AND c.TABLE_NAME = s.TABLE_NAME \
             AND c.TABLE_SCHEMA = s.TABLE_SCHEMA WHERE s.NON_UNIQUE = 0 AND ",
            "s.TABLE_SCHEMA = ",
            "s.TABLE_NAME = ",
            " ORDER BY s.INDEX_NAME <> 'PRIMARY', s.INDEX_NAME, s.SEQ_IN_INDEX",
        );
        let mut keys: Vec<UniqueKey> = Vec::new();
        for row in texts(connection, &query)? {
            let Ok([key, column, index, data_type, column_type, charset, prefix, extra]) = <[String; 8]>::try_from(row)
            else {
                continue;
            };
            let column = KeyColumn {
                name: column,
                index: index.parse().unwrap_or(usize::MAX),
                data_type,
                is_unsigned: column_type.to_lowercase().contains("unsigned"),
                charset,
                prefix: prefix.parse().unwrap_or_default(),
                is_virtual: extra.contains("VIRTUAL GENERATED"),
            };
            match keys.last_mut().filter(|last| last.name == key) {
                Some(last) => last.columns.push(column),
                None => keys.push(UniqueKey { name: key, columns: vec![column] }),
            }
        }
        let children = ask(
            "SELECT CONCAT(CONSTRAINT_SCHEMA, '.', TABLE_NAME, ' (', CONSTRAINT_NAME, ')') \
             FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE DELETE_RULE NOT IN ('RESTRICT', 'NO ACTION') AND ",
            "UNIQUE_CONSTRAINT_SCHEMA = ",
            "REFERENCED_TABLE_NAME = ",
            " LIMIT 1",
        );
        let keeps_rows = first_column(connection, &children)?.into_iter().next();
        let triggers = ask(
            "SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE EVENT_MANIPULATION = 'DELETE' AND ",
            "EVENT_OBJECT_SCHEMA = ",
            "EVENT_OBJECT_TABLE = ",
            " LIMIT 1",
        );
        let delete_trigger = first_column(connection, &triggers)?.into_iter().next();
        let kind =
            ask("SELECT TABLE_TYPE FROM information_schema.TABLES WHERE ", "TABLE_SCHEMA = ", "TABLE_NAME = ", "");
        let has_history = first_column(connection, &kind)?.iter().any(|kind| kind == "SYSTEM VERSIONED");
        Ok(UniqueTable { keys, keeps_rows, delete_trigger, has_history })
    }

    /// The places of the primary key's columns, if an image holds values for all of them.
    pub(in crate::apply) fn primary_in(&self, image: &Image) -> Option<Vec<usize>> {
        let primary = self.primary()?;
        let indexes: Vec<usize> = primary.columns.iter().map(|column| column.index).collect();
        let is_there = |index: &usize| matches!(image.get(*index), Some(Some(Cell::Value { .. })));
        indexes.iter().all(is_there).then_some(indexes)
    }

    fn primary(&self) -> Option<&UniqueKey> {
        self.keys.first().filter(|key| key.name == PRIMARY)
    }

    /// The conditions under which other rows have a unique key of a row's image, one for each key but the primary that has
    /// columns in `changed`; `keep` is the image of the row that is meant, by its primary key.
    ///
    /// # Errors
    /// Why it cannot be said.
    pub(in crate::apply) fn conditions(
        &self,
        [image, changed]: [&Image; 2],
        keep: &Image,
        formats: &[ColumnFormat],
    ) -> Result<Vec<String>, String> {
        let own = match (self.primary(), self.primary_in(keep)) {
            (Some(primary), Some(_)) => match condition(primary, keep, formats)? {
                Some(text) => format!(" AND NOT ({text})"),
                None => String::new(),
            },
            _ => String::new(),
        };
        let is_changed = |column: &KeyColumn| matches!(changed.get(column.index), Some(Some(_)));
        let is_other = |key: &&UniqueKey| key.name != PRIMARY && key.columns.iter().any(is_changed);
        let keys = self.keys.iter().filter(is_other);
        let conditions = keys.map(|key| condition(key, image, formats));
        conditions.filter_map(Result::transpose).map(|text| text.map(|text| format!("({text}){own}"))).collect()
    }

    /// A row's first key, for a person.
    pub(in crate::apply) fn shown_key(&self, image: &Image, formats: &[ColumnFormat]) -> String {
        let of_key = |key: &UniqueKey| {
            let one = |column: &KeyColumn| {
                let (cell, format) = (image.get(column.index)?.as_ref()?, formats.get(column.index)?);
                let value = cell.value().map_or_else(|| "NULL".to_owned(), |value| shown(format, value, column));
                Some(format!("{} = {value}", column.name))
            };
            let all: Option<Vec<String>> = key.columns.iter().map(one).collect();
            all.map(|all| all.join(", "))
        };
        let Some(mut text) = self.keys.iter().find_map(of_key) else {
            return "of which the event has no unique key".to_owned();
        };
        if text.len() > SHOWN_BYTES {
            let end = (0..=SHOWN_BYTES).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
            text.truncate(end);
            text += " …";
        }
        format!("key {text}")
    }
}

/// The condition under which a row has the values that an image has for a key. `None`: it has NULL for one, which is equal to
/// nothing.
fn condition(key: &UniqueKey, image: &Image, formats: &[ColumnFormat]) -> Result<Option<String>, String> {
    let cannot =
        |column: &KeyColumn, why: &str| format!("the column `{}` of its unique key `{}` {why}", column.name, key.name);
    let mut all = Vec::new();
    for column in &key.columns {
        if column.is_virtual {
            return Err(cannot(column, "is computed and not stored"));
        }
        let Some(Some(cell)) = image.get(column.index) else {
            return Err(cannot(column, "is not in the event (binlog_row_image)"));
        };
        let Some(value) = cell.value() else { return Ok(None) };
        let literal = formats.get(column.index).and_then(|format| literal(format, value, column));
        let Some(literal) = literal else {
            return Err(cannot(column, &format!("is of the type {}", column.data_type)));
        };
        let name = String::from_utf8_lossy(&quote_identifier(&column.name)).into_owned();
        all.push(match column.prefix {
            0 => format!("{name} = {literal}"),
            prefix => format!("LEFT({name}, {prefix}) = LEFT({literal}, {prefix})"),
        });
    }
    Ok(Some(all.join(" AND ")))
}
