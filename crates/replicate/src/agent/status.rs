//! How a source stands.

use serde::{Deserialize, Serialize};

use crate::snapshot::CopyStatus;

/// What a source is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceState {
    /// It connects to the source and the target.
    #[default]
    Connecting,
    /// It copies the source's databases: `start = "snapshot"`.
    Copying,
    /// It applies transactions, or waits for them.
    Running,
    /// A person has paused it.
    Paused,
    /// An error has stopped it; `resume` tries again.
    Stopped,
    /// The agent has ended it.
    Ended,
    /// Everything that was asked for is applied: of files only.
    Complete,
}

impl SourceState {
    /// All of them.
    pub const ALL: [SourceState; 7] = [
        SourceState::Connecting,
        SourceState::Copying,
        SourceState::Running,
        SourceState::Paused,
        SourceState::Stopped,
        SourceState::Ended,
        SourceState::Complete,
    ];

    /// Its name, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SourceState::Connecting => "connecting",
            SourceState::Copying => "copying",
            SourceState::Running => "running",
            SourceState::Paused => "paused",
            SourceState::Stopped => "stopped",
            SourceState::Ended => "ended",
            SourceState::Complete => "complete",
        }
    }
}

/// What a source waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitsFor {
    /// For transactions of the source, or a connection to it.
    Source,
    /// For the target, which runs a statement of it.
    Target,
    /// For a lock in the target that another connection holds.
    Lock,
    /// For the end of a pause, after an error that passes by itself.
    Retry,
    /// For a person: it is paused or stopped.
    Person,
}

impl WaitsFor {
    /// All of them.
    pub const ALL: [WaitsFor; 5] =
        [WaitsFor::Source, WaitsFor::Target, WaitsFor::Lock, WaitsFor::Retry, WaitsFor::Person];

    /// Its name, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            WaitsFor::Source => "source",
            WaitsFor::Target => "target",
            WaitsFor::Lock => "lock",
            WaitsFor::Retry => "retry",
            WaitsFor::Person => "person",
        }
    }
}

/// How a source stands. What another version of the agent does not say has its default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceStatus {
    /// Its name.
    pub name: String,
    /// What it is doing.
    pub state: SourceState,
    /// The host that it reads, or tried last, or the folder of its files.
    pub host: String,
    /// The file of the source's log up to which the target has it.
    pub applied_file: String,
    /// The position in that file, in bytes.
    pub applied_position: u64,
    /// MariaDB: the GTID position up to which the target has it.
    pub applied_gtid: String,
    /// How far the target is behind the source, in seconds: 0 when everything that the source has written is applied;
    /// none while that is not known.
    pub lag_s: Option<u64>,
    /// What the source's log has behind the applied position, in bytes, over all its files; none while that is not known.
    pub lag_bytes: Option<u64>,
    /// Transactions per second, over the last ten seconds.
    pub transactions_per_s: f64,
    /// How far its copy is; none where none is under way.
    pub copy: Option<CopyStatus>,
    /// Tables of the target that are copied by themselves now.
    pub copied_tables: Vec<String>,
    /// What it waits for now; none at its end.
    pub waits_for: Option<WaitsFor>,
    /// How long it has waited, in seconds; for a retry, how long it will.
    pub waits_s: u64,
    /// What the target says of the statement that it runs, if it has run for a second.
    pub waits_detail: Option<String>,
    /// Transactions applied or skipped since the agent's start.
    pub transactions: u64,
    /// Transactions of the target that they became.
    pub groups: u64,
    /// Bytes of the source's log that have arrived since the agent's start.
    pub read_bytes: u64,
    /// Bytes of the rows and statements of the transactions that are applied, as the source wrote them.
    pub applied_bytes: u64,
    /// How long it has waited for the source while it ran, in seconds.
    pub source_wait_s: f64,
    /// How long it has waited for the target while it ran, in seconds.
    pub target_wait_s: f64,
    /// Connections that were lost, and transactions that were done again, since the agent's start.
    pub retries: u64,
    /// How often a group of transactions was rolled back to run again, since the agent's start: one before it needed its
    /// rows.
    pub replays: u64,
    /// Connections to the target over which its transactions are applied now.
    pub connections: u64,
    /// Errors that have stopped it, since the agent's start.
    pub stops: u64,
    /// Rows of the target that differed from the source's, since the agent's start: those of these errors that were about that,
    /// and those below.
    pub conflicts: u64,
    /// Rows of the source that were left out for that: `conflict = "ignore"`.
    pub conflicts_ignored: u64,
    /// Rows of the source that were applied all the same: `conflict = "overwrite"`.
    pub conflicts_overwritten: u64,
    /// Transactions that were passed over because the target refused them with an error of `ignore_errors`.
    pub passed_over: u64,
    /// What stopped it, or what it tries to get over.
    pub error: Option<String>,
}
