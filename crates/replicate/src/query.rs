//! Small questions to a server, answered in text.

use hortator_mysql::{Connection, Error};

/// The rows of a query. NULL is an empty text.
///
/// # Errors
/// As for any statement.
pub(crate) fn texts(connection: &mut Connection, query: &[u8]) -> Result<Vec<Vec<String>>, Error> {
    let text = |value: Option<Vec<u8>>| String::from_utf8_lossy(&value.unwrap_or_default()).into_owned();
    Ok(connection.fetch(query)?.into_iter().map(|row| row.into_iter().map(text).collect()).collect())
}

/// The first column of a query.
///
/// # Errors
/// As for any statement.
pub(crate) fn first_column(connection: &mut Connection, query: &[u8]) -> Result<Vec<String>, Error> {
    Ok(texts(connection, query)?.into_iter().filter_map(|row| row.into_iter().next()).collect())
}

/// The first value of a query; empty where there is none.
///
/// # Errors
/// As for any statement.
pub(crate) fn first_value(connection: &mut Connection, query: &[u8]) -> Result<String, Error> {
    Ok(first_column(connection, query)?.into_iter().next().unwrap_or_default())
}
