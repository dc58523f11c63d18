//! Experiments that write a page: what was measured, what went wrong, and how two runs compare.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hortator_bench::auto_increment;
use hortator_bench::deployment::Deployment;
use hortator_bench::extent::Extent;
use hortator_bench::fan_in::{Contender, Experiment, Workload, page};
use hortator_bench::page::{Page, RunResult};

use crate::build_provider;

fn bench(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hortator"));
    command.arg("bench").args(arguments);
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&*output.stderr, &*output.stdout].concat()).into_owned()
}

fn read(path: &Path) -> Page {
    Page::from_json("a page", &fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn fan_in_measures_each_contender_with_each_backlog() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let (html, markdown, json) = (file("page.html"), file("page.md"), file("page.json"));
    let backlogs = "small,hot-row,families,large";
    let mut command = bench(&["fan-in", "--sources", "1,2", "--transactions", "50", "--only", backlogs, "--dir"]);
    command.arg(folder.path()).arg("--report").arg(&html).arg("--report").arg(&markdown).arg("--json").arg(&json);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let page = read(&json);
    // Four backlogs, one and two sources, six contenders.
    assert_eq!(page.runs.len(), 4 * 2 * 6);
    for run in &page.runs {
        assert!(run.figure("wall_s").is_some_and(|wall| wall > 0.0), "{run:?}");
        assert!(run.figure("transactions_per_s").is_some_and(|rate| rate > 0.0), "{run:?}");
        assert_eq!(run.figure("agent_peak_mib").is_some(), run.contender.starts_with("hortator"), "{run:?}");
    }
    assert_eq!(page.answers.len(), 8, "{:?}", page.answers);
    for text in [said(&output), fs::read_to_string(&markdown).unwrap(), fs::read_to_string(&html).unwrap()] {
        for part in ["hortator replicate", "16 threads conservative", "families", &page.answers[0]] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }
    // The report of a stored run is the same.
    let again = file("again.html");
    let shown = bench(&["show"]).arg(&json).arg("--report").arg(&again).output().unwrap();
    assert!(shown.status.success() && said(&shown).contains(&page.answers[0]), "{}", said(&shown));
    assert_eq!(fs::read_to_string(&again).unwrap(), fs::read_to_string(&html).unwrap());
    let same = said(&bench(&["compare"]).arg(&json).arg(&json).output().unwrap());
    assert!(same.starts_with("0 of "), "{same}");
}

/// All contenders keep up with a slow rate; the lag and its course are there.
#[test]
fn fan_in_measures_the_lag_while_the_sources_write() {
    let folder = tempfile::tempdir().unwrap();
    let (json, html) = (folder.path().join("page.json"), folder.path().join("page.html"));
    let arguments = ["fan-in", "--sources", "2", "--rate", "100", "--seconds", "1.5", "--only", "live", "--dir"];
    let mut command = bench(&arguments);
    let output = command.arg(folder.path()).arg("--json").arg(&json).arg("--report").arg(&html).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let page = read(&json);
    assert_eq!(page.runs.len(), 6);
    for run in &page.runs {
        assert!(run.figure("transactions_per_s").is_some_and(|rate| rate > 10.0 && rate < 200.0), "{run:?}");
        assert!(run.figure("p50_ms") > Some(0.0) && run.figure("p50_ms") <= run.figure("max_ms"), "{run:?}");
    }
    assert_eq!(page.answers.len(), 1, "{:?}", page.answers);
    assert!(fs::read_to_string(&html).unwrap().contains("Longest lag in each second: 2 sources, 100 transactions/s"));
}

#[test]
fn auto_increment_measures_each_lock_mode_with_the_attribute_and_without() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("page.json");
    build_provider::build();
    let mut command = bench(&["auto-increment", "--rows", "3000", "--connections", "2", "--only", "0,2", "--dir"]);
    let output = command.arg(folder.path()).arg("--json").arg(&json).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let page = read(&json);
    // A server with two modes, two with a provider and mode 2; with and without; the client and two ways.
    assert_eq!(page.runs.len(), (2 + 1 + 1) * 2 * 3);
    for run in &page.runs {
        assert!(run.figure("rows_per_s").is_some_and(|rate| rate > 0.0), "{run:?}");
    }
    assert_eq!(page.answers.len(), (2 + 1 + 1) * 2, "{:?}", page.answers);
}

/// All rows are there, but the next row will have another id than behind the client's load.
#[test]
fn a_loader_that_leaves_another_next_id_has_no_figure() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("another-id");
    let hortator = env!("CARGO_BIN_EXE_hortator");
    let script = format!(
        "#!/bin/sh\nset -e\n{hortator} \"$@\"\nwhile [ \"$1\" != -S ]; do shift; done\nmariadb --no-defaults -S \"$2\" -u root -e 'ALTER TABLE \
         auto_increment.page AUTO_INCREMENT = 7000'\n"
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let experiment = auto_increment::Experiment {
        rows: 2_000,
        deployments: vec![Deployment::Alone],
        modes: vec![auto_increment::LockMode::Consecutive],
        contenders: vec![auto_increment::Contender::Client, auto_increment::Contender::Load(2)],
        hortator: path,
        extent: Extent::new(1, folder.path()),
    };
    let outcome = experiment.run(&mut |_: &str| {}).unwrap();
    let failed: Vec<String> = outcome
        .measured
        .runs
        .iter()
        .filter_map(|run| match &run.result {
            RunResult::Failed(reason) => Some(reason.clone()),
            RunResult::Figures(_) => None,
        })
        .collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    for part in [
        "hortator load, 2 connections left another state than the client",
        "AUTO_INCREMENT=2001",
        "AUTO_INCREMENT=7000",
    ] {
        assert!(failed[0].contains(part), "{part}: {}", failed[0]);
    }
}

/// `hortator` in all it does, but the target loses a row before the end.
fn one_that_loses_a_row(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("loses-a-row");
    let hortator = env!("CARGO_BIN_EXE_hortator");
    let script = format!(
        "#!/bin/sh\nset -e\n[ \"$2\" = wait ] || exec {hortator} \"$@\"\n{hortator} \"$@\"\n\
         socket=$(sed -n 's/^socket = \"\\(.*\\)\"/\\1/p' \"$3\" | head -1)\n\
         mariadb --no-defaults -u root -S \"$socket\" -e 'DELETE FROM d1.hot'\n"
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn a_contender_that_loses_a_row_has_no_figure() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = Experiment {
        sources: vec![1],
        transactions: 20,
        workloads: vec![Workload::HotRow],
        live: None,
        contenders: vec![Contender::Own { threads: 0, is_optimistic: true }, Contender::Hortator],
        hortator: one_that_loses_a_row(folder.path()),
        extent: Extent::new(2, folder.path()),
    };
    let outcome = experiment.run(&mut |_: &str| {}).unwrap();
    let page = page(&experiment, &outcome);
    assert_eq!(page.runs.len(), 4);
    for run in &page.runs {
        match &run.result {
            RunResult::Failed(reason) => {
                assert_eq!(run.contender, "hortator replicate");
                assert_eq!(reason, "hortator replicate left other rows in d1 than the source has");
            }
            RunResult::Figures(_) => assert_eq!(run.contender, "own replication, no parallel threads"),
        }
    }
    assert!(page.has_failures() && page.answers.is_empty(), "{:?}", page.answers);
    let row = &page.sections[0].tables[0].rows[1];
    assert_eq!(row[2..], vec!["—"; 7], "{row:?}");
}

/// What was measured before Ctrl-C is in the report.
#[test]
fn a_stopped_experiment_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let experiment = Experiment {
        sources: vec![1],
        transactions: 20,
        workloads: vec![Workload::HotRow],
        live: None,
        contenders: vec![Contender::Own { threads: 0, is_optimistic: true }],
        hortator: env!("CARGO_BIN_EXE_hortator").into(),
        extent: Extent { stop: Arc::clone(&stop), ..Extent::new(2, folder.path()) },
    };
    let outcome = experiment
        .run(&mut |line: &str| stop.store(line.starts_with("1/2"), std::sync::atomic::Ordering::Relaxed))
        .unwrap();
    let page = page(&experiment, &outcome);
    assert_eq!(page.runs.len(), 1);
    assert!(page.markdown().contains("the experiment was stopped after 1 of 2 runs"), "{}", page.markdown());
}

#[test]
fn reports_that_cannot_be_written_are_refused_before_anything_runs() {
    for (arguments, status, expected) in [
        (&["fan-in", "--report", "page.pdf"][..], 2, "the name of a report ends in .html, .md or .svg"),
        (&["fan-in", "--report", "no/such/page.md"], 1, "the directory no/such does not exist"),
        (&["fan-in", "--quick", "--full"], 2, "cannot be used with"),
        (&["fan-in", "--only", "x"], 2, "the backlogs are small, hot-row, families, large"),
        (&["auto-increment", "--only", "3"], 2, "the modes are 0, 1 and 2; the servers are alone, G1 and H1"),
        (
            &["stress", "--server", "/no/such"],
            1,
            "/no/such has no server: give a folder with bin/mariadbd or bin/mysqld",
        ),
        (&["compare", "no.json", "no.json"], 1, "reading no.json"),
        (&["show", "no.json"], 1, "reading no.json"),
        (&["stress", "--node-set", "sync_binlog=0"], 2, "give NODE:NAME=VALUE, with nodes from 1"),
        (&["employees", "--node-set", "2:sync_binlog=0"], 2, "unexpected argument"),
    ] {
        let output = bench(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", said(&output));
        assert!(said(&output).contains(expected), "{arguments:?}: {}", said(&output));
    }
}
