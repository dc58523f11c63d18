//! The report of a load: counts, protocols, and every failure with its position.

use std::collections::BTreeMap;
use std::time::Duration;

use hortator_mysql::Error;
use serde::Serialize;

use crate::apply::{Chunk, ChunkStatement};
use crate::cluster::ClusterSummary;
use crate::deferral::{CheckReport, ViolatedConstraint};
use crate::deferred_keys::DeferredKeysReport;
use crate::filter::FilterReport;
use crate::input::STANDARD_INPUT;
use crate::lexer::{self, Location};
use crate::load::AnalyzeReport;
use crate::rejects::RejectSummary;
use crate::throttle::ThrottleSummary;
use crate::verify::Verification;

/// Bytes of a statement that a message shows.
const BEGINNING_BYTES: usize = 80;

/// A statement that failed, or the position at which the load stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The dump's file, as it was named; `(standard input)`; empty where no file is meant.
    pub file: String,
    /// The line in it, from 1; 0 where the whole input is meant.
    pub line: u64,
    /// The byte in the file's (decompressed) content, from 0.
    pub byte: u64,
    /// How the statement begins, on one line; empty where there is none.
    pub statement: String,
    /// The server's error number, where the server refused.
    pub code: Option<u16>,
    /// The SQL standard's class of it.
    pub sqlstate: Option<String>,
    /// What was found, and what to do where that is known.
    pub message: String,
}

impl Failure {
    /// A statement that the server refused, or that could not be sent.
    #[must_use]
    pub fn new(statement: &ChunkStatement, error: &Error) -> Self {
        Self::at(&statement.location, &statement.text, error)
    }

    /// The same for a statement by place and text.
    #[must_use]
    pub fn at(location: &Location, text: &[u8], error: &Error) -> Self {
        let (code, sqlstate, message) = match error {
            Error::Server(refusal) => {
                let sqlstate = String::from_utf8_lossy(&refusal.sqlstate).into_owned();
                (Some(refusal.code), Some(sqlstate), refusal.message.clone())
            }
            other => (None, None, other.to_string()),
        };
        Self {
            file: location.file.to_string(),
            line: location.line,
            byte: location.byte,
            statement: beginning(text),
            code,
            sqlstate,
            message,
        }
    }

    /// The same, where the connection was lost before, and that is the cause.
    #[must_use]
    pub fn after_loss(statement: &ChunkStatement, error: &Error, lost: Option<&Error>) -> Self {
        let mut failure = Self::new(statement, error);
        if let (Some(lost), Error::Connect { .. }) = (lost, error) {
            failure.message = format!("{lost}; reconnecting failed: {}", failure.message);
        }
        failure
    }

    /// A commit that the server refused: nothing of the chunk is there.
    #[must_use]
    pub fn of_commit(chunk: &Chunk, error: &Error) -> Self {
        let mut failure = Self::new(&chunk.statements[0], error);
        failure.message.push_str(&format!(
            "; the server refused the commit of {} statement(s) from this one on and rolled them back",
            chunk.statements.len(),
        ));
        failure
    }

    /// A commit whose outcome is unknown.
    #[must_use]
    pub fn ambiguous_commit(chunk: &Chunk, error: &Error) -> Self {
        let first = &chunk.statements[0];
        let last = &chunk.statements[chunk.statements.len() - 1];
        let mut failure = Self::new(first, error);
        failure.message.push_str(&format!(
            "; the outcome of the commit of {} statement(s) up to line {} is unknown: check the rows of these statements \
             before you load the rest",
            chunk.statements.len(),
            last.location.line,
        ));
        failure
    }

    /// The connection is lost, at no known position.
    #[must_use]
    pub fn of_connection(error: &Error) -> Self {
        let nowhere = Location { file: "".into(), line: 0, byte: 0, ordinal: 0 };
        Self::at(&nowhere, b"", error)
    }

    /// What the load finds wrong by itself, at no position.
    #[must_use]
    pub fn of_load(message: String) -> Self {
        let nowhere = Location { file: "".into(), line: 0, byte: 0, ordinal: 0 };
        Self::finding(&nowhere, b"", message)
    }

    /// The checkpoint of a chunk could not be written: the chunk is rolled back.
    #[must_use]
    pub fn of_checkpoint_error(statement: &ChunkStatement, error: &Error) -> Self {
        let mut failure = Self::new(statement, error);
        failure.message = format!("cannot write the checkpoint: {}", failure.message);
        failure
    }

    /// What the load finds wrong by itself at a statement.
    #[must_use]
    pub fn finding(location: &Location, text: &[u8], message: String) -> Self {
        Self {
            file: location.file.to_string(),
            line: location.line,
            byte: location.byte,
            statement: beginning(text),
            code: None,
            sqlstate: None,
            message,
        }
    }

    /// Something found in the input itself; without a line where the whole input is meant.
    #[must_use]
    pub fn of_input(error: &lexer::Error) -> Self {
        let at = error.location();
        Self {
            file: at.map_or_else(String::new, |at| at.file.to_string()),
            line: at.map_or(0, |at| at.line),
            byte: at.map_or(0, |at| at.byte),
            statement: String::new(),
            code: None,
            sqlstate: None,
            message: error.finding(),
        }
    }
}

/// As the client words it, with a second line for what the client does not tell.
impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ERROR")?;
        if let (Some(code), Some(sqlstate)) = (self.code, &self.sqlstate) {
            write!(f, " {code} ({sqlstate})")?;
        }
        if self.line > 0 {
            write!(f, " at line {}", self.line)?;
            if self.file != STANDARD_INPUT {
                write!(f, " in file: '{}'", self.file)?;
            }
        }
        write!(f, ": {}", self.message)?;
        if self.statement.is_empty() { Ok(()) } else { write!(f, "\n  byte {}: {}", self.byte, self.statement) }
    }
}

/// How a statement begins, on one line.
pub(crate) fn beginning(text: &[u8]) -> String {
    let shown = String::from_utf8_lossy(&text[..text.len().min(BEGINNING_BYTES)]);
    let mut line: String = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    line.retain(|character| !character.is_control());
    if text.len() > BEGINNING_BYTES {
        line.push('…');
    }
    line
}

/// The checkpoints of a load in the database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckpointSummary {
    /// The ID of the load; null for a load without checkpoints.
    pub load_id: Option<u64>,
    /// The schema of the checkpoints.
    pub schema: Option<String>,
    /// Why the load has no checkpoints; null if it has.
    pub disabled_reason: Option<String>,
    /// Why the load has written all its checkpoints to the server from some statement on; null where its local journal
    /// could be written, or there was none.
    pub local_journal_given_up: Option<String>,
    /// Whether `--resume` can resume the load.
    pub can_resume: bool,
    /// Rows that earlier runs loaded; they count in `rows`.
    pub rows_before: u64,
    /// How often this run lost its main session and resumed automatically.
    pub restarts: u64,
}

/// Rows loaded into one table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableRows {
    /// `schema.table`.
    pub table: String,
    /// Rows that the server says were affected.
    pub rows: u64,
}

/// How a load ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The whole input is in the database.
    Complete,
    /// Forced through: the whole input was tried, some statements failed.
    WithErrors,
    /// The whole input is in the database, but rows violate a deferred constraint, or its validation failed.
    NotValidated,
    /// A failure stopped it.
    Failed,
    /// It was interrupted.
    Interrupted,
}

/// What a load did. With `--json`, the object on standard output.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// How it ended.
    pub end: End,
    /// Statements read.
    pub statements: u64,
    /// Rows that the server says were affected by INSERT and REPLACE.
    pub rows: u64,
    /// Bytes read of the input, as stored (compressed, if it is).
    pub read_bytes: u64,
    /// Seconds from the opening of the main session to the last commit.
    pub elapsed_s: f64,
    /// Connections that applied chunks.
    pub threads: usize,
    /// Why this number.
    pub threads_reason: String,
    /// Seconds from the last commit until every node of a cluster had applied all rows, part of `elapsed_s`; null for a
    /// single server, and if the load does not know it of some node.
    pub all_nodes_s: Option<f64>,
    /// Measurements of the cluster; null for a single server.
    pub cluster: Option<ClusterSummary>,
    /// INSERT statements sent by the binary protocol: bulk execute, or batches of prepared statements.
    pub binary_statements: u64,
    /// Statements sent by the text protocol.
    pub text_statements: u64,
    /// Statements not sent, such as LOCK TABLES and ENABLE KEYS.
    pub skipped: u64,
    /// Statements that ran alone, in stream order; statements within transactions of the dump are among them.
    pub barriers: u64,
    /// The same by reason.
    pub barrier_reasons: BTreeMap<&'static str, u64>,
    /// How foreign keys were checked.
    pub foreign_keys: CheckReport,
    /// How unique keys were checked.
    pub unique_checks: CheckReport,
    /// The keys that were built after the rows of their tables.
    pub deferred_indexes: DeferredKeysReport,
    /// Transactions replayed after deadlocks, lock waits or lost connections.
    pub replays: u64,
    /// Warnings of the server, as it counts them for each statement.
    pub warnings: u64,
    /// The checkpoints of the load.
    pub checkpoint: CheckpointSummary,
    /// What the limits of `--throttle` did; null without.
    pub throttle: Option<ThrottleSummary>,
    /// The file of the statements that failed in a forced load; null without `--reject`.
    pub reject: Option<RejectSummary>,
    /// What came of `--analyze`; null without it, or if the load ended early.
    pub analyzed: Option<AnalyzeReport>,
    /// What was left out of the input, and changed in it.
    pub filtered: FilterReport,
    /// The result of `--verify`; null without it, or if the load ended early.
    pub verification: Option<Verification>,
    /// Rows by table, in the order of the names.
    pub tables: Vec<TableRows>,
    /// Failures in the stream's order; at most the first 1,000.
    pub failures: Vec<Failure>,
    /// All failures.
    pub failure_count: u64,
}

impl Summary {
    /// The constraints that the validation found violated.
    pub fn violations(&self) -> impl Iterator<Item = &ViolatedConstraint> {
        let validations = self.foreign_keys.validation.iter().chain(&self.unique_checks.validation);
        validations.flat_map(|validation| &validation.violations)
    }

    /// Rows per second.
    #[must_use]
    pub fn rows_per_s(&self) -> f64 {
        self.rows as f64 / self.elapsed_s.max(Duration::from_millis(1).as_secs_f64())
    }
}
