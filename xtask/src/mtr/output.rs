//! What mysql-test-run.pl prints: a line for each test, and behind a failed one what it ended with.

use std::fmt;

/// What a test did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    /// With the line that says most.
    Failed(String),
    /// With the runner's reason. Disabled tests are among them.
    Skipped(String),
}

/// A test, once for each combination of options that it ran with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Test {
    /// As in `galera.basic`.
    pub(super) name: String,
    /// As in `'binlogon'`; often empty.
    pub(super) combination: String,
    pub(super) outcome: Outcome,
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.combination.is_empty() { Ok(()) } else { write!(f, " {}", self.combination) }
    }
}

impl Outcome {
    pub(super) fn is_passed(&self) -> bool {
        *self == Outcome::Passed
    }

    pub(super) fn is_failed(&self) -> bool {
        matches!(self, Outcome::Failed(_))
    }

    pub(super) fn is_skipped(&self) -> bool {
        matches!(self, Outcome::Skipped(_))
    }
}

/// Begins the line in which the test's program says what it ended with.
const ENDED_WITH: &str = "mysqltest: ";
/// Begins that line where it only says that the result is not the recorded one; then the difference says more.
const DIFFERS: &str = "mysqltest: Result ";
/// What the runner says where all is well but for an error log.
const WARNED: &str = "Found warnings/errors";
/// Stands before what a line of an error log says.
const WARNINGS: [&str; 2] = ["[ERROR] ", "[Warning] "];
/// Begins a place of a difference.
const PLACE: &str = "@@ ";
/// Begins a line before all that is said of a failure.
const CURRENT_TEST: &str = "CURRENT_TEST: ";
/// Begins the line behind what was said of a failed test.
const ENDS_OF_FAILURE: [&str; 2] = [" - saving '", " - skipping '"];

/// Whether the line tells how a test ended.
pub(super) fn is_result(line: &str) -> bool {
    result(line).is_some()
}

/// All tests that the output tells of, in its order.
pub(super) fn tests(text: &str) -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    let mut failure: Option<Vec<&str>> = None;
    for line in text.lines() {
        if let Some(test) = result(line) {
            explain(&mut tests, failure.take());
            failure = test.outcome.is_failed().then(Vec::new);
            tests.push(test);
        } else if ENDS_OF_FAILURE.iter().any(|end| line.starts_with(end)) {
            explain(&mut tests, failure.take());
        } else if let Some(lines) = &mut failure {
            lines.push(line);
        }
    }
    explain(&mut tests, failure);
    tests
}

/// `galera.GAL-401 'binlogon'    w2 [ pass ]   2477`; the worker is there when there is more than one.
fn result(line: &str) -> Option<Test> {
    let (head, tail) = line.split_once(" [ ")?;
    let (mark, comment) = tail.split_once(" ]")?;
    let comment = comment.trim();
    let outcome = match mark {
        "pass" => Outcome::Passed,
        "fail" => Outcome::Failed(comment.to_owned()),
        "skipped" => Outcome::Skipped(comment.to_owned()),
        "disabled" => Outcome::Skipped(format!("disabled: {comment}")),
        _ => return None,
    };
    let mut words: Vec<&str> = head.split_whitespace().collect();
    if words.last().is_some_and(|word| is_worker(word)) {
        words.pop();
    }
    let (path, combination) = words.split_first()?;
    // A suite from elsewhere goes by its folder.
    let name = path.rsplit('/').next().filter(|name| name.contains('.'))?;
    Some(Test { name: name.to_owned(), combination: combination.join(" "), outcome })
}

fn is_worker(word: &str) -> bool {
    word.strip_prefix('w').is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Gives the last test, which failed, the line that says why, unless the runner has said it in the test's own line.
fn explain(tests: &mut [Test], lines: Option<Vec<&str>>) {
    let (Some(lines), Some(test)) = (lines, tests.last_mut()) else { return };
    let Outcome::Failed(said) = &mut test.outcome else { return };
    if said.starts_with(WARNED) {
        let first = lines.iter().find_map(|line| WARNINGS.iter().find_map(|mark| line.split_once(mark)));
        if let Some((_, first)) = first {
            *said = format!("the error log says: {first}");
        }
        return;
    }
    if !said.is_empty() {
        return;
    }
    *said = why(&lines);
    // The end of one that took too long can come when the next one runs, which then fails in its place.
    let at_fault =
        lines.iter().find_map(|line| line.strip_prefix(CURRENT_TEST)).and_then(|path| path.split('.').next_back());
    if let Some(at_fault) = at_fault
        && !test.name.ends_with(&format!(".{at_fault}"))
    {
        *said = format!("left by {at_fault}: {said}");
    }
}

fn why(lines: &[&str]) -> String {
    let ended = lines.iter().filter(|line| !line.starts_with(DIFFERS)).find_map(|line| line.strip_prefix(ENDED_WITH));
    if let Some(ended) = ended {
        return ended.to_owned();
    }
    let mut behind_place = lines.iter().skip_while(|line| !line.starts_with(PLACE)).skip(1);
    if let Some(first) = behind_place.find(|line| line.starts_with(['+', '-'])) {
        return format!("the result differs, first in: {first}");
    }
    let mut said = lines.iter().skip_while(|line| !line.starts_with(CURRENT_TEST)).skip(1);
    said.find(|line| !line.is_empty()).map_or_else(String::new, |line| (*line).to_owned())
}
