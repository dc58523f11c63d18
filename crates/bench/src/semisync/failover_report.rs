//! The part of the page that is about the loss of a server.

use super::contender::Contender;
use super::experiment::failover_cell;
use super::failover::{AFTER, BEFORE, LOST, OUTAGE, UNHEARD};
use super::{Experiment, Outcome};
use crate::expected_errors;
use crate::page::{Line, Page, Plot, PlotForm, Point, Section, Table};
use crate::report::{Spread, median, median_and_range, thousands};

const HEADINGS: [&str; 7] = [
    "servers",
    "s without a confirmed commit, median (min–max)",
    "confirmed rows that no server has",
    "committed rows without an answer",
    "inserts/s before",
    "inserts/s after",
    expected_errors::HEADING,
];

/// A sentence for each contender.
pub(super) fn answers(experiment: &Experiment, outcome: &Outcome, page: &Page) -> Vec<String> {
    let Some(centre) = experiment.variations().centre() else { return Vec::new() };
    let cell = failover_cell(centre);
    let answer = |contender: Contender| {
        let spread = |figure: &str| page.spread(&cell, &contender.to_string(), figure);
        let (outage, lost) = (spread(OUTAGE)?.median, spread(LOST)?.most);
        let lost = if lost > 0.0 { thousands(lost as u64) } else { "none".to_owned() };
        Some(format!(
            "{contender}: after the kill of a server that takes inserts nothing is confirmed for {outage:.2} s; of the confirmed \
             rows, {lost} are lost."
        ))
    };
    outcome.failover_contenders.iter().copied().filter_map(answer).collect()
}

/// The table and the plot; None without contenders.
pub(super) fn section(experiment: &Experiment, outcome: &Outcome, page: &Page) -> Option<Section> {
    let centre = experiment.variations().centre()?;
    let contenders = &outcome.failover_contenders;
    if contenders.is_empty() {
        return None;
    }
    let cell = failover_cell(centre);
    let row = |contender: &Contender| {
        let spread = |figure: &str| page.spread(&cell, &contender.to_string(), figure);
        let mut row = vec![contender.to_string(), median_and_range(spread(OUTAGE), 2)];
        row.extend([LOST, UNHEARD, BEFORE, AFTER].map(|figure| median(spread(figure), 0)));
        row.push(expected_errors::column(page, &cell, &contender.to_string()));
        row
    };
    let rows = contenders.iter().map(row).collect();
    let plot = Plot {
        title: format!("Commits around the kill of a server at 0 s, {} threads", centre.threads),
        x: "seconds since the kill".to_owned(),
        y: "commits/s".to_owned(),
        form: PlotForm::Lines {
            is_log_x: false,
            lines: contenders.iter().filter_map(|it| line(outcome, *it)).collect(),
        },
        marks: Vec::new(),
    };
    Some(Section {
        title: "Loss of a server".to_owned(),
        text: vec![
            "At half of the rows the first server, which takes inserts, is killed (SIGKILL). Threads that lose their connection \
             go on with another server: of the pair when the replica has applied what it received and is promoted, of the others \
             at once."
                .to_owned(),
        ],
        tables: vec![Table { headings: HEADINGS.map(str::to_owned).to_vec(), text_columns: 1, rows }],
        plots: if outcome.curves.is_empty() { Vec::new() } else { vec![plot] },
    })
}

/// The first round's commits per second: the kill falls into another moment of each.
fn line(outcome: &Outcome, contender: Contender) -> Option<Line> {
    let (_, curve) = outcome.curves.iter().find(|(of, _)| *of == contender)?;
    let point = |(x, rate): &(f64, f64)| Point { x: *x, y: Spread { median: *rate, least: *rate, most: *rate } };
    Some(Line { name: contender.to_string(), points: curve.iter().map(point).collect() })
}
