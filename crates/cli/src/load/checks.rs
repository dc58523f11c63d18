//! The options for when to check foreign and unique keys, and their line in the summary.

use clap::{Args, ValueEnum};
use hortator_load::plan_report::Plan;
use hortator_load::report::Summary;
use hortator_load::{CheckReport, Checks, RowsWere, ValidationOutcome};

/// When the load checks foreign keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ForeignKeyChecks {
    /// The server checks each row if the dump has foreign_key_checks on
    AsWritten,
    /// The server checks no row; the load validates each constraint at the end and reports the rows that violate it
    Deferred,
}

/// When the load checks unique keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum UniqueChecks {
    /// The server checks each row, even if the dump switches unique_checks off
    Immediate,
    /// InnoDB may skip the check of each row; the load validates each unique key at the end and reports duplicates
    Deferred,
}

/// Arguments on checks.
#[derive(Debug, Args)]
pub(super) struct ChecksArgs {
    /// When to check foreign keys
    #[arg(long, value_name = "WHEN", default_value = "as-written")]
    foreign_keys: ForeignKeyChecks,

    /// When to check unique keys
    #[arg(long, value_name = "WHEN", default_value = "immediate", conflicts_with = "force")]
    unique_checks: UniqueChecks,
}

impl ChecksArgs {
    pub(super) fn foreign_keys(&self) -> Checks {
        match self.foreign_keys {
            ForeignKeyChecks::AsWritten => Checks::AsWritten,
            ForeignKeyChecks::Deferred => Checks::Deferred,
        }
    }

    pub(super) fn unique_checks(&self) -> Checks {
        match self.unique_checks {
            UniqueChecks::Immediate => Checks::Immediate,
            UniqueChecks::Deferred => Checks::Deferred,
        }
    }
}

/// The line of the summary on both.
pub(super) fn line(summary: &Summary) -> String {
    let unique = match &summary.unique_checks {
        CheckReport { mode: Checks::AsWritten | Checks::Immediate, .. } => "checked by the server".to_owned(),
        report => describe(report),
    };
    format!("foreign keys: {}; unique keys: {unique}", describe(&summary.foreign_keys))
}

/// The line of the plan on both.
pub(super) fn planned(plan: &Plan) -> String {
    let foreign = match plan.foreign_keys.mode {
        Checks::AsWritten | Checks::Immediate => describe(&plan.foreign_keys),
        Checks::Deferred => "deferred: the load validates each constraint at the end".to_owned(),
    };
    let unique = match plan.unique_checks.mode {
        Checks::AsWritten | Checks::Immediate => "checked by the server",
        Checks::Deferred => "deferred: the load validates each key at the end",
    };
    format!("foreign keys: {foreign}; unique keys: {unique}")
}

fn describe(report: &CheckReport) -> String {
    let Some(validation) = &report.validation else {
        return match report.dump {
            RowsWere::Checked => "checked by the server".to_owned(),
            RowsWere::Unchecked => "not checked, as set by the dump".to_owned(),
            RowsWere::Both => "checked or not checked, as set by the dump".to_owned(),
            RowsWere::None => "no rows to check".to_owned(),
        };
    };
    let took = format!("in {:.2} s", validation.elapsed_s);
    match validation.outcome {
        ValidationOutcome::Valid => format!("deferred, {} constraint(s) validated {took}", validation.constraints),
        ValidationOutcome::Violated => {
            format!(
                "deferred, {} of {} constraint(s) violated ({took})",
                validation.violations.len(),
                validation.constraints
            )
        }
        ValidationOutcome::Skipped => format!("DEFERRED AND NOT VALIDATED: {}", validation.reason),
        ValidationOutcome::Failed => {
            format!("DEFERRED AND NOT VALIDATED: the validation failed: {}", validation.reason)
        }
    }
}
