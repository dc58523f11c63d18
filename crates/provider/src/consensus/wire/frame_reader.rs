//! Splits the input of a connection into frames.

use super::decode::Head;
use super::{Error, Frame, HEAD_BYTES, Signal};
use crate::protocol::ProtocolRange;

/// Room for one read.
const READ_BYTES: usize = 64 << 10;
/// An empty buffer with more capacity than this is shrunk.
const KEPT_CAPACITY_BYTES: usize = 4 << 20;

/// A received frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IncomingFrame {
    /// For the links.
    Signal(Signal),
    /// For the layer above.
    Frame(Frame),
}

/// Input that is not consumed yet. The buffer grows with the input.
#[derive(Debug)]
pub struct FrameReader {
    bytes: Vec<u8>,
    /// Consumed bytes.
    start: usize,
    /// Limit of a body.
    limit: u64,
    /// Versions of the frames that this node can read.
    versions: ProtocolRange,
}

impl FrameReader {
    /// An empty buffer; `limit` is the largest body, `versions` are those of the frames that this node can read.
    pub fn new(limit: u64, versions: ProtocolRange) -> Self {
        Self { bytes: Vec::new(), start: 0, limit, versions }
    }

    /// Sets the largest body.
    pub fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    /// Drops the input.
    pub fn discard(&mut self) {
        self.start = self.bytes.len();
    }

    /// Where the next bytes go. Reserves room for some: never more than has arrived already.
    pub fn read_buffer(&mut self) -> &mut Vec<u8> {
        if self.start == self.bytes.len() {
            self.bytes.clear();
            if self.bytes.capacity() > KEPT_CAPACITY_BYTES {
                self.bytes.shrink_to(READ_BYTES);
            }
        } else if self.start > 0 {
            self.bytes.drain(..self.start);
        }
        self.start = 0;
        let have = self.bytes.len();
        match Head::read(&self.bytes, self.limit, self.versions) {
            Ok(Some(head)) if head.body_bytes > have as u64 => {
                let missing = HEAD_BYTES as u64 + head.body_bytes - have as u64;
                let missing = usize::try_from(missing).unwrap_or(usize::MAX);
                self.bytes.reserve_exact(missing.min(have.max(READ_BYTES)));
            }
            _ => self.bytes.reserve(READ_BYTES),
        }
        &mut self.bytes
    }

    /// Consumes the next frame; None: it is not complete yet.
    ///
    /// # Errors
    /// The input is not a frame. Nothing can be consumed from then on.
    pub fn next(&mut self) -> Result<Option<IncomingFrame>, Error> {
        let rest = &self.bytes[self.start..];
        let Some(head) = Head::read(rest, self.limit, self.versions)? else { return Ok(None) };
        let end = HEAD_BYTES as u64 + head.body_bytes;
        let Some(framed) = usize::try_from(end).ok().and_then(|end| rest.get(..end)) else { return Ok(None) };
        let received = head.decode(&framed[HEAD_BYTES..])?;
        self.start += framed.len();
        Ok(Some(received))
    }
}
