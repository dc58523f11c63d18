//! The result of a comparison of sources with their target.

use std::time::Duration;

use hortator_check::compare::{Difference, TableRows};
use serde::Serialize;

/// The number of differences, and of tables that were not compared, that are listed; all are counted.
const LISTED_LIMIT: usize = 1_000;
/// The number of tables that a remark names.
const NAMED_LIMIT: usize = 5;

/// A source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedSource {
    /// Its name.
    pub source: String,
    /// The address of the host that was read.
    pub endpoint: String,
    /// The place of its log at which it was compared; none where it was not.
    pub position: Option<String>,
    /// Why it was not compared, and what to do.
    pub error: Option<String>,
}

/// A table whose rows were compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedTable {
    /// The tables of the sources, as `source: schema.table`.
    pub sources: Vec<String>,
    /// By its name on the target; rows of the sources and of the target.
    #[serde(flatten)]
    pub rows: TableRows,
}

/// A table that was not compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotCompared {
    /// `schema.table` on the target; that on the source where a rule leaves it out.
    pub table: String,
    /// The source's name.
    pub source: String,
    /// `schema.table` on the source.
    pub source_table: String,
    /// Why.
    pub reason: String,
    /// It follows from the rules or the table, and not from what happened meanwhile.
    pub is_expected: bool,
}

impl NotCompared {
    pub(super) fn by_rule(source: &str, (schema, table): &(String, String), reason: &str) -> NotCompared {
        let name = format!("{schema}.{table}");
        let (source, reason) = (source.to_owned(), reason.to_owned());
        NotCompared { table: name.clone(), source, source_table: name, reason, is_expected: true }
    }
}

/// The result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplicationReport {
    /// Whether there is no difference in what was compared.
    pub same: bool,
    /// Whether everything was compared that the rules and the tables let.
    pub complete: bool,
    /// The address of the target.
    pub target: String,
    /// The sources, in the order of the configuration.
    pub sources: Vec<ComparedSource>,
    /// Rows of the sources, and of the target.
    pub rows: [u64; 2],
    /// The tables whose rows were compared.
    pub tables: Vec<ComparedTable>,
    /// The first differences; `first` is what only the source has, `second` what only the target has.
    pub differences: Vec<Difference>,
    /// The number of all differences.
    pub difference_count: u64,
    /// The first tables that were not compared.
    pub not_compared: Vec<NotCompared>,
    /// The number of all that were not compared.
    pub not_compared_count: u64,
    /// Limits of the result.
    pub remarks: Vec<String>,
    /// The elapsed time in seconds.
    pub elapsed_s: f64,
}

/// Collects findings.
pub(super) struct Builder {
    report: ReplicationReport,
}

impl Builder {
    pub(super) fn new(target: String) -> Builder {
        Builder {
            report: ReplicationReport {
                same: true,
                complete: true,
                target,
                sources: Vec::new(),
                rows: [0, 0],
                tables: Vec::new(),
                differences: Vec::new(),
                difference_count: 0,
                not_compared: Vec::new(),
                not_compared_count: 0,
                remarks: Vec::new(),
                elapsed_s: 0.0,
            },
        }
    }

    pub(super) fn source(&mut self, source: &str, endpoint: &str, position: &str) {
        let (source, endpoint) = (source.to_owned(), endpoint.to_owned());
        self.report.sources.push(ComparedSource { source, endpoint, position: Some(position.to_owned()), error: None });
    }

    pub(super) fn source_failed(&mut self, source: &str, endpoint: &str, error: &str) {
        self.report.complete = false;
        let (source, endpoint) = (source.to_owned(), endpoint.to_owned());
        self.report.sources.push(ComparedSource { source, endpoint, position: None, error: Some(error.to_owned()) });
    }

    pub(super) fn table(&mut self, sources: Vec<String>, rows: TableRows) {
        for (total, rows) in self.report.rows.iter_mut().zip(rows.rows) {
            *total += rows;
        }
        self.report.tables.push(ComparedTable { sources, rows });
    }

    pub(super) fn difference(&mut self, difference: Difference) {
        self.report.difference_count += 1;
        if self.report.differences.len() < LISTED_LIMIT {
            self.report.differences.push(difference);
        }
    }

    pub(super) fn not_compared(&mut self, left: NotCompared) {
        self.report.complete &= left.is_expected;
        self.report.not_compared_count += 1;
        if self.report.not_compared.len() < LISTED_LIMIT {
            self.report.not_compared.push(left);
        }
    }

    pub(super) fn extra_columns(&mut self, table: &str, columns: &[String]) {
        let text = format!("{table} has columns on the target that no source has: {}", columns.join(", "));
        self.report.remarks.push(text);
    }

    pub(super) fn only_on_target(&mut self, tables: &[String]) {
        if !tables.is_empty() {
            self.report.remarks.push(format!("only the target has {}", named(tables)));
        }
    }

    /// In the order of the configuration, which `names` has.
    pub(super) fn finish(mut self, names: &[&str], elapsed: Duration) -> ReplicationReport {
        let place = |name: &str| names.iter().position(|known| *known == name);
        self.report.sources.sort_by_key(|source| place(&source.source));
        self.report.same = self.report.difference_count == 0;
        self.report.elapsed_s = elapsed.as_secs_f64();
        self.report
    }
}

/// The first of some names, and how many more there are.
#[must_use]
pub fn named(names: &[String]) -> String {
    let shown = names.iter().take(NAMED_LIMIT).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED_LIMIT) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
