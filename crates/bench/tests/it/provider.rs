//! The provider experiments at a small scale: every contender runs every workload, and every figure is present.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hortator_bench::extent::Extent;
use hortator_bench::page::Page;
use hortator_bench::provider::{Contender, Experiment, Suite, Workload, page};

use crate::build_provider;

fn experiment(suite: Suite, folder: &tempfile::TempDir, stop: bool) -> Experiment {
    build_provider::build();
    let extent = Extent { stop: Arc::new(AtomicBool::new(stop)), ..Extent::new(1, folder.path().join("bench")) };
    Experiment {
        suite,
        // CPU time is counted in steps of 10 ms.
        extent: extent.timed(Duration::from_millis(400)),
        workloads: suite.workloads().to_vec(),
        scale: 0.005,
    }
}

/// Runs it, and checks that every contender has figures for every workload with both durabilities.
fn measured(experiment: &Experiment) -> Page {
    let outcome = experiment.run(&mut |step: &str| println!("{step}")).unwrap();
    let page = page(experiment, &outcome);
    let contenders = experiment.suite.contenders();
    assert_eq!(page.runs.len(), 2 * experiment.workloads.len() * contenders.len());
    for run in &page.runs {
        assert!(run.figure("rows_per_s").is_some_and(|rate| rate > 0.0), "{run:?}");
        // On a busy machine no statement may begin and end within so short a window: then there is no latency.
        if let Some(longest) = run.figure("max_ms") {
            assert!(longest > 0.0 && run.figure("p50_ms").is_some_and(|half| half <= longest), "{run:?}");
        }
    }
    for contender in contenders {
        let runs = || page.runs.iter().filter(|run| run.contender == contender.title());
        assert!(runs().any(|run| run.figure("p99_ms").is_some()), "{contender:?}");
        assert!(runs().filter_map(|run| run.figure("server_cpu_us_per_row")).sum::<f64>() > 0.0, "{contender:?}");
    }
    let text = page.markdown();
    assert!(text.contains("log.sync=yes") && text.contains("log.sync=no"), "{text}");
    let providers: Vec<_> = page.versions.iter().filter(|version| !version.starts_with("server ")).collect();
    assert!(providers.len() == 2 && providers[0] != providers[1], "{providers:?}");
    page
}

#[test]
fn every_single_node_runs_every_workload_with_both_durabilities() {
    let folder = tempfile::tempdir().unwrap();
    let page = measured(&experiment(Suite::Single, &folder, false));
    let rows = &page.sections[0].tables[0].rows;
    for contender in [Contender::Hortator, Contender::Galera, Contender::NoProvider] {
        assert_eq!(rows.iter().filter(|row| row[2] == contender.title()).count(), 2 * 6, "{rows:?}");
    }
    assert!(page.terminal().contains("200 × 1-row inserts"));
    // Hortator against Galera, for each durability.
    assert_eq!(page.answers.len(), 2, "{:?}", page.answers);
}

#[test]
fn both_clusters_run_on_one_and_two_nodes_and_each_durability_pair_is_compared() {
    let folder = tempfile::tempdir().unwrap();
    let workloads: Vec<_> = Suite::Cluster.workloads().iter().copied().filter(is_tried).collect();
    assert_eq!(workloads.len(), 4);
    let page = measured(&Experiment { workloads, ..experiment(Suite::Cluster, &folder, false) });
    let rows = &page.sections[0].tables[0].rows;
    for pair in ["Hortator synced, Galera not", "both unsynced", "both synced"] {
        let of_pair = rows.iter().filter(|row| row[0] == pair && row.iter().all(|cell| cell != "—"));
        assert_eq!(of_pair.count(), 4, "{rows:?}");
    }
    assert!(page.markdown().contains("node 1, which bootstrapped the cluster"), "{}", page.markdown());
}

/// Two clusters are started twice: with few workloads the test takes long enough.
fn is_tried(workload: &Workload) -> bool {
    ["16x1-on-2", "1x50", "hot16-on-2", "load"].contains(&workload.name().as_str())
}

#[test]
fn an_experiment_stops_when_the_flag_is_set() {
    let folder = tempfile::tempdir().unwrap();
    for suite in [Suite::Single, Suite::Cluster] {
        let experiment = experiment(suite, &folder, true);
        let outcome = experiment.run(&mut |_: &str| {}).unwrap();
        assert!(outcome.measured.runs.is_empty());
        assert!(page(&experiment, &outcome).warnings[0].starts_with("the experiment was stopped after 0 of "));
    }
}
