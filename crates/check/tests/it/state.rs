//! States of schemas that have one object of each kind, and one difference.

use hortator_check::state::{Kind, Options, describe_with};
use hortator_mysql::Connection;

use crate::{connect, run, server};

const ANY_NAME: Options = Options { any_name: true, row_times: false };

/// One object of each kind.
const EVERYTHING: [&str; 12] = [
    "CREATE TABLE parent (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) NOT NULL) CHARSET latin1",
    "CREATE TABLE child (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES parent (id))",
    "CREATE SEQUENCE numbers START WITH 7",
    "CREATE VIEW names AS SELECT name FROM parent",
    "CREATE VIEW names_twice AS SELECT name FROM names UNION ALL SELECT name FROM names",
    "CREATE PROCEDURE nothing() SELECT 1",
    "CREATE FUNCTION one() RETURNS INT DETERMINISTIC RETURN 1",
    "CREATE TRIGGER before_child BEFORE INSERT ON child FOR EACH ROW SET NEW.parent = NEW.parent",
    "CREATE EVENT later ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01' DISABLE DO SELECT 1",
    "INSERT INTO parent (name) VALUES ('a'), ('b')",
    "INSERT INTO child VALUES (1, 1), (2, NULL)",
    "SELECT NEXT VALUE FOR numbers",
];

fn make(connection: &mut Connection, schema: &str) {
    run(connection, &[&format!("CREATE OR REPLACE DATABASE {schema} CHARSET utf8mb4"), &format!("USE {schema}")]);
    run(connection, &EVERYTHING);
}

fn differences(connection: &mut Connection, one: &str, other: &str) -> Vec<String> {
    let one = describe_with(connection, one, ANY_NAME).unwrap();
    one.differences(&describe_with(connection, other, ANY_NAME).unwrap())
}

#[test]
fn the_state_does_not_depend_on_the_schema_name() {
    let server = server();
    let mut connection = connect(&server);
    make(&mut connection, "one");
    make(&mut connection, "other");
    assert_eq!(differences(&mut connection, "one", "other"), [""; 0]);

    let state = describe_with(&mut connection, "one", ANY_NAME).unwrap();
    let kinds: Vec<_> = state.counts().into_iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    let expected = "schema 1, table 2, sequence 1, view 2, trigger 1, procedure 1, function 1, event 1";
    assert_eq!(kinds.join(", ").replace("database", "schema"), expected);
    assert_eq!(state.row_count(), 5);
    assert_eq!(state.counts()[&Kind::View], 2);
}

#[test]
fn each_change_is_found_and_named() {
    let cases = [
        ("ALTER DATABASE other CHARSET latin1", "database"),
        ("INSERT INTO parent (name) VALUES ('b')", "rows of parent"),
        ("UPDATE parent SET name = 'A' WHERE name = 'a'", "rows of parent"),
        ("UPDATE child SET parent = 2 WHERE id = 2", "rows of child"),
        ("ALTER TABLE parent AUTO_INCREMENT = 50", "table parent"),
        ("ALTER TABLE parent ADD KEY (name)", "table parent"),
        ("CREATE TABLE more (x INT)", "table more: only the second has it"),
        ("DROP VIEW names_twice", "view names_twice: only the first has it"),
        ("DROP VIEW names", "view names: only the first has it"),
        ("DO SETVAL(numbers, 5000)", "rows of numbers"),
        ("ALTER SEQUENCE numbers INCREMENT BY 3", "sequence numbers"),
        ("CREATE OR REPLACE PROCEDURE nothing() SELECT 2", "procedure nothing"),
        ("CREATE OR REPLACE FUNCTION one() RETURNS INT DETERMINISTIC RETURN 2", "function one"),
        (
            "CREATE OR REPLACE TRIGGER before_child BEFORE UPDATE ON child FOR EACH ROW SET NEW.id = 1",
            "trigger before_child",
        ),
        ("ALTER EVENT later ENABLE", "event later"),
        (
            "SET SESSION sql_mode = 'ANSI'; CREATE OR REPLACE PROCEDURE nothing() SELECT 1",
            "procedure nothing, sql_mode",
        ),
    ];
    let server = server();
    let mut connection = connect(&server);
    make(&mut connection, "one");
    for (change, expected) in cases {
        let mut fresh = connect(&server);
        make(&mut fresh, "other");
        let statements: Vec<&str> = change.split("; ").collect();
        run(&mut fresh, &statements);
        let found = differences(&mut connection, "one", "other");
        assert!(found.iter().any(|difference| difference.starts_with(expected)), "{change}: {found:#?}");
    }
}

#[test]
fn a_large_table_is_read_again_to_show_the_row() {
    let server = server();
    let mut connection = connect(&server);
    for schema in ["one", "other"] {
        run(&mut connection, &[&format!("CREATE DATABASE {schema}"), &format!("USE {schema}")]);
        run(
            &mut connection,
            &["CREATE TABLE large (a INT, b VARCHAR(10)) SELECT seq AS a, 'x' AS b FROM seq_1_to_30000"],
        );
    }
    assert_eq!(differences(&mut connection, "one", "other"), [""; 0]);
    run(&mut connection, &["UPDATE other.large SET b = 'y' WHERE a = 17171"]);
    let one = describe_with(&mut connection, "one", ANY_NAME).unwrap();
    let other = describe_with(&mut connection, "other", ANY_NAME).unwrap();
    let found = one.differences(&other);
    assert_eq!(found, ["rows of large: the first has 30000 rows, the second 30000; their hashes differ"]);
    let mut second = connect(&server);
    let rows = one.differing_rows(&mut connection, &other, &mut second).unwrap().join("\n");
    assert!(rows.contains("first: ('17171', 'x')") && rows.contains("second: ('17171', 'y')"), "{rows}");
}

#[test]
fn a_schema_whose_name_differs_in_case_only_is_not_included() {
    let server = server();
    let mut connection = connect(&server);
    run(&mut connection, &["CREATE DATABASE one", "CREATE DATABASE ONE", "CREATE TABLE ONE.t (x INT)"]);
    let state = describe_with(&mut connection, "one", ANY_NAME).unwrap();
    assert_eq!(state.counts().into_iter().collect::<Vec<_>>(), [(Kind::Schema, 1)]);
}

#[test]
fn a_view_on_a_dropped_table_has_a_definition() {
    let server = server();
    let mut connection = connect(&server);
    make(&mut connection, "one");
    make(&mut connection, "other");
    run(&mut connection, &["SET foreign_key_checks = 0", "DROP TABLE one.parent", "DROP TABLE other.parent"]);
    assert_eq!(differences(&mut connection, "one", "other"), [""; 0]);
}
