//! What keeps files from being replayed.

use std::io;
use std::path::PathBuf;

use super::until::utc;
use crate::binlog::Gtid;

/// What a file's end is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutOff {
    /// An event.
    Event,
    /// A transaction; its last event is whole.
    Transaction,
}

impl CutOff {
    /// What it is, for a message.
    pub(super) fn name(self) -> &'static str {
        match self {
            CutOff::Event => "an event",
            CutOff::Transaction => "a transaction",
        }
    }
}

/// Why files cannot be replayed, or not to where they should be.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder cannot be read.
    #[error("cannot read the folder {}: {error}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The operating system's words.
        error: io::Error,
    },

    /// A file that is needed at the start is not there.
    #[error("{} does not have {name}", folder.display())]
    NoFile {
        /// The file.
        name: String,
        /// The folder.
        folder: PathBuf,
    },

    /// It is not clear which log is meant.
    #[error("{} has files of several logs: {names}; copy those of the source to a folder of their own", folder.display())]
    SeveralLogs {
        /// The folder.
        folder: PathBuf,
        /// What their names begin with.
        names: String,
    },

    /// A file is not there, and those behind it are, or the server's list of files has it.
    #[error("{missing} is missing in {}: it belongs behind {behind}, which is applied to its end", folder.display())]
    Missing {
        /// The file.
        missing: String,
        /// The last one that is there.
        behind: String,
        /// The folder.
        folder: PathBuf,
    },

    /// A file ends too early.
    #[error(
        "{file} is cut off: it ends at position {end}, in the middle of {}, and the transaction that begins at position \
         {begin} is not whole; what stands before it is applied. Copy the file again", cut_off.name()
    )]
    CutOff {
        /// The file.
        file: String,
        /// What is not whole.
        cut_off: CutOff,
        /// Where the last whole transaction ends, in bytes.
        begin: u64,
        /// Where the last whole event ends, in bytes.
        end: u64,
    },

    /// Transactions are missing between two files.
    #[error(
        "{file} begins behind GTID {there}, and the files before it end at {here}: the end of the file before it is missing, \
         or it is of another log"
    )]
    Gap {
        /// The later file.
        file: String,
        /// The last transaction before it, as it says.
        there: String,
        /// The last transaction of the domain that has come; MySQL: all that have.
        here: String,
    },

    /// A file of a replica.
    #[error("{file} is a relay log, whose positions are those of another server: give the binary log of that server")]
    RelayLog {
        /// The file.
        file: String,
    },

    /// An event is not where its server wrote it.
    #[error(
        "{file}: {kind} ends at position {position}, and says {said}: something is missing before it, or the file is a relay \
         log, whose positions are those of another server"
    )]
    Displaced {
        /// The file.
        file: String,
        /// The type of the event.
        kind: String,
        /// Where it ends, in bytes.
        position: u64,
        /// Where it says that it ends, in bytes modulo 2³².
        said: u32,
    },

    /// There is no sense in it.
    #[error(
        "`start = \"now\"` is for a server: for files, give the place behind the copy of the data, FILE:POSITION or gtid:…"
    )]
    StartNow,

    /// A place that is none.
    #[error("{place} is not between two transactions: {found}")]
    NotBetween {
        /// The place.
        place: String,
        /// What is there.
        found: String,
    },

    /// A file that does not say what is before it.
    #[error("{file} of {version} does not say which transactions stand before it: give FILE:POSITION")]
    NoGtids {
        /// A file.
        file: String,
        /// The server that wrote it.
        version: String,
    },

    /// GTIDs of the other kind of server.
    #[error("the target has this source up to {target}, and {file} is of {version}, whose GTIDs have another form")]
    OtherIds {
        /// What the target has.
        target: String,
        /// A file.
        file: String,
        /// The server that wrote it.
        version: String,
    },

    /// MySQL: the files are of another log, or end too early.
    #[error(
        "the target has the transactions {target} of this source, and the files do not have them and end at {end}: they are of \
         another server or of another time, or the last ones are missing"
    )]
    TargetHasMore {
        /// What the files lack.
        target: String,
        /// Where the files end.
        end: String,
    },

    /// The start is before the files.
    #[error(
        "the files begin too late: {file} begins behind {begin}, and the target has this source up to {target}; add the files \
         before it"
    )]
    TooLate {
        /// The first file.
        file: String,
        /// Where it begins.
        begin: String,
        /// What the target has.
        target: String,
    },

    /// Another log.
    #[error(
        "the target has this source up to GTID {target}, and the files do not have that transaction, but {found} in its \
         place: they are of another server, or of another time"
    )]
    Diverged {
        /// What the target has.
        target: Gtid,
        /// What the log has.
        found: String,
    },

    /// The start is behind the files.
    #[error("the target has this source up to GTID {target}, and the files end before it, at {end}")]
    TargetAhead {
        /// What the target has.
        target: Gtid,
        /// Where the files end.
        end: String,
    },

    /// What was asked for cannot be had any more.
    #[error(
        "the target is past {until} already: it has this source up to {target}. Restore the data again, delete the source's \
         row from the table of positions, and replay from there"
    )]
    Past {
        /// The place.
        until: String,
        /// What the target has.
        target: String,
    },

    /// The end is not in the files.
    #[error("{until} is not in the files, which end at {end}: nothing is applied")]
    NoUntil {
        /// The place.
        until: String,
        /// Where they end.
        end: String,
    },

    /// The end is a time that the files do not reach.
    #[error(
        "the files end before {}, the time to replay until: their last event is of {}, at {end}. All transactions that they \
         have are applied", utc(*until_s), utc(*last_s)
    )]
    TimeNotReached {
        /// In seconds since 1970.
        until_s: u32,
        /// Of the last event, in seconds since 1970.
        last_s: u32,
        /// Where they end.
        end: String,
    },
}
