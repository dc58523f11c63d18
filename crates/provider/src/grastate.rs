//! `grastate.dat`: the file with a node's seqno in Galera's format, for administrators, start scripts and container
//! operators. It is made from `hortator.state.log` and `hortator.raft.log`.
//!
//! The provider does not read its content, only its existence: an administrator who removes it while the server is down
//! requests an SST, as with Galera. Format: Galera documentation, "Restarting the Cluster".

use std::fs;
use std::io;
use std::path::Path;

use crate::atomic_file;
use crate::consensus::hard_state::HardState;
use crate::identity::Uuid;
use crate::saved_state::SavedState;

#[cfg(test)]
mod tests;

/// The file's name in the data folder.
pub const FILE_NAME: &str = "grastate.dat";

/// Whether the file exists.
pub fn exists(data_dir: &Path) -> bool {
    // An unreadable file was not removed.
    data_dir.join(FILE_NAME).try_exists().unwrap_or(true)
}

/// Writes the current state, if it has changed.
///
/// # Errors
/// A system call failed.
pub fn write(data_dir: &Path, state: &SavedState) -> io::Result<()> {
    // No other voter: the others join after this node. An unreadable file is reported where it is needed.
    let hard_state = HardState::read(data_dir).ok().flatten();
    let is_last = hard_state.is_some_and(|hard_state| hard_state.voters.keys().eq([&hard_state.node]));
    let is_safe_to_bootstrap = is_last && state.history_uuid != Uuid::UNDEFINED;
    let text = format!(
        "# GALERA saved state\n# Written by Hortator's wsrep provider from the files hortator.*.log, and not read by it.\n\
         version: 2.1\nuuid:    {}\nseqno:   {}\nsafe_to_bootstrap: {}\n",
        state.history_uuid,
        state.stopped_at,
        u8::from(is_safe_to_bootstrap)
    );
    if fs::read(data_dir.join(FILE_NAME)).is_ok_and(|found| found == text.as_bytes()) {
        return Ok(());
    }
    atomic_file::replace(data_dir, FILE_NAME, &text)
}
