//! The live part of the page: lag by contender, and over time.

use super::experiment::{AGENT_CPU, AGENT_PEAK, RATE, TARGET_CPU, live_cell};
use super::{Contender, Experiment, Live, Outcome};
use crate::figures::{CORES, LATENCIES, LONGEST};
use crate::page::{Line, Page, Plot, PlotForm, Point, Section, Table};
use crate::report::{Spread, median, median_and_range};
use crate::resource_usage::cores_used;

const HEADINGS: [&str; 11] = [
    "sources",
    "contender",
    "transactions/s",
    "lag p50 ms, median (min–max)",
    "p95 ms",
    "p99 ms",
    "longest ms",
    "target CPU s",
    "target cores",
    "agent CPU s",
    "agent peak MiB",
];

/// A section for each rate.
pub(super) fn sections(experiment: &Experiment, outcome: &Outcome, page: &Page) -> Vec<Section> {
    let Some(live) = &experiment.live else { return Vec::new() };
    live.rates.iter().map(|rate| section(experiment, live, outcome, page, *rate)).collect()
}

fn section(experiment: &Experiment, live: &Live, outcome: &Outcome, page: &Page, rate: u32) -> Section {
    let rows = experiment
        .sources
        .iter()
        .flat_map(|sources| experiment.contenders.iter().map(move |contender| row(page, *sources, rate, *contender)));
    let plots = experiment.sources.iter().map(|sources| plot(experiment, outcome, *sources, rate));
    Section {
        title: format!("Live: {rate} small transactions per second"),
        text: vec![format!(
            "All sources together write at this rate for {} s, each transaction by the clock, while the contender applies. The lag \
             is the time from the commit of a row on its source until the target shows it, to about 5 ms.",
            live.time.as_secs_f64()
        )],
        tables: vec![Table { headings: HEADINGS.map(str::to_owned).to_vec(), text_columns: 2, rows: rows.collect() }],
        plots: plots.collect(),
    }
}

fn row(page: &Page, sources: usize, rate: u32, contender: Contender) -> Vec<String> {
    let (cell, name) = (live_cell(sources, rate), contender.to_string());
    let spread = |figure| page.spread(&cell, &name, figure);
    let mut row = vec![sources.to_string(), name.clone(), median(spread(RATE), 0)];
    row.push(median_and_range(spread(LATENCIES[0].0), 1));
    row.extend(LATENCIES[1..].iter().chain([&LONGEST]).map(|(figure, _)| median(spread(figure), 1)));
    row.push(median(spread(TARGET_CPU), 1));
    row.push(cores_used(spread(CORES)));
    row.push(median(spread(AGENT_CPU), 1));
    row.push(spread(AGENT_PEAK).map_or_else(|| median(None, 0), |peak| format!("{:.0}", peak.most)));
    row
}

/// The first round of each contender.
fn plot(experiment: &Experiment, outcome: &Outcome, sources: usize, rate: u32) -> Plot {
    let cell = live_cell(sources, rate);
    let line = |contender: &Contender| {
        let name = contender.to_string();
        let found = outcome.series.iter().find(|series| series.cell == cell && series.contender == name);
        let points = found.map(|series| series.points.as_slice()).unwrap_or_default();
        let point = |(x, y): &(f64, f64)| Point { x: *x, y: Spread { median: *y, least: *y, most: *y } };
        Line { points: points.iter().map(point).collect(), name }
    };
    let plural = if sources == 1 { "" } else { "s" };
    Plot {
        title: format!("Longest lag in each second: {sources} source{plural}, {rate} transactions/s"),
        x: "seconds".to_owned(),
        y: "lag in ms".to_owned(),
        form: PlotForm::Lines { is_log_x: false, lines: experiment.contenders.iter().map(line).collect() },
        marks: Vec::new(),
    }
}

/// A sentence for each live cell: the least lag of rivals and of Hortator.
pub(super) fn answers(experiment: &Experiment, page: &Page) -> Vec<String> {
    let Some(live) = &experiment.live else { return Vec::new() };
    let mut answers = Vec::new();
    for sources in &experiment.sources {
        for rate in &live.rates {
            let cell = live_cell(*sources, *rate);
            let lag = |contender: &Contender| Some(page.spread(&cell, &contender.to_string(), "p95_ms")?.median);
            let least = |is_rival| {
                let of = experiment.contenders.iter().filter(|contender| contender.is_rival() == is_rival);
                let all = of.filter_map(|contender| Some((*contender, lag(contender)?)));
                all.min_by(|(_, one), (_, other)| one.total_cmp(other))
            };
            if let (Some((rival, of_rival)), Some((ours, of_ours))) = (least(true), least(false)) {
                answers.push(format!(
                    "Live, {sources} {}, {rate} transactions/s: 95 % of the lags are below {of_ours:.1} ms with {ours} and below \
                     {of_rival:.1} ms with the best rival, {rival}.",
                    if *sources == 1 { "source" } else { "sources" },
                ));
            }
        }
    }
    answers
}
