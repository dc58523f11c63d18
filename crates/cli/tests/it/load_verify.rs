//! `hortator load --verify`: what should be there after a dump, and dumps and servers where it is not.

use std::fs;
use std::io::{Seek, Write};

use hortator_mysql::Connection;
use serde_json::Value;

use crate::errors::assert_tells;
use crate::programs::{Outcome, Running, hortator, run};
use crate::servers::{DATABASE, Pair, pair};

/// One of everything.
const DUMP: &str = "
SET foreign_key_checks = 0;
DROP TABLE IF EXISTS parent;
CREATE TABLE parent (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20), KEY by_name (name));
INSERT INTO parent VALUES (1, 'a'), (2, 'b'), (7, 'c');
CREATE TABLE child (id INT PRIMARY KEY, parent INT, KEY parent (parent),
  CONSTRAINT child_parent FOREIGN KEY (parent) REFERENCES parent (id));
INSERT INTO child VALUES (1, 1), (2, 2);
INSERT INTO child VALUES (3, 7);
CREATE TABLE empty (id INT);
CREATE VIEW names AS SELECT name FROM parent;
DELIMITER ;;
CREATE TRIGGER before_child BEFORE INSERT ON child FOR EACH ROW SET NEW.parent = NEW.parent ;;
CREATE PROCEDURE nothing() SELECT 1 ;;
CREATE FUNCTION one() RETURNS INT DETERMINISTIC RETURN 1 ;;
CREATE EVENT later ON SCHEDULE EVERY 1 DAY DISABLE DO SELECT 1 ;;
DELIMITER ;
CREATE SEQUENCE numbers;
";

/// Loads a text with `--verify` into a fresh database, after what is there before.
fn load(pair: &Pair, before: &[&str], dump: &str, options: &[&str]) -> (Outcome, Option<Value>) {
    pair.hortator.reset();
    let mut connection = connect(pair);
    for statement in before {
        connection.execute(statement.as_bytes()).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dump.sql");
    fs::write(&file, dump).unwrap();
    let mut command = hortator("load");
    command.arg("--no-defaults").arg("-S").arg(pair.hortator.socket()).args(["-u", "root", "-D", DATABASE]);
    command.args(["--verify", "--json"]).args(options).arg(&file);
    let outcome = run(command);
    let json: Option<Value> = serde_json::from_slice(&outcome.rows).ok();
    let verification = json.map(|json| json["verification"].clone()).filter(|found| !found.is_null());
    (outcome, verification)
}

fn connect(pair: &Pair) -> Connection {
    let mut connection = pair.hortator.connect();
    connection.select_db(DATABASE.as_bytes()).unwrap();
    connection
}

/// `table expected found reason` of each table.
fn tables(verification: &Value) -> Vec<String> {
    let shown = |table: &Value| {
        let reason = table["not_counted_reason"].as_str().unwrap_or_default();
        let name = table["table"].as_str().unwrap().trim_start_matches(DATABASE).trim_start_matches('.');
        format!("{name} {} {} {reason}", table["expected"], table["found"]).trim_end().to_owned()
    };
    verification["tables"].as_array().unwrap().iter().map(shown).collect()
}

#[test]
fn what_a_dump_left_is_verified() {
    let pair = pair();
    for options in [&["-t1"][..], &["-t4", "--chunk-bytes", "1"]] {
        let (outcome, verification) = load(&pair, &[], DUMP, options);
        assert_tells(&outcome, 0, &[]);
        let verification = verification.expect("it was verified");
        assert_eq!(verification["holds"], true);
        assert_eq!(verification["problem_count"], 0);
        assert_eq!(tables(&verification), ["child 3 3", "empty 0 0", "parent 3 3"]);
        let expected = serde_json::json!({
            "event": 1, "foreign key": 1, "function": 1, "index": 4, "procedure": 1, "sequence": 1, "table": 3,
            "trigger": 1, "view": 1,
        });
        assert_eq!(verification["objects"], expected);
        assert_eq!(verification["counters"], 1);
        assert_eq!(verification["foreign_keys"], 1);
    }
}

#[test]
fn the_summary_tells_it_in_words() {
    let pair = pair();
    pair.hortator.reset();
    let mut command = hortator("load");
    command.arg("--no-defaults").arg("-S").arg(pair.hortator.socket()).args(["-u", "root", "-D", DATABASE, "--verify"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dump.sql");
    fs::write(&file, format!("{DUMP}\nREPLACE INTO empty VALUES (1);")).unwrap();
    command.arg(&file);
    let told = format!("  {DATABASE}.empty: rows not counted: REPLACE at line 20");
    assert_tells(&run(command), 0, &["verified: rows counted in 2 tables; objects found: event 1, ", &told]);
}

#[test]
fn what_is_not_counted_has_a_reason() {
    const MADE: &str = "CREATE TABLE t (id INT PRIMARY KEY); ";
    const FILLED: &str = "CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1); ";
    let pair = pair();
    for (before, dump, expected) in [
        (&[][..], format!("{MADE}INSERT IGNORE INTO t VALUES (1), (1), (2);"), &["t 2 2"][..]),
        (&[], format!("{FILLED}BEGIN; INSERT INTO t VALUES (2); COMMIT;"), &["t 2 2"]),
        (&[], format!("{FILLED}INSERT INTO t SELECT 5;"), &["t 2 2"]),
        (&[], format!("{FILLED}BEGIN; INSERT INTO t VALUES (2); ROLLBACK;"), &["t null null ROLLBACK at line 1"]),
        (&[], format!("{FILLED}DELETE FROM t;"), &["t null null DELETE at line 1"]),
        (&[], format!("{FILLED}TRUNCATE t;"), &["t null null emptied at line 1"]),
        (
            &[],
            format!("{FILLED}INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE id = 3;"),
            &["t null null INSERT … ON DUPLICATE KEY UPDATE at line 1"],
        ),
        (
            &["CREATE TABLE t (id INT)", "INSERT INTO t VALUES (9)"],
            "INSERT INTO t VALUES (1);".to_owned(),
            &["t null null the table existed before the load and may have had rows"],
        ),
        (
            &["CREATE TABLE t (id INT)", "INSERT INTO t VALUES (9)"],
            "CREATE TABLE IF NOT EXISTS t (id INT); INSERT INTO t VALUES (1);".to_owned(),
            &["t null null CREATE … IF NOT EXISTS: the table may have had rows"],
        ),
        (
            &[
                "CREATE TABLE old (id INT)",
                "CREATE TRIGGER g AFTER INSERT ON old FOR EACH ROW INSERT INTO t VALUES (NEW.id)",
            ],
            format!("{MADE}INSERT INTO old VALUES (4);"),
            &[
                "old null null the table existed before the load and may have had rows",
                "t null null table hortator_case.old already had triggers, which may have written to any table",
            ],
        ),
        (
            &[],
            "CREATE TABLE t (id INT) ENGINE=BLACKHOLE; INSERT INTO t VALUES (1);".to_owned(),
            &["t null null engine blackhole may store the rows elsewhere"],
        ),
        (&[], format!("{FILLED}CREATE TEMPORARY TABLE u (id INT); INSERT INTO u VALUES (1);"), &["t 1 1"]),
        (&[], format!("{FILLED}RENAME TABLE t TO u;"), &["u null null renamed at line 1"]),
        (
            &[],
            "CREATE DATABASE IF NOT EXISTS other; USE other; CREATE TABLE t (id INT); INSERT INTO t VALUES (1);"
                .to_owned(),
            &["other.t 1 1"],
        ),
    ] {
        let _plugin_may_be_there = connect(&pair).execute(b"INSTALL SONAME 'ha_blackhole'");
        let (outcome, verification) = load(&pair, before, &dump, &[]);
        assert_tells(&outcome, 0, &[]);
        assert_eq!(tables(&verification.expect("it was verified")), expected, "{dump}");
    }
}

#[test]
fn what_is_not_as_it_should_be_is_told_with_status_1() {
    let pair = pair();
    for (dump, told) in [
        (
            "CREATE TABLE t (id INT); CREATE VIEW v AS SELECT id FROM t; ALTER TABLE t CHANGE id other INT;",
            "verify: CHECK TABLE reports an error for view hortator_case.v: ",
        ),
        (
            "SET foreign_key_checks = 0; CREATE TABLE p (id INT PRIMARY KEY);
             CREATE TABLE c (id INT PRIMARY KEY, p INT, CONSTRAINT up FOREIGN KEY (p) REFERENCES p (id));
             INSERT INTO c VALUES (1, NULL), (2, 7), (3, 8);",
            "verify: foreign key up of hortator_case.c: 2 rows have no parent row: (p = '7', id = '2'), (p = '8'",
        ),
    ] {
        let (outcome, verification) = load(&pair, &[], dump, &[]);
        assert_tells(&outcome, 1, &[told]);
        let verification = verification.expect("it was verified");
        assert_eq!(verification["holds"], false, "{dump}");
        assert_eq!(verification["problem_count"], 1, "{dump}: {verification}");
        // The load itself has gone through.
        let json: Value = serde_json::from_slice(&outcome.rows).unwrap();
        assert_eq!(json["end"], "complete");
    }
}

#[test]
fn what_somebody_else_takes_away_meanwhile_is_told() {
    let pair = pair();
    for (meanwhile, told) in [
        ("DROP TABLE empty", "table hortator_case.empty does not exist"),
        ("ALTER TABLE parent DROP KEY by_name", "index hortator_case.parent.by_name does not exist"),
        (
            "ALTER TABLE child DROP FOREIGN KEY child_parent",
            "foreign key hortator_case.child.child_parent does not exist",
        ),
        ("DROP VIEW names", "view hortator_case.names does not exist"),
        ("DROP TRIGGER before_child", "trigger hortator_case.before_child does not exist"),
        ("DROP PROCEDURE nothing", "procedure hortator_case.nothing does not exist"),
        ("DROP FUNCTION one", "function hortator_case.one does not exist"),
        ("DROP EVENT later", "event hortator_case.later does not exist"),
        ("DROP SEQUENCE numbers", "sequence hortator_case.numbers does not exist"),
        ("DELETE FROM child WHERE id = 2", "table hortator_case.child has 2 rows, but 3 were loaded"),
        ("INSERT INTO empty VALUES (1), (2)", "table hortator_case.empty has 2 rows, but 0 were loaded"),
    ] {
        pair.hortator.reset();
        let mut other = connect(&pair);
        other.execute(b"DO GET_LOCK('gate', 10)").unwrap();
        let mut command = hortator("load");
        command.arg("--no-defaults").arg("-S").arg(pair.hortator.socket());
        command.args(["-u", "root", "-D", DATABASE, "--verify"]);
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(format!("{DUMP}SELECT GET_LOCK('gate', 60);").as_bytes()).unwrap();
        file.rewind().unwrap();
        command.stdin(file);
        let running = Running::start(command);
        pair.hortator.wait_until("SELECT COUNT(*) > 0 FROM information_schema.PROCESSLIST WHERE STATE = 'User lock'");
        other.execute(meanwhile.as_bytes()).unwrap();
        drop(other);
        assert_tells(&running.finish(), 1, &[&format!("verify: {told}\n"), "verified, 1 problem:"]);
    }
}

#[test]
fn what_may_be_gone_for_a_reason_is_remarked() {
    let pair = pair();
    let before = ["CREATE PROCEDURE sweep() BEGIN DROP TABLE t; DROP VIEW v; END"];
    let dump = "CREATE TABLE t (id INT); INSERT INTO t VALUES (1); CREATE VIEW v AS SELECT 1; CALL sweep();\n\
                CREATE TABLE u (id INT); INSERT INTO u VALUES (1);";
    let (outcome, verification) = load(&pair, &before, dump, &[]);
    assert_tells(&outcome, 0, &[]);
    let verification = verification.expect("it was verified");
    assert_eq!(tables(&verification), ["u 1 1"]);
    let remarks = serde_json::json!([
        "table hortator_case.t does not exist; possible reason: CALL at line 1",
        "view hortator_case.v does not exist; possible reason: CALL at line 1",
    ]);
    assert_eq!(verification["remarks"], remarks);
}

#[test]
fn a_load_that_fails_is_not_verified_and_a_forced_one_is() {
    const DUMP: &str = "CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1);\nINSERT INTO t VALUES (1);\n\
                        CREATE VIEW v AS SELECT nothing FROM t;\n";
    let pair = pair();
    let (outcome, verification) = load(&pair, &[], DUMP, &[]);
    assert_tells(&outcome, 1, &["nothing verified: the load did not reach its end", "1062"]);
    assert_eq!(verification, None);
    let (outcome, verification) = load(&pair, &[], DUMP, &["--force"]);
    assert_tells(&outcome, 1, &["verify: view hortator_case.v does not exist"]);
    assert_eq!(tables(&verification.unwrap()), ["t 1 1"]);
    let (outcome, _) =
        load(&pair, &[], "CREATE TABLE t (id INT);\nINSERT INTO t VALUES (1);\nFROBNICATE;\n", &["--force"]);
    assert_tells(&outcome, 3, &["1064"]);
}

#[test]
fn a_load_that_went_on_is_verified_from_its_beginning() {
    const DUMP: &str = "CREATE TABLE t (id INT PRIMARY KEY, KEY k (id));\nINSERT INTO t VALUES (1), (2);\n\
                        CREATE TABLE u (id INT PRIMARY KEY);\nINSERT INTO u SELECT id FROM t;\n\
                        INSERT INTO late VALUES (1);\nINSERT INTO t VALUES (3);\n";
    let pair = pair();
    pair.hortator.reset();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dump.sql");
    fs::write(&file, DUMP).unwrap();
    let call = |options: &[&str]| {
        let mut command = hortator("load");
        command.arg("--no-defaults").arg("-S").arg(pair.hortator.socket()).args(["-u", "root", "-D", DATABASE]);
        command.args(["--verify", "--json"]).args(options).arg(&file);
        run(command)
    };
    assert_tells(&call(&[]), 1, &["1146", "nothing verified"]);
    connect(&pair).execute(b"CREATE TABLE late (id INT)").unwrap();
    let outcome = call(&["--resume"]);
    assert_tells(&outcome, 0, &[]);
    let json: Value = serde_json::from_slice(&outcome.rows).unwrap();
    let verification = &json["verification"];
    let expected = ["late null null the table existed before the load and may have had rows", "t 3 3", "u 2 2"];
    assert_eq!(tables(verification), expected);
    assert_eq!(verification["objects"], serde_json::json!({"index": 3, "table": 2}));
}
