//! The status of all sources in Prometheus' text format.
//!
//! Source: prometheus.io, "Exposition formats", text-based format, version 0.0.4.

use std::fmt::Write;

use crate::agent::{SourceState, SourceStatus, WaitsFor};
use crate::apply::ConflictPolicy;

/// What all names begin with.
const PREFIX: &str = "hortator_replicate_";
/// Characters of an error that are a label.
const ERROR_LIMIT_CHARS: usize = 500;

/// A metric.
#[derive(Debug)]
pub struct Metric {
    /// Its name behind `hortator_replicate_`.
    pub name: &'static str,
    /// What it means.
    pub help: &'static str,
    samples: Samples,
}

/// Its values for a source.
#[derive(Debug)]
enum Samples {
    /// One that goes up and down; none while it is not known.
    Gauge(fn(&SourceStatus) -> Option<f64>),
    /// One that only grows.
    Counter(fn(&SourceStatus) -> f64),
    /// One for each value of a second label, which go up and down.
    Gauges(&'static str, fn(&SourceStatus) -> Vec<(String, f64)>),
    /// One for each value of a second label, which only grow.
    Counters(&'static str, fn(&SourceStatus) -> Vec<(String, f64)>),
}

use Samples::{Counter, Counters, Gauge, Gauges};

/// All metrics.
#[rustfmt::skip]
pub const METRICS: &[Metric] = &[
    Metric { name: "state", help: "1 for the state that the source is in, 0 for the others",
        samples: Gauges("state", states) },
    Metric { name: "waiting", help: "1 for what the source waits for now, 0 for the rest",
        samples: Gauges("for", waits) },
    Metric { name: "waiting_seconds", help: "How long it has waited; for a retry, how long it will",
        samples: Gauge(|source| Some(source.waits_s as f64)) },
    Metric { name: "lag_seconds", help: "How far the target is behind the source; absent while that is not known",
        samples: Gauge(|source| source.lag_s.map(|lag_s| lag_s as f64)) },
    Metric { name: "lag_bytes", help: "What the source's log has behind the applied position; absent while that is not known",
        samples: Gauge(|source| source.lag_bytes.map(|bytes| bytes as f64)) },
    Metric { name: "transactions_per_second", help: "Transactions applied or skipped, over the last ten seconds",
        samples: Gauge(|source| Some(source.transactions_per_s)) },
    Metric { name: "applied_file_number", help: "The number of the source's log file up to which the target has it",
        samples: Gauge(file_number) },
    Metric { name: "applied_position_bytes", help: "The position in that file",
        samples: Gauge(|source| file_number(source).map(|_| source.applied_position as f64)) },
    Metric { name: "transactions_total", help: "Transactions applied or skipped since the start",
        samples: Counter(|source| source.transactions as f64) },
    Metric { name: "groups_total", help: "Transactions of the target that they became",
        samples: Counter(|source| source.groups as f64) },
    Metric { name: "read_bytes_total", help: "Bytes of the source's log that have arrived",
        samples: Counter(|source| source.read_bytes as f64) },
    Metric { name: "applied_bytes_total", help: "Bytes of the rows and statements of the transactions that are applied",
        samples: Counter(|source| source.applied_bytes as f64) },
    Metric { name: "wait_seconds_total", help: "How long a running source has waited for new transactions, and for the target",
        samples: Counters("for", wait_times) },
    Metric { name: "retries_total", help: "Errors that it got over by itself",
        samples: Counter(|source| source.retries as f64) },
    Metric { name: "replays_total", help: "How often a group of transactions was rolled back to run again",
        samples: Counter(|source| source.replays as f64) },
    Metric { name: "connections", help: "Connections to the target over which its transactions are applied now",
        samples: Gauge(|source| Some(source.connections as f64)) },
    Metric { name: "stops_total", help: "Errors that stopped it",
        samples: Counter(|source| source.stops as f64) },
    Metric { name: "conflicts_total", help: "Rows of the target that differed from the source's: errors that stopped it, and rows under a policy",
        samples: Counter(|source| source.conflicts as f64) },
    Metric { name: "conflict_rows_total", help: "Rows of the source that did not fit those of the target, by what the policy did with them",
        samples: Counters("policy", conflict_rows) },
    Metric { name: "passed_over_total", help: "Transactions passed over because the target refused them with an error of ignore_errors",
        samples: Counter(|source| source.passed_over as f64) },
    Metric { name: "error", help: "1 while there is an error, which is a label",
        samples: Gauges("error", errors) },
];

fn states(source: &SourceStatus) -> Vec<(String, f64)> {
    let sample = |state: SourceState| (state.name().to_owned(), number(state == source.state));
    SourceState::ALL.map(sample).to_vec()
}

fn waits(source: &SourceStatus) -> Vec<(String, f64)> {
    let sample = |waits_for: WaitsFor| (waits_for.name().to_owned(), number(source.waits_for == Some(waits_for)));
    WaitsFor::ALL.map(sample).to_vec()
}

fn wait_times(source: &SourceStatus) -> Vec<(String, f64)> {
    vec![("source".to_owned(), source.source_wait_s), ("target".to_owned(), source.target_wait_s)]
}

fn conflict_rows(source: &SourceStatus) -> Vec<(String, f64)> {
    let sample = |policy: ConflictPolicy, rows: u64| (policy.name().to_owned(), rows as f64);
    vec![
        sample(ConflictPolicy::Ignore, source.conflicts_ignored),
        sample(ConflictPolicy::Overwrite, source.conflicts_overwritten),
    ]
}

fn errors(source: &SourceStatus) -> Vec<(String, f64)> {
    source.error.iter().map(|error| (error.clone(), 1.0)).collect()
}

/// A file's name ends in a point and its number.
fn file_number(source: &SourceStatus) -> Option<f64> {
    source.applied_file.rsplit_once('.')?.1.parse::<u64>().ok().map(|number| number as f64)
}

fn number(is_so: bool) -> f64 {
    f64::from(u8::from(is_so))
}

/// All metrics of all sources, and the version of this program.
#[must_use]
pub fn metrics(sources: &[SourceStatus]) -> String {
    let mut text = String::new();
    head(&mut text, "build_info", "The version that runs", "gauge");
    line(&mut text, "build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1.0);
    for Metric { name, help, samples } in METRICS {
        let kind = if matches!(samples, Counter(_) | Counters(..)) { "counter" } else { "gauge" };
        head(&mut text, name, help, kind);
        for source in sources {
            let own = ("source", source.name.as_str());
            match samples {
                Gauge(value) => value(source).into_iter().for_each(|value| line(&mut text, name, &[own], value)),
                Counter(value) => line(&mut text, name, &[own], value(source)),
                Gauges(label, values) | Counters(label, values) => {
                    for (of, value) in values(source) {
                        line(&mut text, name, &[own, (label, &of)], value);
                    }
                }
            }
        }
    }
    text
}

fn head(text: &mut String, name: &str, help: &str, kind: &str) {
    *text += &format!("# HELP {PREFIX}{name} {help}\n# TYPE {PREFIX}{name} {kind}\n");
}

fn line(text: &mut String, name: &str, labels: &[(&str, &str)], value: f64) {
    let labels: Vec<String> = labels.iter().map(|(label, value)| format!("{label}=\"{}\"", escaped(value))).collect();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{PREFIX}{name}{{{}}} {value}", labels.join(","));
}

/// A label's value: escaped as the format asks, shortened, and without control characters: a zero byte makes Prometheus
/// refuse the whole text.
fn escaped(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for (index, character) in value.chars().enumerate() {
        match character {
            _ if index == ERROR_LIMIT_CHARS => {
                escaped.push('…');
                break;
            }
            '\\' => escaped += "\\\\",
            '"' => escaped += "\\\"",
            '\n' => escaped += "\\n",
            other if other.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}
