//! What can go wrong with the log: what it is, where, and what to do.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Index;

/// An error of the log.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// Somebody else has it open.
    #[error("the log in {} is open in another process: end that one first", folder.display())]
    Locked {
        /// The log's folder.
        folder: PathBuf,
    },

    /// Written by a later version.
    #[error(
        "{} has the log format {found}, and this version reads format {known}: use the version that wrote it, \
         or move the files hortator* away and let the node join anew",
        file.display()
    )]
    Newer {
        /// The segment.
        file: PathBuf,
        /// Its version.
        found: u32,
        /// The last version known here.
        known: u32,
    },

    /// The log is not this cluster's.
    #[error(
        "{} belongs to the history {}, not to {}: the log and the server's data do not belong together; put the right log \
         there, or move it away and let the node take over the state of another one",
        file.display(), uuid(found), uuid(expected)
    )]
    OtherHistory {
        /// The segment.
        file: PathBuf,
        /// The history it belongs to.
        found: [u8; 16],
        /// The history asked for.
        expected: [u8; 16],
    },

    /// What was on disk is no longer readable.
    #[error(
        "{} is damaged at byte {byte} (entry {index}): {what}. Entries that were confirmed are missing. Put the file back \
         from a copy, or move the files hortator* away and let the node join anew",
        file.display()
    )]
    Damaged {
        /// The segment.
        file: PathBuf,
        /// Where in it.
        byte: u64,
        /// The entry that should stand there.
        index: Index,
        /// What was found.
        what: String,
    },

    /// No room for the next segment. Nothing has changed; the same call succeeds once there is room.
    #[error(
        "no room in {} for the log's next {bytes} bytes ({source}): free some; writing goes on by itself then",
        folder.display()
    )]
    Full {
        /// The log's folder.
        folder: PathBuf,
        /// How much is needed.
        bytes: u64,
        /// The system's word.
        source: Arc<io::Error>,
    },

    /// A payload over the limit.
    #[error("an entry of {bytes} bytes is larger than the log takes ({limit}): make the transaction smaller")]
    TooLarge {
        /// The payload's length.
        bytes: u64,
        /// The limit.
        limit: u64,
    },

    /// Not in the log: purged, or not there yet.
    #[error("entry {index} is not in the log, which holds {first} to {last}: take over the state of another node")]
    Absent {
        /// What was asked for.
        index: Index,
        /// The first that is there.
        first: Index,
        /// The last that is there.
        last: Index,
    },

    /// It was there, and was taken away.
    #[error(
        "entry {index} was taken out of the log, as the group had not agreed on it: propose it again, or read again"
    )]
    Dropped {
        /// The entry.
        index: Index,
    },

    /// A call to the system failed.
    #[error("cannot {doing} {} ({source}): see what the disk and the system's log say, then start again", file.display())]
    Io {
        /// A verb: read, write.
        doing: &'static str,
        /// The file or folder.
        file: PathBuf,
        /// The system's word.
        source: Arc<io::Error>,
    },

    /// An earlier write failed. What the disk holds is only known after a new start.
    #[error("the log has been closed by an earlier error: {cause}")]
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

/// The usual way to write 16 bytes.
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
