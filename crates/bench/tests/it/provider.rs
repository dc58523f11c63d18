//! The experiments with our provider in small: everybody does every workload, and every figure is there.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hortator_bench::Error;
use hortator_bench::provider::{Contender, Experiment, Lineup, Outcome, Promise, Run, Workload, markdown, table};

use crate::build_provider;

fn experiment(lineup: Lineup, folder: &tempfile::TempDir, stop: bool) -> Experiment {
    build_provider::build();
    Experiment {
        lineup,
        rounds: 1,
        // The clock of CPU time has steps of 10 ms.
        time: Duration::from_millis(400),
        workloads: lineup.workloads().to_vec(),
        scale: 0.005,
        folder: folder.path().join("bench"),
        stop: Arc::new(AtomicBool::new(stop)),
    }
}

/// Every workload by everybody, with figures; the page.
fn check(outcome: &Outcome, workloads: &[Workload]) -> String {
    let contenders = outcome.lineup.contenders();
    for promise in Promise::ALL {
        for workload in workloads {
            for contender in contenders {
                let is_this =
                    |run: &&Run| (run.promise, run.workload, run.contender) == (promise, *workload, *contender);
                let runs: Vec<_> = outcome.runs.iter().filter(is_this).collect();
                let [run] = runs[..] else { panic!("{promise:?}, {workload:?}, {contender:?}: {runs:?}") };
                let (speed, cpu) = (run.rows_per_s(), run.cpu_us_per_row());
                // The system counts processors' time in steps, and a few rows may take less than one.
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
    assert_eq!(outcome.runs.len(), Promise::ALL.len() * workloads.len() * contenders.len());
    let page = markdown(outcome);
    assert!(page.contains("log.sync=yes") && page.contains("log.sync=no"), "{page}");
    let providers: Vec<_> = outcome.versions.iter().filter(|version| !version.starts_with("server ")).collect();
    assert!(providers.len() == 2 && providers[0] != providers[1], "{providers:?}");
    page
}

/// Lines of a page that have a cell of this text.
fn lines(page: &str, title: &str) -> usize {
    page.lines().filter(|line| line.contains(&format!("| {title} |"))).count()
}

#[test]
fn every_single_node_does_every_workload_under_both_promises() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = experiment(Lineup::Single, &folder, false).run(&mut |step| println!("{step}")).unwrap();
    let page = check(&outcome, Lineup::Single.workloads());
    // Each cell has a line in the table, and one among all runs.
    for contender in [Contender::Hortator, Contender::Galera, Contender::Alone] {
        assert_eq!(lines(&page, contender.title()), 2 * outcome.runs.len() / 3, "{page}");
    }
    assert!(table(&outcome).contains("200 × 1-row inserts"));
}

#[test]
fn both_clusters_work_on_one_node_and_on_two_and_each_pair_of_promises_is_compared() {
    let folder = tempfile::tempdir().unwrap();
    let workloads: Vec<_> = Lineup::Cluster.workloads().iter().copied().filter(is_tried).collect();
    assert_eq!(workloads.len(), 4);
    let experiment = Experiment { workloads: workloads.clone(), ..experiment(Lineup::Cluster, &folder, false) };
    let outcome = experiment.run(&mut |step| println!("{step}")).unwrap();
    let page = check(&outcome, &workloads);
    for pair in ["Hortator synced, Galera not", "both unsynced", "both synced"] {
        assert_eq!(
            page.lines().filter(|line| line.starts_with(&format!("| {pair} |"))).count(),
            workloads.len(),
            "{page}"
        );
    }
    // Each of the two under two promises: in the list of refused updates, and among all runs.
    assert_eq!(lines(&page, "16 × update of one row, on two nodes"), 3 + 4 + 4, "{page}");
    assert!(page.contains("node 1, which began the history"), "{page}");
    assert!(table(&outcome).contains("16 × 1-row inserts, on two nodes"));
}

/// Two clusters are started twice: with few workloads the test takes long enough.
fn is_tried(workload: &Workload) -> bool {
    ["16x1-on-2", "1x50", "hot16-on-2", "load"].contains(&workload.name().as_str())
}

#[test]
fn an_experiment_that_is_told_to_stop_stops() {
    let folder = tempfile::tempdir().unwrap();
    for lineup in [Lineup::Single, Lineup::Cluster] {
        let ended = experiment(lineup, &folder, true).run(&mut |_| {});
        assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
    }
}
