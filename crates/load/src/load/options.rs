//! What to load, and how.

use std::path::PathBuf;

use hortator_mysql::ConnectOptions;

use super::InDoubt;
use crate::checkpoint::{CheckpointMode, Identity, Start};
use crate::deferral::Checks;
use crate::deferred_keys::DeferIndexes;
use crate::filter::FilterRules;
use crate::input::Input;
use crate::throttle::ThrottleOptions;

/// What to load, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server, and how to connect to any other node.
    pub connect: ConnectOptions,
    /// Whether a lagging node of a cluster throttles the workers. Off only to measure the throttle.
    pub is_throttled: bool,
    /// What else throttles it.
    pub throttle: ThrottleOptions,
    /// The nodes of a Galera cluster; without any, the server of `connect` and the nodes that it knows.
    pub nodes: Vec<String>,
    /// What to read.
    pub input: Input,
    /// Connections that apply chunks; `None` lets the server's cores decide.
    pub threads: Option<usize>,
    /// Text of one chunk, in bytes; `None` for the default.
    pub chunk_bytes: Option<usize>,
    /// Text of all chunks that wait or run, in bytes; `None` for the default. Two chunks always fit.
    pub in_flight_bytes: Option<usize>,
    /// Rows of one batch. With a value, the load sends batches even to a server that supports bulk execute.
    pub batch_rows: Option<usize>,
    /// Continue after a statement fails.
    pub force: bool,
    /// Where statements go that fail in a forced load.
    pub reject: Option<PathBuf>,
    /// Send comments too.
    pub comments: bool,
    /// Take CR LF and NUL as they are.
    pub binary_mode: bool,
    /// Whether the load writes checkpoints, and where.
    pub checkpoint_mode: CheckpointMode,
    /// Where the load may keep its local journal; `None` for checkpoints on the server only.
    pub local_journal_dir: Option<PathBuf>,
    /// From the beginning, or where an interrupted load ended.
    pub start: Start,
    /// How to treat a statement that is in doubt.
    pub in_doubt: InDoubt,
    /// When to check foreign keys.
    pub foreign_keys: Checks,
    /// When to check unique keys.
    pub unique_checks: Checks,
    /// When to build the non-unique keys of tables that the load creates.
    pub defer_indexes: DeferIndexes,
    /// What is loaded of the input, and with which changes.
    pub filter: FilterRules,
    /// Keep the load out of the binary log: replicas do not get it.
    pub skip_binlog: bool,
    /// Renew the statistics of the loaded tables at the end.
    pub analyze: bool,
    /// Verify at the end that the server has the content of the stream.
    pub verify: bool,
}

impl Options {
    /// What tells this input from others.
    pub(super) fn identity(&self) -> Identity {
        Identity::new(&self.input, self.connect.database.as_deref(), self.comments, self.binary_mode)
            .with_filter(self.filter.options())
    }
}
