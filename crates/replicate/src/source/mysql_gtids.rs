//! MySQL's GTIDs: which transactions stand before a place of the log, and whether a source still has those of the target.

use hortator_mysql::{BinlogRequest, BinlogStart, BinlogStream, ConnectOptions, Connection, quote_string};

use super::Error;
use crate::apply::SourcePosition;
use crate::binlog::{Content, EventKind, EventReader, GtidSet, GtidState};
use crate::query::{first_value, texts};
use crate::transaction::LogPosition;

/// What may stand between two transactions.
const BETWEEN: [EventKind; 6] = [
    EventKind::MYSQL_GTID,
    EventKind::ANONYMOUS_GTID,
    EventKind::TAGGED_GTID,
    EventKind::ROTATE,
    EventKind::STOP,
    EventKind::PREVIOUS_GTIDS,
];
/// The first event of a file.
const FIRST_POSITION: u32 = 4;

fn ask(connection: &mut Connection, query: &[u8]) -> Result<String, Error> {
    let cannot = |error| Error::Server { doing: "asking for the source's GTIDs".to_owned(), error };
    first_value(connection, query).map_err(cannot)
}

/// Whether each transaction of the source has a GTID.
pub(crate) fn has_gtids(connection: &mut Connection) -> Result<bool, Error> {
    Ok(ask(connection, b"SELECT @@global.gtid_mode")? == "ON")
}

/// The source's place with the GTIDs before it, where the log ends now: of one answer, so that they fit each other.
pub(super) fn end_with_gtids(connection: &mut Connection, row: &[String]) -> Result<GtidState, Error> {
    const EXECUTED: usize = 4;
    let Some(executed) = row.get(EXECUTED) else { return Ok(GtidState::default()) };
    if !has_gtids(connection)? {
        return Ok(GtidState::default());
    }
    executed.parse().map(GtidState::MySql).map_err(Error::Unfit)
}

/// The GTIDs before a place of the log: those before its file, as that begins with, and those in the file.
pub(super) fn at_position(host: &ConnectOptions, at: &LogPosition, server_id: u32) -> Result<GtidState, Error> {
    let cannot = |error| Error::Server { doing: "reading the GTIDs before the start".to_owned(), error };
    let start = BinlogStart::Position { file: at.file.clone(), position: FIRST_POSITION };
    let request = BinlogRequest { server_id, start, waits: false, heartbeat_ms: 0 };
    let connection = Connection::open(host).map_err(cannot)?;
    let mut stream = BinlogStream::open(connection, &request).map_err(cannot)?;
    let mut reader = EventReader::default();
    let mut set = GtidSet::default();
    let mut position = u64::from(FIRST_POSITION);
    // The place where the file begins is that of its first event behind the format description.
    let mut wanted = at.position;
    let file = String::from_utf8_lossy(&at.file).into_owned();
    let not_between = |found: String| {
        Error::Unfit(format!(
            "{file}:{} is not between two transactions of the source's log: {found}. Give another `start`",
            at.position
        ))
    };
    while let Some(bytes) = stream.next_event().map_err(cannot)? {
        let event = reader.read(bytes).map_err(|error| Error::Binlog { file: file.clone(), error })?;
        let header = event.header;
        if header.is_artificial() || header.kind.is_heartbeat() {
            continue;
        }
        // The GTIDs before the file stand behind the places where it and they begin.
        if let Content::PreviousGtids(before) = &event.content {
            set = before.clone();
        }
        let length = u64::from(header.length_bytes);
        if position == wanted && header.kind == EventKind::FORMAT_DESCRIPTION {
            wanted += length;
        }
        if position >= wanted {
            return match position == wanted && BETWEEN.contains(&header.kind) {
                true => Ok(GtidState::MySql(set)),
                false if position == wanted => Err(not_between(format!("{} begins there", header.kind))),
                false => Err(not_between(format!("an event ends at {position}"))),
            };
        }
        if let Content::MySqlGtid(Some(gtid)) = event.content {
            set.add(&gtid);
        }
        position += length;
        // What is behind belongs to the next file.
        if header.kind == EventKind::ROTATE {
            break;
        }
    }
    match position == wanted {
        true => Ok(GtidState::MySql(set)),
        false => Err(not_between(format!("the log ends at {position}"))),
    }
}

/// Whether the source has all transactions that the target has of it, and has not deleted the log of others.
pub(super) fn check(connection: &mut Connection, at: &SourcePosition, set: &GtidSet) -> Result<(), Error> {
    if !has_gtids(connection)? {
        return Err(Error::Unfit(format!(
            "the target has this source up to {at}, and the source has gtid_mode other than ON now: set it ON, or delete the \
             source's row from the table of positions and give FILE:POSITION as `start`"
        )));
    }
    let own = quote_string(set.to_string());
    let missing = ask(connection, &[b"SELECT GTID_SUBTRACT(".as_slice(), &own, b", @@global.gtid_executed)"].concat())?;
    if !missing.is_empty() {
        return Err(Error::Unfit(format!(
            "the source does not have the transactions {missing} which the target has of it: RESET BINARY LOGS AND GTIDS, \
             another server, or a replica that is behind or has been promoted without them. If they come, `resume`; else \
             copy the data again, delete the source's row from the table of positions, and give a new `start`"
        )));
    }
    let query = [b"SELECT GTID_SUBTRACT(@@global.gtid_purged, ".as_slice(), &own, b")"].concat();
    let purged = ask(connection, &query)?;
    if !purged.is_empty() {
        return Err(Error::Unfit(format!(
            "the source has purged the transactions {purged} of its log, which the target does not have: copy the data \
             again, delete the source's row from the table of positions, and give a new `start`"
        )));
    }
    Ok(())
}

/// Whether the log of a source without GTIDs still has a place: a size below it is that of another log.
pub(super) fn check_size(connection: &mut Connection, at: &LogPosition) -> Option<u64> {
    let files = texts(connection, b"SHOW BINARY LOGS").ok()?;
    let name = String::from_utf8_lossy(&at.file);
    let size = files.iter().find(|row| row.first().is_some_and(|file| *file == name))?.get(1)?.parse().ok()?;
    (size < at.position).then_some(size)
}
