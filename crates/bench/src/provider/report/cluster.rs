//! The report on clusters: a line for each pair of durabilities and each workload, with the target.

use hortator_mysql::error::DEADLOCK;

use super::{all, cell, cpu_text, figure_of, listed, plots, speed_text, table};
use crate::expected_errors;
use crate::figures::{CORES, LAG, LATENCIES, MEASURED, RATE, ROW_CPU, error_figure};
use crate::page::{Page, Section};
use crate::provider::{Contender, Durability, Experiment, Outcome, Workload};
use crate::report::{Spread, capitalized, median};
use crate::resource_usage::cores_used;

pub(super) const TITLE: &str = "Three nodes with Hortator's provider and with Galera";

const HEADINGS: [&str; 9] = [
    "durability",
    "workload",
    "Hortator rows/s, median (min–max)",
    "Galera rows/s",
    "× Galera",
    "target",
    "Hortator CPU µs/row, median (min–max)",
    "Galera CPU µs/row",
    "× Galera's CPU",
];
/// The first columns, which are text.
const WORDS: usize = 2;

const DETAILS: [&str; 10] = [
    "durability",
    "workload",
    "server",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "all nodes after s",
    expected_errors::HEADING,
    "1213 per 100 confirmed",
    "cores",
];

/// The durability of Hortator and of Galera that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DurabilityPair {
    GaleraUnsynced,
    BothUnsynced,
    BothSynced,
}

impl DurabilityPair {
    const ALL: [Self; 3] = [Self::GaleraUnsynced, Self::BothUnsynced, Self::BothSynced];

    fn title(self) -> &'static str {
        match self {
            Self::GaleraUnsynced => "Hortator synced, Galera not",
            Self::BothUnsynced => "both unsynced",
            Self::BothSynced => "both synced",
        }
    }

    /// What a confirmed row means.
    fn meaning(self) -> &'static str {
        match self {
            Self::GaleraUnsynced => {
                "a confirmed row is on the disks of a majority of Hortator's nodes, and on no disk of Galera's"
            }
            Self::BothUnsynced => {
                "a confirmed row is in the memory of a majority of Hortator's nodes and of all of Galera's, and on no disk"
            }
            Self::BothSynced => {
                "a confirmed row is on the disks of a majority of Hortator's nodes, and on that of the Galera node which \
                 confirmed it; Galera's others write it when they apply it"
            }
        }
    }

    fn durability(self, contender: Contender) -> Durability {
        match (self, contender) {
            (Self::GaleraUnsynced, Contender::Hortator) | (Self::BothSynced, _) => Durability::Synced,
            (Self::GaleraUnsynced, _) | (Self::BothUnsynced, _) => Durability::Unsynced,
        }
    }

    /// The speed relative to Galera that is the target.
    fn target(self) -> f64 {
        match self {
            Self::GaleraUnsynced => 1.0,
            Self::BothUnsynced => 1.2,
            Self::BothSynced => 1.3,
        }
    }
}

/// The table, the meaning of the durabilities, the conflicts, and plots.
pub(super) fn sections(experiment: &Experiment, outcome: &Outcome, page: &Page) -> Vec<Section> {
    let pairs = || DurabilityPair::ALL.into_iter();
    let rows = pairs().flat_map(|pair| experiment.workloads.iter().map(move |workload| row(page, pair, *workload)));
    let meaning = |pair: DurabilityPair| {
        let settings = outcome.contenders.iter().map(|contender| {
            format!("{}: {}", contender.title(), listed(contender.settings(pair.durability(*contender))))
        });
        let settings: Vec<String> = settings.collect();
        let (title, meaning, target) = (capitalized(pair.title()), pair.meaning(), pair.target());
        format!("{title}: {meaning}. Target: {target:.1} × Galera. {}.", settings.join("; "))
    };
    let mut sections = vec![Section {
        title: "Hortator and Galera".to_owned(),
        text: pairs().map(meaning).collect(),
        tables: vec![table(&HEADINGS, WORDS, rows.collect())],
        plots: Vec::new(),
    }];
    let details = all(experiment, outcome).map(|(durability, workload, contender)| {
        let of = |figure: &str| figure_of(page, durability, workload, contender, figure);
        let mut row = vec![durability.title().to_owned(), workload.title(), contender.title().to_owned()];
        row.extend(LATENCIES.map(|(figure, _)| median(of(figure), 2)));
        row.push(median(of(LAG), 2));
        row.push(expected_errors::column(page, &cell(durability, workload), contender.title()));
        row.push(conflicts_per_100(page, durability, workload, contender));
        row.push(cores_used(of(CORES)));
        row
    });
    sections.push(Section {
        title: "Latencies and errors".to_owned(),
        text: vec![
            "A statement's time includes its repetitions. The servers retry an autocommit statement once before they return error \
             1213 (wsrep_retry_autocommit)."
                .to_owned(),
        ],
        tables: vec![table(&DETAILS, 3, details.collect())],
        plots: Vec::new(),
    });
    sections.push(plots(experiment, outcome, page));
    sections
}

fn row(page: &Page, pair: DurabilityPair, workload: Workload) -> Vec<String> {
    let none = || median(None, 0);
    let of = |contender, figure| figure_of(page, pair.durability(contender), workload, contender, figure);
    let [hortator, galera] = [Contender::Hortator, Contender::Galera].map(|contender| of(contender, RATE));
    let [hortator_cpu, galera_cpu] = [Contender::Hortator, Contender::Galera].map(|contender| of(contender, ROW_CPU));
    let ratio =
        |own: Option<Spread>, other: Option<Spread>| own.zip(other).map(|(own, other)| own.median / other.median);
    let shown = |ratio: Option<f64>| ratio.map_or_else(none, |ratio| format!("{ratio:.2}"));
    let speed = ratio(hortator, galera);
    let missed = if speed.is_some_and(|ratio| ratio < pair.target()) { " missed" } else { "" };
    vec![
        pair.title().to_owned(),
        workload.title(),
        hortator.map_or_else(none, speed_text),
        galera.map_or_else(none, speed_text),
        shown(speed),
        format!("{:.1}{missed}", pair.target()),
        hortator_cpu.map_or_else(none, cpu_text),
        galera_cpu.map_or_else(none, cpu_text),
        shown(ratio(hortator_cpu, galera_cpu)),
    ]
}

/// Errors 1213 for each 100 confirmed rows, over all rounds.
fn conflicts_per_100(page: &Page, durability: Durability, workload: Workload, contender: Contender) -> String {
    let of = |figure: &str| figure_of(page, durability, workload, contender, figure).map(|spread| spread.median);
    let (errors, rate, seconds) = (of(&error_figure(DEADLOCK)), of(RATE), of(MEASURED));
    let share =
        errors.zip(rate.zip(seconds)).map(|(errors, (rate, seconds))| errors * 100.0 / (rate * seconds).max(1.0));
    share.map_or_else(|| median(None, 0), |share| format!("{share:.1}"))
}

pub(super) fn facts() -> Vec<String> {
    [
        "three nodes on this machine, so that the same cores apply each row three times; one cluster runs at a \
         time; CPU is that of its three servers together",
        "clients write to node 1, which bootstrapped the cluster and, with Hortator's provider, is the first Raft leader; on two nodes: nodes 1 and \
         2, half of the threads on each",
        "updates: one row, autocommit, for the same time; confirmed ones count. On error 1213 the client sends the \
         statement again; the report counts these errors separately",
        "load: into node 1, from the client's start until all nodes have all rows",
        "after each workload, all three nodes have exactly the confirmed rows \
         (wsrep_sync_wait=1); `all nodes after s` is the time from the last answer until then",
    ]
    .map(str::to_owned)
    .to_vec()
}
