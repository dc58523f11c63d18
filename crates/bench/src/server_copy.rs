//! The lower bound: the same rows copied inside the server, from a loaded schema into an empty one with the same keys.
//! No outside program can deliver rows at a lower cost, so the difference is the cost of the loader.
//!
//! Two connections copy in parallel, each half of the employees with all dependent rows: parents before children on
//! each, and neither waits for a row of the other. Foreign keys and unique keys are checked, as in a load.

use std::thread;

use hortator_mysql::{Connection, quote_identifier};

use crate::Error;
use crate::employees::{SCHEMA, TABLES};
use crate::nodes::Nodes;

/// Connections that copy at the same time.
pub const CONNECTIONS: u64 = 2;
/// Each connection copies its part of a table in this many statements, so that transactions do not grow with the table.
const STATEMENTS_PER_PART: u64 = 8;
/// The schema to copy.
pub const SOURCE: &str = "employees_source";

/// Creates [`SOURCE`] from a schema that has just been loaded, by moving its tables.
///
/// # Errors
/// [`Error::Server`] when a statement fails.
pub(crate) fn move_to_source(server: &Nodes) -> Result<(), Error> {
    let mut connection = server.connect(0)?;
    let failed = || Error::server("creating the source schema");
    let mut run = |sql: String| connection.execute(sql.as_bytes()).map(drop).map_err(failed());
    run(format!("DROP DATABASE IF EXISTS {SOURCE}"))?;
    run(format!("CREATE DATABASE {SOURCE}"))?;
    let moves = TABLES.map(|(table, _)| format!("{SCHEMA}.{table} TO {SOURCE}.{table}")).join(", ");
    // Views cannot be moved, and would refer to missing tables.
    run(format!("DROP VIEW IF EXISTS {SCHEMA}.current_dept_emp, {SCHEMA}.dept_emp_latest_date"))?;
    run(format!("RENAME TABLE {moves}"))
}

/// Copies all of [`SOURCE`] into a new schema with the dump's name.
///
/// # Errors
/// [`Error::Server`] when a statement fails.
pub(crate) fn run(server: &Nodes) -> Result<(), Error> {
    let failed = || Error::server("copying inside the server");
    let mut connection = server.connect(0)?;
    create_tables(&mut connection).map_err(failed())?;
    copy(&mut connection, "departments", "TRUE").map_err(failed())?;
    let (first, last) = employee_range(&mut connection).map_err(failed())?;

    let part = (last - first + 1).div_ceil(CONNECTIONS);
    let mut connections = vec![connection];
    while (connections.len() as u64) < CONNECTIONS {
        connections.push(server.connect(0)?);
    }
    thread::scope(|scope| {
        let starts = (first..=last).step_by(part as usize);
        let copies: Vec<_> = connections
            .into_iter()
            .zip(starts)
            .map(|(connection, start)| {
                scope.spawn(move || copy_people(connection, start, (start + part).min(last + 1)))
            })
            .collect();
        copies.into_iter().try_for_each(|copy| copy.join().expect("a copying thread does not panic"))
    })
    .map_err(failed())
}

/// Tables only: the views hold no rows.
fn create_tables(connection: &mut Connection) -> Result<(), hortator_mysql::Error> {
    connection.execute(format!("DROP DATABASE IF EXISTS {SCHEMA}").as_bytes())?;
    connection.execute(format!("CREATE DATABASE {SCHEMA}").as_bytes())?;
    connection.execute(format!("USE {SCHEMA}").as_bytes())?;
    for table in tables_parents_first() {
        let shown = connection.fetch(format!("SHOW CREATE TABLE {SOURCE}.{table}").as_bytes())?;
        let create = shown.into_iter().next().and_then(|row| row.into_iter().nth(1)).flatten().unwrap_or_default();
        connection.execute(&create)?;
    }
    Ok(())
}

/// Copies every row of the employees from `start` up to and without `end`.
fn copy_people(mut connection: Connection, start: u64, end: u64) -> Result<(), hortator_mysql::Error> {
    // The source does not change: reading it without locks gives the same rows, at a lower cost.
    connection.execute(b"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")?;
    let step = (end - start).div_ceil(STATEMENTS_PER_PART).max(1);
    for table in tables_parents_first().filter(|table| *table != "departments") {
        for from in (start..end).step_by(step as usize) {
            let to = (from + step).min(end);
            copy(&mut connection, table, &format!("emp_no >= {from} AND emp_no < {to}"))?;
        }
    }
    Ok(())
}

fn copy(connection: &mut Connection, table: &str, condition: &str) -> Result<(), hortator_mysql::Error> {
    let statement = format!("INSERT INTO {SCHEMA}.{table} SELECT * FROM {SOURCE}.{table} WHERE {condition}");
    connection.execute(statement.as_bytes()).map(drop)
}

fn employee_range(connection: &mut Connection) -> Result<(u64, u64), hortator_mysql::Error> {
    let rows = connection.fetch(format!("SELECT MIN(emp_no), MAX(emp_no) FROM {SOURCE}.employees").as_bytes())?;
    let mut ends = rows.into_iter().flatten().flatten().map(|end| String::from_utf8_lossy(&end).parse().unwrap_or(0));
    Ok((ends.next().unwrap_or(0), ends.next().unwrap_or(0)))
}

/// The script loads parents before children: the same order works here.
fn tables_parents_first() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|(table, _)| *table)
}

/// The number of rows of all tables in the dump's schema.
///
/// # Errors
/// [`Error::Server`] when a table is missing.
pub fn loaded_rows(connection: &mut Connection) -> Result<u64, Error> {
    let mut total = 0;
    for table in tables_parents_first() {
        let place = [quote_identifier(SCHEMA), quote_identifier(table)].join(&b'.');
        let query = [b"SELECT COUNT(*) FROM ".as_slice(), &place].concat();
        let rows = connection.fetch(&query).map_err(Error::server(format!("counting the rows of {table}")))?;
        let count = rows.into_iter().flatten().flatten().next().unwrap_or_default();
        total += String::from_utf8_lossy(&count).parse().unwrap_or(0);
    }
    Ok(total)
}
