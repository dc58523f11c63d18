//! `hortator.state.log`: the state of a node before its log is read. A small text file in the data folder.
//!
//! The storage engine stores the server's position, but the server reports it only if its start script asked for it
//! (`--wsrep-recover`, `--wsrep-start-position`). This file tells when that is not needed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::atomic_file;
use crate::consensus::lineage::Lineage;
use crate::grastate;
use crate::identity::{Gtid, Uuid};

mod reserve;
#[cfg(test)]
mod tests;

/// The file's name in the data folder.
pub const FILE_NAME: &str = "hortator.state.log";

const VERSION: &str = "4";
/// Older versions, which are read: until 3, the keys were `history` and `heeded_to`.
const OLD_VERSIONS: [&str; 3] = ["1", "2", "3"];
/// Versions without generations, and without a `grastate.dat` beside the file.
const VERSIONS_WITHOUT_GRASTATE: [&str; 2] = ["1", "2"];

/// The last state of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedState {
    /// The history UUID of its data.
    pub history_uuid: Uuid,
    /// Its last member ID: open streaming transactions belong to it.
    pub member: Uuid,
    /// The server was stopped cleanly, with everything up to here applied; -1: it runs, or was killed.
    pub stopped_at: i64,
    /// The server starts from here and has not received its first view; -1: it has.
    pub begins_at: i64,
    /// This seqno could not be applied, though the server's position may include it; -1: none.
    pub failed_at: i64,
    /// The tables match all inconsistency votes up to here; -1: there was no vote yet.
    pub resolved_upto: i64,
    /// The generations of its cluster at that time. `hortator.raft.log` is more recent; this copy is for a start
    /// without it, so that a bootstrapped cluster knows its ancestors.
    pub lineage: Lineage,
}

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A system call failed.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A line has another form than this release writes.
    #[error("{path}, line {line}: `{found}` is not valid. {REMEDY}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Counted from 1; 0: a line is missing.
        line: usize,
        /// The line.
        found: String,
    },
    /// A newer release wrote the file.
    #[error("{path} has version {found}, this release reads version {VERSION}: use the newer release")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: String,
    },
}

const REMEDY: &str =
    "Restore the file, or move it away and start with the --wsrep-start-position that --wsrep-recover prints";

impl SavedState {
    /// Reads the file. None: it does not exist.
    pub fn read(data_dir: &Path) -> Result<Option<Self>, Error> {
        let reserve = reserve::path(data_dir);
        let (path, text) = match reserve::read(data_dir) {
            Ok(Some(text)) => (reserve, text),
            Ok(None) => {
                let path = data_dir.join(FILE_NAME);
                match fs::read_to_string(&path) {
                    Ok(text) => (path, text),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                    Err(error) => return Err(Error::Io { path, error }),
                }
            }
            Err(error) => return Err(Error::Io { path: reserve, error }),
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
                    lacks_grastate = VERSIONS_WITHOUT_GRASTATE.contains(&value);
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
            // The file did not exist with that version: its absence means nothing.
            state.write_grastate(data_dir)?;
        }
        Ok(Some(state))
    }

    /// Writes it, and `grastate.dat`. When it returns, both are whole and on disk. An inner error: the disk does not take the
    /// file, and the state is in the reserve.
    ///
    /// # Errors
    /// Neither file could be written: after a restart, the node has its former state.
    pub fn write(&self, data_dir: &Path) -> Result<Result<(), Error>, Error> {
        let Self { history_uuid, member, stopped_at, begins_at, failed_at, resolved_upto, lineage } = self;
        let mut text = format!(
            "# Written by Hortator's wsrep provider. Part of the data: keep it with them, do not edit it.\n\
             version: {VERSION}\nhistory_uuid: {history_uuid}\nmember: {member}\nstopped_at: {stopped_at}\nbegins_at: {begins_at}\n\
             failed_at: {failed_at}\nresolved_upto: {resolved_upto}\n"
        );
        for generation in lineage.newest_first() {
            text.push_str(&format!("generation: {generation}\n"));
        }
        // First, so that it exists beside this file unless an administrator has removed it. If the tables are undefined
        // for that reason, this file comes first.
        if !self.history_uuid.is_undefined() {
            self.write_grastate(data_dir)?;
        }
        let of_reserve = |error| Error::Io { path: reserve::path(data_dir), error };
        // What the reserve holds counts, so it may not become older than the file.
        if reserve::read(data_dir).map_err(of_reserve)?.is_some() {
            reserve::set(data_dir, &text).map_err(of_reserve)?;
        }
        if let Err(error) = atomic_file::replace(data_dir, FILE_NAME, &text) {
            let error = Error::Io { path: data_dir.join(FILE_NAME), error };
            return if reserve::set(data_dir, &text).is_ok() { Ok(Err(error)) } else { Err(error) };
        }
        reserve::clear(data_dir).map_err(of_reserve)?;
        self.write_grastate(data_dir).map(Ok)
    }

    /// Its content does not matter to the node, only its existence.
    fn write_grastate(&self, data_dir: &Path) -> Result<(), Error> {
        match grastate::write(data_dir, self) {
            Err(error) if !grastate::exists(data_dir) => {
                Err(Error::Io { path: data_dir.join(grastate::FILE_NAME), error })
            }
            _ => Ok(()),
        }
    }

    /// The state of a running node that has received its first view.
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

    /// The position of the tables, as far as this file knows it.
    pub fn position(&self) -> Option<Gtid> {
        let seqno = if self.stopped_at >= 0 { self.stopped_at } else { self.begins_at };
        (seqno >= 0).then_some(Gtid { history_uuid: self.history_uuid, seqno })
    }
}
