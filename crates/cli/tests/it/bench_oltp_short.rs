//! `hortator bench oltp-short` at its smallest size, what it says of disks that it cannot limit, and of nodes that lack rows.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use hortator_bench::disk::{Disk, IoController};
use hortator_bench::extent::Extent;
use hortator_bench::oltp_short::{Contender, DiskLimit, Experiment, Mix, find_sysbench, page};
use hortator_bench::page::{Page, RunResult};
use rustix::process::{Pid, Signal, kill_process};

use crate::{build_provider, target};

const SMALLEST: [&str; 7] = ["oltp-short", "--rows", "100", "--windows", "1", "--any-file-system", "--dir"];

fn bench(folder: &Path, arguments: &[&str]) -> Command {
    build_provider::build();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hortator"));
    command.arg("bench").args(SMALLEST).arg(folder).args(arguments).stdin(Stdio::null());
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&*output.stderr, &*output.stdout].concat()).into_owned()
}

/// A folder that the servers' account can enter.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// Control groups of this process's experiments that are there.
fn groups_of(process: u32) -> Vec<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let points = mounts.lines().filter(|line| line.contains(" - cgroup")).filter_map(|line| line.split(' ').nth(4));
    let entries = points.filter_map(|point| fs::read_dir(point).ok()).flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(&format!("hortator-bench-{process}-"))).collect()
}

/// Measures with windows of a second; the page, after the check that nothing failed and no control group is left.
fn measured(folder: &Path, arguments: &[&str]) -> Page {
    let json = folder.join("page.json");
    let mut command = bench(folder, arguments);
    command.args(["--seconds", "3", "--json"]).arg(&json).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let process = child.id();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(groups_of(process), Vec::<String>::new());
    let page = Page::from_json("a page", &fs::read_to_string(&json).unwrap()).unwrap();
    for run in &page.runs {
        for figure in ["steady_transactions_per_s", "with_4_threads_transactions_per_s", "p99_ms", "disk_write_iops"] {
            assert!(run.figure(figure).is_some_and(|figure| figure > 0.0), "{figure}: {run:?}");
        }
        assert_eq!(run.figure("is_steady"), Some(0.0));
    }
    page
}

#[test]
fn servers_and_clusters_run_each_kind_of_transaction_under_a_limit() {
    if target::mysql().is_some() {
        return;
    }
    let folder = folder();
    let arguments = ["--threads", "4", "--disk", "shared", "--only", "alone,H3:2", "--cpus", "0"];
    let page = measured(folder.path(), &arguments);
    assert_eq!(page.runs.len(), 2);
    for run in &page.runs {
        // Five of eight kinds, drawn at random.
        assert!(run.figure("reading_share").is_some_and(|share| (0.3..=0.9).contains(&share)), "{run:?}");
        // What explains a rate.
        assert!(run.figure("commit_mean_ms") > Some(0.0) && run.figure("errors_1047").is_some(), "{run:?}");
        let is_limited = run.cell["disk"] != "raw";
        assert_eq!(run.figure("all_write_iops").is_some_and(|writes| writes > 0.0), is_limited, "{run:?}");
    }
    let [table, states] = &page.sections[0].tables[..] else { panic!("{:?}", page.sections[0].tables) };
    assert!(!states.rows.is_empty() && states.headings[1..] == ["alone", "H3, 2 writers"], "{states:?}");
    assert!(table.rows.iter().all(|row| row[1].starts_with("not steady")), "{:?}", table.rows);
    assert_eq!(page.answers.len(), 1, "{:?}", page.answers);
    // What limits the disk, or why nothing does.
    let settings = page.settings.join(", ");
    match IoController::find(&Disk::of(folder.path()).unwrap()) {
        Ok(controller) => {
            assert!(settings.contains(controller.description()), "{settings}");
            assert!(page.runs.iter().all(|run| run.cell["disk"] == "shared"));
        }
        Err(reason) => {
            assert!(settings.contains("nothing limits the disk"), "{settings}");
            assert!(page.warnings.iter().any(|warning| warning.contains(&reason)), "{:?}", page.warnings);
            assert!(page.runs.iter().all(|run| run.cell["disk"] == "raw"));
        }
    }
    assert!(settings.contains("CPUs of the nodes, the last also for further nodes: 0"), "{settings}");
    let html = page.html();
    for part in
        ["seconds since the restart", "checkpoint age ÷ maximum", "What the connections wait for", "H3, 2 writers"]
    {
        assert!(html.contains(part), "{part}");
    }
}

#[test]
fn every_stock_transaction_writes() {
    if target::mysql().is_some() {
        return;
    }
    let folder = folder();
    let page = measured(folder.path(), &["--threads", "4", "--disk", "raw", "--mix", "stock", "--only", "alone"]);
    assert_eq!(page.runs[0].figure("reading_share"), Some(0.0));
    assert!(page.settings.join(", ").contains("nothing limits the disk"), "{:?}", page.settings);
}

/// sysbench in all it does, but the server that it fills loses a row at the end of the run.
#[test]
fn a_server_that_lacks_a_row_has_no_figure() {
    if target::mysql().is_some() {
        return;
    }
    let folder = folder();
    let sysbench = folder.path().join("loses-a-row");
    let script = format!(
        "#!/bin/sh\nset -e\n{} \"$@\"\nfor last; do :; done\n[ \"$last\" = run ] || exit 0\n\
         socket=$(echo \"$@\" | sed 's/.*--mysql-socket=\\([^ ]*\\).*/\\1/')\n\
         mariadb --no-defaults -u root -S \"$socket\" -e 'DELETE FROM sbtest.sbtest3 WHERE id = 7'\n",
        find_sysbench().unwrap().display()
    );
    fs::write(&sysbench, script).unwrap();
    fs::set_permissions(&sysbench, fs::Permissions::from_mode(0o755)).unwrap();
    let experiment = one_window(folder.path(), sysbench);
    let outcome = experiment.run(&mut |_: &str| {}).unwrap();
    let page = page(&experiment, &outcome);
    let RunResult::Failed(reason) = &page.runs[0].result else { panic!("{:?}", page.runs) };
    assert!(reason.contains("the nodes have 999 rows, but 1000 rows were confirmed"), "{reason}");
    assert!(page.answers.is_empty() && page.has_failures(), "{:?}", page.answers);
    assert_eq!(page.sections[0].tables[0].rows[0][2], "—");
}

/// A window of a second on one server.
fn one_window(folder: &Path, sysbench: std::path::PathBuf) -> Experiment {
    Experiment {
        contenders: vec![Contender::named("alone").unwrap()],
        mixes: vec![Mix::Short],
        limits: vec![DiskLimit::Raw],
        rows: 100,
        settings: Vec::new(),
        window_s: 1,
        windows: 1,
        threads: Vec::new(),
        cpus: Vec::new(),
        sysbench,
        allows_any_file_system: true,
        extent: Extent::new(1, folder),
    }
}

/// sysbench in all it does, but connections that run transactions are closed: sysbench hears of it at the statement that runs
/// or at its next one.
#[test]
fn a_lost_connection_ends_the_run_with_its_reason() {
    if target::mysql().is_some() {
        return;
    }
    let folder = folder();
    let sysbench = folder.path().join("loses-connections");
    let script = format!(
        "#!/bin/sh\nfor last; do :; done\n[ \"$last\" = run ] || exec {sysbench} \"$@\"\n\
         socket=$(echo \"$@\" | sed 's/.*--mysql-socket=\\([^ ]*\\).*/\\1/')\n\
         sql() {{ mariadb --no-defaults -u root -S \"$socket\" -N \"$@\"; }}\n\
         kills=\"SELECT CONCAT('KILL ', ID, ';') FROM information_schema.PROCESSLIST WHERE DB = 'sbtest' AND COMMAND = 'Execute'\"\n\
         (while sleep 0.2; do sql -e \"$kills\" | sql -f; done) > /dev/null 2>&1 &\n\
         {sysbench} \"$@\"; status=$?; kill $!; exit $status\n",
        sysbench = find_sysbench().unwrap().display()
    );
    fs::write(&sysbench, script).unwrap();
    fs::set_permissions(&sysbench, fs::Permissions::from_mode(0o755)).unwrap();
    // The first loss ends it.
    let experiment = Experiment { window_s: 120, ..one_window(folder.path(), sysbench) };
    let outcome = experiment.run(&mut |_: &str| {}).unwrap();
    let page = page(&experiment, &outcome);
    let RunResult::Failed(reason) = &page.runs[0].result else { panic!("{:?}", page.runs) };
    assert!(reason.contains("loses-connections failed"), "{reason}");
    let losses = ["Lost connection", "erver has gone away", "onnection was killed"];
    assert!(losses.iter().any(|loss| reason.contains(loss)), "{reason}");
    assert!(page.answers.is_empty(), "{:?}", page.answers);
}

/// Ctrl-C in the middle of a window: no server, no folder and no control group stays.
#[test]
fn nothing_stays_after_ctrl_c() {
    if target::mysql().is_some() {
        return;
    }
    let folder = folder();
    let arguments = ["--only", "alone", "--disk", "own", "--seconds", "600"];
    let child: Child = bench(folder.path(), &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let log = folder.path().join("sysbench.log");
    for _ in 0..600 {
        if fs::read_to_string(&log).is_ok_and(|log| log.contains("[ 1s ]")) {
            break;
        }
        thread::sleep(Duration::from_millis(100));
    }
    let process = child.id();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    assert!(said(&output).contains("the experiment was stopped after 0 of 1 runs"), "{}", said(&output));
    assert_eq!(groups_of(process), Vec::<String>::new());
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with("hortator-")), "{left:?}");
}

#[test]
fn what_cannot_be_measured_is_refused_before_a_server_starts() {
    if target::mysql().is_some() {
        return;
    }
    let refused = |arguments: &[&str], environment: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hortator"));
        command.args(["bench", "oltp-short"]).args(arguments).envs(environment.iter().copied());
        let output = command.stdin(Stdio::null()).output().unwrap();
        (output.status.code(), said(&output))
    };
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    let memory = memory.path().to_str().unwrap();
    for (arguments, path, status, expected) in [
        (
            &["--dir", memory][..],
            None,
            1,
            "is on tmpfs, where no disk limits the servers: give a folder on a block device",
        ),
        (&["--dir", memory], Some("/no/such/folder"), 1, "sysbench is not installed"),
        (&["--only", "G3"], None, 2, "the servers are alone, G1, G3:1"),
        (&["--mix", "x"], None, 2, "the transactions are short, stock"),
        (&["--disk", "x"], None, 2, "the limits are own, shared, raw"),
        (&["--cpus", "x"], None, 2, "give numbers and ranges of CPUs"),
        (&["--cpus", "0,1000"], None, 1, "this machine has no CPU 1000: give some of 0"),
        (&["--set", "x"], None, 2, "give NAME=VALUE"),
    ] {
        let environment: Vec<(&str, &str)> = path.iter().map(|path| ("PATH", *path)).collect();
        let (code, text) = refused(arguments, &environment);
        assert_eq!(code, Some(status), "{arguments:?}: {text}");
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
    let (_, text) = refused(&[], &[("PATH", "/no/such/folder")]);
    assert!(text.contains("apt-get install sysbench"), "{text}");
}
