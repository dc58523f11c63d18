//! Bytes that are no frame, and frames that are too long.

use super::PROTOCOL_VERSION;

/// Why bytes are no frame, or a frame no bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Something else speaks there.
    #[error(
        "what arrived does not begin as a frame does (it begins with {found:02x?}): something else speaks at this address"
    )]
    Strange {
        /// Its first bytes.
        found: Vec<u8>,
    },

    /// A frame of another version.
    #[error(
        "it speaks protocol version {found}, this node version {PROTOCOL_VERSION}: run the same release on all nodes"
    )]
    OtherVersion {
        /// Its version.
        found: u8,
    },

    /// Not what was sent.
    #[error("the checksum of a frame's {part} is wrong: the network changes what it carries")]
    Checksum {
        /// `head` or `body`.
        part: &'static str,
    },

    /// A frame over the limit.
    #[error("a frame of {bytes} bytes is larger than is taken here ({limit})")]
    TooLarge {
        /// Its body's length.
        bytes: u64,
        /// The limit.
        limit: u64,
    },

    /// Sound bytes that mean nothing.
    #[error("a frame of kind {kind} means nothing: {what}: run the same release on all nodes")]
    Meaningless {
        /// Its kind.
        kind: u8,
        /// What was found.
        what: &'static str,
    },
}
