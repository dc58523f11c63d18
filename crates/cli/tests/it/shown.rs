//! What a load shows besides its errors: the plan, the summary as an object, and rows that the dump selects.

use crate::errors::{dump_file, load_into};
use crate::programs::run;
use crate::servers::pair;

const DUMP: &str = "\
CREATE TABLE plain (id INT PRIMARY KEY, v VARCHAR(20));
CREATE TABLE numbered (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20));
LOCK TABLES plain WRITE;
INSERT INTO plain VALUES (1,'a'),(2,'b');
UNLOCK TABLES;
INSERT INTO numbered (v) VALUES ('x'),('y'),('z');
INSERT INTO plain SELECT id + 10, v FROM numbered;
SELECT 'half' AS way;
SET GLOBAL max_connections = 150;
";

#[test]
fn a_plan_names_tables_barriers_and_settings_and_writes_nothing() {
    let pair = pair();
    pair.hortator.reset();
    let (_folder, dump) = dump_file("dump.sql", DUMP.as_bytes());
    let connections = || pair.hortator.rows_of_case("SELECT @@max_connections");
    let before = connections();
    let outcome = run(load_into(&pair.hortator, &["--plan", dump.to_str().unwrap()]));
    assert_eq!(outcome.status, Some(0), "{}", outcome.messages);
    let shown = String::from_utf8(outcome.rows).unwrap();
    let line = |word: &str| shown.lines().find(|line| line.contains(word)).unwrap_or_else(|| panic!("{word}: {shown}"));
    assert!(line(".plain ").contains("bulk execute") && line(".plain ").contains("in parallel"), "{shown}");
    let pieces = run(load_into(&pair.hortator, &["--plan", "--batch-rows", "256", dump.to_str().unwrap()]));
    assert!(String::from_utf8(pieces.rows).unwrap().contains("prepared batches"), "{}", pieces.messages);
    assert!(line(".numbered ").contains("in order: the server generates AUTO_INCREMENT values"), "{shown}");
    assert!(line("INSERT INTO plain SELECT").contains("dump.sql:7"), "{shown}");
    assert!(line("SET GLOBAL").contains("barrier"), "{shown}");
    assert!(line("skipped: 2").contains("statements: 9"), "{shown}");
    assert!(shown.contains("server: innodb_autoinc_lock_mode = "), "{shown}");
    assert!(pair.hortator.rows_of_case("SHOW TABLES").is_empty());
    assert_eq!(connections(), before, "a plan sets nothing");
}

#[test]
fn the_summary_is_one_object_and_selected_rows_go_elsewhere() {
    let pair = pair();
    pair.hortator.reset();
    let text = DUMP.replace("SET GLOBAL max_connections = 150;\n", "");
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    let outcome = run(load_into(&pair.hortator, &["--json", "-t", "2", dump.to_str().unwrap()]));
    assert_eq!(outcome.status, Some(0), "{}", outcome.messages);
    let summary: serde_json::Value = serde_json::from_slice(&outcome.rows).unwrap();
    assert_eq!(summary["end"], "complete");
    assert_eq!(summary["rows"], 8);
    assert_eq!(summary["skipped"], 2);
    assert_eq!(summary["barriers"], 1);
    assert_eq!(summary["barrier_reasons"], serde_json::json!({"the rows do not come from VALUES": 1}));
    assert_eq!(summary["threads"], 2);
    assert_eq!(summary["binary_statements"], 1);
    assert_eq!(summary["failures"], serde_json::json!([]));
    assert_eq!(outcome.messages, "way\nhalf\n");
}

#[test]
fn a_failure_is_in_the_object_with_its_place() {
    let pair = pair();
    pair.hortator.reset();
    let (_folder, dump) =
        dump_file("dump.sql", b"CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1),(1);\n");
    let outcome = run(load_into(&pair.hortator, &["--json", dump.to_str().unwrap()]));
    assert_eq!(outcome.status, Some(1));
    let summary: serde_json::Value = serde_json::from_slice(&outcome.rows).unwrap();
    assert_eq!(summary["end"], "failed");
    let failure = &summary["failures"][0];
    assert_eq!((&failure["line"], &failure["byte"], &failure["code"]), (&2.into(), &37.into(), &1062.into()));
    assert_eq!(failure["sqlstate"], "23000");
    assert_eq!(failure["statement"], "INSERT INTO t VALUES (1),(1)");
}
