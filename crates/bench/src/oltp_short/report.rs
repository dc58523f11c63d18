//! The outcome as a page.

use std::time::SystemTime;

use super::cell::{
    ALL_READS, ALL_WRITES, COMMIT, DISK_READS, DISK_WRITES, IS_STEADY, LAST_TO_FIRST, RATE, READING, REDO_SHARE,
    rate_at,
};
use super::experiment::WARMUP_THREADS;
use super::plots::{plots, states};
use super::servers::{SETTINGS, ServerSize};
use super::{Contender, DiskLimit, Experiment, Mix, Outcome};
use crate::deployment::{self, Deployment};
use crate::expected_errors;
use crate::figures::{CORES, LATENCIES, MEASURED, OTHER_CPU};
use crate::page::{ContenderNote, JSON_VERSION, Page, Section, Table};
use crate::report::{Spread, capitalized, date, machine, median, median_and_range, thousands, warning_of_other_cpu};
use crate::resource_usage::{all_cores, is_cpu_bound};
use crate::rounds::Cell;
use crate::rules;

/// The redo log counts as filled from this share on: InnoDB then flushes because of it.
const REDO_FILLED_SHARE: f64 = 0.75;
/// A cluster gets slower if its last window has less than this of the first one's rate.
const SLOWER_RATIO: f64 = 0.9;
/// sysbench and the servers do all the work.
const DEBUG_BUILD: &str = "this is a debug build: figures of Hortator's provider have no meaning unless HORTATOR_PROVIDER names a \
                           release build";

/// The page of an experiment.
#[must_use]
pub fn page(experiment: &Experiment, outcome: &Outcome) -> Page {
    let mut page = Page {
        version: JSON_VERSION,
        experiment: "oltp-short".to_owned(),
        title: "Short transactions, bound by the disk".to_owned(),
        question: "Do clusters slow down on short, mixed transactions that are bound by the disk, and do more writers make it \
                   worse?"
            .to_owned(),
        reported: vec![
            "MySQL 5.1 with Galera, three nodes, sysbench 0.5, hardware and table sizes not told (2011): up to 1,000 transactions/s at \
             first, then down to a steady 400, almost the same with 1, 2 and 3 writers. The single server did not slow down after its \
             warm-up, and gained much more from threads. A note of 2012: very likely the disks' set-up, not Galera or InnoDB."
                .to_owned(),
        ],
        command: command(experiment),
        date: date(SystemTime::now()),
        machine: machine(),
        versions: outcome.versions.clone(),
        settings: settings(experiment, outcome),
        contenders: notes_of_contenders(experiment),
        limits: limits(experiment, outcome),
        runs: outcome.measured.runs.clone(),
        ..Page::default()
    };
    rules::withdraw(&mut page);
    page.warnings = outcome.measured.unfinished.iter().chain(&outcome.left_out).cloned().collect();
    if cfg!(debug_assertions) {
        page.warnings.push(DEBUG_BUILD.to_owned());
    }
    let times = page.runs.iter().filter_map(|run| run.figure(MEASURED).zip(run.figure(OTHER_CPU)));
    page.warnings.extend(warning_of_other_cpu(times));
    for (cell, mix, limit) in &outcome.cells {
        page.answers.extend(answers(experiment, &page, cell, *mix, *limit));
    }
    let section = |(cell, mix, limit): &(Cell, Mix, DiskLimit)| section(experiment, outcome, &page, cell, *mix, *limit);
    page.sections = outcome.cells.iter().map(section).collect();
    page
}

fn command(experiment: &Experiment) -> String {
    let Experiment { contenders, mixes, limits, rows, window_s, windows, threads, extent, .. } = experiment;
    let rounds = extent.rounds;
    let names: Vec<String> = contenders.iter().map(|contender| contender.name()).collect();
    let mut command = format!(
        "hortator bench oltp-short --rounds {rounds} --seconds {window_s} --windows {windows} --rows {rows} --threads {} --mix {} \
         --disk {} --only {}",
        listed(threads),
        listed(mixes),
        listed(limits),
        names.join(",")
    );
    experiment.settings.iter().for_each(|(name, value)| command += &format!(" --set {name}={value}"));
    experiment.cpus.iter().for_each(|cpus| command += &format!(" --cpus {cpus}"));
    if experiment.allows_any_file_system {
        command += " --any-file-system";
    }
    command
}

fn listed<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

fn settings(experiment: &Experiment, outcome: &Outcome) -> Vec<String> {
    let own = SETTINGS.map(|(name, value)| (name, value.to_owned()));
    let own = own.into_iter().chain(ServerSize::for_rows(experiment.rows).settings());
    let own: Vec<(String, String)> = own.map(|(name, value)| (name.to_owned(), value)).collect();
    let is_own = |setting: &str, further: &[(String, String)]| {
        further.iter().any(|(name, _)| setting.split_once('=').is_some_and(|(set, _)| set == name.replace('-', "_")))
    };
    let mut settings = deployment::settings();
    settings.retain(|setting| !is_own(setting, &own));
    settings.extend(own.iter().map(|(name, value)| format!("{name}={value}")));
    settings.retain(|setting| !is_own(setting, &experiment.settings));
    settings.extend(experiment.settings.iter().map(|(name, value)| format!("{name}={value}")));
    settings.push(format!("10 tables of {} rows", thousands(experiment.rows)));
    settings.push(format!("the data are on {}", outcome.disk));
    settings.push(match outcome.controller {
        Some(controller) => format!("the disk is limited by {controller}, once the tables are filled"),
        None => "nothing limits the disk".to_owned(),
    });
    settings.push(match experiment.cpus.is_empty() {
        true => "all servers use all CPUs".to_owned(),
        false => format!("CPUs of the nodes, the last also for further nodes: {}", {
            let lists: Vec<String> = experiment.cpus.iter().map(ToString::to_string).collect();
            lists.join("; ")
        }),
    });
    settings
}

/// One for each deployment.
fn notes_of_contenders(experiment: &Experiment) -> Vec<ContenderNote> {
    let mut notes: Vec<ContenderNote> = Vec::new();
    for contender in &experiment.contenders {
        let note = contender.deployment.note();
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

fn limits(experiment: &Experiment, outcome: &Outcome) -> Vec<String> {
    let mut limits = vec![
        "All nodes, and sysbench, share this machine: each row is paid for on every node.".to_owned(),
        "The tables, memory and limits are ours: the report does not tell its own. Only ratios compare.".to_owned(),
        "Errors after which sysbench sends a transaction again are counted. A lost connection ends a run: sysbench cannot go on."
            .to_owned(),
        format!(
            "A steady rate is that of three windows in a row within 10 %, of at most {} windows of {} s; the first seconds after the \
             restart are part of the first window.",
            experiment.windows, experiment.window_s
        ),
    ];
    if outcome.controller.is_some() {
        limits.push(
            "The kernel limits in slices of about 0.1 s, and with control groups of version 1 not what it writes late itself."
                .to_owned(),
        );
    }
    if experiment.extent.rounds == 1 {
        limits.push("One round: the spread of the runs is not known.".to_owned());
    }
    limits
}

/// The answer to the question: which clusters get slower after the restart, and what more writers change.
fn verdict(experiment: &Experiment, page: &Page, cell: &Cell, title: &str) -> Option<String> {
    let of = |contender: &Contender, figure: &str| Some(page.spread(cell, &contender.to_string(), figure)?.median);
    let clusters = || experiment.contenders.iter().filter(|contender| contender.deployment.nodes() > 1);
    let changes: Vec<(&Contender, f64)> =
        clusters().filter_map(|contender| Some((contender, of(contender, LAST_TO_FIRST)?))).collect();
    let slower: Vec<String> = changes
        .iter()
        .filter(|(_, change)| *change < SLOWER_RATIO)
        .map(|(contender, change)| format!("{contender} ({change:.2})"))
        .collect();
    let slows = match slower.is_empty() {
        _ if changes.is_empty() => return None,
        true => "no cluster gets slower after the restart".to_owned(),
        false => format!("after the restart these get slower: {}", slower.join(", ")),
    };
    let writers = clusters().filter(|contender| contender.writers > 1).filter_map(|contender| {
        let one = Contender { writers: 1, ..*contender };
        Some(format!("{contender} commit {:.2} times as much as with one", of(contender, RATE)? / of(&one, RATE)?))
    });
    let writers: Vec<String> = writers.collect();
    let writers = if writers.is_empty() { String::new() } else { format!("; {}", writers.join(", ")) };
    Some(format!("{title}: {slows}{writers}."))
}

/// Two sentences: what the servers cost, and how they go on after the start.
fn answers(experiment: &Experiment, page: &Page, cell: &Cell, mix: Mix, limit: DiskLimit) -> Vec<String> {
    let alone = Contender { deployment: Deployment::Alone, writers: 1 };
    let of = |contender: Contender, figure: &str| page.spread(cell, &contender.to_string(), figure);
    let rates = experiment.contenders.iter().filter_map(|contender| {
        let rate = of(*contender, RATE)?.median;
        let ratio = page.ratio(RATE, (cell, &contender.to_string()), (cell, &alone.to_string()));
        Some(match ratio.filter(|_| *contender != alone) {
            Some(ratio) => format!("{contender}: {rate:.0} ({:.2} × alone)", ratio.median),
            None => format!("{contender}: {rate:.0}"),
        })
    });
    let rates: Vec<String> = rates.collect();
    let mut threads = experiment.threads.clone();
    threads.sort_unstable();
    let changes = experiment.contenders.iter().filter_map(|contender| {
        let last = of(*contender, LAST_TO_FIRST)?.median;
        let ramp = threads.first().zip(threads.last()).filter(|(first, last)| first < last);
        let gain = ramp.and_then(|(first, last)| {
            let (few, many) = (of(*contender, &rate_at(*first))?, of(*contender, &rate_at(*last))?);
            Some(format!(", {:.2}", many.median / few.median.max(f64::MIN_POSITIVE)))
        });
        Some(format!("{contender}: {last:.2}{}", gain.unwrap_or_default()))
    });
    let changes: Vec<String> = changes.collect();
    let from_to = match (threads.first(), threads.last()) {
        (Some(first), Some(last)) if first < last => format!(", and from {first} to {last} threads"),
        _ => String::new(),
    };
    let title = limit.title();
    let mut answers: Vec<String> =
        verdict(experiment, page, cell, &format!("{title}, {mix} transactions")).into_iter().collect();
    if !rates.is_empty() {
        let rates = rates.join("; ");
        answers.push(format!("{title}, {mix} transactions: at {WARMUP_THREADS} threads, {rates} transactions/s."));
    }
    if !changes.is_empty() {
        answers.push(format!(
            "{title}, {mix} transactions: from the first window after the restart to the last one at the same threads{from_to}, the rate \
             changes by these factors: {}.",
            changes.join("; ")
        ));
    }
    answers.iter().map(|answer| capitalized(answer)).collect()
}

fn section(
    experiment: &Experiment,
    outcome: &Outcome,
    page: &Page,
    cell: &Cell,
    mix: Mix,
    limit: DiskLimit,
) -> Section {
    let mut headings: Vec<String> =
        ["servers", "remarks", "steady transactions/s, median (min–max)", "× alone", "last ÷ first window"]
            .map(str::to_owned)
            .to_vec();
    headings.extend(experiment.threads.iter().map(|threads| format!("at {threads} threads")));
    let rest = [
        "p50 ms",
        "p95 ms",
        "p99 ms",
        "COMMIT of writers ms",
        "only read",
        "InnoDB reads/s",
        "InnoDB writes/s",
        "all reads/s",
        "all writes/s",
        "redo, most",
        "cores",
    ];
    headings.extend(rest.into_iter().chain([expected_errors::HEADING]).map(str::to_owned));
    let rows = experiment.contenders.iter().map(|contender| row(experiment, page, cell, *contender)).collect();
    let mut text = vec![format!("{} {}", mix.description(), limit.description())];
    text.push(format!(
        "\"At … threads\" are transactions/s of a window each, after the warm-up at {WARMUP_THREADS} threads and without a restart. \
         \"Redo, most\" is the highest checkpoint age divided by its maximum. Plots show the first round; the reported 1,000 and 400 \
         transactions/s are marked, with an arrow where they are far above."
    ));
    text.push(
        "\"COMMIT of writers\" is the mean time of the COMMIT of a transaction that writes. \"All reads\" and \"all writes\" are \
         what the kernel counted against the limits: beyond those of InnoDB they are a provider's log, and the file system's \
         journal at each flush."
            .to_owned(),
    );
    let plots = plots(experiment, page, cell, &outcome.traces);
    Section {
        title: capitalized(&format!("{mix} transactions, {}", limit.title())),
        text,
        tables: [Some(Table { headings, text_columns: 2, rows }), states_table(experiment, page, cell)]
            .into_iter()
            .flatten()
            .collect(),
        plots,
    }
}

/// What the connections wait for.
fn states_table(experiment: &Experiment, page: &Page, cell: &Cell) -> Option<Table> {
    let states = states(experiment, page, cell);
    let mut headings = vec!["connections in a state of the process list, all nodes, mean".to_owned()];
    headings.extend(experiment.contenders.iter().map(ToString::to_string));
    let row = |(state, of): &(String, Vec<Option<Spread>>)| {
        let connections = of.iter().map(|connections| median(*connections, 1));
        [state.clone()].into_iter().chain(connections).collect()
    };
    (!states.is_empty()).then(|| Table { headings, text_columns: 1, rows: states.iter().map(row).collect() })
}

fn row(experiment: &Experiment, page: &Page, cell: &Cell, contender: Contender) -> Vec<String> {
    let name = contender.to_string();
    let spread = |figure: &str| page.spread(cell, &name, figure);
    let ratio = page.ratio(RATE, (cell, &name), (cell, "alone"));
    let mut row = vec![
        name.clone(),
        remarks(spread, all_cores()).join(", "),
        median_and_range(spread(RATE), 0),
        median(ratio.filter(|_| contender.deployment != Deployment::Alone), 2),
        median(spread(LAST_TO_FIRST), 2),
    ];
    row.extend(experiment.threads.iter().map(|threads| median(spread(&rate_at(*threads)), 0)));
    row.extend(LATENCIES.map(|(figure, _)| median(spread(figure), 1)));
    row.push(median(spread(COMMIT), 1));
    row.push(percent(spread(READING)));
    row.extend([DISK_READS, DISK_WRITES, ALL_READS, ALL_WRITES].map(|figure| median(spread(figure), 0)));
    row.push(percent(spread(REDO_SHARE)));
    row.push(median(spread(CORES), 2));
    row.push(expected_errors::column(page, cell, &name));
    row
}

fn percent(share: Option<Spread>) -> String {
    share.map_or_else(|| median(None, 0), |share| format!("{:.1} %", share.median * 100.0))
}

/// What a reader must know of a cell's figures.
fn remarks(spread: impl Fn(&str) -> Option<Spread>, all_cores: f64) -> Vec<&'static str> {
    let mut remarks = Vec::new();
    if spread(IS_STEADY).is_some_and(|steady| steady.least < 1.0) {
        remarks.push("not steady");
    }
    if spread(CORES).is_some_and(|cores| is_cpu_bound(cores.median, all_cores)) {
        remarks.push("not disk-bound");
    }
    if spread(REDO_SHARE).is_some_and(|share| share.most < REDO_FILLED_SHARE) {
        remarks.push("redo never filled");
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_that_the_disk_does_not_bind_says_so() {
        let told = |steady: f64, cores: f64, redo: f64| {
            let figure = |name: &str| {
                let value = [(IS_STEADY, steady), (CORES, cores), (REDO_SHARE, redo)].into_iter();
                Spread::of_numbers(value.filter(|(known, _)| *known == name).map(|(_, value)| value))
            };
            remarks(figure, 2.0).join(", ")
        };
        assert_eq!(told(1.0, 1.69, 0.76), "");
        assert_eq!(told(1.0, 1.71, 0.76), "not disk-bound");
        assert_eq!(told(1.0, 1.0, 0.74), "redo never filled");
        assert_eq!(told(0.0, 2.0, 0.1), "not steady, not disk-bound, redo never filled");
        assert!(remarks(|_| None, 2.0).is_empty());
    }
}
