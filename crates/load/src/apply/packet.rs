//! Statements that the server would not take for their length: it says so and closes the connection, with whatever is open
//! on it. They are refused here, in its words.

use hortator_mysql::error::PACKET_TOO_LARGE;
use hortator_mysql::{Connection, Error, ServerError};

/// Says that a statement of `text_bytes` is more than a server with this `max_allowed_packet` takes.
///
/// # Errors
/// 1153, as the server would say it.
pub fn check_packet(text_bytes: usize, packet_limit_bytes: usize) -> Result<(), Error> {
    // Seen with MariaDB: of the limit, one byte is the command's, and one is never filled.
    if text_bytes.saturating_add(1) < packet_limit_bytes {
        return Ok(());
    }
    Err(Error::Server(ServerError {
        code: PACKET_TOO_LARGE,
        sqlstate: *b"08S01",
        message: "Got a packet bigger than 'max_allowed_packet' bytes".to_owned(),
    }))
}

/// The longest statement that the server takes from a new session, in bytes.
pub(crate) fn packet_limit_bytes(connection: &mut Connection) -> Result<usize, Error> {
    let rows = connection.fetch(b"SELECT @@max_allowed_packet")?;
    let value = rows.first().and_then(|row| row.first()?.as_deref());
    Ok(value.and_then(|value| std::str::from_utf8(value).ok()?.parse().ok()).unwrap_or(usize::MAX))
}
