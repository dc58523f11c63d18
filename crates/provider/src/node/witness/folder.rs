//! The folder of a witness: private, of one process, and of no server.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// Locked while a witness uses the folder.
const LOCK_FILE: &str = "witness.lock";
/// A server's data folder has one of them.
const FILES_OF_SERVERS: [&str; 3] = ["ibdata1", "hortator.state.log", "grastate.dat"];
/// Only its owner uses the folder: the log holds the rows of all tables.
const MODE: u32 = 0o700;

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A system call failed.
    #[error("{}: cannot {action}: {error}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// Another witness runs on it.
    #[error("the folder {} is in use by another witness: stop that one first, or choose another folder", .0.display())]
    InUse(PathBuf),
    /// It is a server's.
    #[error(
        "the folder {} holds {file}, so it is the data folder of a server: choose a folder of its own for the witness",
        folder.display()
    )]
    OfServer {
        /// The folder.
        folder: PathBuf,
        /// What is in it.
        file: &'static str,
    },
}

/// The folder belongs to this process as long as the value lives.
#[derive(Debug)]
pub struct FolderLock(#[expect(dead_code, reason = "closing the file releases the lock")] File);

impl FolderLock {
    /// Creates the folder if it does not exist, makes it private, and locks it.
    ///
    /// # Errors
    /// It is another process's, a server's, or cannot be created or written.
    pub fn take(folder: &Path) -> Result<Self, Error> {
        fs::DirBuilder::new().recursive(true).mode(MODE).create(folder).map_err(io("create the folder", folder))?;
        if let Some(file) = FILES_OF_SERVERS.into_iter().find(|file| folder.join(file).exists()) {
            return Err(Error::OfServer { folder: folder.to_owned(), file });
        }
        let permissions = fs::metadata(folder).map_err(io("read the mode of the folder", folder))?.permissions();
        if permissions.mode() & 0o777 != MODE {
            let private = fs::Permissions::from_mode(MODE);
            fs::set_permissions(folder, private).map_err(io("make the folder private", folder))?;
        }
        let path = folder.join(LOCK_FILE);
        let options = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
        let file = options.map_err(io("create the file", &path))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(Error::InUse(folder.to_owned())),
            Err(error) => Err(io("lock the file", &path)(error.into())),
        }
    }
}

fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    move |error| Error::Io { action, path: path.to_owned(), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_folder_is_private_and_of_one_process() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("a/witness");
        let lock = FolderLock::take(&folder).unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        let message = FolderLock::take(&folder).unwrap_err().to_string();
        assert!(message.contains("is in use by another witness"), "{message}");
        drop(lock);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        FolderLock::take(&folder).unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn the_folder_of_a_server_is_refused_and_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(folder.path().join("ibdata1"), "").unwrap();
        let message = FolderLock::take(folder.path()).unwrap_err().to_string();
        assert!(message.contains("holds ibdata1, so it is the data folder of a server"), "{message}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o755);
    }

    #[test]
    fn what_is_no_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let message = FolderLock::take(&file).unwrap_err().to_string();
        assert!(message.starts_with(&format!("{}: cannot create the folder: ", file.display())), "{message}");
    }
}
