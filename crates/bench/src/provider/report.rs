//! The outcome as text: a table for a terminal, and a page of Markdown to keep.

use std::fmt::Write as _;
use std::time::SystemTime;

use super::contender::COMMON_SETTINGS;
use super::{Contender, Outcome, Promise, Run, Workload};
use crate::report::{Spread, date, machine, markdown_table, plain_table, thousands, warnings_of};
use crate::server::SETTINGS;

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

/// One run, while the experiment goes on.
pub(super) fn line(run: &Run) -> String {
    let (title, rows) = (run.workload.title(), thousands(run.rows_per_s() as u64));
    format!("{title}: {rows} rows/s, {:.1} µs of the server's CPU each", run.cpu_us_per_row())
}

/// The cells of one workload on one server.
fn cells(promise: Promise, workload: Workload, contender: Contender, runs: &[Run]) -> Option<[String; 7]> {
    let of = |contender: Contender, figure: fn(&Run) -> f64| {
        let runs =
            runs.iter().filter(|run| (run.promise, run.workload, run.contender) == (promise, workload, contender));
        Spread::of_numbers(runs.map(figure))
    };
    let (speed, cpu) = (of(contender, Run::rows_per_s)?, of(contender, Run::cpu_us_per_row)?);
    let to_galera = |own: Spread, figure: fn(&Run) -> f64| {
        of(Contender::Galera, figure)
            .map_or_else(|| "—".to_owned(), |galera| format!("{:.2}", own.median / galera.median))
    };
    let [median, least, most] = [speed.median, speed.least, speed.most].map(|number| thousands(number as u64));
    Some([
        promise.title().to_owned(),
        workload.title(),
        contender.title().to_owned(),
        format!("{median} ({least}–{most})"),
        to_galera(speed, Run::rows_per_s),
        format!("{:.1} ({:.1}–{:.1})", cpu.median, cpu.least, cpu.most),
        to_galera(cpu, Run::cpu_us_per_row),
    ])
}

fn lines(outcome: &Outcome) -> impl Iterator<Item = [String; 7]> {
    let of = |promise| Workload::ALL.into_iter().map(move |workload| (promise, workload));
    let of_all = Promise::ALL.into_iter().flat_map(of);
    let of_all = of_all.flat_map(|(promise, workload)| Contender::ALL.map(|contender| (promise, workload, contender)));
    of_all.filter_map(|(promise, workload, contender)| cells(promise, workload, contender, &outcome.runs))
}

/// The table for a terminal, in plain characters, with what a reader must know before believing it.
#[must_use]
pub fn table(outcome: &Outcome) -> String {
    let mut text = plain_table(&HEADINGS, WORDS, lines(outcome));
    for warning in warnings(outcome) {
        let _ = write!(text, "\n{warning}");
    }
    text
}

fn warnings(outcome: &Outcome) -> Vec<String> {
    warnings_of(outcome.runs.iter().map(|run| (run.spent.wall, run.spent.other_cpu)))
}

/// A page that says what was compared, on what, and how to do it again.
#[must_use]
pub fn markdown(outcome: &Outcome) -> String {
    let (seconds, rounds) = (outcome.time.as_secs_f64(), outcome.rounds);
    let mut page = format!(
        "# A single node with Hortator's provider, with Galera's, and a server with none\n\n{}. Again with:\n\n    \
         cargo build --release -p hortator -p hortator-provider\n    \
         target/release/hortator bench provider --rounds {rounds} --seconds {seconds} --report FILE\n\n",
        date(SystemTime::now())
    );
    let common = SETTINGS.iter().filter(|(name, _)| !is_of_promise(name)).chain(&COMMON_SETTINGS);
    let mut facts = vec![
        machine(),
        outcome.versions.join("; "),
        format!("every server: {}, no binary log; one runs at a time, on empty data", listed(common)),
        format!(
            "inserts: {seconds} s each after a warm-up, a table of their own, autocommit, 100 bytes and a number a row"
        ),
        "× Galera: by the medians; more rows/s is better, less CPU is".to_owned(),
    ];
    if let Some(dump) = &outcome.dump {
        facts.push(format!(
            "load: {} rows, {} bytes, checksum {:032x}, by `mariadb < employees.sql`, foreign key and unique checks on",
            thousands(dump.rows),
            thousands(dump.bytes),
            dump.checksum
        ));
    }
    for fact in facts.iter().chain(&warnings(outcome)) {
        let _ = writeln!(page, "- {fact}");
    }
    let _ = writeln!(page, "\n{}\n## The promises\n", markdown_table(&HEADINGS, WORDS, lines(outcome)));
    for promise in Promise::ALL {
        let settings = Contender::ALL
            .map(|contender| format!("{}: {}", contender.title(), listed(contender.settings(promise).iter())));
        let _ = writeln!(page, "- **{}**: {}. {}", promise.title(), promise.meaning(), settings.join("; "));
    }
    let runs = outcome.runs.iter().map(|run| {
        [
            run.promise.title().to_owned(),
            run.workload.title(),
            run.contender.title().to_owned(),
            thousands(run.rows_per_s() as u64),
            format!("{:.1}", run.cpu_us_per_row()),
            format!("{:.2}", run.spent.wall.as_secs_f64()),
            format!("{:.2}", run.spent.other_cpu.as_secs_f64()),
        ]
    });
    let headings = ["promise", "workload", "server", "rows/s", "server CPU µs/row", "wall s", "other CPU s"];
    let _ = write!(page, "\n## Every run\n\n{}", markdown_table(&headings, WORDS, runs));
    page
}

fn is_of_promise(name: &str) -> bool {
    Contender::ALL.iter().flat_map(|contender| contender.settings(Promise::Synced)).any(|(own, _)| *own == name)
}

fn listed<'a>(settings: impl Iterator<Item = &'a (&'a str, &'a str)>) -> String {
    let each: Vec<String> = settings.map(|(name, value)| format!("{name}={value}")).collect();
    each.join(", ")
}
