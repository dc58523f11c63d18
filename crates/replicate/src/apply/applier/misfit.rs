//! Why the target cannot store rows: it says so in its error log only. The columns whose types do not go into each other.

use hortator_mysql::catalog::TableName;

use super::Applier;
use crate::apply::error::Error;
use crate::apply::target_tables::{TargetColumn, columns};
use crate::apply::tolerated::is_unknown;
use crate::binlog::{ColumnFormat, Content, TableMap};
use crate::transaction::Transaction;

/// How many columns a message names.
const SHOWN: usize = 3;

/// VARCHAR, DECIMAL and CHAR, whose metadata say how long they are.
const VARCHAR: u8 = 15;
const DECIMAL: u8 = 246;
const STRING: u8 = 254;
/// The first byte of a string's metadata that says that it is an ENUM or a SET.
const ENUM: u8 = 247;
const SET: u8 = 248;

/// Types of events, what they are called, and the types of the target that they may be.
const TYPES: [(u8, &str, &[&str]); 27] = [
    (1, "tinyint", &["tinyint"]),
    (2, "smallint", &["smallint"]),
    (3, "int", &["int"]),
    (4, "float", &["float"]),
    (5, "double", &["double"]),
    (7, "timestamp", &["timestamp"]),
    (8, "bigint", &["bigint"]),
    (9, "mediumint", &["mediumint"]),
    (10, "date", &["date"]),
    (11, "time", &["time"]),
    (12, "datetime", &["datetime"]),
    (13, "year", &["year"]),
    (14, "date", &["date"]),
    (VARCHAR, "varchar or varbinary", &["varchar", "varbinary", "vector"]),
    (16, "bit", &["bit"]),
    (17, "timestamp", &["timestamp"]),
    (18, "datetime", &["datetime"]),
    (19, "time", &["time"]),
    (140, "compressed text or blob", BLOBS),
    (141, "compressed varchar", &["varchar", "varbinary"]),
    (245, "json", &["json", "longtext", "longblob"]),
    (DECIMAL, "decimal", &["decimal"]),
    (ENUM, "enum", &["enum"]),
    (SET, "set", &["set"]),
    (252, "text or blob", BLOBS),
    (STRING, "char or binary", &["char", "binary", "uuid", "inet4", "inet6"]),
    (255, "geometry", GEOMETRIES),
];
const BLOBS: &[&str] =
    &["tinytext", "text", "mediumtext", "longtext", "tinyblob", "blob", "mediumblob", "longblob", "json"];
const GEOMETRIES: &[&str] = &[
    "geometry",
    "point",
    "linestring",
    "polygon",
    "multipoint",
    "multilinestring",
    "multipolygon",
    "geometrycollection",
];

impl Applier {
    /// Adds the columns to an error that has no reason.
    pub(super) fn with_columns_at_fault(&mut self, transaction: &Transaction, error: Error) -> Error {
        let Error::Target { doing, error: hortator_mysql::Error::Server(mut answer) } = error else { return error };
        if is_unknown(&answer) {
            let maps = transaction.events.iter().filter_map(|event| match &event.content {
                Content::TableMap(map) => Some(map),
                _ => None,
            });
            let mut found: Vec<String> = Vec::new();
            for map in maps {
                let name = TableName { schema: map.schema.clone(), table: map.table.clone() };
                // What the target does not say is not in the message.
                let there = columns(&mut self.connection, &name).unwrap_or_default();
                let of_table = misfits(map, &there).into_iter().map(|text| format!("{name}: {text}"));
                found.extend(of_table);
            }
            found.dedup();
            found.truncate(SHOWN);
            if !found.is_empty() {
                answer.message = format!("{}. {}", answer.message, found.join("; "));
            }
        }
        Error::Target { doing, error: hortator_mysql::Error::Server(answer) }
    }
}

/// The columns of a source's table whose values do not go into those of the target.
fn misfits(map: &TableMap, there: &[TargetColumn]) -> Vec<String> {
    let Ok(formats) = ColumnFormat::read_all(map) else { return Vec::new() };
    let pairs = formats.iter().zip(there).enumerate();
    let text = |(index, (format, column)): (usize, (&ColumnFormat, &TargetColumn))| {
        let here = misfit(format, column)?;
        let TargetColumn { name, column_type, .. } = column;
        Some(format!("column {} {here} on the source, and `{name}` is {column_type} on the target", index + 1))
    };
    pairs.filter_map(text).collect()
}

/// What a column is on the source, if that of the target cannot be the same.
fn misfit(format: &ColumnFormat, column: &TargetColumn) -> Option<String> {
    let metadata = |index: usize| format.metadata.get(index).copied().unwrap_or_default();
    let real_type = match (format.column_type, metadata(0)) {
        (STRING, real @ (ENUM | SET)) => real,
        (249..=251, _) => 252,
        (253, _) => VARCHAR,
        (found, _) => found,
    };
    let (_, name, words) = TYPES.iter().find(|(number, ..)| *number == real_type)?;
    if !words.contains(&column.data_type.as_str()) {
        return Some(match real_type {
            DECIMAL => format!("is decimal({},{})", metadata(0), metadata(1)),
            _ => format!("is {name}"),
        });
    }
    let bytes = usize::from(u16::from_le_bytes([metadata(0), metadata(1)]));
    match real_type {
        VARCHAR if bytes > column.bytes => Some(format!("has up to {bytes} bytes")),
        DECIMAL if (metadata(0), metadata(1)) != column.precision => {
            Some(format!("is decimal({},{})", metadata(0), metadata(1)))
        }
        _ => None,
    }
}
