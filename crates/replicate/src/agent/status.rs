//! How a source stands.

use serde::{Deserialize, Serialize};

/// What a source is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceState {
    /// It connects to the source and the target.
    Connecting,
    /// It applies transactions, or waits for them.
    Running,
    /// A person has paused it.
    Paused,
    /// An error has stopped it; `resume` tries again.
    Stopped,
    /// The agent has ended it.
    Ended,
}

/// How a source stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceStatus {
    /// Its name.
    pub name: String,
    /// What it is doing.
    pub state: SourceState,
    /// The host that it reads, or tried last.
    pub host: String,
    /// The file of the source's log up to which the target has it.
    pub applied_file: String,
    /// The position in that file, in bytes.
    pub applied_position: u64,
    /// MariaDB: the GTID position up to which the target has it.
    pub applied_gtid: String,
    /// How far the target is behind the source, in seconds: 0 when everything that the source has written is applied;
    /// none before that is known.
    pub lag_s: Option<u64>,
    /// Transactions since the agent's start.
    pub transactions: u64,
    /// Connections that were lost, and transactions that were done again, since the agent's start.
    pub retries: u64,
    /// What stopped it, or what it tries to get over.
    pub error: Option<String>,
}
