//! What each session at the target is set to.

use hortator_mysql::{Connection, Error};

/// What the target's defaults may be otherwise: each statement commits by itself, COMMIT is no more than that, no statement
/// has a time limit, reads too many rows (`max_join_size`) or needs a key (`sql_safe_updates`), a table is altered in any way
/// that it can be, those with history too, as a replica may; and a source may be idle for days.
const SETTINGS: &[u8] =
    b"SET SESSION autocommit = 1, completion_type = 0, max_statement_time = 0, sql_big_selects = 1, sql_safe_updates = 0, \
    alter_algorithm = 'DEFAULT', system_versioning_alter_history = KEEP, wait_timeout = 31536000";

/// Where `tx_read_only` is set for all. It has another name in newer servers.
const WRITES: &[u8] = b"SET SESSION TRANSACTION READ WRITE";

/// The server looks at each byte of a text: whether it begins a longer character. BINLOG statements have none, and in the
/// character set `utf8mb4` that was a fifth of what a server needs for large ones. Other texts stay what they are: those that
/// the session compares are of `collation_connection`.
pub(super) const READ_BYTES: &[u8] = b"SET SESSION character_set_client = binary";

/// Sets a new session.
///
/// # Errors
/// As for any statement.
pub(super) fn prepare_session(connection: &mut Connection) -> Result<(), Error> {
    connection.execute(SETTINGS)?;
    connection.execute(WRITES)?;
    // Positions as rows can be told from others by who reads this log. An account may lack the right.
    let _ = connection.execute(b"SET SESSION binlog_format = ROW");
    Ok(())
}
