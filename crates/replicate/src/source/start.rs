//! Where a source's log starts for us.

use hortator_mysql::{BinlogStart, Connection, Flavor, quote_string};

use super::Error;
use crate::apply::SourcePosition;
use crate::config::Start;
use crate::transaction::LogPosition;

/// The source's answer to a statement.
fn fetch(connection: &mut Connection, doing: &str, query: &[u8]) -> Result<Option<Vec<String>>, Error> {
    let failed = |error| Error::Server { doing: doing.to_owned(), error };
    let row = connection.fetch(query).map_err(failed)?.into_iter().next();
    let text = |value: Option<Vec<u8>>| String::from_utf8_lossy(&value.unwrap_or_default()).into_owned();
    Ok(row.map(|row| row.into_iter().map(text).collect()))
}

/// Where a source's log ends now.
///
/// # Errors
/// [`Error::Server`], and [`Error::Unfit`] if it writes none.
pub fn log_end(connection: &mut Connection) -> Result<SourcePosition, Error> {
    // MySQL 8.4 has another name for it.
    let is_new = !connection.version().is_mariadb() && connection.version().comment_number() >= 80_400;
    let query: &[u8] = if is_new { b"SHOW BINARY LOG STATUS" } else { b"SHOW MASTER STATUS" };
    let row = fetch(connection, "asking where the source's log ends", query)?;
    let place = row.and_then(|row| Some((row.first()?.clone(), row.get(1)?.parse::<u64>().ok()?)));
    let Some((file, position)) = place else {
        return Err(Error::Unfit("the source writes no binary log: set log_bin there".to_owned()));
    };
    with_gtid(connection, LogPosition { file: file.into_bytes(), position })
}

/// The position of a source of which nothing is applied yet.
///
/// # Errors
/// As [`log_end`], and [`Error::Unfit`] where the source has no such place.
pub fn first_position(connection: &mut Connection, start: &Start) -> Result<SourcePosition, Error> {
    match start {
        Start::Now => log_end(connection),
        Start::Position(position) => with_gtid(connection, position.clone()),
        Start::Gtid(gtid) if connection.version().flavor == Flavor::MariaDb => {
            Ok(SourcePosition { gtid: gtid.clone(), ..SourcePosition::default() })
        }
        Start::Gtid(_) => Err(Error::Unfit(
            "a start by GTID is for MariaDB sources so far: give FILE:POSITION for this one".to_owned(),
        )),
    }
}

/// A place of the log with MariaDB's GTID position there.
fn with_gtid(connection: &mut Connection, position: LogPosition) -> Result<SourcePosition, Error> {
    let mut found = SourcePosition { position, ..SourcePosition::default() };
    if connection.version().flavor != Flavor::MariaDb {
        return Ok(found);
    }
    let LogPosition { file, position } = &found.position;
    let query =
        [b"SELECT BINLOG_GTID_POS(".as_slice(), &quote_string(file), format!(", {position})").as_bytes()].concat();
    let row = fetch(connection, "asking for the GTID position", &query)?;
    let text = row.and_then(|row| row.into_iter().next()).unwrap_or_default();
    found.gtid = text.parse().map_err(Error::Unfit)?;
    Ok(found)
}

/// What to ask a source for.
///
/// # Errors
/// [`Error::Unfit`] for what the protocol cannot ask for.
pub fn request(at: &SourcePosition, flavor: Flavor) -> Result<BinlogStart, Error> {
    if flavor == Flavor::MariaDb && !at.gtid.is_empty() {
        return Ok(BinlogStart::MariaDbGtid(at.gtid.to_string()));
    }
    let LogPosition { file, position } = &at.position;
    let position = u32::try_from(*position).map_err(|_| {
        Error::Unfit(format!(
            "position {position} of {} cannot be asked for, it is above 4 GiB: lower max_binlog_size on the source, and \
             start at the next file",
            String::from_utf8_lossy(file)
        ))
    })?;
    Ok(BinlogStart::Position { file: file.clone(), position })
}
