//! The part of the page that is about undisturbed inserts.

use super::contender::Contender;
use super::experiment::{CLIENT_CPU, PEAK, RATE, inserts_cell};
use super::report::REPORTED;
use super::{Deployment, Experiment, Factors, Outcome};
use crate::expected_errors;
use crate::figures::{CORES, LAG, LATENCIES, ROW_CPU};
use crate::page::{BarGroup, Line, Mark, Page, Plot, PlotForm, Point, Section, Table};
use crate::report::{Spread, median, median_and_range};
use crate::resource_usage::cores_used;

/// Of the report: rows and servers for which it has a figure.
const REPORTED_THREADS: usize = 400;
const HEADINGS: [&str; 15] = [
    "servers",
    "threads",
    "setting",
    "inserts/s, median (min–max)",
    "× semi-sync",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "s until the others have all",
    "server CPU µs/insert",
    "cores",
    "client CPU s",
    "server peak MiB",
    expected_errors::HEADING,
    "reported",
];

/// Inserts per second divided by those of the semi-synchronous servers with as many writers, in the same cell.
fn times_semisync(page: &Page, contender: Contender, factors: Factors) -> Option<Spread> {
    let (cell, name) = (inserts_cell(factors), contender.to_string());
    let rival = contender.semisync_rival().to_string();
    if rival == name {
        return None;
    }
    page.ratio(RATE, (&cell, &name), (&cell, &rival))
}

/// A sentence for each cluster at the centre.
pub(super) fn answers(experiment: &Experiment, outcome: &Outcome, page: &Page) -> Vec<String> {
    let Some(centre) = experiment.variations().centre() else { return Vec::new() };
    let answer = |contender: Contender| {
        let times = times_semisync(page, contender, centre)?.median;
        let (cell, name) = (inserts_cell(centre), contender.to_string());
        let rival = contender.semisync_rival();
        let cpu = page.ratio(ROW_CPU, (&cell, &name), (&cell, &rival.to_string()))?.median;
        let reported = if is_reported(contender, centre) { format!(" (reported: {REPORTED})") } else { String::new() };
        Some(format!(
            "{contender}, {} threads: {times:.2} times the inserts per second of the {rival}{reported}, with {cpu:.2} times the \
             server CPU for each.",
            centre.threads
        ))
    };
    let clusters = outcome.contenders.iter().copied().filter(|contender| contender.deployment.is_cluster());
    clusters.filter_map(answer).collect()
}

fn is_reported(contender: Contender, factors: Factors) -> bool {
    contender == Contender { deployment: Deployment::Galera(2), writers: 2 } && factors.threads == REPORTED_THREADS
}

/// The table and the plots; None without contenders.
pub(super) fn section(experiment: &Experiment, outcome: &Outcome, page: &Page) -> Option<Section> {
    let centre = experiment.variations().centre()?;
    if outcome.contenders.is_empty() {
        return None;
    }
    let cells = experiment.variations().cells();
    let mut rows = Vec::new();
    for contender in outcome.contenders.iter().copied() {
        for factors in cells.iter().filter(|factors| factors.applies_to(contender, centre)) {
            rows.push(row(page, contender, *factors, centre));
        }
    }
    let mut plots = vec![
        by_threads(experiment, outcome, page, centre, 1, "Inserts on one server"),
        by_threads(experiment, outcome, page, centre, 2, "Inserts on two servers"),
    ];
    plots.extend(ratios(experiment, outcome, page, centre));
    plots.extend(settings(experiment, outcome, page, centre));
    plots.retain(|plot| !is_empty(&plot.form));
    Some(Section {
        title: "Undisturbed inserts".to_owned(),
        text: vec![
            "Each insert is one row and one transaction. \"× semi-sync\" is the figure divided by that of the pair where one server \
             takes the inserts, and by that of the ring where two do."
                .to_owned(),
            format!(
                "The centre: flush {}, {} appliers, {}, keys by {}. Each setting differs from it in one factor.",
                u8::from(centre.is_flushed),
                centre.appliers,
                centre.storage,
                centre.keys
            ),
        ],
        tables: vec![Table { headings: HEADINGS.map(str::to_owned).to_vec(), text_columns: 3, rows }],
        plots,
    })
}

fn is_empty(form: &PlotForm) -> bool {
    match form {
        PlotForm::Lines { lines, .. } => lines.iter().all(|line| line.points.is_empty()),
        PlotForm::Bars(groups) => groups.iter().all(|group| group.bars.is_empty()),
    }
}

fn row(page: &Page, contender: Contender, factors: Factors, centre: Factors) -> Vec<String> {
    let (cell, name) = (inserts_cell(factors), contender.to_string());
    let spread = |figure: &str| page.spread(&cell, &name, figure);
    let setting = match factors.difference(centre) {
        difference if difference.is_empty() => "centre".to_owned(),
        difference => difference,
    };
    let is_one_server = !contender.deployment.has_appliers();
    let mut row = vec![
        name.clone(),
        factors.threads.to_string(),
        setting,
        median_and_range(spread(RATE), 0),
        median(times_semisync(page, contender, factors), 2),
    ];
    row.extend(LATENCIES.map(|(figure, _)| median(spread(figure), 2)));
    row.push(median(spread(LAG).filter(|_| !is_one_server), 3));
    row.push(median(spread(ROW_CPU), 1));
    row.push(cores_used(spread(CORES)));
    row.push(median(spread(CLIENT_CPU), 2));
    row.push(median(spread(PEAK), 0));
    row.push(expected_errors::column(page, &cell, &name));
    let reported = is_reported(contender, factors) && factors == centre;
    row.push(if reported { REPORTED.to_string() } else { String::new() });
    row
}

/// x threads, y inserts per second, a line for each contender with so many writers.
fn by_threads(
    experiment: &Experiment,
    outcome: &Outcome,
    page: &Page,
    centre: Factors,
    writers: usize,
    title: &str,
) -> Plot {
    let mut threads = experiment.threads.clone();
    threads.sort_unstable();
    let line = |contender: Contender| {
        let point = |threads: &usize| {
            let cell = inserts_cell(Factors { threads: *threads, ..centre });
            Some(Point { x: *threads as f64, y: page.spread(&cell, &contender.to_string(), RATE)? })
        };
        Line { name: contender.to_string(), points: threads.iter().filter_map(point).collect() }
    };
    let contenders = outcome.contenders.iter().copied().filter(|contender| contender.writers == writers);
    Plot {
        title: format!("{title}, by threads"),
        x: "threads".to_owned(),
        y: "inserts/s".to_owned(),
        form: PlotForm::Lines { is_log_x: true, lines: contenders.map(line).collect() },
        marks: Vec::new(),
    }
}

/// How many times semi-synchronous replication, for each number of threads.
fn ratios(experiment: &Experiment, outcome: &Outcome, page: &Page, centre: Factors) -> Option<Plot> {
    let mut threads = experiment.threads.clone();
    threads.sort_unstable();
    let clusters: Vec<Contender> =
        outcome.contenders.iter().copied().filter(|contender| contender.deployment.is_cluster()).collect();
    let group = |threads: usize| {
        let factors = Factors { threads, ..centre };
        let bars = clusters.iter().map(|contender| (contender.to_string(), times_semisync(page, *contender, factors)));
        BarGroup { name: format!("{threads} threads"), bars: bars.collect() }
    };
    let has_rivals = [Deployment::Pair, Deployment::Ring].iter().any(|rival| experiment.deployments.contains(rival));
    let groups: Vec<BarGroup> = threads.into_iter().map(group).collect();
    (has_rivals && !clusters.is_empty()).then(|| Plot {
        title: "Inserts per second ÷ those of semi-synchronous replication".to_owned(),
        x: "× pair (1 writer), × ring (2 writers)".to_owned(),
        y: String::new(),
        form: PlotForm::Bars(groups),
        marks: vec![Mark { label: "reported for Galera".to_owned(), value: REPORTED }],
    })
}

/// Inserts per second with each other setting.
fn settings(experiment: &Experiment, outcome: &Outcome, page: &Page, centre: Factors) -> Option<Plot> {
    let cells = experiment.variations().cells();
    let others: Vec<Factors> = cells.into_iter().filter(|cell| !cell.difference(centre).is_empty()).collect();
    let group = |contender: &Contender| {
        let of_contender = others.iter().filter(|factors| factors.applies_to(*contender, centre));
        let all = [centre].into_iter().chain(of_contender.copied());
        let bar = |factors: Factors| {
            let name = match factors.difference(centre) {
                difference if difference.is_empty() => "centre".to_owned(),
                difference => difference,
            };
            (name, page.spread(&inserts_cell(factors), &contender.to_string(), RATE))
        };
        BarGroup { name: contender.to_string(), bars: all.map(bar).collect() }
    };
    let groups: Vec<BarGroup> = outcome.contenders.iter().map(group).collect();
    (!others.is_empty() && !groups.is_empty()).then(|| Plot {
        title: format!("One setting at a time, {} threads", centre.threads),
        x: "inserts/s".to_owned(),
        y: String::new(),
        form: PlotForm::Bars(groups),
        marks: Vec::new(),
    })
}
