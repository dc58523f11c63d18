//! Names that files in the data folder had once, before all of them ended in `.log`.
//!
//! They must not be passed over: a node that does not find what it knew of its group would go on without it.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

#[cfg(test)]
mod tests;

/// Was held by flock while the log was open. The last to go, so it says that others may be there.
const LOCK: &str = "hortator-lock";
const PREFIX: &str = "hortator";
const ENDINGS: [&str; 5] = ["spare", "cut", "anew", "state", "group"];

/// Gives them the names that they have now.
///
/// # Errors
/// What the system says, or that a provider of that release runs. It may be tried again.
pub fn adopt(data_dir: &Path) -> io::Result<()> {
    let lock = data_dir.join(LOCK);
    let held = match File::open(&lock) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    held.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => io::Error::new(io::ErrorKind::WouldBlock, "a server has them open"),
        TryLockError::Error(error) => error,
    })?;
    for entry in fs::read_dir(data_dir)? {
        let path = entry?.path();
        let is_ours = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(PREFIX.as_bytes()));
        let is_former = path.extension().is_some_and(|ending| ENDINGS.iter().any(|former| ending == *former));
        if is_ours && is_former {
            let mut name = OsString::from(&path);
            name.push(".log");
            fs::rename(&path, name)?;
        }
    }
    File::open(data_dir)?.sync_all()?;
    fs::remove_file(&lock)
}
