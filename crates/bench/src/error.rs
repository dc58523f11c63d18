//! The errors that end an experiment.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// An error that ends an experiment.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder of the experiment cannot be used.
    #[error("{action}: {source}")]
    Io {
        /// The failed action, with the path.
        action: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The scale of the dump is out of range.
    #[error("scale {scale} is out of range: give a scale from {smallest} to {largest}; 1 is the whole sample")]
    Scale {
        /// The requested scale.
        scale: f64,
        /// The smallest possible scale.
        smallest: f64,
        /// The largest possible scale.
        largest: f64,
    },
    /// A program that the experiment runs failed.
    #[error("{program} failed ({status}): {output}")]
    Failed {
        /// Its name.
        program: String,
        /// Its exit status or signal.
        status: String,
        /// The end of its output.
        output: String,
    },
    /// A program that the experiment needs is not installed.
    #[error("{program} is not installed: {remedy}")]
    Missing {
        /// Its name.
        program: &'static str,
        /// How to install it.
        remedy: &'static str,
    },
    /// The folder of an experiment that is to be bound by a disk is not on one.
    #[error(
        "{folder} is on {file_system}, where no disk limits the servers: give a folder on a block device with --dir, or --any-file-system to measure there"
    )]
    NoDisk {
        /// The folder.
        folder: String,
        /// As `tmpfs`.
        file_system: String,
    },
    /// The server refused a statement, or the connection failed.
    #[error("{action}: {source}")]
    Server {
        /// The failed action.
        action: String,
        /// The error of the server or of the connection.
        source: hortator_mysql::Error,
    },
    /// A server or a contender answered what cannot be, or left another state than it should.
    #[error("{0}")]
    Answer(String),
    /// The nodes do not have exactly the confirmed rows.
    #[error(
        "after workload {work} the nodes have {} rows, but {confirmed} rows were confirmed{}: rows are lost, duplicated or missing \
         on a node",
        .found.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
        without_answer(*.unknown)
    )]
    NotConverged {
        /// The workload.
        work: String,
        /// Rows that were confirmed.
        confirmed: u64,
        /// Rows whose connection was lost before the answer.
        unknown: u64,
        /// Rows that each node has.
        found: Vec<u64>,
    },
    /// The servers still work for something that is not the run.
    #[error(
        "the servers were not at rest after {limit_s} s (CPU {cpu_share:.2} of a core, {history} row versions to purge, {dirty_pages} \
         pages to flush): a run would pay for it"
    )]
    NotAtRest {
        /// The seconds that the experiment waited.
        limit_s: u64,
        /// Cores that all of them use.
        cpu_share: f64,
        /// Of the server with most.
        history: u64,
        /// Of the server with most.
        dirty_pages: u64,
    },
    /// A node's server has ended.
    #[error("the server of node {node} has ended: read its error log")]
    Ended {
        /// Its number, from 1.
        node: usize,
    },
    /// A node does not apply as much as the others.
    #[error("node {node} has applied seqno {applied} of {committed} after {limit_s} s: read its error log")]
    Behind {
        /// Its number, from 1.
        node: usize,
        /// The last seqno that it has applied.
        applied: u64,
        /// The last seqno that the cluster has committed.
        committed: u64,
        /// The seconds that the experiment waited.
        limit_s: u64,
    },
    /// The private server cannot be started or stopped.
    #[error(transparent)]
    Sandbox(hortator_sandbox::Error),
    /// The user stopped the experiment.
    #[error("the experiment was stopped before its end")]
    Interrupted,
}

fn without_answer(rows: u64) -> String {
    match rows {
        0 => String::new(),
        rows => format!(" and {rows} rows had no answer, as their connections were lost"),
    }
}

impl Error {
    /// The same, or that the user stopped the experiment: a program that hears Ctrl-C, too, fails first.
    pub(crate) fn or_interrupted(self, stop: &AtomicBool) -> Self {
        if stop.load(Ordering::Relaxed) { Self::Interrupted } else { self }
    }

    /// Adds the action to a server's error: `map_err(Error::server("creating …"))`.
    pub(crate) fn server(action: impl Into<String>) -> impl FnOnce(hortator_mysql::Error) -> Self {
        let action = action.into();
        |source| Self::Server { action, source }
    }

    /// Adds the action to an I/O error: `map_err(Error::io("reading …"))`.
    pub(crate) fn io(action: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let action = action.into();
        |source| Self::Io { action, source }
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
