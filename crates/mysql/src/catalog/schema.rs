//! What a schema holds, and what its tables have to do with each other.

use std::collections::{BTreeMap, BTreeSet};

use super::TableName;
use crate::error::{UNKNOWN_DATABASE, UNKNOWN_TABLE};
use crate::{Connection, Error, Row, quote_identifier, quote_string};

/// What a name in a schema stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationKind {
    /// A base table, of any engine.
    Table,
    /// A view.
    View,
    /// A sequence.
    Sequence,
    /// Anything else, such as the views of `information_schema`.
    Other,
}

impl RelationKind {
    /// From the second column of `SHOW FULL TABLES`.
    fn from_table_type(table_type: &[u8]) -> Self {
        match table_type {
            b"BASE TABLE" | b"SYSTEM VERSIONED" => Self::Table,
            b"VIEW" => Self::View,
            b"SEQUENCE" => Self::Sequence,
            _ => Self::Other,
        }
    }
}

/// The names in a schema; empty when there is no such schema. The server opens no table for it and waits for no lock:
/// a millisecond for 50 tables.
///
/// # Errors
/// Whatever else the server or the connection says to the query.
pub fn relations(connection: &mut Connection, schema: &[u8]) -> Result<BTreeMap<Vec<u8>, RelationKind>, Error> {
    let query = [b"SHOW FULL TABLES FROM ".as_slice(), &quote_identifier(schema)].concat();
    let rows = match connection.fetch(&query) {
        Err(error) if error.code() == Some(UNKNOWN_DATABASE) => return Ok(BTreeMap::new()),
        outcome => outcome?,
    };
    let relation = |row: Row| {
        let [name, table_type] = fields(row);
        (name, RelationKind::from_table_type(&table_type))
    };
    Ok(rows.into_iter().map(relation).collect())
}

/// The engine of each base table and sequence of a schema, as the server writes it. The server reads the definition of
/// each table, and waits while another session changes one of them.
///
/// # Errors
/// Whatever the server or the connection says to the query.
pub fn engines(connection: &mut Connection, schema: &[u8]) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, Error> {
    let query = [
        b"SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = ".as_slice(),
        &quote_string(schema),
    ]
    .concat();
    let rows = connection.fetch(&query)?.into_iter();
    Ok(rows.map(fields).filter(|[_, engine]| !engine.is_empty()).map(|[name, engine]| (name, engine)).collect())
}

/// Whether a table holds no row that is committed, as far as MariaDB says so within a second: a table that somebody has
/// locked, or that this account may not read, counts as one that holds rows.
///
/// # Errors
/// When the connection is lost.
pub fn is_empty(connection: &mut Connection, name: &TableName) -> Result<bool, Error> {
    let query = [
        b"SET STATEMENT lock_wait_timeout = 0, max_statement_time = 1, sql_select_limit = DEFAULT FOR SELECT 1 FROM "
            .as_slice(),
        &quote_identifier(&name.schema),
        b".",
        &quote_identifier(&name.table),
        b" LIMIT 1",
    ]
    .concat();
    match connection.fetch(&query) {
        Err(Error::Server(_)) => Ok(false),
        rows => rows.map(|rows| rows.is_empty()),
    }
}

/// The tables whose foreign keys point to `name`, itself among them where it refers to itself; sorted, each once.
///
/// MariaDB is asked for InnoDB's own list, for which it opens no table and waits for no lock. Where the user may not read
/// it (it takes the PROCESS privilege), the server opens all tables of all schemas instead, and shows those keys only
/// whose tables the user may see.
///
/// # Errors
/// Whatever the server or the connection says to the queries.
pub fn children(connection: &mut Connection, name: &TableName) -> Result<Vec<TableName>, Error> {
    let listed = match connection.version().is_mariadb() {
        true => connection.fetch(&innodb_children(name)),
        false => connection.fetch(&standard_children(name)),
    };
    let rows = match listed {
        Err(Error::Server(_)) => connection.fetch(&standard_children(name))?,
        outcome => outcome?,
    };
    let children: BTreeSet<TableName> = rows
        .into_iter()
        .map(|row| {
            let [schema, table] = fields(row);
            TableName { schema, table }
        })
        .collect();
    Ok(children.into_iter().collect())
}

/// InnoDB writes names as those of files, `schema/table`, with what is no ASCII letter or digit encoded; a table under an
/// ALTER has a temporary name, in which `#` stands as it is.
fn innodb_children(name: &TableName) -> Vec<u8> {
    let encoded = |name: &[u8]| [b"CAST(CONVERT(", &quote_string(name)[..], b" USING filename) AS BINARY)"].concat();
    let decoded = |part: &str| {
        format!(
            "CONVERT(CAST(CAST(SUBSTRING_INDEX(FOR_NAME, '/', {part}) AS BINARY) AS CHAR CHARACTER SET filename) USING utf8mb4)"
        )
    };
    [
        format!("SELECT {}, {} FROM information_schema.INNODB_SYS_FOREIGN", decoded("1"), decoded("-1")).as_bytes(),
        b" WHERE CAST(REF_NAME AS BINARY) = CONCAT(",
        &encoded(&name.schema),
        b", '/', ",
        &encoded(&name.table),
        b") AND FOR_NAME NOT LIKE '%/#%'",
    ]
    .concat()
}

fn standard_children(name: &TableName) -> Vec<u8> {
    [
        b"SELECT CONSTRAINT_SCHEMA, TABLE_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS \
          WHERE UNIQUE_CONSTRAINT_SCHEMA = "
            .as_slice(),
        &quote_string(&name.schema),
        b" AND REFERENCED_TABLE_NAME = ",
        &quote_string(&name.table),
    ]
    .concat()
}

/// The tables of a schema on which triggers fire: one query for a whole schema takes about as long as 50 for one table
/// each.
///
/// # Errors
/// Whatever the server or the connection says to the query.
pub fn tables_with_triggers(connection: &mut Connection, schema: &[u8]) -> Result<BTreeSet<Vec<u8>>, Error> {
    let query = [
        b"SELECT EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = ".as_slice(),
        &quote_string(schema),
    ]
    .concat();
    let rows = connection.fetch(&query)?.into_iter();
    Ok(rows.map(fields).map(|[table]| table).collect())
}

/// The server's own functions by lower-case name, or `None` where it has no list of them (before MariaDB 10.6; MySQL).
/// Functions whose names are keywords of the grammar, such as `IF`, `LEFT`, `YEAR` and `USER`, are not in it, and neither
/// are loadable ones.
///
/// # Errors
/// Whatever else the server or the connection says to the query.
pub fn native_functions(connection: &mut Connection) -> Result<Option<BTreeSet<Vec<u8>>>, Error> {
    match connection.fetch(b"SELECT LOWER(FUNCTION) FROM information_schema.SQL_FUNCTIONS") {
        Ok(rows) => Ok(Some(rows.into_iter().map(fields).map(|[name]| name).collect())),
        Err(error) if error.code() == Some(UNKNOWN_TABLE) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The first fields of a row; empty for NULL or a missing one.
fn fields<const N: usize>(row: Row) -> [Vec<u8>; N] {
    let mut values = row.into_iter();
    std::array::from_fn(|_| values.next().flatten().unwrap_or_default())
}
