//! `grastate.dat`: the file in which Galera's provider keeps a node's place, for the people, start scripts and operators of
//! container platforms that look there. It is made from what `hortator.state.log` and `hortator.group.log` hold.
//!
//! Nothing in it is read by the provider, only whether it is there: who removes it from the data folder of a server that is down
//! wants another node's tables in it, as with Galera's. Source of the format: Galera documentation, "Restarting the Cluster".

use std::fs;
use std::io;
use std::path::Path;

use crate::atomic_file;
use crate::consensus::hard_state::HardState;
use crate::identity::Uuid;
use crate::saved_state::SavedState;

#[cfg(test)]
mod tests;

/// Its name in the data folder.
pub const FILE_NAME: &str = "grastate.dat";

/// Whether it is there.
pub fn exists(data_dir: &Path) -> bool {
    // What cannot be looked at was not removed.
    data_dir.join(FILE_NAME).try_exists().unwrap_or(true)
}

/// Makes it say what is now. It is left alone where it says so already.
///
/// # Errors
/// What the system says.
pub fn write(data_dir: &Path, state: &SavedState) -> io::Result<()> {
    // Nobody else votes: others come after this one. A file that cannot be read tells so where it is needed.
    let group = HardState::read(data_dir).ok().flatten();
    let is_last = group.is_some_and(|group| group.voters.keys().eq([&group.node]));
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
