//! Ctrl-C in every experiment: a report of what was measured, exit status 130, no server, no temporary folder.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use hortator_bench::page::Page;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::{build_provider, target};

/// Runs an experiment until its first run has ended, and then asks it to end.
fn interrupted(arguments: &[&str], signal: Signal) {
    build_provider::build();
    let folder = tempfile::tempdir().unwrap();
    let (temporary, json) = (folder.path().join("t"), folder.path().join("page.json"));
    fs::create_dir(&temporary).unwrap();
    // The servers' account gets to its data through both.
    for shared in [folder.path(), &temporary] {
        fs::set_permissions(shared, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_hortator"));
    command.arg("bench").args(arguments).arg("--dir").arg(folder.path().join("bench")).arg("--json").arg(&json);
    command.env("TMPDIR", &temporary).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.process_group(0);
    let mut running = command.spawn().unwrap();
    let mut lines = BufReader::new(running.stderr.take().unwrap()).lines();
    let mut said = Vec::new();
    while let Some(Ok(line)) = lines.next() {
        let is_first_run = line.starts_with("1/");
        said.push(line);
        if is_first_run {
            break;
        }
    }
    let process = Pid::from_child(&running);
    match signal {
        // As from a terminal: the programs that it runs hear it, too.
        Signal::INT => kill_process_group(process, signal).unwrap(),
        _ => kill_process(process, signal).unwrap(),
    }
    said.extend(lines.map_while(Result::ok));
    let output = running.wait_with_output().unwrap();
    let name = arguments[0];
    assert_eq!(output.status.code(), Some(130), "{name}: {said:#?}");
    let page = Page::from_json("a page", &fs::read_to_string(&json).unwrap()).unwrap();
    let stopped = |warning: &String| warning.starts_with("the experiment was stopped after ");
    assert!(page.warnings.iter().any(stopped), "{name}: {:?}", page.warnings);
    assert!(!page.runs.is_empty() && !page.has_failures(), "{name}: {:?}", page.runs);
    assert_eq!(left_in(&temporary), Vec::<String>::new(), "{name}");
    assert_eq!(servers_of(&temporary), Vec::<String>::new(), "{name}");
}

/// Folders of servers, and files of programs.
fn left_in(temporary: &Path) -> Vec<String> {
    let names = fs::read_dir(temporary).unwrap();
    names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

/// Processes that name the folder in their arguments.
fn servers_of(temporary: &Path) -> Vec<String> {
    let place = temporary.to_string_lossy().into_owned();
    let arguments = |entry: fs::DirEntry| fs::read(entry.path().join("cmdline")).ok();
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| arguments(entry.ok()?));
    let texts = processes.map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "));
    texts.filter(|text| text.contains("mariadbd") && text.contains(&place)).collect()
}

#[test]
fn loads_end_with_a_report_and_without_servers() {
    if target::mysql().is_some() {
        return;
    }
    interrupted(&["employees", "--scale", "0.005", "--rounds", "20", "--only", "client,hortator"], Signal::INT);
    interrupted(&["load", "--galera", "--nodes", "2", "--scale", "0.005", "--rounds", "20"], Signal::TERM);
    interrupted(&["shapes", "--scale", "0.02", "--rounds", "20", "--only", "updates"], Signal::INT);
    let arguments = ["auto-increment", "--rows", "2000", "--rounds", "20", "--connections", "2", "--only", "2,G1"];
    interrupted(&arguments, Signal::TERM);
    interrupted(&["foreign-keys", "--scale", "0.001", "--rounds", "20", "--only", "alone,loads"], Signal::INT);
}

#[test]
fn threads_end_with_a_report_and_without_servers() {
    if target::mysql().is_some() {
        return;
    }
    let short = ["--seconds", "0.3", "--rounds", "50"];
    interrupted(&[&["stress", "--only", "alone", "--threads", "2", "--rows", "1"], &short[..]].concat(), Signal::INT);
    interrupted(&[&["provider", "--only", "16x1"], &short[..]].concat(), Signal::TERM);
    interrupted(&[&["cluster", "--only", "hot16-on-2"], &short[..]].concat(), Signal::INT);
}

#[test]
fn replication_ends_with_a_report_and_without_servers() {
    if target::mysql().is_some() {
        return;
    }
    let backlog = ["fan-in", "--sources", "1", "--transactions", "20", "--rounds", "20", "--only", "hot-row"];
    interrupted(&backlog, Signal::INT);
    // In the middle of the second contender's measured time.
    let live = ["fan-in", "--sources", "1", "--rate", "50", "--rounds", "20", "--seconds", "2", "--only", "live"];
    interrupted(&live, Signal::INT);
    interrupted(&["recovery", "--transactions", "20", "--rounds", "20", "--only", "small"], Signal::INT);
}
