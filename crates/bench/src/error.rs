//! What can stop an experiment.

use std::io;

/// What can stop an experiment.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder of the experiment can't be used.
    #[error("{doing}: {source}")]
    Io {
        /// What was being done, with the path.
        doing: String,
        /// What the system said.
        source: io::Error,
    },
    /// A dump of this size makes no sense.
    #[error(
        "a dump of scale {scale} can't be made: the scale is from {smallest} to {largest}, and 1 is the whole sample"
    )]
    Scale {
        /// What was asked for.
        scale: f64,
        /// The smallest that can be made.
        smallest: f64,
        /// The largest that can be made.
        largest: f64,
    },
    /// A program that the experiment runs ended badly.
    #[error("{program} failed ({status}): {said}")]
    Failed {
        /// Its name.
        program: String,
        /// Its exit status or signal.
        status: String,
        /// The end of what it said.
        said: String,
    },
    /// A program that the experiment needs is not installed.
    #[error("{program} is not installed: {remedy}")]
    Missing {
        /// Its name.
        program: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// The server refused, or the connection to it broke.
    #[error("{doing}: {source}")]
    Server {
        /// What was being done.
        doing: String,
        /// What the server or the connection said.
        source: hortator_mysql::Error,
    },
    /// A way of loading said that it was done, and was not.
    #[error("{way} ended without an error but left {rows} rows of {expected}")]
    Incomplete {
        /// Which way.
        way: &'static str,
        /// Rows found.
        rows: u64,
        /// Rows in the dump.
        expected: u64,
    },
    /// The nodes do not have what was confirmed.
    #[error(
        "after {work}, {confirmed} rows were confirmed, and the nodes have {}: rows are lost, doubled, or not everywhere",
        .found.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
    )]
    Apart {
        /// What was done.
        work: String,
        /// Rows that were confirmed.
        confirmed: u64,
        /// Rows that each node has.
        found: Vec<u64>,
    },
    /// A node's server runs no longer.
    #[error("the server of node {node} has ended: see its error log")]
    Ended {
        /// Its number, from 1.
        node: usize,
    },
    /// A node does not get as far as the others.
    #[error(
        "node {node} has got to {applied}, the cluster to {committed}, and no further in {limit_s} s: see its error log"
    )]
    Behind {
        /// Its number, from 1.
        node: usize,
        /// The last seqno that it has applied.
        applied: u64,
        /// That which it should have.
        committed: u64,
        /// How long it was waited for.
        limit_s: u64,
    },
    /// The private server can't be started or stopped.
    #[error(transparent)]
    Sandbox(hortator_sandbox::Error),
    /// The experiment was told to stop.
    #[error("stopped before the experiment was through")]
    Interrupted,
}

impl Error {
    /// Gives the step's name to a server's error: `map_err(Error::server("creating …"))`.
    pub(crate) fn server(doing: impl Into<String>) -> impl FnOnce(hortator_mysql::Error) -> Self {
        let doing = doing.into();
        |source| Self::Server { doing, source }
    }

    /// Gives the step's name to an I/O error: `map_err(Error::io("reading …"))`.
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        |source| Self::Io { doing, source }
    }
}

impl From<hortator_sandbox::Error> for Error {
    fn from(error: hortator_sandbox::Error) -> Self {
        match error {
            hortator_sandbox::Error::Interrupted => Self::Interrupted,
            other => Self::Sandbox(other),
        }
    }
}
