//! Dumps that let their session time out: connections of a load are idle while others put rows in, the client's never is.

use std::thread;
use std::time::Duration;

use crate::errors::{assert_tells, dump_file, load_into};
use crate::programs::Running;
use crate::servers::{Server, pair};

/// Longer than the timeout that the dumps set, and than the server takes to notice.
const IDLE: Duration = Duration::from_millis(9_500);

const SETTINGS: [&str; 2] =
    ["SET wait_timeout = 5, interactive_timeout = 5", "SET SESSION wait_timeout = 5, @@session.net_read_timeout = 1"];

/// Loads a dump while `block` holds rows or a table of `held`, for as long as an idle session lives, and more.
fn load_while(server: &Server, settings: &str, block: &[&str], end: &str, waiting: &str) {
    server.reset();
    let mut root = server.connect();
    for statement in [
        "USE hortator_case",
        "CREATE TABLE held (id INT PRIMARY KEY) ENGINE=InnoDB",
        "CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB",
    ]
    .iter()
    .chain(block)
    {
        root.execute(statement.as_bytes()).unwrap();
    }
    let text = format!(
        "{settings};\nINSERT INTO held VALUES (1), (2);\nINSERT INTO held VALUES (3), (4);\nINSERT INTO held VALUES (5);\n\
         UPDATE t SET id = id + 1;\nINSERT INTO t VALUES (1);\nSELECT @@wait_timeout;\n"
    );
    let (_folder, path) = dump_file("dump.sql", text.as_bytes());
    let options = ["--json", "--threads", "4", "--chunk-bytes", "1", path.to_str().unwrap()];
    let running = Running::start(load_into(server, &options));
    server.wait_until(waiting);
    // However long this takes: a session that is lost in it must not matter.
    thread::sleep(IDLE);
    root.execute(end.as_bytes()).unwrap();
    let outcome = running.finish();
    assert_tells(&outcome, 0, &["@@wait_timeout\n5\n"]);
    let summary: serde_json::Value = serde_json::from_slice(&outcome.rows).expect("the summary is JSON");
    assert_eq!(
        (&summary["replays"], &summary["checkpoint"]["restarts"]),
        (&0.into(), &0.into()),
        "{settings}: {summary}"
    );
    assert_eq!(server.rows_of_case("SELECT (SELECT COUNT(*) FROM held), (SELECT COUNT(*) FROM t)"), [["5", "1"]]);
}

#[test]
fn the_session_of_the_dump_waits_for_rows() {
    let pair = pair();
    let waiting = "SELECT COUNT(*) > 0 FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for table%'";
    for settings in SETTINGS {
        load_while(&pair.hortator, settings, &["LOCK TABLES held WRITE"], "UNLOCK TABLES", waiting);
    }
}

#[test]
fn rows_wait_for_those_before_them() {
    let pair = pair();
    // INNODB_TRX stays as it is for those who look too often.
    let waiting = "SELECT COUNT(*) > 0 FROM information_schema.PROCESSLIST WHERE STATE = 'Update' AND TIME_MS > 500";
    for settings in SETTINGS {
        load_while(&pair.hortator, settings, &["BEGIN", "INSERT INTO held VALUES (2)"], "ROLLBACK", waiting);
    }
}
