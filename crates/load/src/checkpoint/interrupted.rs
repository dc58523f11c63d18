//! What is told of a load that is interrupted or running: from the server, and from its local journal where that is here.

use std::path::Path;

use serde::Serialize;

use super::local_journal::{self, Anchor, Beginning};
use super::{Checkpoint, State};

/// Most statements in doubt that a listing names.
pub(super) const IN_DOUBT_LISTED_LIMIT: usize = 20;

/// An interrupted or running load.
#[derive(Clone, Debug, Serialize)]
pub struct Interrupted {
    /// Its number.
    pub load_id: u64,
    /// Its input.
    pub input: String,
    /// Its start, by the clock of the server.
    pub started_at: String,
    /// The connection of the running load; null if it does not run.
    pub connection_id: Option<u64>,
    /// Loaded rows.
    pub rows: u64,
    /// Applied checkpoints.
    pub chunks: u64,
    /// Rows by table.
    pub tables: Vec<(String, u64)>,
    /// Statements in doubt, as `file:line`; the first 20.
    pub in_doubt_statements: Vec<String>,
    /// Statements of which it is not known here whether they ran, and why not; null where all is known.
    pub unknown: Option<String>,
    /// The keys that are missing, because their tables' rows are not all there.
    pub missing_keys: Vec<MissingKeysOf>,
}

/// A table whose keys are missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissingKeysOf {
    /// `schema.table`.
    pub table: String,
    /// `file:line` of its CREATE TABLE.
    pub place: String,
    /// The statement that adds the keys.
    pub statement: String,
}

impl Interrupted {
    /// Adds what a local journal says, if it can be used.
    pub(super) fn add_local_journal(&mut self, anchor: &Anchor, folder: Option<&Path>) {
        let checkpoints = match local_journal::read(anchor, folder) {
            Ok(checkpoints) => checkpoints,
            Err(reason) => {
                let Beginning { file, line, .. } = &anchor.from;
                let journal = anchor.describe();
                self.unknown =
                    Some(format!("statements from {file}:{line} on are in {journal}, which cannot be used: {reason}"));
                return;
            }
        };
        for Checkpoint { span, state, table, rows, .. } in checkpoints {
            match state {
                State::Intent if self.in_doubt_statements.len() < IN_DOUBT_LISTED_LIMIT => {
                    self.in_doubt_statements.push(format!("{}:{}", span.file, span.line));
                }
                State::Intent => {}
                State::Applied | State::SessionBound => {
                    self.chunks += 1;
                    self.add_rows(table, rows);
                }
            }
        }
    }

    fn add_rows(&mut self, table: String, rows: u64) {
        if table.is_empty() {
            return;
        }
        self.rows += rows;
        match self.tables.binary_search_by(|(known, _)| known.cmp(&table)) {
            Ok(at) => self.tables[at].1 += rows,
            Err(at) => self.tables.insert(at, (table, rows)),
        }
    }
}
