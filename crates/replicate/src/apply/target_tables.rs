//! What the target's tables are: the source's log says nothing of that.

use std::collections::HashMap;

use hortator_mysql::catalog::{TableKind, TableName, table};
use hortator_mysql::{Connection, Error, quote_string};

use crate::query::{first_value, texts};

/// Tables that are remembered; beyond that all are asked for again.
const LIMIT: usize = 10_000;
/// Columns that a table with history has and that nobody sees.
const HISTORY_COLUMNS: usize = 2;

/// A table of the target.
#[derive(Clone, Copy, Debug)]
pub(super) struct TargetTable {
    /// Nothing stays of rows that it rolls back.
    pub(super) can_roll_back: bool,
    /// Columns that a source's table may have at most, if all are to have one here.
    pub(super) columns_limit: usize,
}

/// What is known of the target's tables, until a statement may have changed them.
#[derive(Debug, Default)]
pub(super) struct TargetTables {
    tables: HashMap<TableName, Option<TargetTable>>,
    source_columns: HashMap<TableName, Option<(usize, u16)>>,
}

impl TargetTables {
    /// A statement may have changed any of them.
    pub(super) fn forget(&mut self) {
        *self = TargetTables::default();
    }

    /// A table; `None` where it is not there.
    ///
    /// # Errors
    /// As for any statement.
    pub(super) fn get(&mut self, connection: &mut Connection, name: &TableName) -> Result<Option<TargetTable>, Error> {
        if let Some(known) = self.tables.get(name) {
            return Ok(*known);
        }
        let found = match table(connection, name)? {
            Some(table) => {
                let history = if table.versioned { HISTORY_COLUMNS } else { 0 };
                Some(TargetTable {
                    can_roll_back: table.kind != TableKind::Base { transactional: false },
                    columns_limit: table.columns.len() + history + hidden_columns(connection, name)?,
                })
            }
            None => None,
        };
        if self.tables.len() >= LIMIT {
            self.tables.clear();
        }
        self.tables.insert(name.clone(), found);
        Ok(found)
    }

    /// Where a column stands that is to hold the source's name, from 0, and how many bytes it takes; `None` where there is no
    /// such column of a type that can.
    ///
    /// # Errors
    /// As for any statement.
    pub(super) fn source_column(
        &mut self,
        connection: &mut Connection,
        name: &TableName,
        column: &str,
    ) -> Result<Option<(usize, u16)>, Error> {
        if let Some(known) = self.source_columns.get(name) {
            return Ok(*known);
        }
        let query = [
            b"SELECT ORDINAL_POSITION - 1, CHARACTER_OCTET_LENGTH FROM information_schema.COLUMNS \
              WHERE DATA_TYPE IN ('varchar', 'varbinary') AND COLUMN_NAME = "
                .as_slice(),
            &quote_string(column),
            &of_table(name),
        ]
        .concat();
        let rows = texts(connection, &query)?;
        let found = rows.first().and_then(|row| Some((row.first()?.parse().ok()?, row.get(1)?.parse().ok()?)));
        if self.source_columns.len() >= LIMIT {
            self.source_columns.clear();
        }
        self.source_columns.insert(name.clone(), found);
        Ok(found)
    }
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

fn of_table(name: &TableName) -> Vec<u8> {
    [b" AND TABLE_SCHEMA = ".as_slice(), &quote_string(&name.schema), b" AND TABLE_NAME = ", &quote_string(&name.table)]
        .concat()
}
