//! What a verification tells.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

/// Problems that are kept in words; all are counted.
const LISTED_LIMIT: usize = 1_000;

/// Rows of one table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableCheck {
    /// `schema.table`.
    pub table: String,
    /// Rows that the load put in; null where that does not tell how many there should be.
    pub expected: Option<u64>,
    /// Rows that are there; null where they were not counted.
    pub found: Option<u64>,
    /// Why rows were not held against the stream.
    pub not_counted_reason: Option<String>,
}

/// Whether the server holds what the stream should have left.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verification {
    /// Whether nothing was found that is not as it should be.
    pub holds: bool,
    /// The tables that the stream made or filled.
    pub tables: Vec<TableCheck>,
    /// What was looked for by name and found, by kind.
    pub objects: BTreeMap<&'static str, u64>,
    /// AUTO_INCREMENT columns whose next value is ahead of their rows.
    pub counters: u64,
    /// Foreign keys of which every row was looked up.
    pub foreign_keys: u64,
    /// Nodes that hold the same as the one that was loaded into.
    pub nodes: Vec<String>,
    /// The first things that are not as they should be.
    pub problems: Vec<String>,
    /// All of them.
    pub problem_count: u64,
    /// What is missing and may well be, since a statement whose effect is not known by its words came behind it.
    pub remarks: Vec<String>,
    /// Seconds.
    pub elapsed_s: f64,
}

/// What is gathered on the way.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) tables: Vec<TableCheck>,
    pub(super) counters: u64,
    pub(super) foreign_keys: u64,
    pub(super) nodes: Vec<String>,
    objects: BTreeMap<&'static str, u64>,
    problems: Vec<String>,
    problem_count: u64,
    remarks: Vec<String>,
}

impl Findings {
    /// Something is not as it should be.
    pub(super) fn problem(&mut self, problem: String) {
        self.problem_count += 1;
        if self.problems.len() < LISTED_LIMIT {
            self.problems.push(problem);
        }
    }

    /// Something that was looked for by name, and what may have taken it away unseen.
    pub(super) fn named(
        &mut self,
        kind: &'static str,
        is_there: bool,
        touched_by: Option<&str>,
        name: impl FnOnce() -> String,
    ) {
        if is_there {
            *self.objects.entry(kind).or_default() += 1;
            return;
        }
        let missing = format!("{kind} {} does not exist", name());
        match touched_by {
            None => self.problem(missing),
            Some(reason) if self.remarks.len() < LISTED_LIMIT => {
                self.remarks.push(format!("{missing}; possible reason: {reason}"));
            }
            Some(_) => {}
        }
    }

    pub(super) fn verification(self, elapsed: Duration) -> Verification {
        Verification {
            holds: self.problem_count == 0,
            tables: self.tables,
            objects: self.objects,
            counters: self.counters,
            foreign_keys: self.foreign_keys,
            nodes: self.nodes,
            problems: self.problems,
            problem_count: self.problem_count,
            remarks: self.remarks,
            elapsed_s: elapsed.as_secs_f64(),
        }
    }
}
