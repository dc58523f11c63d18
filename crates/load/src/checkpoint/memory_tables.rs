//! Lost rows of MEMORY tables, which a restart of the server empties.

use hortator_mysql::{Connection, Error, quote_identifier};

use super::load_registry::{number, rows_by_table, text};
use super::statements::Statements;

/// A table that has lost rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostRows {
    /// The table, as `schema.table`.
    pub table: String,
    /// Rows that the checkpoints record.
    pub recorded: u64,
    /// Rows in the table.
    pub found: u64,
}

impl std::fmt::Display for LostRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { table, recorded, found } = self;
        write!(
            f,
            "table {table} is a MEMORY table that has {found} rows, but {recorded} rows are recorded as loaded: the server was \
             restarted or replaced; load again without --resume, or restore the rows and resume with --in-doubt=applied"
        )
    }
}

/// The first table that has lost rows: it has fewer rows than recorded, and the server was restarted since the load
/// started or the table is empty. A dump may delete rows itself.
pub(super) fn lost_rows(
    connection: &mut Connection,
    statements: &Statements,
    load_id: u64,
) -> Result<Option<LostRows>, Error> {
    let recorded = rows_by_table(connection, statements, load_id)?;
    if recorded.iter().all(|(_, rows)| *rows == 0) {
        return Ok(None);
    }
    let tables = connection.fetch(
        b"SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE ENGINE = 'MEMORY' \
          AND TABLE_SCHEMA NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys')",
    )?;
    for row in &tables {
        let (schema, name) = (text(row, 0), text(row, 1));
        let table = format!("{schema}.{name}");
        let Some((_, rows)) = recorded.iter().find(|(known, _)| known.eq_ignore_ascii_case(&table)) else { continue };
        let place = [quote_identifier(&schema), quote_identifier(&name)].join(&b'.');
        let found = number(connection, &format!("SELECT COUNT(*) FROM {}", String::from_utf8_lossy(&place)))?;
        if found < *rows && (found == 0 || has_started_since(connection, statements, load_id)?) {
            return Ok(Some(LostRows { table, recorded: *rows, found }));
        }
    }
    Ok(None)
}

/// Whether the server was started after the load began.
fn has_started_since(connection: &mut Connection, statements: &Statements, load_id: u64) -> Result<bool, Error> {
    let status = connection.fetch(b"SHOW GLOBAL STATUS LIKE 'Uptime'")?;
    let up_s: u64 = status.first().and_then(|row| text(row, 1).parse().ok()).unwrap_or(0);
    let age = statements.of_load(load_id, "GREATEST(0, UNIX_TIMESTAMP() - CAST(`end_byte` AS SIGNED))");
    Ok(number(connection, &age)? > up_s)
}
