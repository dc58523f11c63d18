//! The page of a cluster, from runs that were made up.

use std::time::Duration;

use super::*;
use crate::provider::{Done, Spent};

/// A run of a second that took as much of the servers' CPU.
fn run(contender: Contender, promise: Promise, workload: Workload, rows: u64) -> Run {
    let second = Duration::from_secs(1);
    let spent = Spent { wall: second, server_cpu: second, other_cpu: Duration::ZERO };
    Run { promise, workload, contender, done: Done { rows, refused: rows / 4, spent, behind: Duration::ZERO } }
}

/// One run of each cluster under each promise.
fn outcome(workload: Workload) -> Outcome {
    let runs = [
        (Contender::Hortator, Promise::Synced, 1_000),
        (Contender::Hortator, Promise::Unsynced, 1_300),
        (Contender::Galera, Promise::Synced, 800),
        (Contender::Galera, Promise::Unsynced, 1_000),
    ];
    let runs = runs.map(|(contender, promise, rows)| run(contender, promise, workload, rows)).to_vec();
    Outcome {
        lineup: Lineup::Cluster,
        rounds: 1,
        time: Duration::from_secs(1),
        dump: None,
        runs,
        versions: vec!["server 1".to_owned()],
    }
}

#[test]
fn each_pair_of_promises_has_its_own_two_runs_and_its_aim() {
    let page = markdown(&outcome(Workload::inserts(16, 2, 1)));
    let named = "16 × 1-row inserts, on two nodes";
    for line in [
        "Hortator synced, Galera not | 16× | 1,000 (1,000–1,000) | 1,000 (1,000–1,000) | 1.00 | 1.0 |",
        "both unsynced | 16× | 1,300 (1,300–1,300) | 1,000 (1,000–1,000) | 1.30 | 1.2 |",
        "both synced | 16× | 1,000 (1,000–1,000) | 800 (800–800) | 1.25 | 1.3 missed |",
    ] {
        let line = line.replace("16×", named);
        assert!(page.contains(&line), "{line} is not in\n{page}");
    }
}

#[test]
fn answers_1213_are_counted_apart() {
    let page = markdown(&outcome(Workload::hot_row(16, 2)));
    let line = "| synced | 16 × update of one row, on two nodes | Galera | 800 | 200 | 25.0 |";
    assert!(page.contains(line), "{line} is not in\n{page}");
}

#[test]
fn every_workload_has_a_name_of_its_own() {
    for lineup in [Lineup::Single, Lineup::Cluster] {
        for own in [Workload::name, Workload::title] {
            let mut names: Vec<String> = lineup.workloads().iter().map(|workload| own(*workload)).collect();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), lineup.workloads().len(), "{names:?}");
        }
    }
}
