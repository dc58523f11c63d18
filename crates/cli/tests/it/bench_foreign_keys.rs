//! `hortator bench foreign-keys`, `stress` and `all` at their smallest size, and what they say of servers, loaders and nodes
//! that do not keep what they should.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hortator_bench::deployment::Deployment;
use hortator_bench::extent::Extent;
use hortator_bench::page::{Page, RunResult};
use hortator_bench::{foreign_keys, stress};

use crate::{build_provider, target};

fn bench(folder: &Path, arguments: &[&str]) -> Command {
    build_provider::build();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hortator"));
    command.arg("bench").args(arguments).arg("--dir").arg(folder);
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&*output.stderr, &*output.stdout].concat()).into_owned()
}

/// Runs an experiment; its output and its page.
fn measured(folder: &Path, arguments: &[&str], environment: &[(&str, String)]) -> (Output, Page) {
    let json = folder.join("page.json");
    let mut command = bench(folder, arguments);
    command.arg("--json").arg(&json).envs(environment.iter().map(|(name, value)| (name, value)));
    let output = command.output().unwrap();
    let text = fs::read_to_string(&json).unwrap_or_else(|_| panic!("{}", said(&output)));
    (output, Page::from_json("a page", &text).unwrap())
}

fn reasons(page: &Page) -> Vec<&str> {
    let failed = page.runs.iter().filter_map(|run| match &run.result {
        RunResult::Failed(reason) => Some(reason.as_str()),
        RunResult::Figures(_) => None,
    });
    failed.collect()
}

/// A program of this name in a folder of its own, which comes first in the PATH.
fn in_front(folder: &Path, name: &str, script: &str) -> (&'static str, String) {
    let programs = folder.join("programs");
    fs::create_dir_all(&programs).unwrap();
    executable(&programs.join(name), script);
    // The servers' account looks there, too.
    for shared in [folder, &programs] {
        fs::set_permissions(shared, fs::Permissions::from_mode(0o755)).unwrap();
    }
    ("PATH", format!("{}:{}", programs.display(), std::env::var("PATH").unwrap()))
}

/// The installed server.
fn server() -> &'static str {
    ["/usr/sbin/mariadbd", "/usr/bin/mariadbd"].into_iter().find(|path| Path::new(path).is_file()).unwrap()
}

fn executable(path: &Path, script: &str) {
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn foreign_keys_measures_every_loader_and_every_statement_size() {
    if target::mysql().is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["foreign-keys", "--scale", "0.001", "--seconds", "0.5", "--only", "alone,G3,H1"];
    let (output, page) = measured(folder.path(), &arguments, &[]);
    assert!(output.status.success(), "{}", said(&output));
    // Four loaders with foreign keys and three without; six sizes with and without.
    assert_eq!(page.runs.len(), 3 * (7 + 12));
    for run in &page.runs {
        assert!(run.figure("rows_per_s").is_some_and(|rate| rate > 0.0), "{run:?}");
    }
    // The answers to both parts of the question; a sentence for each deployment's loads, and one for its sweep.
    assert_eq!(page.answers.len(), 2 + 3 * 2, "{:?}", page.answers);
    let reported: Vec<&str> = page.sections[0].tables[0].rows.iter().map(|row| row[7].as_str()).collect();
    assert_eq!(reported.iter().filter(|cell| **cell == "25.3").count(), 1, "{reported:?}");
    let html = page.html();
    assert!(html.contains("reported for Galera 25.3") && html.contains("rows per statement"), "{html}");
}

/// A loader that is right on node 1 and leaves a row without its parent on node 2.
fn one_that_loses_a_parent(folder: &Path) -> PathBuf {
    let path = folder.join("loses-a-parent");
    let hortator = env!("CARGO_BIN_EXE_hortator");
    executable(
        &path,
        &format!(
            "#!/bin/sh\nset -e\n{hortator} \"$@\"\n[ \"$1\" = load ] || exit 0\n\
             while [ \"$1\" != --nodes ]; do shift; done\nothers=${{2#*,}}\n\
             mariadb --no-defaults -u root -S \"${{others%%,*}}\" -e 'SET wsrep_sync_wait = 1; SELECT 1; SET wsrep_on = 0, \
             foreign_key_checks = 0; UPDATE employees.salaries SET emp_no = 1 LIMIT 1'\n"
        ),
    );
    path
}

#[test]
fn a_row_without_its_parent_on_one_node_leaves_no_figure() {
    if target::mysql().is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let experiment = foreign_keys::Experiment {
        loads: vec![Deployment::Galera(2)],
        sweep: Vec::new(),
        parents: Vec::new(),
        only: Vec::new(),
        scale: 0.001,
        hortator: one_that_loses_a_parent(folder.path()),
        extent: Extent::new(1, folder.path()).timed(Duration::from_millis(100)),
    };
    let outcome = experiment.run(&mut |line: &str| println!("{line}")).unwrap();
    let page = foreign_keys::page(&experiment, &outcome);
    assert_eq!(page.runs.len(), 7);
    for run in &page.runs {
        let keys = run.cell["foreign_keys"].as_str();
        match (&run.result, run.contender.as_str()) {
            (RunResult::Failed(reason), "hortator load, keys deferred") => {
                assert_eq!(
                    reason,
                    "node 2: employees.salaries (emp_no) has 1 row without its parent in employees.employees"
                );
            }
            (RunResult::Failed(reason), "hortator load") => {
                assert!(reason.starts_with("node 2 has another state: rows of salaries"), "{keys}: {reason}");
            }
            (RunResult::Figures(_), contender) => assert!(contender.starts_with("client, "), "{run:?}"),
            (RunResult::Failed(_), _) => panic!("{run:?}"),
        }
    }
    assert!(page.has_failures());
    let load = page.sections[0].tables[0].rows.iter().find(|row| row[1] == "hortator load").unwrap();
    assert!(load[3] == "—" && load[6] == "—", "{load:?}");
}

/// One node of a cluster has a setting of its own; the report says so, and its command has it.
#[test]
fn a_node_can_have_settings_of_its_own() {
    if target::mysql().is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["stress", "--only", "alone,G3", "--threads", "1", "--rows", "1", "--seconds", "0.3", "--node-set"];
    let (output, page) = measured(folder.path(), &[&arguments[..], &["2:innodb_io_capacity=333"]].concat(), &[]);
    assert!(output.status.success(), "{}", said(&output));
    let warning = "node 2 of each cluster, pair and ring has innodb_io_capacity=333: its settings are not compared";
    assert!(page.warnings.iter().any(|line| line.starts_with(warning)), "{:?}", page.warnings);
    assert!(page.command.ends_with(" --node-set '2:innodb_io_capacity=333'"), "{}", page.command);
    // The node has it, and no other: a name that the server does not know keeps only the cluster from starting.
    let output = bench(folder.path(), &[&arguments[..], &["3:no_such_setting=1"]].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let text = said(&output);
    assert!(text.contains("G3 did not start") && text.contains("node 3"), "{text}");
    assert!(!text.contains("alone did not start"), "{text}");
}

/// The client is what all others are compared with.
#[test]
fn a_client_that_loses_a_row_ends_with_status_1() {
    if target::mysql().is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = "#!/bin/sh\n/usr/bin/mariadb \"$@\" || exit\n[ \"$1\" = --version ] || /usr/bin/mariadb \"$@\" -e 'DELETE FROM \
                  employees.salaries LIMIT 1'\n";
    let path = in_front(folder.path(), "mariadb", script);
    let arguments = ["foreign-keys", "--scale", "0.001", "--only", "alone,loads"];
    let (output, page) = measured(folder.path(), &arguments, &[path]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert_eq!(reasons(&page).len(), 7);
    assert!(reasons(&page)[0].starts_with("after workload the client's load the nodes have "), "{:?}", reasons(&page));
    assert!(page.answers.is_empty(), "{:?}", page.answers);
}

/// The programs that load run in the folder of their files.
#[test]
fn a_relative_folder_is_that_of_the_caller() {
    if target::mysql().is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["foreign-keys", "--scale", "0.001", "--only", "alone,loads"][..],
        &["employees", "--scale", "0.005", "--only", "client,hortator,myloader"],
    ] {
        let output = bench(Path::new("here"), arguments).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        assert!(folder.path().join("here").is_dir());
    }
}

#[test]
fn stress_measures_every_cell() {
    if target::mysql().is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["stress", "--seconds", "0.5", "--threads", "1,2", "--rows", "1,50", "--only", "alone,G3"];
    let (output, page) = measured(folder.path(), &[&arguments[..], &["--parents", "shared,own"]].concat(), &[]);
    assert!(output.status.success(), "{}", said(&output));
    // With and without foreign keys, two sizes, two kinds of parents; 1 and 2 threads on one node, 2 on two nodes.
    assert_eq!(page.runs.len(), 2 * 2 * 2 * (2 + 3));
    for run in &page.runs {
        assert!(run.figure("rows_per_s").is_some_and(|rate| rate > 0.0), "{run:?}");
        assert!(run.figure("p50_ms") <= run.figure("p99_ms") && run.figure("errors_1213").is_some(), "{run:?}");
    }
    // The answer to the question, over the pairs of runs with several threads, and a sentence for each part.
    assert_eq!(page.answers.len(), 1 + 2 * (2 + 3), "{:?}", page.answers);
    let (first, pairs) = (&page.answers[0], 2 * 2 * 3);
    assert!(first.starts_with("Concurrent small inserts ") && first.contains(&format!("of {pairs} pairs")), "{first}");
}

/// The server takes a row of its own accord from its parent, each second.
#[test]
fn a_server_that_loses_a_parent_ends_with_status_1() {
    if target::mysql().is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let events = folder.path().join("events.sql");
    let statements = "SET GLOBAL foreign_key_checks = 0;\nSET GLOBAL event_scheduler = 1;\n\
                      CREATE DEFINER = root@localhost EVENT mysql.loses ON SCHEDULE EVERY 1 SECOND DO UPDATE employees.salaries SET emp_no = \
                      emp_no + 1000000 ORDER BY emp_no LIMIT 1;\n";
    fs::write(&events, statements).unwrap();
    let server = server();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *--bootstrap*|*--version*) exec {server} \"$@\";; esac\nexec {server} \"$@\" --init-file={}\n",
        events.display()
    );
    let path = in_front(folder.path(), "mariadbd", &script);
    let arguments = ["stress", "--seconds", "3", "--threads", "1", "--rows", "50", "--only", "alone"];
    let (output, page) = measured(folder.path(), &arguments, &[path]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(reasons(&page)[0].contains("employees.salaries (emp_no) has "), "{:?}", reasons(&page));
    assert!(page.answers.is_empty(), "{:?}", page.answers);
    assert!(said(&output).contains("failed: "), "{}", said(&output));
}

/// Servers that are compared have the same settings, but for those that make them what they are.
#[test]
fn servers_with_another_setting_have_no_figure() {
    if target::mysql().is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *--wsrep-on=ON*|*--wsrep_on=ON*|*wsrep-on=1*) exec {} \"$@\" --innodb-io-capacity=900;; esac\nexec {0} \
         \"$@\"\n",
        server()
    );
    let path = in_front(folder.path(), "mariadbd", &script);
    let arguments = ["stress", "--seconds", "0.1", "--threads", "1", "--rows", "1", "--only", "alone,G1"];
    let (output, page) = measured(folder.path(), &arguments, &[path]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let expected = "node 1 of G1 has other settings than alone: innodb_io_capacity is 900, not 200";
    assert!(reasons(&page).iter().all(|reason| reason.ends_with(expected)), "{:?}", reasons(&page));
    assert!(page.runs.iter().all(|run| (run.contender == "alone") == run.figure("rows_per_s").is_some()));
}

/// perf as it lists what it has recorded, on a machine where it may not run.
const STAND_IN: &str = "#!/bin/sh\ncase $1 in\nrecord) trap 'exit 0' INT; while :; do sleep 0.02; done ;;\n\
    report) echo '    60.00%  mariadbd  [.] row_ins_step'; echo '    40.00%  libc.so.6  [.] memmove' ;;\nesac\n";

#[test]
fn a_profile_has_the_top_symbols_of_each_server() {
    if target::mysql().is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = in_front(folder.path(), "perf", STAND_IN);
    let arguments = ["stress", "--seconds", "0.5", "--threads", "1", "--rows", "1", "--only", "alone,G3", "--profile"];
    let (output, page) = measured(folder.path(), &arguments, &[path]);
    assert!(output.status.success(), "{}", said(&output));
    let section = page.sections.iter().find(|section| section.title.starts_with("Where the servers use")).unwrap();
    let rows = &section.tables[0].rows;
    // Two symbols of each server; with and without foreign keys.
    assert_eq!(rows.len(), 2 * 2 * (1 + 3), "{rows:?}");
    assert!(rows[0][0].ends_with("alone") && rows[0][2..] == ["row_ins_step (mariadbd)", "60.0 %"], "{rows:?}");
    assert!(page.command.ends_with(" --profile"), "{}", page.command);

    let refusing = in_front(folder.path(), "perf", "#!/bin/sh\necho 'No permission to enable events.' >&2\nexit 1\n");
    let (output, page) = measured(folder.path(), &arguments[..9], std::slice::from_ref(&refusing));
    assert!(output.status.success() && !page.warnings.iter().any(|text| text.contains("perf")), "{:?}", page.warnings);
    let arguments = ["stress", "--seconds", "0.1", "--threads", "1", "--rows", "1", "--only", "alone", "--profile"];
    let (output, page) = measured(folder.path(), &arguments, &[refusing]);
    assert!(output.status.success(), "{}", said(&output));
    let expected = "there is no profile: perf record: No permission to enable events.";
    assert!(page.warnings.iter().any(|warning| warning == expected), "{:?}", page.warnings);
    assert!(!page.sections.iter().any(|section| section.title.starts_with("Where the servers use")));
}

/// The installed server is not asked for anything.
#[test]
fn the_server_of_a_folder_is_measured_in_place_of_the_installed_one() {
    if target::mysql().is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (build, installed) = (folder.path().join("build"), Path::new("/usr"));
    for part in ["sbin", "bin", "share", "lib"] {
        fs::create_dir_all(build.join(part)).unwrap();
    }
    std::os::unix::fs::symlink(server(), build.join("sbin/mariadbd")).unwrap();
    for part in ["bin/mariadb-install-db", "bin/my_print_defaults", "bin/resolveip", "share/mysql", "lib/mysql"] {
        std::os::unix::fs::symlink(installed.join(part), build.join(part)).unwrap();
    }
    let path = in_front(folder.path(), "mariadbd", "#!/bin/sh\necho the installed one >&2\nexit 1\n");
    let build = build.display().to_string();
    let arguments =
        ["stress", "--seconds", "0.1", "--threads", "1", "--rows", "1", "--only", "alone", "--server", &build];
    let (output, page) = measured(folder.path(), &arguments, &[path]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(page.command.ends_with(&format!(" --server {build}")), "{}", page.command);
}

#[test]
fn what_is_not_installed_is_left_out_by_name() {
    if target::mysql().is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let missing = [("HORTATOR_PROVIDER", "/no/such/library.so".to_owned())];
    let arguments = ["stress", "--seconds", "0.1", "--threads", "1", "--rows", "1", "--only", "H1,alone"];
    let (output, page) = measured(folder.path(), &arguments, &missing);
    assert!(output.status.success(), "{}", said(&output));
    assert!(page.warnings.iter().any(|warning| warning.starts_with("H1 is left out: ")), "{:?}", page.warnings);
    assert!(page.runs.len() == 2 && page.runs.iter().all(|run| run.contender == "alone"), "{:?}", page.runs);

    let mut nothing = bench(folder.path(), &["stress", "--only", "H1"]);
    let output = nothing.envs(missing).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("there is nothing to measure: H1 is left out: "), "{}", said(&output));
}

/// What was measured before Ctrl-C is in the report, also if that comes while servers start.
#[test]
fn a_stopped_experiment_keeps_what_it_has() {
    if target::mysql().is_some() {
        return;
    }
    for (line, runs) in [("alone: starting", 0), ("1/", 1)] {
        let folder = tempfile::tempdir().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let experiment = stress::Experiment {
            deployments: vec![Deployment::Alone],
            threads: vec![1],
            rows: vec![1],
            parents: vec![stress::Parents::Shared],
            extent: Extent { stop: Arc::clone(&stop), ..Extent::new(2, folder.path()) }
                .timed(Duration::from_millis(100)),
        };
        let mut say = |said: &str| {
            stop.fetch_or(said.starts_with(line), Ordering::Relaxed);
        };
        let outcome = experiment.run(&mut say).unwrap();
        let page = stress::page(&experiment, &outcome);
        assert_eq!(page.runs.len(), runs);
        let stopped = format!("the experiment was stopped after {runs} of 4 runs");
        assert!(page.markdown().contains(&stopped), "{}", page.markdown());
    }
}

#[test]
fn all_writes_an_index_and_a_failed_experiment_stands_there() {
    if target::mysql().is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    // There is no server: the experiment fails as a whole.
    let path = in_front(folder.path(), "mariadbd", "#!/bin/sh\necho no server today >&2\nexit 1\n");
    let mut command = bench(folder.path(), &["all", "--only", "stress"]);
    let output = command.envs([path]).arg("--report").arg(&report).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let index = fs::read_to_string(report.join("index.html")).unwrap();
    assert!(index.contains("stress") && index.contains("class=\"warning\""), "{index}");
}

#[test]
fn unknown_cells_are_refused_with_the_names_of_all() {
    for (arguments, expected) in [
        (["foreign-keys", "--only", "G5"], "the parts are loads, sweep; the servers are alone, G1, G3, H1, H3"),
        (["stress", "--parents", "x"], "the parents are shared, own, many, one"),
        (["stress", "--seconds", "0"], "give 0.1 to 3600"),
        (
            ["all", "--only", "x"],
            "the experiments are foreign-keys, stress, auto-increment, semisync, oltp-short, fan-in, employees, shapes, csv, \
             load, provider, cluster, recovery",
        ),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_hortator")).arg("bench").args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains(expected), "{arguments:?}: {}", said(&output));
    }
}
