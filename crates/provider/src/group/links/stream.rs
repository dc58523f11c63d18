//! One connection: its socket, what waits in either direction, and how far it has come.

use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::time::Instant;

use rustix::io::Errno;

use super::outgoing::Outgoing;
use crate::group::wire::{Arriving, GREETING_LIMIT_BYTES, Hello};

/// What is read from one connection before the others have their turn.
const TURN_LIMIT_BYTES: usize = 1 << 20;

/// How far a connection has come.
#[derive(Debug)]
pub(super) enum Stage {
    /// The system makes it.
    Connecting,
    /// The other side has not said who it is.
    Greeting,
    /// In use.
    Linked(Box<Hello>),
    /// The last word was said. It is closed when the other side has read it.
    Leaving,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Stream {
    pub socket: TcpStream,
    pub stage: Stage,
    /// The other end, for the log.
    pub place: String,
    /// This side made it, to that address.
    pub dialled: Option<String>,
    pub arriving: Arriving,
    pub outgoing: Outgoing,
    /// The last write was short: wait for the system's word.
    pub is_blocked: bool,
    /// When this stage began.
    pub since: Instant,
    /// When something came.
    pub heard: Instant,
    /// When something went out.
    pub said: Instant,
    /// Nothing more can be read.
    pub is_over: bool,
    /// Why it has broken.
    pub failure: Option<String>,
}

impl Stream {
    pub fn new(socket: TcpStream, stage: Stage, place: String, dialled: Option<String>, now: Instant) -> Self {
        Self {
            socket,
            stage,
            place,
            dialled,
            arriving: Arriving::new(GREETING_LIMIT_BYTES),
            outgoing: Outgoing::default(),
            is_blocked: false,
            since: now,
            heard: now,
            said: now,
            is_over: false,
            failure: None,
        }
    }

    /// Who is linked by it.
    pub fn peer(&self) -> Option<&Hello> {
        match &self.stage {
            Stage::Linked(peer) => Some(peer),
            _ => None,
        }
    }

    /// Whether this side has said who it is and waits for the answer.
    pub fn is_greeted(&self) -> bool {
        matches!(self.stage, Stage::Greeting) && self.dialled.is_some()
    }

    pub fn enter(&mut self, stage: Stage, now: Instant) {
        self.stage = stage;
        self.since = now;
        self.heard = now;
    }

    /// One write of what waits, unless the system said that it takes nothing. Where that fails the connection is not ended
    /// yet: the other side's last word may still have to be read.
    pub fn flush(&mut self, now: Instant) {
        if self.outgoing.bytes() == 0 || self.is_blocked || matches!(self.stage, Stage::Connecting) {
            return;
        }
        let rest = self.outgoing.rest();
        match (&self.socket).write(rest) {
            Ok(bytes) => {
                self.is_blocked = bytes < rest.len();
                self.outgoing.advance(bytes);
                self.said = now;
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

    /// Reads what has come, up to the limit of a turn.
    pub fn fill(&mut self, now: Instant) {
        let mut total = 0;
        while total < TURN_LIMIT_BYTES && !self.is_over {
            let buffer = self.arriving.room();
            let room = buffer.capacity() - buffer.len();
            match rustix::io::read(&self.socket, rustix::buffer::spare_capacity(buffer)) {
                Ok(0) => self.is_over = true,
                Ok(bytes) => {
                    total += bytes;
                    self.heard = now;
                    if bytes < room {
                        break;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(error) => {
                    self.is_over = true;
                    self.failure.get_or_insert(std::io::Error::from(error).to_string());
                }
            }
        }
    }
}
