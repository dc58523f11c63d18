//! Bytes as they come from a connection, until they make frames.

use super::decode::Head;
use super::{Error, Frame, HEAD_BYTES, Signal};

/// Room for one read.
const READ_BYTES: usize = 64 << 10;
/// An empty buffer that has grown beyond this is let go of.
const KEPT_BYTES: usize = 4 << 20;

/// A frame that has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// For the links.
    Signal(Signal),
    /// For the layer above.
    Frame(Frame),
}

/// What has arrived and was not taken yet. It grows with what arrives.
#[derive(Debug)]
pub struct Arriving {
    bytes: Vec<u8>,
    /// What lies before was taken.
    start: usize,
    /// The longest body.
    limit: u64,
}

impl Arriving {
    /// Nothing yet; no body will be longer than the limit.
    pub fn new(limit: u64) -> Self {
        Self { bytes: Vec::new(), start: 0, limit }
    }

    /// From now on bodies may be this long.
    pub fn allow(&mut self, limit: u64) {
        self.limit = limit;
    }

    /// Lets go of what has arrived.
    pub fn forget(&mut self) {
        self.start = self.bytes.len();
    }

    /// Where the next bytes go, with room for some, and never for more than as much again as has arrived.
    pub fn room(&mut self) -> &mut Vec<u8> {
        if self.start == self.bytes.len() {
            self.bytes.clear();
            if self.bytes.capacity() > KEPT_BYTES {
                self.bytes.shrink_to(READ_BYTES);
            }
        } else if self.start > 0 {
            self.bytes.drain(..self.start);
        }
        self.start = 0;
        let have = self.bytes.len();
        match Head::read(&self.bytes, self.limit) {
            Ok(Some(head)) if head.body_bytes > have as u64 => {
                let missing = HEAD_BYTES as u64 + head.body_bytes - have as u64;
                let missing = usize::try_from(missing).unwrap_or(usize::MAX);
                self.bytes.reserve_exact(missing.min(have.max(READ_BYTES)));
            }
            _ => self.bytes.reserve(READ_BYTES),
        }
        &mut self.bytes
    }

    /// Takes the next frame; none: the rest of it has not arrived.
    ///
    /// # Errors
    /// When what arrived is no frame. Nothing can be taken from then on.
    pub fn next(&mut self) -> Result<Option<Arrived>, Error> {
        let rest = &self.bytes[self.start..];
        let Some(head) = Head::read(rest, self.limit)? else { return Ok(None) };
        let end = HEAD_BYTES as u64 + head.body_bytes;
        let Some(framed) = usize::try_from(end).ok().and_then(|end| rest.get(..end)) else { return Ok(None) };
        let arrived = head.decode(&framed[HEAD_BYTES..])?;
        self.start += framed.len();
        Ok(Some(arrived))
    }
}
