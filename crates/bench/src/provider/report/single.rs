//! What is said of single nodes: a line for each promise, workload and server.

use std::fmt::Write as _;

use super::{all, cpu_text, listed, speed_text, spread};
use crate::provider::{Contender, Outcome, Promise, Run, Workload};
use crate::report::{Spread, markdown_table, plain_table};

pub(super) const TITLE: &str = "A single node with Hortator's provider, with Galera's, and a server with none";

const HEADINGS: [&str; 7] = [
    "promise",
    "workload",
    "server",
    "rows/s, median (min–max)",
    "× Galera",
    "server CPU µs/row, median (min–max)",
    "× Galera's CPU",
];
/// The first columns, which are words.
const WORDS: usize = 3;

/// The cells of one workload on one server.
fn cells(promise: Promise, workload: Workload, contender: Contender, outcome: &Outcome) -> Option<[String; 7]> {
    let of = |contender, figure| spread(outcome, (promise, workload, contender), figure);
    let (speed, cpu) = (of(contender, Run::rows_per_s)?, of(contender, Run::cpu_us_per_row)?);
    let to_galera = |own: Spread, figure| {
        of(Contender::Galera, figure)
            .map_or_else(|| "—".to_owned(), |galera| format!("{:.2}", own.median / galera.median))
    };
    Some([
        promise.title().to_owned(),
        workload.title(),
        contender.title().to_owned(),
        speed_text(speed),
        to_galera(speed, Run::rows_per_s),
        cpu_text(cpu),
        to_galera(cpu, Run::cpu_us_per_row),
    ])
}

fn lines(outcome: &Outcome) -> impl Iterator<Item = [String; 7]> {
    all(outcome.lineup).filter_map(|(promise, workload, contender)| cells(promise, workload, contender, outcome))
}

pub(super) fn table(outcome: &Outcome) -> String {
    plain_table(&HEADINGS, WORDS, lines(outcome))
}

pub(super) fn facts() -> Vec<String> {
    vec!["one server runs at a time".to_owned()]
}

/// The table, and what the promises are.
pub(super) fn body(outcome: &Outcome) -> String {
    let mut text = format!("{}\n## The promises\n\n", markdown_table(&HEADINGS, WORDS, lines(outcome)));
    for promise in Promise::ALL {
        let settings = outcome.lineup.contenders().iter().map(|contender| {
            let settings = listed(contender.settings(promise).iter());
            format!("{}: {settings}", contender.title())
        });
        let settings: Vec<String> = settings.collect();
        let _ = writeln!(text, "- **{}**: {}. {}", promise.title(), meaning(promise), settings.join("; "));
    }
    text
}

fn meaning(promise: Promise) -> &'static str {
    match promise {
        Promise::Synced => "a confirmed row survives a power cut",
        Promise::Unsynced => "a power cut may take the last moments' rows",
    }
}
