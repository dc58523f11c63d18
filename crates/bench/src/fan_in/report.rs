//! The outcome as a page.

use super::experiment::{AGENT_CPU, AGENT_PEAK, BACKLOG, RATE, SOURCES, TARGET_CPU};
use super::{Contender, Experiment, Outcome, Workload, live_report};
use crate::extent::Extent;
use crate::figures::{CORES, WALL};
use crate::page::{BarGroup, ContenderNote, Line, Page, Plot, PlotForm, Point, Section, Table};
use crate::report::Spread;
use crate::resource_usage::cores_used;
use crate::rounds::{self, Cell};
use crate::rules::{self, Facts};
use crate::server::SETTINGS;

/// What a confirmed commit of the target survives, with the settings of all contenders.
const SURVIVES: &str = "a crash of the server and a power cut: innodb_flush_log_at_trx_commit=1, no binary log";

const HEADINGS: [&str; 9] = [
    "sources",
    "contender",
    "wall s, median (min–max)",
    "× best rival",
    "transactions/s",
    "target CPU s",
    "target cores",
    "agent CPU s",
    "agent peak MiB",
];

/// The page of an experiment.
#[must_use]
pub fn page(experiment: &Experiment, outcome: &Outcome) -> Page {
    let is_of_files = experiment.contenders.iter().any(|contender| Contender::OF_FILES.contains(contender));
    let page = Page {
        experiment: if is_of_files { "recovery" } else { "fan-in" }.to_owned(),
        title: if is_of_files { "Point-in-time recovery from binary log files" } else { "Several servers into one" }
            .to_owned(),
        question: question(is_of_files),
        reported: reported(is_of_files),
        command: command(experiment, is_of_files),
        settings: SETTINGS.iter().map(|(name, value)| format!("{name}={value}")).collect(),
        contenders: experiment.contenders.iter().map(|contender| note(*contender)).collect(),
        limits: limits(is_of_files),
        ..Page::default()
    };
    let versions = std::slice::from_ref(&outcome.version);
    let mut page = rules::page(page, &Facts { measured: &outcome.measured, versions, left_out: &[] });
    page.answers = answers(experiment, &page);
    page.answers.extend(live_report::answers(experiment, &page));
    page.sections = experiment.workloads.iter().map(|workload| section(experiment, &page, *workload)).collect();
    page.sections.extend(live_report::sections(experiment, outcome, &page));
    page
}

fn question(is_of_files: bool) -> String {
    match is_of_files {
        true => "How long does a target take to replay the binary log files of a server that is lost?",
        false => {
            "How long does one server take to apply what several sources have written: with its own replication, one \
             applier for each source or parallel ones, and with an agent outside it?"
        }
    }
    .to_owned()
}

fn reported(is_of_files: bool) -> Vec<String> {
    match is_of_files {
        true => Vec::new(),
        false => vec![
            "No figures. A report of 2012 on Trainwreck tells of one server that followed about 15 production sources by an \
             external agent, which split the streams by schema."
                .to_owned(),
        ],
    }
}

fn limits(is_of_files: bool) -> Vec<String> {
    let mut limits = vec![
        "All servers share one machine and its disk; the network between them is the loopback interface.".to_owned(),
        "A backlog is drained at once; only the live part shows sources that write meanwhile.".to_owned(),
    ];
    if !is_of_files {
        limits.push("The target writes no binary log.".to_owned());
    }
    limits
}

fn command(experiment: &Experiment, is_of_files: bool) -> String {
    let mut workloads: Vec<&str> = experiment.workloads.iter().map(|workload| workload.name()).collect();
    workloads.extend(experiment.live.iter().map(|_| Workload::Live.name()));
    let name = match is_of_files {
        true => "recovery".to_owned(),
        false => {
            let sources: Vec<String> = experiment.sources.iter().map(usize::to_string).collect();
            format!("fan-in --sources {}", sources.join(","))
        }
    };
    let Experiment { transactions, extent: Extent { rounds, .. }, .. } = experiment;
    let live = experiment.live.as_ref().map_or_else(String::new, |live| {
        let rates: Vec<String> = live.rates.iter().map(u32::to_string).collect();
        format!(" --rate {} --seconds {}", rates.join(","), live.time.as_secs_f64())
    });
    let only = workloads.join(",");
    format!("hortator bench {name} --transactions {transactions} --rounds {rounds}{live} --only {only}")
}

fn note(contender: Contender) -> ContenderNote {
    ContenderNote {
        name: contender.to_string(),
        description: contender.description().to_owned(),
        survives: SURVIVES.to_owned(),
    }
}

fn cell(workload: Workload, sources: usize) -> Cell {
    rounds::cell(&[(BACKLOG, workload.name().to_owned()), (SOURCES, sources.to_string())])
}

/// The fastest contender of those, by its median.
fn fastest(experiment: &Experiment, page: &Page, cell: &Cell, is_rival: bool) -> Option<(Contender, Spread)> {
    let contenders = experiment.contenders.iter().filter(|contender| contender.is_rival() == is_rival);
    let measured =
        contenders.filter_map(|contender| Some((*contender, page.spread(cell, &contender.to_string(), WALL)?)));
    measured.min_by(|(_, one), (_, other)| one.median.total_cmp(&other.median))
}

/// A sentence for each cell.
fn answers(experiment: &Experiment, page: &Page) -> Vec<String> {
    let mut answers = Vec::new();
    for workload in &experiment.workloads {
        for sources in &experiment.sources {
            let cell = cell(*workload, *sources);
            let (Some((rival, of_rival)), Some((ours, of_ours))) =
                (fastest(experiment, page, &cell, true), fastest(experiment, page, &cell, false))
            else {
                continue;
            };
            let ratio = of_rival.median / of_ours.median;
            let judgement = if ratio >= 1.0 { "times as fast as" } else { "times as fast, so slower, as" };
            answers.push(format!(
                "{}, {sources} {}: {ours} is {ratio:.2} {judgement} the best rival, {rival} ({:.2} s and {:.2} s).",
                workload.name(),
                if *sources == 1 { "source" } else { "sources" },
                of_ours.median,
                of_rival.median
            ));
        }
    }
    answers
}

fn section(experiment: &Experiment, page: &Page, workload: Workload) -> Section {
    let mut rows = Vec::new();
    for sources in &experiment.sources {
        let cell = cell(workload, *sources);
        let best = fastest(experiment, page, &cell, true).map(|(_, spread)| spread.median);
        rows.extend(experiment.contenders.iter().map(|contender| row(page, &cell, *contender, best)));
    }
    let table = Table { headings: HEADINGS.map(str::to_owned).to_vec(), text_columns: 2, rows };
    let plot =
        if experiment.sources.len() > 1 { lines(experiment, page, workload) } else { bars(experiment, page, workload) };
    Section {
        title: format!("Backlog {}: {}", workload.name(), workload.description()),
        text: vec![format!("{} transactions of each source.", workload.transactions(experiment.transactions))],
        tables: vec![table],
        plots: vec![plot],
    }
}

fn row(page: &Page, cell: &Cell, contender: Contender, best: Option<f64>) -> Vec<String> {
    let none = || "—".to_owned();
    let name = contender.to_string();
    let spread = |figure| page.spread(cell, &name, figure);
    let number =
        |figure, decimals: usize| spread(figure).map_or_else(none, |spread| format!("{:.decimals$}", spread.median));
    let wall = spread(WALL);
    vec![
        cell.get(SOURCES).cloned().unwrap_or_default(),
        name.clone(),
        wall.map_or_else(none, |Spread { median, least, most }| format!("{median:.2} ({least:.2}–{most:.2})")),
        wall.zip(best).map_or_else(none, |(wall, best)| format!("{:.2}", best / wall.median)),
        number(RATE, 0),
        number(TARGET_CPU, 1),
        cores_used(spread(CORES)),
        number(AGENT_CPU, 1),
        spread(AGENT_PEAK).map_or_else(none, |spread| format!("{:.0}", spread.most)),
    ]
}

fn lines(experiment: &Experiment, page: &Page, workload: Workload) -> Plot {
    let line = |contender: &Contender| {
        let name = contender.to_string();
        let point = |sources: &usize| {
            Some(Point { x: *sources as f64, y: page.spread(&cell(workload, *sources), &name, RATE)? })
        };
        Line { points: experiment.sources.iter().filter_map(point).collect(), name }
    };
    Plot {
        title: format!("Transactions per second by number of sources, backlog {}", workload.name()),
        x: "sources".to_owned(),
        y: "transactions/s".to_owned(),
        form: PlotForm::Lines { is_log_x: false, lines: experiment.contenders.iter().map(line).collect() },
        marks: Vec::new(),
    }
}

fn bars(experiment: &Experiment, page: &Page, workload: Workload) -> Plot {
    let group = |sources: &usize| {
        let cell = cell(workload, *sources);
        let bar = |contender: &Contender| (contender.to_string(), page.spread(&cell, &contender.to_string(), WALL));
        let name = if *sources == 1 { "1 source".to_owned() } else { format!("{sources} sources") };
        BarGroup { name, bars: experiment.contenders.iter().map(bar).collect() }
    };
    Plot {
        title: format!("Seconds to drain the backlog {} (less is better)", workload.name()),
        x: "seconds".to_owned(),
        y: String::new(),
        form: PlotForm::Bars(experiment.sources.iter().map(group).collect()),
        marks: Vec::new(),
    }
}
