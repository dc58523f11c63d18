//! How much of a source's log lies behind a position.

use hortator_mysql::{Connection, Error};

use crate::apply::SourcePosition;
use crate::binlog::GtidState;
use crate::query::{first_value, texts};
use crate::transaction::LogPosition;

/// A file of a source's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// Its name, as SHOW BINARY LOGS prints it.
    pub name: String,
    /// Its size in bytes.
    pub size_bytes: u64,
}

/// What the source's log has behind a position, in bytes; `None` where the position is in none of its files.
///
/// # Errors
/// As for any statement: an account needs BINLOG MONITOR.
pub fn lag_bytes(connection: &mut Connection, at: &SourcePosition) -> Result<Option<u64>, Error> {
    // A new file begins with events that no transaction is in.
    if !at.gtid.is_empty() {
        let is_mariadb = connection.version().is_mariadb();
        let end: &[u8] = if is_mariadb { b"SELECT @@global.gtid_binlog_pos" } else { b"SELECT @@global.gtid_executed" };
        if first_value(connection, end)?.parse() == Ok::<GtidState, String>(at.gtid.clone()) {
            return Ok(Some(0));
        }
    }
    let rows = texts(connection, b"SHOW BINARY LOGS")?;
    let file = |row: Vec<String>| {
        let mut values = row.into_iter();
        Some(LogFile { name: values.next()?, size_bytes: values.next()?.parse().ok()? })
    };
    let files: Vec<LogFile> = rows.into_iter().filter_map(file).collect();
    Ok(bytes_behind(&files, &at.position))
}

/// What files, in their order, have behind a position, in bytes; `None` where it is in none of them, as in a log that was
/// reset.
#[must_use]
pub fn bytes_behind(files: &[LogFile], at: &LogPosition) -> Option<u64> {
    let index = files.iter().position(|file| file.name.as_bytes() == at.file)?;
    let behind: u64 = files[index + 1..].iter().map(|file| file.size_bytes).sum();
    Some(files[index].size_bytes.checked_sub(at.position)? + behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_over_files() {
        let file = |name: &str, size_bytes| LogFile { name: name.to_owned(), size_bytes };
        let files = [file("bin.999999", 1_000), file("bin.1000000", 2_000), file("bin.1000001", 300)];
        for (name, position, expected) in [
            ("bin.1000001", 300, Some(0)),
            ("bin.1000001", 4, Some(296)),
            ("bin.1000000", 2_000, Some(300)),
            ("bin.999999", 900, Some(2_400)),
            // Of another log, purged, of another server, not known yet.
            ("bin.1000001", 500, None),
            ("bin.999998", 900, None),
            ("other.1000001", 4, None),
            ("", 0, None),
        ] {
            let at = LogPosition { file: name.as_bytes().to_vec(), position };
            assert_eq!(bytes_behind(&files, &at), expected, "{name}:{position}");
        }
    }
}
