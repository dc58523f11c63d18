//! Loads one dump with the client and with Hortator, and says what differs.

use std::collections::{BTreeMap, HashMap};
use std::thread;

use hortator_check::compare::{self, Progress};
use hortator_check::state::State;

use crate::programs::{Contender, Dump, Failure, Outcome, load};
use crate::servers::{Pair, Server};

/// Bytes of printed rows that a difference shows.
const SHOWN_BYTES: usize = 600;

/// What one dump came to on the client's side, and where Hortator's differs.
pub struct Comparison {
    /// The errors that the client told.
    pub failures: Vec<Failure>,
    /// One entry for each difference, the contender in front.
    pub differences: Vec<String>,
    /// INSERTs of ours that travelled as arrays, over all contenders.
    pub arrays: u64,
}

/// How a dump is loaded.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    /// The contenders that are held against the client's.
    pub contenders: &'a [Contender],
    /// Whether both go on after errors.
    pub force: bool,
    /// Whether the times of system-versioned rows count: for dumps that fix the time, or hold the times.
    pub row_times: bool,
    /// Whether Hortator is to end with an error of its own whatever the client says.
    pub is_stricter: bool,
    /// Tables that may hold more than the client's, as statements on other tables than that of a failed one may have run
    /// before it was known to fail.
    pub ahead: &'a [String],
}

/// One side's result.
struct Side {
    outcome: Outcome,
    schemas: BTreeMap<Vec<u8>, State>,
    /// What differs between the nodes of a cluster.
    nodes: Vec<String>,
}

impl Side {
    fn of(contender: Contender, server: &Server, dump: Dump<'_>, terms: Terms<'_>) -> Side {
        server.reset();
        let outcome = load(contender, server, dump, terms.force);
        // A load that went through has waited for all nodes.
        let nodes = server.node_differences(outcome.status != Some(0), terms.row_times);
        Side { outcome, schemas: server.state(terms.row_times), nodes }
    }
}

/// Loads `dump` with the client once and with each of the contenders.
pub fn compare(pair: &Pair, dump: Dump<'_>, terms: Terms<'_>) -> Comparison {
    thread::scope(|scope| {
        let client = scope.spawn(|| Side::of(Contender::Client, &pair.client, dump, terms));
        // The servers are apart, so the first of our loads runs beside the client's.
        let mut ours =
            terms.contenders.iter().map(|contender| (contender, Side::of(*contender, &pair.hortator, dump, terms)));
        let first = ours.next();
        let client = client.join().expect("the client's side was loaded");
        let failures = client.outcome.failures();
        let mut differences = Vec::new();
        let mut arrays = 0;
        if failures.is_empty() && client.outcome.status != Some(0) {
            differences.push(format!("the client's errors are not understood: {}", client.outcome.messages));
        }
        for (contender, side) in first.into_iter().chain(ours) {
            arrays += side.outcome.arrays();
            let mut found = differences_of(pair, &client, &failures, &side, terms);
            if *contender == Contender::OneThread {
                found.extend(disagreements(pair, &client, &side, terms));
            }
            differences.extend(found.into_iter().map(|found| format!("{contender:?}{}: {found}", forced(terms.force))));
        }
        Comparison { failures, differences, arrays }
    })
}

fn forced(force: bool) -> &'static str {
    if force { " with --force" } else { "" }
}

fn differences_of(pair: &Pair, client: &Side, failures: &[Failure], ours: &Side, terms: Terms<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let told = ours.outcome.failures();
    let expected = if terms.is_stricter { 1 } else { expected_status(failures, terms.force) };
    if !Contender::only_client() && ours.outcome.status != Some(expected) {
        found.push(format!(
            "exit status {:?} instead of {expected}; it said: {}",
            ours.outcome.status, ours.outcome.messages
        ));
    }
    let is_told = match terms.is_stricter && !Contender::only_client() {
        true => told.iter().map(|failure| failure.code).eq([None]),
        false => same_failures(failures, &told),
    };
    if !is_told {
        found.push(format!("errors\n  client: {failures:?}\n  ours:   {told:?}\n  as in:  {}", ours.outcome.messages));
    }
    if client.outcome.rows != ours.outcome.rows {
        found.push(format!(
            "printed rows\n  client: {}\n  ours:   {}",
            shown(&client.outcome.rows),
            shown(&ours.outcome.rows)
        ));
    }
    for (name, state) in &client.schemas {
        let Some(our_state) = ours.schemas.get(name) else {
            found.push(format!("no schema {}", String::from_utf8_lossy(name)));
            continue;
        };
        let differences = state.differences(our_state).into_iter().filter(|found| !may_be_ahead(found, terms.ahead));
        found.extend(differences.map(|found| format!("{}: {found}", String::from_utf8_lossy(name))));
    }
    let more = ours.schemas.keys().filter(|name| !client.schemas.contains_key(*name));
    found.extend(more.map(|name| format!("a schema {} too many", String::from_utf8_lossy(name))));
    found.extend(ours.nodes.iter().cloned());
    found.extend(terms.ahead.iter().filter_map(|table| missing_rows(pair, table)));
    found
}

/// What `hortator verify` would find between the two servers, where that is not what their states tell.
fn disagreements(pair: &Pair, client: &Side, ours: &Side, terms: Terms<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for (name, state) in &client.schemas {
        let Some(our_state) = ours.schemas.get(name) else { continue };
        let schema = String::from_utf8_lossy(name).into_owned();
        let sides = [&pair.client, &pair.hortator].map(|server| compare::Endpoint {
            connect: server.sandbox().node(0).connect_options(),
            schema: Some(schema.clone()),
        });
        let options = compare::Options {
            threads: 2,
            // Small enough that the tables of these dumps have several.
            range_rows: Some(3),
            row_times: terms.row_times,
            ..compare::Options::default()
        };
        let report = compare::compare(&sides, &options, &Progress::default()).expect("both sides can be read");
        let heads: Vec<String> = report.differences.iter().map(head).collect();
        let told = state.differences(our_state);
        for (head, difference) in heads.iter().zip(&report.differences) {
            if !told.iter().any(|told| told.starts_with(head)) {
                found.push(format!("only verify tells: {difference}"));
            }
        }
        let untold = told.into_iter().filter(|told| !heads.iter().any(|head| told.starts_with(head)));
        found.extend(untold.map(|told| format!("verify does not tell: {told}")));
    }
    found
}

/// How the same difference of two states begins.
fn head(difference: &compare::Difference) -> String {
    match difference.kind.as_str() {
        "rows" => format!("rows of {}:", difference.name),
        kind => format!("{kind} {}", difference.name),
    }
}

/// The status that the errors of the client call for.
fn expected_status(failures: &[Failure], force: bool) -> i32 {
    match (failures.is_empty(), force) {
        (true, _) => 0,
        (false, false) => 1,
        (false, true) => 3,
    }
}

/// The client's own errors (an unknown command, a missing file) have other words and need only be told at the same place.
fn same_failures(client: &[Failure], ours: &[Failure]) -> bool {
    let same = |(client, ours): (&Failure, &Failure)| {
        client.line == ours.line
            && client.code == ours.code
            && (client.code.is_none() || client.message == ours.message)
    };
    client.len() == ours.len() && client.iter().zip(ours).all(same)
}

/// Whether a difference of states is about one of the tables that may be ahead.
fn may_be_ahead(difference: &str, ahead: &[String]) -> bool {
    let about = |table: &String| {
        difference.starts_with(&format!("rows of {table}:"))
            || difference.starts_with(&format!("table {table},"))
            || difference.starts_with(&format!("table {table}: only the second"))
    };
    ahead.iter().any(about)
}

/// Rows that the client's side has of a table, and Hortator's has not.
fn missing_rows(pair: &Pair, table: &str) -> Option<String> {
    let is_there = format!("SHOW TABLES LIKE '{table}'");
    if pair.client.rows_of_case(&is_there).is_empty() {
        return None;
    }
    // Of columns that were added ahead the client has none.
    let columns = |server: &Server| -> Vec<String> {
        let shown = server.rows_of_case(&format!("SHOW COLUMNS FROM {table}"));
        shown.into_iter().map(|column| format!("`{}`", column[0].replace('`', "``"))).collect()
    };
    let is_gone = pair.hortator.rows_of_case(&is_there).is_empty();
    let ours = if is_gone { Vec::new() } else { columns(&pair.hortator) };
    let wanted = columns(&pair.client);
    if let Some(column) = wanted.iter().find(|column| !ours.contains(column)) {
        return Some(format!("table {table} has no {column} any more"));
    }
    let query = format!("SELECT {} FROM {table}", wanted.join(", "));
    let mut left: HashMap<Vec<String>, usize> = HashMap::new();
    for row in pair.hortator.rows_of_case(&query) {
        *left.entry(row).or_default() += 1;
    }
    let mut missing = pair.client.rows_of_case(&query);
    missing.retain(|row| match left.get_mut(row) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    (!missing.is_empty()).then(|| format!("rows of {table} are missing: {missing:?}"))
}

fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN_BYTES)]).into_owned();
    format!("{text:?} ({} bytes)", bytes.len())
}

/// Fails the test with all differences, if there are any.
///
/// # Panics
/// When there are any.
pub fn assert_same(differences: &[String]) {
    let count = differences.len();
    assert!(count == 0, "{count} difference(s) from the client:\n\n{}\n", differences.join("\n\n"));
}

#[test]
fn what_differs_is_found() {
    let dump = b"CREATE TABLE t (id INT PRIMARY KEY, v CHAR(36)); INSERT INTO t VALUES (1, 'same'), (2, UUID());\n\
                 CREATE TABLE u (id INT AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT=5; SELECT UUID();\n";
    let terms =
        Terms { contenders: &[Contender::Default], force: false, row_times: false, is_stricter: false, ahead: &[] };
    let comparison = compare(&crate::servers::pair(), Dump::Bytes(dump), terms);
    let found = comparison.differences;
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("printed rows") && found[1].contains("rows of t:"), "{found:?}");
    let terms = Terms { ahead: &["t".to_owned()], ..terms };
    let found = compare(&crate::servers::pair(), Dump::Bytes(dump), terms).differences;
    assert!(found.len() == 2 && found[1].contains("rows of t are missing"), "{found:?}");
}
