//! The result as text: a table for a terminal, and a page of Markdown.

use std::fmt::Write as _;
use std::time::Duration;

use super::{Contender, Outcome, Run};
use crate::nodes::CLUSTER_SETTINGS;
use crate::report::{Spread, machine, markdown_table, plain_table, thousands, verdict_text};
use crate::server::SETTINGS;

const HEADINGS: [&str; 7] = [
    "contender",
    "all nodes s, median (min–max)",
    "× client",
    "program s",
    "server CPU s",
    "× work of single servers",
    "flow control s",
];

/// The cells of one contender.
fn cells(contender: Contender, outcome: &Outcome) -> Option<[String; 7]> {
    let runs = |contender: Contender| outcome.runs.iter().filter(move |run| run.contender == contender);
    let of = |contender: Contender, time: fn(&Run) -> Duration| Spread::of(runs(contender).map(time));
    let Spread { median, least, most } = of(contender, |run| run.all)?;
    let cpu = of(contender, |run| run.server_cpu)?.median;
    let ratio = of(Contender::Client, |run| run.all)
        .filter(|_| contender != Contender::Single)
        .map(|client| client.median / median);
    let least_work = of(Contender::Single, |run| run.server_cpu).map(|single| single.median * outcome.nodes as f64);
    let work = least_work.filter(|_| contender != Contender::Single).map(|least| cpu / least);
    let known = |number: Option<f64>| number.map_or_else(|| "—".to_owned(), |number| format!("{number:.2}"));
    Some([
        contender.title().to_owned(),
        format!("{median:.2} ({least:.2}–{most:.2})"),
        known(ratio),
        format!("{:.2}", of(contender, |run| run.program)?.median),
        format!("{cpu:.1}"),
        known(work),
        format!("{:.2}", of(contender, |run| run.paused)?.median),
    ])
}

fn lines(outcome: &Outcome) -> impl Iterator<Item = [String; 7]> {
    Contender::ALL.into_iter().filter_map(|contender| cells(contender, outcome))
}

/// The table for a terminal, in plain characters.
#[must_use]
pub fn table(outcome: &Outcome) -> String {
    format!("{}\n{}", plain_table(&HEADINGS, 1, lines(outcome)), verdict(outcome))
}

fn verdict(outcome: &Outcome) -> String {
    format!("{} nodes, each after each contender: {}", outcome.nodes, verdict_text(&outcome.verdict))
}

/// A page that describes the comparison, the machine, and how to repeat it.
#[must_use]
pub fn markdown(outcome: &Outcome) -> String {
    let mut page = String::from("# Loading an employees-shaped dump into a Galera cluster\n\n");
    let dump = &outcome.dump;
    let settings: Vec<String> =
        SETTINGS.into_iter().chain(CLUSTER_SETTINGS).map(|(name, value)| format!("{name}={value}")).collect();
    for fact in [
        format!("{} rows, {} bytes, checksum {:032x}", thousands(dump.rows), thousands(dump.bytes), dump.checksum),
        format!(
            "{} nodes on one machine, so that the same cores apply each row {0} times; {}",
            outcome.nodes,
            settings.join(", ")
        ),
        machine(),
        outcome.versions.join("; "),
        "each run goes into an empty schema on warmed-up idle servers; rounds interleave the contenders".to_owned(),
    ] {
        let _ = writeln!(page, "- {fact}");
    }
    let _ = writeln!(page, "\n{}", markdown_table(&HEADINGS, 1, lines(outcome)));
    let _ = writeln!(page, "{}\n\n## Contenders\n", verdict(outcome));
    for contender in Contender::ALL {
        let _ = writeln!(page, "- **{}**: {}", contender.title(), contender.rules());
    }
    page.push_str(
        "\n## Every run\n\n| contender | all nodes s | program s | loader CPU s | server CPU s | other CPU s |\n",
    );
    page.push_str("|---|---:|---:|---:|---:|---:|\n");
    for Run { contender, program, all, loader, server_cpu, other_cpu, .. } in &outcome.runs {
        let [all, program, loader, server, other] =
            [*all, *program, loader.cpu, *server_cpu, *other_cpu].map(|time| time.as_secs_f64());
        let _ = writeln!(
            page,
            "| {} | {all:.2} | {program:.2} | {loader:.2} | {server:.2} | {other:.2} |",
            contender.title()
        );
    }
    page
}
