//! The outcome as a page.

mod cluster;
mod single;
#[cfg(test)]
mod tests;

use super::contender::COMMON_SETTINGS;
use super::experiment::cell;
use super::{Contender, Durability, Experiment, Outcome, Suite, Workload};
use crate::figures::{RATE, ROW_CPU};
use crate::nodes::CLUSTER_SETTINGS;
use crate::page::{BarGroup, ContenderNote, Page, Plot, PlotForm, Section, Table};
use crate::report::{Spread, median_and_range, thousands};
use crate::rules::{self, Facts};
use crate::server::SETTINGS;

/// The page of an experiment.
#[must_use]
pub fn page(experiment: &Experiment, outcome: &Outcome) -> Page {
    let suite = experiment.suite;
    let page = Page {
        experiment: suite.command().to_owned(),
        title: match suite {
            Suite::Single => single::TITLE,
            Suite::Cluster => cluster::TITLE,
        }
        .to_owned(),
        question: match suite {
            Suite::Single => "What does a wsrep provider cost on a single node: Hortator's, Galera's, and none?",
            Suite::Cluster => "How fast do three nodes with Hortator's provider write, compared with Galera?",
        }
        .to_owned(),
        command: command(experiment),
        settings: settings(experiment, outcome),
        contenders: outcome.contenders.iter().map(|contender| note(*contender)).collect(),
        limits: limits(suite),
        ..Page::default()
    };
    let facts = Facts { measured: &outcome.measured, versions: &outcome.versions, left_out: &outcome.left_out };
    let mut page = rules::page(page, &facts);
    page.answers = answers(experiment, outcome, &page);
    page.sections = match suite {
        Suite::Single => single::sections(experiment, outcome, &page),
        Suite::Cluster => cluster::sections(experiment, outcome, &page),
    };
    page
}

fn command(experiment: &Experiment) -> String {
    let Experiment { suite, extent, workloads, scale, .. } = experiment;
    let (rounds, time) = (extent.rounds, extent.time);
    let only = match workloads.len() == suite.workloads().len() {
        true => String::new(),
        false => format!(" --only {}", workloads.iter().map(|workload| workload.name()).collect::<Vec<_>>().join(",")),
    };
    let seconds = time.as_secs_f64();
    format!("hortator bench {} --rounds {rounds} --seconds {seconds} --scale {scale}{only}", suite.command())
}

fn settings(experiment: &Experiment, outcome: &Outcome) -> Vec<String> {
    let common = SETTINGS.iter().filter(|(name, _)| !is_durability_setting(name)).chain(&COMMON_SETTINGS);
    let appliers: &[_] = if experiment.suite.nodes() > 1 { &CLUSTER_SETTINGS } else { &[] };
    let mut settings: Vec<String> = common.chain(appliers).map(|(name, value)| format!("{name}={value}")).collect();
    settings.push("no binary log".to_owned());
    if let Some(dump) = &outcome.dump {
        settings.push(format!(
            "load: {} rows, {} bytes, checksum {:032x}",
            thousands(dump.rows),
            thousands(dump.bytes),
            dump.checksum
        ));
    }
    settings
}

fn note(contender: Contender) -> ContenderNote {
    let [synced, unsynced] = Durability::ALL.map(|durability| listed(contender.settings(durability)));
    ContenderNote {
        name: contender.title().to_owned(),
        description: match contender {
            Contender::Hortator => "Hortator's provider.",
            Contender::Galera => "The installed Galera.",
            Contender::NoProvider => "A server without a provider.",
        }
        .to_owned(),
        survives: format!(
            "a crash of the server and a power cut if synced ({synced}); if unsynced ({unsynced}) not a power cut, and a crash as far \
             as other nodes have it"
        ),
    }
}

fn limits(suite: Suite) -> Vec<String> {
    let mut limits = vec![
        "Inserts: one table, autocommit, 100 bytes and a number per row, keys of each thread's own.".to_owned(),
        "The threads and the servers share this machine.".to_owned(),
    ];
    if suite == Suite::Cluster {
        limits.extend(cluster::facts());
    }
    limits
}

/// The speed of Hortator relative to Galera in each workload, both synced.
fn answers(experiment: &Experiment, outcome: &Outcome, page: &Page) -> Vec<String> {
    let has = |contender| outcome.contenders.contains(&contender);
    if !has(Contender::Hortator) || !has(Contender::Galera) {
        return Vec::new();
    }
    let line = |durability: Durability| {
        let ratio = |workload: &Workload| {
            let of = |contender, figure| figure_of(page, durability, *workload, contender, figure);
            let speed = of(Contender::Hortator, RATE)?.median / of(Contender::Galera, RATE)?.median;
            let cpu = of(Contender::Hortator, ROW_CPU)?.median / of(Contender::Galera, ROW_CPU)?.median;
            Some(format!("{speed:.2} and {cpu:.2} ({})", workload.title()))
        };
        let ratios: Vec<String> = experiment.workloads.iter().filter_map(ratio).collect();
        let title = durability.title();
        let text = format!("Both {title}: Hortator's rows/s and server CPU per row ÷ Galera's: {}.", ratios.join(", "));
        (!ratios.is_empty()).then_some(text)
    };
    Durability::ALL.into_iter().filter_map(line).collect()
}

/// A figure over all runs of a workload.
fn figure_of(
    page: &Page,
    durability: Durability,
    workload: Workload,
    contender: Contender,
    figure: &str,
) -> Option<Spread> {
    page.spread(&cell(durability, workload), contender.title(), figure)
}

/// All combinations, in the report's order.
fn all<'a>(
    experiment: &'a Experiment,
    outcome: &'a Outcome,
) -> impl Iterator<Item = (Durability, Workload, Contender)> + 'a {
    let with_workloads = move |durability| experiment.workloads.iter().map(move |workload| (durability, *workload));
    let with_contenders = move |(durability, workload)| {
        outcome.contenders.iter().map(move |contender| (durability, workload, *contender))
    };
    Durability::ALL.into_iter().flat_map(with_workloads).flat_map(with_contenders)
}

fn table(headings: &[&str], text_columns: usize, rows: Vec<Vec<String>>) -> Table {
    Table { headings: headings.iter().map(|heading| (*heading).to_owned()).collect(), text_columns, rows }
}

/// Rows per second by workload.
fn bars(experiment: &Experiment, outcome: &Outcome, page: &Page, durability: Durability) -> Plot {
    let group = |workload: &Workload| {
        let bar = |contender: &Contender| {
            (contender.title().to_owned(), figure_of(page, durability, *workload, *contender, RATE))
        };
        BarGroup { name: workload.title(), bars: outcome.contenders.iter().map(bar).collect() }
    };
    Plot {
        title: format!("Rows per second, {} (more is better)", durability.title()),
        x: "rows/s".to_owned(),
        y: String::new(),
        form: PlotForm::Bars(experiment.workloads.iter().map(group).collect()),
        marks: Vec::new(),
    }
}

/// Rows per second.
fn speed_text(spread: Spread) -> String {
    median_and_range(Some(spread), 0)
}

/// Microseconds per row.
fn cpu_text(spread: Spread) -> String {
    median_and_range(Some(spread), 1)
}

fn is_durability_setting(name: &str) -> bool {
    Contender::Galera.settings(Durability::Synced).iter().any(|(own, _)| *own == name)
}

fn listed(settings: &[(&str, &str)]) -> String {
    let each: Vec<String> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    each.join(", ")
}

/// The section with a plot for each durability.
fn plots(experiment: &Experiment, outcome: &Outcome, page: &Page) -> Section {
    Section {
        title: "Rows per second".to_owned(),
        plots: Durability::ALL.map(|durability| bars(experiment, outcome, page, durability)).to_vec(),
        ..Section::default()
    }
}
