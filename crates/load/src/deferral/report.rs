//! What a load tells of its checks: how they were made, and what the proof found.

use std::fmt;

use serde::Serialize;

use super::Checks;
use crate::input::STANDARD_INPUT;

/// How one kind of check was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CheckReport {
    /// As the user asked for.
    pub mode: Checks,
    /// What the dump itself has its session do while rows go in.
    pub dump: RowsWere,
    /// The proof, where the checks were deferred.
    pub validation: Option<Validation>,
}

/// What a dump has its session do with rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RowsWere {
    /// Check them all.
    Checked,
    /// Check none.
    Unchecked,
    /// Check some.
    Both,
    /// There were no rows.
    #[default]
    None,
}

/// What came of a proof.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Validation {
    /// In a word.
    pub outcome: ValidationOutcome,
    /// Why it is not there, where it is not; else empty.
    pub reason: String,
    /// Constraints that were proven, or found broken.
    pub constraints: usize,
    /// Seconds that it took.
    pub elapsed_s: f64,
    /// The constraints that do not hold.
    pub violations: Vec<ViolatedConstraint>,
}

/// How a proof ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ValidationOutcome {
    /// Every constraint holds.
    Valid,
    /// Some do not, or cannot be proven.
    Violated,
    /// It was not made: the load did not come that far.
    Skipped,
    /// It was begun and not ended.
    Failed,
}

impl Validation {
    /// One that says nothing of the rows.
    pub(super) fn without_result(outcome: ValidationOutcome, reason: impl Into<String>) -> Self {
        Self { outcome, reason: reason.into(), constraints: 0, elapsed_s: 0.0, violations: Vec::new() }
    }
}

/// A constraint that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ViolatedConstraint {
    /// `schema.table`.
    pub table: String,
    /// The constraint's name.
    pub constraint: String,
    /// What is wrong, in a sentence without its end.
    pub message: String,
    /// Rows that break it; of equal ones, all.
    pub rows: u64,
    /// The first of them.
    pub first: Vec<ReportedRow>,
}

/// A row that breaks a constraint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportedRow {
    /// `customer_id = 7, id = 12`: the constraint's columns, then the primary key's.
    pub row: String,
    /// The dump's file; empty where the row was not found in it.
    pub file: String,
    /// The line in it, from 1; 0 where the row was not found.
    pub line: u64,
    /// The byte at which the row's statement begins, from 0.
    pub byte: u64,
    /// Why there is no line, or what it is the line of, where that is not the row itself; else empty.
    pub reason: String,
}

impl fmt::Display for ViolatedConstraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR: {}: {} (constraint {})", self.table, self.message, self.constraint)?;
        for row in &self.first {
            f.write_str("\n  ")?;
            if row.line > 0 {
                write!(f, "at line {}", row.line)?;
                if row.file != STANDARD_INPUT {
                    write!(f, " in file: '{}'", row.file)?;
                }
                f.write_str(": ")?;
            }
            f.write_str(&row.row)?;
            if !row.reason.is_empty() {
                write!(f, " ({})", row.reason)?;
            }
        }
        let more = self.rows - (self.first.len() as u64).min(self.rows);
        if more > 0 && !self.first.is_empty() {
            write!(f, "\n  and {more} more")?;
        }
        Ok(())
    }
}

impl Serialize for Checks {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::AsWritten => "as_written",
            Self::Immediate => "immediate",
            Self::Deferred => "deferred",
        })
    }
}
