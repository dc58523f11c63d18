//! Logs that a reader with fresh eyes found to go wrong.

use super::fan_in::{FanIn, run, texts};
use super::line_of;
use super::monitoring::json;

/// Runs statements in one session of the only source.
fn write(fan_in: &FanIn, statements: &[&str]) {
    run(&fan_in.sources[0], statements);
}

fn stops_with(fan_in: &FanIn, said: &str) {
    fan_in.wait_until("it to stop", |shown| line_of(shown, "s1").contains("stopped"));
    let (shown, _) = fan_in.says("status");
    assert!(shown.contains(said), "{said}: {shown}");
}

#[test]
fn statements_of_other_character_sets() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    write(
        &fan_in,
        &[
            "CREATE DATABASE dé",
            "CREATE TABLE dé.t (id INT PRIMARY KEY, v VARCHAR(20), b VARBINARY(20)) ENGINE=InnoDB",
            "SET SESSION binlog_format = STATEMENT",
            "USE dé",
            "SET @é = 'ü', @bytes = X'00FF'",
            "SET NAMES latin1",
            "INSERT INTO t (id, b) VALUES (1, @bytes)",
            "SET NAMES utf8mb4",
            "INSERT INTO t VALUES (2, @é, NULL)",
            "SET NAMES latin1",
            "INSERT INTO t (id) VALUES (3)",
            "SET NAMES utf8mb4",
            "INSERT INTO t VALUES (4, @é, @bytes)",
        ],
    );
    fan_in.catch_up();
    fan_in.assert_equal(&["dé"]);
    assert_eq!(texts(&fan_in.target, "SELECT v FROM dé.t WHERE id = 4"), [["ü"]]);
}

#[test]
fn statements_that_would_do_something_else() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    write(&fan_in, &["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT PRIMARY KEY) ENGINE=InnoDB"]);
    for (statements, said) in [
        (
            &["CREATE ROLE r", "SET ROLE r", "CREATE ROLE s WITH ADMIN CURRENT_ROLE"][..],
            "is about the account that runs it",
        ),
        (
            &["SET SESSION binlog_format = STATEMENT", "CREATE TABLE d1.u AS SELECT DATABASE() AS name"],
            "asks for DATABASE()",
        ),
    ] {
        write(&fan_in, statements);
        stops_with(&fan_in, said);
        assert_eq!(fan_in.says("skip s1"), (String::new(), Some(0)));
        // What has stopped it is over at once.
        fan_in.catch_up();
    }
}

#[test]
fn events_do_not_run_on_the_target() {
    let fan_in = FanIn::new(1, &[("event_scheduler", "ON")]);
    let _agent = fan_in.start();
    write(
        &fan_in,
        &[
            "CREATE DATABASE d1",
            "USE d1",
            "CREATE EVENT a ON SCHEDULE EVERY 1 HOUR DO SELECT 1",
            "CREATE EVENT b ON SCHEDULE EVERY 1 HOUR DISABLE DO SELECT 1",
            "/* c */ ALTER EVENT b ENABLE",
            "SET SESSION sql_mode = 'ANSI_QUOTES'",
            "CREATE EVENT \"c\" ON SCHEDULE EVERY 1 HOUR DO SELECT 1",
            "CREATE EVENT early ON SCHEDULE EVERY 1 HOUR DO SELECT 1",
            "ALTER EVENT early RENAME TO \"d1\".\"d\" ENABLE",
        ],
    );
    // There, one would run between its creation and our statement that disables it.
    stops_with(&fan_in, "the target runs events");
    run(&fan_in.target, &["SET GLOBAL event_scheduler = OFF"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.catch_up();
    let states = texts(&fan_in.target, "SELECT EVENT_NAME, STATUS FROM information_schema.EVENTS ORDER BY 1");
    let disabled = |name: &str| [name.to_owned(), "SLAVESIDE_DISABLED".to_owned()];
    assert_eq!(states, ["a", "b", "c", "d"].map(disabled));
}

#[test]
fn only_transactions_are_skipped() {
    let mut fan_in = FanIn::new(1, &[]);
    write(&fan_in, &["CREATE USER repl@localhost IDENTIFIED BY 'secret'", "GRANT ALL ON *.* TO repl@localhost"]);
    fan_in.write(&format!(
        "{}[[source]]\nname = \"s1\"\nsocket = \"{}\"\nuser = \"repl\"\npassword = \"secret\"\nstart = \"now\"\n",
        fan_in.target_table(),
        fan_in.socket(0),
    ));
    let _agent = fan_in.start();
    write(&fan_in, &["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT PRIMARY KEY) ENGINE=InnoDB"]);
    fan_in.catch_up();
    assert_eq!(fan_in.says("pause s1").1, Some(0));
    fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
    let lock = ["SET SESSION sql_log_bin = 0", "ALTER USER repl@localhost ACCOUNT LOCK"];
    write(&fan_in, &[lock[0], lock[1], "SET SESSION sql_log_bin = 1", "INSERT INTO d1.t VALUES (1)"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    stops_with(&fan_in, "connecting to the source");
    let (shown, code) = fan_in.says("skip s1");
    assert_eq!((&*shown, code), ("hortator: the source s1 is not stopped by a transaction", Some(1)));
    write(&fan_in, &[lock[0], "ALTER USER repl@localhost ACCOUNT UNLOCK"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}

/// Several signs of life, of which the source sends two a second while it has nothing else to send.
const SIGNS_OF_LIFE_BYTES: u64 = 300;

/// Bytes of the source's log that the agent has.
fn read_bytes(fan_in: &FanIn) -> u64 {
    json(fan_in)["read_bytes"].as_u64().unwrap()
}

/// Where the source's log ends.
fn log_end(fan_in: &FanIn) -> u64 {
    texts(&fan_in.sources[0], "SHOW MASTER STATUS")[0][1].parse().unwrap()
}

#[test]
fn a_table_that_can_roll_back_on_the_source_only() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    write(
        &fan_in,
        &[
            "CREATE DATABASE d1",
            "CREATE TABLE d1.t (id INT) ENGINE=InnoDB",
            "CREATE TABLE d1.u (id INT PRIMARY KEY) ENGINE=InnoDB",
        ],
    );
    fan_in.catch_up();
    run(&fan_in.target, &["ALTER TABLE d1.t ENGINE=MyISAM", "INSERT INTO d1.u VALUES (1)"]);
    assert_eq!(fan_in.says("pause s1").1, Some(0));
    fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
    write(&fan_in, &["INSERT INTO d1.t VALUES (1)", "INSERT INTO d1.t VALUES (2)", "INSERT INTO d1.u VALUES (1)"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    stops_with(&fan_in, "Duplicate entry '1'");
    run(&fan_in.target, &["DELETE FROM d1.u"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d1.t ORDER BY id"), [["1"], ["2"]]);

    // The agent knows the table as it was; what the target has of a group is not applied a second time unasked.
    run(&fan_in.target, &["ALTER TABLE d1.t ENGINE=InnoDB"]);
    write(&fan_in, &["ALTER TABLE d1.t COMMENT = 'known anew'", "INSERT INTO d1.t VALUES (3)"]);
    fan_in.catch_up();
    run(&fan_in.target, &["ALTER TABLE d1.t ENGINE=MyISAM"]);
    run(&fan_in.target, &["INSERT INTO d1.u VALUES (2)"]);
    let mut locks = fan_in.target.node(0).connect().unwrap();
    locks.execute(b"FLUSH TABLES WITH READ LOCK").unwrap();
    write(&fan_in, &["INSERT INTO d1.t VALUES (4)"]);
    fan_in.wait_until("the target to wait", |_| {
        texts(&fan_in.target, "SELECT 1 FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for %lock%'")
            .len()
            == 1
    });
    // These two become a group if both have arrived when it goes on. Signs of life of the source are read, too: so many come
    // only behind both.
    let (read, logged) = (read_bytes(&fan_in), log_end(&fan_in));
    write(&fan_in, &["INSERT INTO d1.t VALUES (5)", "INSERT INTO d1.u VALUES (2)"]);
    let wanted = read + log_end(&fan_in) - logged + SIGNS_OF_LIFE_BYTES;
    fan_in.wait_until("both to arrive", |_| read_bytes(&fan_in) >= wanted);
    locks.execute(b"UNLOCK TABLES").unwrap();
    stops_with(&fan_in, "Duplicate entry '2'");
    run(&fan_in.target, &["DELETE FROM d1.u"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.wait_until("it to ask", |shown| shown.contains("some of which the target cannot roll back"));
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d1.t ORDER BY id"), [["1"], ["2"], ["3"], ["4"], ["5"]]);
}

/// The new log has as many transactions as the target has had: by GTID, the source would go on behind them.
#[test]
fn a_source_that_was_reset() {
    let fan_in = FanIn::new(1, &[]);
    let agent = fan_in.start();
    let create = "CREATE TABLE d1.t (id INT PRIMARY KEY) ENGINE=InnoDB";
    write(&fan_in, &["CREATE DATABASE d1", create, "INSERT INTO d1.t VALUES (1)"]);
    fan_in.catch_up();
    drop(agent);
    write(&fan_in, &["RESET MASTER", "INSERT INTO d1.t VALUES (2)", "INSERT INTO d1.t VALUES (3)", "DELETE FROM d1.t"]);
    write(&fan_in, &["INSERT INTO d1.t VALUES (4)"]);
    let _agent = fan_in.start();
    stops_with(&fan_in, "RESET MASTER, a crash that lost the end of the log, or another server");
    let (shown, code) = fan_in.says("wait --caught-up");
    assert!(shown.contains("s1 is stopped") && code == Some(1), "{shown}");
    assert_eq!(fan_in.says("skip s1").1, Some(1));
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d1.t"), [["1"]]);
}

/// By GTID, the source would go on behind the first transaction that has it.
#[test]
fn a_gtid_that_is_used_again() {
    let fan_in = FanIn::new(1, &[]);
    let agent = fan_in.start();
    write(&fan_in, &["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT) ENGINE=InnoDB", "INSERT INTO d1.t VALUES (1)"]);
    write(&fan_in, &["INSERT INTO d1.t VALUES (2)", "SET SESSION gtid_seq_no = 3", "INSERT INTO d1.t VALUES (3)"]);
    fan_in.catch_up();
    drop(agent);
    let agent = fan_in.start_only();
    stops_with(&fan_in, "a transaction before has the same GTID");
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d1.t ORDER BY id"), [["1"], ["2"], ["3"]]);
    run(&fan_in.target, &["UPDATE hortator.replicate_positions SET gtid = '' WHERE source = 's1'"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    write(&fan_in, &["INSERT INTO d1.t VALUES (4)"]);
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
    drop(agent);
    let _agent = fan_in.start_only();
    write(&fan_in, &["INSERT INTO d1.t VALUES (5)"]);
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}

#[test]
fn a_pause_in_the_middle_of_rows_that_cannot_roll_back() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    write(&fan_in, &["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT, v TEXT) ENGINE=MyISAM"]);
    fan_in.catch_up();
    write(&fan_in, &["INSERT INTO d1.t SELECT seq, REPEAT('x', 200) FROM d1.seq_1_to_200000"]);
    fan_in.wait_until("the first rows", |_| texts(&fan_in.target, "SELECT id FROM d1.t LIMIT 1").len() == 1);
    assert_eq!(fan_in.says("pause s1").1, Some(0));
    fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}

#[test]
fn positions_of_a_source_that_is_a_target() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    write(&fan_in, &["CREATE DATABASE hortator", "CREATE TABLE hortator.other (id INT PRIMARY KEY)"]);
    fan_in.wait_until("it to stop or go on", |shown| !line_of(shown, "s1").contains("connecting"));
    // The schema is there already, as a target's.
    fan_in.wait_until("it to stop", |shown| line_of(shown, "s1").contains("stopped"));
    assert_eq!(fan_in.says("skip s1").1, Some(0));
    write(
        &fan_in,
        &["CREATE TABLE hortator.replicate_positions (source VARBINARY(255) PRIMARY KEY, gtid BLOB) ENGINE=InnoDB"],
    );
    fan_in.wait_until("it to stop", |shown| shown.contains("already exists"));
    assert_eq!(fan_in.says("skip s1").1, Some(0));
    write(
        &fan_in,
        &[
            "SET SESSION binlog_format = STATEMENT",
            "REPLACE INTO `hortator`.`replicate_positions` (source, gtid) VALUES (0x7331, 0x302d392d39)",
            "SET SESSION binlog_format = ROW",
            "REPLACE INTO `hortator`.`replicate_positions` (source, gtid) VALUES (0x7332, 0x302d392d39)",
            "SET SESSION binlog_format = STATEMENT",
            "SET @number = 1",
            "BEGIN",
            "REPLACE INTO `hortator`.`replicate_positions` (source, gtid) VALUES (0x7333, @number)",
            "INSERT INTO hortator.other VALUES (@number)",
            "COMMIT",
        ],
    );
    fan_in.catch_up();
    let rows = texts(&fan_in.target, "SELECT source, gtid LIKE '0-1-%' FROM hortator.replicate_positions");
    assert_eq!(rows, [["s1", "1"]]);
    assert_eq!(texts(&fan_in.target, "SELECT id FROM hortator.other"), [["1"]]);
}

/// What the binary log of a cluster's node has after a kill at its start.
#[test]
fn a_definition_of_what_only_nodes_have() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    write(
        &fan_in,
        &[
            "SET SESSION sql_log_bin = 0",
            "CREATE TABLE mysql.wsrep_streaming_log (id INT PRIMARY KEY) ENGINE=InnoDB",
            "SET SESSION sql_log_bin = 1",
            "ALTER TABLE mysql.wsrep_streaming_log STATS_PERSISTENT=0 CHARSET=latin1",
            "CREATE DATABASE d1",
        ],
    );
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, "SHOW DATABASES LIKE 'd1'"), [["d1"]]);
    // A table of the user's with such a name is one like any other.
    write(&fan_in, &["CREATE TABLE d1.wsrep_t (id INT) ENGINE=InnoDB", "ALTER TABLE d1.wsrep_t COMMENT='changed'"]);
    fan_in.catch_up();
    assert_eq!(
        texts(&fan_in.target, "SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_NAME = 'wsrep_t'"),
        [["changed"]]
    );
}

/// MariaDB loses these values on the source as well: there is nothing to stop for.
#[test]
fn values_that_a_source_loses_in_a_conversion() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    write(
        &fan_in,
        &[
            "CREATE DATABASE d1 CHARACTER SET latin1",
            "CREATE TABLE d1.t (id INT PRIMARY KEY, e ENUM('a', 'ö'), s SET('x', 'ä')) ENGINE=InnoDB",
            "INSERT INTO d1.t VALUES (1, 'ö', 'x,ä'), (2, 'a', 'x')",
            "SET sql_mode = ''",
            "ALTER TABLE d1.t CONVERT TO CHARACTER SET utf8mb4",
        ],
    );
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
    assert_eq!(texts(&fan_in.target, "SELECT e, s FROM d1.t ORDER BY id"), [["", "x"], ["a", "x"]]);
}

/// The sessions that apply rows read statements as bytes.
#[test]
fn names_beyond_ascii() {
    let mut fan_in = FanIn::new(1, &[]);
    let text = std::fs::read_to_string(fan_in.file()).unwrap();
    let text = text.replace("[target]\n", "[target]\nschema = \"hörtätör\"\n").replace("\"s1\"", "\"köln\"");
    fan_in.write(&text);
    let agent = fan_in.start();
    write(
        &fan_in,
        &[
            "CREATE DATABASE dé",
            "CREATE TABLE dé.tü (ö INT PRIMARY KEY, v VARCHAR(200) CHARACTER SET latin1) ENGINE=InnoDB",
            "INSERT INTO dé.tü VALUES (1, 'ß')",
            // The position is recorded in the session of these statements.
            "SET NAMES latin1",
            "CREATE DATABASE plain",
            "CREATE TABLE plain.of_latin1 (id INT PRIMARY KEY) ENGINE=InnoDB",
            "SET SESSION binlog_format = STATEMENT",
            "INSERT INTO plain.of_latin1 VALUES (1)",
            "BEGIN",
            "INSERT INTO plain.of_latin1 VALUES (2)",
            "INSERT INTO plain.of_latin1 VALUES (3)",
            "ROLLBACK",
        ],
    );
    fan_in.catch_up();
    agent.terminate();
    assert_eq!(agent.end().1, Some(0));
    // A large transaction, after a start from the positions.
    write(&fan_in, &["INSERT INTO dé.tü SELECT seq, REPEAT('é', 200) FROM dé.seq_2_to_60000"]);
    let _agent = fan_in.start();
    write(&fan_in, &["UPDATE dé.tü SET v = 'ÿ' WHERE ö = 1"]);
    fan_in.catch_up();
    fan_in.assert_equal(&["dé", "plain"]);
    assert_eq!(texts(&fan_in.target, "SHOW DATABASES LIKE 'h%r'"), [["hörtätör"]]);
}

/// The target still has the older table when the transaction that replaces it arrives.
#[test]
fn a_table_that_its_transaction_replaces() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    write(
        &fan_in,
        &[
            "CREATE DATABASE d1",
            "USE d1",
            "CREATE TABLE t (x INT) ENGINE=InnoDB",
            "INSERT INTO t VALUES (1)",
            "CREATE OR REPLACE TABLE t ENGINE=InnoDB SELECT 1 AS a, 2 AS b",
            "INSERT INTO t VALUES (3, 4)",
            // Large: in several parts.
            "CREATE OR REPLACE TABLE t ENGINE=InnoDB SELECT seq AS a, REPEAT('x', 200) AS b, seq AS c FROM seq_1_to_60000",
            "TRUNCATE t",
            "CREATE OR REPLACE TABLE t ENGINE=MyISAM SELECT 1 AS a, 2 AS b, 3 AS c, 4 AS d",
            "INSERT INTO t VALUES (5, 6, 7, 8)",
            "CREATE OR REPLACE TABLE t ENGINE=InnoDB SELECT 1 AS a, 2 AS b, 3 AS c, 4 AS d, 5 AS e",
            "INSERT INTO t VALUES (6, 7, 8, 9, 10)",
            "CREATE TABLE wide (a INT, b INT, c INT, d INT, e INT, f INT) ENGINE=InnoDB",
            "CREATE OR REPLACE TABLE t LIKE wide",
            "INSERT INTO t VALUES (1, 2, 3, 4, 5, 6)",
            "CREATE TABLE log (a INT) ENGINE=InnoDB",
            "CREATE FUNCTION logged() RETURNS INT DETERMINISTIC BEGIN INSERT INTO log VALUES (7); RETURN 7; END",
            "CREATE OR REPLACE TABLE t ENGINE=InnoDB SELECT logged() AS a, 1 AS b, 2 AS c, 3 AS d, 4 AS e, 5 AS f, 6 AS g",
            "SET GLOBAL log_bin_compress = ON, log_bin_compress_min_len = 10",
            "CREATE OR REPLACE TABLE t ENGINE=InnoDB SELECT REPEAT('a', 99) AS a, 1 AS b, 2 AS c, 3 AS d, 4 AS e, 5 AS f, 6 AS g, 7 AS h",
        ],
    );
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
    // With names, whatever the number of columns.
    write(
        &fan_in,
        &[
            "SET GLOBAL binlog_row_metadata = FULL",
            "USE d1",
            "CREATE OR REPLACE TABLE t (x INT, y INT) ENGINE=InnoDB",
            "INSERT INTO t VALUES (1, 2)",
            "CREATE OR REPLACE TABLE t ENGINE=InnoDB SELECT 5 AS y, 6 AS x",
            "INSERT INTO t VALUES (1, 2)",
            "CREATE OR REPLACE TABLE t ENGINE=InnoDB SELECT 7 AS z",
            "INSERT INTO t VALUES (8)",
        ],
    );
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
    // Another table of the transaction is compared as ever.
    run(&fan_in.target, &["ALTER TABLE d1.log RENAME COLUMN a TO moved"]);
    write(&fan_in, &["USE d1", "CREATE OR REPLACE TABLE t ENGINE=InnoDB SELECT logged() AS a, 2 AS b"]);
    stops_with(&fan_in, "that of d1.log on the target is `moved`");
    run(&fan_in.target, &["ALTER TABLE d1.log RENAME COLUMN moved TO a"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}
