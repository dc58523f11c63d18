//! sysbench: its command, and what it reports of one window.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use super::Mix;
use crate::Error;
use crate::measure::{self, Usage};

const REMEDY: &str = "install version 1.0; on Debian: apt-get install sysbench";
/// The transactions, for the installed `oltp_common`.
const SCRIPT: &str = include_str!("transactions.lua");
const SCRIPT_FILE: &str = "oltp-short.lua";
/// The schema of the tables.
pub(super) const SCHEMA: &str = "sbtest";
/// Tables.
pub(super) const TABLES: u64 = 10;
/// Threads that fill the tables.
const FILL_THREADS: usize = 4;
/// sysbench repeats a transaction that ends with one of these: deadlock or certification conflict, lock wait timeout, changed
/// row, duplicate key, a node that is not ready. A lost connection ends it: version 1.0.20 with MariaDB's client library crashes
/// when it connects again (seen on Debian 12, with sysbench's own scripts too).
const REPEATED_ERRORS: [u16; 5] = [1213, 1205, 1020, 1062, 1047];
/// Seconds for the transactions that run at the end of a window.
const SHUTDOWN_LIMIT_S: u64 = 120;

/// The installed program and its script.
#[derive(Debug)]
pub(super) struct Sysbench {
    program: PathBuf,
    script: PathBuf,
    log: PathBuf,
    rows: u64,
}

/// One window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) mix: Mix,
    pub(super) threads: usize,
    pub(super) seconds: u64,
}

/// What sysbench reports of a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct WindowReport {
    pub(super) transactions_per_s: f64,
    /// Committed transactions, and those of them that only read.
    pub(super) transactions: (u64, u64),
    /// Confirmed COMMITs of transactions that write, and the microseconds that their threads waited for them.
    pub(super) commits: (u64, u64),
    /// Second of the window, and transactions in it.
    pub(super) by_second: Vec<(u64, f64)>,
    /// Latency in ms, and how many transactions took it.
    pub(super) latencies: Vec<(f64, u64)>,
    /// By number.
    pub(super) errors: BTreeMap<u16, u64>,
}

/// The sysbench in the PATH.
///
/// # Errors
/// [`Error::Missing`] when there is none, [`Error::Answer`] when it is too old.
pub fn find() -> Result<PathBuf, Error> {
    let program = PathBuf::from("sysbench");
    let output = Command::new(&program).arg("--version").stdin(Stdio::null()).output();
    let output = match output {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::Missing { program: "sysbench", remedy: REMEDY });
        }
        output => output.map_err(Error::io("running sysbench --version"))?,
    };
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    match is_recent(&version) {
        true => Ok(program),
        false => Err(Error::Answer(format!("the installed sysbench says it is `{version}`: {REMEDY}"))),
    }
}

/// Whether it runs Lua scripts with the functions of version 1.0.
fn is_recent(version: &str) -> bool {
    let major = version.strip_prefix("sysbench ").and_then(|version| version.split('.').next());
    major.and_then(|major| major.parse::<u32>().ok()).is_some_and(|major| major >= 1)
}

impl Sysbench {
    /// Writes the script to the folder.
    pub(super) fn new(program: &Path, folder: &Path, rows: u64) -> Result<Self, Error> {
        let script = folder.join(SCRIPT_FILE);
        fs::write(&script, SCRIPT).map_err(Error::io(format!("writing {}", script.display())))?;
        Ok(Self { program: program.to_owned(), script, log: folder.join("sysbench.log"), rows })
    }

    fn command(&self, sockets: &[PathBuf], threads: usize) -> Command {
        let sockets: Vec<String> = sockets.iter().map(|socket| socket.to_string_lossy().into_owned()).collect();
        let mut command = Command::new(&self.program);
        command.arg(&self.script).stdin(Stdio::null());
        command.arg(format!("--mysql-socket={}", sockets.join(",")));
        command.args(["--mysql-user=root", &format!("--mysql-db={SCHEMA}")]);
        // Ids that a cluster generates leave gaps, which most lookups would then hit.
        command.args(["--auto_inc=off", &format!("--tables={TABLES}"), &format!("--table_size={}", self.rows)]);
        command.arg(format!("--threads={threads}"));
        command
    }

    /// Creates the tables and fills them.
    pub(super) fn fill(&self, socket: &Path, stop: &AtomicBool) -> Result<(), Error> {
        let mut command = self.command(&[socket.to_owned()], FILL_THREADS);
        self.finished(command.arg("prepare"), stop).map(drop)
    }

    /// Runs the command to its end. Behind an error each thread still reports its counts, so that the end of the output need
    /// not tell the reason: what failed first does.
    fn finished(&self, command: &mut Command, stop: &AtomicBool) -> Result<Usage, Error> {
        measure::run(command, &self.log, stop).map_err(|error| match error {
            Error::Failed { program, status, output } => {
                let log = fs::read(&self.log).unwrap_or_default();
                let reason = first_error(&String::from_utf8_lossy(&log)).unwrap_or(output);
                Error::Failed { program, status, output: reason }
            }
            error => error,
        })
    }

    /// Runs transactions on these servers, a thread on each in turn.
    pub(super) fn run(
        &self,
        sockets: &[PathBuf],
        window: Window,
        stop: &AtomicBool,
    ) -> Result<(WindowReport, Usage), Error> {
        let Window { mix, threads, seconds } = window;
        let mut command = self.command(sockets, threads);
        let repeated = REPEATED_ERRORS.map(|number| number.to_string()).join(",");
        command.arg(format!("--mix={mix}")).arg(format!("--mysql-ignore-errors={repeated}"));
        // By default three of four ids are of one hundredth of the rows, which the buffer pool holds.
        command.args(["--rand-type=uniform", "--histogram=on", "--report-interval=1"]);
        command.arg(format!("--time={seconds}")).arg(format!("--forced-shutdown={SHUTDOWN_LIMIT_S}"));
        let usage = self.finished(command.arg("run"), stop)?;
        let text = fs::read_to_string(&self.log).map_err(Error::io(format!("reading {}", self.log.display())))?;
        let report = WindowReport::parse(&text, seconds).ok_or_else(|| {
            Error::Answer(format!("sysbench's report is not of the form of version 1.0: read {}", self.log.display()))
        })?;
        Ok((report, usage))
    }
}

impl WindowReport {
    /// The report of a window of so many seconds; `None` where it has no rate, or where a line is of another form.
    fn parse(text: &str, seconds: u64) -> Option<Self> {
        let mut report = Self::default();
        let mut rate = None;
        for line in text.lines() {
            let line = line.trim();
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["transactions:", _, per_s, "per", ..] => rate = per_s.trim_start_matches('(').parse().ok(),
                ["[", second, "]", "thds:", _, "tps:", rate, ..] => {
                    let second = second.trim_end_matches('s').parse().ok()?;
                    // Behind its end only the last transactions run.
                    if second <= seconds {
                        report.by_second.push((second, rate.parse().ok()?));
                    }
                }
                ["hortator:", "transactions", all, "reading", reading] => {
                    report.transactions.0 += all.parse::<u64>().ok()?;
                    report.transactions.1 += reading.parse::<u64>().ok()?;
                }
                ["hortator:", "commits", count, "microseconds", us] => {
                    report.commits.0 += count.parse::<u64>().ok()?;
                    report.commits.1 += us.parse::<u64>().ok()?;
                }
                ["hortator:", "error", number, "times", count] => {
                    *report.errors.entry(number.parse().ok()?).or_default() += count.parse::<u64>().ok()?;
                }
                [latency, bar, count] if bar.starts_with('|') => {
                    report.latencies.push((latency.parse().ok()?, count.parse().ok()?));
                }
                ["hortator:", ..] => return None,
                _ => {}
            }
        }
        report.transactions_per_s = rate?;
        Some(report)
    }
}

/// The first error in sysbench's output, with the second one: the failed statement, and the server's number and text of it.
fn first_error(log: &str) -> Option<String> {
    let errors: Vec<&str> = log.lines().filter(|line| line.starts_with("FATAL: ")).take(2).collect();
    (!errors.is_empty()).then(|| errors.join("\n"))
}

/// The latency that a share of all transactions does not exceed, of several windows.
pub(super) fn quantile_ms(windows: &[&WindowReport], share: f64) -> f64 {
    let mut latencies: Vec<(f64, u64)> = windows.iter().flat_map(|window| window.latencies.iter().copied()).collect();
    latencies.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let all: u64 = latencies.iter().map(|(_, count)| count).sum();
    let mut left = (all as f64 * share).ceil() as u64;
    for (latency, count) in &latencies {
        if *count >= left {
            return *latency;
        }
        left -= count;
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
[ 1s ] thds: 32 tps: 99.82 qps: 427.22 (r/w/o: 162.70/32.94/231.58) lat (ms,95%): 657.93 err/s: 0.00 reconn/s: 0.00
[ 2s ] thds: 32 tps: 104.01 qps: 391.05 (r/w/o: 136.02/47.01/208.03) lat (ms,95%): 1050.76 err/s: 1.00 reconn/s: 0.00
[ 3s ] thds: 16 tps: 18.00 qps: 18.00 (r/w/o: 0.00/0.00/18.00) lat (ms,95%): 1803.47 err/s: 0.00 reconn/s: 0.00
hortator: transactions 120 reading 80
hortator: commits 40 microseconds 800000
hortator: error 1213 times 2
hortator: transactions 100 reading 55
hortator: commits 45 microseconds 50000
hortator: error 1213 times 1
hortator: error 1205 times 4
Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       0.354 |*                                        4
      99.327 |**************************************** 95
     909.797 |*                                        1

SQL statistics:
    transactions:                        220    (78.25 per sec.)
    ignored errors:                      7      (1.00 per sec.)
";

    #[test]
    fn a_window_has_rates_latencies_and_errors_by_number() {
        let report = WindowReport::parse(REPORT, 2).unwrap();
        let expected = WindowReport {
            transactions_per_s: 78.25,
            transactions: (220, 135),
            commits: (85, 850_000),
            by_second: vec![(1, 99.82), (2, 104.01)],
            latencies: vec![(0.354, 4), (99.327, 95), (909.797, 1)],
            errors: BTreeMap::from([(1213, 3), (1205, 4)]),
        };
        assert_eq!(report, expected);
        assert_eq!(WindowReport::parse("FATAL: no rate", 2), None);
        for (from, to) in
            [("104.01", "many"), ("reading 80\n", "reading 80"), ("times 4", "times"), ("seconds 800000", "seconds -")]
        {
            assert_eq!(WindowReport::parse(&REPORT.replace(from, to), 2), None, "{from}");
        }
    }

    #[test]
    fn latencies_of_windows_are_taken_together() {
        let window = |latencies: &[(f64, u64)]| WindowReport { latencies: latencies.to_vec(), ..Default::default() };
        let (one, other) = (window(&[(1.0, 90), (8.0, 5)]), window(&[(4.0, 4), (9.0, 1)]));
        let both = [&one, &other];
        let quantiles = [0.5, 0.9, 0.94, 0.95, 0.99, 1.0].map(|share| quantile_ms(&both, share));
        assert_eq!(quantiles, [1.0, 1.0, 4.0, 8.0, 8.0, 9.0]);
        assert_eq!(quantile_ms(&[], 0.5), 0.0);
    }

    #[test]
    fn the_first_error_is_the_reason() {
        let log = "Threads started!\nFATAL: execute returned 2006\nFATAL: thread_run failed\nhortator: commits 0\nFATAL: other\n";
        assert_eq!(first_error(log).as_deref(), Some("FATAL: execute returned 2006\nFATAL: thread_run failed"));
        assert_eq!(first_error(REPORT), None);
    }

    #[test]
    fn versions_without_scripts_are_too_old() {
        assert!(is_recent("sysbench 1.0.20") && is_recent("sysbench 1.1.0-abc"));
        assert!(!is_recent("sysbench 0.4.12") && !is_recent(""));
    }
}
