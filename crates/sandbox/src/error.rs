//! What can go wrong, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

/// Any failure of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program that a sandbox needs is not there.
    #[error("{program} is not installed; on Debian: apt-get install {packages}")]
    Missing {
        /// The program or library that was looked for.
        program: String,
        /// The Debian packages that bring it.
        packages: &'static str,
    },

    /// What was asked for cannot be: a name, a node, a setting, a folder.
    #[error("{0}")]
    Invalid(String),

    /// The operating system refused.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// As in "create".
        action: &'static str,
        /// What it was to be done to.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },

    /// A server did not come up, did not answer, or did not end.
    #[error("{node} {what}\nThe end of {log}:\n{tail}", log = log.display())]
    Server {
        /// The node, as in "node2".
        node: String,
        /// What it did or failed to do.
        what: String,
        /// The file that the lines are from.
        log: PathBuf,
        /// The last lines of the node's error log.
        tail: String,
    },

    /// A statement of ours failed on a node.
    #[error("{node}: {source}")]
    Statement {
        /// The node, as in "node2".
        node: String,
        /// The connection's error.
        source: hortator_mysql::Error,
    },

    /// The caller's interrupt flag was raised.
    #[error("interrupted")]
    Interrupted,
}

/// Shortens `map_err` for system calls on a path.
pub(crate) trait At<T> {
    /// Says what was to be done to which path.
    fn at(self, action: &'static str, path: &Path) -> Result<T, Error>;
}

impl<T, E: Into<io::Error>> At<T> for Result<T, E> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, Error> {
        self.map_err(|source| Error::Io { action, path: path.to_owned(), source: source.into() })
    }
}
