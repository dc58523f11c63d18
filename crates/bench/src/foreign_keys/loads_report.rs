//! The loads of the sample: table, bars and answers.

use super::experiment::load_cell;
use super::report::REPORTED_FACTOR;
use super::{Experiment, Loader};
use crate::deployment::Deployment;
use crate::employees::ForeignKeys;
use crate::figures::{ALL, CORES, FLOW_CONTROL, RATE, SERVER_CPU, WALL};
use crate::page::{BarGroup, Mark, Page, Plot, PlotForm, Section, Table};
use crate::report::{Spread, median, median_and_range, thousands};
use crate::resource_usage::cores_used;

const HEADINGS: [&str; 13] = [
    "servers",
    "loader",
    "foreign keys",
    "all nodes s, median (min–max)",
    "program s",
    "rows/s",
    "FK ÷ no FK",
    "reported",
    "× client",
    "server CPU s",
    "CPU FK ÷ no FK",
    "cores",
    "flow control s",
];

/// The section; none where nothing was loaded.
pub(super) fn section(experiment: &Experiment, page: &Page) -> Option<Section> {
    if experiment.loads.is_empty() {
        return None;
    }
    let mut rows = Vec::new();
    for deployment in &experiment.loads {
        for keys in ForeignKeys::ALL {
            rows.extend(Loader::of(keys).iter().map(|loader| row(page, *deployment, keys, *loader)));
        }
    }
    let bars = |deployment: &Deployment| {
        let bar = |loader: &Loader| (loader.to_string(), factor(page, ALL, *deployment, *loader));
        BarGroup { name: deployment.to_string(), bars: Loader::of(ForeignKeys::With).iter().map(bar).collect() }
    };
    Some(Section {
        title: "Loads of the employees sample".to_owned(),
        text: vec![
            "Each load goes into an empty schema on servers at rest, and ends when all nodes have all rows. \"FK ÷ no FK\" \
             divides by the same loader's time without foreign keys; for deferred keys by that of hortator load. \"× client\" \
             is the speed relative to the client on the SOURCE files with the same keys. \"Reported\" stands beside the \
             combination that the report had."
                .to_owned(),
        ],
        tables: vec![Table { headings: HEADINGS.map(str::to_owned).to_vec(), text_columns: 3, rows }],
        plots: vec![Plot {
            title: "How many times as long a load takes with foreign keys as without".to_owned(),
            x: "time with foreign keys ÷ time without".to_owned(),
            y: String::new(),
            form: PlotForm::Bars(experiment.loads.iter().map(bars).collect()),
            marks: vec![Mark { label: "reported for Galera".to_owned(), value: REPORTED_FACTOR }],
        }],
    })
}

/// A figure with foreign keys divided by that without.
fn factor(page: &Page, figure: &str, deployment: Deployment, loader: Loader) -> Option<Spread> {
    let beside = if loader == Loader::Deferred { Loader::Load } else { loader };
    let (with, without) = (load_cell(deployment, ForeignKeys::With), load_cell(deployment, ForeignKeys::Without));
    page.ratio(figure, (&with, &loader.to_string()), (&without, &beside.to_string()))
}

fn row(page: &Page, deployment: Deployment, keys: ForeignKeys, loader: Loader) -> Vec<String> {
    let (cell, name) = (load_cell(deployment, keys), loader.to_string());
    let spread = |figure| page.spread(&cell, &name, figure);
    let has_keys = keys == ForeignKeys::With;
    let factor = |figure| if has_keys { factor(page, figure, deployment, loader) } else { None };
    let is_reported = has_keys && loader == Loader::ClientSource && matches!(deployment, Deployment::Galera(_));
    let client = page.ratio(ALL, (&cell, &Loader::ClientSource.to_string()), (&cell, &name));
    vec![
        deployment.to_string(),
        name.clone(),
        keys.to_string(),
        median_and_range(spread(ALL), 2),
        median(spread(WALL), 2),
        spread(RATE).map_or_else(|| median(None, 0), |rate| thousands(rate.median as u64)),
        median(factor(ALL), 2),
        if is_reported { format!("{REPORTED_FACTOR}") } else { String::new() },
        median(client, 2),
        median(spread(SERVER_CPU), 1),
        median(factor(SERVER_CPU), 2),
        cores_used(spread(CORES)),
        median(spread(FLOW_CONTROL), 2),
    ]
}

/// The answer to the question, and a sentence for each deployment.
pub(super) fn answers(experiment: &Experiment, page: &Page) -> Vec<String> {
    let of_each = experiment.loads.iter().filter_map(|deployment| answer(page, *deployment));
    verdict(experiment, page).into_iter().chain(of_each).collect()
}

/// Whether loads are as slow here as reported, and whether the checks are the reason: mariadb-dump's form switches them off.
fn verdict(experiment: &Experiment, page: &Page) -> Option<String> {
    let of = |loader| {
        let factors = experiment.loads.iter().filter_map(|deployment| factor(page, ALL, *deployment, loader));
        Spread::of_numbers(factors.map(|factor| factor.median))
    };
    let (checked, unchecked) = (of(Loader::ClientSource)?, of(Loader::ClientDump)?);
    let slow = if checked.most < REPORTED_FACTOR / 5.0 { "not as slow here as reported" } else { "slow here, too" };
    Some(format!(
        "A load with foreign keys is {slow}: the client takes {} times as long as without them (reported: {REPORTED_FACTOR}), and with \
         the checks switched off (mariadb-dump's form) {} times.",
        range(checked),
        range(unchecked)
    ))
}

fn range(Spread { least, most, .. }: Spread) -> String {
    if least < most { format!("{least:.2} to {most:.2}") } else { format!("{most:.2}") }
}

fn answer(page: &Page, deployment: Deployment) -> Option<String> {
    let time = |keys, loader: Loader| Some(page.spread(&load_cell(deployment, keys), &loader.to_string(), ALL)?.median);
    let client = factor(page, ALL, deployment, Loader::ClientSource)?;
    let mut text = format!(
        "{deployment}: with foreign keys the client takes {:.2} times as long as without and {:.2} times the server CPU ({:.2} s and \
         {:.2} s)",
        client.median,
        factor(page, SERVER_CPU, deployment, Loader::ClientSource)?.median,
        time(ForeignKeys::With, Loader::ClientSource)?,
        time(ForeignKeys::Without, Loader::ClientSource)?
    );
    for (loader, name) in [(Loader::ClientDump, "mariadb-dump's form"), (Loader::Load, "hortator load")] {
        if let Some(factor) = factor(page, ALL, deployment, loader) {
            text.push_str(&format!(", {name} {:.2} times", factor.median));
        }
    }
    if let Some(deferred) = time(ForeignKeys::With, Loader::Deferred) {
        text.push_str(&format!("; hortator load with keys deferred takes {deferred:.2} s"));
    }
    Some(text + ".")
}
