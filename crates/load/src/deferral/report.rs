//! The report of a load on its checks.

use std::fmt;

use serde::Serialize;

use super::Checks;
use crate::input::STANDARD_INPUT;

/// The report on one kind of check.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CheckReport {
    /// The option of the user.
    pub mode: Checks,
    /// What the dump sets for its session.
    pub dump: RowsWere,
    /// The validation, if the checks were deferred.
    pub validation: Option<Validation>,
}

/// What a dump sets for its session.
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

/// The result of a validation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Validation {
    /// The outcome.
    pub outcome: ValidationOutcome,
    /// Why there is no result; empty if there is one.
    pub reason: String,
    /// Constraints that were validated.
    pub constraints: usize,
    /// Seconds that it took.
    pub elapsed_s: f64,
    /// The violated constraints.
    pub violations: Vec<ViolatedConstraint>,
}

/// The outcome of a validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ValidationOutcome {
    /// Every constraint is valid.
    Valid,
    /// Some constraints are violated or could not be validated.
    Violated,
    /// The load ended before the validation.
    Skipped,
    /// The validation did not end.
    Failed,
}

impl Validation {
    /// A validation without a result.
    pub(super) fn without_result(outcome: ValidationOutcome, reason: impl Into<String>) -> Self {
        Self { outcome, reason: reason.into(), constraints: 0, elapsed_s: 0.0, violations: Vec::new() }
    }
}

/// A violated constraint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ViolatedConstraint {
    /// `schema.table`.
    pub table: String,
    /// The constraint's name.
    pub constraint: String,
    /// The violation.
    pub message: String,
    /// Rows that violate the constraint; of duplicates, all.
    pub rows: u64,
    /// The first of them.
    pub first: Vec<ReportedRow>,
}

/// A row that violates a constraint.
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
    /// Why there is no line, or what the line is of if not of the row; else empty.
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
