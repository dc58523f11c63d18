//! The report on single nodes: a line for each durability, workload and server.

use super::{all, cell, cpu_text, figure_of, plots, speed_text, table};
use crate::expected_errors;
use crate::figures::{CORES, LATENCIES, RATE, ROW_CPU};
use crate::page::{Page, Section};
use crate::provider::{Contender, Durability, Experiment, Outcome, Workload};
use crate::report::{Spread, median};
use crate::resource_usage::cores_used;

pub(super) const TITLE: &str = "A single node with Hortator's provider, with Galera, and a server without a provider";

const HEADINGS: [&str; 12] = [
    "durability",
    "workload",
    "server",
    "rows/s, median (min–max)",
    "× Galera",
    "server CPU µs/row, median (min–max)",
    "× Galera's CPU",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "cores",
    expected_errors::HEADING,
];
/// The first columns, which are text.
const WORDS: usize = 3;

/// The table, and a plot of each durability.
pub(super) fn sections(experiment: &Experiment, outcome: &Outcome, page: &Page) -> Vec<Section> {
    let rows =
        all(experiment, outcome).map(|(durability, workload, contender)| row(page, durability, workload, contender));
    let section = Section {
        title: "All figures".to_owned(),
        text: vec![
            "Synced: a confirmed row survives a power failure. Unsynced: a power failure may lose the most recent rows. One server \
             runs at a time; × Galera is the ratio of the medians; more rows/s and less CPU are better."
                .to_owned(),
        ],
        tables: vec![table(&HEADINGS, WORDS, rows.collect())],
        plots: Vec::new(),
    };
    vec![section, plots(experiment, outcome, page)]
}

fn row(page: &Page, durability: Durability, workload: Workload, contender: Contender) -> Vec<String> {
    let none = || median(None, 0);
    let of = |contender, figure| figure_of(page, durability, workload, contender, figure);
    let (speed, cpu) = (of(contender, RATE), of(contender, ROW_CPU));
    let to_galera = |own: Option<Spread>, figure| {
        let ratio = own.zip(of(Contender::Galera, figure)).map(|(own, galera)| own.median / galera.median);
        ratio.map_or_else(none, |ratio| format!("{ratio:.2}"))
    };
    let mut row = vec![
        durability.title().to_owned(),
        workload.title(),
        contender.title().to_owned(),
        speed.map_or_else(none, speed_text),
        to_galera(speed, RATE),
        cpu.map_or_else(none, cpu_text),
        to_galera(cpu, ROW_CPU),
    ];
    row.extend(LATENCIES.map(|(figure, _)| median(of(contender, figure), 2)));
    row.push(cores_used(of(contender, CORES)));
    row.push(expected_errors::column(page, &cell(durability, workload), contender.title()));
    row
}
