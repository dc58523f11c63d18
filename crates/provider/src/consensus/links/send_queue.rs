//! The send queue of one connection.

use super::QUEUE_LIMIT_BYTES;
use crate::consensus::wire;

/// An empty buffer with more capacity than this is shrunk.
const KEPT_CAPACITY_BYTES: usize = 4 << 20;

/// Why the queue takes no more.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    #[error(
        "{bytes} bytes are queued for the node, more than {QUEUE_LIMIT_BYTES}: the node does not read, or the \
         network is too slow"
    )]
    Full { bytes: usize },
    #[error(transparent)]
    Frame(#[from] wire::Error),
}

/// Frames in order. The limit applies to the bytes besides the largest frame, so that a frame above the limit can go
/// alone.
#[derive(Debug, Default)]
pub(super) struct SendQueue {
    buffer: Vec<u8>,
    /// Bytes already sent.
    sent: usize,
    /// The largest frame queued since the queue was empty.
    largest: usize,
}

impl SendQueue {
    pub fn push(&mut self, put: impl FnOnce(&mut Vec<u8>) -> Result<(), wire::Error>) -> Result<(), SendError> {
        let before = self.buffer.len();
        put(&mut self.buffer)?;
        self.largest = self.largest.max(self.buffer.len() - before);
        let bytes = self.bytes();
        if bytes - self.largest.min(bytes) > QUEUE_LIMIT_BYTES {
            return Err(SendError::Full { bytes });
        }
        Ok(())
    }

    pub fn bytes(&self) -> usize {
        self.buffer.len() - self.sent
    }

    pub fn rest(&self) -> &[u8] {
        &self.buffer[self.sent..]
    }

    /// Marks bytes as sent.
    pub fn advance(&mut self, bytes: usize) {
        self.sent += bytes;
        if self.sent == self.buffer.len() {
            self.buffer.clear();
            self.buffer.shrink_to(KEPT_CAPACITY_BYTES);
            self.sent = 0;
            self.largest = 0;
        } else if self.sent > self.buffer.len() / 2 {
            self.buffer.drain(..self.sent);
            self.sent = 0;
        }
    }
}
