//! Errors of the log: what was found, where, and what to do.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Index;

/// An error of the log.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// Another process has the log open.
    #[error("the log in {} is open in another process: stop that process first", folder.display())]
    Locked {
        /// The log's folder.
        folder: PathBuf,
    },

    /// A newer release wrote the segment.
    #[error(
        "{} has log format {found}, this release reads format {known}: use the release that wrote it, or move the \
         files hortator* away and let the node join again",
        file.display()
    )]
    Newer {
        /// The segment.
        file: PathBuf,
        /// Its version.
        found: u32,
        /// The latest version that this release reads.
        known: u32,
    },

    /// The log belongs to another cluster.
    #[error(
        "{} has history UUID {}, expected {}: the log does not belong to the server's tables. Restore the right log, \
         or move it away and let the node receive the state of another node",
        file.display(), uuid(found), uuid(expected)
    )]
    OtherHistory {
        /// The segment.
        file: PathBuf,
        /// Its history UUID.
        found: [u8; 16],
        /// The expected history UUID.
        expected: [u8; 16],
    },

    /// Data that was on disk is not readable any more.
    #[error(
        "{} is damaged at byte {byte} (entry {index}): {what}. Confirmed entries are missing. Restore the file from \
         a copy, or move the files hortator* away and let the node join again",
        file.display()
    )]
    Damaged {
        /// The segment.
        file: PathBuf,
        /// The byte in the file.
        byte: u64,
        /// The expected entry.
        index: Index,
        /// What was found.
        what: String,
    },

    /// No room for the next segment. Nothing has changed; the same call succeeds once there is room.
    #[error(
        "no room in {} for the next {bytes} bytes of the log ({source}): free some space; writing then continues",
        folder.display()
    )]
    Full {
        /// The log's folder.
        folder: PathBuf,
        /// The needed room.
        bytes: u64,
        /// The system's error.
        source: Arc<io::Error>,
    },

    /// A payload over the limit.
    #[error("an entry of {bytes} bytes is larger than the log's limit ({limit}): make the transaction smaller")]
    TooLarge {
        /// The payload's length.
        bytes: u64,
        /// The limit.
        limit: u64,
    },

    /// The entry is purged, or not appended yet.
    #[error("entry {index} is not in the log, which holds {first} to {last}: receive the state of another node")]
    Absent {
        /// The requested entry.
        index: Index,
        /// The first entry of the log.
        first: Index,
        /// The last entry of the log.
        last: Index,
    },

    /// The entry was truncated.
    #[error("entry {index} was truncated, since it was not committed: propose it again, or read again")]
    Dropped {
        /// The entry.
        index: Index,
    },

    /// A system call failed.
    #[error("cannot {doing} {} ({source}): check the disk and the system log, then start the server again", file.display())]
    Io {
        /// A verb: read, write.
        doing: &'static str,
        /// The file or folder.
        file: PathBuf,
        /// The system's error.
        source: Arc<io::Error>,
    },

    /// An earlier write failed. The content of the disk is known only after a restart.
    #[error("an earlier error has closed the log: {cause}")]
    Broken {
        /// The first error.
        cause: Arc<Error>,
    },
}

impl Error {
    pub(super) fn io(doing: &'static str, file: &Path) -> impl FnOnce(io::Error) -> Self {
        let file = file.to_owned();
        move |source| Self::Io { doing, file, source: Arc::new(source) }
    }
}

/// A UUID in its usual notation.
fn uuid(bytes: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if [4, 6, 8, 10].contains(&at) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}
