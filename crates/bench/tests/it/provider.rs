//! The provider experiments at a small scale: every contender runs every workload, and every figure is present.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hortator_bench::Error;
use hortator_bench::provider::{Contender, Durability, Experiment, Outcome, Run, Suite, Workload, markdown, table};

use crate::build_provider;

fn experiment(suite: Suite, folder: &tempfile::TempDir, stop: bool) -> Experiment {
    build_provider::build();
    Experiment {
        suite,
        rounds: 1,
        // CPU time is counted in steps of 10 ms.
        time: Duration::from_millis(400),
        workloads: suite.workloads().to_vec(),
        scale: 0.005,
        folder: folder.path().join("bench"),
        stop: Arc::new(AtomicBool::new(stop)),
    }
}

/// Checks that every contender has figures for every workload; returns the page.
fn check(outcome: &Outcome, workloads: &[Workload]) -> String {
    let contenders = outcome.suite.contenders();
    for durability in Durability::ALL {
        for workload in workloads {
            for contender in contenders {
                let is_this =
                    |run: &&Run| (run.durability, run.workload, run.contender) == (durability, *workload, *contender);
                let runs: Vec<_> = outcome.runs.iter().filter(is_this).collect();
                let [run] = runs[..] else { panic!("{durability:?}, {workload:?}, {contender:?}: {runs:?}") };
                let (speed, cpu) = (run.rows_per_s(), run.cpu_us_per_row());
                // The system counts CPU time in steps, and a few rows may take less than one.
                assert!(speed > 0.0 && speed.is_finite() && cpu >= 0.0 && cpu.is_finite(), "{run:?}");
                if *workload == Workload::Load {
                    assert_eq!(Some(run.done.rows), outcome.dump.as_ref().map(|dump| dump.rows));
                }
            }
        }
    }
    for contender in contenders {
        let runs = outcome.runs.iter().filter(|run| run.contender == *contender);
        assert!(runs.map(Run::cpu_us_per_row).sum::<f64>() > 0.0, "{contender:?}");
    }
    assert_eq!(outcome.runs.len(), Durability::ALL.len() * workloads.len() * contenders.len());
    let page = markdown(outcome);
    assert!(page.contains("log.sync=yes") && page.contains("log.sync=no"), "{page}");
    let providers: Vec<_> = outcome.versions.iter().filter(|version| !version.starts_with("server ")).collect();
    assert!(providers.len() == 2 && providers[0] != providers[1], "{providers:?}");
    page
}

/// The number of lines of a page that have a cell with this text.
fn lines(page: &str, title: &str) -> usize {
    page.lines().filter(|line| line.contains(&format!("| {title} |"))).count()
}

#[test]
fn every_single_node_runs_every_workload_with_both_durabilities() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = experiment(Suite::Single, &folder, false).run(&mut |step| println!("{step}")).unwrap();
    let page = check(&outcome, Suite::Single.workloads());
    // Each combination has a line in the table, and one among all runs.
    for contender in [Contender::Hortator, Contender::Galera, Contender::NoProvider] {
        assert_eq!(lines(&page, contender.title()), 2 * outcome.runs.len() / 3, "{page}");
    }
    assert!(table(&outcome).contains("200 × 1-row inserts"));
}

#[test]
fn both_clusters_run_on_one_and_two_nodes_and_each_durability_pair_is_compared() {
    let folder = tempfile::tempdir().unwrap();
    let workloads: Vec<_> = Suite::Cluster.workloads().iter().copied().filter(is_tried).collect();
    assert_eq!(workloads.len(), 4);
    let experiment = Experiment { workloads: workloads.clone(), ..experiment(Suite::Cluster, &folder, false) };
    let outcome = experiment.run(&mut |step| println!("{step}")).unwrap();
    let page = check(&outcome, &workloads);
    for pair in ["Hortator synced, Galera not", "both unsynced", "both synced"] {
        assert_eq!(
            page.lines().filter(|line| line.starts_with(&format!("| {pair} |"))).count(),
            workloads.len(),
            "{page}"
        );
    }
    // Each of the two with two durabilities: in the list of conflicts, and among all runs.
    assert_eq!(lines(&page, "16 × update of one row, on two nodes"), 3 + 4 + 4, "{page}");
    assert!(page.contains("node 1, which bootstrapped the cluster"), "{page}");
    assert!(table(&outcome).contains("16 × 1-row inserts, on two nodes"));
}

/// Two clusters are started twice: with few workloads the test takes long enough.
fn is_tried(workload: &Workload) -> bool {
    ["16x1-on-2", "1x50", "hot16-on-2", "load"].contains(&workload.name().as_str())
}

#[test]
fn an_experiment_stops_when_the_flag_is_set() {
    let folder = tempfile::tempdir().unwrap();
    for suite in [Suite::Single, Suite::Cluster] {
        let ended = experiment(suite, &folder, true).run(&mut |_| {});
        assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
    }
}
