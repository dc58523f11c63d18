//! Statements that were interrupted on the source, with some of their rows in a table that cannot roll back.

use std::thread;

use super::fan_in::{FanIn, run, texts};
use super::line_of;
use super::monitoring::json;
use super::source_logs::stops_with;

const TABLES: [&str; 3] = [
    "CREATE DATABASE d1",
    "CREATE TABLE d1.my (id INT, s INT) ENGINE=MyISAM",
    "CREATE TABLE d1.beside (id INT PRIMARY KEY) ENGINE=InnoDB",
];

/// Five rows, and then it waits for its end.
fn insert(first: u32) -> String {
    format!("INSERT INTO my SELECT {first} + seq, IF(seq > 5, SLEEP(1000), 0) FROM seq_1_to_20")
}

/// Runs statements of which the last is interrupted by this one, for its connection.
fn interrupt(fan_in: &FanIn, statements: &[&str], by: &str) {
    let source = &fan_in.sources[0];
    let mut connection = source.node(0).connect().unwrap();
    for setting in ["SET SESSION binlog_format = STATEMENT", "USE d1"] {
        connection.execute(setting.as_bytes()).unwrap();
    }
    let id = connection.id();
    let (last, before) = statements.split_last().unwrap();
    before.iter().for_each(|statement| drop(connection.execute(statement.as_bytes()).unwrap()));
    thread::scope(|scope| {
        let session = scope.spawn(move || {
            connection.execute(last.as_bytes()).unwrap_err();
            // It may be gone.
            let _ = connection.execute(b"COMMIT");
        });
        if !by.is_empty() {
            let sleeps =
                format!("SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = {id} AND STATE = 'User sleep'");
            fan_in.wait_until("the statement to wait", |_| texts(source, &sleeps).len() == 1);
            run(source, &[&format!("{by} {id}")]);
        }
        session.join().unwrap();
    });
}

fn ids(fan_in: &FanIn) -> usize {
    texts(&fan_in.target, "SELECT id FROM d1.my").len()
}

#[test]
fn nothing_of_an_interrupted_statement_is_run() {
    let fan_in = FanIn::new(1, &[]);
    let agent = fan_in.start();
    run(&fan_in.sources[0], &TABLES);

    interrupt(&fan_in, &[&insert(0)], "KILL QUERY");
    stops_with(&fan_in, "interrupted on the source (error 1317)");
    assert_eq!(ids(&fan_in), 0);
    // To go on says it again, and so does a new start.
    let stops = || json(&fan_in)["stops"].as_u64().unwrap();
    let before = stops();
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.wait_until("it to stop again", |_| stops() > before);
    stops_with(&fan_in, "interrupted on the source (error 1317)");
    drop(agent);
    let _agent = fan_in.start_only();
    stops_with(&fan_in, "interrupted on the source (error 1317)");
    assert_eq!(ids(&fan_in), 0);
    // By hand.
    run(&fan_in.target, &["INSERT INTO d1.my SELECT seq, 0 FROM d1.seq_1_to_5"]);
    assert_eq!(fan_in.says("skip s1"), (String::new(), Some(0)));
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);

    // Other statements of its transaction go with it.
    let begun = ["BEGIN", "INSERT INTO beside VALUES (1)", &insert(100)];
    interrupt(&fan_in, &begun, "KILL QUERY");
    stops_with(&fan_in, "interrupted on the source (error 1317)");
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d1.beside").len(), 0);
    run(&fan_in.target, &["INSERT INTO d1.my SELECT 100 + seq, 0 FROM d1.seq_1_to_5"]);
    assert_eq!(fan_in.says("skip s1"), (String::new(), Some(0)));
    fan_in.catch_up();
    let rows = texts(&fan_in.sources[0], "SELECT id FROM d1.beside");
    rows.iter().for_each(|row| run(&fan_in.target, &[&format!("INSERT INTO d1.beside VALUES ({})", row[0])]));
    fan_in.assert_equal(&["d1"]);

    interrupt(&fan_in, &[&insert(200)], "KILL CONNECTION");
    stops_with(&fan_in, "interrupted on the source (error 1927)");
    assert_eq!(fan_in.says("skip s1"), (String::new(), Some(0)));
    interrupt(&fan_in, &[&format!("SET STATEMENT max_statement_time = 0.5 FOR {}", insert(300))], "");
    stops_with(&fan_in, "interrupted on the source (error 1969)");
    assert_eq!(ids(&fan_in), 10);
    assert_eq!(fan_in.says("skip s1"), (String::new(), Some(0)));
    // By a copy.
    run(&fan_in.sources[0], &["INSERT INTO d1.my VALUES (400, 0)"]);
    fan_in.catch_up();
    assert_eq!(ids(&fan_in), 11);
    assert_eq!(fan_in.says("copy-again s1 --table d1.my"), (String::new(), Some(0)));
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}

#[test]
fn an_interrupted_statement_that_a_rule_leaves_out() {
    let mut fan_in = FanIn::new(1, &[]);
    let rule = "[[source.rule]]\nmatch = \"d1.*\"\nskip = true\n";
    let text = std::fs::read_to_string(fan_in.file()).unwrap() + rule;
    fan_in.write(&text);
    let _agent = fan_in.start();
    run(&fan_in.sources[0], &TABLES);
    interrupt(&fan_in, &[&insert(0)], "KILL QUERY");
    fan_in.catch_up();
}

/// Its beginning is applied before the rest arrives.
#[test]
fn an_interrupted_statement_in_a_later_part_of_a_large_transaction() {
    let fan_in = FanIn::new(1, &[]);
    let agent = fan_in.start();
    run(&fan_in.sources[0], &TABLES);
    run(&fan_in.sources[0], &["CREATE TABLE d1.large (v LONGTEXT) ENGINE=InnoDB"]);
    let large = format!("INSERT INTO large VALUES ('{}')", "x".repeat(3 << 20));
    let begun =
        ["BEGIN", "INSERT INTO beside VALUES (1)", "INSERT INTO my VALUES (1, 0)", &large, &large, &insert(100)];
    interrupt(&fan_in, &begun, "KILL QUERY");
    stops_with(&fan_in, "those rows are here that cannot be rolled back");
    let (shown, _) = fan_in.says("status");
    assert!(!shown.contains("nothing of its transaction"), "{shown}");
    assert_eq!(ids(&fan_in), 1);
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d1.beside").len(), 0);
    drop(agent);
    let _agent = fan_in.start_only();
    fan_in.wait_until("it to stop", |shown| line_of(shown, "s1").contains("stopped"));
    assert_eq!(fan_in.says("skip s1"), (String::new(), Some(0)));
    run(&fan_in.sources[0], &["INSERT INTO d1.my VALUES (400, 0)"]);
    fan_in.catch_up();
    assert_eq!(ids(&fan_in), 2);
}

/// Locks of other sessions end a statement at any of its rows, too. MariaDB's own replication runs all of it.
#[test]
fn a_statement_that_has_waited_too_long_for_a_lock() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    let source = &fan_in.sources[0];
    run(source, &TABLES);
    run(source, &["INSERT INTO d1.beside SELECT seq FROM d1.seq_1_to_9"]);
    let session = |statements: &[&str]| {
        let mut connection = source.node(0).connect().unwrap();
        for text in
            ["SET SESSION binlog_format = STATEMENT, innodb_lock_wait_timeout = 1", "USE d1"].iter().chain(statements)
        {
            connection.execute(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
        connection
    };
    // A statement reads the rows before those that somebody has locked.
    let _holder = session(&["BEGIN", "UPDATE beside SET id = id WHERE id = 6"]);
    let mut one = session(&[]);
    let insert = b"INSERT INTO my SELECT id, 0 FROM beside FORCE INDEX (PRIMARY) ORDER BY id";
    let refused = one.execute(insert).unwrap_err().to_string();
    assert!(refused.contains("1205"), "{refused}");
    assert_eq!(texts(source, "SELECT id FROM d1.my").len(), 5);
    stops_with(&fan_in, "interrupted on the source (error 1205)");
    assert_eq!(ids(&fan_in), 0);
    run(&fan_in.target, &["INSERT INTO d1.my SELECT seq, 0 FROM d1.seq_1_to_5"]);
    assert_eq!(fan_in.says("skip s1"), (String::new(), Some(0)));
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}
