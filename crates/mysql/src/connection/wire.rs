//! Packets on a byte stream: each chunk of at most 16 MiB - 1 bytes has a header with length and sequence number; after
//! a full chunk the packet continues in the next chunk.
//!
//! An outgoing body is never copied: header and body go to the socket in one vectored write. Incoming packets are
//! slices of one buffer.
//!
//! Source: MariaDB knowledge base, "0 - Packet".

use std::io::{self, IoSlice, Read, Write};

use super::command_error::CommandError;

/// The longest chunk; a packet of exactly this length ends with an empty chunk.
const CHUNK_LIMIT_BYTES: usize = 0xff_ffff;
const HEADER_BYTES: usize = 4;
/// The buffer's size, unless a packet needs more.
const BUFFER_BYTES: usize = 64 * 1024;
/// A buffer larger than this is shrunk before the next command.
const BUFFER_LIMIT_BYTES: usize = 1024 * 1024;
/// The longest accepted packet: the protocol's largest `max_allowed_packet`, and some room.
const PACKET_LIMIT_BYTES: usize = (1 << 30) + 64 * 1024;
/// The first byte of an error packet.
pub(super) const ERR_HEADER: u8 = 0xff;

/// The packet layer over the byte stream `T`. No `Debug`: it holds statements and rows.
pub(super) struct Wire<T> {
    stream: T,
    buffer: Vec<u8>,
    /// The unread bytes: `buffer[start..end]`.
    start: usize,
    end: usize,
    /// The buffer for packets of several chunks.
    assembled: Vec<u8>,
    sequence: u8,
}

impl<T: Read + Write> Wire<T> {
    pub(super) fn new(stream: T) -> Wire<T> {
        Wire { stream, buffer: vec![0; BUFFER_BYTES], start: 0, end: 0, assembled: Vec::new(), sequence: 0 }
    }

    pub(super) fn stream(&self) -> &T {
        &self.stream
    }

    /// The same, to change it.
    pub(super) fn stream_mut(&mut self) -> &mut T {
        &mut self.stream
    }

    /// Takes the stream out, to replace it during the handshake: see `resume`.
    ///
    /// # Errors
    /// When bytes have already arrived: they would bypass the new stream's protection.
    pub(super) fn suspend(self) -> Result<(T, u8), CommandError> {
        if self.start < self.end {
            return Err(CommandError::Protocol("unencrypted bytes after the request to encrypt".to_owned()));
        }
        Ok((self.stream, self.sequence))
    }

    /// Continues with the sequence number that `suspend` returned.
    pub(super) fn resume(stream: T, sequence: u8) -> Wire<T> {
        Wire { sequence, ..Wire::new(stream) }
    }

    /// Starts a new command: sequence numbers start again.
    pub(super) fn begin(&mut self) {
        self.sequence = 0;
        self.assembled = Vec::new();
        if self.buffer.len() > BUFFER_LIMIT_BYTES && self.start == self.end {
            self.buffer = vec![0; BUFFER_BYTES];
            (self.start, self.end) = (0, 0);
        }
    }

    /// The number of the packet that comes next.
    pub(super) fn sequence(&self) -> u8 {
        self.sequence
    }

    /// What comes next is the answer to an earlier command: it begins with this number.
    pub(super) fn expect(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// Sends one packet made of `head` (short) and `body` (any length).
    pub(super) fn send(&mut self, head: &[u8], body: &[u8]) -> io::Result<()> {
        let first = body.len().min(CHUNK_LIMIT_BYTES - head.len());
        self.send_chunk(head, &body[..first])?;
        let mut rest = &body[first..];
        let mut was_full = head.len() + first == CHUNK_LIMIT_BYTES;
        while was_full {
            let chunk = &rest[..rest.len().min(CHUNK_LIMIT_BYTES)];
            self.send_chunk(&[], chunk)?;
            rest = &rest[chunk.len()..];
            was_full = chunk.len() == CHUNK_LIMIT_BYTES;
        }
        self.stream.flush()
    }

    fn send_chunk(&mut self, head: &[u8], body: &[u8]) -> io::Result<()> {
        let length = u32::try_from(head.len() + body.len()).expect("a chunk is shorter than 16 MiB").to_le_bytes();
        let header = [length[0], length[1], length[2], self.sequence];
        self.sequence = self.sequence.wrapping_add(1);
        let mut slices = [IoSlice::new(&header), IoSlice::new(head), IoSlice::new(body)];
        let mut slices = &mut slices[..];
        // Skip empty slices, so that a write of zero bytes always means the end of the stream.
        IoSlice::advance_slices(&mut slices, 0);
        while !slices.is_empty() {
            match self.stream.write_vectored(slices) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => IoSlice::advance_slices(&mut slices, written),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The next packet.
    pub(super) fn receive(&mut self) -> Result<&[u8], CommandError> {
        let length = self.receive_header()?;
        if length < CHUNK_LIMIT_BYTES {
            let from = self.take(length)?;
            return Ok(&self.buffer[from..from + length]);
        }
        self.assembled.clear();
        let mut length = length;
        loop {
            let from = self.take(length)?;
            if self.assembled.len() + length > PACKET_LIMIT_BYTES {
                return Err(CommandError::Protocol(format!("a packet longer than {PACKET_LIMIT_BYTES} bytes")));
            }
            self.assembled.extend_from_slice(&self.buffer[from..from + length]);
            if length < CHUNK_LIMIT_BYTES {
                return Ok(&self.assembled);
            }
            length = self.receive_header()?;
        }
    }

    /// Whether the next packet is in the buffer as a whole. One of several chunks counts as one that is not.
    pub(super) fn has_packet(&self) -> bool {
        match &self.buffer[self.start..self.end] {
            [low, middle, high, _, rest @ ..] => {
                let length = usize::from(*low) | usize::from(*middle) << 8 | usize::from(*high) << 16;
                length < CHUNK_LIMIT_BYTES && length <= rest.len()
            }
            _ => false,
        }
    }

    /// Reads a chunk's header and checks its sequence number.
    fn receive_header(&mut self) -> Result<usize, CommandError> {
        let from = self.take(HEADER_BYTES)?;
        let header = &self.buffer[from..from + HEADER_BYTES];
        let length = usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16;
        let sequence = header[3];
        if sequence != self.sequence {
            // A server that closes a connection sends its last error out of sequence.
            self.fill(length.min(1))?;
            if length == 0 || self.buffer[self.start] != ERR_HEADER {
                return Err(CommandError::Protocol(format!(
                    "packets out of order: expected number {}, received {sequence}",
                    self.sequence
                )));
            }
        }
        self.sequence = sequence.wrapping_add(1);
        Ok(length)
    }

    /// Makes `length` bytes available in the buffer and returns their position.
    fn take(&mut self, length: usize) -> Result<usize, CommandError> {
        self.fill(length)?;
        let from = self.start;
        self.start += length;
        Ok(from)
    }

    fn fill(&mut self, length: usize) -> Result<(), CommandError> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.start + length > self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if length > self.buffer.len() {
                self.buffer.resize(length, 0);
            }
        }
        while self.end - self.start < length {
            match self.stream.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Err(CommandError::Io(io::ErrorKind::UnexpectedEof.into())),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(CommandError::Io(error)),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
