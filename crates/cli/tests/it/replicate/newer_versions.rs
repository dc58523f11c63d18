//! What MariaDB 11 does and 10.11 does not.

use std::thread;
use std::time::Duration;

use super::compared::verify;
use super::fan_in::{FanIn, run, texts};
use super::rules::{says_ok, stops_with};
use super::snapshot::copied;
use super::source_collations::{apply_log, log_of};

/// A transaction that has read a table, and changes a row of it which another session has changed since: with
/// `innodb_snapshot_isolation`, the default since 11.6, that is an error, and the transaction is rolled back.
#[test]
fn rows_that_are_changed_while_a_transaction_runs() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    let function = |body: &str| {
        ["SET SESSION sql_log_bin = 0".to_owned(), format!("CREATE FUNCTION d.f() RETURNS INT DETERMINISTIC {body}")]
    };
    run(
        &fan_in.sources[0],
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY, v INT) ENGINE=InnoDB",
            "CREATE TABLE d.log (n INT) ENGINE=InnoDB",
            "INSERT INTO d.t VALUES (1, 0)",
        ],
    );
    fan_in.catch_up();
    run(&fan_in.sources[0], &function("RETURN 1").each_ref().map(String::as_str));
    // On the target, the function reads the table, and then waits.
    let waits = "BEGIN DECLARE n INT; SELECT COUNT(*) INTO n FROM d.t; DO GET_LOCK('gate', 600); \
                 DO RELEASE_LOCK('gate'); RETURN n; END";
    run(&fan_in.target, &function(waits).each_ref().map(String::as_str));
    let mut gate = fan_in.target.node(0).connect().unwrap();
    gate.execute(b"DO GET_LOCK('gate', 0)").unwrap();
    run(
        &fan_in.sources[0],
        &[
            "SET SESSION binlog_format = STATEMENT",
            "BEGIN",
            "INSERT INTO d.log VALUES (d.f())",
            "UPDATE d.t SET v = v + 1 WHERE id = 1",
            "COMMIT",
        ],
    );
    let waiting = "SELECT 1 FROM information_schema.PROCESSLIST WHERE STATE = 'User lock'";
    while texts(&fan_in.target, waiting).is_empty() {
        thread::sleep(Duration::from_millis(20));
    }
    gate.execute(b"UPDATE d.t SET v = 10 WHERE id = 1").unwrap();
    gate.execute(b"DO RELEASE_LOCK('gate')").unwrap();
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, "SELECT v FROM d.t"), [["11"]]);
    assert_eq!(texts(&fan_in.target, "SELECT n FROM d.log"), [["1"]]);
}

const TYPES: &[&str] = &[
    "CREATE DATABASE d",
    "SET time_zone = '+00:00'",
    "CREATE TABLE d.times (ts TIMESTAMP(3) NOT NULL DEFAULT 0 PRIMARY KEY, v INT, plain TIMESTAMP NULL, KEY (plain)) \
     ENGINE=InnoDB",
    "CREATE TABLE d.history (id INT PRIMARY KEY, v INT) ENGINE=InnoDB WITH SYSTEM VERSIONING",
    "CREATE TABLE d.kinds (u UUID PRIMARY KEY, a INET6, b INET4, v INT, UNIQUE (a)) ENGINE=InnoDB",
    "CREATE TABLE d.names (v VARCHAR(20) PRIMARY KEY, n INT) ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE \
     utf8mb4_uca1400_as_ci",
    "CREATE TABLE d.vectors (id INT PRIMARY KEY /*M!110701 , e VECTOR(3) NOT NULL, VECTOR INDEX (e) DISTANCE=cosine */) \
     ENGINE=InnoDB",
    "CREATE SEQUENCE d.s /*M!110500 AS BIGINT UNSIGNED */ START WITH 9223372036854775800",
];

const ROWS: &[&str] = &[
    "SET time_zone = '+00:00'",
    "INSERT INTO d.times VALUES ('2038-01-19 03:14:07.999', 1, '1970-01-01 00:00:01'), ('2001-01-01', 2, NULL)",
    "INSERT INTO d.times VALUES /*M!110500 ('2038-01-19 03:14:08.001', 3, '2106-02-07 06:28:15'), \
     ('2106-02-07 06:28:15', 4, '2077-01-01'), */ ('2002-01-01', 5, NULL)",
    "INSERT INTO d.history VALUES (1, 1), (2, 2)",
    "UPDATE d.history SET v = 3 WHERE id = 1",
    "DELETE FROM d.history WHERE id = 2",
    "INSERT INTO d.kinds VALUES ('123e4567-e89b-12d3-a456-426655440000', '::1', '10.0.0.1', 1)",
    "INSERT INTO d.kinds VALUES ('01890dd5-ea3f-746a-8f6b-6d9a3b2c1d0e', 'fe80::1', NULL, 2)",
    "INSERT INTO d.names VALUES ('a', 1), ('ä', 2), ('ß', 3)",
    "INSERT INTO d.vectors (id /*M!110701 , e */) VALUES (1 /*M!110701 , VEC_FromText('[1,0,0]') */)",
    "INSERT INTO d.vectors (id /*M!110701 , e */) VALUES (2 /*M!110701 , VEC_FromText('[0,1,-0.5]') */)",
    "DO NEXTVAL(d.s)",
];

const CHANGES: &[&str] = &[
    "SET time_zone = '+00:00'",
    "UPDATE d.times SET v = v + 10",
    "INSERT INTO d.times VALUES /*M!110500 ('2106-02-07 06:28:14.5', 6, '2038-01-19 03:14:08'), */ ('2003-01-01', 7, NULL)",
    "UPDATE d.kinds SET v = v + 1",
    "DELETE FROM d.kinds WHERE a = '::1'",
    "UPDATE d.names SET n = n + 1 WHERE v = 'Ä'",
    "UPDATE d.vectors SET id = id + 10",
    "INSERT INTO d.vectors (id /*M!110701 , e */) VALUES (3 /*M!110701 , VEC_FromText('[0,0,1]') */)",
    "DO NEXTVAL(d.s)",
    "SET SESSION binlog_format = STATEMENT",
    "UPDATE d.times SET v = v + 100 WHERE ts > '2030-01-01'",
    "INSERT INTO d.history VALUES (3, 3)",
];

/// Types that are new, and values that are.
#[test]
fn types_and_values() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    for statements in [TYPES, ROWS, CHANGES] {
        run(&fan_in.sources[0], statements);
        fan_in.catch_up();
        fan_in.assert_equal(&["d"]);
    }
    let (shown, code) = verify(&fan_in, "");
    assert_eq!(code, Some(0), "{shown}");
}

/// The same, where most is there when the source is copied.
#[test]
fn types_and_values_that_are_copied() {
    let fan_in = copied(1);
    for statements in [TYPES, ROWS] {
        run(&fan_in.sources[0], statements);
    }
    let _agent = fan_in.start_only();
    fan_in.catch_up();
    fan_in.assert_equal(&["d"]);
    run(&fan_in.sources[0], CHANGES);
    fan_in.catch_up();
    fan_in.assert_equal(&["d"]);
}

/// The end of a current row of a table with history is another one before MariaDB 11.5 and since: the rows stay current.
#[test]
fn rows_with_history_of_other_versions() {
    for log in ["10_11.000001", "11_8.000001"] {
        let recovery = apply_log(log);
        let rows = |query: &str| texts(&recovery.fan_in.target, query);
        assert_eq!(rows("SELECT * FROM d1.history ORDER BY id"), [["1", "2"], ["3", "3"]], "{log}");
        let all = "SELECT id, v, row_end > '2037-01-01' FROM d1.history FOR SYSTEM_TIME ALL ORDER BY id, v";
        assert_eq!(rows(all), [["1", "1", "0"], ["1", "2", "1"], ["2", "2", "0"], ["3", "3", "1"]], "{log}");
        // A column of the same type with the same value is only a time.
        let named = "SELECT id, UNIX_TIMESTAMP(note) FROM d1.named ORDER BY id";
        assert_eq!(rows(named), [["7", ""], ["8", "2147483647.999999"]], "{log}");
        // The target goes on with them.
        run(&recovery.fan_in.target, &["DELETE FROM d1.named", "UPDATE d1.history SET v = 9"]);
        assert_eq!(rows("SELECT id FROM d1.named"), [[""; 1]; 0], "{log}");
        assert_eq!(rows("SELECT * FROM d1.history ORDER BY id"), [["1", "9"], ["3", "9"]], "{log}");
    }
}

/// The rows of CREATE TABLE … SELECT come before their table is there.
#[test]
fn rows_with_history_of_new_tables() {
    for log in ["10_11_select.000001", "11_8_select.000001"] {
        let recovery = apply_log(log);
        let rows = |query: &str| texts(&recovery.fan_in.target, query);
        for (table, row_end) in [("hidden", "row_end"), ("shown", "e")] {
            let all = format!("SELECT id, {row_end} > '2037-01-01' FROM d1.{table} FOR SYSTEM_TIME ALL ORDER BY id");
            assert_eq!(rows(&all), [["1", "1"], ["2", "1"]], "{log}: {table}");
            run(&recovery.fan_in.target, &[&format!("DELETE FROM d1.{table} WHERE id = 1")]);
            assert_eq!(rows(&format!("SELECT id FROM d1.{table}")), [["2"]], "{log}");
        }
    }
}

/// A TIMESTAMP after 2038 stops its source where the target has none: it would become one before 1970.
#[test]
fn times_after_2038() {
    let recovery = log_of("11_8_late.000001");
    let fan_in = &recovery.fan_in;
    run(&fan_in.target, &["CREATE DATABASE d1"]);
    let has_them = !texts(&fan_in.target, "SELECT 1 WHERE FROM_UNIXTIME(4102444800) IS NOT NULL").is_empty();
    let agent = recovery.spawn("");
    if !has_them {
        fan_in.wait_until("the run to answer", |shown| shown.contains("source"));
        stops_with(fan_in, "s1", "column 2 has a TIMESTAMP after 2038");
        says_ok(fan_in, "skip s1");
    }
    let (log, code) = agent.end();
    assert_eq!(code, Some(0), "{log}");
    let expected: &[&str] = if has_them { &["1", "2", "3"] } else { &["1", "2"] };
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d1.late ORDER BY id").concat(), expected);
}
