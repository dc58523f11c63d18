//! One connection: its socket, its transport, its queues, and its stage.

use std::io::{ErrorKind, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Instant;

use rustix::io::Errno;

use super::authentication::Authentication;
use super::security::Security;
use super::send_queue::SendQueue;
use super::tls_session::{ENCRYPTED_LIMIT_BYTES, TlsSession, is_tls};
use super::transport::{Transport, is_plain_answer};
use crate::consensus::wire::{FrameReader, HANDSHAKE_LIMIT_BYTES, Hello};
use crate::protocol::{ProtocolRange, ProtocolVersion};

/// Limit of bytes read from one link before the others get their turn.
const READ_LIMIT_BYTES: usize = 1 << 20;
/// The same for a connection that is no link: all of it is in memory before the first frame is checked.
const HANDSHAKE_READ_LIMIT_BYTES: usize = 64 << 10;
/// The same for bytes written by TLS.
const WRITE_LIMIT_BYTES: usize = 1 << 20;

/// Stage of a connection.
#[derive(Debug)]
pub(super) enum Stage {
    /// The connect is under way.
    Connecting,
    /// The other side has not shown yet that it may link.
    Handshake,
    /// The link is in use.
    Linked(Box<Hello>),
    /// The last frame is queued. The connection is closed when the other side has read it.
    Closing,
}

/// The state of a handshake.
#[derive(Debug, Default)]
pub(super) struct Handshake {
    /// This side made the connection without TLS and proof, though the node has them.
    pub is_unsecured: bool,
    /// None: without a secret.
    pub authentication: Option<Authentication>,
    /// The other node's hello, while its proof or its admission is missing.
    pub peer: Option<Hello>,
    /// The server is asked whether the node may join.
    pub awaits_admission: bool,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Stream {
    pub socket: TcpStream,
    pub transport: Transport,
    pub stage: Stage,
    pub handshake: Handshake,
    /// The settings at the start of the connection.
    pub security: Arc<Security>,
    /// Whether the node has proved that it knows the secret.
    pub is_authenticated: bool,
    /// The other end, for the error log.
    pub peer_address: String,
    /// The dialled address, if this side made the connection.
    pub dialled: Option<String>,
    /// The version of the frames that this side sends on the link.
    pub version: ProtocolVersion,
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
    /// Whether there was any input.
    pub has_input: bool,
    /// End of input.
    pub is_eof: bool,
    /// Why the connection failed.
    pub failure: Option<String>,
    /// Why TLS failed: the other side still gets what is queued of TLS.
    pub tls_failure: Option<String>,
}

impl Stream {
    /// A connection that this side makes to an address. `versions`: those that this node speaks.
    pub fn dial(
        socket: TcpStream,
        address: &str,
        security: &Arc<Security>,
        versions: ProtocolRange,
        now: Instant,
    ) -> Self {
        let transport = Transport::Plain;
        let address = address.to_owned();
        let ends = (address.clone(), Some(address));
        Self::new(socket, transport, Stage::Connecting, ends, security, versions, now)
    }

    /// A connection that the other side has made.
    pub fn accept(
        socket: TcpStream,
        place: String,
        security: &Arc<Security>,
        versions: ProtocolRange,
        now: Instant,
    ) -> Self {
        let transport = if security.tls.is_some() { Transport::Undecided } else { Transport::Plain };
        Self::new(socket, transport, Stage::Handshake, (place, None), security, versions, now)
    }

    fn new(
        socket: TcpStream,
        transport: Transport,
        stage: Stage,
        (place, dialled): (String, Option<String>),
        security: &Arc<Security>,
        versions: ProtocolRange,
        now: Instant,
    ) -> Self {
        Self {
            socket,
            transport,
            stage,
            handshake: Handshake::default(),
            security: Arc::clone(security),
            is_authenticated: false,
            peer_address: place,
            dialled,
            version: versions.lowest,
            incoming: FrameReader::new(HANDSHAKE_LIMIT_BYTES, versions),
            send_queue: SendQueue::default(),
            is_blocked: false,
            since: now,
            last_received: now,
            last_sent: now,
            has_input: false,
            is_eof: false,
            failure: None,
            tls_failure: None,
        }
    }

    /// The linked node.
    pub fn peer(&self) -> Option<&Hello> {
        match &self.stage {
            Stage::Linked(peer) => Some(peer),
            _ => None,
        }
    }

    /// Whether this side has sent its hello, and the link is not up.
    pub fn has_sent_hello(&self) -> bool {
        let has_answered = self.handshake.peer.is_some() && self.handshake.authentication.is_some();
        matches!(self.stage, Stage::Handshake) && (self.dialled.is_some() || has_answered)
    }

    /// What ties a proof to this connection.
    pub fn binding(&self) -> Vec<u8> {
        self.transport.tls().and_then(TlsSession::binding).map_or_else(Vec::new, |binding| binding.to_vec())
    }

    /// Whether there is something to send, and the transport is ready for it.
    pub fn has_output(&self) -> bool {
        self.send_queue.bytes() > 0 && self.transport.is_open()
            || self.transport.tls().is_some_and(TlsSession::has_output)
    }

    /// Whether its next input costs a calculation for a connection that may be anybody's.
    pub fn costs_key_exchange(&self) -> bool {
        let starts_tls = matches!(self.transport, Transport::Undecided) || !self.transport.is_open();
        self.dialled.is_none() && matches!(self.stage, Stage::Handshake) && starts_tls
    }

    pub fn enter(&mut self, stage: Stage, now: Instant) {
        self.stage = stage;
        self.since = now;
        self.last_received = now;
    }

    /// Writes once, unless the socket is blocked. A failed write does not end the connection: the other side's last
    /// frame may still be unread.
    pub fn flush(&mut self, now: Instant) {
        if self.is_blocked || matches!(self.stage, Stage::Connecting) {
            return;
        }
        if let Transport::Tls(_) = self.transport {
            return self.flush_tls(now);
        }
        if self.send_queue.bytes() == 0 || !self.transport.is_open() {
            return;
        }
        let rest = self.send_queue.rest();
        match (&self.socket).write(rest) {
            Ok(bytes) => {
                self.is_blocked = bytes < rest.len();
                self.send_queue.advance(bytes);
                self.last_sent = now;
            }
            Err(error) => self.on_write_error(&error),
        }
    }

    /// Encrypts a part, and writes it, until the socket is blocked.
    fn flush_tls(&mut self, now: Instant) {
        let Transport::Tls(session) = &mut self.transport else { return };
        let mut total = 0;
        loop {
            while session.has_output() {
                match session.write_to(&mut self.socket) {
                    Ok(0) => {
                        self.is_blocked = true;
                        return;
                    }
                    Ok(bytes) => {
                        total += bytes;
                        self.last_sent = now;
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return self.on_write_error(&error),
                }
            }
            if session.is_handshaking() || self.send_queue.bytes() == 0 || total >= WRITE_LIMIT_BYTES {
                return;
            }
            let rest = self.send_queue.rest();
            let part = &rest[..rest.len().min(ENCRYPTED_LIMIT_BYTES)];
            if let Err(error) = session.encrypt(part) {
                return self.on_write_error(&error);
            }
            let bytes = part.len();
            self.send_queue.advance(bytes);
        }
    }

    fn on_write_error(&mut self, error: &std::io::Error) {
        match error.kind() {
            ErrorKind::Interrupted => {}
            ErrorKind::WouldBlock => self.is_blocked = true,
            _ => {
                self.is_blocked = true;
                self.failure = Some(error.to_string());
            }
        }
    }

    /// Ends the output, if everything is sent.
    pub fn finish_output(&mut self, now: Instant) {
        self.flush(now);
        if let Transport::Tls(session) = &mut self.transport
            && self.send_queue.bytes() == 0
        {
            session.close();
            self.flush(now);
        }
        if !self.has_output() {
            let _ = self.socket.shutdown(Shutdown::Write);
        }
    }

    /// Reads the available input, up to the limit.
    pub fn read_available(&mut self, now: Instant) {
        let mut total = 0;
        let limit = if self.peer().is_some() { READ_LIMIT_BYTES } else { HANDSHAKE_READ_LIMIT_BYTES };
        while total < limit && !self.is_eof {
            let mut encrypted = match &mut self.transport {
                Transport::Tls(session) => Some(session.take_buffer()),
                Transport::Undecided | Transport::Plain | Transport::PlainAnswer => None,
            };
            let buffer = encrypted.as_mut().unwrap_or_else(|| self.incoming.read_buffer());
            let room = buffer.capacity() - buffer.len();
            let read = rustix::io::read(&self.socket, rustix::buffer::spare_capacity(buffer));
            if read.is_ok_and(|bytes| bytes > 0) {
                self.on_input(encrypted, now);
            } else if let (Some(buffer), Transport::Tls(session)) = (encrypted, &mut self.transport) {
                session.return_buffer(buffer);
            }
            match read {
                Ok(0) => self.is_eof = true,
                Ok(bytes) => {
                    total += bytes;
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

    /// Input has come: encrypted, or in the buffer of frames.
    fn on_input(&mut self, encrypted: Option<Vec<u8>>, now: Instant) {
        let is_first = !self.has_input;
        (self.has_input, self.last_received) = (true, now);
        match (encrypted, &mut self.transport) {
            (Some(bytes), Transport::Tls(_)) if is_first && self.dialled.is_some() && is_plain_answer(bytes[0]) => {
                self.transport = Transport::PlainAnswer;
                self.incoming.read_buffer().extend_from_slice(&bytes);
            }
            (Some(bytes), Transport::Tls(session)) => {
                let result = session.decrypt(bytes, self.incoming.read_buffer());
                self.tls_failure = self.tls_failure.take().or(result.err());
            }
            (None, Transport::Undecided) => self.decide_transport(),
            _ => {}
        }
    }

    /// The other side has chosen the transport with its first byte.
    fn decide_transport(&mut self) {
        self.transport = Transport::Plain;
        let first = self.incoming.read_buffer().first().copied();
        let Some(configs) = self.security.tls.as_ref().filter(|_| first.is_some_and(is_tls)) else { return };
        let bytes = std::mem::take(self.incoming.read_buffer());
        match TlsSession::accept(configs) {
            Ok(mut session) => {
                self.tls_failure = session.decrypt(bytes, self.incoming.read_buffer()).err();
                self.transport = Transport::Tls(Box::new(session));
            }
            Err(error) => self.failure = Some(error.to_string()),
        }
    }
}
