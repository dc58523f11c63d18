//! A page in Markdown, for the documentation.

use std::fmt::Write as _;

use super::{Page, Run, RunResult, Table};

/// What stands where there is no figure.
pub(super) const NO_FIGURE: &str = "—";

pub(super) fn page(page: &Page) -> String {
    let mut text = format!("# {}\n\n", page.title);
    let mut line = |line: &str| {
        let _ = writeln!(text, "{line}");
    };
    line(&format!("**Question.** {}\n", page.question));
    for (head, items) in [("This run", &page.answers), ("Reported", &page.reported), ("Note", &page.warnings)] {
        for item in items {
            line(&format!("**{head}.** {item}\n"));
        }
    }
    line(&format!("{}, {}. Repeat it with:\n\n    {}\n", page.date, page.machine, page.command));
    for section in &page.sections {
        line(&format!("## {}\n", section.title));
        section.text.iter().for_each(|paragraph| line(&format!("{paragraph}\n")));
        section.tables.iter().for_each(|shown| line(&table(shown)));
    }
    line("## Set-up\n");
    for note in &page.contenders {
        line(&format!("- **{}**: {} A confirmed commit survives {}.", note.name, note.description, note.survives));
    }
    for fact in [page.settings.join(", "), page.versions.join("; ")] {
        line(&format!("- {fact}"));
    }
    if !page.limits.is_empty() {
        line("\n## What the figures do not show\n");
        page.limits.iter().for_each(|limit| line(&format!("- {limit}")));
    }
    line("\n## Every run\n");
    line(&table(&runs(&page.runs)));
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn table(table: &Table) -> String {
    let words = table.text_columns.min(table.headings.len());
    let numbers = table.headings.len() - words;
    let mut text =
        format!("| {} |\n|{}{}\n", table.headings.join(" | "), "---|".repeat(words), "---:|".repeat(numbers));
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('\n', " ").replace('|', "\\|")).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// Every run: the factors, the contender, the round and all figures.
pub(super) fn runs(runs: &[Run]) -> Table {
    let mut factors: Vec<&String> = Vec::new();
    let mut figures: Vec<&String> = Vec::new();
    for run in runs {
        factors.extend(run.cell.keys());
        if let RunResult::Figures(of_run) = &run.result {
            figures.extend(of_run.keys());
        }
    }
    for names in [&mut factors, &mut figures] {
        names.sort();
        names.dedup();
    }
    let headings = factors.iter().map(|name| (*name).clone());
    let headings =
        headings.chain(["contender", "round"].map(str::to_owned)).chain(figures.iter().map(|name| (*name).clone()));
    let row = |run: &Run| {
        let cell = factors.iter().map(|name| run.cell.get(*name).cloned().unwrap_or_default());
        let mut row: Vec<String> = cell.chain([run.contender.clone(), run.round.to_string()]).collect();
        match &run.result {
            RunResult::Figures(of_run) => {
                row.extend(
                    figures
                        .iter()
                        .map(|name| of_run.get(*name).map_or_else(|| NO_FIGURE.to_owned(), |value| number(*value))),
                );
            }
            RunResult::Failed(reason) => {
                row.extend(figures.iter().enumerate().map(|(index, _)| match index {
                    0 => format!("failed: {reason}"),
                    _ => NO_FIGURE.to_owned(),
                }));
            }
        }
        row
    };
    let mut table =
        Table { headings: headings.collect(), text_columns: factors.len() + 1, rows: runs.iter().map(row).collect() };
    if figures.is_empty() {
        // All of them failed.
        table.headings.push("result".to_owned());
        for (row, run) in table.rows.iter_mut().zip(runs) {
            if let RunResult::Failed(reason) = &run.result {
                row.push(format!("failed: {reason}"));
            }
        }
    }
    table
}

/// A number with three significant digits, or all digits before the point.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
