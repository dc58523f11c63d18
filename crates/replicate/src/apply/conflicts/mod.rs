//! Rows of the source that do not fit those of the target, and what becomes of them. Pure.
//!
//! ```text
//!   the source's change    what the target says   ignore             overwrite
//!   insert                 the row exists         left as it is      becomes the source's row
//!   update                 the row exists (1)     left as it is      the rows in the way are deleted
//!   update                 no such row            left out           the row after the change is inserted
//!   delete                 no such row            left out           left out
//! ```
//!
//! (1) Another row has one of its new keys.

pub(super) mod key_values;
pub(super) mod unique_table;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

use hortator_mysql::Error as ServerError;

use crate::binlog::RowChange;

/// What becomes of a row that does not fit those of the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConflictPolicy {
    /// The source stops.
    #[default]
    Error,
    /// The source's row counts.
    Overwrite,
    /// The target's row counts.
    Ignore,
}

impl ConflictPolicy {
    /// All of them.
    pub const ALL: [ConflictPolicy; 3] = [ConflictPolicy::Error, ConflictPolicy::Overwrite, ConflictPolicy::Ignore];

    /// Its name in the configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ConflictPolicy::Error => "error",
            ConflictPolicy::Overwrite => "overwrite",
            ConflictPolicy::Ignore => "ignore",
        }
    }
}

/// Why a row does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    /// A row has its key.
    Exists,
    /// There is no such row.
    Missing,
}

/// Errors by the manual's codes.
const CODES: [(u16, Misfit); 4] =
    [(1022, Misfit::Exists), (1032, Misfit::Missing), (1062, Misfit::Exists), (1586, Misfit::Exists)];

/// What an error says of a row; `None` where it is about something else.
pub(super) fn misfit(error: &ServerError) -> Option<Misfit> {
    let ServerError::Server(error) = error else { return None };
    CODES.iter().find(|(code, _)| *code == error.code).map(|(_, misfit)| *misfit)
}

/// A row that did not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowConflict {
    /// What the source did.
    change: &'static str,
    misfit: Misfit,
    /// The row's key, as a condition.
    key: String,
}

impl RowConflict {
    pub(super) fn new(change: &RowChange, misfit: Misfit, key: String) -> RowConflict {
        let change = match change {
            RowChange::Insert(_) => "an insert",
            RowChange::Update { .. } => "an update",
            RowChange::Delete(_) => "a delete",
        };
        RowConflict { change, misfit, key }
    }
}

#[cfg(test)]
impl RowConflict {
    pub(crate) fn of_test() -> RowConflict {
        RowConflict { change: "a delete", misfit: Misfit::Missing, key: "key id = 1".to_owned() }
    }
}

impl fmt::Display for RowConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = match (self.misfit, self.change) {
            (Misfit::Missing, _) => "of a row that the target does not have",
            (Misfit::Exists, "an insert") => "of a row that the target has already",
            (Misfit::Exists, _) => "to a key that another row of the target has",
        };
        write!(f, "{} {found}, {}", self.change, self.key)
    }
}

/// Conflicts of a table: how many, and the first one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableConflicts {
    /// `schema.table` on the target.
    pub table: String,
    /// The first one.
    pub first: RowConflict,
    /// How many.
    pub rows: u64,
}

/// Conflicts of what is open, and of what is committed and not told yet.
#[derive(Debug, Default)]
pub(super) struct ConflictLog {
    open: HashMap<String, TableConflicts>,
    committed: Vec<TableConflicts>,
}

impl ConflictLog {
    /// A row of the open transaction did not fit.
    pub(super) fn add(&mut self, table: String, conflict: impl FnOnce() -> RowConflict) {
        match self.open.entry(table) {
            Entry::Occupied(mut known) => known.get_mut().rows += 1,
            Entry::Vacant(new) => {
                let table = new.key().clone();
                new.insert(TableConflicts { table, first: conflict(), rows: 1 });
            }
        }
    }

    /// The open transaction is rolled back.
    pub(super) fn roll_back(&mut self) {
        self.open.clear();
    }

    /// The open transaction is committed.
    pub(super) fn commit(&mut self) {
        self.committed.extend(self.open.drain().map(|(_, found)| found));
    }

    /// What is committed since the last call.
    pub(super) fn take(&mut self) -> Vec<TableConflicts> {
        std::mem::take(&mut self.committed)
    }
}
