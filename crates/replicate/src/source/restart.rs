//! Whether a source has restarted behind a place of its log, before the next transaction there.
//!
//! A server begins a file when it starts, and says so in the file's format description. Who asks for events behind a GTID
//! may not see that: the server goes to the last file that begins there, and MariaDB since 11.4 to a place in that file.

use hortator_mysql::{BinlogRequest, BinlogStart, BinlogStream, ConnectOptions, Connection};

use super::{Error, with_gtid};
use crate::apply::SourcePosition;
use crate::binlog::{Content, EventReader};
use crate::query::first_column;
use crate::transaction::LogPosition;

/// The first event of a file.
const FIRST_POSITION: u32 = 4;

/// Whether MariaDB has begun a file with its start between the place and the next transaction. Where it does not have the
/// place's file, or does not list its files for this account, it has not.
///
/// # Errors
/// [`Error::Server`], and what cannot be read of a log.
pub fn has_restarted(
    connection: &mut Connection,
    host: &ConnectOptions,
    at: &SourcePosition,
    server_id: u32,
) -> Result<bool, Error> {
    if !connection.version().is_mariadb() {
        return Ok(false);
    }
    // An account may not be allowed to list them: the log itself shows most restarts.
    let Ok(files) = first_column(connection, b"SHOW BINARY LOGS") else { return Ok(false) };
    let behind = files.iter().map(String::as_bytes).skip_while(|file| *file != at.position.file).skip(1);
    for file in behind {
        let begin = LogPosition { file: file.to_vec(), position: FIRST_POSITION.into() };
        if with_gtid(connection, begin)?.gtid != at.gtid {
            break;
        }
        if begins_with_start(host, file, server_id)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the server has begun a file when it started.
fn begins_with_start(host: &ConnectOptions, file: &[u8], server_id: u32) -> Result<bool, Error> {
    let start = BinlogStart::Position { file: file.to_vec(), position: FIRST_POSITION };
    let request = BinlogRequest { server_id, start, waits: false, heartbeat_ms: 0 };
    let connection = Connection::open(host).map_err(cannot)?;
    let mut stream = BinlogStream::open(connection, &request).map_err(cannot)?;
    let mut reader = EventReader::default();
    while let Some(bytes) = stream.next_event().map_err(cannot)? {
        let named = |error| Error::Binlog { file: String::from_utf8_lossy(file).into_owned(), error };
        if let Content::Format(format) = reader.read(bytes).map_err(named)?.content {
            return Ok(format.created_s != 0);
        }
    }
    Ok(false)
}

fn cannot(error: hortator_mysql::Error) -> Error {
    Error::Server { doing: "asking whether the source has restarted".to_owned(), error }
}
