//! The result of a comparison as text.

use std::fmt::Write;

use hortator_check::compare::Report;
use indicatif::HumanCount;

/// For standard output.
pub(super) fn of(report: &Report) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    for difference in &report.differences {
        let _ = writeln!(text, "{difference}");
    }
    let unnamed = report.difference_count - report.differences.len() as u64;
    if unnamed > 0 {
        let _ = writeln!(text, "and {} more", HumanCount(unnamed));
    }
    for remark in &report.remarks {
        let _ = writeln!(text, "note: {remark}");
    }
    let [first, second] = report.rows;
    let rows = match first == second {
        true => HumanCount(first).to_string(),
        false => format!("{} and {}", HumanCount(first), HumanCount(second)),
    };
    let kinds: Vec<String> = report.definitions.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    let _ = writeln!(
        text,
        "{}: rows of {} tables: {rows}; definitions: {}; in {:.2} s",
        if report.same { "same".to_owned() } else { format!("{} differences", HumanCount(report.difference_count)) },
        report.tables.len(),
        if kinds.is_empty() { "none".to_owned() } else { kinds.join(", ") },
        report.elapsed_s,
    );
    text
}
