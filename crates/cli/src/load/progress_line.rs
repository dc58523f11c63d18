//! The progress of a load on a terminal: bytes, rows, rates, time left, and the current tables.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hortator_load::progress::Progress;
use indicatif::{HumanBytes, HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Between two drawings.
const INTERVAL: Duration = Duration::from_millis(200);
/// Tables that the line names.
const TABLES_NAMED: usize = 3;

/// A line that redraws itself until it is finished.
pub(super) struct ProgressLine {
    bar: ProgressBar,
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
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let drawn = bar.clone();
        let thread = std::thread::spawn(move || draw(&progress, &drawn, &ended));
        Some(Self { bar, done, thread })
    }

    /// The line, to suspend while other text is printed.
    pub(super) fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    /// Removes the line from the terminal.
    pub(super) fn finish(self) {
        self.done.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        // A panic of the drawing thread does not matter to the load.
        let _ = self.thread.join();
    }
}

fn draw(progress: &Progress, bar: &ProgressBar, done: &AtomicBool) {
    let start = Instant::now();
    let style = |template| ProgressStyle::with_template(template).expect("the template is a constant that is tested");
    while !done.load(Ordering::Relaxed) {
        let read = progress.done_bytes();
        match progress.total_bytes() {
            Some(total) => {
                bar.set_style(style("{bar:24} {percent:>3}% {msg}"));
                bar.set_length(total);
            }
            None => bar.set_style(style("{spinner} {msg}")),
        }
        bar.set_position(read);
        bar.set_message(message(progress, read, start.elapsed()));
        bar.tick();
        std::thread::park_timeout(INTERVAL);
    }
    bar.finish_and_clear();
}

/// `120 MiB of 168 MiB · 2,804,113 rows, 612,000/s · 3 seconds left · employees.salaries`
fn message(progress: &Progress, read: u64, elapsed: Duration) -> String {
    let rows = Progress::value(&progress.rows);
    let seconds = elapsed.as_secs_f64().max(0.001);
    let mut parts = vec![match progress.total_bytes() {
        Some(total) => format!("{} of {}", HumanBytes(read), HumanBytes(total)),
        None => HumanBytes(read).to_string(),
    }];
    parts.push(format!("{} rows, {}/s", HumanCount(rows), HumanCount((rows as f64 / seconds) as u64)));
    if let Some(total) = progress.total_bytes()
        && read > 0
        && total > read
    {
        let left = seconds * (total - read) as f64 / read as f64;
        parts.push(format!("{} left", HumanDuration(Duration::from_secs_f64(left))));
    }
    parts.extend(progress.throttled());
    match Progress::value(&progress.key_builds) {
        0 => {}
        builds => parts.push(format!("building indexes of {builds} table(s)")),
    }
    parts.extend(progress.waiting_build());
    let tables = progress.current_tables();
    if !tables.is_empty() {
        let more = tables.len().saturating_sub(TABLES_NAMED);
        let mut named = tables.into_iter().take(TABLES_NAMED).collect::<Vec<_>>().join(", ");
        if more > 0 {
            named.push_str(&format!(" and {more} more"));
        }
        parts.push(named);
    }
    parts.join(" · ")
}
