//! Errors of frames.

use super::HANDSHAKE_VERSION;
use crate::protocol::{ProtocolRange, ProtocolVersion};

/// Why bytes are not a frame, or a frame cannot be encoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The bytes do not start like a frame.
    #[error("the input is not a frame (it starts with {found:02x?}): another program uses this address")]
    NotAFrame {
        /// The first bytes.
        found: Vec<u8>,
    },

    /// TLS, on a node without.
    #[error("the input is TLS, and this node has none: set socket.ssl and its files on all nodes, or on none")]
    Tls,

    /// A frame about the connection itself, of another version.
    #[error(
        "the node's handshake has version {found}, this node's has version {HANDSHAKE_VERSION}: install a release on it that is \
         nearer to that of this node"
    )]
    OtherHandshake {
        /// Its version.
        found: ProtocolVersion,
    },

    /// A message of another version.
    #[error(
        "the node sends a frame in protocol version {found}, this node speaks versions {spoken}: install releases that have \
         a version in common"
    )]
    OtherVersion {
        /// Its version.
        found: ProtocolVersion,
        /// Those of this node.
        spoken: ProtocolRange,
    },

    /// A wrong checksum.
    #[error("the checksum of a frame's {part} is wrong: the network corrupts data")]
    Checksum {
        /// `head` or `body`.
        part: &'static str,
    },

    /// A frame over the limit.
    #[error("a frame of {bytes} bytes is larger than the limit ({limit})")]
    TooLarge {
        /// The body's length.
        bytes: u64,
        /// The limit.
        limit: u64,
    },

    /// A body with a valid checksum and invalid fields.
    #[error("a frame of kind {kind} is invalid: {what}. Run the same release on all nodes")]
    InvalidBody {
        /// The frame's kind.
        kind: u8,
        /// What is invalid.
        what: &'static str,
    },
}
