//! `hortator load --progress=json`: the events of a load.

use serde_json::Value;

use crate::errors::{dump_file, load_into};
use crate::programs::{Outcome, run};
use crate::servers::pair;

/// The events, each a line of its own.
fn events(outcome: &Outcome) -> Vec<Value> {
    outcome
        .messages
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect()
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event"].as_str().unwrap()).collect()
}

#[test]
fn a_load_is_told_as_events() {
    let pair = pair();
    pair.hortator.reset();
    let text = "CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1), (2);\nINSERT INTO t VALUES (2);\n\
                INSERT INTO t VALUES (3);\n";
    let (_folder, path) = dump_file("dump.sql", text.as_bytes());
    let file = path.to_str().unwrap();
    let outcome = run(load_into(&pair.hortator, &["--progress=json", "--force", "--json", file]));
    assert_eq!(outcome.status, Some(3), "{}", outcome.messages);
    let is_progress = |event: &Value| event["event"] == "progress";
    let mut told: Vec<Value> = Vec::new();
    for event in events(&outcome) {
        // Where it takes seconds, there is progress each second.
        if is_progress(&event) && told.last().is_some_and(is_progress) {
            told.pop();
        }
        told.push(event);
    }
    assert_eq!(kinds(&told), ["start", "progress", "failure", "end"]);
    assert_eq!(told[0]["can_resume"], true);
    assert_eq!((&told[1]["rows"], &told[1]["statements"]), (&3.into(), &4.into()));
    assert_eq!(told[1]["read_bytes"], told[1]["total_bytes"]);
    assert_eq!((&told[2]["code"], &told[2]["line"]), (&1062.into(), &3.into()));
    assert_eq!((&told[3]["end"], &told[3]["status"], &told[3]["rows"]), (&"with_errors".into(), &3.into(), &3.into()));
    let summary: Value = serde_json::from_slice(&outcome.rows).unwrap();
    assert_eq!(summary["failure_count"], told[3]["failure_count"]);
}

#[test]
fn a_long_load_tells_how_far_it_is() {
    let pair = pair();
    pair.hortator.reset();
    let (_folder, path) = dump_file("dump.sql", b"CREATE TABLE t (id INT); DO SLEEP(5); INSERT INTO t VALUES (1);");
    let outcome = run(load_into(&pair.hortator, &["--progress=json", path.to_str().unwrap()]));
    assert_eq!(outcome.status, Some(0), "{}", outcome.messages);
    let told = events(&outcome);
    let rows: Vec<u64> =
        told.iter().filter(|event| event["event"] == "progress").filter_map(|event| event["rows"].as_u64()).collect();
    assert!(rows.len() >= 3 && rows[0] == 0 && rows.last() == Some(&1), "{rows:?}");
    assert_eq!(told.last().unwrap()["end"], "complete");
}
