//! Where servers use their CPU time: perf's top symbols of each server, for one run of each contender in each cell.
//!
//! perf is a program that may be missing, or that the system may forbid: then the report says so and the experiment goes on.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
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

/// perf at work on all servers of a run.
pub(crate) struct Recording {
    /// In the order of the nodes.
    servers: Vec<Recorder>,
}

/// perf at work on one server: its listing tells threads, not processes, so that each server has a file of its own.
struct Recorder {
    perf: Child,
    file: PathBuf,
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
    let mut servers = Vec::new();
    for process in processes {
        match Recorder::start(process, folder) {
            Ok(recorder) => servers.push(recorder),
            Err(error) => {
                match error.kind() {
                    std::io::ErrorKind::NotFound => {
                        give_up("perf is not installed; on Debian: apt-get install linux-perf");
                    }
                    _ => give_up(&format!("perf does not start: {error}")),
                }
                return None;
            }
        }
    }
    Some(Recording { servers })
}

fn give_up(reason: &str) {
    state().problem.get_or_insert(format!("there is no profile: {reason}"));
}

impl Recording {
    /// Ends the recording and keeps its top symbols.
    pub(crate) fn end(mut self) {
        self.servers.iter().for_each(Recorder::ask_to_end);
        let found: Vec<Vec<Symbol>> = self.servers.iter_mut().map(Recorder::symbols).collect();
        if let Some(first) = self.servers.first().filter(|_| found.iter().all(Vec::is_empty)) {
            return give_up(&format!("perf record: {}", first.complaint()));
        }
        let mut state = state();
        let label = state.label.clone();
        let profiles =
            found.into_iter().zip(1..).map(|(symbols, node)| Profile { label: label.clone(), node, symbols });
        state.profiles.extend(profiles);
    }
}

impl Recorder {
    fn start(process: u32, folder: &Path) -> std::io::Result<Self> {
        let file = folder.join(format!("hortator-perf-{process}.data"));
        let mut command = Command::new("perf");
        command.args(["record", "--quiet", "--freq", SAMPLES_PER_S, "--pid", &process.to_string(), "--output"]);
        command.arg(&file).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(File::create(file.with_extension("log"))?);
        Ok(Self { perf: command.spawn()?, file })
    }

    fn ask_to_end(&self) {
        // It may have ended by itself.
        let _ended = kill_process(Pid::from_child(&self.perf), Signal::INT);
    }

    fn symbols(&mut self) -> Vec<Symbol> {
        let deadline = Instant::now() + END_TIMEOUT;
        while matches!(self.perf.try_wait(), Ok(None)) && Instant::now() < deadline {
            thread::sleep(END_INTERVAL);
        }
        let mut command = Command::new("perf");
        command.args(["report", "--stdio", "--no-children", "--fields", "overhead,dso,symbol", "--input"]);
        let output = command.arg(&self.file).stdin(Stdio::null()).stderr(Stdio::null()).output();
        output.map(|output| symbols(&String::from_utf8_lossy(&output.stdout))).unwrap_or_default()
    }

    /// What perf said.
    fn complaint(&self) -> String {
        let log = std::fs::read_to_string(self.file.with_extension("log")).unwrap_or_default();
        let said = log.lines().map(str::trim).find(|line| !line.is_empty());
        said.unwrap_or("it recorded nothing: the run was too short").to_owned()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // It has ended, unless the run failed.
        let _ended = self.perf.kill();
        let _status = self.perf.wait();
        for path in [self.file.clone(), self.file.with_extension("log")] {
            let _gone = std::fs::remove_file(path);
        }
    }
}

/// The top of the listing of `perf report`: share, library, `[.]`, symbol. Addresses without a name count together.
fn symbols(listing: &str) -> Vec<Symbol> {
    let mut shares: BTreeMap<String, f64> = BTreeMap::new();
    for line in listing.lines() {
        let mut words = line.split_whitespace();
        let share = words.next().and_then(|share| share.strip_suffix('%')?.parse::<f64>().ok());
        let rest: Vec<&str> = words.collect();
        let kind = rest.iter().position(|word| matches!(*word, "[.]" | "[k]" | "[g]" | "[u]" | "[H]"));
        let (Some(share), Some(kind)) = (share, kind) else { continue };
        let library = rest[..kind].join(" ");
        let library = library.rsplit('/').next().unwrap_or_default();
        let symbol = rest[kind + 1..].join(" ");
        let symbol = if symbol.starts_with("0x") { "functions without a name" } else { &symbol };
        *shares.entry(format!("{symbol} ({library})")).or_default() += share;
    }
    let mut all: Vec<(String, f64)> = shares.into_iter().collect();
    all.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let symbol = |(name, share): (String, f64)| Symbol { share: format!("{share:.1} %"), name };
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
        text: vec![format!(
            "The {SYMBOLS} symbols of each server with most samples of perf, in one run of each contender."
        )],
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
        # Overhead  Shared Object      Symbol\n\
        \x20   30.00%  mariadbd           [.] row_ins_step(que_thr_t*, char const*)\n\
        \x20   20.00%  [kernel.kallsyms]  [k] finish_task_switch.isra.0\n\
        \x20   18.00%  mariadbd           [.] 0x0000000000d6f729\n\
        \x20   17.00%  mariadbd           [.] 0x0000000000d93e0f\n\
        \x20   10.00%  /usr/lib/libc.so.6  [.] __memmove_avx\n\n";

    #[test]
    fn the_top_symbols_are_named_with_their_library() {
        let shown: Vec<String> =
            symbols(LISTING).into_iter().map(|Symbol { share, name }| format!("{share} {name}")).collect();
        assert_eq!(
            shown,
            [
                "35.0 % functions without a name (mariadbd)",
                "30.0 % row_ins_step(que_thr_t*, char const*) (mariadbd)",
                "20.0 % finish_task_switch.isra.0 ([kernel.kallsyms])",
                "10.0 % __memmove_avx (libc.so.6)",
            ]
        );
        assert_eq!(symbols(""), []);
    }
}
