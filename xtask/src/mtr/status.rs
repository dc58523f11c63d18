//! What is told of the runs: on the terminal, and in the page between its markers.
//!
//! The page is its own memory: a run replaces the rows of its tests and provider and leaves all others. The last column
//! of the failures is for people to write in, and is kept as long as the test fails.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Context;

use super::Run;
use super::output::{Outcome, Test};

const BEGIN: &str = "<!-- mtr:begin -->\n";
const END: &str = "<!-- mtr:end -->";
/// What comes first; the rest by name.
const ORDER: [&str; 2] = ["wsrep", "single"];
/// More of a runner's line would be no table any more.
const COMMENT_LIMIT_CHARS: usize = 120;
/// Outcomes that are counted, in the order of the table.
const KINDS: [(&str, IsKind); 3] =
    [("passed", Outcome::is_passed), ("failed", Outcome::is_failed), ("skipped", Outcome::is_skipped)];

type IsKind = fn(&Outcome) -> bool;

/// For the terminal: how many tests did what, and which did not do the same with all providers, or failed.
pub(super) fn summary(runs: &[Run]) -> String {
    let mut text = String::new();
    for run in runs {
        let counts = KINDS.map(|(kind, is_counted)| format!("{} {kind}", run.count(is_counted))).join(", ");
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}, {}: {counts}", run.group, run.provider);
    }
    let mut by_test: BTreeMap<(&str, String), Vec<(&str, &Outcome)>> = BTreeMap::new();
    for run in runs {
        for test in &run.tests {
            by_test.entry((&run.group, test.to_string())).or_default().push((run.provider, &test.outcome));
        }
    }
    for ((_, test), outcomes) in &by_test {
        let is_same = outcomes.iter().all(|(_, outcome)| word(outcome) == word(outcomes[0].1));
        if is_same && !outcomes[0].1.is_failed() {
            continue;
        }
        let _ = writeln!(text, "{test}");
        for (provider, outcome) in outcomes {
            let _ = writeln!(text, "    {provider}: {}{}", word(outcome), remark(outcome));
        }
    }
    text
}

/// The page with the rows of these runs in place of those it had.
pub(super) fn regenerated(page: &str, runs: &[Run]) -> anyhow::Result<String> {
    let (before, rest) = page.split_once(BEGIN).with_context(|| format!("the page has no {}", BEGIN.trim_end()))?;
    let (old, after) = rest.split_once(END).with_context(|| format!("the page has no {END}"))?;
    let mut counts = BTreeMap::new();
    let mut failures = BTreeMap::new();
    for [tests, second, third, fourth, fifth] in old.lines().filter_map(cells) {
        if fifth.parse::<usize>().is_ok() {
            counts.insert((place(&tests), second), [third, fourth, fifth]);
        } else {
            failures.insert((place(&tests), second, third), (fourth, fifth));
        }
    }
    for run in runs.iter().filter(|run| run.is_whole) {
        let of_run = place(&run.group);
        counts.insert(
            (of_run.clone(), run.provider.to_owned()),
            KINDS.map(|(_, counted)| run.count(counted).to_string()),
        );
        let of_others = |(tests, _, provider): &(_, String, String)| *tests != of_run || provider != run.provider;
        let written = failures.clone();
        failures.retain(|key, _| of_others(key));
        for test in &run.tests {
            if let Some((name, comment)) = failed(test) {
                let key = (of_run.clone(), name, run.provider.to_owned());
                let reason = written.get(&key).map_or_else(String::new, |(_, reason)| reason.clone());
                failures.insert(key, (comment, reason));
            }
        }
    }
    let mut table = "\n| tests | provider | passed | failed | skipped |\n|---|---|---:|---:|---:|\n".to_owned();
    for (((_, tests), provider), [passed, failed, skipped]) in &counts {
        // Writing to a String cannot fail.
        let _ = writeln!(table, "| {tests} | {provider} | {passed} | {failed} | {skipped} |");
    }
    if !failures.is_empty() {
        table.push_str("\n| tests | failed | provider | what the runner says | why |\n|---|---|---|---|---|\n");
    }
    for (((_, tests), test, provider), (comment, reason)) in &failures {
        let _ = writeln!(table, "| {tests} | {test} | {provider} | {comment} | {reason} |");
    }
    Ok(format!("{before}{BEGIN}{table}\n{END}{after}"))
}

/// Where tests stand in the tables.
fn place(tests: &str) -> (usize, String) {
    (ORDER.iter().position(|first| *first == tests).unwrap_or(ORDER.len()), tests.to_owned())
}

/// The cells of a row, unless it is a table's head.
fn cells(line: &str) -> Option<[String; 5]> {
    let inner = line.strip_prefix('|')?.strip_suffix('|')?.replace(r"\|", "\0");
    let cells: Vec<String> = inner.split('|').map(|cell| cell.trim().replace('\0', r"\|")).collect();
    let is_head = cells[0] == "tests" || cells[0].starts_with('-');
    cells.try_into().ok().filter(|_| !is_head)
}

/// The name and comment of a test that failed, as cells.
fn failed(test: &Test) -> Option<(String, String)> {
    let Outcome::Failed(comment) = &test.outcome else { return None };
    let cell = |text: &str| text.replace('|', r"\|").replace('`', "'").replace('\t', " ");
    let comment: String = comment.chars().take(COMMENT_LIMIT_CHARS).collect();
    Some((format!("`{}`", cell(&test.to_string())), format!("`{}`", cell(comment.trim()))))
}

fn word(outcome: &Outcome) -> &'static str {
    KINDS.iter().find(|(_, is_kind)| is_kind(outcome)).map_or("", |(kind, _)| kind)
}

fn remark(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Passed => String::new(),
        Outcome::Failed(comment) | Outcome::Skipped(comment) => format!(": {comment}"),
    }
}
