//! What is said of clusters: a line for each pair of promises and each workload, with what was aimed at.

use std::fmt::Write as _;

use super::{all, cpu_text, listed, speed_text, spread};
use crate::provider::{Contender, Outcome, Promise, Run, Workload};
use crate::report::{markdown_table, plain_table, thousands};

pub(super) const TITLE: &str = "Three nodes with Hortator's provider and with Galera's";

const HEADINGS: [&str; 9] = [
    "promises",
    "workload",
    "Hortator rows/s, median (min–max)",
    "Galera rows/s",
    "× Galera",
    "aim",
    "Hortator CPU µs/row, median (min–max)",
    "Galera CPU µs/row",
    "× Galera's CPU",
];
/// The first columns, which are words.
const WORDS: usize = 2;

/// Which promise of ours is held against which of Galera's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pair {
    GaleraUnsynced,
    BothUnsynced,
    BothSynced,
}

impl Pair {
    const ALL: [Self; 3] = [Self::GaleraUnsynced, Self::BothUnsynced, Self::BothSynced];

    fn title(self) -> &'static str {
        match self {
            Self::GaleraUnsynced => "Hortator synced, Galera not",
            Self::BothUnsynced => "both unsynced",
            Self::BothSynced => "both synced",
        }
    }

    /// What a confirmed row is worth.
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

    fn promise(self, contender: Contender) -> Promise {
        match (self, contender) {
            (Self::GaleraUnsynced, Contender::Hortator) | (Self::BothSynced, _) => Promise::Synced,
            (Self::GaleraUnsynced, _) | (Self::BothUnsynced, _) => Promise::Unsynced,
        }
    }

    /// How many times as fast as Galera's this should be at least.
    fn aim(self) -> f64 {
        match self {
            Self::GaleraUnsynced => 1.0,
            Self::BothUnsynced => 1.2,
            Self::BothSynced => 1.3,
        }
    }
}

fn cells(pair: Pair, workload: Workload, outcome: &Outcome) -> Option<[String; 9]> {
    let of = |contender, figure| spread(outcome, (pair.promise(contender), workload, contender), figure);
    let speed = (of(Contender::Hortator, Run::rows_per_s)?, of(Contender::Galera, Run::rows_per_s)?);
    let cpu = (of(Contender::Hortator, Run::cpu_us_per_row)?, of(Contender::Galera, Run::cpu_us_per_row)?);
    let ratio = speed.0.median / speed.1.median;
    Some([
        pair.title().to_owned(),
        workload.title(),
        speed_text(speed.0),
        speed_text(speed.1),
        format!("{ratio:.2}"),
        format!("{:.1}{}", pair.aim(), if ratio < pair.aim() { " missed" } else { "" }),
        cpu_text(cpu.0),
        cpu_text(cpu.1),
        format!("{:.2}", cpu.0.median / cpu.1.median),
    ])
}

fn lines(outcome: &Outcome) -> impl Iterator<Item = [String; 9]> {
    let workloads = outcome.lineup.workloads();
    let all = Pair::ALL.into_iter().flat_map(move |pair| workloads.iter().map(move |workload| (pair, *workload)));
    all.filter_map(|(pair, workload)| cells(pair, workload, outcome))
}

pub(super) fn table(outcome: &Outcome) -> String {
    plain_table(&HEADINGS, WORDS, lines(outcome))
}

pub(super) fn facts() -> Vec<String> {
    [
        "three nodes on this machine, so that each row is paid for three times by the same cores; one cluster runs at a \
         time; CPU is that of its three servers together",
        "written to: node 1, which began the history, and with Hortator's provider leads at first; on two nodes: nodes 1 and \
         2, half of the threads on each",
        "updates: one row, autocommit, for the same time; confirmed ones count. An answer 1213 makes the client send the \
         statement again, and is counted apart",
        "load: into node 1, from the client's start until all nodes have all rows",
        "after each workload, all three nodes have been found to have each row that was confirmed, and no other \
         (wsrep_sync_wait=1); `all nodes after s` is how long after the last answer they had got as far",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// The table, what the promises are, and the refused updates.
pub(super) fn body(outcome: &Outcome) -> String {
    let mut text = format!("{}\n## The promises\n\n", markdown_table(&HEADINGS, WORDS, lines(outcome)));
    for pair in Pair::ALL {
        let settings = outcome.lineup.contenders().iter().map(|contender| {
            let settings = listed(contender.settings(pair.promise(*contender)).iter());
            format!("{}: {settings}", contender.title())
        });
        let settings: Vec<String> = settings.collect();
        let (title, meaning, aim) = (pair.title(), pair.meaning(), pair.aim());
        let _ = writeln!(text, "- **{title}**: {meaning}. Aim: {aim:.1} × Galera. {}", settings.join("; "));
    }
    let refused: Vec<_> = refused_lines(outcome).collect();
    if !refused.is_empty() {
        let headings = ["promise", "workload", "server", "confirmed", "1213", "1213 for 100 confirmed"];
        let _ = write!(
            text,
            "\n## Answers 1213\n\nOf all rounds. The servers send an autocommit statement again once by themselves before they \
             answer so (wsrep_retry_autocommit).\n\n{}",
            markdown_table(&headings, 3, refused.into_iter())
        );
    }
    text
}

fn refused_lines(outcome: &Outcome) -> impl Iterator<Item = [String; 6]> {
    all(outcome.lineup).filter_map(|(promise, workload, contender)| {
        let is_this = |run: &&Run| (run.promise, run.workload, run.contender) == (promise, workload, contender);
        let runs = outcome.runs.iter().filter(is_this);
        let (confirmed, refused) = runs.fold((0, 0), |sum, run| (sum.0 + run.done.rows, sum.1 + run.done.refused));
        let is_told = refused > 0 || (confirmed > 0 && matches!(workload, Workload::HotRow(_)));
        is_told.then(|| {
            [
                promise.title().to_owned(),
                workload.title(),
                contender.title().to_owned(),
                thousands(confirmed),
                thousands(refused),
                format!("{:.1}", refused as f64 * 100.0 / confirmed.max(1) as f64),
            ]
        })
    })
}
