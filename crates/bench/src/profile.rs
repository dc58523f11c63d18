//! Where servers use their CPU time: perf's top symbols of each server, for one run of each contender in each cell.
//!
//! perf is a program that may be missing, or that the system may forbid: then the report says so and the experiment goes on.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::options;
use crate::page::{Section, Table};

/// Samples in a second: odd, so that they do not fall together with what the server does by the clock.
const SAMPLES_PER_S: &str = "199";
/// Symbols of each server.
const SYMBOLS: usize = 10;
/// perf writes its file in this time after it was asked to end.
const END_TIMEOUT: Duration = Duration::from_secs(20);
const END_INTERVAL: Duration = Duration::from_millis(20);
/// Runs that are recorded.
const RECORDINGS_LIMIT: usize = 500;

static STATE: Mutex<State> = Mutex::new(State { label: String::new(), profiles: Vec::new(), problem: None });

/// What was recorded so far.
struct State {
    /// The run that is measured.
    label: String,
    profiles: Vec<Profile>,
    problem: Option<String>,
}

/// The top symbols of one server in one run.
struct Profile {
    label: String,
    /// From 1.
    node: usize,
    symbols: Vec<Symbol>,
}

/// A function and its share of the server's CPU time.
#[derive(Clone, Debug, PartialEq)]
struct Symbol {
    share: String,
    name: String,
}

fn state() -> std::sync::MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Names the run that is measured next.
pub(crate) fn set_label(label: String) {
    state().label = label;
}

/// perf at work.
pub(crate) struct Recording {
    perf: Child,
    file: PathBuf,
    /// Of the servers, in the order of the nodes.
    processes: Vec<u32>,
}

/// Records these servers if the user wants it and this run was not recorded yet.
pub(crate) fn begin(processes: Vec<u32>) -> Option<Recording> {
    let folder = options::profile_folder()?;
    let state = state();
    let is_known = state.profiles.iter().any(|profile| profile.label == state.label);
    if is_known || state.problem.is_some() || state.profiles.len() >= RECORDINGS_LIMIT {
        return None;
    }
    drop(state);
    let file = folder.join(format!("hortator-perf-{}.data", std::process::id()));
    let list: Vec<String> = processes.iter().map(u32::to_string).collect();
    let mut command = Command::new("perf");
    command.args(["record", "--quiet", "--freq", SAMPLES_PER_S, "--pid", &list.join(","), "--output"]).arg(&file);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let errors = File::create(file.with_extension("log")).map_or_else(|_| Stdio::null(), Stdio::from);
    match command.stderr(errors).spawn() {
        Ok(perf) => Some(Recording { perf, file, processes }),
        Err(error) => {
            let reason = match error.kind() {
                std::io::ErrorKind::NotFound => "perf is not installed; on Debian: apt-get install linux-perf".to_owned(),
                _ => format!("perf does not start: {error}"),
            };
            give_up(reason);
            None
        }
    }
}

fn give_up(reason: String) {
    state().problem.get_or_insert(format!("there is no profile: {reason}"));
}

impl Recording {
    /// Ends the recording and keeps its top symbols.
    pub(crate) fn end(mut self) {
        // It may have ended by itself.
        let _ended = kill_process(Pid::from_child(&self.perf), Signal::INT);
        let deadline = Instant::now() + END_TIMEOUT;
        while matches!(self.perf.try_wait(), Ok(None)) && Instant::now() < deadline {
            thread::sleep(END_INTERVAL);
        }
        let mut command = Command::new("perf");
        command.args(["report", "--stdio", "--no-children", "--fields", "overhead,pid,dso,symbol", "--input"]);
        let output = command.arg(&self.file).stdin(Stdio::null()).stderr(Stdio::null()).output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        let found: Vec<Vec<Symbol>> = self.processes.iter().map(|process| symbols(&text, *process)).collect();
        if found.iter().all(Vec::is_empty) {
            let log = std::fs::read_to_string(self.file.with_extension("log")).unwrap_or_default();
            let said = log.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it recorded nothing");
            return give_up(format!("perf record: {said}"));
        }
        let mut state = state();
        let label = state.label.clone();
        let profiles = found.into_iter().zip(1..).map(|(symbols, node)| Profile { label: label.clone(), node, symbols });
        state.profiles.extend(profiles);
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // It has ended, unless the run failed.
        let _ended = self.perf.kill();
        let _status = self.perf.wait();
        for path in [self.file.clone(), self.file.with_extension("log")] {
            let _gone = std::fs::remove_file(path);
        }
    }
}

/// The first lines of a process in the listing of `perf report`: share, process, library, `[.]`, symbol. Shares are of all
/// recorded processes together; here they are of this one.
fn symbols(listing: &str, process: u32) -> Vec<Symbol> {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let share: f64 = words.next()?.strip_suffix('%')?.parse().ok()?;
        let (id, _) = words.next()?.split_once(':')?;
        if id.parse() != Ok(process) {
            return None;
        }
        let rest: Vec<&str> = words.collect();
        let kind = rest.iter().position(|word| matches!(*word, "[.]" | "[k]" | "[g]" | "[u]" | "[H]"))?;
        let library = rest[..kind].join(" ");
        let library = library.rsplit('/').next().unwrap_or_default().to_owned();
        Some((share, format!("{} ({library})", rest[kind + 1..].join(" "))))
    };
    let all: Vec<(f64, String)> = listing.lines().filter_map(line).collect();
    let sum: f64 = all.iter().map(|(share, _)| share).sum();
    let symbol =
        |(share, name): (f64, String)| Symbol { share: format!("{:.1} %", share * 100.0 / sum.max(f64::MIN_POSITIVE)), name };
    all.into_iter().take(SYMBOLS).map(symbol).collect()
}

/// What a reader must know: why there is no profile, or that perf was at work.
#[must_use]
pub fn warning() -> Option<String> {
    let state = state();
    let recorded = "perf recorded the servers in one run of each contender: it slows that run".to_owned();
    state.problem.clone().or((!state.profiles.is_empty()).then_some(recorded))
}

/// The section of a page; none without a recording.
#[must_use]
pub fn section() -> Option<Section> {
    let state = state();
    if state.profiles.is_empty() {
        return None;
    }
    let rows = state.profiles.iter().flat_map(|profile| {
        profile.symbols.iter().map(|Symbol { share, name }| {
            vec![profile.label.clone(), profile.node.to_string(), name.clone(), share.clone()]
        })
    });
    Some(Section {
        title: "Where the servers use their CPU time".to_owned(),
        text: vec![format!("The {SYMBOLS} symbols of each server with most samples of perf, in one run of each contender.")],
        tables: vec![Table {
            headings: ["run", "node", "symbol", "share of the server's samples"].map(str::to_owned).to_vec(),
            text_columns: 3,
            rows: rows.collect(),
        }],
        plots: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "# Samples: 40  of event 'cpu-clock:pppH'\n#\n\
        # Overhead      Pid:Command  Shared Object      Symbol\n\
        \x20   30.00%      71:mariadbd  mariadbd           [.] row_ins_step(que_thr_t*)\n\
        \x20   20.00%      72:mariadbd  [kernel.kallsyms]  [k] finish_task_switch.isra.0\n\
        \x20   10.00%      71:mariadbd  /usr/lib/libc.so.6  [.] __memmove_avx\n\n";

    #[test]
    fn each_server_has_its_own_symbols_with_its_own_shares() {
        let shown = |process| -> Vec<String> {
            symbols(LISTING, process).into_iter().map(|Symbol { share, name }| format!("{share} {name}")).collect()
        };
        assert_eq!(shown(71), ["75.0 % row_ins_step(que_thr_t*) (mariadbd)", "25.0 % __memmove_avx (libc.so.6)"]);
        assert_eq!(shown(72), ["100.0 % finish_task_switch.isra.0 ([kernel.kallsyms])"]);
        assert_eq!(shown(7), Vec::<String>::new());
    }
}
