//! What differs between two loads of a dump, and what of it differs between two loads by the client, too.

use std::collections::HashMap;
use std::fmt;

use super::line_diff::{Hunk, hunks};
use super::program::{Failure, Outcome};
use super::server::Snapshot;

/// Characters of a difference that are shown of each side.
const SHOWN_CHARACTERS: usize = 1_500;
/// What EXPLAIN calls a SELECT, and the columns that it and SHOW INDEX have at least.
const SELECT_TYPES: [&str; 10] = [
    "SIMPLE",
    "PRIMARY",
    "UNION",
    "SUBQUERY",
    "DEPENDENT SUBQUERY",
    "DEPENDENT UNION",
    "DERIVED",
    "MATERIALIZED",
    "LATERAL DERIVED",
    "INSERT",
];
const PLAN_COLUMNS: usize = 10;
const INDEX_COLUMNS: usize = 13;
/// Characters of a row that a difference is known by.
const KEY_CHARACTERS: usize = 60;
/// Lines of a hunk that are shown of each side.
const SHOWN_LINES: usize = 12;

/// What one load came to.
#[derive(Debug, Clone)]
pub(super) struct Load {
    pub(super) outcome: Outcome,
    pub(super) left: Snapshot,
}

/// What differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The server is gone.
    Crash,
    /// The program did not end in time.
    Hang,
    /// The exit status.
    Status,
    /// The errors of statements.
    Errors,
    /// The rows that statements printed.
    Rows,
    /// The same rows were printed, in another order.
    Order,
    /// Plans of EXPLAIN and key statistics of SHOW INDEX, which the server estimates from samples.
    Estimate,
    /// Definitions and rows of schemas.
    State,
    /// Variables, accounts and the like.
    Server,
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) kind: Kind,
    /// What it is about, without its values: two differences of one key are the same.
    pub(super) key: String,
    /// What each side has.
    pub(super) text: String,
    /// Where it is among the first load's errors or rows.
    place: Option<Hunk>,
    /// The printed rows of both sides.
    rows: [Vec<Vec<u8>>; 2],
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Crash => "crash",
            Kind::Hang => "hang",
            Kind::Status => "status",
            Kind::Errors => "errors",
            Kind::Rows => "rows",
            Kind::Order => "order",
            Kind::Estimate => "estimate",
            Kind::State => "state",
            Kind::Server => "server",
        })
    }
}

impl Kind {
    /// Whether it is about what statements print.
    fn is_printed(self) -> bool {
        matches!(self, Kind::Rows | Kind::Order | Kind::Estimate)
    }
}

impl Difference {
    /// Whether `other`, a difference between two loads by the client, makes this one no more than chance.
    pub(super) fn is_covered_by(&self, other: &Difference) -> bool {
        (self.kind == other.kind || self.kind.is_printed() && other.kind.is_printed())
            && match (&self.place, &other.place) {
                (Some(mine), Some(theirs)) => mine.touches(theirs),
                _ => self.key == other.key,
            }
    }

    /// One for tests.
    #[cfg(test)]
    pub(super) fn example(kind: Kind, text: &str) -> Difference {
        Difference::of(kind, "", text)
    }

    fn of(kind: Kind, key: impl Into<String>, text: impl Into<String>) -> Difference {
        Difference { kind, key: key.into(), text: text.into(), place: None, rows: Default::default() }
    }
}

/// What differs of the second load from the client's. `statements`: those that begin in each line.
pub(super) fn differences(client: &Load, other: &Load, statements: &HashMap<u64, &[u8]>) -> Vec<Difference> {
    let mut found = Vec::new();
    if client.left.is_down != other.left.is_down {
        let who = if other.left.is_down { "the second" } else { "the client's" };
        found.push(Difference::of(Kind::Crash, who, format!("{who} server is gone")));
        return found;
    }
    if other.outcome.is_late != client.outcome.is_late {
        found.push(Difference::of(Kind::Hang, "", format!("it did not end in time; {}", other.outcome.remarks())));
        return found;
    }
    let (expected, told) = (client.outcome.failures(), other.outcome.failures());
    found.extend(errors(&expected, &told, statements));
    found.extend(printed(&client.outcome.rows, &other.outcome.rows));
    found.extend(schemas(&client.left, &other.left));
    found.extend(server(&client.left.server, &other.left.server));
    found
}

/// What is wrong with how Hortator ended, given the errors that it told itself.
pub(super) fn wrong_status(outcome: &Outcome) -> Option<Difference> {
    let expected = if outcome.failures().is_empty() { 0 } else { 3 };
    let has_ended_well = outcome.is_late || outcome.status == Some(expected);
    let text = || format!("status {:?} instead of {expected}; {}", outcome.status, outcome.remarks());
    (!has_ended_well).then(|| Difference::of(Kind::Status, format!("{:?}", outcome.status), text()))
}

/// Calls it a matter of order where all printed rows that differ are the same rows.
pub(super) fn tell_order(differences: &mut [Difference]) {
    let side = |which: usize| {
        let rows = differences.iter().filter(|difference| difference.kind == Kind::Rows);
        let mut rows: Vec<&Vec<u8>> = rows.flat_map(|difference| &difference.rows[which]).collect();
        rows.sort_unstable();
        rows
    };
    if side(0) == side(1) {
        differences.iter_mut().filter(|one| one.kind == Kind::Rows).for_each(|one| one.kind = Kind::Order);
    }
}

fn errors(client: &[Failure], other: &[Failure], statements: &HashMap<u64, &[u8]>) -> Vec<Difference> {
    let code = |failures: &[Failure]| failures.first().map_or("nothing".to_owned(), Failure::name);
    let mut found = Vec::new();
    for hunk in hunks(client, other) {
        let (ours, theirs) = (&client[hunk.first.clone()], &other[hunk.second.clone()]);
        let line = ours.iter().chain(theirs).map(|failure| failure.line).min().unwrap_or_default();
        let statement = statements.get(&line).map_or("(none)".to_owned(), |text| shown(&String::from_utf8_lossy(text)));
        let key = format!("{} / {}", code(ours), code(theirs));
        let list = |failures: &[Failure]| {
            let lines: Vec<String> = failures.iter().take(SHOWN_LINES).map(Failure::to_string).collect();
            if lines.is_empty() { "(none)".to_owned() } else { lines.join("\n          ") }
        };
        let text = format!("client:   {}\nhortator: {}\nstatement: {statement}", list(ours), list(theirs));
        found.push(Difference { place: Some(hunk), ..Difference::of(Kind::Errors, key, text) });
    }
    found
}

fn printed(client: &[u8], other: &[u8]) -> Vec<Difference> {
    if client == other {
        return Vec::new();
    }
    let (client, other) = (lines(client), lines(other));
    let mut found = Vec::new();
    for hunk in hunks(&client, &other) {
        let show = |lines: &[&[u8]]| {
            let lines = lines.iter().take(SHOWN_LINES).map(|line| shown(&String::from_utf8_lossy(line)));
            lines.collect::<Vec<_>>().join("\n          ")
        };
        let before = hunk.first.start.checked_sub(1).map_or("(start)".to_owned(), |at| show(&client[at..=at]));
        let text = format!(
            "after row {}: {before}\nclient:   {}\nhortator: {}",
            hunk.first.start,
            show(&client[hunk.first.clone()]),
            show(&other[hunk.second.clone()])
        );
        let first_line = |lines: &[&[u8]]| lines.first().map_or(String::new(), |line| without_numbers(line));
        let key = format!("{} / {}", first_line(&client[hunk.first.clone()]), first_line(&other[hunk.second.clone()]));
        let owned = |lines: &[&[u8]]| lines.iter().map(|line| line.to_vec()).collect::<Vec<Vec<u8>>>();
        let rows = [owned(&client[hunk.first.clone()]), owned(&other[hunk.second.clone()])];
        let is_estimate = rows.iter().flatten().all(|row| is_estimate(row));
        let kind = if is_estimate { Kind::Estimate } else { Kind::Rows };
        found.push(Difference { place: Some(hunk), rows, ..Difference::of(kind, key, text) });
    }
    found
}

/// Whether a row is one of EXPLAIN or SHOW INDEX.
fn is_estimate(row: &[u8]) -> bool {
    let row = String::from_utf8_lossy(row);
    let values: Vec<&str> = row.split('\t').collect();
    match values.as_slice() {
        [_, select_type, ..] if SELECT_TYPES.contains(select_type) => values.len() >= PLAN_COLUMNS,
        _ => values.len() >= INDEX_COLUMNS && values.iter().any(|value| ["BTREE", "HASH", "RTREE"].contains(value)),
    }
}

/// A row's text with `#` in place of each number, as far as it takes to know it again.
fn without_numbers(line: &[u8]) -> String {
    let mut text = String::new();
    for letter in String::from_utf8_lossy(line).chars().take(KEY_CHARACTERS) {
        match (letter.is_ascii_digit(), text.ends_with('#')) {
            (true, true) => {}
            (true, false) => text.push('#'),
            (false, _) => text.push(letter),
        }
    }
    text
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    if text.is_empty() { Vec::new() } else { text.split(|byte| *byte == b'\n').collect() }
}

fn schemas(client: &Snapshot, other: &Snapshot) -> Vec<Difference> {
    let mut found = Vec::new();
    for (name, state) in &client.schemas {
        match (state, other.schemas.get(name)) {
            (_, None) => {
                found.push(Difference::of(
                    Kind::State,
                    name,
                    format!("only the client's server has the schema {name}"),
                ));
            }
            (Ok(ours), Some(Ok(theirs))) => {
                let told = ours.differences(theirs);
                found.extend(told.iter().map(|told| {
                    let head = told.lines().next().unwrap_or_default();
                    let head = head.split(": ").next().unwrap_or(head);
                    Difference::of(Kind::State, format!("{name}: {head}"), shown(&format!("{name}: {told}")))
                }));
            }
            (ours, Some(theirs)) => {
                let text = |state: &Result<_, String>| state.as_ref().err().cloned().unwrap_or("readable".to_owned());
                let (ours, theirs) = (text(ours), text(theirs));
                if ours != theirs {
                    let text = format!("{name} cannot be read: client {ours}, hortator {theirs}");
                    found.push(Difference::of(Kind::State, name, text));
                }
            }
        }
    }
    let more = other.schemas.keys().filter(|name| !client.schemas.contains_key(*name));
    found.extend(
        more.map(|name| Difference::of(Kind::State, name, format!("only Hortator's server has the schema {name}"))),
    );
    found
}

/// Lines that begin with the same name are about the same thing.
fn server(client: &[String], other: &[String]) -> Vec<Difference> {
    let mut found = Vec::new();
    for hunk in hunks(client, other) {
        let (ours, theirs) = (&client[hunk.first.clone()], &other[hunk.second.clone()]);
        let name = ours.iter().chain(theirs).next().map_or("", |line| line.split(" | ").next().unwrap_or(line));
        let text = format!("client:   {}\nhortator: {}", shown(&ours.join("\n")), shown(&theirs.join("\n")));
        found.push(Difference::of(Kind::Server, name, text));
    }
    found
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
