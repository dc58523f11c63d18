//! The page with the results.

use std::collections::BTreeMap;
use std::fmt;

use super::reasons::reason;
use super::trial::{Found, Verdict};

/// Characters of a message in the table.
const CELL_CHARACTERS: usize = 300;

/// How a file ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Result {
    /// Equal.
    Equal,
    /// Not run.
    Skipped,
    /// As on a stock replica: it differs in the same way, or stops, too.
    AsReplica,
    /// It stops, and a stock replica does not.
    Stops,
    /// It differs without an error.
    Differs,
}

impl Result {
    const ALL: [Result; 5] = [Result::Equal, Result::AsReplica, Result::Stops, Result::Differs, Result::Skipped];

    fn words(self) -> &'static str {
        match self {
            Result::Equal => "equal",
            Result::Skipped => "not run",
            Result::AsReplica => "as a stock replica",
            Result::Stops => "stops",
            Result::Differs => "DIFFERS",
        }
    }
}

/// A file's line.
#[derive(Debug)]
pub(super) struct Line {
    name: String,
    format: String,
    result: Result,
    statements: usize,
    /// What was found first.
    text: String,
}

impl Line {
    pub(super) fn new(name: &str, format: &str, verdict: &Verdict) -> Line {
        let (result, statements, text) = match verdict {
            Verdict::Skipped(reason) => (Result::Skipped, 0, reason.clone()),
            Verdict::Equal(statements) => (Result::Equal, *statements, String::new()),
            Verdict::Unequal { ours, replica } => {
                let (result, text) = judge(ours, replica);
                (result, 0, text)
            }
        };
        Line { name: name.to_owned(), format: format.to_owned(), result, statements, text }
    }

    /// Whether nobody knows why it is so.
    pub(super) fn is_unexplained(&self) -> bool {
        matches!(self.result, Result::Stops | Result::Differs) && reason(&self.text).is_none()
    }
}

/// What a file came to, given what a stock replica did, and what tells that best.
fn judge(ours: &Found, replica: &Found) -> (Result, String) {
    let new = ours.differences.iter().find(|difference| !replica.differences.contains(difference));
    if let (Some(difference), true) = (new, replica.stops.is_empty()) {
        return (Result::Differs, difference.clone());
    }
    let stop = ours.stops.first().or(ours.end.as_ref());
    match (stop, replica.stops.first().or(replica.end.as_ref())) {
        (Some(stop), None) => (Result::Stops, stop.clone()),
        (Some(stop), Some(theirs)) => (Result::AsReplica, format!("{stop} (the replica: {theirs})")),
        (None, Some(theirs)) => (Result::AsReplica, format!("the replica stops: {theirs}")),
        (None, None) => (Result::AsReplica, ours.differences.first().cloned().unwrap_or_default()),
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<45} {:<6} {} {}", self.name, self.format, self.result.words(), cell(&self.text))
    }
}

/// The counts and the table.
pub(super) fn markdown(lines: &[Line]) -> String {
    let mut counts: BTreeMap<(String, &str, Result), usize> = BTreeMap::new();
    for line in lines {
        let suite = line.name.split('.').next().unwrap_or_default().to_owned();
        *counts.entry((suite, &line.format, line.result)).or_default() += 1;
    }
    let mut kinds: Vec<(&str, &str)> = counts.keys().map(|(suite, format, _)| (suite.as_str(), *format)).collect();
    kinds.dedup();
    let mut text =
        "| suite | format | equal | as a stock replica | stops | differs | not run |\n|-|-|-|-|-|-|-|\n".to_owned();
    for (suite, format) in kinds {
        let count = |result: Result| counts.get(&(suite.to_owned(), format, result)).copied().unwrap_or(0).to_string();
        text += &format!("| {suite} | {format} | {} |\n", Result::ALL.map(count).join(" | "));
    }
    let statements: usize = lines.iter().map(|line| line.statements).sum();
    text += &format!("\n{statements} statements of the files that ended equal have succeeded on the sources.\n\n");
    text += "| file | format | result | reason | first message or difference |\n|-|-|-|-|-|\n";
    for line in lines.iter().filter(|line| !matches!(line.result, Result::Equal | Result::Skipped)) {
        let other = if line.result == Result::AsReplica { "the log does not have it" } else { "not known yet" };
        let reason = reason(&line.text).unwrap_or(other);
        let result = line.result.words();
        text += &format!("| {} | {} | {result} | {reason} | {} |\n", line.name, line.format, cell(&line.text));
    }
    text
}

fn cell(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(CELL_CHARACTERS).collect::<String>().replace('|', "\\|").replace('`', "'")
}
