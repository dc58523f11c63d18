//! `--progress=json`: a load as a stream of events on standard error, one JSON object a line.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use hortator_load::progress::Progress;
use hortator_load::report::{End, Failure, Summary};
use serde::Serialize;

/// Between two events of progress.
const INTERVAL: Duration = Duration::from_secs(1);

/// How a load shows how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ProgressMode {
    /// A line that redraws itself, if standard error is a terminal
    Line,
    /// Events on standard error, one JSON object a line, in place of failures and summary in words
    Json,
}

/// One event. docs/load.md lists the fields.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event<'e> {
    Start { version: &'static str, can_resume: bool },
    Progress(Counters),
    Failure(&'e Failure),
    Violation { message: String },
    Problem { message: &'e str },
    End { end: End, status: u8, rows: u64, elapsed_s: f64, failure_count: u64, can_resume: bool, load_id: Option<u64> },
}

/// How far the load is.
#[derive(Serialize)]
struct Counters {
    elapsed_s: f64,
    read_bytes: u64,
    done_bytes: u64,
    total_bytes: Option<u64>,
    rows: u64,
    statements: u64,
    skipped: u64,
    replays: u64,
    index_builds: u64,
    tables: Vec<String>,
    /// Why the load is held back by the limits of its user.
    throttled: Option<String>,
    /// That an index build waits for another session.
    waiting_build: Option<String>,
}

impl Counters {
    fn of(progress: &Progress, start: Instant) -> Self {
        Self {
            elapsed_s: start.elapsed().as_secs_f64(),
            read_bytes: progress.read_bytes(),
            done_bytes: progress.done_bytes(),
            total_bytes: progress.total_bytes(),
            rows: Progress::value(&progress.rows),
            statements: Progress::value(&progress.statements),
            skipped: Progress::value(&progress.skipped),
            replays: Progress::value(&progress.replays),
            index_builds: Progress::value(&progress.key_builds),
            tables: progress.current_tables(),
            throttled: progress.throttled(),
            waiting_build: progress.waiting_build(),
        }
    }
}

/// Tells how far a load is until it is finished.
pub(super) struct EventStream {
    ends: Sender<()>,
    thread: JoinHandle<()>,
}

impl EventStream {
    /// Begins with the event `start`.
    pub(super) fn start(progress: Arc<Progress>, can_resume: bool) -> Self {
        write(&Event::Start { version: env!("CARGO_PKG_VERSION"), can_resume });
        let (ends, ended) = mpsc::channel();
        let start = Instant::now();
        let thread = std::thread::spawn(move || {
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                write(&Event::Progress(Counters::of(&progress, start)));
            }
            // The last one tells all of it.
            write(&Event::Progress(Counters::of(&progress, start)));
        });
        Self { ends, thread }
    }

    /// Tells the last counters.
    pub(super) fn finish(self) {
        let _ = self.ends.send(());
        // A panic of this thread does not matter to the load.
        let _ = self.thread.join();
    }
}

/// Tells what has failed, and how the load has ended.
pub(super) fn write_end(summary: &Summary, status: u8) {
    for failure in &summary.failures {
        write(&Event::Failure(failure));
    }
    for violation in summary.violations() {
        write(&Event::Violation { message: violation.to_string() });
    }
    for problem in summary.verification.iter().flat_map(|verification| &verification.problems) {
        write(&Event::Problem { message: problem });
    }
    write(&Event::End {
        end: summary.end,
        status,
        rows: summary.rows,
        elapsed_s: summary.elapsed_s,
        failure_count: summary.failure_count,
        can_resume: summary.checkpoint.can_resume,
        load_id: summary.checkpoint.load_id,
    });
}

fn write(event: &Event<'_>) {
    // Every event can be JSON: its keys are texts.
    if let Ok(line) = serde_json::to_string(event) {
        eprintln!("{line}");
    }
}
