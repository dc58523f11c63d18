//! The plots of a cell: transactions by time and by threads, and what the servers did second by second.

use std::collections::BTreeMap;

use super::cell::{rate_at, state_figure, state_of};
use super::experiment::Trace;
use super::sampler::{NodeValue, Sample, rates};
use super::{Contender, Experiment};
use crate::deployment::Deployment;
use crate::page::{BarGroup, Line, Mark, Page, Plot, PlotForm, Point, RunResult};
use crate::report::Spread;
use crate::rounds::Cell;

/// What the report of 2011 had at first, and later.
const REPORTED: [(&str, f64); 2] = [("reported at first", 1_000.0), ("reported later", 400.0)];
/// More lines than these stand in two plots.
const LINES_LIMIT: usize = 6;
/// Not more states than these are shown.
const STATES_LIMIT: usize = 6;

/// A figure of every second and node.
struct Series {
    title: &'static str,
    y: &'static str,
    values: fn(&[Sample]) -> Vec<NodeValue>,
}

const SERIES: [Series; 5] = [
    Series {
        title: "Dirty pages",
        y: "pages of 16 KiB",
        values: |samples| each(samples, |sample| sample.dirty_pages as f64),
    },
    Series {
        title: "Redo log in use",
        y: "checkpoint age ÷ maximum",
        values: |samples| each(samples, Sample::checkpoint_share),
    },
    Series { title: "Page reads", y: "pages/s", values: |samples| rates(samples, |sample| sample.pages_read) },
    Series {
        title: "Flow control",
        y: "share of time paused",
        values: |samples| {
            let paused = rates(samples, |sample| sample.paused_ns).into_iter();
            paused.map(|paused| NodeValue { value: paused.value / 1e9, ..paused }).collect()
        },
    },
    Series {
        title: "Receive queue",
        y: "write sets",
        values: |samples| each(samples, |sample| sample.receive_queue as f64),
    },
];

fn each(samples: &[Sample], value: fn(&Sample) -> f64) -> Vec<NodeValue> {
    let value = |sample: &Sample| NodeValue { at_s: sample.at_s, node: sample.node, value: value(sample) };
    samples.iter().map(value).collect()
}

/// All plots of a cell.
pub(super) fn plots(experiment: &Experiment, page: &Page, cell: &Cell, traces: &[Trace]) -> Vec<Plot> {
    // Rounds are alike: the first of each contender is shown.
    let traces: Vec<&Trace> = traces.iter().filter(|trace| trace.cell == *cell && trace.round == 1).collect();
    let mut plots = Vec::new();
    for (name, shown) in groups(&experiment.contenders) {
        let of_group: Vec<&Trace> = traces.iter().copied().filter(|trace| shown.contains(&trace.contender)).collect();
        plots.push(by_time(&name, &of_group));
        plots.push(by_threads(&name, experiment, page, cell, &shown));
        plots.extend(SERIES.iter().map(|series| by_second(&name, series, &of_group)));
    }
    plots.extend(states_plot(experiment, page, cell));
    plots
}

/// Contenders that stand in one plot, with the end of its title.
fn groups(contenders: &[Contender]) -> Vec<(String, Vec<Contender>)> {
    if contenders.len() <= LINES_LIMIT {
        return vec![(String::new(), contenders.to_vec())];
    }
    let of = |name: &str, is_other: fn(Deployment) -> bool| {
        let shown = contenders.iter().copied().filter(|contender| !is_other(contender.deployment));
        (format!(": {name}"), shown.collect::<Vec<_>>())
    };
    vec![
        of("alone and Galera", |deployment| matches!(deployment, Deployment::Hortator(_))),
        of("alone and Hortator's provider", |deployment| matches!(deployment, Deployment::Galera(_))),
    ]
}

fn by_time(name: &str, traces: &[&Trace]) -> Plot {
    let line = |trace: &&Trace| Line {
        name: trace.contender.to_string(),
        points: points(trace.result.rates_by_second().into_iter()),
    };
    let lines: Vec<Line> = traces.iter().map(line).collect();
    Plot {
        title: format!("Transactions since the restart{name}"),
        x: "seconds since the restart".to_owned(),
        y: "transactions/s".to_owned(),
        marks: REPORTED.map(|(label, value)| Mark { label: label.to_owned(), value }).to_vec(),
        form: PlotForm::Lines { is_log_x: false, lines },
    }
}

fn by_threads(name: &str, experiment: &Experiment, page: &Page, cell: &Cell, contenders: &[Contender]) -> Plot {
    let mut threads = experiment.threads.clone();
    threads.sort_unstable();
    let line = |contender: &Contender| {
        let point = |threads: &usize| {
            Some(Point { x: *threads as f64, y: page.spread(cell, &contender.to_string(), &rate_at(*threads))? })
        };
        Line { name: contender.to_string(), points: threads.iter().filter_map(point).collect() }
    };
    Plot {
        title: format!("Transactions by threads, after the warm-up{name}"),
        x: "threads".to_owned(),
        y: "transactions/s".to_owned(),
        form: PlotForm::Lines { is_log_x: true, lines: contenders.iter().map(line).collect() },
        marks: Vec::new(),
    }
}

fn by_second(name: &str, series: &Series, traces: &[&Trace]) -> Plot {
    let line = |trace: &&Trace| Line {
        name: trace.contender.to_string(),
        points: points(most_by_second(&(series.values)(&trace.result.samples)).into_iter()),
    };
    Plot {
        title: format!("{}, the node with most{name}", series.title),
        x: "seconds since the restart".to_owned(),
        y: series.y.to_owned(),
        form: PlotForm::Lines { is_log_x: false, lines: traces.iter().map(line).collect() },
        marks: Vec::new(),
    }
}

/// Of each second, the node with the most.
fn most_by_second(values: &[NodeValue]) -> Vec<(f64, f64)> {
    let mut seconds: BTreeMap<u64, f64> = BTreeMap::new();
    for NodeValue { at_s, value, .. } in values {
        let most = seconds.entry(at_s.round() as u64).or_insert(*value);
        *most = most.max(*value);
    }
    seconds.into_iter().map(|(second, value)| (second as f64, value)).collect()
}

fn points(values: impl Iterator<Item = (f64, f64)>) -> Vec<Point> {
    values.map(|(x, y)| Point { x, y: Spread { median: y, least: y, most: y } }).collect()
}

/// The states of the process list with the most connections, the most first: the state, and each contender's connections.
pub(super) fn states(experiment: &Experiment, page: &Page, cell: &Cell) -> Vec<(String, Vec<Option<Spread>>)> {
    let names: Vec<String> = experiment.contenders.iter().map(ToString::to_string).collect();
    let runs = page.runs.iter().filter(|run| run.cell == *cell && names.contains(&run.contender));
    let mut most: BTreeMap<&str, f64> = BTreeMap::new();
    for (figure, mean) in runs
        .filter_map(|run| match &run.result {
            RunResult::Figures(figures) => Some(figures),
            RunResult::Failed(_) => None,
        })
        .flatten()
    {
        if let Some(state) = state_of(figure) {
            let known = most.entry(state).or_default();
            *known = known.max(*mean);
        }
    }
    let mut shown: Vec<(&str, f64)> = most.into_iter().collect();
    shown.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    shown.truncate(STATES_LIMIT);
    let of = |state: &str| names.iter().map(|name| page.spread(cell, name, &state_figure(state))).collect();
    shown.into_iter().map(|(state, _)| (state.to_owned(), of(state))).collect()
}

/// Client connections by state.
fn states_plot(experiment: &Experiment, page: &Page, cell: &Cell) -> Option<Plot> {
    let states = states(experiment, page, cell);
    let none = Spread { median: 0.0, least: 0.0, most: 0.0 };
    let group = |(index, contender): (usize, &Contender)| BarGroup {
        name: contender.to_string(),
        bars: states.iter().map(|(state, of)| (state.clone(), Some(of[index].unwrap_or(none)))).collect(),
    };
    (!states.is_empty()).then(|| Plot {
        title: "What the connections wait for: states in the process list, mean of all samples".to_owned(),
        x: "connections, all nodes".to_owned(),
        y: String::new(),
        form: PlotForm::Bars(experiment.contenders.iter().enumerate().map(group).collect()),
        marks: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_node_with_most_is_shown() {
        let values = [(0.9, 0, 3.0), (1.1, 1, 7.0), (2.0, 0, 5.0), (2.2, 1, 1.0)];
        let values = values.map(|(at_s, node, value)| NodeValue { at_s, node, value });
        assert_eq!(most_by_second(&values), [(1.0, 7.0), (2.0, 5.0)]);
    }

    #[test]
    fn many_contenders_stand_in_two_plots() {
        let shown: Vec<usize> = groups(&Contender::all()).iter().map(|(_, shown)| shown.len()).collect();
        assert_eq!(shown, [5, 5]);
        assert_eq!(groups(&Contender::all()[..5]).len(), 1);
    }
}
