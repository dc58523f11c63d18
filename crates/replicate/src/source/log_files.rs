//! How much of a source's log lies behind a position.

use hortator_mysql::{Connection, Error};

use crate::apply::SourcePosition;
use crate::binlog::GtidState;
use crate::query::{first_column, first_value, texts};
use crate::transaction::LogPosition;

/// A file of a source's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// Its name, as SHOW BINARY LOGS prints it.
    pub name: String,
    /// Its size in bytes.
    pub size_bytes: u64,
}

/// The order of a source's files. Their names do not tell it where the base name of the log has changed (`log_bin`, with the same
/// `log_bin_index`).
#[derive(Clone, Debug, Default)]
pub struct LogOrder {
    /// What SHOW BINARY LOGS has listed.
    files: Vec<Vec<u8>>,
}

impl LogOrder {
    /// The order of these, as SHOW BINARY LOGS lists them.
    pub fn new(files: impl IntoIterator<Item = String>) -> LogOrder {
        LogOrder { files: files.into_iter().map(String::into_bytes).collect() }
    }

    /// The order now. An account may not be allowed to list the files: then only their names tell it.
    pub fn of_source(connection: &mut Connection) -> LogOrder {
        LogOrder::new(first_column(connection, b"SHOW BINARY LOGS").unwrap_or_default())
    }

    /// Whether a place stands behind another one.
    #[must_use]
    pub fn is_behind(&self, at: &LogPosition, other: &LogPosition) -> bool {
        let index = |of: &LogPosition| self.files.iter().position(|file| *file == of.file);
        match (index(at), index(other)) {
            (Some(file), Some(of_other)) => (file, at.position) > (of_other, other.position),
            // A file that is not listed was begun behind the others.
            (file, of_other)
                if base_name(&at.file) != base_name(&other.file) && file.is_some() != of_other.is_some() =>
            {
                file.is_none()
            }
            _ => at.is_behind(other),
        }
    }
}

/// The name of a log, without the number of the file.
fn base_name(file: &[u8]) -> &[u8] {
    let end = file.iter().rposition(|byte| *byte == b'.');
    &file[..end.unwrap_or(file.len())]
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
    fn order_of_files() {
        let at = |text: &str| {
            let (file, position) = text.split_once(':').unwrap();
            LogPosition { file: file.as_bytes().to_vec(), position: position.parse().unwrap() }
        };
        let listed = ["shop.999999", "shop.1000000", "data.000001", "data.000002"];
        let listed = LogOrder::new(listed.map(str::to_owned));
        let unlisted = LogOrder::default();
        for (order, earlier, later) in [
            (&listed, "shop.999999:900", "shop.1000000:4"),
            (&listed, "shop.1000000:900", "data.000001:4"),
            (&listed, "data.000001:4", "data.000001:5"),
            // Begun after they were listed, or deleted before.
            (&listed, "data.000002:900", "data.000003:4"),
            (&listed, "shop.1000000:900", "data.000003:4"),
            (&listed, "data.000002:900", "again.000001:4"),
            (&listed, "shop.999998:900", "shop.999999:4"),
            (&unlisted, "shop.999999:900", "shop.1000000:4"),
        ] {
            let (before, behind) = (at(earlier), at(later));
            assert!(order.is_behind(&behind, &before), "{later} behind {earlier}");
            assert!(!order.is_behind(&before, &behind), "{earlier} behind {later}");
            assert!(!order.is_behind(&behind, &behind), "{later} behind itself");
        }
    }

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
