//! What a target has set for its clients (`SET GLOBAL`) and a replica must not mind: limits, modes of transactions.

use super::fan_in::{FanIn, run, texts};
use super::line_of;
use super::snapshot::{assert_copied, copied};

/// Each with the value that is a server's own.
const DEFAULTS: [(&str, &str, &str); 6] = [
    ("autocommit", "0", "1"),
    ("completion_type", "2", "0"),
    ("sql_safe_updates", "1", "0"),
    ("tx_read_only", "1", "0"),
    ("alter_algorithm", "'INSTANT'", "'DEFAULT'"),
    ("max_statement_time", "0.1", "0"),
];

/// Some of them take too long, need a key, or can be done in one way only.
const CHANGES: [&str; 6] = [
    "SET SESSION binlog_format = STATEMENT",
    "UPDATE d1.t SET v = v + 1",
    "DELETE FROM d1.t WHERE v = 3",
    "ALTER TABLE d1.parts ADD PARTITION PARTITIONS 1",
    "INSERT INTO d1.t SELECT 100, SLEEP(0.3)",
    "SET SESSION binlog_format = ROW",
];

fn set(fan_in: &FanIn, value_of: impl Fn(&(&str, &str, &str)) -> String) {
    let statements: Vec<String> =
        DEFAULTS.iter().map(|known| format!("SET GLOBAL {} = {}", known.0, value_of(known))).collect();
    let mut connection = fan_in.target.node(0).connect().unwrap();
    connection.execute(b"SET SESSION autocommit = 1, completion_type = 0").unwrap();
    connection.execute(b"SET SESSION TRANSACTION READ WRITE").unwrap();
    for statement in statements {
        connection.execute(statement.as_bytes()).unwrap();
    }
}

/// A copy, rows, statements and definitions under all of them.
#[test]
fn are_those_of_its_clients() {
    let fan_in = copied(1);
    run(
        &fan_in.sources[0],
        &[
            "CREATE DATABASE d1",
            "CREATE TABLE d1.t (id INT PRIMARY KEY, v INT) ENGINE=InnoDB",
            "CREATE TABLE d1.parts (id INT PRIMARY KEY) PARTITION BY HASH (id) PARTITIONS 3",
            "INSERT INTO d1.t SELECT seq, seq % 5 FROM d1.seq_1_to_50",
            "INSERT INTO d1.parts SELECT seq FROM d1.seq_1_to_50",
        ],
    );
    set(&fan_in, |known| known.1.to_owned());
    let _agent = fan_in.start_only();
    fan_in.wait_until("the copy", |shown| {
        let line = line_of(shown, "s1");
        assert!(!line.contains("stopped"), "{shown}");
        line.contains("running")
    });
    let mut writer = fan_in.sources[0].node(0).connect().unwrap();
    for statement in CHANGES.iter().chain(&["DELETE FROM d1.parts WHERE id < 10", "INSERT INTO d1.t VALUES (101, 1)"]) {
        writer.execute(statement.as_bytes()).unwrap();
    }
    fan_in.catch_up();
    set(&fan_in, |known| known.2.to_owned());
    assert_copied(&fan_in.sources[0], &fan_in.target, &["d1".to_owned()]);
}

/// A replica reads as many rows as a statement needs.
#[test]
fn a_limit_of_joins() {
    let fan_in = FanIn::new(1, &[]);
    run(&fan_in.target, &["SET GLOBAL max_join_size = 100"]);
    let _agent = fan_in.start();
    run(
        &fan_in.sources[0],
        &[
            "SET SESSION binlog_format = STATEMENT",
            "CREATE DATABASE d1",
            "CREATE TABLE d1.t (id INT PRIMARY KEY) ENGINE=InnoDB",
            "CREATE TABLE d1.u (a INT, b INT, PRIMARY KEY (a, b)) ENGINE=InnoDB",
            "INSERT INTO d1.t SELECT seq FROM d1.seq_1_to_50",
            "INSERT INTO d1.u SELECT a.id, b.id FROM d1.t a, d1.t b",
        ],
    );
    fan_in.catch_up();
    let sums = "SELECT COUNT(*), SUM(a), SUM(b) FROM d1.u";
    run(&fan_in.target, &["SET GLOBAL max_join_size = DEFAULT"]);
    assert_eq!(texts(&fan_in.target, sums), texts(&fan_in.sources[0], sums));
}
