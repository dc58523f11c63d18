//! The result as text: a table for a terminal, and a page of Markdown.

mod cluster;
mod single;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::time::SystemTime;

use super::contender::COMMON_SETTINGS;
use super::{Contender, Durability, Outcome, Run, Suite, Workload};
use crate::report::{Spread, date, machine, markdown_table, thousands, warnings_of};
use crate::server::SETTINGS;

/// One run, as a progress line.
pub(super) fn line(run: &Run) -> String {
    let (title, rows) = (run.workload.title(), thousands(run.rows_per_s() as u64));
    format!("{title}: {rows} rows/s, {:.1} µs of server CPU per row", run.cpu_us_per_row())
}

/// The table for a terminal, in plain characters, with the warnings that a reader must know.
#[must_use]
pub fn table(outcome: &Outcome) -> String {
    let mut text = match outcome.suite {
        Suite::Single => single::table(outcome),
        Suite::Cluster => cluster::table(outcome),
    };
    for warning in warnings(outcome) {
        let _ = write!(text, "\n{warning}");
    }
    text
}

/// A page that describes the comparison, the machine, and how to repeat it.
#[must_use]
pub fn markdown(outcome: &Outcome) -> String {
    let (title, facts, body) = match outcome.suite {
        Suite::Single => (single::TITLE, single::facts(), single::body(outcome)),
        Suite::Cluster => (cluster::TITLE, cluster::facts(), cluster::body(outcome)),
    };
    let mut page = format!(
        "# {title}\n\n{}. Repeat with:\n\n    \
         cargo build --release -p hortator -p hortator-provider\n    \
         target/release/hortator bench {} --rounds {} --seconds {} --report FILE\n\n",
        date(SystemTime::now()),
        outcome.suite.command(),
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
    let common = SETTINGS.iter().filter(|(name, _)| !is_durability_setting(name)).chain(&COMMON_SETTINGS);
    let common = common.chain(outcome.suite.settings());
    vec![
        machine(),
        outcome.versions.join("; "),
        format!("every server: {}, no binary log; started on empty data", listed(common)),
        format!(
            "inserts: {} s each after a warm-up, one table, autocommit, 100 bytes and a number per row",
            outcome.time.as_secs_f64()
        ),
        "× Galera: ratio of the medians; more rows/s and less CPU are better".to_owned(),
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
    warnings_of(outcome.runs.iter().map(|run| (run.done.usage.wall, run.done.usage.other_cpu)))
}

fn every_run(outcome: &Outcome) -> String {
    let headings = [
        "durability",
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
            run.durability.title().to_owned(),
            run.workload.title(),
            run.contender.title().to_owned(),
            thousands(run.rows_per_s() as u64),
            format!("{:.1}", run.cpu_us_per_row()),
            format!("{:.2}", run.done.usage.wall.as_secs_f64()),
            format!("{:.2}", run.done.usage.other_cpu.as_secs_f64()),
            thousands(run.done.conflicts),
            format!("{:.2}", run.done.apply_lag.as_secs_f64()),
        ]
    });
    markdown_table(&headings, 3, runs)
}

/// All combinations, in the report's order.
fn all(suite: Suite) -> impl Iterator<Item = (Durability, Workload, Contender)> {
    let with_workloads = move |durability| suite.workloads().iter().map(move |workload| (durability, *workload));
    let with_contenders = move |(durability, workload)| {
        suite.contenders().iter().map(move |contender| (durability, workload, *contender))
    };
    Durability::ALL.into_iter().flat_map(with_workloads).flat_map(with_contenders)
}

/// A figure over all runs of a workload.
fn spread(
    outcome: &Outcome,
    (durability, workload, contender): (Durability, Workload, Contender),
    figure: fn(&Run) -> f64,
) -> Option<Spread> {
    let of_this = (durability, workload, contender);
    let runs = outcome.runs.iter().filter(|run| (run.durability, run.workload, run.contender) == of_this);
    Spread::of_numbers(runs.map(figure))
}

/// Rows per second.
fn speed_text(Spread { median, least, most }: Spread) -> String {
    let [median, least, most] = [median, least, most].map(|number| thousands(number as u64));
    format!("{median} ({least}–{most})")
}

/// Microseconds per row.
fn cpu_text(Spread { median, least, most }: Spread) -> String {
    format!("{median:.1} ({least:.1}–{most:.1})")
}

fn is_durability_setting(name: &str) -> bool {
    Contender::Galera.settings(Durability::Synced).iter().any(|(own, _)| *own == name)
}

fn listed<'a>(settings: impl Iterator<Item = &'a (&'a str, &'a str)>) -> String {
    let each: Vec<String> = settings.map(|(name, value)| format!("{name}={value}")).collect();
    each.join(", ")
}
