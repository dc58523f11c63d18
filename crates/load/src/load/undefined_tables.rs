//! The check of tables that the dump has rows for and does not define: the server's tables must be such that their rows can be
//! split into fields. Nothing has run then.

use hortator_mysql::{Connection, Error, quote_string};

use super::Options;
use crate::input::UndefinedTable;
use crate::lexer::is_ascii_safe;
use crate::report::Failure;

/// What is wrong with these tables. One that is not there is left to its first statement.
pub(super) fn check(options: &Options, connect: &dyn Fn() -> Result<Connection, Error>) -> Result<Vec<Failure>, Error> {
    let tables = options.input.undefined_tables();
    if tables.is_empty() {
        return Ok(Vec::new());
    }
    let mut connection = connect()?;
    let folds = connection.fetch(b"SELECT @@lower_case_table_names")?;
    let folds = folds.first().and_then(|row| row.first()?.as_deref()).is_some_and(|value| value != b"0");
    let mut failures = Vec::new();
    for table in tables {
        let mapped = |schema: &Vec<u8>| {
            let rewriting = &options.filter.rewriting;
            rewriting.mapped_schema(schema, folds).map_or_else(|| schema.clone(), <[u8]>::to_vec)
        };
        let charsets = charsets(&mut connection, table.schema.as_ref().map(mapped), &table.table)?;
        failures.extend(refusal(table, &charsets).map(Failure::of_load));
    }
    Ok(failures)
}

/// The columns of a table that are texts, each with its character set.
fn charsets(
    connection: &mut Connection,
    schema: Option<Vec<u8>>,
    table: &[u8],
) -> Result<Vec<(String, String)>, Error> {
    let schema = schema.map_or_else(|| b"DATABASE()".to_vec(), quote_string);
    let query = [
        b"SELECT COLUMN_NAME, CHARACTER_SET_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ".as_slice(),
        &schema,
        b" AND TABLE_NAME = ",
        &quote_string(table),
        b" AND CHARACTER_SET_NAME IS NOT NULL ORDER BY ORDINAL_POSITION",
    ];
    let text = |value: Option<&Option<Vec<u8>>>| {
        String::from_utf8_lossy(value.and_then(Option::as_deref).unwrap_or_default()).into_owned()
    };
    let rows = connection.fetch(&query.concat())?;
    Ok(rows.iter().map(|row| (text(row.first()), text(row.get(1)))).collect())
}

/// Why the rows of a table cannot be split.
fn refusal(table: &UndefinedTable, charsets: &[(String, String)]) -> Option<String> {
    let (column, charset) = charsets.iter().find(|(_, charset)| !is_ascii_safe(charset))?;
    Some(format!(
        "cannot load {}: column {column} of the table is in {charset}, whose characters may contain separators, and the dump \
         has no definition that says so of its rows: dump without --no-create-info, or as SQL without --tab",
        table.file
    ))
}
