//! `hortator bench all`: each experiment with a page in a process of its own, and an index of their reports.

use std::fs;
use std::io::{BufRead, BufReader, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;
use hortator_bench::page::{IndexEntry, Page, index};
use hortator_bench::progress::Observer;
use rustix::process::{Pid, Signal, kill_process};

use super::progress_line::{Progress, from_line};
use super::{INTERRUPTED, stop_on_signals};

/// An experiment, as `hortator bench NAME ARGUMENTS`.
struct Experiment {
    name: &'static str,
    arguments: &'static [&'static str],
    /// What it takes beside `--quick`, so that it ends within four minutes on two cores.
    at_quick: &'static [&'static str],
    /// It repeats one of the reports that the index is about; the others run if `--only` names them.
    is_default: bool,
}

const fn of_report(name: &'static str, at_quick: &'static [&'static str]) -> Experiment {
    Experiment { name, arguments: &[], at_quick, is_default: true }
}

const fn further(
    name: &'static str,
    arguments: &'static [&'static str],
    at_quick: &'static [&'static str],
) -> Experiment {
    Experiment { name, arguments, at_quick, is_default: false }
}

/// The experiments in the order of the index.
const EXPERIMENTS: [Experiment; 13] = [
    of_report("foreign-keys", &[]),
    of_report("stress", &[]),
    of_report("auto-increment", &[]),
    of_report("semisync", &[]),
    of_report("oltp-short", &[]),
    of_report("fan-in", &["--transactions", "1000"]),
    further("employees", &[], &[]),
    further("shapes", &[], &["--scale", "0.3"]),
    further("csv", &[], &[]),
    further("load", &["--galera"], &["--scale", "0.1"]),
    further("provider", &[], &[]),
    further("cluster", &[], &[]),
    further("recovery", &[], &[]),
];
/// The interval for looking whether the user wants to stop.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Arguments of `hortator bench all`.
#[derive(Debug, Args)]
pub struct AllArgs {
    /// Each experiment at its small size, with one round (default)
    #[arg(long)]
    quick: bool,
    /// Each experiment at the size of its report, with three rounds: hours
    #[arg(long, conflicts_with = "quick")]
    full: bool,
    /// Runs of each contender [default: 1; with --full: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: Option<u16>,
    /// Experiments: foreign-keys, stress, auto-increment, semisync, oltp-short, fan-in [default: these six], employees, shapes,
    /// csv, load, provider, cluster, recovery
    #[arg(long, value_name = "EXPERIMENT", value_delimiter = ',', value_parser = experiment)]
    only: Vec<&'static str>,
    /// Folder for dumps and logs, kept for later experiments [default: beside the sandboxes in the user's state folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Measure the server in this folder in place of the installed one
    #[arg(long, value_name = "FOLDER")]
    server: Option<PathBuf>,
    /// Also report the functions in which each server uses its CPU time, by perf
    #[arg(long)]
    profile: bool,
    /// Folder for index.html and the reports (.html, .md and .json); created if missing
    #[arg(long, value_name = "FOLDER", default_value = "bench-report")]
    report: PathBuf,
}

fn experiment(text: &str) -> Result<&'static str, String> {
    let mut names = EXPERIMENTS.iter().map(|experiment| experiment.name);
    names.clone().find(|name| *name == text).ok_or_else(|| {
        let first = names.next().unwrap_or_default().to_owned();
        format!("the experiments are {}", names.fold(first, |all, name| all + ", " + name))
    })
}

pub(super) fn run(args: &AllArgs) -> anyhow::Result<ExitCode> {
    fs::create_dir_all(&args.report).with_context(|| format!("creating {}", args.report.display()))?;
    let stop = stop_on_signals()?;
    let is_terminal = std::io::stderr().is_terminal();
    let program = std::env::current_exe().context("finding this program's own file")?;
    let is_wanted = |experiment: &Experiment| match &args.only[..] {
        [] => experiment.is_default,
        only => only.contains(&experiment.name),
    };
    let mut entries = Vec::new();
    let mut is_good = true;
    for experiment in EXPERIMENTS.iter().filter(|experiment| is_wanted(experiment)) {
        let Experiment { name, arguments, at_quick, .. } = experiment;
        if stop.load(Ordering::Relaxed) {
            break;
        }
        eprintln!("== {name}");
        let mut command = Command::new(&program);
        command.arg("bench").arg(name).args(*arguments).arg(if args.full { "--full" } else { "--quick" });
        if !args.full {
            command.args(*at_quick);
        }
        if let Some(rounds) = args.rounds {
            command.arg("--rounds").arg(rounds.to_string());
        }
        for (option, folder) in [("--dir", &args.dir), ("--server", &args.server)] {
            if let Some(folder) = folder {
                command.arg(option).arg(folder);
            }
        }
        if args.profile {
            command.arg("--profile");
        }
        if is_terminal {
            command.arg("--events");
        }
        let entry = measure(command, name, &args.report, &stop)?;
        is_good &= entry.result.as_ref().is_ok_and(|page| !page.has_failures());
        entries.push(entry);
        // After each one: what there is can be read, whatever comes.
        write(&args.report.join("index.html"), &index(&entries))?;
    }
    println!("{}", args.report.join("index.html").display());
    Ok(match is_good {
        _ if stop.load(Ordering::Relaxed) => ExitCode::from(INTERRUPTED),
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}

/// Runs an experiment, and reads its report.
fn measure(mut command: Command, name: &str, folder: &Path, stop: &AtomicBool) -> anyhow::Result<IndexEntry> {
    let file = |ending: &str| folder.join(format!("{name}.{ending}"));
    for ending in ["html", "md"] {
        command.arg("--report").arg(file(ending));
    }
    let json = file("json");
    // An earlier one is not this run's.
    let _missing = fs::remove_file(&json);
    command.arg("--json").arg(&json).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let begin = Instant::now();
    let (status, last) = watch(command.spawn().with_context(|| format!("starting {name}"))?, stop)?;
    let page = match fs::read_to_string(&json) {
        Ok(text) => Page::from_json(&json.display().to_string(), &text).map_err(|error| error.to_string()),
        Err(_) if last.is_empty() => Err(format!("it ended with {status}")),
        Err(_) => Err(last),
    };
    Ok(IndexEntry { name: name.to_owned(), result: page, link: format!("{name}.html"), took: begin.elapsed() })
}

/// Shows the lines and events of a program until its end, and passes a request to stop on; its status and last line.
fn watch(mut child: Child, stop: &AtomicBool) -> anyhow::Result<(ExitStatus, String)> {
    let lines = lines_of(&mut child);
    let mut progress = Progress::new(false);
    let mut last = String::new();
    let mut is_asked = false;
    let status = loop {
        let waited = lines.recv_timeout(STOP_CHECK_INTERVAL);
        if let Ok(line) = &waited {
            match from_line(line) {
                Some(event) => progress.tell(event),
                None => {
                    progress.print(line);
                    last.clone_from(line);
                }
            }
        }
        if stop.load(Ordering::Relaxed) && !is_asked {
            is_asked = true;
            // It may have ended, or heard Ctrl-C itself.
            let _ended = kill_process(Pid::from_child(&child), Signal::TERM);
        }
        match waited {
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => {
                if let Some(status) = child.try_wait().context("waiting for an experiment")? {
                    break status;
                }
            }
            Err(RecvTimeoutError::Disconnected) => break child.wait().context("waiting for an experiment")?,
        }
    };
    Ok((status, last))
}

/// What a program writes to its standard error, line by line.
fn lines_of(child: &mut Child) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    if let Some(errors) = child.stderr.take() {
        thread::spawn(move || {
            for line in BufReader::new(errors).split(b'\n').map_while(Result::ok) {
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    break;
                }
            }
        });
    }
    lines
}
