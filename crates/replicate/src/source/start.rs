//! Where a source's log starts for us.

use hortator_mysql::{BinlogStart, ConnectOptions, Connection, Flavor, quote_string};

use super::{Error, LogOrder, mysql_gtids};
use crate::apply::SourcePosition;
use crate::binlog::GtidState;
use crate::config::Start;
use crate::query::texts;
use crate::transaction::LogPosition;

/// The first row of the source's answer.
fn first_row(connection: &mut Connection, doing: &str, query: &[u8]) -> Result<Option<Vec<String>>, Error> {
    let rows = texts(connection, query).map_err(|error| Error::Server { doing: doing.to_owned(), error })?;
    Ok(rows.into_iter().next())
}

/// The query for the place where a server's log ends.
pub(crate) fn log_end_query(connection: &Connection) -> &'static [u8] {
    // MySQL 8.4 has another name for it.
    let is_new = !connection.version().is_mariadb() && connection.version().comment_number() >= 80_400;
    if is_new { b"SHOW BINARY LOG STATUS" } else { b"SHOW MASTER STATUS" }
}

/// The place in the answer to [`log_end_query`].
///
/// # Errors
/// [`Error::Unfit`] for a server that writes no log.
pub(crate) fn log_end_in(row: &[String]) -> Result<LogPosition, Error> {
    match row.first().zip(row.get(1).and_then(|position| position.parse::<u64>().ok())) {
        Some((file, position)) => Ok(LogPosition { file: file.clone().into_bytes(), position }),
        None => Err(Error::Unfit("the source writes no binary log: set log_bin there".to_owned())),
    }
}

/// Where a source's log ends now.
///
/// # Errors
/// [`Error::Server`], and [`Error::Unfit`] if it writes none.
pub fn log_end(connection: &mut Connection) -> Result<SourcePosition, Error> {
    let query = log_end_query(connection);
    let row = first_row(connection, "asking where the source's log ends", query)?.unwrap_or_default();
    let position = log_end_in(&row)?;
    if !connection.version().is_mariadb() {
        let gtid = mysql_gtids::end_with_gtids(connection, &row)?;
        return Ok(SourcePosition { position, gtid, ..SourcePosition::default() });
    }
    with_gtid(connection, position)
}

/// The position of a source of which nothing is applied yet.
///
/// # Errors
/// As [`log_end`], and [`Error::Unfit`] where the source has no such place.
pub fn first_position(
    connection: &mut Connection,
    host: &ConnectOptions,
    start: &Start,
    server_id: u32,
) -> Result<SourcePosition, Error> {
    let is_mariadb = connection.version().is_mariadb();
    match start {
        Start::Now => log_end(connection),
        Start::Snapshot => Err(Error::Unfit("the place of a snapshot is known when it is taken".to_owned())),
        Start::Position(position) if is_mariadb => with_gtid(connection, position.clone()),
        Start::Position(position) => {
            let has_gtids = mysql_gtids::has_gtids(connection)?;
            let gtid =
                if has_gtids { mysql_gtids::at_position(host, position, server_id)? } else { GtidState::default() };
            Ok(SourcePosition { position: position.clone(), gtid, ..SourcePosition::default() })
        }
        Start::Gtid(gtid) if is_mariadb == gtid.set().is_none() => {
            let at = SourcePosition { gtid: gtid.clone(), ..SourcePosition::default() };
            check_history(connection, &at).map(|_| at)
        }
        Start::Gtid(gtid) => Err(Error::Unfit(format!(
            "the start `gtid:{gtid}` is one of {}, and the source is a server of {}",
            if is_mariadb { "MySQL" } else { "MariaDB" },
            if is_mariadb { "MariaDB" } else { "MySQL" }
        ))),
    }
}

/// A place of the log with MariaDB's GTID position there.
pub(crate) fn with_gtid(connection: &mut Connection, position: LogPosition) -> Result<SourcePosition, Error> {
    let mut found = SourcePosition { position, ..SourcePosition::default() };
    if connection.version().flavor != Flavor::MariaDb {
        return Ok(found);
    }
    let LogPosition { file, position } = &found.position;
    let query =
        [b"SELECT BINLOG_GTID_POS(".as_slice(), &quote_string(file), format!(", {position})").as_bytes()].concat();
    let row = first_row(connection, "asking for the GTID position", &query)?;
    let text = row.and_then(|row| row.into_iter().next()).unwrap_or_default();
    found.gtid = GtidState::MariaDb(text.parse().map_err(Error::Unfit)?);
    Ok(found)
}

/// Whether the source's log is still the one that the position is of: the same GTID at the same place. RESET MASTER, a crash
/// that has lost the end of the log, and another server at the same address make it another one, which MariaDB notices only
/// until the new log has as many transactions.
///
/// True where the source says so: what comes behind the GTID stands behind that place, however many domains the log has. See
/// [`check_first`].
///
/// # Errors
/// [`Error::Unfit`] where it is another one. Where the source does not say, it passes: a file that is purged, an account that
/// may not ask.
pub fn check_history(connection: &mut Connection, at: &SourcePosition) -> Result<bool, Error> {
    if let Some(set) = at.gtid.set() {
        return mysql_gtids::check(connection, at, set).map(|()| false);
    }
    if !connection.version().is_mariadb() {
        return match mysql_gtids::check_size(connection, &at.position) {
            Some(size) => Err(another_log(at, &format!("ends at {size}"))),
            None => Ok(false),
        };
    }
    let Ok(files) = texts(connection, b"SHOW BINARY LOGS") else { return Ok(false) };
    let name = String::from_utf8_lossy(&at.position.file);
    let size = files.iter().find(|row| row.first().is_some_and(|file| *file == name)).and_then(|row| row.get(1));
    let Some(size) = size.and_then(|size| size.parse::<u64>().ok()) else { return Ok(false) };
    let there = if size < at.position.position { None } else { Some(with_gtid(connection, at.position.clone())?.gtid) };
    let there = match there {
        Some(there) if there == at.gtid => return Ok(true),
        // A `start` may have named fewer domains than the log has, and whoever takes the GTID off the row names none.
        _ if at.gtid.position().domains() != 1 => return Ok(false),
        Some(there) if there.position().domains() > 1 => return Ok(false),
        // MariaDB says NULL in the middle of an event.
        Some(there) if there.is_empty() => "has no transaction's end there".to_owned(),
        Some(there) => format!("has GTID {there} there"),
        None => format!("ends at {size}"),
    };
    Err(another_log(at, &there))
}

/// Whether the first transaction that a source sends by GTID, up to `end`, stands behind the place that has this GTID in its log.
/// Otherwise the GTID stands in the log more than once, and the source sends what follows the first one.
///
/// # Errors
/// [`Error::Unfit`] where it does not.
pub fn check_first(end: &LogPosition, at: &SourcePosition, order: &LogOrder) -> Result<(), Error> {
    if order.is_behind(end, &at.position) {
        return Ok(());
    }
    Err(Error::Unfit(format!(
        "the target has this source up to {at}, and by this GTID the source sends again what ends at {}:{}: a transaction before \
         has the same GTID (gtid_seq_no was set without gtid_strict_mode). Set gtid = '' in the source's row of the table of \
         positions, then `resume`: it goes on by the place in the file",
        String::from_utf8_lossy(&end.file),
        end.position
    )))
}

fn another_log(at: &SourcePosition, there: &str) -> Error {
    Error::Unfit(format!(
        "the target has this source up to {at}, and the source's log {there}: RESET MASTER, a crash that lost the end of the \
         log, or another server. Copy the data again, delete the source's row from the table of positions, and give a new \
         `start`"
    ))
}

/// What to ask a source for.
///
/// # Errors
/// [`Error::Unfit`] for what the protocol cannot ask for.
pub fn request(at: &SourcePosition, flavor: Flavor) -> Result<BinlogStart, Error> {
    if let (Flavor::MySql, Some(set)) = (flavor, at.gtid.set()) {
        return Ok(BinlogStart::MySqlGtid(set.to_bytes()));
    }
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
