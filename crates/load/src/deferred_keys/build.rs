//! Drops the keys of a table, and builds keys: the statements for the server, on a connection with settings of our own.

use std::collections::BTreeSet;

use hortator_mysql::catalog::{self, TableName};
use hortator_mysql::error::{LOCK_WAIT_TIMEOUT, NO_SUCH_TABLE, UNKNOWN_DATABASE};
use hortator_mysql::{Connection, Error, quote_identifier};

use super::MissingKeys;
use super::definition::{self, KeptReason, Key};

/// How long the drop of a table's keys waits for others that use the table, in seconds. Then the keys stay.
const DROP_TIMEOUT_S: u32 = 5;

/// The server cannot do it in place.
const NOT_IN_PLACE: [u16; 2] = [1845, 1846];

/// Errors of a server that has no room for sorting: a temporary file or a data file cannot grow.
const NO_ROOM: [u16; 6] = [3, 20, 1021, 1026, 1114, 1878];
const INTERRUPTED: u16 = 1317;
/// Keys that depend on the session would differ: the server prints and reads definitions with these settings.
const SETTINGS: &[u8] =
    b"SET SESSION sql_mode = '', sql_quote_show_create = 1, foreign_key_checks = 1, innodb_strict_mode = 0, \
                          max_statement_time = 0, old_mode = DEFAULT";

/// Prepares a connection.
pub(crate) fn settings(connection: &mut Connection) -> Result<(), Error> {
    connection.execute(SETTINGS).map(drop)
}

/// The keys of a table that can be built after its rows, or why there are none. From here on, the connection does not wait
/// long for others: not for the definitions of tables that refer to this one, nor for the drop.
pub(super) fn deferrable(
    connection: &mut Connection,
    table: &TableName,
) -> Result<Result<Vec<Key>, KeptReason>, Error> {
    connection.execute(format!("SET SESSION lock_wait_timeout = {DROP_TIMEOUT_S}").as_bytes())?;
    let Some(definition) = definition_of(connection, table)? else { return Ok(Err("it does not exist")) };
    let mut referenced = BTreeSet::new();
    for child in catalog::children(connection, table)?.iter().filter(|child| *child != table) {
        let names = definition_of(connection, child)?.and_then(|text| definition::names_in_foreign_keys(&text));
        match names {
            Some(names) => referenced.extend(names),
            None => return Ok(Err("a foreign key that refers to it is not shown to this account")),
        }
    }
    Ok(definition::deferrable(&definition, &referenced))
}

/// Drops keys.
pub(super) fn drop_keys(connection: &mut Connection, table: &TableName, keys: &[Key]) -> Result<(), Error> {
    let drops: Vec<Vec<u8>> =
        keys.iter().map(|key| [b"DROP KEY ".as_slice(), &quote_identifier(&key.name)].concat()).collect();
    let alter = [b"ALTER TABLE ".as_slice(), &quoted(table), b" ALGORITHM=NOCOPY, ", &drops.join(&b", "[..])].concat();
    connection.execute(&alter).map(drop)
}

/// Adds the keys that are not there, and waits for others as long as the server's setting says. Nothing is to be done where the table is gone.
pub(crate) fn build(connection: &mut Connection, missing: &MissingKeys) -> Result<(), Error> {
    connection.execute(b"SET SESSION lock_wait_timeout = DEFAULT")?;
    let Some(definition) = definition_of(connection, &missing.table)? else { return Ok(()) };
    let present = definition::key_names(&definition).unwrap_or_default();
    let absent: Vec<&Key> = missing.keys.iter().filter(|key| !present.contains(key.name.as_bytes())).collect();
    if absent.is_empty() {
        return Ok(());
    }
    match connection.execute(&add(&missing.table, &absent, "ALGORITHM=NOCOPY, ")) {
        Err(error) if error.code().is_some_and(|code| NOT_IN_PLACE.contains(&code)) => {
            connection.execute(&add(&missing.table, &absent, "")).map(drop)
        }
        built => built.map(drop),
    }
}

/// The statement that adds all keys, for a user.
pub(crate) fn alter_text(missing: &MissingKeys) -> String {
    let keys: Vec<&Key> = missing.keys.iter().collect();
    String::from_utf8_lossy(&add(&missing.table, &keys, "")).into_owned()
}

/// What a user is told where keys cannot be built.
pub(crate) fn failure_message(missing: &MissingKeys, error: &Error) -> String {
    let found = match error {
        Error::Server(refusal) => refusal.message.clone(),
        other => other.to_string(),
    };
    let hint = match error.code() {
        Some(code) if NO_ROOM.contains(&code) => {
            "; the server sorts the keys in innodb_tmpdir or tmpdir: make room there, or set innodb_tmpdir to a larger directory"
        }
        Some(LOCK_WAIT_TIMEOUT) => "; another session uses the table: end its transaction",
        Some(INTERRUPTED) => "; somebody has killed the statement",
        _ => "",
    };
    format!(
        "the rows of {} are loaded, but its deferred indexes could not be built: {found}{hint}; then resume the load with --resume, or \
         run: {}",
        missing.table,
        alter_text(missing),
    )
}

fn add(table: &TableName, keys: &[&Key], algorithm: &str) -> Vec<u8> {
    let adds: Vec<String> = keys.iter().map(|key| format!("ADD {}", key.definition)).collect();
    [b"ALTER TABLE ".as_slice(), &quoted(table), b" ", algorithm.as_bytes(), adds.join(", ").as_bytes()].concat()
}

fn quoted(table: &TableName) -> Vec<u8> {
    [quote_identifier(&table.schema), quote_identifier(&table.table)].join(&b'.')
}

/// What the server prints of a table; `None` where it is not there.
fn definition_of(connection: &mut Connection, table: &TableName) -> Result<Option<Vec<u8>>, Error> {
    match connection.fetch(&[b"SHOW CREATE TABLE ".as_slice(), &quoted(table)].concat()) {
        Ok(rows) => Ok(rows.into_iter().next().and_then(|row| row.into_iter().nth(1)?)),
        Err(error) if matches!(error.code(), Some(NO_SUCH_TABLE | UNKNOWN_DATABASE)) => Ok(None),
        Err(error) => Err(error),
    }
}
