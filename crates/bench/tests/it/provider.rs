//! The experiment with our provider in small: every server does every workload, and every figure is there.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hortator_bench::Error;
use hortator_bench::provider::{Contender, Experiment, Promise, Run, Workload, markdown, table};

use crate::build_provider;

fn experiment(folder: &tempfile::TempDir, stop: bool) -> Experiment {
    build_provider::build();
    Experiment {
        rounds: 1,
        // The clock of CPU time has steps of 10 ms.
        time: Duration::from_millis(400),
        workloads: Workload::ALL.to_vec(),
        scale: 0.005,
        folder: folder.path().join("bench"),
        stop: Arc::new(AtomicBool::new(stop)),
    }
}

#[test]
fn every_server_does_every_workload_under_both_promises() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = experiment(&folder, false).run(&mut |step| println!("{step}")).unwrap();
    for promise in Promise::ALL {
        for workload in Workload::ALL {
            for contender in Contender::ALL {
                let is_this = |run: &&Run| (run.promise, run.workload, run.contender) == (promise, workload, contender);
                let runs: Vec<_> = outcome.runs.iter().filter(is_this).collect();
                let [run] = runs[..] else { panic!("{promise:?}, {workload:?}, {contender:?}: {runs:?}") };
                let (speed, cpu) = (run.rows_per_s(), run.cpu_us_per_row());
                assert!(speed > 0.0 && speed.is_finite() && cpu > 0.0 && cpu.is_finite(), "{run:?}");
                if workload == Workload::Load {
                    assert_eq!(Some(run.rows), outcome.dump.as_ref().map(|dump| dump.rows));
                }
            }
        }
    }
    let cells = outcome.runs.len();
    let page = markdown(&outcome);
    // Each cell has a line in the table, and one among all runs.
    let lines = |title: &str| page.lines().filter(|line| line.contains(&format!("| {title} |"))).count();
    assert_eq!(Contender::ALL.map(|contender| lines(contender.title())), [2 * cells / 3; 3], "{page}");
    assert!(page.contains("log.sync=yes") && page.contains("log.sync=no"), "{page}");
    let providers: Vec<_> = outcome.versions.iter().filter(|version| !version.starts_with("server ")).collect();
    assert!(providers.len() == 2 && providers[0] != providers[1], "{providers:?}");
    assert!(table(&outcome).contains("200 × 1-row inserts"));
}

#[test]
fn an_experiment_that_is_told_to_stop_stops() {
    let folder = tempfile::tempdir().unwrap();
    let ended = experiment(&folder, true).run(&mut |_| {});
    assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
}
