//! The report on single nodes: a line for each durability, workload and server.

use std::fmt::Write as _;

use super::{all, cpu_text, listed, speed_text, spread};
use crate::provider::{Contender, Durability, Outcome, Run, Workload};
use crate::report::{Spread, markdown_table, plain_table};

pub(super) const TITLE: &str = "A single node with Hortator's provider, with Galera, and a server without a provider";

const HEADINGS: [&str; 7] = [
    "durability",
    "workload",
    "server",
    "rows/s, median (min–max)",
    "× Galera",
    "server CPU µs/row, median (min–max)",
    "× Galera's CPU",
];
/// The first columns, which are text.
const WORDS: usize = 3;

/// The cells of one workload on one server.
fn cells(durability: Durability, workload: Workload, contender: Contender, outcome: &Outcome) -> Option<[String; 7]> {
    let of = |contender, figure| spread(outcome, (durability, workload, contender), figure);
    let (speed, cpu) = (of(contender, Run::rows_per_s)?, of(contender, Run::cpu_us_per_row)?);
    let to_galera = |own: Spread, figure| {
        of(Contender::Galera, figure)
            .map_or_else(|| "—".to_owned(), |galera| format!("{:.2}", own.median / galera.median))
    };
    Some([
        durability.title().to_owned(),
        workload.title(),
        contender.title().to_owned(),
        speed_text(speed),
        to_galera(speed, Run::rows_per_s),
        cpu_text(cpu),
        to_galera(cpu, Run::cpu_us_per_row),
    ])
}

fn lines(outcome: &Outcome) -> impl Iterator<Item = [String; 7]> {
    all(outcome.suite).filter_map(|(durability, workload, contender)| cells(durability, workload, contender, outcome))
}

pub(super) fn table(outcome: &Outcome) -> String {
    plain_table(&HEADINGS, WORDS, lines(outcome))
}

pub(super) fn facts() -> Vec<String> {
    vec!["one server runs at a time".to_owned()]
}

/// The table, and the meaning of the durabilities.
pub(super) fn body(outcome: &Outcome) -> String {
    let mut text = format!("{}\n## Durability\n\n", markdown_table(&HEADINGS, WORDS, lines(outcome)));
    for durability in Durability::ALL {
        let settings = outcome.suite.contenders().iter().map(|contender| {
            let settings = listed(contender.settings(durability).iter());
            format!("{}: {settings}", contender.title())
        });
        let settings: Vec<String> = settings.collect();
        let _ = writeln!(text, "- **{}**: {}. {}", durability.title(), meaning(durability), settings.join("; "));
    }
    text
}

fn meaning(durability: Durability) -> &'static str {
    match durability {
        Durability::Synced => "a confirmed row survives a power failure",
        Durability::Unsynced => "a power failure may lose the most recent rows",
    }
}
