//! The runs of an experiment: every contender in every cell, in rounds, each contender first in turn.
//!
//! [`plan`] is a pure function; [`run`] carries it out. A run that fails has a reason and no figure, and the rest goes on; a
//! run that the user stops ends all, and what was measured stays.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::page::{Run, RunResult};
use crate::progress::{self, BegunRun, Estimates, Event, Observer};
use crate::{Error, profile};

/// The factors of a cell, by name.
pub type Cell = BTreeMap<String, String>;
/// What a run measures, by name with the unit, as `wall_s`.
pub type Figures = BTreeMap<String, f64>;

/// One run that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct Task<C> {
    /// Where.
    pub cell: Cell,
    /// Who.
    pub contender: C,
    /// From 1.
    pub round: usize,
}

/// What was measured.
#[derive(Debug, Default)]
pub struct Measured {
    /// In the order of the plan.
    pub runs: Vec<Run>,
    /// Why runs of the plan are missing.
    pub unfinished: Option<String>,
}

/// A cell from its factors.
pub fn cell(factors: &[(&str, String)]) -> Cell {
    factors.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

/// All runs: cell by cell, as the servers of a cell are set up once; in each round the next contender begins.
pub fn plan<C: Clone>(cells: &[Cell], contenders: &[C], rounds: usize) -> Vec<Task<C>> {
    let mut tasks = Vec::with_capacity(cells.len() * contenders.len() * rounds);
    for cell in cells {
        for round in 0..rounds {
            for index in 0..contenders.len() {
                let contender = contenders[(index + round) % contenders.len()].clone();
                tasks.push(Task { cell: cell.clone(), contender, round: round + 1 });
            }
        }
    }
    tasks
}

/// Carries out a plan. `asked` is the measured time of a run, if it is fixed. The observer hears of each run; what a run says
/// itself are steps.
pub fn run<C: ToString>(
    tasks: &[Task<C>],
    asked: Option<Duration>,
    observer: &mut dyn Observer,
    mut measure: impl FnMut(&Task<C>, &mut dyn FnMut(&str)) -> Result<Figures, Error>,
) -> Measured {
    let mut measured = Measured::default();
    let mut estimates = Estimates::new(asked);
    let time_of = |estimates: &Estimates, tasks: &[Task<C>]| -> Option<Duration> {
        tasks.iter().map(|task| estimates.of(&task.cell, &task.contender.to_string())).sum()
    };
    for (index, task) in tasks.iter().enumerate() {
        let (contender, then) = (task.contender.to_string(), &tasks[index + 1..]);
        let label = format!("{}{contender}", factors(&task.cell));
        profile::set_label(label.clone());
        observer.tell(Event::RunBegan(BegunRun {
            number: index + 1,
            all: tasks.len(),
            label: format!("{contender}, {}", factors(&task.cell)).trim_end_matches(", ").to_owned(),
            expected: estimates.of(&task.cell, &contender),
            then: time_of(&estimates, then),
            last: measured.runs.last().map(progress::figure),
        }));
        let begin = Instant::now();
        let result = match measure(task, &mut |line| observer.tell(Event::Step(line.to_owned()))) {
            Ok(figures) => RunResult::Figures(figures),
            Err(Error::Interrupted) => {
                measured.unfinished = Some(format!("the experiment was stopped after {index} of {} runs", tasks.len()));
                break;
            }
            Err(error) => RunResult::Failed(error.to_string()),
        };
        estimates.add(&task.cell, &contender, begin.elapsed());
        let run = Run { cell: task.cell.clone(), contender, round: task.round, result };
        observer.tell(Event::RunEnded {
            line: progress::ended(&label, &run, index + 1, tasks.len(), time_of(&estimates, then)),
            is_failed: matches!(run.result, RunResult::Failed(_)),
        });
        measured.runs.push(run);
    }
    measured
}

/// Carries out a plan in which the runs of a cell share what `prepare` makes: servers and data. What the cell before had ends
/// first.
pub fn run_prepared<C: ToString, P>(
    tasks: &[Task<C>],
    observer: &mut dyn Observer,
    mut prepare: impl FnMut(&Cell, &mut dyn FnMut(&str)) -> Result<P, Error>,
    mut measure: impl FnMut(&Task<C>, &P) -> Result<Figures, Error>,
) -> Measured {
    let mut current: Option<(Cell, P)> = None;
    run(tasks, None, observer, |task, say| {
        let prepared = match current.take().filter(|(cell, _)| *cell == task.cell) {
            Some((_, prepared)) => prepared,
            None => prepare(&task.cell, say)?,
        };
        let figures = measure(task, &prepared);
        current = Some((task.cell.clone(), prepared));
        figures
    })
}

/// The factors of a cell, as the beginning of a line.
fn factors(cell: &Cell) -> String {
    cell.iter().map(|(name, value)| format!("{name} {value}, ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(names: &[&str]) -> Vec<Cell> {
        names.iter().map(|name| cell(&[("rows", (*name).to_owned())])).collect()
    }

    #[test]
    fn each_contender_begins_a_round() {
        let tasks = plan(&cells(&["1", "50"]), &["a", "b", "c"], 2);
        let shown: Vec<String> =
            tasks.iter().map(|task| format!("{}{}{}", task.cell["rows"], task.contender, task.round)).collect();
        assert_eq!(shown.join(" "), "1a1 1b1 1c1 1b2 1c2 1a2 50a1 50b1 50c1 50b2 50c2 50a2");
    }

    /// What failed has no figure; the others are measured.
    #[test]
    fn a_run_that_fails_does_not_end_the_others() {
        let tasks = plan(&cells(&["1"]), &["good", "bad"], 2);
        let mut lines = Vec::new();
        let measured =
            run(&tasks, None, &mut |line: &str| lines.push(line.to_owned()), |task, _| match task.contender {
                "bad" => Err(Error::Answer("3 rows are missing".to_owned())),
                _ => Ok(Figures::from([("wall_s".to_owned(), 2.0)])),
            });
        assert_eq!(measured.unfinished, None);
        let failed = RunResult::Failed("3 rows are missing".to_owned());
        let results: Vec<bool> = measured.runs.iter().map(|run| run.result == failed).collect();
        assert_eq!(results, [false, true, true, false]);
        assert!(lines[0].starts_with("1/4 rows 1, good: 2.00 s; about 0 s left"), "{lines:?}");
        assert_eq!(lines[2], "3/4 rows 1, bad: failed: 3 rows are missing; about 0 s left");
        assert_eq!(lines[3], "4/4 rows 1, good: 2.00 s");
    }

    /// One that cannot be made is tried again for the next run.
    #[test]
    fn the_runs_of_a_cell_share_what_is_prepared() {
        let tasks = plan(&cells(&["1", "50"]), &["a", "b"], 2);
        let (mut prepared, mut is_refused) = (Vec::new(), true);
        let prepare = |cell: &Cell, _: &mut dyn FnMut(&str)| match std::mem::take(&mut is_refused) {
            true => Err(Error::Answer("no server".to_owned())),
            false => {
                prepared.push(cell["rows"].clone());
                Ok(cell["rows"].parse::<f64>().unwrap())
            }
        };
        let measured = run_prepared(&tasks, &mut |_: &str| {}, prepare, |task, rows| {
            assert_eq!(task.cell["rows"], rows.to_string());
            Ok(Figures::from([("wall_s".to_owned(), *rows)]))
        });
        let failed = measured.runs.iter().filter(|run| matches!(run.result, RunResult::Failed(_))).count();
        assert_eq!((prepared.join(" "), failed, measured.runs.len()), ("1 50".to_owned(), 1, 8));
    }

    #[test]
    fn what_was_measured_before_a_stop_stays() {
        let tasks = plan(&cells(&["1"]), &["a", "b"], 2);
        let measured = run(&tasks, None, &mut |_: &str| {}, |task, _| match task.round {
            1 => Ok(Figures::new()),
            _ => Err(Error::Interrupted),
        });
        assert_eq!(measured.runs.len(), 2);
        assert_eq!(measured.unfinished.as_deref(), Some("the experiment was stopped after 2 of 4 runs"));
    }
}
