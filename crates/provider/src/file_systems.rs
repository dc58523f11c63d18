//! Makes files durable that other programs have written: the scripts of an SST copy the tables and do not sync them, and
//! the system may keep what it was given in memory for half a minute. After a power loss the tables would be damaged, and
//! a node that has them counts as complete.
#![allow(unsafe_code)]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The files that this process has open. A path leads to the open file itself (proc(5)).
const OPEN_FILES: &str = "/proc/self/fd";

/// Writes everything of the file systems to disk that hold the folder or a file that this process has open: so also those
/// of `innodb_data_home_dir` and `innodb_log_group_home_dir`, once the server has opened its tables.
///
/// # Errors
/// Of the system, also for data that it could not write earlier (syncfs(2)).
pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    let mut synced = BTreeSet::new();
    sync_that_of(&File::open(folder)?, &mut synced)?;
    for entry in fs::read_dir(OPEN_FILES)? {
        let path = entry?.path();
        // A file that was closed meanwhile, or that nobody may open again, has nothing of the tables.
        let is_file = fs::metadata(&path).is_ok_and(|about| about.is_file() && !synced.contains(&about.dev()));
        if let Some(file) = is_file.then(|| File::open(&path).ok()).flatten() {
            sync_that_of(&file, &mut synced)?;
        }
    }
    Ok(())
}

fn sync_that_of(file: &File, synced: &mut BTreeSet<u64>) -> io::Result<()> {
    if !synced.insert(file.metadata()?.dev()) {
        return Ok(());
    }
    // SAFETY: the descriptor is open as long as `file` lives; no memory is passed.
    match unsafe { libc::syncfs(file.as_raw_fd()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
