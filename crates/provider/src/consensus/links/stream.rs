//! One connection: its socket, its queues, and its stage.

use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::time::Instant;

use rustix::io::Errno;

use super::send_queue::SendQueue;
use crate::consensus::wire::{FrameReader, HANDSHAKE_LIMIT_BYTES, Hello};

/// Limit of bytes read from one connection before the others get their turn.
const READ_LIMIT_BYTES: usize = 1 << 20;

/// Stage of a connection.
#[derive(Debug)]
pub(super) enum Stage {
    /// The connect is under way.
    Connecting,
    /// The other side has sent no hello yet.
    Handshake,
    /// The link is in use.
    Linked(Box<Hello>),
    /// The last frame is queued. The connection is closed when the other side has read it.
    Closing,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Stream {
    pub socket: TcpStream,
    pub stage: Stage,
    /// The other end, for the error log.
    pub peer_address: String,
    /// The dialled address, if this side made the connection.
    pub dialled: Option<String>,
    pub incoming: FrameReader,
    pub send_queue: SendQueue,
    /// The last write was short: wait until the socket is writable.
    pub is_blocked: bool,
    /// Start of this stage.
    pub since: Instant,
    /// Time of the last input.
    pub last_received: Instant,
    /// Time of the last output.
    pub last_sent: Instant,
    /// End of input.
    pub is_eof: bool,
    /// Why the connection failed.
    pub failure: Option<String>,
}

impl Stream {
    pub fn new(socket: TcpStream, stage: Stage, place: String, dialled: Option<String>, now: Instant) -> Self {
        Self {
            socket,
            stage,
            peer_address: place,
            dialled,
            incoming: FrameReader::new(HANDSHAKE_LIMIT_BYTES),
            send_queue: SendQueue::default(),
            is_blocked: false,
            since: now,
            last_received: now,
            last_sent: now,
            is_eof: false,
            failure: None,
        }
    }

    /// The linked node.
    pub fn peer(&self) -> Option<&Hello> {
        match &self.stage {
            Stage::Linked(peer) => Some(peer),
            _ => None,
        }
    }

    /// Whether this side has sent its hello and waits for the other's.
    pub fn has_sent_hello(&self) -> bool {
        matches!(self.stage, Stage::Handshake) && self.dialled.is_some()
    }

    pub fn enter(&mut self, stage: Stage, now: Instant) {
        self.stage = stage;
        self.since = now;
        self.last_received = now;
    }

    /// Writes once, unless the socket is blocked. A failed write does not end the connection: the other side's last
    /// frame may still be unread.
    pub fn flush(&mut self, now: Instant) {
        if self.send_queue.bytes() == 0 || self.is_blocked || matches!(self.stage, Stage::Connecting) {
            return;
        }
        let rest = self.send_queue.rest();
        match (&self.socket).write(rest) {
            Ok(bytes) => {
                self.is_blocked = bytes < rest.len();
                self.send_queue.advance(bytes);
                self.last_sent = now;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => {
                self.is_blocked = true;
                if error.kind() != ErrorKind::WouldBlock {
                    self.failure = Some(error.to_string());
                }
            }
        }
    }

    /// Reads the available input, up to the limit.
    pub fn read_available(&mut self, now: Instant) {
        let mut total = 0;
        while total < READ_LIMIT_BYTES && !self.is_eof {
            let buffer = self.incoming.read_buffer();
            let room = buffer.capacity() - buffer.len();
            match rustix::io::read(&self.socket, rustix::buffer::spare_capacity(buffer)) {
                Ok(0) => self.is_eof = true,
                Ok(bytes) => {
                    total += bytes;
                    self.last_received = now;
                    if bytes < room {
                        break;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(error) => {
                    self.is_eof = true;
                    self.failure.get_or_insert(std::io::Error::from(error).to_string());
                }
            }
        }
    }
}
