//! FOUND_ROWS() of the dump's session, over questions of ours that have to be asked in it.

use hortator_mysql::{Connection, Error};

/// More rows are not restored: no dump is known that reads so many.
const LIMIT: u64 = 1000;

/// What FOUND_ROWS() gives.
///
/// # Errors
/// What the server or the connection says.
pub(super) fn read(connection: &mut Connection) -> Result<u64, Error> {
    let rows = connection.fetch(b"SELECT FOUND_ROWS() LIMIT 1")?;
    let value = rows.first().and_then(|row| row.first()?.as_deref());
    Ok(value.and_then(|value| std::str::from_utf8(value).ok()?.parse().ok()).unwrap_or(0))
}

/// Makes FOUND_ROWS() give this.
///
/// # Errors
/// What the server or the connection says.
pub(super) fn restore(connection: &mut Connection, rows: u64) -> Result<(), Error> {
    let one = "SELECT 1";
    let text = match rows {
        0 => format!("{one} LIMIT 0"),
        _ => vec![one; usize::try_from(rows.min(LIMIT)).unwrap_or(1)].join(" UNION ALL "),
    };
    connection.fetch(text.as_bytes()).map(drop)
}
