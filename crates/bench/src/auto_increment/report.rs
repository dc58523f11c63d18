//! The outcome as a page.

use std::time::SystemTime;

use super::experiment::{ATTRIBUTES, CORES, LOADER_CPU, OTHER_CPU, RATE, WALL, cell};
use super::{Contender, Experiment, LockMode, Outcome};
use crate::page::{ContenderNote, JSON_VERSION, Line, Mark, Page, Plot, PlotForm, Point, Section, Table};
use crate::report::{Spread, capitalized, date, machine, thousands, warnings_of_cpu};
use crate::server::SETTINGS;

const SURVIVES: &str = "a crash of the server and a power cut: innodb_flush_log_at_trx_commit=1, no binary log";
const HEADINGS: [&str; 8] = [
    "lock mode",
    "AUTO_INCREMENT",
    "contender",
    "wall s, median (min–max)",
    "rows/s",
    "× client",
    "server cores",
    "loader CPU s",
];
/// Reported rows per second: client, paramy with the attribute, and without.
const REPORTED: [(&str, f64); 3] = [("client, 5.0:", 7_200.0), ("paramy, 5.0:", 8_700.0), ("without, 5.0:", 21_500.0)];

/// A family of contenders that differ in their connections.
struct Family {
    name: &'static str,
    has: fn(Contender) -> bool,
}

const FAMILIES: [Family; 2] = [
    Family { name: "hortator load", has: |contender| matches!(contender, Contender::Load(_)) },
    Family { name: "statements as written", has: |contender| matches!(contender, Contender::Statements(_)) },
];

/// The page of an experiment.
#[must_use]
pub fn page(experiment: &Experiment, outcome: &Outcome) -> Page {
    let mut page = Page {
        version: JSON_VERSION,
        experiment: "auto-increment".to_owned(),
        title: "Parallel inserts and the AUTO-INC lock".to_owned(),
        question: "How fast does a dump load when its statements go over several connections, and does the lock of \
                   AUTO_INCREMENT columns stop it?"
            .to_owned(),
        reported: vec![
            "MySQL 5.0, 13 million rows, hardware not told: client 7,200 rows/s with 1.0 cores busy; the same statements over \
             several connections (paramy) 8,700 rows/s with 1.3 cores; without AUTO_INCREMENT 21,500 rows/s with 3.2 cores."
                .to_owned(),
        ],
        command: command(experiment),
        date: date(SystemTime::now()),
        machine: machine(),
        versions: vec![outcome.version.clone()],
        settings: SETTINGS.iter().map(|(name, value)| format!("{name}={value}")).collect(),
        contenders: experiment.contenders.iter().map(|contender| note(*contender)).collect(),
        limits: limits(),
        runs: outcome.measured.runs.clone(),
        ..Page::default()
    };
    if let Some((data, index)) = outcome.row_bytes {
        page.settings.push(format!(
            "{} rows of about {data} bytes of data and {index} bytes of secondary indexes (reported table: 123 and 131)",
            thousands(experiment.rows)
        ));
    }
    page.warnings = outcome.measured.unfinished.iter().cloned().collect();
    page.warnings.push("clusters are not measured yet: Galera and Hortator's provider need lock mode 2".to_owned());
    page.warnings
        .extend(warnings_of_cpu(page.runs.iter().filter_map(|run| run.figure(WALL).zip(run.figure(OTHER_CPU)))));
    page.answers = answers(experiment, &page);
    page.sections = sections(experiment, &page);
    page
}

fn command(experiment: &Experiment) -> String {
    let connections: Vec<String> =
        loads(experiment).iter().map(|contender| contender.connections().to_string()).collect();
    let modes: Vec<String> = experiment.modes.iter().map(LockMode::to_string).collect();
    format!(
        "hortator bench auto-increment --rows {} --rounds {} --connections {} --only {}",
        experiment.rows,
        experiment.rounds,
        connections.join(","),
        modes.join(",")
    )
}

fn loads(experiment: &Experiment) -> Vec<Contender> {
    experiment.contenders.iter().copied().filter(|contender| matches!(contender, Contender::Load(_))).collect()
}

fn limits() -> Vec<String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut limits = vec![
        "The loader runs on the same machine as the server and uses a part of its cores.".to_owned(),
        "The table is ours: the schema of the report and the rows of its statements are not known.".to_owned(),
    ];
    if cores < 4 {
        limits.push(format!("{cores} cores cannot show the 3.2 busy cores of the report."));
    }
    limits
}

fn note(contender: Contender) -> ContenderNote {
    ContenderNote {
        name: contender.to_string(),
        description: contender.description().to_owned(),
        survives: SURVIVES.to_owned(),
    }
}

fn connections(contender: Contender) -> String {
    match contender.connections() {
        1 => "1 connection".to_owned(),
        connections => format!("{connections} connections"),
    }
}

/// The most rows per second of these contenders.
fn fastest(
    experiment: &Experiment,
    page: &Page,
    mode: LockMode,
    attribute: bool,
    family: &Family,
) -> Option<(Contender, f64)> {
    let of_family = experiment.contenders.iter().copied().filter(|contender| (family.has)(*contender));
    let rates = of_family.filter_map(|contender| {
        Some((contender, page.spread(&cell(mode, attribute), &contender.to_string(), RATE)?.median))
    });
    rates.max_by(|(_, one), (_, other)| one.total_cmp(other))
}

fn answers(experiment: &Experiment, page: &Page) -> Vec<String> {
    let mut answers = Vec::new();
    for mode in &experiment.modes {
        for family in &FAMILIES {
            let rate = |attribute| fastest(experiment, page, *mode, attribute, family);
            let client = page.spread(&cell(*mode, true), &Contender::Client.to_string(), RATE);
            let (Some((best, with)), Some((_, without)), Some(client)) = (rate(true), rate(false), client) else {
                continue;
            };
            answers.push(format!(
                "Lock mode {mode}: the best of {}, {}, is {:.2} times as fast as the client; without AUTO_INCREMENT, {} is {:.2} times as \
                 fast as with it.",
                family.name,
                connections(best),
                with / client.median,
                family.name,
                without / with
            ));
        }
    }
    answers
}

fn sections(experiment: &Experiment, page: &Page) -> Vec<Section> {
    let mut rows = Vec::new();
    for mode in &experiment.modes {
        for attribute in ATTRIBUTES {
            rows.extend(experiment.contenders.iter().map(|contender| row(page, *mode, attribute, *contender)));
        }
    }
    let table = Table { headings: HEADINGS.map(str::to_owned).to_vec(), text_columns: 3, rows };
    let text = "Mode 0 locks the table until the end of each INSERT into an AUTO_INCREMENT column, mode 1 only if the \
                number of rows is not known beforehand, mode 2 never.";
    let mut sections = vec![Section {
        title: "All figures".to_owned(),
        text: vec![text.to_owned()],
        tables: vec![table],
        plots: vec![],
    }];
    for family in &FAMILIES {
        let plot = |figure, y: &str, marks: &[(&str, f64)]| Plot {
            title: format!("{y} by connections: {}", family.name),
            x: "connections".to_owned(),
            y: y.to_owned(),
            form: PlotForm::Lines { is_log_x: true, lines: lines(experiment, page, family, figure) },
            marks: marks.iter().map(|(label, value)| Mark { label: (*label).to_owned(), value: *value }).collect(),
        };
        sections.push(Section {
            title: format!("{} over several connections", capitalized(family.name)),
            plots: vec![plot(RATE, "rows/s", &REPORTED), plot(CORES, "busy server cores", &[])],
            ..Section::default()
        });
    }
    sections
}

fn row(page: &Page, mode: LockMode, attribute: bool, contender: Contender) -> Vec<String> {
    let cell = cell(mode, attribute);
    let spread = |figure| page.spread(&cell, &contender.to_string(), figure);
    let none = || "—".to_owned();
    let wall = spread(WALL);
    let client = page.spread(&cell, &Contender::Client.to_string(), WALL);
    vec![
        mode.to_string(),
        if attribute { "yes" } else { "no" }.to_owned(),
        contender.to_string(),
        wall.map_or_else(none, |Spread { median, least, most }| format!("{median:.2} ({least:.2}–{most:.2})")),
        spread(RATE).map_or_else(none, |rate| thousands(rate.median as u64)),
        wall.zip(client).map_or_else(none, |(wall, client)| format!("{:.2}", client.median / wall.median)),
        spread(CORES).map_or_else(none, |cores| format!("{:.2}", cores.median)),
        spread(LOADER_CPU).map_or_else(none, |cpu| format!("{:.1}", cpu.median)),
    ]
}

fn lines(experiment: &Experiment, page: &Page, family: &Family, figure: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    for mode in &experiment.modes {
        for attribute in ATTRIBUTES {
            let of_family = experiment.contenders.iter().filter(|contender| (family.has)(**contender));
            let points = of_family.filter_map(|contender| {
                let y = page.spread(&cell(*mode, attribute), &contender.to_string(), figure)?;
                Some(Point { x: contender.connections() as f64, y })
            });
            let with = if attribute { "with" } else { "without" };
            lines.push(Line { name: format!("mode {mode}, {with} AUTO_INCREMENT"), points: points.collect() });
        }
    }
    lines
}
