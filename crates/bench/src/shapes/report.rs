//! The outcome as a page.

use super::experiment::{Contender, Experiment, Outcome, cell};
use super::script::Dump;
use super::{SHAPES, Shape};
use crate::extent::Extent;
use crate::figures::{SERVER_CPU, WALL};
use crate::page::{BarGroup, ContenderNote, Mark, Page, Plot, PlotForm, Section, Table};
use crate::report::{Spread, median, median_and_range, thousands};
use crate::rules::{self, Facts};
use crate::server::SETTINGS;

/// The page of an experiment.
#[must_use]
pub fn page(experiment: &Experiment, outcome: &Outcome) -> Page {
    let page = Page {
        experiment: "shapes".to_owned(),
        title: "Dumps of many shapes, with the client and with hortator load".to_owned(),
        question: "Which dumps does hortator load load faster than the client, and which not?".to_owned(),
        command: command(experiment),
        settings: SETTINGS.iter().map(|(name, value)| format!("{name}={value}")).collect(),
        contenders: experiment.contenders().into_iter().map(note).collect(),
        limits: vec![
            "The program that loads runs on the same machine and uses a part of its cores.".to_owned(),
            "A shape is one of many that dumps of its kind can have.".to_owned(),
        ],
        ..Page::default()
    };
    let facts = Facts { measured: &outcome.measured, versions: &outcome.versions, left_out: &[] };
    let mut page = rules::page(page, &facts);
    page.answers = answers(experiment, &page);
    page.sections = sections(experiment, outcome, &page);
    page
}

fn command(experiment: &Experiment) -> String {
    let Experiment { extent: Extent { rounds, .. }, scale, shapes, .. } = experiment;
    let only = match shapes.len() == SHAPES.len() {
        true => String::new(),
        false => format!(" --only {}", shapes.iter().map(|shape| shape.name).collect::<Vec<_>>().join(",")),
    };
    format!("hortator bench shapes --rounds {rounds} --scale {scale}{only}")
}

fn note(contender: Contender) -> ContenderNote {
    let description = match contender {
        Contender::Client => "mariadb < DUMP.",
        Contender::Hortator => "hortator load DUMP.",
        Contender::Baseline => "hortator load DUMP of another build.",
    };
    ContenderNote {
        name: contender.to_string(),
        description: description.to_owned(),
        survives: "a crash of the server and a power cut: innodb_flush_log_at_trx_commit=1, no binary log; rows of other engines as \
                   these keep them"
            .to_owned(),
    }
}

/// The client's time divided by the contender's, by the medians; none without a figure of both.
fn ratio(page: &Page, shape: &Shape, contender: Contender) -> Option<f64> {
    let wall = |contender: Contender| page.spread(&cell(shape), &contender.to_string(), WALL);
    Some(wall(Contender::Client)?.median / wall(contender)?.median)
}

/// Whether `hortator load` reaches the target; none without a figure.
fn meets_target(page: &Page, shape: &Shape) -> Option<bool> {
    ratio(page, shape, Contender::Hortator).map(|ratio| ratio >= shape.target)
}

/// One sentence on targets and end states.
fn answers(experiment: &Experiment, page: &Page) -> Vec<String> {
    let count =
        |wanted: Option<bool>| experiment.shapes.iter().filter(|shape| meets_target(page, shape) == wanted).count();
    vec![format!(
        "{} of {} shapes meet their target; {} miss it; {} have no figure.",
        count(Some(true)),
        experiment.shapes.len(),
        count(Some(false)),
        count(None)
    )]
}

fn sections(experiment: &Experiment, outcome: &Outcome, page: &Page) -> Vec<Section> {
    let contenders = experiment.contenders();
    let mut headings = vec!["shape", "client s, median (min–max)", "hortator s", "× client", "target"];
    headings.extend(["server CPU s: client", "hortator"]);
    if contenders.contains(&Contender::Baseline) {
        headings.extend(["baseline s", "baseline × client", "baseline server CPU s"]);
    }
    let table = Table {
        headings: headings.into_iter().map(str::to_owned).collect(),
        text_columns: 1,
        rows: experiment.shapes.iter().map(|shape| row(page, shape, &contenders)).collect(),
    };
    let bar = |shape: &&'static Shape| {
        let value = ratio(page, shape, Contender::Hortator);
        (shape.name.to_owned(), value.map(|value| Spread { median: value, least: value, most: value }))
    };
    let bars = BarGroup { name: "hortator".to_owned(), bars: experiment.shapes.iter().map(bar).collect() };
    let about = |(shape, dump): &(&'static Shape, Dump)| {
        let (megabytes, statements) = (format!("{:.1}", dump.bytes as f64 / 1e6), thousands(dump.statements));
        vec![shape.name.to_owned(), shape.content.to_owned(), megabytes, statements, format!("{:032x}", dump.checksum)]
    };
    let shapes = Table {
        headings: ["shape", "content", "MB", "statements", "checksum"].map(str::to_owned).to_vec(),
        text_columns: 2,
        rows: outcome.dumps.iter().map(about).collect(),
    };
    vec![
        Section {
            title: "All shapes".to_owned(),
            text: vec![
                "\"× client\" is the client's wall time divided by Hortator's, by the medians; above 1, Hortator is faster. In the first \
                 round definitions and rows of both loads are compared; a load that leaves another end state than the client's has no \
                 figure."
                    .to_owned(),
            ],
            tables: vec![table],
            plots: vec![Plot {
                title: "Client's time ÷ hortator load's (more is better)".to_owned(),
                x: "× client".to_owned(),
                y: String::new(),
                form: PlotForm::Bars(vec![bars]),
                marks: vec![Mark { label: "as fast as the client".to_owned(), value: 1.0 }],
            }],
        },
        Section { title: "The shapes".to_owned(), tables: vec![shapes], ..Section::default() },
    ]
}

fn row(page: &Page, shape: &Shape, contenders: &[Contender]) -> Vec<String> {
    let of = |contender: Contender, figure| page.spread(&cell(shape), &contender.to_string(), figure);
    let ratio_text =
        |contender| ratio(page, shape, contender).map_or_else(|| median(None, 0), |ratio| format!("{ratio:.2}"));
    let missed = if meets_target(page, shape) == Some(false) { " missed" } else { "" };
    let mut row = vec![
        shape.name.to_owned(),
        median_and_range(of(Contender::Client, WALL), 2),
        median_and_range(of(Contender::Hortator, WALL), 2),
        ratio_text(Contender::Hortator),
        format!("{:.2}{missed}", shape.target),
        median(of(Contender::Client, SERVER_CPU), 2),
        median(of(Contender::Hortator, SERVER_CPU), 2),
    ];
    if contenders.contains(&Contender::Baseline) {
        row.push(median_and_range(of(Contender::Baseline, WALL), 2));
        row.push(ratio_text(Contender::Baseline));
        row.push(median(of(Contender::Baseline, SERVER_CPU), 2));
    }
    row
}
