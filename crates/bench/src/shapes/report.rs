//! The outcome as text: a table for a terminal, a page of Markdown, JSON with every run.

use std::fmt::Write as _;
use std::time::SystemTime;

use serde::Serialize;

use super::experiment::{Contender, Loads, Measured, Outcome, Run, Verdict};
pub(super) use crate::report::thousands;
use crate::report::{Spread, date, machine, markdown_table, plain_table, warnings_of};
use crate::server::SETTINGS;

const HEADINGS: [&str; 7] =
    ["shape", "client s, median (min–max)", "hortator s", "× client", "target", "server CPU s: client", "hortator"];
/// The same with a baseline.
const BASELINE_HEADINGS: [&str; 10] = [
    "shape",
    "client s, median (min–max)",
    "hortator s",
    "× client",
    "target",
    "baseline s",
    "baseline × client",
    "server CPU s: client",
    "hortator",
    "baseline",
];
/// Characters of a message or difference in the report.
const MESSAGE_LIMIT_CHARS: usize = 600;

/// A cell without a figure.
const NONE: &str = "—";

fn wall(loads: &Loads) -> Option<Spread> {
    Spread::of(loads.runs.iter().map(|run| run.loader.wall))
}

fn server_cpu(loads: &Loads) -> Option<Spread> {
    Spread::of(loads.runs.iter().map(|run| run.server_cpu))
}

impl Measured {
    /// The client's time divided by the contender's, by the medians; none without a figure of both.
    #[must_use]
    pub fn ratio(&self, contender: Contender) -> Option<f64> {
        let [client, own] = [self.of(Contender::Client), self.of(contender)].map(|loads| loads.and_then(wall));
        Some(client?.median / own?.median)
    }

    /// Whether `hortator load` reaches the target; none without a figure.
    #[must_use]
    pub fn meets_target(&self) -> Option<bool> {
        self.ratio(Contender::Hortator).map(|ratio| ratio >= self.shape.target)
    }

    fn wall_text(&self, contender: Contender) -> String {
        let Some(loads) = self.of(contender) else { return NONE.to_owned() };
        match (&loads.verdict, wall(loads)) {
            (Some(Verdict::Differs { .. }), _) => "other end state".to_owned(),
            (Some(Verdict::Failed { .. }), _) => "failed".to_owned(),
            (_, Some(Spread { median, least, most })) => format!("{median:.2} ({least:.2}–{most:.2})"),
            (_, None) => NONE.to_owned(),
        }
    }

    fn ratio_text(&self, contender: Contender) -> String {
        self.ratio(contender).map_or_else(|| NONE.to_owned(), |ratio| format!("{ratio:.2}"))
    }

    fn cpu_text(&self, contender: Contender) -> String {
        let spread = self.of(contender).and_then(server_cpu);
        spread.map_or_else(|| NONE.to_owned(), |spread| format!("{:.2}", spread.median))
    }

    fn target_text(&self) -> String {
        let missed = if self.meets_target() == Some(false) { " missed" } else { "" };
        format!("{:.2}{missed}", self.shape.target)
    }

    fn cells(&self) -> [String; 7] {
        let [client, hortator] = [Contender::Client, Contender::Hortator];
        [
            self.shape.name.to_owned(),
            self.wall_text(client),
            self.wall_text(hortator),
            self.ratio_text(hortator),
            self.target_text(),
            self.cpu_text(client),
            self.cpu_text(hortator),
        ]
    }

    fn baseline_cells(&self) -> [String; 10] {
        let [shape, client, hortator, ratio, target, client_cpu, hortator_cpu] = self.cells();
        let baseline = Contender::Baseline;
        let (wall, baseline_ratio) = (self.wall_text(baseline), self.ratio_text(baseline));
        let cpu = self.cpu_text(baseline);
        [shape, client, hortator, ratio, target, wall, baseline_ratio, client_cpu, hortator_cpu, cpu]
    }
}

/// One shape, while the experiment runs.
pub(super) fn line(measured: &Measured) -> String {
    let walls = measured
        .loads
        .iter()
        .map(|loads| format!("{} {}", loads.contender.name(), measured.wall_text(loads.contender)));
    let walls: Vec<String> = walls.collect();
    let (ratio, target) = (measured.ratio_text(Contender::Hortator), measured.target_text());
    format!("{}: {}; × client: {ratio}, target {target}", measured.shape.name, walls.join(", "))
}

/// The table for a terminal, and what a reader must know before believing it.
#[must_use]
pub fn table(outcome: &Outcome) -> String {
    let mut text = if has_baseline(outcome) {
        plain_table(&BASELINE_HEADINGS, 1, outcome.shapes.iter().map(Measured::baseline_cells))
    } else {
        plain_table(&HEADINGS, 1, outcome.shapes.iter().map(Measured::cells))
    };
    for line in faults(outcome).into_iter().chain(warnings(outcome)) {
        let _ = write!(text, "\n{line}");
    }
    text
}

/// A page that says what was compared, on what, and how to do it again.
#[must_use]
pub fn markdown(outcome: &Outcome) -> String {
    let mut page = format!(
        "# Dumps of many shapes, with the client and with `hortator load`\n\n{}. Again with:\n\n    \
         cargo build --release -p hortator\n    \
         target/release/hortator bench shapes --rounds {} --scale {} --report FILE\n\n",
        date(SystemTime::now()),
        outcome.rounds,
        outcome.scale
    );
    let settings = SETTINGS.map(|(name, value)| format!("{name}={value}")).join(", ");
    let facts = [
        machine(),
        outcome.versions.join("; "),
        format!("one server, {settings}; the same for all"),
        "each run begins on a server at rest with one empty schema; rounds interleave the contenders".to_owned(),
        "× client: the client's wall time divided by Hortator's, by the medians; above 1, Hortator is faster"
            .to_owned(),
        "after the first round of each shape, definitions and rows of both loads are compared; a load that leaves \
         another end state than the client's has no figure"
            .to_owned(),
    ];
    for fact in facts.into_iter().chain(warnings(outcome)) {
        let _ = writeln!(page, "- {fact}");
    }
    let table = if has_baseline(outcome) {
        markdown_table(&BASELINE_HEADINGS, 1, outcome.shapes.iter().map(Measured::baseline_cells))
    } else {
        markdown_table(&HEADINGS, 1, outcome.shapes.iter().map(Measured::cells))
    };
    let _ = writeln!(page, "\n{table}\n{}\n", verdict(outcome));
    for fault in faults(outcome) {
        let _ = writeln!(page, "- {}", fault.replace('\n', " "));
    }
    page.push_str("\n## The shapes\n\n");
    for Measured { shape, dump, .. } in &outcome.shapes {
        let (megabytes, statements) = (dump.bytes as f64 / 1e6, thousands(dump.statements));
        let _ = writeln!(page, "- **{}**: {}. {megabytes:.1} MB, {statements} statements", shape.name, shape.content);
    }
    let _ = write!(page, "\n## Every run\n\n{}", every_run(outcome));
    page.replace("\n\n\n", "\n\n")
}

fn every_run(outcome: &Outcome) -> String {
    let headings = ["shape", "contender", "wall s", "loader CPU s", "server CPU s", "other CPU s", "loader peak MiB"];
    let loads = outcome.shapes.iter().flat_map(|shape| shape.loads.iter().map(move |loads| (shape, loads)));
    let runs = loads.flat_map(|(shape, loads)| loads.runs.iter().map(move |run| (shape, loads.contender, run)));
    let cells = runs.map(|(measured, contender, Run { loader, server_cpu, other_cpu })| {
        [
            measured.shape.name.to_owned(),
            contender.name().to_owned(),
            format!("{:.2}", loader.wall.as_secs_f64()),
            format!("{:.2}", loader.cpu.as_secs_f64()),
            format!("{:.2}", server_cpu.as_secs_f64()),
            format!("{:.2}", other_cpu.as_secs_f64()),
            (loader.peak_bytes >> 20).to_string(),
        ]
    });
    markdown_table(&headings, 2, cells)
}

/// One sentence on targets and end states.
#[must_use]
pub fn verdict(outcome: &Outcome) -> String {
    let count = |wanted: Option<bool>| outcome.shapes.iter().filter(|shape| shape.meets_target() == wanted).count();
    format!(
        "{} of {} shapes meet their target; {} miss it; {} have no figure",
        count(Some(true)),
        outcome.shapes.len(),
        count(Some(false)),
        count(None)
    )
}

/// Why contenders have no figure.
fn faults(outcome: &Outcome) -> Vec<String> {
    let loads = outcome.shapes.iter().flat_map(|shape| shape.loads.iter().map(move |loads| (shape, loads)));
    let fault = |(measured, loads): (&Measured, &Loads)| {
        let what = match &loads.verdict {
            Some(Verdict::Same { .. }) => return None,
            Some(Verdict::Differs { differences }) => {
                format!(
                    "end state differs (first: client, second: {}): {}",
                    loads.contender.name(),
                    differences.join("; ")
                )
            }
            Some(Verdict::Failed { message }) => format!("failed: {message}"),
            None => "not run".to_owned(),
        };
        let what: String = what.chars().take(MESSAGE_LIMIT_CHARS).collect();
        Some(format!("{}, {}: {what}", measured.shape.name, loads.contender.name()))
    };
    loads.filter_map(fault).collect()
}

fn warnings(outcome: &Outcome) -> Vec<String> {
    let runs = outcome.shapes.iter().flat_map(|shape| &shape.loads).flat_map(|loads| &loads.runs);
    warnings_of(runs.map(|run| (run.loader.wall, run.other_cpu)))
}

fn has_baseline(outcome: &Outcome) -> bool {
    outcome.contenders.contains(&Contender::Baseline)
}

#[derive(Serialize)]
struct JsonOutcome<'a> {
    date: String,
    rounds: usize,
    scale: f64,
    machine: String,
    versions: &'a [String],
    settings: Vec<String>,
    warnings: Vec<String>,
    shapes: Vec<JsonShape<'a>>,
}

#[derive(Serialize)]
struct JsonShape<'a> {
    name: &'a str,
    bytes: u64,
    statements: u64,
    checksum: String,
    target: f64,
    ratio: Option<f64>,
    baseline_ratio: Option<f64>,
    meets_target: Option<bool>,
    loads: Vec<JsonLoads<'a>>,
}

#[derive(Serialize)]
struct JsonLoads<'a> {
    contender: Contender,
    end_state: Option<&'a Verdict>,
    runs: Vec<JsonRun>,
}

#[derive(Serialize)]
struct JsonRun {
    wall_s: f64,
    loader_cpu_s: f64,
    loader_peak_bytes: u64,
    server_cpu_s: f64,
    other_cpu_s: f64,
}

/// Every run and every verdict, as JSON.
#[must_use]
pub fn json(outcome: &Outcome) -> String {
    let run = |run: &Run| JsonRun {
        wall_s: run.loader.wall.as_secs_f64(),
        loader_cpu_s: run.loader.cpu.as_secs_f64(),
        loader_peak_bytes: run.loader.peak_bytes,
        server_cpu_s: run.server_cpu.as_secs_f64(),
        other_cpu_s: run.other_cpu.as_secs_f64(),
    };
    let shapes = outcome.shapes.iter().map(|measured| JsonShape {
        name: measured.shape.name,
        bytes: measured.dump.bytes,
        statements: measured.dump.statements,
        checksum: format!("{:032x}", measured.dump.checksum),
        target: measured.shape.target,
        ratio: measured.ratio(Contender::Hortator),
        baseline_ratio: measured.ratio(Contender::Baseline),
        meets_target: measured.meets_target(),
        loads: measured
            .loads
            .iter()
            .map(|loads| JsonLoads {
                contender: loads.contender,
                end_state: loads.verdict.as_ref(),
                runs: loads.runs.iter().map(run).collect(),
            })
            .collect(),
    });
    let outcome = JsonOutcome {
        date: date(SystemTime::now()),
        rounds: outcome.rounds,
        scale: outcome.scale,
        machine: machine(),
        versions: &outcome.versions,
        settings: SETTINGS.iter().map(|(name, value)| format!("{name}={value}")).collect(),
        warnings: warnings(outcome),
        shapes: shapes.collect(),
    };
    let mut text = serde_json::to_string_pretty(&outcome).expect("an outcome is numbers and text only");
    text.push('\n');
    text
}
