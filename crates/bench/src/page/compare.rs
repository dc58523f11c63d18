//! What changed between two runs of one experiment beyond the spread of their rounds.

use std::collections::{BTreeMap, BTreeSet};

use super::{JSON_VERSION, Page, RunResult, Table};
use crate::page::markdown::{NO_FIGURE, number};
use crate::report::Spread;

/// Why two reports cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// It is not a report.
    #[error("{0} is not a report of `hortator bench --json`: {1}")]
    NotAReport(String, serde_json::Error),
    /// Another form.
    #[error("{0} has version {1} of the form; this program reads version {JSON_VERSION}")]
    Version(String, u32),
    /// They ask different questions.
    #[error("one is a report of `bench {0}`, the other of `bench {1}`")]
    Experiments(String, String),
}

/// A figure of both reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The factors, as `rows 50`.
    pub cell: String,
    /// Who.
    pub contender: String,
    /// Which figure, with its unit.
    pub figure: String,
    /// Of the first report; `None` where it has none.
    pub before: Option<Spread>,
    /// Of the second.
    pub after: Option<Spread>,
}

impl Change {
    /// The ranges of both do not touch, or only one of them has the figure. A report with a single round has no spread, so
    /// that any difference counts.
    #[must_use]
    pub fn is_beyond_spread(&self) -> bool {
        match (self.before, self.after) {
            (Some(before), Some(after)) => before.most < after.least || after.most < before.least,
            (before, after) => before.is_some() != after.is_some(),
        }
    }
}

impl Page {
    /// Reads the JSON form. `name` is for messages.
    ///
    /// # Errors
    /// [`CompareError`] when it is not one.
    pub fn from_json(name: &str, text: &str) -> Result<Self, CompareError> {
        let page: Self =
            serde_json::from_str(text).map_err(|error| CompareError::NotAReport(name.to_owned(), error))?;
        match page.version {
            JSON_VERSION => Ok(page),
            version => Err(CompareError::Version(name.to_owned(), version)),
        }
    }
}

/// All figures of both reports, in the order of the cells.
///
/// # Errors
/// [`CompareError`] when they are of different experiments.
pub fn compare(before: &Page, after: &Page) -> Result<Vec<Change>, CompareError> {
    if before.experiment != after.experiment {
        return Err(CompareError::Experiments(before.experiment.clone(), after.experiment.clone()));
    }
    let mut keys = BTreeSet::new();
    for run in before.runs.iter().chain(&after.runs) {
        if let RunResult::Figures(figures) = &run.result {
            keys.extend(figures.keys().map(|figure| (&run.cell, &run.contender, figure)));
        }
    }
    let change = |(cell, contender, figure): (&BTreeMap<String, String>, &String, &String)| Change {
        cell: cell_text(cell),
        contender: contender.clone(),
        figure: figure.clone(),
        before: before.spread(cell, contender, figure),
        after: after.spread(cell, contender, figure),
    };
    Ok(keys.into_iter().map(change).collect())
}

/// The changes as a table.
#[must_use]
pub fn table(changes: &[Change]) -> Table {
    let spread = |spread: Option<Spread>| {
        spread.map_or_else(
            || NO_FIGURE.to_owned(),
            |Spread { median, least, most }| format!("{} ({}–{})", number(median), number(least), number(most)),
        )
    };
    let ratio = |change: &Change| match (change.before, change.after) {
        (Some(before), Some(after)) if before.median != 0.0 => format!("{:.2}", after.median / before.median),
        _ => NO_FIGURE.to_owned(),
    };
    let row = |change: &Change| {
        let words = [&change.cell, &change.contender, &change.figure].map(String::clone);
        words.into_iter().chain([spread(change.before), spread(change.after), ratio(change)]).collect()
    };
    let headings = ["cell", "contender", "figure", "before", "after", "after ÷ before"];
    Table { headings: headings.map(str::to_owned).to_vec(), text_columns: 3, rows: changes.iter().map(row).collect() }
}

/// The factors of a cell in one line.
fn cell_text(cell: &BTreeMap<String, String>) -> String {
    cell.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}
