//! What a filter has left out and changed, for the summary.

use std::collections::{BTreeMap, BTreeSet};

use hortator_mysql::catalog::TableName;
use serde::Serialize;

/// Names that are kept of each list.
const NAMES_KEPT: usize = 100;
/// Parent tables that are kept for the verification.
const PARENTS_LIMIT: usize = 100_000;

/// What a filter has left out and changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FilterReport {
    /// Statements that were left out, by the option that says so.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Tables whose rows were left out by name; the first 100.
    pub tables: BTreeSet<String>,
    /// Foreign keys of loaded tables to tables that are left out, in words; the first 100.
    pub foreign_keys: Vec<String>,
    /// Their parent tables, as the server names them.
    #[serde(skip)]
    pub(crate) left_out_parents: BTreeSet<TableName>,
    /// Options of `--only` and `--database-map` that name nothing of the input.
    pub unmatched: Vec<String>,
    /// Statements that ran with another text.
    pub rewritten: u64,
}

impl FilterReport {
    /// Whether there is nothing to tell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The patterns that have matched nothing so far.
    pub(super) fn begin(&mut self, unmatched: Vec<String>) {
        self.unmatched = unmatched;
    }

    pub(super) fn left_out(&mut self, option: &'static str) {
        *self.left_out.entry(option).or_default() += 1;
    }

    pub(super) fn left_out_table(&mut self, name: &TableName) {
        if self.tables.len() < NAMES_KEPT {
            self.tables.insert(name.to_string());
        }
    }

    /// Takes note of a foreign key; `parent` as the server names it.
    pub(super) fn foreign_key(&mut self, child: &TableName, parent: &TableName, option: &'static str) {
        let words = format!("{child} refers to {parent}, which {option} leaves out: its rows may have no parent row");
        if self.left_out_parents.len() < PARENTS_LIMIT {
            self.left_out_parents.insert(parent.clone());
        }
        if self.foreign_keys.len() < NAMES_KEPT && !self.foreign_keys.contains(&words) {
            self.foreign_keys.push(words);
        }
    }
}
