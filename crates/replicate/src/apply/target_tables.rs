//! What the target's tables are: the source's log says nothing of that.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hortator_mysql::catalog::{TableKind, TableName, table};
use hortator_mysql::{Connection, Error, quote_string};

use super::node_engines::stays_on_node;
use crate::binlog::{ByTableMap, TableMap};
use crate::keys::{ForeignColumn, TableKeys, UniqueColumn};
use crate::query::{first_value, texts};

/// Tables that are remembered; beyond that all are asked for again.
const LIMIT: usize = 10_000;
/// How long a table may be known before it is asked for again: others may change it.
const AGE_LIMIT: Duration = Duration::from_secs(10);
/// The shortest time between two tables that are asked for again.
const REFRESH_INTERVAL: Duration = Duration::from_millis(100);
/// Columns that a table with history has and that nobody sees.
const HISTORY_COLUMNS: usize = 2;

/// A table of the target.
#[derive(Clone, Debug)]
pub(super) struct TargetTable {
    /// Nothing stays of rows that it rolls back.
    pub(super) can_roll_back: bool,
    /// Its engine, if other nodes of a cluster do not get its rows.
    pub(super) local_engine: Option<String>,
    /// It is a sequence: its one row is its state, and may be written again.
    pub(super) is_sequence: bool,
    /// What stands behind it is not looked at.
    pub(super) is_view: bool,
    /// Statements that write it fire triggers; rows of the source do not.
    pub(super) has_triggers: bool,
    /// Columns that a source's table may have at most, if all are to have one here.
    pub(super) columns_limit: usize,
    /// The column that says when a row ends, from 0: of a table with history by time.
    pub(super) row_end: Option<usize>,
    /// The names of its columns, but for those that nobody sees.
    pub(super) column_names: Arc<[Vec<u8>]>,
}

/// A column of the target, for a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TargetColumn {
    pub(super) name: String,
    /// Its type without length, and with it.
    pub(super) data_type: String,
    pub(super) column_type: String,
    /// The longest value, in bytes; 0 where that is not said.
    pub(super) bytes: usize,
    /// Of a DECIMAL: its digits, and those of the fraction.
    pub(super) precision: (u8, u8),
}

/// The columns of a table in their order.
///
/// # Errors
/// As for any statement.
pub(super) fn columns(connection: &mut Connection, name: &TableName) -> Result<Vec<TargetColumn>, Error> {
    let query = [
        b"SELECT COLUMN_NAME, LOWER(DATA_TYPE), COLUMN_TYPE, COALESCE(CHARACTER_OCTET_LENGTH, 0), \
          COALESCE(NUMERIC_PRECISION, 0), COALESCE(NUMERIC_SCALE, 0) FROM information_schema.COLUMNS WHERE TRUE"
            .as_slice(),
        &of_table(name),
        b" ORDER BY ORDINAL_POSITION",
    ]
    .concat();
    let column = |row: Vec<String>| {
        let [name, data_type, column_type, bytes, digits, fraction] = <[String; 6]>::try_from(row).ok()?;
        let precision = (digits.parse().unwrap_or_default(), fraction.parse().unwrap_or_default());
        Some(TargetColumn { name, data_type, column_type, bytes: bytes.parse().unwrap_or(usize::MAX), precision })
    };
    Ok(texts(connection, &query)?.into_iter().filter_map(column).collect())
}

/// A column that is to hold the source's name.
#[derive(Clone, Debug)]
pub(crate) struct SourceColumn {
    /// Its place, from 0.
    pub(super) index: usize,
    /// The longest value, in bytes.
    pub(super) limit_bytes: u16,
    /// The longest value, in characters.
    limit_chars: usize,
    /// Its character set; empty for bytes.
    charset: String,
}

impl SourceColumn {
    /// Whether it holds this text, in these bytes.
    pub(crate) fn can_hold(&self, text: &str) -> bool {
        let is_same = match self.charset.as_str() {
            "" | "utf8mb3" | "utf8mb4" => true,
            // Each letter takes more than a byte.
            "ucs2" | "utf16" | "utf16le" | "utf32" => false,
            _ => text.is_ascii(),
        };
        let chars = if self.charset.is_empty() { text.len() } else { text.chars().count() };
        is_same && text.len() <= self.limit_bytes.into() && chars <= self.limit_chars
    }
}

/// What is known of the target's tables, until a statement may have changed them.
#[derive(Debug, Default)]
pub(super) struct TargetTables {
    tables: HashMap<TableName, (Option<TargetTable>, Instant)>,
    /// When a table was last asked for again.
    refreshed: Option<Instant>,
    source_columns: HashMap<(TableName, String), Option<SourceColumn>>,
    fits: ByTableMap<Fit>,
}

/// A table that takes the rows of a table map.
#[derive(Clone, Copy, Debug)]
struct Fit {
    can_roll_back: bool,
    asked: Instant,
}

impl TargetTables {
    /// Whether a table that takes the rows of this table map can roll them back; `None` where that is to be found out (again).
    pub(super) fn fit(&self, map: &Arc<TableMap>, now: Instant) -> Option<bool> {
        let fit = self.fits.get(map)?;
        (now.saturating_duration_since(fit.asked) < AGE_LIMIT).then_some(fit.can_roll_back)
    }

    /// The table, as it was asked for last, takes the rows of this table map.
    pub(super) fn note_fit(&mut self, map: &Arc<TableMap>, name: &TableName, can_roll_back: bool) {
        if let Some((_, asked)) = self.tables.get(name) {
            self.fits.insert(map, Fit { can_roll_back, asked: *asked });
        }
    }

    /// A statement may have changed any of them.
    pub(super) fn forget(&mut self) {
        *self = TargetTables::default();
    }

    /// What was found out about a table a moment ago, that it is not there among it.
    pub(super) fn known(&self, name: &TableName) -> Option<Option<TargetTable>> {
        let (known, asked) = self.tables.get(name)?;
        (asked.elapsed() < AGE_LIMIT).then(|| known.clone())
    }

    /// A table; `None` where it is not there.
    ///
    /// # Errors
    /// As for any statement.
    pub(super) fn get(&mut self, connection: &mut Connection, name: &TableName) -> Result<Option<TargetTable>, Error> {
        let now = Instant::now();
        if let Some((known, asked)) = self.tables.get(name) {
            let is_due = self.refreshed.is_none_or(|last| now.duration_since(last) >= REFRESH_INTERVAL);
            if now.duration_since(*asked) < AGE_LIMIT || !is_due {
                return Ok(known.clone());
            }
            self.refreshed = Some(now);
        }
        let found = match table(connection, name)? {
            Some(table) => {
                let history = if table.versioned { HISTORY_COLUMNS } else { 0 };
                let can_roll_back = table.kind != TableKind::Base { transactional: false };
                let local_engine = if can_roll_back { None } else { local_engine(connection, name)? };
                let row_end = if table.versioned { row_end(connection, name, table.columns.len())? } else { None };
                let is_sequence = table.kind == TableKind::Other && table_type(connection, name)? == "SEQUENCE";
                Some(TargetTable {
                    is_sequence,
                    is_view: table.kind == TableKind::Other && !is_sequence,
                    has_triggers: table.has_triggers,
                    can_roll_back,
                    local_engine,
                    row_end,
                    columns_limit: table.columns.len() + history + hidden_columns(connection, name)?,
                    column_names: table.columns.into_iter().map(|column| column.name).collect(),
                })
            }
            None => None,
        };
        if self.tables.len() >= LIMIT {
            self.tables.clear();
        }
        self.tables.insert(name.clone(), (found.clone(), now));
        Ok(found)
    }

    /// A table's unique and foreign keys; `None` where other rows than these may run beside its rows only with care: it is not
    /// of InnoDB, or is not there.
    ///
    /// # Errors
    /// As for any statement.
    pub(super) fn keys(&self, connection: &mut Connection, name: &TableName) -> Result<Option<Arc<TableKeys>>, Error> {
        let engine = [b"SELECT ENGINE FROM information_schema.TABLES WHERE TRUE".as_slice(), &of_table(name)].concat();
        if first_value(connection, &engine)? != "InnoDB" {
            return Ok(None);
        }
        let unique = [
            b"SELECT s.INDEX_NAME, s.COLUMN_NAME, c.ORDINAL_POSITION - 1 FROM information_schema.STATISTICS s \
              JOIN information_schema.COLUMNS c ON c.COLUMN_NAME = s.COLUMN_NAME AND c.TABLE_NAME = s.TABLE_NAME \
              AND c.TABLE_SCHEMA = s.TABLE_SCHEMA WHERE s.NON_UNIQUE = 0"
                .as_slice(),
            &of_table_as("s", name),
            &of_table_as("c", name),
        ]
        .concat();
        let foreign = [
            b"SELECT k.CONSTRAINT_NAME, c.ORDINAL_POSITION - 1, k.REFERENCED_TABLE_SCHEMA, k.REFERENCED_TABLE_NAME, \
              k.REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE k \
              JOIN information_schema.COLUMNS c ON c.COLUMN_NAME = k.COLUMN_NAME AND c.TABLE_NAME = k.TABLE_NAME \
              AND c.TABLE_SCHEMA = k.TABLE_SCHEMA WHERE k.REFERENCED_TABLE_NAME IS NOT NULL"
                .as_slice(),
            &of_table_as("k", name),
            &of_table_as("c", name),
        ]
        .concat();
        let of_unique = |row: Vec<String>| {
            let [key, column, index] = <[String; 3]>::try_from(row).ok()?;
            Some(UniqueColumn { key, column, index: index.parse().ok()? })
        };
        let of_foreign = |row: Vec<String>| {
            let [constraint, index, schema, table, column] = <[String; 5]>::try_from(row).ok()?;
            Some(ForeignColumn { constraint, index: index.parse().ok()?, parent: [schema, table, column] })
        };
        let unique = texts(connection, &unique)?.into_iter().filter_map(of_unique).collect();
        let foreign = texts(connection, &foreign)?.into_iter().filter_map(of_foreign).collect();
        // A default that is an expression has a parenthesis.
        let made = [
            b"SELECT COALESCE(MAX(ORDINAL_POSITION), 0) FROM information_schema.COLUMNS \
              WHERE (EXTRA LIKE '%auto_increment%' OR COLUMN_DEFAULT LIKE '%(%')"
                .as_slice(),
            &of_table(name),
        ]
        .concat();
        let made = first_value(connection, &made)?.parse().unwrap_or(usize::MAX);
        Ok(Some(Arc::new(TableKeys::new(unique, foreign).making_values_up_to(made))))
    }

    /// The column that is to hold the source's name; `None` where there is no such column of a type that can.
    ///
    /// # Errors
    /// As for any statement.
    pub(super) fn source_column(
        &mut self,
        connection: &mut Connection,
        name: &TableName,
        column: &str,
    ) -> Result<Option<SourceColumn>, Error> {
        let key = (name.clone(), column.to_owned());
        if let Some(known) = self.source_columns.get(&key) {
            return Ok(known.clone());
        }
        let found = source_column(connection, name, column)?;
        if self.source_columns.len() >= LIMIT {
            self.source_columns.clear();
        }
        self.source_columns.insert(key, found.clone());
        Ok(found)
    }
}

/// The column of a table that is to hold the source's name; `None` where there is no such column of a type that can.
///
/// # Errors
/// As for any statement.
pub(crate) fn source_column(
    connection: &mut Connection,
    name: &TableName,
    column: &str,
) -> Result<Option<SourceColumn>, Error> {
    let query = [
        b"SELECT ORDINAL_POSITION - 1, CHARACTER_OCTET_LENGTH, CHARACTER_MAXIMUM_LENGTH, \
          COALESCE(CHARACTER_SET_NAME, '') FROM information_schema.COLUMNS \
          WHERE DATA_TYPE IN ('varchar', 'varbinary') AND COLUMN_NAME = "
            .as_slice(),
        &quote_string(column),
        &of_table(name),
    ]
    .concat();
    let rows = texts(connection, &query)?;
    Ok(rows.into_iter().next().and_then(|row| {
        let [index, limit_bytes, limit_chars, charset] = <[String; 4]>::try_from(row).ok()?;
        Some(SourceColumn {
            index: index.parse().ok()?,
            limit_bytes: limit_bytes.parse().ok()?,
            limit_chars: limit_chars.parse().ok()?,
            charset,
        })
    }))
}

/// What a table is, as the server calls it; empty where it is not there.
pub(super) fn table_type(connection: &mut Connection, name: &TableName) -> Result<String, Error> {
    let query = b"SELECT TABLE_TYPE FROM information_schema.TABLES WHERE TRUE".as_slice();
    first_value(connection, &[query, &of_table(name)].concat())
}

/// The column that says when a row of a table with history ends. Where the table has no column for it, that is the last of
/// two which nobody sees.
fn row_end(connection: &mut Connection, name: &TableName, columns: usize) -> Result<Option<usize>, Error> {
    let query = [
        b"SELECT ORDINAL_POSITION - 1 FROM information_schema.COLUMNS WHERE GENERATION_EXPRESSION = 'ROW END'"
            .as_slice(),
        &of_table(name),
    ]
    .concat();
    let named = first_value(connection, &query)?;
    Ok(if named.is_empty() { Some(columns + HISTORY_COLUMNS - 1) } else { named.parse().ok() })
}

/// MariaDB keeps the hash of a long unique key in a column that nobody sees.
fn hidden_columns(connection: &mut Connection, name: &TableName) -> Result<usize, Error> {
    let query = [
        b"SELECT COUNT(DISTINCT INDEX_NAME) FROM information_schema.STATISTICS WHERE INDEX_TYPE = 'HASH' \
          AND NON_UNIQUE = 0"
            .as_slice(),
        &of_table(name),
    ]
    .concat();
    Ok(first_value(connection, &query)?.parse().unwrap_or_default())
}

/// The engine of a table whose rows other nodes of a cluster do not get.
fn local_engine(connection: &mut Connection, name: &TableName) -> Result<Option<String>, Error> {
    let query = [b"SELECT ENGINE FROM information_schema.TABLES WHERE TRUE".as_slice(), &of_table(name)].concat();
    let engine = first_value(connection, &query)?;
    Ok(if stays_on_node(connection, &engine)? { Some(engine) } else { None })
}

fn of_table(name: &TableName) -> Vec<u8> {
    [b" AND TABLE_SCHEMA = ".as_slice(), &quote_string(&name.schema), b" AND TABLE_NAME = ", &quote_string(&name.table)]
        .concat()
}

/// As [`of_table`], for a table of a join.
fn of_table_as(alias: &str, name: &TableName) -> Vec<u8> {
    let (schema, table) = (quote_string(&name.schema), quote_string(&name.table));
    let [is_schema, is_table] = ["SCHEMA", "NAME"].map(|column| format!(" AND {alias}.TABLE_{column} = ").into_bytes());
    [is_schema, schema, is_table, table].concat()
}
