//! What can be wrong with a binary log.

use std::io;
use std::path::PathBuf;

/// Why a binary log cannot be read further.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read the binary log {}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The operating system's words.
        error: io::Error,
    },

    /// The file does not begin as a binary log does.
    #[error("{} is no binary log: it does not begin with fe 62 69 6e{hint}", path.display())]
    NoBinlog {
        /// The file.
        path: PathBuf,
        /// What it may be, where that is known.
        hint: &'static str,
    },

    /// The file is one of MySQL with `binlog_encryption = ON`.
    #[error("{} is an encrypted log of MySQL: read it from the server, which decrypts it", path.display())]
    Encrypted {
        /// The file.
        path: PathBuf,
    },

    /// The file ends within an event.
    #[error("{} ends within the event at position {position}: the server was interrupted while it wrote it, or the copy is cut off", path.display())]
    CutOff {
        /// The file.
        path: PathBuf,
        /// Where the event begins, in bytes.
        position: u64,
    },

    /// The checksum is not that of the event.
    #[error(
        "{kind} that ends at position {end_position}: its checksum is {stored:08x}, its bytes give {computed:08x}: the log is damaged"
    )]
    Checksum {
        /// The type of the event.
        kind: String,
        /// Where it ends, in bytes.
        end_position: u32,
        /// As the event says.
        stored: u32,
        /// As its bytes give.
        computed: u32,
    },

    /// An event that breaks the rules of its type.
    #[error("{kind} that ends at position {end_position} is not valid: {found}")]
    Invalid {
        /// The type of the event.
        kind: String,
        /// Where it ends, in bytes.
        end_position: u32,
        /// What was found.
        found: String,
    },

    /// Bytes that are not even an event.
    #[error("{0} bytes are no event: an event has at least 19")]
    NoEvent(usize),

    /// An event without a format description before it.
    #[error(
        "{kind} stands before the first format description: reading must start at the beginning of a file, or be told the format"
    )]
    NoFormat {
        /// The type of the event.
        kind: String,
    },

    /// An event of a type that this crate does not know, and that must not be passed over.
    #[error(
        "an event of the unknown type {number} ends at position {end_position}, and is not marked as one that a replica may ignore"
    )]
    UnknownKind {
        /// The number of the type.
        number: u8,
        /// Where it ends, in bytes.
        end_position: u32,
    },
}
