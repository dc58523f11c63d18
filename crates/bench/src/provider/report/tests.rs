//! The page of a cluster, from invented runs.

use std::time::Duration;

use super::*;
use crate::provider::{Done, ResourceUsage};

/// A run of one second of wall time and of CPU time.
fn run(contender: Contender, durability: Durability, workload: Workload, rows: u64) -> Run {
    let second = Duration::from_secs(1);
    let usage = ResourceUsage { wall: second, server_cpu: second, own_cpu: Duration::ZERO, other_cpu: Duration::ZERO };
    Run { durability, workload, contender, done: Done { rows, conflicts: rows / 4, usage, apply_lag: Duration::ZERO } }
}

/// One run of each cluster with each durability.
fn outcome(workload: Workload) -> Outcome {
    let runs = [
        (Contender::Hortator, Durability::Synced, 1_000),
        (Contender::Hortator, Durability::Unsynced, 1_300),
        (Contender::Galera, Durability::Synced, 800),
        (Contender::Galera, Durability::Unsynced, 1_000),
    ];
    let runs = runs.map(|(contender, durability, rows)| run(contender, durability, workload, rows)).to_vec();
    Outcome {
        suite: Suite::Cluster,
        rounds: 1,
        time: Duration::from_secs(1),
        dump: None,
        runs,
        versions: vec!["server 1".to_owned()],
    }
}

#[test]
fn each_durability_pair_compares_its_own_runs_with_its_target() {
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
fn errors_1213_are_counted_separately() {
    let page = markdown(&outcome(Workload::hot_row(16, 2)));
    let line = "| synced | 16 × update of one row, on two nodes | Galera | 800 | 200 | 25.0 |";
    assert!(page.contains(line), "{line} is not in\n{page}");
}

#[test]
fn every_workload_has_a_name_of_its_own() {
    for suite in [Suite::Single, Suite::Cluster] {
        for own in [Workload::name, Workload::title] {
            let mut names: Vec<String> = suite.workloads().iter().map(|workload| own(*workload)).collect();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), suite.workloads().len(), "{names:?}");
        }
    }
}
