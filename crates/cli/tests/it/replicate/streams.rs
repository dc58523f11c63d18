//! What the server's own tests of replication have shown: statements that a replica applies, and that are more than their text.

use hortator_mysql::{ConnectOptions, Connection};

use super::fan_in::{FanIn, run, texts};
use super::line_of;

fn execute(connection: &mut Connection, statements: &[&str]) {
    for statement in statements {
        connection.execute(statement.as_bytes()).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
}

/// A session of the only source that writes statements.
fn session(fan_in: &FanIn) -> Connection {
    let mut connection = fan_in.sources[0].node(0).connect().unwrap();
    execute(&mut connection, &["SET SESSION binlog_format = STATEMENT"]);
    connection
}

fn pause(fan_in: &FanIn) {
    assert_eq!(fan_in.says("pause s1").1, Some(0));
    fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
}

fn skip_with(fan_in: &FanIn, said: &str) {
    fan_in.wait_until("it to stop", |shown| line_of(shown, "s1").contains("stopped"));
    let (shown, _) = fan_in.says("status");
    assert!(shown.contains(said), "{said}: {shown}");
    assert_eq!(fan_in.says("skip s1"), (String::new(), Some(0)));
}

const PERMANENT: &[&str] = &[
    "CREATE DATABASE d1",
    "CREATE TABLE d1.t (id INT) ENGINE=InnoDB",
    "CREATE TABLE d1.x (id INT) ENGINE=InnoDB",
    "INSERT INTO d1.x VALUES (100)",
];

#[test]
fn temporary_tables_of_two_sessions() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    run(&fan_in.sources[0], PERMANENT);
    let (mut one, mut two) = (session(&fan_in), session(&fan_in));
    for (number, connection) in (1..).zip([&mut one, &mut two]) {
        let insert = format!("INSERT INTO x VALUES ({number})");
        execute(connection, &["USE d1", "CREATE TEMPORARY TABLE x (id INT) ENGINE=InnoDB", &insert]);
    }
    // Rows of the permanent table of the name come in between.
    run(&fan_in.sources[0], &["INSERT INTO d1.x VALUES (101)"]);
    execute(
        &mut one,
        &[
            "INSERT INTO t SELECT id FROM x",
            "ALTER TABLE x RENAME TO y",
            "BEGIN",
            "CREATE TEMPORARY TABLE z SELECT * FROM y",
            "UPDATE z SET id = id + 10",
            "INSERT INTO t SELECT * FROM z",
            "COMMIT",
            "INSERT INTO x VALUES (102)",
            "CREATE TEMPORARY SEQUENCE s",
        ],
    );
    execute(&mut two, &["INSERT INTO t SELECT id FROM x", "DROP TABLE x", "INSERT INTO x VALUES (103)"]);
    drop((one, two));
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d1.t ORDER BY 1"), [["1"], ["2"], ["11"]]);
    fan_in.wait_until("the end of the sessions", |_| {
        texts(&fan_in.target, "SELECT 1 FROM hortator.replicate_positions WHERE temporary IS NULL").len() == 1
    });
}

/// Without the temporary table, statements would find the permanent one.
#[test]
fn temporary_tables_that_are_lost() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    run(&fan_in.sources[0], PERMANENT);
    let mut one = session(&fan_in);
    execute(&mut one, &["USE d1", "CREATE TEMPORARY TABLE x (id INT)", "INSERT INTO x VALUES (1)"]);
    fan_in.catch_up();
    pause(&fan_in);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    execute(&mut one, &["INSERT INTO x VALUES (2)"]);
    skip_with(&fan_in, "the temporary table `x` of the source's connection");
    execute(&mut one, &["INSERT INTO t SELECT id FROM x"]);
    skip_with(&fan_in, "the temporary table `x`");
    // Other sessions, and this one behind its DROP, mean the permanent one.
    run(&fan_in.sources[0], &["SET SESSION binlog_format = STATEMENT", "INSERT INTO d1.x VALUES (3)"]);
    execute(&mut one, &["DROP TABLE x", "INSERT INTO x VALUES (4)"]);
    fan_in.catch_up();
    let rows = || texts(&fan_in.target, "SELECT id FROM d1.x ORDER BY 1");
    assert_eq!(rows(), [["3"], ["4"], ["100"]]);

    // One whose CREATE is skipped is not there either.
    run(&fan_in.target, &["CREATE TABLE d1.likeness (id INT)", "DROP TABLE d1.likeness"]);
    run(&fan_in.sources[0], &["SET SESSION sql_log_bin = 0", "CREATE TABLE d1.likeness (id INT)"]);
    execute(&mut one, &["CREATE TEMPORARY TABLE x LIKE likeness"]);
    skip_with(&fan_in, "d1.likeness");
    execute(&mut one, &["INSERT INTO x VALUES (5)"]);
    skip_with(&fan_in, "or its CREATE was skipped");
    execute(&mut one, &["DROP TABLE x"]);
    fan_in.catch_up();
    assert_eq!(rows(), [["3"], ["4"], ["100"]]);
}

#[test]
fn temporary_tables_of_a_source_that_restarts() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    run(&fan_in.sources[0], PERMANENT);
    let mut one = session(&fan_in);
    let thread = one.id();
    execute(&mut one, &["USE d1", "CREATE TEMPORARY TABLE x (id INT)", "INSERT INTO x VALUES (1)"]);
    fan_in.catch_up();
    let node = fan_in.sources[0].node(0);
    node.kill().unwrap();
    node.start().unwrap();
    // Numbers of sessions come again.
    let mut again = session(&fan_in);
    execute(&mut again, &[&format!("SET SESSION pseudo_thread_id = {thread}"), "INSERT INTO d1.x VALUES (2)"]);
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d1.x ORDER BY 1"), [["2"], ["100"]]);

    // Whoever reads behind the last transaction begins at the last file.
    execute(&mut again, &["USE d1", "CREATE TEMPORARY TABLE x (id INT)", "INSERT INTO x VALUES (3)"]);
    fan_in.catch_up();
    pause(&fan_in);
    node.kill().unwrap();
    node.start().unwrap();
    let mut again = session(&fan_in);
    let same_session = format!("SET SESSION pseudo_thread_id = {thread}");
    execute(&mut again, &["FLUSH BINARY LOGS", "FLUSH BINARY LOGS", &same_session, "INSERT INTO d1.x VALUES (4)"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d1.x ORDER BY 1"), [["2"], ["4"], ["100"]]);

    // Other files do not end sessions: what they have made is lost by our own pause only.
    execute(&mut again, &["USE d1", "CREATE TEMPORARY TABLE x (id INT)"]);
    fan_in.catch_up();
    pause(&fan_in);
    execute(&mut again, &["FLUSH BINARY LOGS", "INSERT INTO x VALUES (5)"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    skip_with(&fan_in, "the temporary table `x` of the source's connection");
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d1.x ORDER BY 1"), [["2"], ["4"], ["100"]]);
}

#[test]
fn settings_that_definitions_need() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    run(
        &fan_in.sources[0],
        &[
            "CREATE DATABASE d1",
            "USE d1",
            "CREATE TABLE a (ts TIMESTAMP, n INT)",
            "SET SESSION explicit_defaults_for_timestamp = 0",
            "CREATE TABLE b (ts TIMESTAMP, n INT)",
            "SET SESSION explicit_defaults_for_timestamp = 1",
            "CREATE TABLE c (ts TIMESTAMP, n INT)",
            "ALTER DATABASE COLLATE latin1_bin",
            "CREATE TABLE v (id INT) WITH SYSTEM VERSIONING",
            "SET SESSION binlog_format = STATEMENT, system_versioning_insert_history = 1",
            "INSERT INTO v (id, row_start, row_end) VALUES (1, '2001-01-01', '2002-01-01'), (2, '2001-01-01', DEFAULT)",
            "SET SESSION system_versioning_insert_history = 0",
            "INSERT INTO v (id) VALUES (3)",
        ],
    );
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
    let of = "SELECT COLUMN_DEFAULT FROM information_schema.COLUMNS WHERE TABLE_NAME = 'b' AND COLUMN_NAME = 'ts'";
    assert_eq!(texts(&fan_in.target, of), [["current_timestamp()"]]);
    let history = "SELECT id, YEAR(row_start) FROM d1.v FOR SYSTEM_TIME ALL WHERE id < 3 ORDER BY id";
    assert_eq!(texts(&fan_in.target, history), [["1", "2001"], ["2", "2001"]]);
}

/// A source writes some settings only where they are not the default: they do not stay for the next statement.
#[test]
fn settings_that_are_the_default_again() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    let mut one = session(&fan_in);
    execute(
        &mut one,
        &[
            "CREATE DATABASE d1",
            "USE d1",
            "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(50))",
            "SET SESSION auto_increment_increment = 100, auto_increment_offset = 10, lc_time_names = 'de_DE'",
            "INSERT INTO t (v) VALUES (DAYNAME('2024-01-01')), ('y')",
            "SET SESSION auto_increment_increment = 1, auto_increment_offset = 1, lc_time_names = 'en_US'",
            "INSERT INTO t (v) VALUES (DAYNAME('2024-01-01')), ('y')",
            "SET SESSION sql_mode = 'EMPTY_STRING_IS_NULL'",
            "INSERT INTO t (v) VALUES (''), (REPEAT('', 1))",
            "SET NAMES latin1 COLLATE latin1_german2_ci",
            "INSERT INTO t (v) VALUES ('\u{e4}')",
            "SET NAMES utf8mb4",
            "SET @point = PointFromText('POINT(1 2)', 7), @all = GEOMETRYCOLLECTION(POINT(1, 2)), @none = NULL",
            "CREATE TABLE g AS SELECT @point AS p, @none AS n",
            "CREATE TABLE h (g GEOMETRYCOLLECTION)",
            "INSERT INTO h VALUES (@all)",
        ],
    );
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
    let rows = texts(&fan_in.target, "SELECT id, v FROM d1.t ORDER BY id LIMIT 4");
    assert_eq!(rows, [["10", "Montag"], ["110", "y"], ["210", "Monday"], ["211", "y"]]);
    assert_eq!(texts(&fan_in.target, "SELECT ST_SRID(p), ST_AsText(p) FROM d1.g"), [["7", "POINT(1 2)"]]);
    // The type of this column cannot be carried over.
    execute(&mut one, &["CREATE TABLE i AS SELECT @all AS a"]);
    skip_with(&fan_in, "a table with a column of a user variable's geometry type");
    fan_in.catch_up();
}

#[test]
fn columns_of_another_type() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    run(&fan_in.sources[0], &["CREATE DATABASE d1", "CREATE TABLE d1.t (v CHAR(12)) CHARSET latin1"]);
    fan_in.catch_up();
    run(&fan_in.target, &["ALTER TABLE d1.t MODIFY v CHAR(12) CHARSET utf8mb4"]);
    run(&fan_in.sources[0], &["INSERT INTO d1.t VALUES ('x')"]);
    skip_with(&fan_in, "the target's error log has the reason. Mostly a column has another type");
    fan_in.catch_up();
}

/// Row events travel as base64, which is larger.
#[test]
fn a_row_as_large_as_a_packet() {
    let fan_in = FanIn::new(1, &[("max_allowed_packet", "4M")]);
    let _agent = fan_in.start();
    run(
        &fan_in.sources[0],
        &[
            "CREATE DATABASE d1",
            "CREATE TABLE d1.t (id INT PRIMARY KEY, v LONGBLOB) ENGINE=InnoDB",
            "INSERT INTO d1.t VALUES (1, 'small'), (2, REPEAT('x', 4000000)), (3, 'small')",
            "INSERT INTO d1.t VALUES (4, REPEAT('y', 3500000))",
            "INSERT INTO d1.t VALUES (5, 'behind')",
        ],
    );
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
    // Before and after image.
    run(
        &fan_in.sources[0],
        &["SET SESSION binlog_row_image = MINIMAL", "UPDATE d1.t SET v = CONCAT(v, '!') WHERE id = 2"],
    );
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
    run(&fan_in.sources[0], &["INSERT INTO d1.t VALUES (6, REPEAT('z', 9000000))"]);
    skip_with(&fan_in, "Got a packet bigger than 'max_allowed_packet'");
    fan_in.catch_up();
}

#[test]
fn definitions_in_two_parts() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    let source = &fan_in.sources[0];
    run(source, &["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT PRIMARY KEY, v INT) ENGINE=InnoDB"]);
    run(source, &["SET SESSION binlog_alter_two_phase = 1", "ALTER TABLE d1.t ADD COLUMN n INT DEFAULT 7"]);
    run(source, &["INSERT INTO d1.t (id, v) VALUES (1, 5), (2, 5)"]);
    let mut connection = source.node(0).connect().unwrap();
    execute(&mut connection, &["SET SESSION binlog_alter_two_phase = 1"]);
    connection.execute(b"ALTER TABLE d1.t ADD UNIQUE KEY (v)").unwrap_err();
    run(source, &["INSERT INTO d1.t (id, v) VALUES (3, 5)"]);
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
    let log = texts(source, "SHOW BINLOG EVENTS");
    assert!(log.iter().any(|row| row[5].contains("START ALTER")), "{log:?}");
    assert!(log.iter().any(|row| row[5].contains("ROLLBACK ALTER")), "{log:?}");
}

/// Of several tables one is not there: the source drops the others, and does not write that down.
#[test]
fn tables_that_are_not_there_are_dropped() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    let source = &fan_in.sources[0];
    run(
        source,
        &[
            "CREATE DATABASE d1",
            "CREATE TABLE d1.a (id INT)",
            "CREATE SEQUENCE d1.s",
            "CREATE VIEW d1.v AS SELECT 1",
            "CREATE VIEW d1.w AS SELECT 1",
            "CREATE VIEW d1.x AS SELECT 1",
        ],
    );
    fan_in.catch_up();
    let mut connection = source.node(0).connect().unwrap();
    for statement in ["DROP TABLE d1.none, d1.a", "DROP SEQUENCE d1.none, d1.s", "DROP VIEW d1.none, d1.v"] {
        connection.execute(statement.as_bytes()).unwrap_err();
    }
    // And where only the target lacks them, as before a statement that comes once more.
    run(&fan_in.target, &["DROP VIEW d1.w, d1.x"]);
    run(source, &["/* c */ DROP VIEW d1.w", "/*!50100 DROP VIEW */ d1.x"]);
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
    assert!(texts(&fan_in.target, "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd1'").is_empty());
}

#[test]
fn accounts_that_statements_do_not_name() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    let source = &fan_in.sources[0];
    run(source, &["CREATE DATABASE d1", "CREATE USER app@localhost IDENTIFIED BY 'secret'"]);
    run(source, &["GRANT CREATE USER, SELECT ON *.* TO app@localhost WITH GRANT OPTION"]);
    let mut options = source.node(0).connect_options();
    (options.user, options.password) = ("app".to_owned(), Some("secret".into()));
    let mut app = Connection::open(&ConnectOptions { ..options }).unwrap();
    execute(
        &mut app,
        &["CREATE ROLE r # comment", "CREATE ROLE s WITH ADMIN CURRENT_USER", "GRANT SELECT ON d1.* TO CURRENT_USER()"],
    );
    fan_in.catch_up();
    for query in [
        "SELECT Host, User, Role, Admin_option FROM mysql.roles_mapping ORDER BY 1, 2, 3",
        "SELECT Host, User, Db, Select_priv FROM mysql.db ORDER BY 1, 2, 3",
    ] {
        let rows = texts(&fan_in.target, query);
        assert_eq!(rows, texts(source, query), "{query}");
        assert!(rows.iter().any(|row| row[1] == "app"), "{query}: {rows:?}");
    }
}

/// InnoDB inserts in bulk into a table that is empty, if a session checks neither unique nor foreign keys. A server crashes (seen
/// with 10.11.19) where such rows come in several BINLOG statements.
#[test]
fn many_rows_of_a_session_that_checks_nothing() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    run(
        &fan_in.sources[0],
        &[
            "CREATE DATABASE d1",
            "CREATE TABLE d1.t (a VARCHAR(255), b VARCHAR(255), c INT, PRIMARY KEY (a, c), KEY (b)) ENGINE=InnoDB",
            "SET SESSION unique_checks = 0, foreign_key_checks = 0",
            "BEGIN",
            "INSERT INTO d1.t SELECT REPEAT(UUID(), 7), REPEAT(UUID(), 7), seq FROM d1.seq_1_to_16384",
            "COMMIT",
            "SET SESSION unique_checks = 1, foreign_key_checks = 1",
            "INSERT INTO d1.t VALUES ('x', 'y', 0)",
        ],
    );
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}

/// Most of these cannot change within a transaction, and on the source these statements are none.
#[test]
fn variables_of_the_log_for_one_statement() {
    let fan_in = FanIn::new(1, &[("log_bin", "bin"), ("gtid_strict_mode", "ON")]);
    let _agent = fan_in.start();
    let source = &fan_in.sources[0];
    run(source, &["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT AUTO_INCREMENT PRIMARY KEY, v TEXT) ENGINE=InnoDB"]);
    let mut one = session(&fan_in);
    execute(
        &mut one,
        &[
            "USE d1",
            "SET STATEMENT gtid_domain_id = 7 FOR INSERT INTO t (v) VALUES ('domain')",
            "SET STATEMENT gtid_seq_no = 1000 FOR INSERT INTO t (v) VALUES ('number')",
            "SET STATEMENT gtid_domain_id = 8, gtid_seq_no = 5 FOR CREATE TABLE u (id INT) ENGINE=InnoDB",
            "SET STATEMENT server_id = 77 FOR INSERT INTO t (v) VALUES ('server')",
            "SET STATEMENT sql_log_bin = 1, wsrep_on = OFF FOR INSERT INTO t (v) VALUES ('logged')",
            "SET STATEMENT `Binlog_Format` = 'STATEMENT' FOR INSERT INTO t (v) VALUES ('format')",
            "SET /* a */ STATEMENT binlog_direct_non_transactional_updates = 1, time_zone = '-03:00' FOR INSERT INTO t (v) \
             VALUES (CONCAT(FROM_UNIXTIME(0), ', FOR gtid_seq_no = 1'))",
            "INSERT INTO t (v) VALUES ('behind'), ('SET STATEMENT gtid_seq_no = 1 FOR')",
        ],
    );
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
    assert_eq!(
        texts(&fan_in.target, "SELECT v FROM d1.t WHERE id = 6"),
        [["1969-12-31 21:00:00, FOR gtid_seq_no = 1"]]
    );
    // Its own log has its own numbers.
    let domains = texts(&fan_in.target, "SELECT @@gtid_binlog_pos NOT LIKE '%,%'");
    assert_eq!(domains, [["1"]]);
}
