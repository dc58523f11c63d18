//! Temporary tables that are lost: what a statement finds in their place, by its name or not, is another table.

use hortator_mysql::Connection;

use super::fan_in::{FanIn, texts};
use super::rules::{skip, stops_with};

fn session(fan_in: &FanIn) -> Connection {
    let mut connection = fan_in.sources[0].node(0).connect().unwrap();
    connection.execute(b"SET SESSION binlog_format = STATEMENT").unwrap();
    connection
}

fn write(connection: &mut Connection, statements: &[&str]) {
    for text in statements {
        connection.execute(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

#[test]
fn lost_tables_of_functions_triggers_and_views() {
    let fan_in = FanIn::new(1, &[]);
    let agent = fan_in.start();
    let mut one = session(&fan_in);
    write(
        &mut one,
        &[
            "CREATE DATABASE d1",
            "USE d1",
            "CREATE TABLE tt (v VARCHAR(20)) ENGINE=InnoDB",
            "CREATE TABLE perm (k VARCHAR(20), v VARCHAR(20)) ENGINE=InnoDB",
            "CREATE TABLE counted (n INT) ENGINE=InnoDB",
            "INSERT INTO tt VALUES ('permanent')",
            "CREATE FUNCTION f() RETURNS VARCHAR(20) READS SQL DATA RETURN (SELECT MAX(v) FROM tt)",
            "CREATE TRIGGER g BEFORE INSERT ON counted FOR EACH ROW SET NEW.n = (SELECT COUNT(*) FROM tt)",
            "CREATE VIEW w AS SELECT f() AS v",
            "CREATE TEMPORARY TABLE tt (v VARCHAR(20)) ENGINE=InnoDB",
            "INSERT INTO tt VALUES ('temporary'), ('too')",
            "INSERT INTO perm VALUES ('before', f())",
        ],
    );
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, "SELECT v FROM d1.perm"), [["too"]]);
    drop(agent);
    let _agent = fan_in.start_only();
    for (text, way) in [
        ("INSERT INTO perm VALUES ('lost', f())", "may call a function"),
        ("INSERT INTO counted VALUES (0)", "A trigger of d1.counted may use it"),
        ("INSERT INTO d1.perm SELECT 'lost', v FROM `w`", "The view d1.w may use it"),
        ("CREATE TABLE made SELECT f() AS v", "may call a function"),
    ] {
        write(&mut one, &[text]);
        stops_with(&fan_in, "s1", "the temporary table `tt` of the source's connection");
        stops_with(&fan_in, "s1", way);
        skip(&fan_in, "s1");
    }
    // These find nothing of it; and behind its DROP, all is as it was.
    write(
        &mut one,
        &[
            "INSERT INTO perm VALUES ('plain', UPPER('x'))",
            "INSERT INTO perm SELECT CONCAT(k, '!'), v FROM perm WHERE k = 'plain'",
            "CREATE TABLE plain (id INT PRIMARY KEY)",
            "CREATE FUNCTION h() RETURNS VARCHAR(20) READS SQL DATA RETURN f()",
            "DROP VIEW w",
            "DROP TEMPORARY TABLE tt",
            "INSERT INTO perm VALUES ('behind', h())",
        ],
    );
    fan_in.catch_up();
    let query = "SELECT * FROM d1.perm WHERE k <> 'lost' ORDER BY k";
    assert_eq!(texts(&fan_in.target, query), texts(&fan_in.sources[0], query));
    assert_eq!(texts(&fan_in.target, "SELECT v FROM d1.perm WHERE k = 'behind'"), [["permanent"]]);
}

/// Where a name stands is read as the source's session has read it.
#[test]
fn lost_tables_in_other_sql_modes() {
    let fan_in = FanIn::new(1, &[]);
    let agent = fan_in.start();
    let mut one = session(&fan_in);
    write(
        &mut one,
        &[
            "CREATE DATABASE d1",
            "USE d1",
            "CREATE TABLE log (v VARCHAR(20)) ENGINE=InnoDB",
            "CREATE TABLE perm (k VARCHAR(20) CHARACTER SET gbk, v VARCHAR(20)) ENGINE=InnoDB",
            "SET SESSION sql_mode = 'MSSQL'",
            "CREATE TEMPORARY TABLE [log] (v VARCHAR(20)) ENGINE=InnoDB",
        ],
    );
    fan_in.catch_up();
    drop(agent);
    let _agent = fan_in.start_only();
    let no_escapes = "SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'";
    for (settings, text) in [
        (&[][..], &b"INSERT INTO perm SELECT 'mssql', v FROM [log]"[..]),
        (&[no_escapes], br"INSERT INTO perm SELECT '\', v FROM log"),
        (&["SET SESSION sql_mode = ''", "SET NAMES gbk"], b"INSERT INTO perm SELECT '\x95\x5c', v FROM log"),
    ] {
        write(&mut one, settings);
        one.execute(text).unwrap();
        stops_with(&fan_in, "s1", "the temporary table `log` of the source's connection");
        skip(&fan_in, "s1");
    }
}
