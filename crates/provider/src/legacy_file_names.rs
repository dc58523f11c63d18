//! Renames files of earlier releases in the data folder to their current names.
//!
//! A node must not ignore them: without the file with its voters it would continue as a single node.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

#[cfg(test)]
mod tests;

/// The lock file of the releases before names ended in `.log`. It is removed last, so it tells that such files may
/// exist.
const OLDEST_LOCK: &str = "hortator-lock";
/// The lock file of later releases, this one included.
const LOCK: &str = "hortator-lock.log";
const PREFIX: &str = "hortator";
/// Endings of the oldest names, and the endings that replace them.
const OLDEST_ENDINGS: [(&str, &str); 5] = [
    (".spare", ".spare.log"),
    (".cut", ".truncate.log"),
    (".anew", ".reset.log"),
    (".state", ".state.log"),
    (".group", ".raft.log"),
];
/// The same for later names.
const OLD_ENDINGS: [(&str, &str); 3] =
    [(".cut.log", ".truncate.log"), (".anew.log", ".reset.log"), (".group.log", ".raft.log")];

/// Renames them. After an error it may be called again.
///
/// # Errors
/// A system call failed, or a provider of an earlier release has the files open.
pub fn rename_all(data_dir: &Path) -> io::Result<()> {
    let oldest_lock = lock(&data_dir.join(OLDEST_LOCK))?;
    let mut old_paths = Vec::new();
    for entry in if data_dir.exists() { Some(fs::read_dir(data_dir)?) } else { None }.into_iter().flatten() {
        old_paths.push(entry?.path());
    }
    // The longest first: if an older release ran after a newer one, its file is the current one.
    old_paths.sort_by(|one, other| other.cmp(one));
    let current_name = |name: &str| {
        let oldest = OLDEST_ENDINGS.iter().filter(|_| oldest_lock.is_some());
        let mut endings = oldest.chain(&OLD_ENDINGS);
        let is_ours = name.starts_with(PREFIX);
        endings.find_map(|(old, new)| name.strip_suffix(old).filter(|_| is_ours).map(|stem| format!("{stem}{new}")))
    };
    let renames: Vec<_> = old_paths
        .into_iter()
        .filter_map(|path| {
            let name = path.file_name().and_then(OsStr::to_str).and_then(current_name)?;
            Some((path, data_dir.join(name)))
        })
        .collect();
    if !renames.is_empty() {
        let _lock = lock(&data_dir.join(LOCK))?;
        for (old, new) in &renames {
            fs::rename(old, new)?;
        }
        File::open(data_dir)?.sync_all()?;
    }
    if oldest_lock.is_some() { fs::remove_file(data_dir.join(OLDEST_LOCK)) } else { Ok(()) }
}

/// Locks a lock file. None: it does not exist.
fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(io::Error::new(io::ErrorKind::WouldBlock, "a server has them open")),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
