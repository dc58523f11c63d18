//! What stops a source before its transactions reach the target.

use super::files;
use crate::{binlog, transaction};

/// Why a source's log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The source refused something, or the connection is lost.
    #[error("{doing}: {error}")]
    Server {
        /// What was under way.
        doing: String,
        /// The source's answer.
        error: hortator_mysql::Error,
    },

    /// The bytes of its log.
    #[error("{file}: {error}")]
    Binlog {
        /// The file.
        file: String,
        /// What was found.
        error: binlog::Error,
    },

    /// An event that cannot be applied.
    #[error(transparent)]
    Transaction(#[from] transaction::Error),

    /// The source has nothing more to send, as one that shuts down.
    #[error("the source ended the stream of its log")]
    Ended,

    /// The files of its log.
    #[error(transparent)]
    Files(#[from] files::Error),

    /// The source cannot serve as one, or not from there.
    #[error("{0}")]
    Unfit(String),
}
