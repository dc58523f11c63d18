//! The outcome as text: a table for a terminal, and a page of Markdown to keep.

use std::fmt::Write as _;
use std::time::Duration;

use super::{Outcome, Run, Way};
use crate::nodes::CLUSTER_SETTINGS;
use crate::report::{Spread, machine, markdown_table, plain_table, thousands, verdict_text};
use crate::server::SETTINGS;

const HEADINGS: [&str; 7] = [
    "way",
    "all nodes s, median (min–max)",
    "× client",
    "program's end s",
    "server CPU s",
    "× work of single servers",
    "flow control s",
];

/// The cells of one way.
fn cells(way: Way, outcome: &Outcome) -> Option<[String; 7]> {
    let runs = |way: Way| outcome.runs.iter().filter(move |run| run.way == way);
    let of = |way: Way, time: fn(&Run) -> Duration| Spread::of(runs(way).map(time));
    let Spread { median, least, most } = of(way, |run| run.all)?;
    let cpu = of(way, |run| run.server_cpu)?.median;
    let ratio = of(Way::Client, |run| run.all).filter(|_| way != Way::Single).map(|client| client.median / median);
    let least_work = of(Way::Single, |run| run.server_cpu).map(|single| single.median * outcome.nodes as f64);
    let work = least_work.filter(|_| way != Way::Single).map(|least| cpu / least);
    let known = |number: Option<f64>| number.map_or_else(|| "—".to_owned(), |number| format!("{number:.2}"));
    Some([
        way.title().to_owned(),
        format!("{median:.2} ({least:.2}–{most:.2})"),
        known(ratio),
        format!("{:.2}", of(way, |run| run.program)?.median),
        format!("{cpu:.1}"),
        known(work),
        format!("{:.2}", of(way, |run| run.paused)?.median),
    ])
}

fn lines(outcome: &Outcome) -> impl Iterator<Item = [String; 7]> {
    Way::ALL.into_iter().filter_map(|way| cells(way, outcome))
}

/// The table for a terminal, in plain characters.
#[must_use]
pub fn table(outcome: &Outcome) -> String {
    format!("{}\n{}", plain_table(&HEADINGS, 1, lines(outcome)), verdict(outcome))
}

fn verdict(outcome: &Outcome) -> String {
    format!("{} nodes, each after each way: {}", outcome.nodes, verdict_text(&outcome.verdict))
}

/// A page that says what was compared, on what, and how to do it again.
#[must_use]
pub fn markdown(outcome: &Outcome) -> String {
    let mut page = String::from("# Loading an employees-shaped dump into a Galera cluster\n\n");
    let dump = &outcome.dump;
    let settings: Vec<String> =
        SETTINGS.into_iter().chain(CLUSTER_SETTINGS).map(|(name, value)| format!("{name}={value}")).collect();
    for fact in [
        format!("{} rows, {} bytes, checksum {:032x}", thousands(dump.rows), thousands(dump.bytes), dump.checksum),
        format!(
            "{} nodes on one machine, so that each row is paid for {0} times; {}",
            outcome.nodes,
            settings.join(", ")
        ),
        machine(),
        outcome.versions.join("; "),
        "each run goes into an empty schema on warmed servers at rest; rounds interleave the ways".to_owned(),
    ] {
        let _ = writeln!(page, "- {fact}");
    }
    let _ = writeln!(page, "\n{}", markdown_table(&HEADINGS, 1, lines(outcome)));
    let _ = writeln!(page, "{}\n\n## The ways\n", verdict(outcome));
    for way in Way::ALL {
        let _ = writeln!(page, "- **{}**: {}", way.title(), way.rules());
    }
    page.push_str(
        "\n## Every run\n\n| way | all nodes s | program's end s | loader CPU s | server CPU s | other CPU s |\n",
    );
    page.push_str("|---|---:|---:|---:|---:|---:|\n");
    for Run { way, program, all, loader, server_cpu, other_cpu, .. } in &outcome.runs {
        let [all, program, loader, server, other] =
            [*all, *program, loader.cpu, *server_cpu, *other_cpu].map(|time| time.as_secs_f64());
        let _ =
            writeln!(page, "| {} | {all:.2} | {program:.2} | {loader:.2} | {server:.2} | {other:.2} |", way.title());
    }
    page
}
