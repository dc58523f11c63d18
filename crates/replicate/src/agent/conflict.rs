//! Rows of the target that differ from the source's: which errors say so, and what is told of those that were dealt with.

use std::collections::HashMap;

use hortator_mysql::Error as ServerError;

use super::session::Error;
use crate::apply::{self, ConflictPolicy, TableConflicts};

/// Tables of which it is known what was told.
const TABLES_LIMIT: usize = 10_000;

/// The conflicts of each table since the start. The first is told with its key; then ten, a hundred, and so on.
#[derive(Debug, Default)]
pub(super) struct ConflictNotes {
    rows: HashMap<String, u64>,
}

impl ConflictNotes {
    /// Adds those of a transaction. Gives what is to be told.
    pub(super) fn add(&mut self, found: &TableConflicts, policy: ConflictPolicy) -> Option<String> {
        if self.rows.len() >= TABLES_LIMIT {
            self.rows.clear();
        }
        let rows = self.rows.entry(found.table.clone()).or_default();
        let before = std::mem::replace(rows, *rows + found.rows);
        let (table, rows, policy) = (&found.table, *rows, policy.name());
        let count = format!("{rows} rows of it since the start");
        match before {
            0 if rows == 1 => Some(format!("conflict in {table} ({policy}): {}", found.first)),
            0 => Some(format!("conflicts in {table} ({policy}): {count}, the first: {}", found.first)),
            _ if rows.ilog10() > before.ilog10() => Some(format!("conflicts in {table} ({policy}): {count}")),
            _ => None,
        }
    }
}

/// A duplicate key, a row that is not there, a parent that is not there, a child that still is; by the manual's error codes.
const CONFLICTS: [u16; 7] = [1022, 1032, 1062, 1451, 1452, 1586, 1761];

/// Whether the error is of that kind.
pub(super) fn is_conflict(error: &Error) -> bool {
    let Error::Apply(apply::Error::Target { error: ServerError::Server(error), .. }) = error else { return false };
    CONFLICTS.contains(&error.code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply::RowConflict;

    #[test]
    fn what_is_told_of_a_table() {
        let mut notes = ConflictNotes::default();
        let mut told = |table: &str, rows: u64| {
            let found = TableConflicts { table: table.to_owned(), first: RowConflict::of_test(), rows };
            notes.add(&found, ConflictPolicy::Ignore)
        };
        let first = "a delete of a row that the target does not have, key id = 1";
        assert_eq!(told("d.t", 1), Some(format!("conflict in d.t (ignore): {first}")));
        let all: Vec<String> = (0..99).filter_map(|_| told("d.t", 1)).collect();
        let count = |rows: u32| format!("conflicts in d.t (ignore): {rows} rows of it since the start");
        assert_eq!(all, [count(10), count(100)]);
        assert_eq!(told("d.t", 100_000), Some(count(100_100)));
        let many = format!("conflicts in d.u (ignore): 7 rows of it since the start, the first: {first}");
        assert_eq!(told("d.u", 7), Some(many));
    }
}
