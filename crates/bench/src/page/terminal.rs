//! A page for a terminal: the answers, the tables, and what to know before them.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, TableComponent, presets};

use super::{Page, RunResult, Table};

pub(super) fn page(page: &Page) -> String {
    let mut text = String::new();
    for section in &page.sections {
        let _ = writeln!(text, "{}", section.title);
        for shown in &section.tables {
            let _ = writeln!(text, "{}", table(shown));
        }
    }
    for run in &page.runs {
        if let RunResult::Failed(reason) = &run.result {
            let cell = run.cell.values().cloned().collect::<Vec<_>>().join(", ");
            let _ = writeln!(text, "failed: {cell}, {}, round {}: {reason}", run.contender, run.round);
        }
    }
    for line in page.answers.iter().chain(&page.warnings) {
        let _ = writeln!(text, "{line}");
    }
    text
}

pub(super) fn table(shown: &Table) -> String {
    let mut table = comfy_table::Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY).set_header(&shown.headings);
    // No lines between rows.
    for component in [TableComponent::HorizontalLines, TableComponent::MiddleIntersections] {
        table.remove_style(component);
    }
    for row in &shown.rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(shown.text_columns) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}
