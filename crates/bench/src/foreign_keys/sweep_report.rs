//! The inserts of one connection by rows per statement: tables, lines and answers.

use super::Experiment;
use super::experiment::{INSERTS, STATEMENT_ROWS, inserts_cell};
use crate::child_inserts::Parents;
use crate::deployment::Deployment;
use crate::employees::ForeignKeys;
use crate::expected_errors;
use crate::figures::{CORES, RATE, ROW_CPU};
use crate::page::{Line, Page, Plot, PlotForm, Point, Section, Table};
use crate::report::{Spread, capitalized, median, median_and_range, thousands};
use crate::resource_usage::cores_used;

const HEADINGS: [&str; 11] = [
    "servers",
    "rows per statement",
    "rows/s with FK, median (min–max)",
    "without",
    "FK ÷ no FK",
    "server CPU µs/row with FK",
    "without",
    "FK ÷ no FK",
    "cores with FK",
    "errors with FK, all rounds",
    "without",
];

/// Below this factor inserts are hardly hit.
const HARDLY: f64 = 1.1;
/// The sizes that the summary tells.
const ANSWERED_ROWS: [u64; 3] = [1, 50, 20_000];

/// A section for each kind of parents.
pub(super) fn sections(experiment: &Experiment, page: &Page) -> Vec<Section> {
    let parents = if experiment.sweep.is_empty() { &[][..] } else { &experiment.parents };
    parents.iter().map(|parents| section(experiment, page, *parents)).collect()
}

fn section(experiment: &Experiment, page: &Page, parents: Parents) -> Section {
    let rows =
        experiment.sweep.iter().flat_map(|deployment| STATEMENT_ROWS.map(|rows| row(page, *deployment, rows, parents)));
    let rates = experiment.sweep.iter().flat_map(|deployment| {
        ForeignKeys::ALL.map(|keys| {
            let with = if keys == ForeignKeys::With { "with" } else { "without" };
            let y = |rows| page.spread(&inserts_cell(*deployment, keys, rows, parents), INSERTS, RATE);
            line(format!("{deployment}, {with} foreign keys"), y)
        })
    });
    let factors = |factor: fn(&Page, Deployment, u64, Parents) -> Option<Spread>| {
        let of =
            |deployment: &Deployment| line(deployment.to_string(), |rows| factor(page, *deployment, rows, parents));
        experiment.sweep.iter().map(of).collect()
    };
    let plot = |title: &str, y: &str, lines: Vec<Line>| Plot {
        title: title.to_owned(),
        x: "rows per statement".to_owned(),
        y: y.to_owned(),
        form: PlotForm::Lines { is_log_x: true, lines },
        marks: Vec::new(),
    };
    Section {
        title: match parents {
            Parents::One => "One connection, each statement's rows of one parent".to_owned(),
            Parents::Many | Parents::Shared | Parents::Own => {
                "One connection, each statement's rows of many parents".to_owned()
            }
        },
        text: vec![format!(
            "{}; {} rows are about 1 MB. \"FK ÷ no FK\" is the time of a row with foreign keys divided by the time without.",
            capitalized(parents.description()),
            thousands(STATEMENT_ROWS[STATEMENT_ROWS.len() - 1])
        )],
        tables: vec![Table { headings: HEADINGS.map(str::to_owned).to_vec(), text_columns: 1, rows: rows.collect() }],
        plots: vec![
            plot("Rows per second by rows per statement", "rows/s", rates.collect()),
            plot("Time of a row, with foreign keys ÷ without", "FK ÷ no FK", factors(factor)),
            plot("Server CPU of a row, with foreign keys ÷ without", "FK ÷ no FK", factors(cpu_factor)),
        ],
    }
}

fn line(name: String, y: impl Fn(u64) -> Option<Spread>) -> Line {
    let points = STATEMENT_ROWS.into_iter().filter_map(|rows| Some(Point { x: rows as f64, y: y(rows)? }));
    Line { name, points: points.collect() }
}

/// The time of a row with foreign keys divided by the time without.
fn factor(page: &Page, deployment: Deployment, rows: u64, parents: Parents) -> Option<Spread> {
    let cell = |keys| inserts_cell(deployment, keys, rows, parents);
    page.ratio(RATE, (&cell(ForeignKeys::Without), INSERTS), (&cell(ForeignKeys::With), INSERTS))
}

/// The servers' CPU time of a row with foreign keys divided by that without.
fn cpu_factor(page: &Page, deployment: Deployment, rows: u64, parents: Parents) -> Option<Spread> {
    let cell = |keys| inserts_cell(deployment, keys, rows, parents);
    page.ratio(ROW_CPU, (&cell(ForeignKeys::With), INSERTS), (&cell(ForeignKeys::Without), INSERTS))
}

fn row(page: &Page, deployment: Deployment, rows: u64, parents: Parents) -> Vec<String> {
    let errors = |keys| expected_errors::column(page, &inserts_cell(deployment, keys, rows, parents), INSERTS);
    let spread = |keys, figure| page.spread(&inserts_cell(deployment, keys, rows, parents), INSERTS, figure);
    vec![
        deployment.to_string(),
        thousands(rows),
        median_and_range(spread(ForeignKeys::With, RATE), 0),
        median(spread(ForeignKeys::Without, RATE), 0),
        median(factor(page, deployment, rows, parents), 2),
        median(spread(ForeignKeys::With, ROW_CPU), 1),
        median(spread(ForeignKeys::Without, ROW_CPU), 1),
        median(cpu_factor(page, deployment, rows, parents), 2),
        cores_used(spread(ForeignKeys::With, CORES)),
        errors(ForeignKeys::With),
        errors(ForeignKeys::Without),
    ]
}

/// Whether single connections pay as loads do.
fn verdict(experiment: &Experiment, page: &Page) -> Option<String> {
    let cells = experiment.sweep.iter().flat_map(|deployment| {
        experiment.parents.iter().flat_map(|parents| STATEMENT_ROWS.map(|rows| (*deployment, rows, *parents)))
    });
    let factors = cells.filter_map(|(deployment, rows, parents)| factor(page, deployment, rows, parents));
    let Spread { median, least, most } = Spread::of_numbers(factors.map(|factor| factor.median))?;
    let hit = if median < HARDLY { "Inserts of one connection are hardly hit" } else { "Not only a load is hit" };
    Some(format!(
        "{hit}: for inserts of one connection the factor is {median:.2}, the median of all sizes of a statement and \
         servers ({least:.2}–{most:.2})."
    ))
}

/// The answer to the question, and a sentence for each deployment and kind of parents.
pub(super) fn answers(experiment: &Experiment, page: &Page) -> Vec<String> {
    let mut answers: Vec<String> = verdict(experiment, page).into_iter().collect();
    for deployment in &experiment.sweep {
        for parents in &experiment.parents {
            let factors = ANSWERED_ROWS.into_iter().filter_map(|rows| {
                let time = factor(page, *deployment, rows, *parents)?.median;
                let cpu = cpu_factor(page, *deployment, rows, *parents)?.median;
                let plural = if rows == 1 { "row" } else { "rows" };
                let at = format!("at {} {plural} a statement", thousands(rows));
                Some(format!("{time:.2} times as long and {cpu:.2} times the server CPU {at}"))
            });
            let factors: Vec<String> = factors.collect();
            if !factors.is_empty() {
                let of = if *parents == Parents::One { "one parent" } else { "many parents" };
                answers.push(format!(
                    "{deployment}, one connection, rows of {of} in a statement: with foreign keys a row takes {}.",
                    factors.join(", ")
                ));
            }
        }
    }
    answers
}
