//! Tables that cannot roll back beside those that can, and a source that crashes within a transaction: nothing is applied twice,
//! or in part.

use std::fs::OpenOptions;

use hortator_mysql::Connection;

use super::fan_in::{Agent, FanIn, run, texts};
use super::line_of;

/// Of more than a part, which has 4 MiB.
const LARGE_ROW: &str = "INSERT INTO d1.t VALUES (1, REPEAT('x', 5000000))";
const MANY_ROWS: &str = "INSERT INTO d1.u SELECT seq, REPEAT('x', 200), seq FROM d1.seq_1_to_60000";

fn started() -> (FanIn, Agent) {
    started_with(&[])
}

fn started_with(of_target: &[(&str, &str)]) -> (FanIn, Agent) {
    let fan_in = FanIn::new(1, &[&[("max_allowed_packet", "64M")], of_target].concat());
    let agent = fan_in.start();
    run(
        &fan_in.sources[0],
        &[
            "SET GLOBAL max_allowed_packet = 67108864",
            "CREATE DATABASE d1",
            "CREATE TABLE d1.t (id INT PRIMARY KEY, v LONGTEXT) ENGINE=InnoDB",
            "CREATE TABLE d1.u (id INT PRIMARY KEY, a VARCHAR(200), b INT) ENGINE=InnoDB",
            "CREATE TABLE d1.m (id INT) ENGINE=MyISAM",
        ],
    );
    fan_in.catch_up();
    (fan_in, agent)
}

/// Writes a transaction of statements into the source's log.
fn write_statements(fan_in: &FanIn, statements: &[&str]) {
    run(&fan_in.sources[0], &[&["SET SESSION binlog_format = STATEMENT", "BEGIN"], statements, &["COMMIT"]].concat());
}

/// Somebody on the target has rows locked, until ROLLBACK.
fn holder(fan_in: &FanIn, statement: &str) -> Connection {
    let mut holder = fan_in.target.node(0).connect().unwrap();
    holder.execute(b"BEGIN").unwrap();
    holder.execute(statement.as_bytes()).unwrap();
    holder
}

fn stops_with(fan_in: &FanIn, text: &str) {
    // Right behind `resume`, the status may be that of before.
    fan_in.wait_until(text, |shown| line_of(shown, "s1").contains("stopped") && shown.contains(text));
}

fn count(fan_in: &FanIn, table: &str) -> String {
    texts(&fan_in.target, &format!("SELECT COUNT(*) FROM d1.{table}"))[0][0].clone()
}

#[test]
fn a_column_that_the_target_lacks_in_a_later_part() {
    let (fan_in, _agent) = started();
    run(&fan_in.target, &["ALTER TABLE d1.u DROP COLUMN b"]);
    run(&fan_in.sources[0], &["BEGIN", LARGE_ROW, MANY_ROWS, "COMMIT"]);
    stops_with(&fan_in, "the source's table has 3 columns, and d1.u on the target has 2");
    assert_eq!((count(&fan_in, "t"), count(&fan_in, "u")), ("0".to_owned(), "0".to_owned()));
    run(&fan_in.target, &["ALTER TABLE d1.u ADD COLUMN b INT"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}

/// It has begun as a transaction that can be rolled back.
#[test]
fn an_engine_that_cannot_roll_back_in_a_later_part() {
    let (fan_in, agent) = started();
    run(&fan_in.target, &["ALTER TABLE d1.u ENGINE=MyISAM"]);
    run(&fan_in.sources[0], &["BEGIN", LARGE_ROW, MANY_ROWS, "COMMIT", "INSERT INTO d1.t VALUES (2, 'behind')"]);
    fan_in.catch_up();
    run(&fan_in.target, &["ALTER TABLE d1.u ENGINE=InnoDB"]);
    fan_in.assert_equal(&["d1"]);
    assert_eq!(fan_in.says("stop").1, Some(0));
    let (log, _) = agent.end();
    assert!(log.contains("writes a table that cannot roll back, behind rows that can"), "{log}");
}

/// The source logs it because of the MyISAM table's row.
#[test]
fn a_large_transaction_that_is_rolled_back() {
    let (fan_in, agent) = started();
    run(
        &fan_in.sources[0],
        &[
            "SET SESSION binlog_format = STATEMENT",
            "BEGIN",
            &LARGE_ROW.replace("REPEAT('x', 5000000)", &format!("'{}'", "x".repeat(5_000_000))),
            "INSERT INTO d1.m VALUES (1)",
            "ROLLBACK",
            "INSERT INTO d1.u VALUES (2, 'behind', 0)",
        ],
    );
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d1.m"), [["1"]]);
    assert_eq!(fan_in.says("stop").1, Some(0));
    let (log, _) = agent.end();
    assert!(!log.contains("another process"), "{log}");
}

/// The agent is killed while it waits for a row lock behind a statement whose row stays.
#[test]
fn killed_behind_a_statement_that_cannot_be_rolled_back() {
    for behind in ["INSERT INTO d1.n VALUES (7)", "INSERT INTO d1.looks_like_others VALUES (7)"] {
        let (fan_in, agent) = started();
        // The source says that its own engine can.
        let definitions = [
            "CREATE TABLE d1.n (id INT) ENGINE=InnoDB",
            "CREATE VIEW d1.looks_like_others AS SELECT id FROM d1.n",
            "INSERT INTO d1.u VALUES (1, '', 0)",
        ];
        run(&fan_in.sources[0], &definitions);
        fan_in.catch_up();
        run(&fan_in.target, &["ALTER TABLE d1.n ENGINE=MyISAM"]);
        let mut holder = holder(&fan_in, "UPDATE d1.u SET b = 9");
        let statements = ["INSERT INTO d1.t VALUES (1, '')", behind, "UPDATE d1.u SET b = 1 WHERE id = 1"];
        write_statements(&fan_in, &statements);
        fan_in.wait_until("the row that stays", |_| count(&fan_in, "n") == "1");
        drop(agent);
        holder.execute(b"ROLLBACK").unwrap();
        let _agent = fan_in.start_only();
        stops_with(&fan_in, "had begun when an earlier run ended, and may be applied");
        assert_eq!(count(&fan_in, "n"), "1", "{behind}: nothing runs a second time by itself");
        // A person has looked: that row is there, and the others are not.
        let rest = ["INSERT INTO d1.t VALUES (1, '')", "UPDATE d1.u SET b = 1", "ALTER TABLE d1.n ENGINE=InnoDB"];
        run(&fan_in.target, &rest);
        assert_eq!(fan_in.says("skip s1").1, Some(0));
        fan_in.catch_up();
        fan_in.assert_equal(&["d1"]);
    }
}

/// What stands behind a view is not looked at, so its row is on record. The rollback leaves nothing, and nobody needs to look.
#[test]
fn a_lock_that_is_waited_for_behind_a_view() {
    let (fan_in, _agent) = started_with(&[("innodb_lock_wait_timeout", "1")]);
    run(
        &fan_in.sources[0],
        &[
            "CREATE VIEW d1.seen AS SELECT id, v FROM d1.t",
            "INSERT INTO d1.u VALUES (1, '', 0)",
            "INSERT INTO d1.m VALUES (1)",
        ],
    );
    fan_in.catch_up();
    let mut holder = holder(&fan_in, "UPDATE d1.u SET b = 9");
    let statements = ["INSERT INTO d1.seen VALUES (1, 'by the view')", "UPDATE d1.u SET b = 1 WHERE id = 1"];
    write_statements(&fan_in, &statements);
    fan_in.wait_until("it to try again", |_| fan_in.says("status --json").0.contains("Lock wait timeout"));
    holder.execute(b"ROLLBACK").unwrap();
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}

/// The process is killed in the second try of a large transaction, which is on record; a person says that it is to run again.
#[test]
fn a_large_transaction_in_doubt_runs_again() {
    let (fan_in, agent) = started();
    run(&fan_in.target, &["ALTER TABLE d1.u ENGINE=MyISAM"]);
    let mut holder = fan_in.target.node(0).connect().unwrap();
    holder.execute(b"LOCK TABLES d1.u READ").unwrap();
    run(&fan_in.sources[0], &["BEGIN", LARGE_ROW, MANY_ROWS, "COMMIT"]);
    fan_in.wait_until("it to wait for the table", |_| {
        let waits = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for table%'";
        texts(&fan_in.target, waits) == [["1"]]
    });
    drop(agent);
    // Its session runs the statement that waits, and sees then that nobody is there.
    holder.execute(b"UNLOCK TABLES").unwrap();
    let _agent = fan_in.start_only();
    stops_with(&fan_in, "had begun when an earlier run ended, and may be applied");
    run(&fan_in.target, &["TRUNCATE d1.u"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.catch_up();
    run(&fan_in.target, &["ALTER TABLE d1.u ENGINE=InnoDB"]);
    fan_in.assert_equal(&["d1"]);
}

/// Its statements write tables of which all can roll back: nobody needs to look.
#[test]
fn killed_behind_statements_that_can_be_rolled_back() {
    let (fan_in, agent) = started();
    run(
        &fan_in.sources[0],
        &[
            "DROP TABLE d1.m",
            "INSERT INTO d1.u VALUES (1, '', 0)",
            "INSERT INTO d1.t VALUES (1, '')",
            "CREATE TABLE d1.log (id INT AUTO_INCREMENT PRIMARY KEY, v INT) ENGINE=InnoDB",
            "CREATE TRIGGER d1.notes AFTER UPDATE ON d1.u FOR EACH ROW INSERT INTO d1.log (v) VALUES (NEW.b)",
        ],
    );
    fan_in.catch_up();
    let mut holder = holder(&fan_in, "INSERT INTO d1.t VALUES (5, 'held')");
    let statements = [
        "UPDATE d1.u SET b = GREATEST(1, 0) WHERE id = 1",
        "UPDATE d1.t JOIN d1.u USING (id) SET v = 'joined'",
        "INSERT INTO d1.t VALUES (5, 'the source')",
    ];
    write_statements(&fan_in, &statements);
    fan_in.wait_until("the lock", |_| {
        let waits = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'INSERT INTO d1.t%'";
        texts(&fan_in.target, waits) == [["1"]]
    });
    drop(agent);
    holder.execute(b"ROLLBACK").unwrap();
    let _agent = fan_in.start_only();
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}

/// Its source crashes while it writes this transaction into its log, starts again and writes another one; the agent reads on.
fn crash_within(fan_in: &FanIn, last: &str) {
    assert_eq!(fan_in.says("pause s1").1, Some(0));
    fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
    run(&fan_in.sources[0], &["INSERT INTO d1.t VALUES (1, 'before')", last]);
    let node = fan_in.sources[0].node(0);
    node.kill().unwrap();
    let log = node.data_dir().join("bin.000001");
    // Without the XID event, which has 31 bytes.
    let length = log.metadata().unwrap().len() - 31;
    OpenOptions::new().write(true).open(&log).unwrap().set_len(length).unwrap();
    node.start().unwrap();
    // InnoDB may have it.
    run(&fan_in.sources[0], &["SET sql_log_bin = 0", "DELETE FROM d1.u", "SET sql_log_bin = 1"]);
    run(&fan_in.sources[0], &["INSERT INTO d1.t VALUES (2, 'behind')"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
}

/// Rows of an engine that cannot roll back stay. The source does not send them again, so that there is nothing to skip.
#[test]
fn a_source_that_crashes_within_rows_that_stay() {
    let (fan_in, _agent) = started();
    run(&fan_in.target, &["ALTER TABLE d1.u ENGINE=MyISAM"]);
    crash_within(&fan_in, MANY_ROWS);
    stops_with(&fan_in, "the source has crashed within the transaction behind bin.000001");
    let (shown, _) = fan_in.says("status");
    assert!(shown.contains("compare the two (`rows of d1.u`)"), "{shown}");
    assert_ne!(count(&fan_in, "u"), "0");
    assert_eq!(fan_in.says("skip s1").1, Some(1), "the next transaction is another one");
    run(&fan_in.target, &["DELETE FROM d1.u", "ALTER TABLE d1.u ENGINE=InnoDB"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}

/// Its error comes while the target is asked about a statement of the next part, which begins somewhere behind one of these rows.
#[test]
fn a_row_that_is_refused_before_a_statement_in_a_later_part() {
    let (fan_in, _agent) = started();
    let ids = (13_000..22_000).step_by(1_000);
    for id in ids.clone() {
        run(&fan_in.target, &[&format!("INSERT INTO d1.u VALUES ({id}, 'in the way', 0)")]);
    }
    let rows = |from: u32, to: u32| {
        format!("INSERT INTO d1.u SELECT seq, CONCAT(UUID(), REPEAT('x', 164)), seq FROM d1.seq_{from}_to_{to}")
    };
    let statements = [
        "SET SESSION binlog_format = MIXED",
        "INSERT INTO d1.t VALUES (1, '')",
        "BEGIN",
        &rows(1, 22_000),
        "UPDATE d1.t SET v = 'a statement' WHERE id = 1",
        &rows(22_001, 60_000),
        "COMMIT",
    ];
    run(&fan_in.sources[0], &statements);
    for (id, left) in ids.zip((1..=9).rev()) {
        stops_with(&fan_in, &format!("Duplicate entry '{id}' for key"));
        assert_eq!(count(&fan_in, "u"), left.to_string());
        run(&fan_in.target, &[&format!("DELETE FROM d1.u WHERE id = {id}")]);
        assert_eq!(fan_in.says("resume s1").1, Some(0));
    }
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}

/// The agent reads a live source that has crashed while it wrote a transaction into its log.
#[test]
fn a_source_that_crashes_within_a_transaction() {
    for last in ["INSERT INTO d1.u VALUES (1, 'small', 1)", MANY_ROWS] {
        let (fan_in, agent) = started();
        crash_within(&fan_in, last);
        fan_in.catch_up();
        fan_in.assert_equal(&["d1"]);
        assert_eq!(fan_in.says("stop").1, Some(0));
        let (said, _) = agent.end();
        assert!(said.contains("the source has crashed while it wrote a transaction"), "{said}");
    }
}
