//! A server's binary log over a connection, as a replica receives it.
//!
//! The request says where to start. From then on the connection belongs to the stream: the server sends one event per
//! packet, and nothing else can be asked.
//!
//! Source: MariaDB knowledge base, "Replication Protocol"; MySQL internals, "COM_BINLOG_DUMP_GTID".

use std::io::{Read, Write};

use super::Connection;
use super::command_error::CommandError;
use super::wire::{ERR_HEADER, Wire};
use crate::{Error, Flavor, quote_string};

const COM_BINLOG_DUMP: u8 = 0x12;
const COM_REGISTER_REPLICA: u8 = 0x15;
const COM_BINLOG_DUMP_GTID: u8 = 0x1e;
const OK_HEADER: u8 = 0x00;
const EOF_HEADER: u8 = 0xfe;

/// Do not wait for more at the end of the last file.
const NON_BLOCKING: u16 = 1;
/// MySQL: the packet holds a GTID set.
const THROUGH_GTID: u16 = 4;

/// The first byte of a binary log is after its magic number.
const FIRST_POSITION: u32 = 4;

/// A MariaDB replica that knows all events of its versions, GTIDs among them. Else the source sends older forms of them.
const MARIADB_CAPABILITY: &[u8] = b"SET @mariadb_slave_capability = 4";

/// Where a stream starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BinlogStart {
    /// At a byte of a file. The server sends the format description event first, whatever the position.
    Position {
        /// The file's name without its folder, as SHOW BINARY LOGS prints it.
        file: Vec<u8>,
        /// The position of an event, in bytes; 4 is the first.
        position: u32,
    },
    /// MariaDB: behind these GTIDs, as in `@@gtid_slave_pos`: `0-1-100,1-7-20`. Empty: from the oldest file on.
    MariaDbGtid(String),
    /// MySQL: without the transactions of this GTID set, in the binary form of `COM_BINLOG_DUMP_GTID`.
    MySqlGtid(Vec<u8>),
}

/// What a stream asks for.
#[derive(Clone, Debug)]
pub struct BinlogRequest {
    /// The server id of the replica: unique among the source's replicas, not 0.
    pub server_id: u32,
    /// Where to start.
    pub start: BinlogStart,
    /// Wait at the end of the last file for new events.
    pub waits: bool,
    /// How often an idle source reports that it is there, in milliseconds; 0 is never.
    pub heartbeat_ms: u64,
}

/// The events of a binary log as they arrive.
pub struct BinlogStream {
    connection: Connection,
}

impl BinlogStream {
    /// Registers as a replica and asks for the binary log.
    ///
    /// # Errors
    /// [`Error::Server`] when the account lacks REPLICATION SLAVE, and other errors of a connection. A wrong position
    /// and purged files are errors of the first [`BinlogStream::next_event`].
    pub fn open(mut connection: Connection, request: &BinlogRequest) -> Result<BinlogStream, Error> {
        prepare_session(&mut connection, request)?;
        connection.send("a registration as a replica", &[COM_REGISTER_REPLICA], &registration(request.server_id))?;
        let outcome = connection.response().read_acknowledgement();
        outcome
            .map_err(|failure| connection.explain("waiting for the answer to a registration as a replica", failure))?;
        let (command, body) = dump_command(request);
        connection.send("a request for the binary log", &[command], &body)?;
        Ok(BinlogStream { connection })
    }

    /// Waits for the next event: its header, its body and, if the source writes them, its checksum. `None`: the end of the
    /// last file, in a stream that does not wait.
    ///
    /// # Errors
    /// [`Error::Server`] with the source's reason: 1236 for a position that is not there, purged files, a damaged log.
    /// The stream is over then. [`Error::Lost`] and [`Error::Protocol`] as for every connection.
    pub fn next_event(&mut self) -> Result<Option<Vec<u8>>, Error> {
        if let Some(broken) = &self.connection.broken {
            return Err(broken.clone());
        }
        let received = receive_event(&mut self.connection.wire);
        received.map_err(|failure| self.connection.explain("waiting for an event of the binary log", failure))
    }

    /// Whether the next event has arrived as a whole: then [`BinlogStream::next_event`] does not wait for it.
    pub fn has_arrived(&self) -> bool {
        self.connection.wire.has_packet()
    }

    /// The connection's number at the source, as KILL takes it.
    pub fn id(&self) -> u32 {
        self.connection.id()
    }
}

/// What a source wants to know of a replica before it sends events with checksums, MariaDB's own events, and heartbeats.
fn prepare_session(connection: &mut Connection, request: &BinlogRequest) -> Result<(), Error> {
    // Else a source with checksums refuses: a replica that does not know them would take them for data.
    connection.execute(
        b"SET @master_binlog_checksum = @@global.binlog_checksum, @source_binlog_checksum = @@global.binlog_checksum",
    )?;
    // A replica that applies a large transaction may not read for long.
    connection.execute(b"SET SESSION net_write_timeout = 31536000")?;
    let heartbeat_ns = request.heartbeat_ms.saturating_mul(1_000_000);
    let heartbeat = format!("SET @master_heartbeat_period = {heartbeat_ns}, @source_heartbeat_period = {heartbeat_ns}");
    connection.execute(heartbeat.as_bytes())?;
    if connection.version.flavor == Flavor::MariaDb {
        connection.execute(MARIADB_CAPABILITY)?;
    }
    if let BinlogStart::MariaDbGtid(behind) = &request.start {
        let behind = [b"SET @slave_connect_state = ".as_slice(), &quote_string(behind)].concat();
        connection.execute(&behind)?;
        connection.execute(b"SET @slave_gtid_strict_mode = 1, @slave_gtid_ignore_duplicates = 0")?;
    }
    Ok(())
}

/// The body of COM_REGISTER_REPLICA: nothing but the id is of use, the rest is for SHOW REPLICA HOSTS.
fn registration(server_id: u32) -> Vec<u8> {
    let mut body = server_id.to_le_bytes().to_vec();
    // The replica's host, user and password; its port; its rank; the id of its source.
    body.extend([0, 0, 0]);
    body.extend(0u16.to_le_bytes());
    body.extend(0u32.to_le_bytes());
    body.extend(0u32.to_le_bytes());
    body
}

/// The command that asks for events, and its body.
fn dump_command(request: &BinlogRequest) -> (u8, Vec<u8>) {
    // Without the flag for them, MariaDB leaves out the statements of row events (annotations).
    let flags = if request.waits { 0 } else { NON_BLOCKING };
    let id = request.server_id.to_le_bytes();
    let (file, position): (&[u8], u32) = match &request.start {
        BinlogStart::Position { file, position } => (file, *position),
        BinlogStart::MariaDbGtid(_) => (b"", FIRST_POSITION),
        BinlogStart::MySqlGtid(set) => {
            let mut body = (flags | THROUGH_GTID).to_le_bytes().to_vec();
            body.extend(id);
            // No file name: the set says where to start.
            body.extend(0u32.to_le_bytes());
            body.extend(u64::from(FIRST_POSITION).to_le_bytes());
            body.extend(u32::try_from(set.len()).unwrap_or(u32::MAX).to_le_bytes());
            body.extend(set);
            return (COM_BINLOG_DUMP_GTID, body);
        }
    };
    let mut body = position.to_le_bytes().to_vec();
    body.extend(flags.to_le_bytes());
    body.extend(id);
    body.extend(file);
    (COM_BINLOG_DUMP, body)
}

fn receive_event<T: Read + Write>(wire: &mut Wire<T>) -> Result<Option<Vec<u8>>, CommandError> {
    let packet = wire.receive()?;
    match packet.first() {
        Some(&OK_HEADER) => Ok(Some(packet[1..].to_vec())),
        Some(&EOF_HEADER) => Ok(None),
        Some(&ERR_HEADER) => Err(CommandError::from_err_packet(packet)),
        first => Err(CommandError::Protocol(format!("a packet of the binary log that begins with {first:?}"))),
    }
}

#[cfg(test)]
mod tests;
