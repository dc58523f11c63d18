//! A table's facts from `information_schema`: what every server understands.

use super::{Column, Table, TableKind, TableName, described_column, kind, merge};
use crate::{Connection, Error, Row, quote_string};

/// As [`super::table`], without `SHOW CREATE TABLE`, in one round trip where the connection takes several statements at
/// once, else in four: what `table` falls back to, and what tests hold it against.
///
/// # Errors
/// Whatever the server or the connection says to the queries.
pub fn table(connection: &mut Connection, name: &TableName) -> Result<Option<Table>, Error> {
    let is_mariadb = connection.version().is_mariadb();
    // Default values hold strings.
    let settings = if is_mariadb { "SET STATEMENT sql_mode = '' FOR " } else { "" };
    // No computed column of MySQL's reads the session.
    let computed = if is_mariadb { "GENERATION_EXPRESSION" } else { "NULL" };
    let column_query = query(
        // Sorting and conversion are left to us: they cost the server another temporary table.
        &format!(
            "{settings}SELECT COLUMN_NAME, DATA_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, ORDINAL_POSITION, \
             {computed} FROM information_schema.COLUMNS"
        ),
        "TABLE_SCHEMA",
        "TABLE_NAME",
        name,
    );
    let queries = [
        query(
            "SELECT TABLE_TYPE, ENGINE, CREATE_OPTIONS FROM information_schema.TABLES",
            "TABLE_SCHEMA",
            "TABLE_NAME",
            name,
        ),
        column_query,
        query(
            "SELECT UNIQUE_CONSTRAINT_SCHEMA, REFERENCED_TABLE_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS",
            "CONSTRAINT_SCHEMA",
            "TABLE_NAME",
            name,
        ),
        trigger_query(name),
    ];
    let mut answers = connection.fetch_each(&queries)?.into_iter();
    let mut next = || answers.next().unwrap_or_default();
    let (kinds, mut column_rows, parent_rows, triggers) = (next(), next(), next(), next());
    let Some(row) = kinds.into_iter().next() else { return Ok(None) };

    let table_type = text(&row, 0);
    let is_base = matches!(table_type.as_str(), "BASE TABLE" | "SYSTEM VERSIONED");
    let mut engine = text(&row, 1).into_bytes();
    if is_base && engine.is_empty() {
        // A table that cannot be opened; its definition names the engine all the same.
        let query = query("SELECT ENGINE FROM information_schema.TABLES", "TABLE_SCHEMA", "TABLE_NAME", name);
        engine = connection.fetch(&query)?.first().map(|row| text(row, 0).into_bytes()).unwrap_or_default();
    }
    let merge_children = match engine.eq_ignore_ascii_case(merge::ENGINE) {
        true => merge::children(connection, name)?,
        false => Some(Vec::new()),
    };
    column_rows.sort_by_key(|row| text(row, 5).parse::<u32>().unwrap_or(u32::MAX));
    let mut parents: Vec<TableName> = parent_rows
        .into_iter()
        .map(|mut row| TableName {
            table: row.pop().flatten().unwrap_or_default(),
            schema: row.pop().flatten().unwrap_or_default(),
        })
        .collect();
    parents.sort();
    parents.dedup();
    Ok(Some(Table {
        name: name.clone(),
        kind: if is_base { kind(&engine) } else { TableKind::Other },
        engine,
        merge_children,
        columns: column_rows.into_iter().map(|row| column(row, is_mariadb)).collect(),
        parents,
        has_triggers: !triggers.is_empty(),
        versioned: table_type == "SYSTEM VERSIONED",
        partitioned: text(&row, 2).split(' ').any(|option| option == "partitioned"),
    }))
}

/// Asks for a row for each trigger on a table.
pub(super) fn trigger_query(name: &TableName) -> Vec<u8> {
    query("SELECT 1 FROM information_schema.TRIGGERS", "EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE", name)
}

/// With a schema and a table given as constants, the server looks at that table only.
fn query(select: &str, schema_column: &str, table_column: &str, name: &TableName) -> Vec<u8> {
    [
        select.as_bytes(),
        b" WHERE ",
        schema_column.as_bytes(),
        b" = ",
        &quote_string(&name.schema),
        b" AND ",
        table_column.as_bytes(),
        b" = ",
        &quote_string(&name.table),
    ]
    .concat()
}

/// A row of the column query as a [`Column`].
fn column(mut row: Row, is_mariadb: bool) -> Column {
    let name = row.first_mut().and_then(Option::take).unwrap_or_default();
    let data_type = text(&row, 1).to_ascii_lowercase();
    let default = row.get(3).and_then(Option::as_deref);
    let computed = row.get(6).and_then(Option::as_deref);
    let extra = text(&row, 4).to_ascii_uppercase();
    described_column(name, &data_type, text(&row, 2) == "YES", default, computed, &extra, is_mariadb)
}

/// A field of a fetched row as text; empty for NULL or a missing one.
fn text(row: &[Option<Vec<u8>>], field: usize) -> String {
    row.get(field).cloned().flatten().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}
