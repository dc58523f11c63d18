//! The record of keys that a load has dropped and is to build after the rows: written before they are dropped, deleted
//! after they are built. So a load that is killed leaves a record of every key that is missing.
//!
//! The table `deferred_keys` exists only where a load defers keys. It names a load, so that the loads of a later version
//! with records that this one does not know are refused ([`FORMAT_WITH_KEYS`]).

use std::sync::atomic::Ordering::Relaxed;

use hortator_mysql::Connection;
use hortator_mysql::catalog::TableName;

use super::load_registry::{number, text};
use super::session_locks::await_key_sessions;
use super::statements::{Statements, hex};
use super::{Checkpoints, Error};
use crate::deferred_keys::{Key, MissingKeys, build};

/// The format of a load with such a record.
pub(super) const FORMAT_WITH_KEYS: u64 = 3;

/// Its table.
pub(super) const TABLE: &str = "deferred_keys";

/// What a server says of keys for a table that has changed: a column is gone, or is of a type without such keys; or there is a
/// view in its place.
const OF_OTHER_TABLE: [u16; 5] = [1072, 1170, 1283, 1347, 1687];

impl Checkpoints {
    /// Creates the table of the records if it is missing.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub(crate) fn prepare_missing_keys(&self) -> Result<(), hortator_mysql::Error> {
        let schema = self.statements.quoted();
        let create = format!(
            "CREATE TABLE IF NOT EXISTS {schema}.`{TABLE}` (\
             `load_id` BIGINT UNSIGNED NOT NULL, `table_schema` VARBINARY(256) NOT NULL, `table_name` VARBINARY(256) NOT NULL, \
             `keys` LONGBLOB NOT NULL, `file` LONGBLOB NOT NULL, `line` BIGINT UNSIGNED NOT NULL, `byte` BIGINT UNSIGNED NOT NULL, \
             PRIMARY KEY (`load_id`, `table_schema`, `table_name`)) ENGINE=InnoDB"
        );
        let mark = self.statements.change_load(self.load_id, &format!("`rows`=GREATEST(`rows`,{FORMAT_WITH_KEYS})"));
        self.has_keys_record.store(true, Relaxed);
        self.on_internal_connection(|_, connection| {
            connection.execute(create.as_bytes())?;
            connection.execute(&mark).map(drop)
        })
    }

    /// Records keys that are about to be dropped.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub(crate) fn record_missing_keys(&self, missing: &MissingKeys) -> Result<(), hortator_mysql::Error> {
        let keys = serde_json::to_string(&missing.keys).unwrap_or_default();
        let record = format!(
            "REPLACE INTO {}.`{TABLE}` VALUES ({}, {}, {}, {}, {}, {}, {})",
            self.statements.quoted(),
            self.load_id,
            hex_bytes(&missing.table.schema),
            hex_bytes(&missing.table.table),
            hex(&keys),
            hex(&missing.file),
            missing.line,
            missing.byte,
        );
        self.on_internal_connection(|_, connection| connection.execute(record.as_bytes()).map(drop))
    }

    /// The keys of a table are there.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub(crate) fn forget_missing_keys(&self, table: &TableName) -> Result<(), hortator_mysql::Error> {
        self.on_internal_connection(|checkpoints, connection| {
            forget(connection, &checkpoints.statements, checkpoints.load_id, table)
        })
    }

    /// Another load that has dropped keys of a table and not built them.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub(crate) fn other_load_that_lacks_keys(&self, table: &TableName) -> Result<Option<u64>, hortator_mysql::Error> {
        let query = format!(
            "SELECT `load_id` FROM {}.`{TABLE}` WHERE `load_id` <> {} AND `table_schema` = {} AND `table_name` = {} LIMIT 1",
            self.statements.quoted(),
            self.load_id,
            hex_bytes(&table.schema),
            hex_bytes(&table.table),
        );
        self.on_internal_connection(|_, connection| {
            let rows = connection.fetch(query.as_bytes())?;
            Ok(rows.first().and_then(|row| text(row, 0).parse().ok()))
        })
    }

    /// The keys that are on record as missing.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub(crate) fn missing_keys(&self) -> Result<Vec<MissingKeys>, hortator_mysql::Error> {
        if !self.has_keys_record.load(Relaxed) {
            return Ok(Vec::new());
        }
        self.on_internal_connection(|checkpoints, connection| {
            missing(connection, &checkpoints.statements, checkpoints.load_id)
        })
    }
}

/// Bytes as a literal that no SQL mode and no character set reads differently.
fn hex_bytes(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("X'{digits}'")
}

fn forget(
    connection: &mut Connection,
    statements: &Statements,
    load_id: u64,
    table: &TableName,
) -> Result<(), hortator_mysql::Error> {
    let forget = format!(
        "DELETE FROM {}.`{TABLE}` WHERE `load_id` = {load_id} AND `table_schema` = {} AND `table_name` = {}",
        statements.quoted(),
        hex_bytes(&table.schema),
        hex_bytes(&table.table),
    );
    connection.execute(forget.as_bytes()).map(drop)
}

/// The keys that are on record as missing after a load.
pub(super) fn missing(
    connection: &mut Connection,
    statements: &Statements,
    load_id: u64,
) -> Result<Vec<MissingKeys>, hortator_mysql::Error> {
    if !is_there(connection, statements)? {
        return Ok(Vec::new());
    }
    let query = format!(
        "SELECT `table_schema`, `table_name`, `keys`, `file`, `line`, `byte` FROM {}.`{TABLE}` WHERE `load_id` = {load_id} \
         ORDER BY `table_schema`, `table_name`",
        statements.quoted(),
    );
    let rows = connection.fetch(query.as_bytes())?;
    let name = |row: &hortator_mysql::Row, column: usize| row.get(column).cloned().flatten().unwrap_or_default();
    rows.iter()
        .map(|row| {
            let table = TableName { schema: name(row, 0), table: name(row, 1) };
            let keys: Vec<Key> = serde_json::from_slice(&name(row, 2)).map_err(|error| {
                hortator_mysql::Error::Unsupported(format!(
                    "load {load_id}: the record of the missing keys of {table} is damaged: {error}"
                ))
            })?;
            let position = |column| text(row, column).parse().unwrap_or(0);
            Ok(MissingKeys { table, keys, file: text(row, 3), line: position(4), byte: position(5) })
        })
        .collect()
}

/// Builds the keys that a load has left missing, before its record is discarded. Gives, in words, what can never be built,
/// because the tables are others by now.
pub(super) fn restore(
    connection: &mut Connection,
    statements: &Statements,
    load_id: u64,
) -> Result<Vec<String>, Error> {
    let recorded = missing(connection, statements, load_id)?;
    if !recorded.is_empty() {
        await_key_sessions(connection, load_id)?;
    }
    let mut never = Vec::new();
    for missing in recorded {
        let is_node = build::settings(connection)?;
        match build::build(connection, &missing, is_node, || {}) {
            Ok(_) => forget(connection, statements, load_id, &missing.table)?,
            Err(error) if error.code().is_some_and(|code| OF_OTHER_TABLE.contains(&code)) => {
                never.push(format!("{} has changed since: {}: {error}", missing.table, build::alter_text(&missing)));
            }
            Err(error) => {
                return Err(Error::MissingKeys { load_id, message: build::failure_message(&missing, &error) });
            }
        }
    }
    Ok(never)
}

/// Removes the records of a load.
pub(super) fn remove(
    connection: &mut Connection,
    statements: &Statements,
    load_id: u64,
) -> Result<(), hortator_mysql::Error> {
    if !is_there(connection, statements)? {
        return Ok(());
    }
    let remove = format!("DELETE FROM {}.`{TABLE}` WHERE `load_id` = {load_id}", statements.quoted());
    connection.execute(remove.as_bytes()).map(drop)
}

fn is_there(connection: &mut Connection, statements: &Statements) -> Result<bool, hortator_mysql::Error> {
    let query = format!(
        "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = {} AND TABLE_NAME = '{TABLE}'",
        hex(statements.schema()),
    );
    Ok(number(connection, &query)? > 0)
}
