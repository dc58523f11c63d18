//! What is told of a load that is interrupted or running: from the server, and from its local journal where that is here.

use std::path::Path;

use hortator_mysql::{ConnectOptions, Connection};
use serde::Serialize;

use super::apart::anchor;
use super::load_registry::{connect, is_there, loads, rows_by_table, text};
use super::local_journal::{self, Anchor, Beginning, RecordFile};
use super::session_locks::holder;
use super::statements::{Statements, hex};
use super::{Checkpoint, Error, RecoveryHint, State, deferred_keys, local_record};
use crate::deferred_keys::MissingKeys;

/// Most statements in doubt that a listing names.
const IN_DOUBT_LISTED_LIMIT: usize = 20;

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

/// The loads with checkpoints in a schema; none if the schema does not exist. `journal_folder`: where their local journals
/// may be, too.
///
/// # Errors
/// [`Error::Server`].
pub fn interrupted(
    options: &ConnectOptions,
    schema: &str,
    journal_folder: Option<&Path>,
) -> Result<Vec<Interrupted>, Error> {
    let options = ConnectOptions { database: None, charset: "utf8mb4".to_owned(), ..options.clone() };
    let statements = Statements::new(schema);
    let mut connection = connect(&options)?;
    let is_there = is_there(&mut connection, &statements)?;
    let all = if is_there { loads(&mut connection, &statements)? } else { Vec::new() };
    let mut found = Vec::new();
    for (load_id, input, _) in all {
        let quoted = statements.quoted();
        let started_at = connection
            .fetch(statements.of_load(load_id, "FROM_UNIXTIME(`end_byte`)").as_bytes())?
            .first()
            .map_or_else(String::new, |row| text(row, 0));
        let sums = connection.fetch(
            format!(
                "SELECT IFNULL(SUM(IF(`name` <> '', `rows`, 0)), 0), COUNT(*) FROM {quoted}.`chunks` WHERE `load_id` = {load_id} AND `first` > 0 AND `state` >= 1"
            )
            .as_bytes(),
        )?;
        // What the server has refused is not in doubt.
        let refused = hex(&RecoveryHint::refused().to_text());
        let in_doubt_statements = connection.fetch(
            format!(
                "SELECT `file`, `line` FROM {quoted}.`chunks` WHERE `load_id` = {load_id} AND `state` = 0 \
                 AND `recovery_hint` <> {refused} ORDER BY `first` LIMIT {IN_DOUBT_LISTED_LIMIT}"
            )
            .as_bytes(),
        )?;
        let mut load = Interrupted {
            load_id,
            input: input.describe(),
            started_at: format!("{started_at} UTC"),
            connection_id: holder(&mut connection, load_id)?,
            rows: sums.first().and_then(|row| text(row, 0).parse().ok()).unwrap_or(0),
            chunks: sums.first().and_then(|row| text(row, 1).parse().ok()).unwrap_or(0),
            tables: rows_by_table(&mut connection, &statements, load_id)?,
            in_doubt_statements: in_doubt_statements
                .iter()
                .map(|row| format!("{}:{}", text(row, 0), text(row, 1)))
                .collect(),
            unknown: None,
            missing_keys: deferred_keys::missing(&mut connection, &statements, load_id)?
                .iter()
                .map(MissingKeys::describe)
                .collect(),
        };
        if let Some(anchor) = anchor(&mut connection, &statements, load_id)? {
            load.add_local_journal(&anchor, journal_folder);
        }
        found.push(load);
    }
    for file in local_record::unregistered(&mut connection, &statements, journal_folder)? {
        found.push(of_record(&mut connection, &file, journal_folder)?);
    }
    Ok(found)
}

/// One that is on record in a file only.
fn of_record(
    connection: &mut Connection,
    file: &RecordFile,
    journal_folder: Option<&Path>,
) -> Result<Interrupted, Error> {
    let load_id = file.load_id();
    let started_at = connection.fetch(format!("SELECT FROM_UNIXTIME({})", file.record.started_at).as_bytes())?;
    let mut load = Interrupted {
        load_id,
        input: file.record.input.describe(),
        started_at: started_at.first().map_or_else(String::new, |row| format!("{} UTC", text(row, 0))),
        connection_id: holder(connection, load_id)?,
        rows: 0,
        chunks: 0,
        tables: Vec::new(),
        in_doubt_statements: Vec::new(),
        unknown: None,
        missing_keys: Vec::new(),
    };
    load.add_local_journal(&file.anchor, journal_folder);
    Ok(load)
}

impl Interrupted {
    /// Adds what a local journal says, if it can be used.
    fn add_local_journal(&mut self, anchor: &Anchor, folder: Option<&Path>) {
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
