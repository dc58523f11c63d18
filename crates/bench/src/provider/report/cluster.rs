//! The report on clusters: a line for each pair of durabilities and each workload, with the target.

use std::fmt::Write as _;

use super::{all, cpu_text, listed, speed_text, spread};
use crate::provider::{Contender, Durability, Outcome, Run, Workload};
use crate::report::{markdown_table, plain_table, thousands};

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

fn cells(pair: DurabilityPair, workload: Workload, outcome: &Outcome) -> Option<[String; 9]> {
    let of = |contender, figure| spread(outcome, (pair.durability(contender), workload, contender), figure);
    let speed = (of(Contender::Hortator, Run::rows_per_s)?, of(Contender::Galera, Run::rows_per_s)?);
    let cpu = (of(Contender::Hortator, Run::cpu_us_per_row)?, of(Contender::Galera, Run::cpu_us_per_row)?);
    let ratio = speed.0.median / speed.1.median;
    Some([
        pair.title().to_owned(),
        workload.title(),
        speed_text(speed.0),
        speed_text(speed.1),
        format!("{ratio:.2}"),
        format!("{:.1}{}", pair.target(), if ratio < pair.target() { " missed" } else { "" }),
        cpu_text(cpu.0),
        cpu_text(cpu.1),
        format!("{:.2}", cpu.0.median / cpu.1.median),
    ])
}

fn lines(outcome: &Outcome) -> impl Iterator<Item = [String; 9]> {
    let workloads = outcome.suite.workloads();
    let all =
        DurabilityPair::ALL.into_iter().flat_map(move |pair| workloads.iter().map(move |workload| (pair, *workload)));
    all.filter_map(|(pair, workload)| cells(pair, workload, outcome))
}

pub(super) fn table(outcome: &Outcome) -> String {
    plain_table(&HEADINGS, WORDS, lines(outcome))
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

/// The table, the meaning of the durabilities, and the conflicts.
pub(super) fn body(outcome: &Outcome) -> String {
    let mut text = format!("{}\n## Durability\n\n", markdown_table(&HEADINGS, WORDS, lines(outcome)));
    for pair in DurabilityPair::ALL {
        let settings = outcome.suite.contenders().iter().map(|contender| {
            let settings = listed(contender.settings(pair.durability(*contender)).iter());
            format!("{}: {settings}", contender.title())
        });
        let settings: Vec<String> = settings.collect();
        let (title, meaning, target) = (pair.title(), pair.meaning(), pair.target());
        let _ = writeln!(text, "- **{title}**: {meaning}. Target: {target:.1} × Galera. {}", settings.join("; "));
    }
    let conflicts: Vec<_> = conflict_lines(outcome).collect();
    if !conflicts.is_empty() {
        let headings = ["durability", "workload", "server", "confirmed", "1213", "1213 per 100 confirmed"];
        let _ = write!(
            text,
            "\n## Error 1213\n\nSum of all rounds. The servers retry an autocommit statement once before they \
             return error 1213 (wsrep_retry_autocommit).\n\n{}",
            markdown_table(&headings, 3, conflicts.into_iter())
        );
    }
    text
}

fn conflict_lines(outcome: &Outcome) -> impl Iterator<Item = [String; 6]> {
    all(outcome.suite).filter_map(|(durability, workload, contender)| {
        let is_this = |run: &&Run| (run.durability, run.workload, run.contender) == (durability, workload, contender);
        let runs = outcome.runs.iter().filter(is_this);
        let (confirmed, conflicts) = runs.fold((0, 0), |sum, run| (sum.0 + run.done.rows, sum.1 + run.done.conflicts));
        let is_listed = conflicts > 0 || (confirmed > 0 && matches!(workload, Workload::HotRow(_)));
        is_listed.then(|| {
            [
                durability.title().to_owned(),
                workload.title(),
                contender.title().to_owned(),
                thousands(confirmed),
                thousands(conflicts),
                format!("{:.1}", conflicts as f64 * 100.0 / confirmed.max(1) as f64),
            ]
        })
    })
}
