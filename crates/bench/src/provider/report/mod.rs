//! The outcome as text: a table for a terminal, and a page of Markdown to keep.

mod cluster;
mod single;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::time::SystemTime;

use super::contender::COMMON_SETTINGS;
use super::{Contender, Lineup, Outcome, Promise, Run, Workload};
use crate::report::{Spread, date, machine, markdown_table, thousands, warnings_of};
use crate::server::SETTINGS;

/// One run, while the experiment goes on.
pub(super) fn line(run: &Run) -> String {
    let (title, rows) = (run.workload.title(), thousands(run.rows_per_s() as u64));
    format!("{title}: {rows} rows/s, {:.1} µs of the servers' CPU each", run.cpu_us_per_row())
}

/// The table for a terminal, in plain characters, with what a reader must know before believing it.
#[must_use]
pub fn table(outcome: &Outcome) -> String {
    let mut text = match outcome.lineup {
        Lineup::Single => single::table(outcome),
        Lineup::Cluster => cluster::table(outcome),
    };
    for warning in warnings(outcome) {
        let _ = write!(text, "\n{warning}");
    }
    text
}

/// A page that says what was compared, on what, and how to do it again.
#[must_use]
pub fn markdown(outcome: &Outcome) -> String {
    let (title, facts, body) = match outcome.lineup {
        Lineup::Single => (single::TITLE, single::facts(), single::body(outcome)),
        Lineup::Cluster => (cluster::TITLE, cluster::facts(), cluster::body(outcome)),
    };
    let mut page = format!(
        "# {title}\n\n{}. Again with:\n\n    \
         cargo build --release -p hortator -p hortator-provider\n    \
         target/release/hortator bench {} --rounds {} --seconds {} --report FILE\n\n",
        date(SystemTime::now()),
        outcome.lineup.command(),
        outcome.rounds,
        outcome.time.as_secs_f64()
    );
    for fact in common_facts(outcome).into_iter().chain(facts).chain(load_fact(outcome)).chain(warnings(outcome)) {
        let _ = writeln!(page, "- {fact}");
    }
    let _ = write!(page, "\n{body}\n## Every run\n\n{}", every_run(outcome));
    page
}

fn common_facts(outcome: &Outcome) -> Vec<String> {
    let common = SETTINGS.iter().filter(|(name, _)| !is_of_promise(name)).chain(&COMMON_SETTINGS);
    let common = common.chain(outcome.lineup.settings());
    vec![
        machine(),
        outcome.versions.join("; "),
        format!("every server: {}, no binary log; started on empty data", listed(common)),
        format!(
            "inserts: {} s each after a warm-up, a table of their own, autocommit, 100 bytes and a number a row",
            outcome.time.as_secs_f64()
        ),
        "× Galera: by the medians; more rows/s is better, less CPU is".to_owned(),
    ]
}

fn load_fact(outcome: &Outcome) -> Option<String> {
    let dump = outcome.dump.as_ref()?;
    Some(format!(
        "load: {} rows, {} bytes, checksum {:032x}, by `mariadb < employees.sql`, foreign key and unique checks on",
        thousands(dump.rows),
        thousands(dump.bytes),
        dump.checksum
    ))
}

fn warnings(outcome: &Outcome) -> Vec<String> {
    warnings_of(outcome.runs.iter().map(|run| (run.done.spent.wall, run.done.spent.other_cpu)))
}

fn every_run(outcome: &Outcome) -> String {
    let headings = [
        "promise",
        "workload",
        "server",
        "rows/s",
        "server CPU µs/row",
        "wall s",
        "other CPU s",
        "1213",
        "all nodes after s",
    ];
    let runs = outcome.runs.iter().map(|run| {
        [
            run.promise.title().to_owned(),
            run.workload.title(),
            run.contender.title().to_owned(),
            thousands(run.rows_per_s() as u64),
            format!("{:.1}", run.cpu_us_per_row()),
            format!("{:.2}", run.done.spent.wall.as_secs_f64()),
            format!("{:.2}", run.done.spent.other_cpu.as_secs_f64()),
            thousands(run.done.refused),
            format!("{:.2}", run.done.behind.as_secs_f64()),
        ]
    });
    markdown_table(&headings, 3, runs)
}

/// Everything that was to be done, in the report's order.
fn all(lineup: Lineup) -> impl Iterator<Item = (Promise, Workload, Contender)> {
    let with_workloads = move |promise| lineup.workloads().iter().map(move |workload| (promise, *workload));
    let with_contenders =
        move |(promise, workload)| lineup.contenders().iter().map(move |contender| (promise, workload, *contender));
    Promise::ALL.into_iter().flat_map(with_workloads).flat_map(with_contenders)
}

/// A figure over all runs of a workload.
fn spread(
    outcome: &Outcome,
    (promise, workload, contender): (Promise, Workload, Contender),
    figure: fn(&Run) -> f64,
) -> Option<Spread> {
    let of_this = (promise, workload, contender);
    let runs = outcome.runs.iter().filter(|run| (run.promise, run.workload, run.contender) == of_this);
    Spread::of_numbers(runs.map(figure))
}

/// Rows by the second.
fn speed_text(Spread { median, least, most }: Spread) -> String {
    let [median, least, most] = [median, least, most].map(|number| thousands(number as u64));
    format!("{median} ({least}–{most})")
}

/// Microseconds for a row.
fn cpu_text(Spread { median, least, most }: Spread) -> String {
    format!("{median:.1} ({least:.1}–{most:.1})")
}

fn is_of_promise(name: &str) -> bool {
    Contender::Galera.settings(Promise::Synced).iter().any(|(own, _)| *own == name)
}

fn listed<'a>(settings: impl Iterator<Item = &'a (&'a str, &'a str)>) -> String {
    let each: Vec<String> = settings.map(|(name, value)| format!("{name}={value}")).collect();
    each.join(", ")
}
