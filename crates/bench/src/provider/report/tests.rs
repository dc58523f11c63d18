//! The page of a cluster, from invented runs.

use std::time::Duration;

use super::*;
use crate::extent::Extent;
use crate::figures::{MEASURED, OTHER_CPU, error_figure, named};
use crate::page::{Run, RunResult};
use crate::rounds::Measured;

/// A run of one second of wall time and of CPU time.
fn run(contender: Contender, durability: Durability, workload: Workload, rows: f64) -> Run {
    let errors = error_figure(1213);
    let figures =
        [(RATE, rows), (ROW_CPU, 1e6 / rows), (MEASURED, 1.0), (OTHER_CPU, 0.0), (errors.as_str(), rows / 4.0)];
    Run {
        cell: cell(durability, workload),
        contender: contender.title().to_owned(),
        round: 1,
        result: RunResult::Figures(named(figures)),
    }
}

/// One run of each cluster with each durability.
fn example(workload: Workload) -> Page {
    let runs = [
        (Contender::Hortator, Durability::Synced, 1_000.0),
        (Contender::Hortator, Durability::Unsynced, 1_300.0),
        (Contender::Galera, Durability::Synced, 800.0),
        (Contender::Galera, Durability::Unsynced, 1_000.0),
    ];
    let runs = runs.map(|(contender, durability, rows)| run(contender, durability, workload, rows)).to_vec();
    let experiment = Experiment {
        suite: Suite::Cluster,
        extent: Extent::new(1, "").timed(Duration::from_secs(1)),
        workloads: vec![workload],
        scale: 1.0,
    };
    let outcome = Outcome {
        measured: Measured { runs, unfinished: None },
        versions: vec!["server 1".to_owned()],
        contenders: Suite::Cluster.contenders().to_vec(),
        left_out: Vec::new(),
        dump: None,
    };
    page(&experiment, &outcome)
}

#[test]
fn each_durability_pair_compares_its_own_runs_with_its_target() {
    let page = example(Workload::inserts(16, 2, 1)).markdown();
    let named = "16 × 1-row inserts, on two nodes";
    for line in [
        "Hortator synced, Galera not | 16× | 1,000 | 1,000 | 1.00 | 1.0 |",
        "both unsynced | 16× | 1,300 | 1,000 | 1.30 | 1.2 |",
        "both synced | 16× | 1,000 | 800 | 1.25 | 1.3 missed |",
    ] {
        let line = line.replace("16×", named);
        assert!(page.contains(&line), "{line} is not in\n{page}");
    }
}

#[test]
fn errors_1213_are_counted_separately() {
    let page = example(Workload::hot_row(16, 2)).markdown();
    let line = "| synced | 16 × update of one row, on two nodes | Galera | — | — | — | — | 1213 × 200; 0 sent again | 25.0 | — |";
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
