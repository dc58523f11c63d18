//! `hortator bench semisync` at its smallest size, and what it says of servers that lose a row, confirm without an
//! acknowledgement, or do not catch up.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hortator_bench::extent::Extent;
use hortator_bench::page::{Page, RunResult};
use hortator_bench::semisync::{Deployment, Experiment, Keys, Storage, page};
use hortator_mysql::{Address, ConnectOptions, Connection};

use crate::{build_provider, target};

fn bench(arguments: &[&str]) -> Command {
    build_provider::build();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hortator"));
    command.args(["bench", "semisync"]).args(arguments);
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&*output.stderr, &*output.stdout].concat()).into_owned()
}

fn reasons(page: &Page) -> Vec<&str> {
    let failed = page.runs.iter().filter_map(|run| match &run.result {
        RunResult::Failed(reason) => Some(reason.as_str()),
        RunResult::Figures(_) => None,
    });
    failed.collect()
}

/// An experiment with one cell, whose servers are below a folder of its own.
fn one_cell(folder: &Path, deployment: Deployment) -> Experiment {
    Experiment {
        deployments: vec![deployment],
        failovers: Vec::new(),
        rows: 10,
        threads: vec![2],
        flush: vec![true],
        appliers: vec![1],
        storage: vec![Storage::Tmpfs],
        keys: vec![Keys::Counter],
        tmpfs: folder.to_owned(),
        catch_up_limit: Duration::from_secs(60),
        extent: Extent::new(1, folder.join("logs")),
    }
}

/// A folder on the tmpfs that the servers' account can reach.
fn tmpfs_folder() -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// The socket of a node, from 1, of the only sandbox in a folder.
fn socket(folder: &Path, node: usize) -> PathBuf {
    let sandboxes = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let sandbox = sandboxes.into_iter().find(|path| path.join("sandbox.json").is_file()).unwrap();
    sandbox.join(format!("node{node}/socket"))
}

fn connect(folder: &Path, node: usize) -> Connection {
    Connection::open(&ConnectOptions::new(Address::Socket(socket(folder, node)), "root")).unwrap()
}

/// The page of an experiment in which `disturb` runs when that line is said.
fn disturbed(experiment: &Experiment, line: &str, mut disturb: impl FnMut()) -> Page {
    let outcome = experiment
        .run(&mut |said: &str| {
            println!("{said}");
            if said.ends_with(line) {
                disturb();
            }
        })
        .unwrap();
    page(experiment, &outcome)
}

fn run_all(connection: &mut Connection, statements: &[&str]) {
    for statement in statements {
        connection.execute(statement.as_bytes()).unwrap();
    }
}

#[test]
fn semisync_measures_every_contender_and_each_setting() {
    if target::mysql().is_some() {
        return;
    }
    let (data, folder) = (tmpfs_folder(), tempfile::tempdir().unwrap());
    let json = folder.path().join("page.json");
    let arguments = ["--rows", "300", "--threads", "8", "--keys", "counter,ranges", "--only", "alone,pair,ring,G2"];
    let mut command = bench(&arguments);
    command.arg("--tmpfs").arg(data.path()).arg("--dir").arg(folder.path()).arg("--json").arg(&json);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let page = Page::from_json("a page", &fs::read_to_string(&json).unwrap()).unwrap();
    // Four deployments, one of them also with two writers; keys by a counter and in ranges.
    assert_eq!(page.runs.len(), 5 * 2);
    for run in &page.runs {
        assert!(run.figure("inserts_per_s").is_some_and(|rate| rate > 0.0), "{run:?}");
        assert!(run.figure("p50_ms") <= run.figure("p99_ms") && run.figure("errors_1213").is_some(), "{run:?}");
    }
    // A sentence for each number of writers of the cluster.
    assert_eq!(page.answers.len(), 2, "{:?}", page.answers);
    let html = page.html();
    for part in ["Inserts on two servers, by threads", "reported for Galera 2.7", "keys by ranges"] {
        assert!(html.contains(part), "{part} is not in {html}");
    }
    // Nothing of the servers is left.
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 0);
}

/// The pair's replica takes over, and no confirmed row is lost.
#[test]
fn a_killed_server_loses_no_confirmed_row() {
    if target::mysql().is_some() {
        return;
    }
    let (data, folder) = (tmpfs_folder(), tempfile::tempdir().unwrap());
    let json = folder.path().join("page.json");
    let mut command = bench(&["--rows", "10000", "--threads", "8", "--failover", "pair,H3"]);
    command.arg("--tmpfs").arg(data.path()).arg("--dir").arg(folder.path()).arg("--json").arg(&json);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let page = Page::from_json("a page", &fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(page.runs.len(), 2);
    for run in &page.runs {
        assert_eq!(run.figure("lost_rows"), Some(0.0), "{run:?}");
        // Each thread of the killed server lost its connection, but for those that found no row left.
        assert!(run.figure("errors_2013").is_some_and(|lost| lost > 0.0 && lost <= 8.0), "{run:?}");
        assert!(run.figure("outage_s").is_some_and(|outage| outage > 0.0), "{run:?}");
        assert!(run.figure("after_per_s").is_some_and(|rate| rate > 0.0), "{run:?}");
    }
    assert!(page.answers.len() == 2 && page.answers.iter().all(|answer| answer.ends_with("rows, none are lost.")));
    assert_eq!(page.sections.len(), 1, "nothing was measured undisturbed");
    assert!(page.html().contains("seconds since the kill"));
}

#[test]
fn a_replica_that_loses_a_row_leaves_no_figure() {
    if target::mysql().is_some() {
        return;
    }
    let folder = tmpfs_folder();
    let experiment = one_cell(folder.path(), Deployment::Ring);
    for (statement, expected) in [
        (
            "DELETE FROM semisync.tab1 LIMIT 1",
            "after workload 2 threads the nodes have 10, 9 rows, but 10 rows were confirmed",
        ),
        ("UPDATE semisync.tab1 SET c2 = 'x' LIMIT 1", "node 2 has other values than were inserted: SUM(CRC32(c2)) is "),
    ] {
        let lose = || run_all(&mut connect(folder.path(), 2), &["SET sql_log_bin = 0", statement]);
        let page = disturbed(&experiment, "comparing the servers", lose);
        assert!(reasons(&page).len() == 1 && reasons(&page)[0].contains(expected), "{:?}", reasons(&page));
        assert!(page.has_failures() && page.answers.is_empty(), "{:?}", page.answers);
    }
}

/// Kills the connection of a thread that inserts, unless the server is gone before.
fn kill_an_insert(socket: PathBuf) {
    let options = ConnectOptions::new(Address::Socket(socket), "root");
    let Ok(mut connection) = Connection::open(&options) else { return };
    let ids = "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE 'INSERT INTO semisync.tab1%'";
    while let Ok(rows) = connection.fetch(ids.as_bytes()) {
        for id in rows.into_iter().flatten().flatten() {
            // It may have ended by itself.
            if connection.execute(format!("KILL {}", String::from_utf8_lossy(&id)).as_bytes()).is_ok() {
                return;
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// What another client has inserted already is counted as refused, and what it adds is found; a closed connection is opened
/// again.
#[test]
fn expected_errors_are_counted_beside_the_figure() {
    if target::mysql().is_some() {
        return;
    }
    let folder = tmpfs_folder();
    let mut experiment = one_cell(folder.path(), Deployment::Alone);
    experiment.rows = 200_000;
    std::thread::scope(|scope| {
        // Beside the threads, which insert meanwhile.
        let page = disturbed(&experiment, "inserting", || {
            let socket = socket(folder.path(), 1);
            drop(scope.spawn(|| kill_an_insert(socket)));
        });
        assert_eq!(reasons(&page), [""; 0]);
        let lost = page.runs[0].figure("errors_2013");
        assert!(
            lost.is_some_and(|lost| lost >= 1.0) && page.runs[0].figure("inserts_per_s") > Some(0.0),
            "{:?}",
            page.runs
        );
        let row = page.sections[0].tables[0].rows[0].join(" | ");
        assert!(row.contains("lost connection × "), "{row}");
    });
    // The keys of one of the two threads are there already: its rows are refused, and those that are there are not the run's.
    experiment.rows = 10;
    let page = disturbed(&experiment, "inserting", || {
        run_all(&mut connect(folder.path(), 1), &["INSERT INTO semisync.tab1 VALUES (0, 'x')"]);
    });
    assert_eq!(reasons(&page).len(), 1, "{:?}", page.runs);
    assert!(reasons(&page)[0].contains("the nodes have 10 rows, but 9 rows were confirmed"), "{:?}", reasons(&page));
}

/// The replica is not semi-synchronous any more, and the source does not wait long for one that is.
#[test]
fn a_pair_that_fell_back_leaves_no_figure() {
    if target::mysql().is_some() {
        return;
    }
    let folder = tmpfs_folder();
    let experiment = one_cell(folder.path(), Deployment::Pair);
    let fall_back = || {
        run_all(&mut connect(folder.path(), 1), &["SET GLOBAL rpl_semi_sync_master_timeout = 1"]);
        let replica = ["STOP SLAVE", "SET GLOBAL rpl_semi_sync_slave_enabled = OFF", "START SLAVE"];
        run_all(&mut connect(folder.path(), 2), &replica);
    };
    let page = disturbed(&experiment, "inserting", fall_back);
    assert!(reasons(&page)[0].starts_with("node 1 fell back to asynchronous, "), "{:?}", reasons(&page));
    assert!(reasons(&page)[0].contains("Rpl_semi_sync_master_status is OFF at the end"), "{:?}", reasons(&page));
}

#[test]
fn servers_that_do_not_catch_up_leave_no_figure() {
    if target::mysql().is_some() {
        return;
    }
    let folder = tmpfs_folder();
    // A replica whose applier rests, and a node of a cluster that waits for a lock of its own.
    for (deployment, node, statement) in
        [(Deployment::Pair, 2, "STOP SLAVE SQL_THREAD"), (Deployment::Galera(3), 3, "FLUSH TABLES WITH READ LOCK")]
    {
        let mut experiment = one_cell(folder.path(), deployment);
        experiment.catch_up_limit = Duration::from_secs(10);
        let mut lock = None;
        let page = disturbed(&experiment, "inserting", || {
            let mut connection = connect(folder.path(), node);
            run_all(&mut connection, &[statement]);
            lock = Some(connection);
        });
        let reason = reasons(&page)[0];
        assert!(reason.starts_with(&format!("node {node} has applied ")), "{reason}");
        assert!(reason.ends_with(" after 10 s: read its error log"), "{reason}");
    }
}

/// What was measured before Ctrl-C is in the report.
#[test]
fn a_stopped_experiment_keeps_its_runs() {
    if target::mysql().is_some() {
        return;
    }
    let folder = tmpfs_folder();
    let mut experiment = one_cell(folder.path(), Deployment::Alone);
    experiment.threads = vec![2, 1];
    let stop = Arc::clone(&experiment.extent.stop);
    let outcome = experiment.run(&mut |line: &str| stop.store(line.starts_with("1/2"), Ordering::Relaxed)).unwrap();
    let page = page(&experiment, &outcome);
    assert_eq!(page.runs.len(), 1);
    assert!(page.markdown().contains("the experiment was stopped after 1 of 2 runs"), "{}", page.markdown());
}

#[test]
fn what_cannot_be_measured_is_refused() {
    for (arguments, expected) in [
        (["--only", "G4"], "the servers are alone, alone-binlog, pair, ring, G2, H2, G3, H3"),
        (["--failover", "G2"], "the servers of which one can be lost are pair, ring, G3, H3"),
        (["--storage", "x"], "the kinds of storage are tmpfs, disk"),
        (["--keys", "x"], "the kinds of keys are counter, ranges"),
        (["--threads", "801"], "801 is not in 1..=800"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_hortator")).args(["bench", "semisync"]).args(arguments).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains(expected), "{arguments:?}: {}", said(&output));
    }
    if target::mysql().is_some() {
        return;
    }
    // A folder that is no tmpfs has no figure, but a reason.
    let folder = tempfile::tempdir().unwrap();
    let mut command = bench(&["--only", "alone", "--rows", "10", "--threads", "1", "--tmpfs", "/proc", "--dir"]);
    let output = command.arg(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("/proc is no tmpfs: mount one and name it with --tmpfs"), "{}", said(&output));
}
