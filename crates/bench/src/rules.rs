//! The rules that the figures of every experiment pass through. What breaks one has a reason in the report and no figure.
//!
//! Where each rule is code:
//!
//! | rule | code |
//! |---|---|
//! | rounds interleave contenders, each first in turn; every run is listed | `rounds::plan`, `page` |
//! | servers begin at rest | `quiesce::AtRest`, which a measured load takes |
//! | equal settings but for those named | `equal_settings` |
//! | all nodes catch up; rows are those confirmed; states are equal | `Nodes::wait_until_applied`, `convergence`, `Nodes::check_same_state` |
//! | errors by number, latencies with repetitions | `load_generator` |
//! | settings, versions, other programs' CPU time, promises of every figure | [`page`], [`withdraw`] here |
//! | a failed run has no figure | `rounds::run`, `Page::spread` |

use std::time::SystemTime;

use crate::figures::{OTHER_CPU, RATE, TIMES};
use crate::page::{JSON_VERSION, Page, Run, RunResult};
use crate::report::{date, machine, warnings_of_cpu};
use crate::rounds::Measured;

/// What an experiment has found out, whatever it measures.
pub(crate) struct Facts<'a> {
    pub(crate) measured: &'a Measured,
    /// Of servers, providers and programs.
    pub(crate) versions: &'a [String],
    /// What could not be measured here, with the reason.
    pub(crate) left_out: &'a [String],
}

/// A page with its runs and with what a reader must know before them; without the figures that break a rule. Answers and
/// sections come after it, from its runs.
pub(crate) fn page(page: Page, facts: &Facts<'_>) -> Page {
    let Facts { measured, versions, left_out } = facts;
    let mut page = Page {
        version: JSON_VERSION,
        date: date(SystemTime::now()),
        machine: machine(),
        versions: versions.to_vec(),
        runs: measured.runs.clone(),
        ..page
    };
    withdraw(&mut page);
    page.warnings.extend(measured.unfinished.iter().chain(*left_out).cloned());
    let times = page.runs.iter().filter_map(|run| Some((time(run)?, run.figure(OTHER_CPU)?)));
    let of_cpu = warnings_of_cpu(times);
    page.warnings.extend(of_cpu);
    if page.runs.iter().all(|run| run.round == 1) {
        page.limits.push("One round: the spread of the runs is not known.".to_owned());
    }
    page
}

fn time(run: &Run) -> Option<f64> {
    TIMES.iter().find_map(|name| run.figure(name))
}

/// Takes away the figures of runs that break a rule, and puts the reason in their place. Gives the number of these runs.
pub(crate) fn withdraw(page: &mut Page) -> usize {
    let promises: Vec<(&str, &str)> =
        page.contenders.iter().map(|note| (note.name.as_str(), note.survives.trim())).collect();
    // "G3, 2 writers" has the promise of G3.
    let is_of = |name: &str, contender: &str| {
        contender.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(", "))
    };
    let breach = |run: &Run| {
        let RunResult::Figures(figures) = &run.result else { return None };
        let promise = promises.iter().find(|(name, _)| is_of(name, &run.contender));
        if promise.is_none_or(|(_, survives)| survives.is_empty()) {
            return Some(format!("the report does not say what a confirmed commit of {} survives", run.contender));
        }
        if page.settings.is_empty() || page.versions.iter().all(|version| version.trim().is_empty()) {
            return Some("the report does not say which settings and versions the servers have".to_owned());
        }
        let is_speed = time(run).is_some() || figures.contains_key(RATE);
        if is_speed && (time(run).is_none() || !figures.contains_key(OTHER_CPU)) {
            return Some("neither its time nor the CPU time of other programs was measured".to_owned());
        }
        let (name, _) = figures.iter().find(|(_, value)| !value.is_finite())?;
        Some(format!("{name} is not a number"))
    };
    let breaches: Vec<(usize, String)> =
        page.runs.iter().enumerate().filter_map(|(index, run)| Some((index, breach(run)?))).collect();
    let count = breaches.len();
    for (index, reason) in breaches {
        page.runs[index].result = RunResult::Failed(reason);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::{MEASURED, named};
    use crate::page::ContenderNote;
    use crate::rounds;

    fn run(figures: &[(&str, f64)]) -> Run {
        Run {
            cell: rounds::cell(&[("rows", "1".to_owned())]),
            contender: "alone".to_owned(),
            round: 1,
            result: RunResult::Figures(named(figures.iter().copied())),
        }
    }

    const GOOD: [(&str, f64); 3] = [(RATE, 7.0), (MEASURED, 1.0), (OTHER_CPU, 0.0)];

    fn ruled(runs: Vec<Run>, change: fn(&mut Page)) -> Page {
        let note = ContenderNote {
            name: "alone".to_owned(),
            description: "One server.".to_owned(),
            survives: "a power cut".to_owned(),
        };
        let mut given = Page { settings: vec!["a=1".to_owned()], contenders: vec![note], ..Page::default() };
        change(&mut given);
        let measured = Measured { runs, unfinished: None };
        let left_out = ["G1 is left out: galera-4 is not installed".to_owned()];
        page(given, &Facts { measured: &measured, versions: &["server 1".to_owned()], left_out: &left_out })
    }

    fn reason(page: &Page) -> &str {
        match &page.runs[0].result {
            RunResult::Failed(reason) => reason,
            RunResult::Figures(figures) => panic!("{figures:?}"),
        }
    }

    #[test]
    fn a_run_that_keeps_all_rules_keeps_its_figures() {
        let page = ruled(vec![run(&GOOD)], |_| {});
        assert_eq!(page.runs[0].figure(RATE), Some(7.0));
        assert!(page.warnings.iter().any(|warning| warning.starts_with("G1 is left out")), "{:?}", page.warnings);
        let writers = Run { contender: "alone, 2 writers".to_owned(), ..run(&GOOD) };
        assert!(!ruled(vec![writers], |_| {}).has_failures());
        // A count is no speed.
        assert!(!ruled(vec![run(&[("lost_rows", 0.0)])], |_| {}).has_failures());
        assert!(!page.has_failures() && page.machine.contains("cores"));
    }

    /// Figures, what the page lacks, and the reason.
    type Case = (&'static [(&'static str, f64)], fn(&mut Page), &'static str);

    /// One without a rule each.
    #[test]
    fn a_run_that_breaks_a_rule_has_its_reason_and_no_figure() {
        let cases: [Case; 6] = [
            (&GOOD, |page| page.contenders.clear(), "what a confirmed commit of alone survives"),
            (&GOOD, |page| page.contenders[0].survives.clear(), "what a confirmed commit of alone survives"),
            (&GOOD, |page| page.settings.clear(), "which settings and versions the servers have"),
            (&GOOD[..2], |_| {}, "the CPU time of other programs was measured"),
            (&[(RATE, 7.0), (OTHER_CPU, 0.0)], |_| {}, "neither its time nor"),
            (&[(RATE, f64::NAN), (MEASURED, 1.0), (OTHER_CPU, 0.0)], |_| {}, "rows_per_s is not a number"),
        ];
        for (figures, change, expected) in cases {
            let page = ruled(vec![run(figures)], change);
            assert!(reason(&page).contains(expected), "{}", reason(&page));
            assert_eq!(page.spread(&page.runs[0].cell, "alone", RATE), None);
            assert!(page.markdown().contains(&format!("failed: {}", reason(&page))), "{}", page.markdown());
        }
    }

    #[test]
    fn other_programs_that_use_cpu_are_a_warning() {
        let page = ruled(vec![run(&[(RATE, 7.0), (MEASURED, 2.0), (OTHER_CPU, 3.0)])], |_| {});
        let warned = |warning: &String| warning.starts_with("other programs used 1.5 cores during the runs");
        assert!(page.warnings.iter().any(warned), "{:?}", page.warnings);
    }
}
