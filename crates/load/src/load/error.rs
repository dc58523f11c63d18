//! Why a load cannot begin.

use hortator_mysql::Error;

use crate::checkpoint;
use crate::cluster;
use crate::report::Failure;

/// Errors by which a server says that it has too many connections: of all users, of this user, of this user's hour.
const TOO_MANY_CONNECTIONS: [u16; 3] = [1040, 1203, 1226];

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
    /// A worker has no connection. All workers connect before the first statement, because the dump may change who can.
    #[error("worker {number} of {threads} cannot connect: {error}{}", hint(.error))]
    Worker {
        /// The worker, from 1.
        number: usize,
        /// How many workers the load has.
        threads: usize,
        /// What the server or the connection says.
        error: Error,
    },
}

impl StartError {
    /// The same as a failure of a load that was under way.
    pub(super) fn failure(&self) -> Failure {
        match self {
            Self::Server(error) => Failure::of_connection(error),
            Self::Worker { number, threads, error } => {
                let mut failure = Failure::of_connection(error);
                failure.message =
                    format!("worker {number} of {threads} cannot connect: {}{}", failure.message, hint(error));
                failure
            }
        }
    }
}

fn hint(error: &Error) -> &'static str {
    match error.code() {
        Some(code) if TOO_MANY_CONNECTIONS.contains(&code) => "; load with fewer workers (--threads)",
        _ => "",
    }
}
