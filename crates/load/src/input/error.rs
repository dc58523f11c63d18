//! Errors of reading an input. Each of them ends the input.

use std::io;

use super::format::Format;

/// Why reading an input failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It cannot be opened.
    #[error("cannot open {file}: {cause}")]
    Open {
        /// Its name as given.
        file: String,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// It is a directory.
    #[error("{file} is a directory, not a file")]
    Directory {
        /// Its name as given.
        file: String,
    },
    /// Reading it failed.
    #[error("cannot read {file} after byte {byte}: {cause}")]
    Read {
        /// Its name as given.
        file: String,
        /// Bytes of the file read so far.
        byte: u64,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// A compressed file ends before its stream does.
    #[error(
        "{file}: unexpected end of the {format} stream at byte {byte}: the file is truncated ({decoded_bytes} bytes \
         decompressed before); get a complete copy"
    )]
    CutOff {
        /// Its name as given.
        file: String,
        /// The compression.
        format: Format,
        /// Bytes of the compressed file read so far.
        byte: u64,
        /// Plain bytes decompressed before.
        decoded_bytes: u64,
    },
    /// A compressed file is damaged.
    #[error(
        "{file}: the {format} stream is damaged near byte {byte}: {reason} ({decoded_bytes} bytes \
         decompressed before); get an undamaged copy"
    )]
    Damaged {
        /// Its name as given.
        file: String,
        /// The compression.
        format: Format,
        /// Bytes of the compressed file read so far.
        byte: u64,
        /// Plain bytes decompressed before.
        decoded_bytes: u64,
        /// What the decoder found.
        reason: String,
    },
}
