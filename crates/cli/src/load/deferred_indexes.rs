//! The option for when to build indexes, and its lines in the summary and the plan.

use std::fmt::Write;

use clap::{Args, ValueEnum};
use hortator_load::plan_report::Plan;
use hortator_load::report::Summary;
use hortator_load::{DeferIndexes, DeferredKeysReport};

/// Tables that the summary names.
const TABLES_NAMED: usize = 20;

/// When the load builds the non-unique indexes of tables that it creates, FULLTEXT and SPATIAL ones too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum When {
    /// After the rows of each table with 4 MiB of rows or more
    Auto,
    /// After the rows of each table
    Always,
    /// With each row, as the client does
    Never,
}

/// The argument.
#[derive(Debug, Args)]
pub(super) struct DeferredIndexesArgs {
    /// When to build the non-unique indexes (FULLTEXT and SPATIAL too) of tables that the load creates, or finds empty
    #[arg(long, value_name = "WHEN", default_value = "never")]
    defer_indexes: When,
}

impl DeferredIndexesArgs {
    pub(super) fn defer_indexes(&self) -> DeferIndexes {
        match self.defer_indexes {
            When::Auto => DeferIndexes::Auto,
            When::Always => DeferIndexes::Always,
            When::Never => DeferIndexes::Never,
        }
    }
}

/// The lines of the summary; none where no indexes were to be deferred and none are missing.
pub(super) fn lines(summary: &Summary) -> String {
    let DeferredKeysReport { mode, disabled_reason, built, kept, missing } = &summary.deferred_indexes;
    let mut text = self::missing(missing);
    if let Some(reason) = disabled_reason {
        let _ = writeln!(text, "indexes: built with each row: {reason}");
        return text;
    }
    if *mode == DeferIndexes::Never && built.is_empty() {
        return text;
    }
    let count: usize = built.iter().map(|table| table.keys.len()).sum();
    let _ = writeln!(text, "indexes: {count} built after the rows, in {} table(s)", built.len());
    for table in built.iter().take(TABLES_NAMED) {
        let _ = write!(text, "  {}: {} in {:.2} s", table.table, table.keys.join(", "), table.elapsed_s);
        let stops: Vec<String> = table.cluster_stops_s.iter().map(|seconds| format!("{seconds:.2} s")).collect();
        let _ = match stops.is_empty() {
            true => writeln!(text),
            false => writeln!(text, "; stopped the cluster for {}", stops.join(", ")),
        };
    }
    for table in kept.iter().take(TABLES_NAMED) {
        let _ = writeln!(text, "  {}: built with each row: {}", table.table, table.reason);
    }
    let unnamed = built.len().saturating_sub(TABLES_NAMED) + kept.len().saturating_sub(TABLES_NAMED);
    if unnamed > 0 {
        let _ = writeln!(text, "  and {unnamed} more table(s): see --json");
    }
    text
}

/// The lines of the plan.
pub(super) fn planned(plan: &Plan) -> String {
    let mut text = String::new();
    match (plan.defer_indexes, plan.indexes_not_deferred_reason) {
        (DeferIndexes::Never, _) => {}
        (_, Some(reason)) => {
            let _ = writeln!(text, "indexes: built with each row: {reason}");
        }
        (_, None) => {
            let _ = writeln!(
                text,
                "indexes: non-unique indexes are built after the rows of these tables, unless a foreign key, AUTO_INCREMENT, \
                                    partitions or computed columns need them:"
            );
            if !plan.cluster.is_empty() {
                let _ = writeln!(
                    text,
                    "  on this cluster one table after the other, at the end of the load: each ALTER TABLE stops all nodes"
                );
            }
            for table in &plan.tables {
                let when = table
                    .indexes_kept_reason
                    .map_or("after the rows".to_owned(), |reason| format!("with each row: {reason}"));
                let _ = writeln!(text, "  {}: {when}", table.table);
            }
        }
    }
    text
}

/// What is told at an interruption before the load ends.
pub(super) fn to_build(count: usize) -> String {
    match count {
        0 => String::new(),
        _ => format!("hortator: building the deferred indexes of {count} table(s) first\n"),
    }
}

/// Tells of indexes that are missing.
pub(super) fn missing(statements: &[String]) -> String {
    statements
        .iter()
        .map(|statement| {
            format!("hortator: indexes are missing: resume the load with --resume, or run: {statement};\n")
        })
        .collect()
}
