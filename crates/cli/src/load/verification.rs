//! The findings of `--verify` as text.

use std::fmt::Write;

use hortator_load::verify::Verification;
use indicatif::HumanCount;

/// One line for each problem.
pub(super) fn problems(verification: &Verification) -> String {
    let mut text = String::new();
    for problem in &verification.problems {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "verify: {problem}");
    }
    let unnamed = verification.problem_count - verification.problems.len() as u64;
    if unnamed > 0 {
        let _ = writeln!(text, "verify: and {} more", HumanCount(unnamed));
    }
    text
}

/// The lines of the summary.
pub(super) fn text(verification: &Verification) -> String {
    let mut text = String::new();
    let counted = verification.tables.iter().filter(|table| table.found.is_some()).count();
    let objects: Vec<String> = verification.objects.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    let mut parts = vec![
        format!("rows counted in {} table{}", HumanCount(counted as u64), if counted == 1 { "" } else { "s" }),
        format!("objects found: {}", if objects.is_empty() { "nothing".to_owned() } else { objects.join(", ") }),
        format!("AUTO_INCREMENT {}", verification.counters),
        format!("foreign keys validated {}", verification.foreign_keys),
    ];
    if !verification.nodes.is_empty() {
        parts.push(format!("same content on {}", verification.nodes.join(", ")));
    }
    let result = match verification.problem_count {
        0 => "verified".to_owned(),
        1 => "verified, 1 problem".to_owned(),
        count => format!("verified, {} problems", HumanCount(count)),
    };
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{result}: {}; in {:.2} s", parts.join("; "), verification.elapsed_s);
    for table in &verification.tables {
        if let Some(reason) = &table.not_counted_reason {
            let _ = writeln!(text, "  {}: rows not counted: {reason}", table.table);
        }
    }
    for remark in &verification.remarks {
        let _ = writeln!(text, "  {remark}");
    }
    text
}
