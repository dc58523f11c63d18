//! The table of differences: those that are explained, and those that a run found.

use super::compare::Difference;

/// The page with the explained differences.
pub(super) const PAGE: &str = "docs/mtr-as-dumps.md";
/// Begins the table.
const HEADER: &str = "| Test | What | Contains | Reason |";
/// Any test or text.
const ANY: &str = "*";
/// Characters of a difference in a table.
const CELL_CHARACTERS: usize = 240;

/// A difference that is known, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Explained {
    /// `suite.test`, `suite.*` or `*`.
    test: String,
    /// A kind of difference, or `*`.
    kind: String,
    /// Text that the difference has, or `*`.
    contains: String,
}

/// The explained differences of the page.
pub(super) fn explained(page: &str) -> Vec<Explained> {
    let rows = page.lines().skip_while(|line| *line != HEADER).skip(2).take_while(|line| line.starts_with('|'));
    rows.filter_map(|row| {
        let row = row.replace("\\|", "\u{0}");
        let mut cells = row
            .trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().trim_matches('`').replace('\u{0}', "|").replace("\\t", "\t"));
        Some(Explained { test: cells.next()?, kind: cells.next()?, contains: cells.next()? })
    })
    .collect()
}

impl Explained {
    /// Whether this row is about the difference.
    pub(super) fn covers(&self, test: &str, difference: &Difference) -> bool {
        let is_test = match self.test.strip_suffix(ANY) {
            Some(head) => test.starts_with(head),
            None => test == self.test,
        };
        is_test
            && (self.kind == ANY || self.kind == difference.kind.to_string())
            && (self.contains == ANY
                || difference.text.contains(&self.contains)
                || difference.key.contains(&self.contains))
    }
}

/// One row of a run's result.
pub(super) struct Row {
    pub(super) test: String,
    pub(super) differences: Vec<Difference>,
    pub(super) is_certain: bool,
}

/// The table of what a run found.
pub(super) fn markdown(rows: &[Row]) -> String {
    let mut text = "| Test | What | First difference |\n|-|-|-|\n".to_owned();
    for Row { test, differences, is_certain } in rows {
        let mut kinds: Vec<String> = differences.iter().map(|difference| difference.kind.to_string()).collect();
        kinds.dedup();
        let certain = if *is_certain { "" } else { " (not each time)" };
        let first = differences.first().map_or(String::new(), |difference| cell(&difference.text));
        text.push_str(&format!("| {test} | {}{certain} | {first} |\n", kinds.join(", ")));
    }
    text
}

fn cell(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(CELL_CHARACTERS).collect::<String>().replace('|', "\\|").replace('`', "'")
}
