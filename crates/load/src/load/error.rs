//! Why a load cannot begin.

use hortator_mysql::Error;

use crate::checkpoint;
use crate::cluster;
use crate::rejects::RejectError;
use crate::report::Failure;
use crate::throttle::ThrottleError;

/// Why a load cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No connection, or the server refuses it.
    #[error(transparent)]
    Server(#[from] Error),
    /// It is not known which nodes to load into.
    #[error(transparent)]
    Cluster(#[from] cluster::Error),
    /// The account may not keep its statements out of the binary log.
    #[error(
        "--skip-binlog needs the privilege BINLOG ADMIN (SUPER before MariaDB 10.5, SYSTEM_VARIABLES_ADMIN in MySQL): {0}; \
         grant it, or load without --skip-binlog"
    )]
    SkipBinlog(Error),
    /// What is kept out of the binary log of a node stays on this node.
    #[error(
        "--skip-binlog is not possible on a Galera cluster: a node sends nothing to the others that is not for the binary \
         log; load without --skip-binlog"
    )]
    SkipBinlogOnCluster,
    /// The load cannot be throttled as asked for.
    #[error(transparent)]
    Throttle(#[from] ThrottleError),
    /// Failed statements cannot be kept.
    #[error(transparent)]
    Reject(#[from] RejectError),
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
