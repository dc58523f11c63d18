//! The result of a verification.

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
    /// Rows that the load inserted; null if that is not the expected number.
    pub expected: Option<u64>,
    /// Rows in the table; null if not counted.
    pub found: Option<u64>,
    /// Why the rows were not counted.
    pub not_counted_reason: Option<String>,
}

/// Whether the server has the content of the stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verification {
    /// Whether there is no problem.
    pub holds: bool,
    /// The tables that the stream created or filled.
    pub tables: Vec<TableCheck>,
    /// Objects found, by kind.
    pub objects: BTreeMap<&'static str, u64>,
    /// AUTO_INCREMENT columns whose next value is above the values of all rows.
    pub counters: u64,
    /// Validated foreign keys.
    pub foreign_keys: u64,
    /// Nodes with the same content as the writer.
    pub nodes: Vec<String>,
    /// The first problems.
    pub problems: Vec<String>,
    /// The number of problems.
    pub problem_count: u64,
    /// Missing objects that a later statement of unknown effect may have dropped, and foreign keys to tables that the load
    /// leaves out.
    pub remarks: Vec<String>,
    /// Seconds.
    pub elapsed_s: f64,
}

/// The findings so far.
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
    /// Adds what is no problem, but cannot be told to be right either.
    pub(super) fn remark(&mut self, remark: String) {
        if self.remarks.len() < LISTED_LIMIT {
            self.remarks.push(remark);
        }
    }

    /// Adds a problem.
    pub(super) fn problem(&mut self, problem: String) {
        self.problem_count += 1;
        if self.problems.len() < LISTED_LIMIT {
            self.problems.push(problem);
        }
    }

    /// Adds an object that the stream names, and what may have dropped it.
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
