//! What an experiment tells while it runs: its steps, the run that has begun and the time that it probably takes, and its end.
//!
//! Estimates and texts are pure. Who shows them, and how, is the caller's: an [`Observer`].

use std::fmt::Write as _;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::page::{Run, RunResult};
use crate::rounds::Cell;

/// Takes what an experiment tells.
pub trait Observer {
    /// Takes an event, when it happens.
    fn tell(&mut self, event: Event);
}

/// A function takes the steps and the ended runs as lines.
impl<F: FnMut(&str)> Observer for F {
    fn tell(&mut self, event: Event) {
        match event {
            Event::Step(line) | Event::RunEnded { line, .. } => self(&line),
            Event::RunBegan(_) => {}
        }
    }
}

/// Something that happens in an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// A step between runs, or within one.
    Step(String),
    /// A run has begun.
    RunBegan(BegunRun),
    /// It has ended.
    RunEnded {
        /// The run and its figure, or why it has none.
        line: String,
        /// Whether it has no figure.
        is_failed: bool,
    },
}

/// A run that has begun.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BegunRun {
    /// From 1.
    pub number: usize,
    /// Runs of the experiment.
    pub all: usize,
    /// The contender, and then the cell.
    pub label: String,
    /// How long it probably takes; None where nothing is known.
    pub expected: Option<Duration>,
    /// How long the runs after it probably take.
    pub then: Option<Duration>,
    /// What the run before it has measured.
    pub last: Option<String>,
}

impl BegunRun {
    /// The line about it, after it has run for a time and is at a step: what matters most is first, as a terminal cuts its end.
    #[must_use]
    pub fn line(&self, elapsed: Duration, step: &str) -> String {
        let Self { number, all, label, expected, then, last } = self;
        let mut line = format!("{number}/{all} · {} s", elapsed.as_secs());
        if let Some(expected) = expected {
            let _ = write!(line, " of {}", about(*expected));
        }
        let rest = expected.unwrap_or_default().saturating_sub(elapsed);
        if let Some(left) = then.map(|then| then + rest).filter(|left| !left.is_zero()) {
            let _ = write!(line, " · {} left", about(left));
        }
        for part in [label.as_str(), step, last.as_deref().unwrap_or_default()] {
            if !part.is_empty() {
                let _ = write!(line, " · {part}");
            }
        }
        line
    }
}

/// How long runs take, from those that have ended.
#[derive(Debug, Default)]
pub(crate) struct Estimates {
    ended: Vec<(Cell, String, Duration)>,
    /// What the user asked for, without what comes before and after.
    asked: Option<Duration>,
}

impl Estimates {
    /// With the measured time of a run, if it is fixed.
    pub(crate) fn new(asked: Option<Duration>) -> Self {
        Self { ended: Vec::new(), asked }
    }

    /// Adds a run that has ended.
    pub(crate) fn add(&mut self, cell: &Cell, contender: &str, took: Duration) {
        self.ended.push((cell.clone(), contender.to_owned(), took));
    }

    /// How long a run probably takes: as long as this contender in this cell, else as this contender, else as all, else the time
    /// that the user asked for.
    pub(crate) fn of(&self, cell: &Cell, contender: &str) -> Option<Duration> {
        self.mean(|in_cell, of| in_cell == cell && of == contender)
            .or_else(|| self.mean(|_, of| of == contender))
            .or_else(|| self.mean(|_, _| true))
            .or(self.asked)
    }

    fn mean(&self, is_like: impl Fn(&Cell, &str) -> bool) -> Option<Duration> {
        let like = self.ended.iter().filter(|(cell, contender, _)| is_like(cell, contender));
        let times: Vec<Duration> = like.map(|(_, _, took)| *took).collect();
        let count = u32::try_from(times.len()).ok().filter(|count| *count > 0)?;
        Some(times.iter().sum::<Duration>() / count)
    }
}

/// The figure that a line shows of a run, or why there is none.
pub(crate) fn figure(run: &Run) -> String {
    match &run.result {
        RunResult::Figures(figures) => match figures.get("wall_s") {
            Some(wall) => format!("{wall:.2} s"),
            None => {
                let rate = figures.iter().find(|(name, _)| name.ends_with("_per_s"));
                let shown = rate.or_else(|| figures.iter().next());
                shown.map_or_else(String::new, |(name, value)| format!("{name} {value:.2}"))
            }
        },
        RunResult::Failed(reason) => format!("failed: {reason}"),
    }
}

/// A run that has just ended, and the time that is left.
pub(crate) fn ended(label: &str, run: &Run, number: usize, all: usize, left: Option<Duration>) -> String {
    let left = left.filter(|_| number < all).map(|left| format!("; {} left", about(left)));
    format!("{number}/{all} {label}: {}{}", figure(run), left.unwrap_or_default())
}

/// A time that nobody knows exactly.
fn about(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 90.0 => format!("about {seconds:.0} s"),
        seconds => format!("about {:.0} min", seconds / 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rounds;

    fn cell(rows: &str) -> Cell {
        rounds::cell(&[("rows", rows.to_owned())])
    }

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_run_takes_as_long_as_those_that_are_most_like_it() {
        let mut estimates = Estimates::new(Some(seconds(5)));
        assert_eq!(Estimates::default().of(&cell("1"), "a"), None);
        assert_eq!(estimates.of(&cell("1"), "a"), Some(seconds(5)));
        estimates.add(&cell("1"), "a", seconds(10));
        estimates.add(&cell("1"), "a", seconds(20));
        estimates.add(&cell("2"), "a", seconds(60));
        for (rows, contender, expected) in [("1", "a", 15), ("2", "a", 60), ("3", "a", 30), ("1", "b", 30)] {
            assert_eq!(estimates.of(&cell(rows), contender), Some(seconds(expected)), "{rows} {contender}");
        }
    }

    #[test]
    fn the_line_says_which_run_since_when_and_how_long() {
        let run = BegunRun {
            number: 3,
            all: 8,
            label: "G3, rows 1".to_owned(),
            expected: Some(seconds(10)),
            then: Some(seconds(200)),
            last: Some("rows_per_s 7.00".to_owned()),
        };
        let line = run.line(seconds(4), "waiting");
        assert_eq!(line, "3/8 · 4 s of about 10 s · about 3 min left · G3, rows 1 · waiting · rows_per_s 7.00");
        // A run that takes longer leaves the time of the others.
        assert_eq!(
            run.line(seconds(40), ""),
            "3/8 · 40 s of about 10 s · about 3 min left · G3, rows 1 · rows_per_s 7.00"
        );
        let first = BegunRun { number: 1, all: 1, label: "alone".to_owned(), ..BegunRun::default() };
        assert_eq!(first.line(seconds(1), "starting"), "1/1 · 1 s · alone · starting");
    }

    #[test]
    fn events_have_a_form_that_another_process_reads() {
        let event = Event::RunEnded { line: "1/2 a".to_owned(), is_failed: true };
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
    }
}
