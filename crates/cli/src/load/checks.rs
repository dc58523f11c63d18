//! The options that say who checks foreign and unique keys, and the summary's line on it.

use clap::{Args, ValueEnum};
use hortator_load::plan_report::Plan;
use hortator_load::report::Summary;
use hortator_load::{CheckReport, Checks, RowsWere, ValidationOutcome};

/// Who checks what rows must keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Who {
    /// The server, row by row, as the dump has it
    AsWritten,
    /// Nobody while rows go in; at the end each constraint is proven by a query, and rows that break one are told
    Deferred,
}

/// Arguments on checks.
#[derive(Debug, Args)]
pub(super) struct ChecksArgs {
    /// When foreign keys are checked
    #[arg(long, value_name = "WHEN", default_value = "as-written")]
    foreign_keys: Who,

    /// When unique keys are checked; as-written means at once, also where the dump switches unique_checks off
    #[arg(long, value_name = "WHEN", default_value = "as-written", conflicts_with = "force")]
    unique_checks: Who,
}

impl ChecksArgs {
    pub(super) fn foreign_keys(&self) -> Checks {
        checks(self.foreign_keys)
    }

    pub(super) fn unique_checks(&self) -> Checks {
        checks(self.unique_checks)
    }
}

fn checks(who: Who) -> Checks {
    match who {
        Who::AsWritten => Checks::AsWritten,
        Who::Deferred => Checks::Deferred,
    }
}

/// What a summary says of both.
pub(super) fn line(summary: &Summary) -> String {
    let unique = match &summary.unique_checks {
        CheckReport { mode: Checks::AsWritten, .. } => "checked by the server".to_owned(),
        report => told(report),
    };
    format!("foreign keys: {}; unique keys: {unique}", told(&summary.foreign_keys))
}

/// What a plan says of both.
pub(super) fn planned(plan: &Plan) -> String {
    let foreign = match plan.foreign_keys.mode {
        Checks::AsWritten => told(&plan.foreign_keys),
        Checks::Deferred => "deferred: not checked row by row, each constraint proven at the end".to_owned(),
    };
    let unique = match plan.unique_checks.mode {
        Checks::AsWritten => "checked by the server",
        Checks::Deferred => "deferred: each proven at the end",
    };
    format!("foreign keys: {foreign}; unique keys: {unique}")
}

fn told(report: &CheckReport) -> String {
    let Some(validation) = &report.validation else {
        return match report.dump {
            RowsWere::Checked => "checked by the server".to_owned(),
            RowsWere::Unchecked => "not checked, as the dump has it".to_owned(),
            RowsWere::Both => "checked where the dump has it so, not checked elsewhere".to_owned(),
            RowsWere::None => "no rows to check".to_owned(),
        };
    };
    let took = format!("in {:.2} s", validation.elapsed_s);
    match validation.outcome {
        ValidationOutcome::Valid => format!("deferred, {} constraint(s) proven {took}", validation.constraints),
        ValidationOutcome::Violated => {
            format!(
                "deferred, {} of {} constraint(s) do not hold ({took})",
                validation.violations.len(),
                validation.constraints
            )
        }
        ValidationOutcome::Skipped => format!("DEFERRED AND NOT PROVEN: {}", validation.reason),
        ValidationOutcome::Failed => format!("DEFERRED AND NOT PROVEN: the proof failed: {}", validation.reason),
    }
}
