//! The outcome as a page.

use super::experiment::Load;
use super::{Experiment, Outcome, Parents};
use crate::deployment::{self, Deployment};
use crate::employees::ForeignKeys;
use crate::expected_errors;
use crate::figures::{CORES, LATENCIES, LONGEST, RATE, ROW_CPU};
use crate::load_generator::Threads;
use crate::page::{Line, Page, Plot, PlotForm, Point, Section, Table};
use crate::report::{Spread, capitalized, median, median_and_range, thousands};
use crate::resource_usage::cores_used;
use crate::rules::{self, Facts};

const HEADINGS: [&str; 15] = [
    "servers",
    "threads",
    "rows per statement",
    "foreign keys",
    "rows/s, median (min–max)",
    "FK ÷ no FK",
    "server CPU µs/row",
    "CPU FK ÷ no FK",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "longest ms",
    expected_errors::HEADING,
    "cores",
    "reported",
];

/// Below this factor inserts hardly pay, and from this one on they pay much.
const HARDLY: f64 = 1.1;
const MUCH: f64 = 1.5;

/// The page of an experiment.
#[must_use]
pub fn page(experiment: &Experiment, outcome: &Outcome) -> Page {
    let page = Page {
        experiment: "stress".to_owned(),
        title: "Foreign keys and concurrent small inserts".to_owned(),
        question: "Do concurrent small inserts pay for foreign keys, too?".to_owned(),
        reported: vec![
            "Percona XtraDB Cluster 5.6.21 and 5.6.24 on a virtual machine with 8 cores (2015): 1 and 8 threads that insert up to 50 \
             rows a statement into the employees tables; the difference was \"minimal if any\", without a figure."
                .to_owned(),
        ],
        command: command(experiment),
        settings: deployment::settings(),
        contenders: experiment.deployments.iter().map(|deployment| deployment.note()).collect(),
        limits: limits(),
        ..Page::default()
    };
    let facts = Facts { measured: &outcome.measured, versions: &outcome.versions, left_out: &outcome.left_out };
    let mut page = rules::page(page, &facts);
    page.answers = verdict(experiment, &page).into_iter().collect();
    let answers = experiment
        .deployments
        .iter()
        .flat_map(|deployment| answers(experiment, &page, *deployment))
        .collect::<Vec<_>>();
    page.answers.extend(answers);
    page.sections = experiment.parents.iter().map(|parents| section(experiment, &page, *parents)).collect();
    page
}

fn command(experiment: &Experiment) -> String {
    let Experiment { deployments, threads, rows, parents, extent } = experiment;
    let (rounds, time) = (extent.rounds, extent.time);
    format!(
        "hortator bench stress --rounds {rounds} --seconds {} --threads {} --rows {} --parents {} --only {}",
        time.as_secs_f64(),
        listed(threads),
        listed(rows),
        listed(parents),
        listed(deployments)
    )
}

fn listed<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

fn limits() -> Vec<String> {
    vec![
        "All nodes, and the threads that insert, share this machine.".to_owned(),
        "The statements are ours: salaries and titles in turn, autocommit. The report does not tell its own.".to_owned(),
        "Each figure is of the measured time after a warm-up; a statement's time includes its repetitions after an error."
            .to_owned(),
    ]
}

/// Threads, and where they are.
fn shown(threads: Threads) -> String {
    let plural = if threads.count == 1 { "" } else { "s" };
    let nodes = if threads.nodes == 1 { String::new() } else { format!(" on {} nodes", threads.nodes) };
    format!("{} thread{plural}{nodes}", threads.count)
}

/// What foreign keys cost in a load.
type Factor = fn(&Page, Deployment, Load) -> Option<Spread>;

/// The time of a row with foreign keys divided by the time without.
fn factor(page: &Page, deployment: Deployment, load: Load) -> Option<Spread> {
    let name = deployment.to_string();
    page.ratio(RATE, (&load.cell(ForeignKeys::Without), &name), (&load.cell(ForeignKeys::With), &name))
}

/// The servers' CPU time of a row with foreign keys divided by that without.
fn cpu_factor(page: &Page, deployment: Deployment, load: Load) -> Option<Spread> {
    let name = deployment.to_string();
    page.ratio(ROW_CPU, (&load.cell(ForeignKeys::With), &name), (&load.cell(ForeignKeys::Without), &name))
}

/// The answer to the question, over all cells with several threads; over all, if there is one thread only.
fn verdict(experiment: &Experiment, page: &Page) -> Option<String> {
    let is_concurrent = experiment.threads.iter().any(|threads| *threads > 1);
    let loads: Vec<(Deployment, Load)> = experiment
        .deployments
        .iter()
        .flat_map(|deployment| experiment.loads(*deployment).into_iter().map(|load| (*deployment, load)))
        .filter(|(_, load)| load.threads.count > 1 || !is_concurrent)
        .collect();
    let of = |factor: Factor| {
        let factors = loads.iter().filter_map(|(deployment, load)| factor(page, *deployment, *load));
        Spread::of_numbers(factors.map(|factor| factor.median))
    };
    let (time, cpu) = (of(factor)?, of(cpu_factor)?);
    let pay = match time.median {
        factor if factor < HARDLY => "hardly pay",
        factor if factor < MUCH => "pay something",
        _ => "pay much",
    };
    let what = if is_concurrent { "Concurrent small inserts" } else { "Small inserts of one thread" };
    Some(format!(
        "{what} {pay} for foreign keys: with them a row takes {:.2} times as long, the median of {} pairs of runs ({:.2}–{:.2}), and \
         {:.2} times the server CPU ({:.2}–{:.2}).",
        time.median,
        loads.len(),
        time.least,
        time.most,
        cpu.median,
        cpu.least,
        cpu.most
    ))
}

/// A sentence for each kind of parents and number of threads.
fn answers(experiment: &Experiment, page: &Page, deployment: Deployment) -> Vec<String> {
    let mut answers = Vec::new();
    for parents in &experiment.parents {
        for threads in experiment.spreads(deployment) {
            let factors = experiment.rows.iter().filter_map(|rows| {
                let load = Load { threads, rows: *rows, parents: *parents };
                let (time, cpu) = (factor(page, deployment, load)?.median, cpu_factor(page, deployment, load)?.median);
                let plural = if *rows == 1 { "row" } else { "rows" };
                let at = format!("at {} {plural} a statement", thousands(*rows));
                Some(format!("{time:.2} times as long and {cpu:.2} times the server CPU {at}"))
            });
            let factors: Vec<String> = factors.collect();
            if !factors.is_empty() {
                let (threads, factors) = (shown(threads), factors.join(", "));
                answers.push(format!(
                    "{deployment}, {threads}, parents {parents}: with foreign keys a row takes {factors}."
                ));
            }
        }
    }
    answers
}

fn section(experiment: &Experiment, page: &Page, parents: Parents) -> Section {
    let mut rows = Vec::new();
    let mut plots = Vec::new();
    for deployment in &experiment.deployments {
        for load in experiment.loads(*deployment).into_iter().filter(|load| load.parents == parents) {
            rows.extend(ForeignKeys::ALL.map(|keys| row(page, *deployment, load, keys)));
        }
    }
    let mut spreads: Vec<Threads> = Vec::new();
    for threads in experiment.deployments.iter().flat_map(|deployment| experiment.spreads(*deployment)) {
        if !spreads.contains(&threads) {
            spreads.push(threads);
        }
    }
    for threads in spreads {
        let with =
            experiment.deployments.iter().filter(|deployment| experiment.spreads(**deployment).contains(&threads));
        let shown = shown(threads);
        for (title, factor) in [("Time", factor as Factor), ("Server CPU", cpu_factor)] {
            let lines = with.clone().map(|deployment| line(experiment, page, *deployment, threads, parents, factor));
            plots.push(Plot {
                title: format!("{title} of a row, with foreign keys ÷ without: {shown}"),
                x: "rows per statement".to_owned(),
                y: "FK ÷ no FK".to_owned(),
                form: PlotForm::Lines { is_log_x: true, lines: lines.collect() },
                marks: Vec::new(),
            });
        }
    }
    Section {
        title: format!("Parents {parents}"),
        text: vec![format!(
            "{}. \"FK ÷ no FK\" is the time of a row with foreign keys divided by the time without.",
            capitalized(parents.description())
        )],
        tables: vec![Table { headings: HEADINGS.map(str::to_owned).to_vec(), text_columns: 4, rows }],
        plots,
    }
}

fn line(
    experiment: &Experiment,
    page: &Page,
    deployment: Deployment,
    threads: Threads,
    parents: Parents,
    factor: Factor,
) -> Line {
    let point = |rows: &u64| {
        Some(Point { x: *rows as f64, y: factor(page, deployment, Load { threads, rows: *rows, parents })? })
    };
    Line { name: deployment.to_string(), points: experiment.rows.iter().filter_map(point).collect() }
}

fn row(page: &Page, deployment: Deployment, load: Load, keys: ForeignKeys) -> Vec<String> {
    let (cell, name) = (load.cell(keys), deployment.to_string());
    let spread = |figure: &str| page.spread(&cell, &name, figure);
    let has_keys = keys == ForeignKeys::With;
    let is_reported = has_keys && load.rows <= 50 && matches!(deployment, Deployment::Galera(_));
    let mut row = vec![
        name.clone(),
        shown(load.threads),
        thousands(load.rows),
        keys.to_string(),
        median_and_range(spread(RATE), 0),
        if has_keys { median(factor(page, deployment, load), 2) } else { median(None, 0) },
    ];
    row.push(median(spread(ROW_CPU), 1));
    row.push(if has_keys { median(cpu_factor(page, deployment, load), 2) } else { median(None, 0) });
    row.extend(LATENCIES.into_iter().chain([LONGEST]).map(|(figure, _)| median(spread(figure), 2)));
    row.push(expected_errors::column(page, &cell, &name));
    row.push(cores_used(spread(CORES)));
    row.push(if is_reported { "minimal if any" } else { "" }.to_owned());
    row
}
