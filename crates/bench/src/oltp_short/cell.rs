//! What one cell measures: when its rate is steady, and its figures.

use std::collections::BTreeMap;

use super::sampler::{Sample, rates};
use super::sysbench::{WindowReport, quantile_ms};
use crate::disk::Operations;
use crate::expected_errors::ErrorCounts;
use crate::figures::{CORES, LATENCIES, MEASURED, OTHER_CPU};
use crate::resource_usage::ResourceUsage;
use crate::rounds::Figures;

/// So many windows in a row …
pub(super) const STEADY_WINDOWS: usize = 3;
/// … are steady if the fastest is not more than this faster than the slowest.
const STEADY_SPREAD: f64 = 0.10;

/// Transactions a second, of the median of the last windows before the ramp.
pub(super) const RATE: &str = "steady_transactions_per_s";
/// 1 if the rate was steady, else 0.
pub(super) const IS_STEADY: &str = "is_steady";
/// The rate of the last window before the ramp divided by that of the first.
pub(super) const LAST_TO_FIRST: &str = "last_to_first_window_ratio";
/// The share of transactions that only read.
pub(super) const READING: &str = "reading_share";
/// Reads and writes of InnoDB, all nodes together.
pub(super) const DISK_READS: &str = "disk_read_iops";
pub(super) const DISK_WRITES: &str = "disk_write_iops";
/// The most that the checkpoint age was of its maximum.
pub(super) const REDO_SHARE: &str = "most_redo_share";
/// Operations that the kernel counted against the servers' limit, for each second: those of InnoDB, and of all other files.
pub(super) const ALL_READS: &str = "all_read_iops";
pub(super) const ALL_WRITES: &str = "all_write_iops";
/// What a COMMIT of a transaction that writes takes on average.
pub(super) const COMMIT: &str = "commit_mean_ms";
/// A state of the process list with fewer connections than this on average has no figure.
const STATE_LIMIT_CONNECTIONS: f64 = 0.25;

/// The figure of a state of the process list: the client connections in it, of all nodes, on average.
pub(super) fn state_figure(state: &str) -> String {
    format!("state {state} connections")
}

/// The state that a figure is of.
pub(super) fn state_of(figure: &str) -> Option<&str> {
    figure.strip_prefix("state ")?.strip_suffix(" connections")
}

/// Of these two there is one for each number of threads.
pub(super) fn rate_at(threads: usize) -> String {
    format!("with_{threads}_threads_transactions_per_s")
}

fn p95_at(threads: usize) -> String {
    format!("with_{threads}_threads_p95_ms")
}

/// A run of sysbench.
#[derive(Clone, Debug)]
pub(super) struct MeasuredWindow {
    pub(super) threads: usize,
    /// Since the restart.
    pub(super) begin_s: f64,
    pub(super) report: WindowReport,
    pub(super) usage: ResourceUsage,
}

/// Everything that a cell measures.
#[derive(Clone, Debug)]
pub(super) struct CellResult {
    /// At the same number of threads.
    pub(super) warmup: Vec<MeasuredWindow>,
    /// More and more threads.
    pub(super) ramp: Vec<MeasuredWindow>,
    pub(super) samples: Vec<Sample>,
    /// What the kernel counted from the restart on, and in how many seconds; None without a limit.
    pub(super) operations: Option<(Operations, f64)>,
}

/// Whether the last windows have about the same rate.
pub(super) fn is_steady(windows: &[MeasuredWindow]) -> bool {
    let Some(first) = windows.len().checked_sub(STEADY_WINDOWS) else { return false };
    let rates = || windows[first..].iter().map(|window| window.report.transactions_per_s);
    let (least, most) = (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
    least > 0.0 && most <= least * (1.0 + STEADY_SPREAD)
}

impl CellResult {
    /// Seconds since the restart, and transactions in them.
    pub(super) fn rates_by_second(&self) -> Vec<(f64, f64)> {
        let windows = self.warmup.iter().chain(&self.ramp);
        let seconds = windows.flat_map(|window| {
            let at = |(second, rate): &(u64, f64)| (window.begin_s + *second as f64, *rate);
            window.report.by_second.iter().map(at)
        });
        seconds.collect()
    }

    /// The figures by name.
    pub(super) fn figures(&self) -> Figures {
        let steady = &self.warmup[self.warmup.len().saturating_sub(STEADY_WINDOWS)..];
        let reports: Vec<&WindowReport> = steady.iter().map(|window| &window.report).collect();
        let all = || self.warmup.iter().chain(&self.ramp);
        let mut figures: Figures = Figures::new();
        let mut put = |name: &str, value: f64| figures.insert(name.to_owned(), value);
        let mut steady_rates: Vec<f64> = reports.iter().map(|report| report.transactions_per_s).collect();
        steady_rates.sort_by(f64::total_cmp);
        put(RATE, steady_rates.get(steady_rates.len() / 2).copied().unwrap_or(0.0));
        put(IS_STEADY, if is_steady(&self.warmup) { 1.0 } else { 0.0 });
        put("warmup_windows", self.warmup.len() as f64);
        if let [first, .., last] = &self.warmup[..] {
            put(LAST_TO_FIRST, last.report.transactions_per_s / first.report.transactions_per_s.max(f64::MIN_POSITIVE));
        }
        for (name, share) in LATENCIES {
            put(name, quantile_ms(&reports, share));
        }
        let (committed, reading) = all().fold((0, 0), |(committed, reading), window| {
            (committed + window.report.transactions.0, reading + window.report.transactions.1)
        });
        put(READING, reading as f64 / (committed as f64).max(1.0));
        for window in &self.ramp {
            put(&rate_at(window.threads), window.report.transactions_per_s);
            put(&p95_at(window.threads), quantile_ms(&[&window.report], 0.95));
        }
        let sum = |windows: &[MeasuredWindow], part: fn(&ResourceUsage) -> f64| {
            windows.iter().map(|window| part(&window.usage)).sum::<f64>()
        };
        let wall = |usage: &ResourceUsage| usage.wall.as_secs_f64();
        let servers = sum(steady, |usage| usage.server_cpu.as_secs_f64());
        put(CORES, servers / sum(steady, wall).max(f64::MIN_POSITIVE));
        put(MEASURED, all().map(|window| wall(&window.usage)).sum());
        put(OTHER_CPU, all().map(|window| window.usage.other_cpu.as_secs_f64()).sum());
        put("client_cpu_s", all().map(|window| window.usage.own_cpu.as_secs_f64()).sum());
        put(DISK_READS, mean_rate(&self.samples, |sample| sample.disk_reads));
        put(DISK_WRITES, mean_rate(&self.samples, |sample| sample.disk_writes));
        if let Some((Operations { reads, writes }, seconds)) = self.operations {
            put(ALL_READS, reads as f64 / seconds.max(f64::MIN_POSITIVE));
            put(ALL_WRITES, writes as f64 / seconds.max(f64::MIN_POSITIVE));
        }
        let (commits, us) = all()
            .fold((0, 0), |(commits, us), window| (commits + window.report.commits.0, us + window.report.commits.1));
        if commits > 0 {
            put(COMMIT, us as f64 / commits as f64 / 1e3);
        }
        for (state, mean) in mean_states(&self.samples) {
            if mean >= STATE_LIMIT_CONNECTIONS {
                put(&state_figure(&state), mean);
            }
        }
        put(REDO_SHARE, self.samples.iter().map(Sample::checkpoint_share).fold(0.0, f64::max));
        let mut errors = ErrorCounts::default();
        for (number, count) in all().flat_map(|window| &window.report.errors) {
            errors.add(*number, *count);
            // sysbench repeats each of these transactions.
            errors.add_sent_again(*count);
        }
        figures.extend(errors.figures());
        figures
    }
}

/// Connections in each state on average, of all nodes together.
fn mean_states(samples: &[Sample]) -> BTreeMap<String, f64> {
    let mut looks: BTreeMap<usize, f64> = BTreeMap::new();
    samples.iter().for_each(|sample| *looks.entry(sample.node).or_default() += 1.0);
    let mut means = BTreeMap::new();
    for sample in samples {
        for (state, count) in &sample.states {
            *means.entry(state.clone()).or_default() += *count as f64 / looks[&sample.node];
        }
    }
    means
}

/// Of all nodes together, over all samples.
fn mean_rate(samples: &[Sample], counter: fn(&Sample) -> u64) -> f64 {
    let nodes = samples.iter().map(|sample| sample.node + 1).max().unwrap_or(0);
    let of_node = |node| {
        let rates = rates(samples, counter).into_iter().filter(move |rate| rate.node == node);
        let (count, sum) = rates.fold((0.0, 0.0), |(count, sum), rate| (count + 1.0, sum + rate.value));
        if count > 0.0 { sum / count } else { 0.0 }
    };
    (0..nodes).map(of_node).sum()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn window(rate: f64, threads: usize) -> MeasuredWindow {
        let usage = ResourceUsage {
            wall: Duration::from_secs(5),
            server_cpu: Duration::from_secs(1),
            own_cpu: Duration::ZERO,
            other_cpu: Duration::from_secs(2),
        };
        let report = WindowReport {
            transactions_per_s: rate,
            transactions: (100, 60),
            commits: (40, 200_000),
            by_second: vec![(1, rate), (2, rate)],
            latencies: vec![(10.0, 9), (80.0, 1)],
            errors: BTreeMap::from([(1213, 2), (1047, 1)]),
        };
        MeasuredWindow { threads, begin_s: 7.0, report, usage }
    }

    #[test]
    fn three_windows_in_a_row_within_a_tenth_are_steady() {
        let steady = |rates: &[f64]| is_steady(&rates.iter().map(|rate| window(*rate, 32)).collect::<Vec<_>>());
        assert!(steady(&[900.0, 400.0, 410.0, 439.0]) && steady(&[400.0; 3]));
        for rates in [&[400.0, 400.0][..], &[400.0, 410.0, 441.0], &[400.0, 400.0, 400.0, 300.0], &[0.0; 3], &[]] {
            assert!(!steady(rates), "{rates:?}");
        }
    }

    #[test]
    fn connections_of_all_nodes_are_added() {
        let sample = |node, state: &str, count| Sample {
            node,
            states: BTreeMap::from([(state.to_owned(), count)]),
            ..Sample::default()
        };
        let samples = [sample(0, "Commit", 4), sample(0, "Init", 4), sample(1, "Commit", 6)];
        let expected = BTreeMap::from([("Commit".to_owned(), 8.0), ("Init".to_owned(), 2.0)]);
        assert_eq!(mean_states(&samples), expected);
        assert_eq!(state_of(&state_figure("Waiting for certification")), Some("Waiting for certification"));
        assert_eq!(state_of("p50_ms"), None);
    }

    #[test]
    fn figures_are_of_the_last_windows_before_the_ramp() {
        let sample = |at_s, node, disk_reads, checkpoint_age| Sample {
            at_s,
            node,
            disk_reads,
            checkpoint_age,
            checkpoint_age_limit: 100,
            ..Sample::default()
        };
        let result = CellResult {
            warmup: [900.0, 500.0, 410.0, 450.0].map(|rate| window(rate, 32)).to_vec(),
            ramp: vec![window(50.0, 1), window(600.0, 64)],
            samples: vec![sample(0.0, 0, 0, 10), sample(0.0, 1, 0, 0), sample(1.0, 0, 400, 80), sample(2.0, 1, 200, 0)],
            operations: Some((Operations { reads: 800, writes: 300 }, 2.0)),
        };
        let figures = result.figures();
        for (name, expected) in [
            (RATE, 450.0),
            (IS_STEADY, 0.0),
            (LAST_TO_FIRST, 0.5),
            ("p50_ms", 10.0),
            ("p95_ms", 80.0),
            (READING, 0.6),
            (CORES, 0.2),
            (OTHER_CPU, 12.0),
            (DISK_READS, 500.0),
            (REDO_SHARE, 0.8),
            (ALL_READS, 400.0),
            (ALL_WRITES, 150.0),
            (COMMIT, 5.0),
            ("errors_1213", 12.0),
            ("errors_1047", 6.0),
            ("errors_1205", 0.0),
            ("sent_again", 18.0),
            ("with_64_threads_transactions_per_s", 600.0),
        ] {
            assert_eq!(figures.get(name), Some(&expected), "{name}");
        }
        assert_eq!(result.rates_by_second()[..2], [(8.0, 900.0), (9.0, 900.0)]);
    }
}
