//! Why a load cannot begin.

use hortator_mysql::Error;

use crate::checkpoint;
use crate::cluster;
use crate::report::Failure;

/// Why a load cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No connection, or the server refuses it.
    #[error(transparent)]
    Server(#[from] Error),
    /// It is not known which nodes to load into.
    #[error(transparent)]
    Cluster(#[from] cluster::Error),
    /// The checkpoints are not available.
    #[error(transparent)]
    Checkpoint(#[from] checkpoint::Error),
}

/// Why an open load cannot begin to read its input.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The main session, or a connection of the load's own.
    #[error(transparent)]
    Server(#[from] Error),
}

impl StartError {
    /// The same as a failure of a load that was under way.
    pub(super) fn failure(&self) -> Failure {
        match self {
            Self::Server(error) => Failure::of_connection(error),
        }
    }
}
