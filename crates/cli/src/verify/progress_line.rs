//! The progress of a comparison on a terminal: rows, rate, and the current table.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hortator_check::compare::Progress;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The interval between two updates.
const INTERVAL: Duration = Duration::from_millis(200);

/// A progress line that redraws itself until it is finished.
pub(super) struct ProgressLine {
    done: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl ProgressLine {
    /// Starts drawing, if standard error is a terminal.
    pub(super) fn start(progress: Arc<Progress>) -> Option<Self> {
        if !std::io::stderr().is_terminal() {
            return None;
        }
        let done = Arc::new(AtomicBool::new(false));
        let ended = done.clone();
        let thread = std::thread::spawn(move || draw(&progress, &ended));
        Some(Self { done, thread })
    }

    /// Removes the line from the terminal.
    pub(super) fn finish(self) {
        self.done.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        // A panic of the drawing thread does not affect the result.
        let _ = self.thread.join();
    }
}

fn draw(progress: &Progress, done: &AtomicBool) {
    let start = Instant::now();
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{spinner} {msg}").expect("the template is a constant that is tested");
    bar.set_style(style);
    while !done.load(Ordering::Relaxed) {
        bar.set_message(message(progress.rows(), progress.expected_rows(), &progress.table(), start.elapsed()));
        bar.tick();
        std::thread::park_timeout(INTERVAL);
    }
    bar.finish_and_clear();
}

/// `2,804,113 of about 3,900,000 rows, 612,000/s · employees.salaries`
fn message(rows: u64, expected_rows: u64, table: &str, elapsed: Duration) -> String {
    if table.is_empty() {
        return "reading definitions".to_owned();
    }
    let rate = rows as f64 / elapsed.as_secs_f64().max(0.001);
    // The server's count is an estimate, and may be too low.
    let expected = HumanCount(expected_rows.max(rows));
    format!("{} of about {expected} rows, {}/s · {table}", HumanCount(rows), HumanCount(rate as u64))
}

#[test]
fn the_line_shows_rows_and_table() {
    assert_eq!(message(0, 0, "", Duration::ZERO), "reading definitions");
    let line = message(2_000, 1_000, "shop.orders", Duration::from_secs(2));
    assert_eq!(line, "2,000 of about 2,000 rows, 1,000/s · shop.orders");
    assert!(ProgressStyle::with_template("{spinner} {msg}").is_ok());
}
