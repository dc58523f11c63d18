//! Statements of sessions that read them in another way: brackets around names, no default schema, another definer.

use std::fs;

use hortator_mysql::Connection;

use super::fan_in::{FanIn, run, texts};
use super::rules::{MERGE, skip, stops_with, with_rules, write_and_wait};

const EVENTS: &str = "SELECT EVENT_SCHEMA, EVENT_NAME, DEFINER FROM information_schema.EVENTS ORDER BY 1, 2";
const STATES: &str = "SELECT DISTINCT STATUS FROM information_schema.EVENTS";

fn session(fan_in: &FanIn, statements: &[&str]) -> Connection {
    let mut connection = fan_in.sources[0].node(0).connect().unwrap();
    for text in ["SET SESSION binlog_format = STATEMENT"].iter().chain(statements) {
        connection.execute(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
    connection
}

#[test]
fn events_keep_their_definer() {
    let mut fan_in = FanIn::new(1, &[]);
    session(
        &fan_in,
        &[
            "CREATE DATABASE d1",
            "CREATE DEFINER='copied'@'%' EVENT d1.e0 ON SCHEDULE EVERY 1 DAY DO SELECT 1",
            "SET SESSION sql_mode = 'ANSI_QUOTES'",
            "CREATE DEFINER=\"copied too\"@'%' EVENT d1.\"e 0\" ON SCHEDULE EVERY 1 DAY DO SELECT 1",
        ],
    );
    let text = fs::read_to_string(fan_in.file()).unwrap();
    fan_in.write(&text.replace("start = \"now\"", "start = \"snapshot\""));
    let _agent = fan_in.start();
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, EVENTS), texts(&fan_in.sources[0], EVENTS));
    session(
        &fan_in,
        &[
            "USE d1",
            "CREATE DEFINER='app'@'%' EVENT e1 ON SCHEDULE EVERY 1 DAY DO SELECT 1",
            "CREATE DEFINER='app'@'%' EVENT e2 ON SCHEDULE EVERY 1 DAY DO SELECT 1",
            "ALTER DEFINER='app2'@'%' EVENT e2 COMMENT 'x'",
            "CREATE DEFINER='app'@'%' EVENT e3 ON SCHEDULE EVERY 1 DAY DO SELECT 1",
            "ALTER DEFINER='app3'@'%' EVENT e3 RENAME TO `e 4`",
            "SET SESSION sql_mode = 'ANSI_QUOTES'",
            "CREATE OR REPLACE DEFINER=\"app\"@'%' EVENT \"e5\" ON SCHEDULE EVERY 1 DAY DO SELECT 1",
        ],
    );
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, EVENTS), texts(&fan_in.sources[0], EVENTS));
    assert_eq!(texts(&fan_in.target, STATES), [["SLAVESIDE_DISABLED"]]);
}

/// An account of the source, which the target need not have, logged in.
fn log_in(fan_in: &FanIn, user: &str) -> Connection {
    let source = &fan_in.sources[0];
    run(source, &[&format!("CREATE USER `{user}`@localhost IDENTIFIED BY 'secret'")]);
    run(source, &[&format!("GRANT ALL ON *.* TO `{user}`@localhost WITH GRANT OPTION")]);
    let mut options = source.node(0).connect_options();
    (options.user, options.password) = (user.to_owned(), Some("secret".into()));
    Connection::open(&options).unwrap()
}

/// Whoever changes an event without naming a definer becomes it.
#[test]
fn events_of_those_who_change_them() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    session(&fan_in, &["CREATE DATABASE d1"]);
    for (user, charset) in [("app", "utf8mb4"), ("jürgen", "utf8mb4"), ("rené", "latin1"), ("表", "sjis")] {
        let mut one = log_in(&fan_in, user);
        let owner = format!("ALTER DEFINER='owner'@'%' EVENT {user}2 COMMENT 'x'");
        for text in [
            "USE d1",
            &format!("CREATE DEFINER='owner'@'%' EVENT {user}1 ON SCHEDULE EVERY 1 DAY DO SELECT 1"),
            &format!("CREATE DEFINER='owner'@'%' EVENT {user}2 ON SCHEDULE EVERY 1 DAY DO SELECT 1"),
            &owner,
        ] {
            one.execute(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
        // Its names are ASCII from here on.
        for text in [
            &format!("CREATE DEFINER='owner'@'%' EVENT e_{charset}_{} ON SCHEDULE EVERY 1 DAY DO SELECT 1", user.len()),
            &format!("SET NAMES {charset}"),
            &format!("ALTER EVENT e_{charset}_{} ENABLE", user.len()),
            "SET sql_mode = 'ANSI_QUOTES'",
            &format!("/* c */ ALTER EVENT \"e_{charset}_{}\" COMMENT 'x'", user.len()),
            &format!(
                "SET STATEMENT max_statement_time=9 FOR ALTER EVENT e_{charset}_{0} RENAME TO f_{charset}_{0}",
                user.len()
            ),
        ] {
            one.execute(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
        // The source writes definers in UTF-8, whatever the text behind them is.
        let n = user.len();
        for text in [
            format!("CREATE EVENT g_{charset}_{n} ON SCHEDULE EVERY 1 DAY DO SELECT 1"),
            format!("CREATE PROCEDURE p_{charset}_{n}() SELECT 1"),
            format!("CREATE VIEW v_{charset}_{n} AS SELECT 1 AS a"),
            format!("CREATE TABLE t_{charset}_{n} (a INT)"),
            format!("CREATE TRIGGER g_{charset}_{n} BEFORE INSERT ON t_{charset}_{n} FOR EACH ROW SET NEW.a = 1"),
        ] {
            one.execute(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
        fan_in.catch_up();
        for query in [
            "SELECT ROUTINE_NAME, DEFINER FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'd1' ORDER BY 1",
            "SELECT TABLE_NAME, DEFINER FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'd1' ORDER BY 1",
            "SELECT TRIGGER_NAME, DEFINER FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'd1' ORDER BY 1",
        ] {
            assert_eq!(texts(&fan_in.target, query), texts(&fan_in.sources[0], query));
        }
        let of_charset = "SELECT EVENT_NAME, DEFINER, CHARACTER_SET_CLIENT, COLLATION_CONNECTION FROM information_schema.EVENTS \
                          ORDER BY 1";
        assert_eq!(texts(&fan_in.target, of_charset), texts(&fan_in.sources[0], of_charset));
    }
    assert_eq!(texts(&fan_in.target, STATES), [["SLAVESIDE_DISABLED"]]);
    // The letters of who runs it are none of the statement's.
    let mut one = log_in(&fan_in, "żaba");
    for text in ["USE d1", "SET NAMES latin1", "ALTER EVENT app1 ENABLE"] {
        one.execute(text.as_bytes()).unwrap();
    }
    stops_with(
        &fan_in,
        "s1",
        "the character set latin1, which the statement ran in, does not have the letters of `żaba`",
    );
    skip(&fan_in, "s1");
    fan_in.catch_up();
}

#[test]
fn names_in_brackets() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    session(
        &fan_in,
        &[
            "CREATE DATABASE d1",
            "USE d1",
            "SET SESSION sql_mode = 'MSSQL'",
            "CREATE TABLE [a]]b] ([x y] INT PRIMARY KEY)",
            "INSERT INTO d1.[a]]b] VALUES (1)",
            "CREATE EVENT [e 9] ON SCHEDULE EVERY 1 DAY DO SELECT 1",
            "CREATE EVENT e8 ON SCHEDULE EVERY 1 DAY DO SELECT 1",
            "ALTER EVENT [e8] RENAME TO [d1].[e7] ENABLE",
        ],
    );
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, "SELECT `x y` FROM d1.`a]b`"), [["1"]]);
    assert_eq!(texts(&fan_in.target, EVENTS), texts(&fan_in.sources[0], EVENTS));
    assert_eq!(texts(&fan_in.target, STATES), [["SLAVESIDE_DISABLED"]]);
}

#[test]
fn names_in_brackets_under_rules() {
    let rules = "[[source.rule]]\nmatch = \"d1.log\"\nskip = true\n[[source.rule]]\nmatch = \"d1.*\"\nto = \"e1.*\"\n";
    let fan_in = with_rules(1, &[], rules);
    run(&fan_in.target, &["CREATE DATABASE d1", "CREATE TABLE d1.log (a INT)"]);
    let _agent = fan_in.start();
    session(
        &fan_in,
        &[
            "CREATE DATABASE d1",
            "SET SESSION sql_mode = 'MSSQL'",
            "CREATE TABLE [d1].[log] (a INT)",
            "CREATE TABLE [d1].[t] (a INT)",
            "FLUSH TABLES d1.[t]",
            "INSERT INTO [d1].[log] VALUES (1)",
        ],
    );
    stops_with(&fan_in, "s1", "it may name d1.log, which a rule changes");
    skip(&fan_in, "s1");
    fan_in.catch_up();
    let tables = "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA IN ('d1', 'e1') \
                  ORDER BY 1";
    assert_eq!(texts(&fan_in.target, tables), [["d1", "log"], ["e1", "t"]]);
}

#[test]
fn texts_without_a_default_schema_that_are_only_stored() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    session(
        &fan_in,
        &[
            "CREATE DATABASE d1",
            "CREATE TABLE d1.t (id INT PRIMARY KEY, v VARCHAR(20) DEFAULT (DATABASE())) ENGINE=InnoDB",
            "CREATE VIEW d1.v AS SELECT DATABASE() AS v",
            "CREATE TRIGGER d1.g BEFORE INSERT ON d1.t FOR EACH ROW SET NEW.v = SCHEMA()",
            "CREATE FUNCTION d1.f() RETURNS VARCHAR(20) DETERMINISTIC RETURN DATABASE()",
            "ALTER TABLE d1.t ALTER v SET DEFAULT (CONCAT(DATABASE(), '!'))",
        ],
    );
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}

/// The rows of one source are deleted in the place of TRUNCATE, which looks at no foreign keys.
#[test]
fn a_truncate_with_a_setting_of_its_own() {
    let fan_in = with_rules(1, &[], MERGE);
    let _agent = fan_in.start();
    write_and_wait(
        &fan_in,
        0,
        &[
            "CREATE DATABASE shop",
            "CREATE TABLE shop.t (id INT PRIMARY KEY, parent INT) ENGINE=InnoDB",
            "INSERT INTO shop.t VALUES (1, NULL), (2, 1), (3, 2)",
        ],
    );
    run(&fan_in.target, &["ALTER TABLE everything.t ADD FOREIGN KEY (parent) REFERENCES everything.t (id)"]);
    session(&fan_in, &["SET STATEMENT foreign_key_checks=1 FOR TRUNCATE shop.t"]);
    fan_in.catch_up();
    assert!(texts(&fan_in.target, "SELECT id FROM everything.t").is_empty());
}
