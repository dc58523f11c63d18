//! The errors of this crate.

use std::io;
use std::path::{Path, PathBuf};

/// Any failure of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A required program is not installed.
    #[error("{program} is not installed; on Debian: apt-get install {packages}")]
    Missing {
        /// The missing program or library.
        program: String,
        /// The Debian packages that contain it.
        packages: &'static str,
    },

    /// An argument is invalid: a name, a node, a setting, a folder.
    #[error("{0}")]
    Invalid(String),

    /// A system call failed.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// The action, as in "create".
        action: &'static str,
        /// The path of the action.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },

    /// A server did not start, answer or end.
    #[error("{node} {what}\nThe end of {log}:\n{tail}", log = log.display())]
    Server {
        /// The node, as in "node2".
        node: String,
        /// What the server did or failed to do.
        what: String,
        /// The log file of the lines below.
        log: PathBuf,
        /// The last lines of the node's error log.
        tail: String,
    },

    /// An internal statement failed on a node.
    #[error("{node}: {source}")]
    Statement {
        /// The node, as in "node2".
        node: String,
        /// The connection's error.
        source: hortator_mysql::Error,
    },

    /// The caller's interrupt flag was set.
    #[error("interrupted")]
    Interrupted,
}

/// Shortens `map_err` for system calls on a path.
pub(crate) trait At<T> {
    /// Adds the action and the path.
    fn at(self, action: &'static str, path: &Path) -> Result<T, Error>;
}

impl<T, E: Into<io::Error>> At<T> for Result<T, E> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, Error> {
        self.map_err(|source| Error::Io { action, path: path.to_owned(), source: source.into() })
    }
}
