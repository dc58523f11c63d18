//! The report of an experiment as values, and its three forms.
//!
//! ```text
//!   experiment ──► Page ──► markdown   for docs/benchmarks
//!                       ──► html       one file without network, with plots
//!                       ──► json       every sample; read again by `compare`
//! ```
//!
//! A page holds only what was measured and what is known beforehand. An experiment fills it in; nothing here knows any of
//! them. A cell that failed has a reason in place of figures, so that no form can show a number for it.

mod compare;
mod html;
mod image;
mod index;
mod markdown;
mod plot;
mod terminal;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::report::Spread;
use crate::rules;

pub use compare::{Change, CompareError, compare, table as changes_table};
pub use index::{IndexEntry, index};

/// The version of the JSON form: `docs/benchmarks/report-json.md` describes it.
pub const JSON_VERSION: u32 = 1;

/// The report of one experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// [`JSON_VERSION`].
    pub version: u32,
    /// The name of the command, as `fan-in`.
    pub experiment: String,
    /// A heading.
    pub title: String,
    /// What the experiment asks, in a sentence or two.
    pub question: String,
    /// What this run answers, in plain words with figures; empty where nothing was measured.
    pub answers: Vec<String>,
    /// What others reported, with their versions and hardware.
    pub reported: Vec<String>,
    /// The command that repeats it.
    pub command: String,
    /// The day, as `2026-02-28`.
    pub date: String,
    /// Processor, cores and memory.
    pub machine: String,
    /// Versions of servers and programs.
    pub versions: Vec<String>,
    /// Settings of the servers, as `name=value`, the same for all contenders unless a line says otherwise.
    pub settings: Vec<String>,
    /// What was compared.
    pub contenders: Vec<ContenderNote>,
    /// What a reader must know before the figures: a busy machine, contenders that were left out, an interrupted run.
    pub warnings: Vec<String>,
    /// Tables and plots.
    pub sections: Vec<Section>,
    /// What the figures do not show.
    pub limits: Vec<String>,
    /// Every run.
    pub runs: Vec<Run>,
}

/// One contender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContenderNote {
    /// Its name in tables and plots.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What a confirmed commit survives.
    pub survives: String,
}

/// A part of the page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// Paragraphs.
    pub text: Vec<String>,
    /// Tables, each with medians and their spread.
    pub tables: Vec<Table>,
    /// Plots.
    pub plots: Vec<Plot>,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// One for each column.
    pub headings: Vec<String>,
    /// So many columns at the left are text; the others are numbers.
    pub text_columns: usize,
    /// As many cells each as there are headings.
    pub rows: Vec<Vec<String>>,
}

/// A plot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    /// A sentence that says what is shown.
    pub title: String,
    /// What stands along the bottom, with its unit.
    pub x: String,
    /// What stands at the left, with its unit.
    pub y: String,
    /// Lines or bars.
    pub form: PlotForm,
    /// Figures that others reported: horizontal lines in a plot of lines, vertical ones in a plot of bars.
    pub marks: Vec<Mark>,
}

/// What a plot consists of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PlotForm {
    /// A line for each series of points.
    Lines {
        /// x is logarithmic, for threads and rows.
        is_log_x: bool,
        /// The lines.
        lines: Vec<Line>,
    },
    /// A horizontal bar for each name, in groups; the value is on the x axis.
    Bars(Vec<BarGroup>),
}

/// A series of points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// In the order of x.
    pub points: Vec<Point>,
}

/// A point with the spread of its runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Where it stands.
    pub x: f64,
    /// The median and the range.
    pub y: Spread,
}

/// Bars that belong together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BarGroup {
    /// The heading of the group.
    pub name: String,
    /// Name and value of each bar; `None` for a cell that failed.
    pub bars: Vec<(String, Option<Spread>)>,
}

/// A figure to compare with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Who reported it.
    pub label: String,
    /// In the unit of the axis.
    pub value: f64,
}

/// One run of a contender in a cell of the experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The factors of the cell, by name, as `rows` = `50`.
    pub cell: BTreeMap<String, String>,
    /// Its name.
    pub contender: String,
    /// From 1.
    pub round: usize,
    /// The figures by their name with the unit, as `wall_s`; or why there are none.
    pub result: RunResult,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunResult {
    /// By name with the unit, as `wall_s`.
    Figures(BTreeMap<String, f64>),
    /// The reason; there is no figure.
    Failed(String),
}

impl Table {
    /// For a terminal, in plain characters.
    #[must_use]
    pub fn terminal(&self) -> String {
        terminal::table(self)
    }
}

impl Run {
    /// A figure of this name.
    #[must_use]
    pub fn figure(&self, name: &str) -> Option<f64> {
        match &self.result {
            RunResult::Figures(figures) => figures.get(name).copied(),
            RunResult::Failed(_) => None,
        }
    }
}

impl Page {
    /// The spread of a figure over all rounds of a contender in a cell; `None` where one of them failed.
    #[must_use]
    pub fn spread(&self, cell: &BTreeMap<String, String>, contender: &str, figure: &str) -> Option<Spread> {
        let runs = || self.runs.iter().filter(|run| run.cell == *cell && run.contender == contender);
        match runs().all(|run| matches!(run.result, RunResult::Figures(_))) {
            true => Spread::of_numbers(runs().filter_map(|run| run.figure(figure))),
            false => None,
        }
    }

    /// A figure of one contender divided by that of another, round by round; `None` where a run of either failed. Each of the
    /// two is named by its cell and its name.
    #[must_use]
    pub fn ratio(
        &self,
        figure: &str,
        one: (&BTreeMap<String, String>, &str),
        other: (&BTreeMap<String, String>, &str),
    ) -> Option<Spread> {
        let of = |(cell, contender): (&BTreeMap<String, String>, &str)| {
            let runs = self.runs.iter().filter(|run| run.cell == *cell && run.contender == contender);
            runs.map(|run| Some((run.round, run.figure(figure)?))).collect::<Option<Vec<_>>>()
        };
        let (one, other) = (of(one)?, of(other)?);
        let pairs = one.iter().filter_map(|(round, value)| {
            let (_, beside) = other.iter().find(|(other, _)| other == round)?;
            Some(value / beside)
        });
        Spread::of_numbers(pairs.filter(|ratio| ratio.is_finite()))
    }

    /// The page without the figures that break a rule of `rules`. If there are any, its tables, plots and answers, which could
    /// show them, are missing too.
    #[must_use]
    pub fn ruled(mut self) -> Self {
        if rules::withdraw(&mut self) > 0 {
            self.answers.clear();
            self.sections.clear();
            self.warnings
                .push("figures break a rule of the experiments: the runs say which; there are no tables".to_owned());
        }
        self
    }

    /// The JSON form.
    #[must_use]
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a page is numbers and text only");
        text.push('\n');
        text
    }

    /// Whether a run failed.
    #[must_use]
    pub fn has_failures(&self) -> bool {
        self.runs.iter().any(|run| matches!(run.result, RunResult::Failed(_)))
    }

    /// Tables and answers for a terminal.
    #[must_use]
    pub fn terminal(&self) -> String {
        terminal::page(self)
    }

    /// Markdown, without plots.
    #[must_use]
    pub fn markdown(&self) -> String {
        markdown::page(self)
    }

    /// All plots as one SVG image.
    #[must_use]
    pub fn image(&self) -> String {
        image::image(self)
    }

    /// One HTML file that needs no network.
    #[must_use]
    pub fn html(&self) -> String {
        html::page(self)
    }
}
