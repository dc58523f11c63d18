//! The outcome as a page.

use super::{Contender, Experiment, Indexes, Outcome};
use crate::figures::{CORES, LOADER_CPU, LOADER_PEAK, RATE, SERVER_CPU, WALL};
use crate::page::{BarGroup, ContenderNote, Page, Plot, PlotForm, Section, Table};
use crate::report::{median, median_and_range, thousands};
use crate::resource_usage::cores_used;
use crate::rules::{self, Facts};
use crate::server::SETTINGS;

const HEADINGS: [&str; 9] = [
    "secondary indexes",
    "contender",
    "wall s, median (min–max)",
    "× LOAD DATA",
    "rows/s",
    "server CPU s",
    "server cores",
    "loader CPU s",
    "loader's peak MiB",
];

/// The page of an experiment.
#[must_use]
pub fn page(experiment: &Experiment, outcome: &Outcome) -> Page {
    let mut page = Page {
        experiment: "csv".to_owned(),
        title: "A CSV file into one table".to_owned(),
        question: "Does hortator load --table load a CSV file as fast as the server's own tools, with secondary indexes and without?"
            .to_owned(),
        command: command(experiment),
        settings: SETTINGS.iter().map(|(name, value)| format!("{name}={value}")).collect(),
        contenders: Contender::ALL.map(note).to_vec(),
        limits: vec![
            "The program that loads runs on the same machine and uses a part of its cores.".to_owned(),
            "The rows stand in the order of the primary key, and none of them breaks a rule.".to_owned(),
        ],
        ..Page::default()
    };
    if let Some(bytes) = outcome.bytes {
        page.settings.push(format!("{} rows, {:.1} MB of CSV", thousands(experiment.rows), bytes as f64 / 1e6));
    }
    let facts = Facts { measured: &outcome.measured, versions: &outcome.versions, left_out: &[] };
    let mut page = rules::page(page, &facts);
    page.answers = experiment.indexes.iter().filter_map(|indexes| answer(&page, *indexes)).collect();
    page.sections = vec![section(experiment, &page)];
    page
}

fn command(experiment: &Experiment) -> String {
    let only = match &experiment.indexes[..] {
        [only] => format!(" --only {only}"),
        _ => String::new(),
    };
    format!("hortator bench csv --rows {} --rounds {}{only}", experiment.rows, experiment.extent.rounds)
}

fn note(contender: Contender) -> ContenderNote {
    ContenderNote {
        name: contender.to_string(),
        description: contender.description(),
        survives: "a crash of the server and a power cut: innodb_flush_log_at_trx_commit=1, no binary log".to_owned(),
    }
}

/// How many times as fast as another contender, by the medians; none without a figure of both.
fn times_as_fast(page: &Page, indexes: Indexes, contender: Contender, other: Contender) -> Option<f64> {
    let wall = |contender: Contender| page.spread(&indexes.cell(), &contender.to_string(), WALL);
    Some(wall(other)?.median / wall(contender)?.median)
}

fn answer(page: &Page, indexes: Indexes) -> Option<String> {
    let table = match indexes {
        Indexes::None => "Without secondary indexes",
        Indexes::Three => "With three secondary indexes",
    };
    let than = |one, other| times_as_fast(page, indexes, one, other);
    let mut answer = format!(
        "{table}, hortator load is {:.2} times as fast as LOAD DATA and {:.2} times as fast as mariadb-import over several \
         connections.",
        than(Contender::Hortator, Contender::LoadData)?,
        than(Contender::Hortator, Contender::Import)?
    );
    if indexes == Indexes::Three {
        answer.push_str(&format!(
            " With --defer-indexes, it is {:.2} and {:.2} times as fast.",
            than(Contender::IndexesLater, Contender::LoadData)?,
            than(Contender::IndexesLater, Contender::Import)?
        ));
    }
    Some(answer)
}

fn section(experiment: &Experiment, page: &Page) -> Section {
    let rows = experiment.indexes.iter().flat_map(|indexes| Contender::ALL.map(|it| row(page, *indexes, it)));
    let group = |indexes: &Indexes| {
        let bar = |contender: Contender| {
            let name = contender.to_string();
            let wall = page.spread(&indexes.cell(), &name, WALL);
            (name, wall)
        };
        BarGroup { name: format!("secondary indexes: {indexes}"), bars: Contender::ALL.map(bar).to_vec() }
    };
    Section {
        title: "All figures".to_owned(),
        text: vec![
            "\"× LOAD DATA\" is LOAD DATA's wall time divided by the contender's, by the medians; above 1, the contender is faster. In \
             the first round definition and rows are compared with LOAD DATA's; a contender that leaves another state has no figure."
                .to_owned(),
        ],
        tables: vec![Table {
            headings: HEADINGS.map(str::to_owned).to_vec(),
            text_columns: 2,
            rows: rows.collect(),
        }],
        plots: vec![Plot {
            title: "Seconds to load (less is better)".to_owned(),
            x: "seconds".to_owned(),
            y: String::new(),
            form: PlotForm::Bars(experiment.indexes.iter().map(group).collect()),
            marks: Vec::new(),
        }],
    }
}

fn row(page: &Page, indexes: Indexes, contender: Contender) -> Vec<String> {
    let spread = |figure| page.spread(&indexes.cell(), &contender.to_string(), figure);
    let none = || median(None, 0);
    vec![
        indexes.to_string(),
        contender.to_string(),
        median_and_range(spread(WALL), 2),
        times_as_fast(page, indexes, contender, Contender::LoadData).map_or_else(none, |ratio| format!("{ratio:.2}")),
        spread(RATE).map_or_else(none, |rate| thousands(rate.median as u64)),
        median(spread(SERVER_CPU), 2),
        cores_used(spread(CORES)),
        median(spread(LOADER_CPU), 2),
        median(spread(LOADER_PEAK), 0),
    ]
}
