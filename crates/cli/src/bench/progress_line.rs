//! The progress of an experiment: on a terminal one line that is rewritten, else a line for each step and run.

use std::io::IsTerminal;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hortator_bench::progress::{BegunRun, Event, Observer};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The interval between two updates.
const INTERVAL: Duration = Duration::from_millis(200);
/// What a line that is an event begins with.
const EVENT: &str = "event ";

/// Shows what an experiment tells, on standard error.
#[derive(Debug)]
pub(super) enum Progress {
    /// A line for each step and each run that has ended.
    Lines,
    /// One line that is rewritten. What failed stays above it.
    Terminal(ProgressLine),
    /// Every event as a line, for `bench all`, which shows them.
    Events,
}

impl Progress {
    /// As standard error is; `is_for_all` if `bench all` reads it and shows events on a terminal.
    pub(super) fn new(is_for_all: bool) -> Self {
        match is_for_all {
            true => Self::Events,
            false if std::io::stderr().is_terminal() => Self::Terminal(ProgressLine::start()),
            false => Self::Lines,
        }
    }

    /// Prints a line that stays.
    pub(super) fn print(&self, line: &str) {
        match self {
            Self::Terminal(progress) => progress.send(Told::Line(line.to_owned())),
            Self::Lines | Self::Events => eprintln!("{line}"),
        }
    }
}

impl Observer for Progress {
    fn tell(&mut self, event: Event) {
        match (self, event) {
            (Self::Terminal(line), event) => line.send(Told::Event(event)),
            (Self::Events, event) => eprintln!("{}", to_line(&event)),
            (Self::Lines, Event::Step(line) | Event::RunEnded { line, .. }) => eprintln!("{line}"),
            (Self::Lines, Event::RunBegan(_)) => {}
        }
    }
}

/// An event as a line.
fn to_line(event: &Event) -> String {
    let text = serde_json::to_string(event).expect("an event is numbers and text only");
    format!("{EVENT}{text}")
}

/// The event of a line, if it is one.
pub(super) fn from_line(line: &str) -> Option<Event> {
    serde_json::from_str(line.strip_prefix(EVENT)?).ok()
}

/// What the drawing thread takes.
#[derive(Debug)]
enum Told {
    Event(Event),
    /// A line that stays.
    Line(String),
}

/// A line that redraws itself until it is dropped.
#[derive(Debug)]
pub(super) struct ProgressLine {
    told: Option<Sender<Told>>,
    thread: Option<JoinHandle<()>>,
}

impl ProgressLine {
    fn start() -> Self {
        let (told, received) = mpsc::channel();
        Self { told: Some(told), thread: Some(thread::spawn(move || draw(&received))) }
    }

    fn send(&self, what: Told) {
        // The line has ended only if its thread panicked, which does not affect the experiment.
        let _ = self.told.as_ref().map(|told| told.send(what));
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.told = None;
        // As above.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn draw(told: &Receiver<Told>) {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(style());
    let mut shown = Shown::default();
    loop {
        match told.recv_timeout(INTERVAL) {
            Ok(Told::Line(line)) => bar.println(line),
            Ok(Told::Event(event)) => shown.take(event).into_iter().for_each(|line| bar.println(line)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        bar.set_message(shown.line());
        bar.tick();
    }
    bar.finish_and_clear();
}

/// The line takes the width of the terminal, and is cut there.
fn style() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {wide_msg}").expect("the template is a constant that is tested")
}

/// What the line shows.
#[derive(Default)]
struct Shown {
    run: Option<(BegunRun, Instant)>,
    step: String,
}

impl Shown {
    /// Takes an event; gives lines that stay.
    fn take(&mut self, event: Event) -> Vec<String> {
        match event {
            Event::Step(step) => self.step = step,
            Event::RunBegan(run) => {
                self.run = Some((run, Instant::now()));
                self.step.clear();
            }
            Event::RunEnded { line, is_failed: true } => {
                // After a failure it says where the logs are.
                let step = std::mem::take(&mut self.step);
                return [line, step].into_iter().filter(|line| !line.is_empty()).collect();
            }
            Event::RunEnded { .. } => {}
        }
        Vec::new()
    }

    fn line(&self) -> String {
        match &self.run {
            Some((run, began)) => run.line(began.elapsed(), &self.step),
            None => self.step.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_of_the_run_and_failures_stay() {
        style();
        let mut shown = Shown::default();
        assert!(shown.take(Event::Step("writing the dumps".to_owned())).is_empty());
        assert_eq!(shown.line(), "writing the dumps");
        let run = BegunRun { number: 1, all: 2, label: "G3".to_owned(), ..BegunRun::default() };
        assert!(shown.take(Event::RunBegan(run)).is_empty());
        assert_eq!(shown.line(), "1/2 · 0 s · G3");
        shown.take(Event::Step("the error logs are in /x".to_owned()));
        assert_eq!(shown.line(), "1/2 · 0 s · G3 · the error logs are in /x");
        let lines = shown.take(Event::RunEnded { line: "1/2 G3: failed".to_owned(), is_failed: true });
        assert_eq!(lines, ["1/2 G3: failed", "the error logs are in /x"]);
        assert!(shown.take(Event::RunEnded { line: "2/2".to_owned(), is_failed: false }).is_empty());
    }

    #[test]
    fn an_event_is_a_line_and_other_lines_are_none() {
        let event = Event::Step("first\nsecond".to_owned());
        let line = to_line(&event);
        assert!(!line.contains('\n'), "{line}");
        assert_eq!(from_line(&line), Some(event));
        assert_eq!(from_line("1/2 G3: 7 s"), None);
        assert_eq!(from_line("event of another kind"), None);
    }
}
