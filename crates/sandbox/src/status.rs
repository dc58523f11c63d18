//! Reads a status variable of a server.

use hortator_mysql::{Connection, Error};

/// The value of the status variable `name`, a plain name; `None` when the server has no such variable.
pub(crate) fn status(connection: &mut Connection, name: &str) -> Result<Option<String>, Error> {
    let rows = connection.fetch(format!("SHOW GLOBAL STATUS LIKE '{name}'").as_bytes())?;
    let value = rows.into_iter().next().and_then(|row| row.into_iter().nth(1).flatten());
    Ok(value.map(|value| String::from_utf8_lossy(&value).into_owned()))
}
