//! `hortator.state.log`: what a node must know of itself before its log is read. A small text in the data folder.
//!
//! The server says its own position, which its storage engine keeps, but only when its start script asked for it
//! (`--wsrep-recover`, `--wsrep-start-position`). This file says when it may go without.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::atomic_file;
use crate::consensus::lineage::Lineage;
use crate::grastate;
use crate::identity::{Gtid, Uuid};

#[cfg(test)]
mod tests;

/// Its name in the data folder.
pub const FILE_NAME: &str = "hortator.state.log";

const VERSION: &str = "4";
/// Older versions, which are read: until 3, the keys were `history` and `heeded_to`.
const OLD_VERSIONS: [&str; 3] = ["1", "2", "3"];
/// Versions without generations, and without a `grastate.dat` beside the file.
const VERSIONS_WITHOUT_GRASTATE: [&str; 2] = ["1", "2"];

/// What a node last was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedState {
    /// The history that its data belong to.
    pub history_uuid: Uuid,
    /// The last life of its process: transactions left open bear that name.
    pub member: Uuid,
    /// The server was stopped in order, with everything up to here in its tables; -1: it runs, or was killed.
    pub stopped_at: i64,
    /// The server begins from here and has not taken on its first view; -1: it has.
    pub begins_at: i64,
    /// What stands there could not be applied from the log, though the server's own position may say so; -1: nothing.
    pub failed_at: i64,
    /// What the nodes decided on places up to here is how its tables are; -1: nothing was decided yet.
    pub resolved_upto: i64,
    /// Of which generation its group was when this was written. `hortator.group.log` knows it too, and better; this is for a start
    /// without that one, so that the group which is begun anew then knows from which one it comes.
    pub lineage: Lineage,
}

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system says no.
    #[error("{path}: {error}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
    /// It is not what this release writes.
    #[error("{path}, line {line}: `{found}` is not understood. {REMEDY}")]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// Counted from 1; 0: a line is missing.
        line: usize,
        /// What stands there.
        found: String,
    },
    /// A later release wrote it.
    #[error("{path} has version {found}, and this release reads {VERSION}: use the newer release")]
    Newer {
        /// Which file.
        path: PathBuf,
        /// Its version.
        found: String,
    },
}

const REMEDY: &str =
    "Restore the file, or move it away and start with --wsrep-start-position as --wsrep-recover prints it";

impl SavedState {
    /// Reads it; None: there is none.
    pub fn read(data_dir: &Path) -> Result<Option<Self>, Error> {
        let path = data_dir.join(FILE_NAME);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::Io { path, error }),
        };
        let mut state = Self::running(Uuid::UNDEFINED, Uuid::UNDEFINED);
        let mut generations = Vec::new();
        let mut lacks_grastate = false;
        let mut seen = 0;
        for (number, line) in text.lines().enumerate() {
            if line.starts_with('#') || line.trim().is_empty() {
                continue;
            }
            let malformed = || Error::Malformed { path: path.clone(), line: number + 1, found: line.to_owned() };
            let (name, value) = line.split_once(": ").ok_or_else(malformed)?;
            if ["resolved_upto", "heeded_to"].contains(&name) {
                state.resolved_upto = value.parse().map_err(|_| malformed())?;
                continue;
            }
            match name {
                "generation" => {
                    generations.push(value.parse().map_err(|_| malformed())?);
                    state.lineage = Lineage::from_newest(&generations).ok_or_else(malformed)?;
                    continue;
                }
                "version" if value == VERSION => {}
                "version" if OLD_VERSIONS.contains(&value) => {
                    lacks_grastate = VERSIONS_WITHOUT_GRASTATE.contains(&value)
                }
                "version" => return Err(Error::Newer { path, found: value.to_owned() }),
                "history_uuid" | "history" => state.history_uuid = value.parse().map_err(|_| malformed())?,
                "member" => state.member = value.parse().map_err(|_| malformed())?,
                "stopped_at" => state.stopped_at = value.parse().map_err(|_| malformed())?,
                "begins_at" => state.begins_at = value.parse().map_err(|_| malformed())?,
                "failed_at" => state.failed_at = value.parse().map_err(|_| malformed())?,
                _ => return Err(malformed()),
            }
            seen += 1;
        }
        if seen != 6 {
            return Err(Error::Malformed { path, line: 0, found: text });
        }
        if lacks_grastate {
            // That it was never there says nothing.
            state.write_grastate(data_dir)?;
        }
        Ok(Some(state))
    }

    /// Writes it, and `grastate.dat`; when it returns both are on the disk, whole.
    pub fn write(&self, data_dir: &Path) -> Result<(), Error> {
        let Self { history_uuid, member, stopped_at, begins_at, failed_at, resolved_upto, lineage } = self;
        let mut text = format!(
            "# Written by Hortator's wsrep provider. Part of the data: keep it with them, do not edit it.\n\
             version: {VERSION}\nhistory_uuid: {history_uuid}\nmember: {member}\nstopped_at: {stopped_at}\nbegins_at: {begins_at}\n\
             failed_at: {failed_at}\nresolved_upto: {resolved_upto}\n"
        );
        for generation in lineage.newest_first() {
            text.push_str(&format!("generation: {generation}\n"));
        }
        // First: it is not to be missing beside this one unless somebody took it away. But where that is why this one says that the
        // tables are nobody's, it must say so first.
        if !self.history_uuid.is_undefined() {
            self.write_grastate(data_dir)?;
        }
        atomic_file::replace(data_dir, FILE_NAME, &text)
            .map_err(|error| Error::Io { path: data_dir.join(FILE_NAME), error })?;
        self.write_grastate(data_dir)
    }

    /// What it says is of no matter to the node, only that it is there.
    fn write_grastate(&self, data_dir: &Path) -> Result<(), Error> {
        match grastate::write(data_dir, self) {
            Err(error) if !grastate::exists(data_dir) => {
                Err(Error::Io { path: data_dir.join(grastate::FILE_NAME), error })
            }
            _ => Ok(()),
        }
    }

    /// A node that runs, and has taken on its first view.
    pub fn running(history_uuid: Uuid, member: Uuid) -> Self {
        Self {
            history_uuid,
            member,
            stopped_at: -1,
            begins_at: -1,
            failed_at: -1,
            resolved_upto: -1,
            lineage: Lineage::UNKNOWN,
        }
    }

    /// Where the server's tables are, as far as this file alone can say.
    pub fn position(&self) -> Option<Gtid> {
        let seqno = if self.stopped_at >= 0 { self.stopped_at } else { self.begins_at };
        (seqno >= 0).then_some(Gtid { history_uuid: self.history_uuid, seqno })
    }
}
