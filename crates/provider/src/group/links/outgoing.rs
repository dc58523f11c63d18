//! What waits to be sent on one connection.

use super::QUEUE_LIMIT_BYTES;
use crate::group::wire;

/// An empty buffer that has grown beyond this is let go of.
const KEPT_BYTES: usize = 4 << 20;

/// Why nothing more can be sent.
#[derive(Debug, thiserror::Error)]
pub(super) enum Stuck {
    #[error(
        "{bytes} bytes wait to be sent to it, more than {QUEUE_LIMIT_BYTES}: it takes nothing, or the network is too slow"
    )]
    Full { bytes: usize },
    #[error(transparent)]
    Frame(#[from] wire::Error),
}

/// Frames one behind the other. The limit is for what waits besides the largest of them: one that is larger
/// than the limit can go alone.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    buffer: Vec<u8>,
    /// What lies before has gone out.
    sent: usize,
    /// Of those put since it was empty.
    largest: usize,
}

impl Outgoing {
    pub fn push(&mut self, put: impl FnOnce(&mut Vec<u8>) -> Result<(), wire::Error>) -> Result<(), Stuck> {
        let before = self.buffer.len();
        put(&mut self.buffer)?;
        self.largest = self.largest.max(self.buffer.len() - before);
        let bytes = self.bytes();
        if bytes - self.largest.min(bytes) > QUEUE_LIMIT_BYTES {
            return Err(Stuck::Full { bytes });
        }
        Ok(())
    }

    pub fn bytes(&self) -> usize {
        self.buffer.len() - self.sent
    }

    pub fn rest(&self) -> &[u8] {
        &self.buffer[self.sent..]
    }

    /// So many of the rest have gone out.
    pub fn advance(&mut self, bytes: usize) {
        self.sent += bytes;
        if self.sent == self.buffer.len() {
            self.buffer.clear();
            self.buffer.shrink_to(KEPT_BYTES);
            self.sent = 0;
            self.largest = 0;
        } else if self.sent > self.buffer.len() / 2 {
            self.buffer.drain(..self.sent);
            self.sent = 0;
        }
    }
}
