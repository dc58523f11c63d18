//! Dumps that let their session time out: the session of a load is idle while others put its rows in.

use std::thread;
use std::time::Duration;

use crate::errors::{assert_tells, dump_file, load_into};
use crate::programs::Running;
use crate::servers::pair;

/// Longer than the timeout that the dumps set, and than the server takes to notice.
const IDLE: Duration = Duration::from_millis(2_500);

/// The client is never idle: it waits for the answer of the INSERT.
#[test]
fn a_session_with_a_short_timeout() {
    let pair = pair();
    let server = &pair.hortator;
    for settings in ["SET wait_timeout = 1, interactive_timeout = 1", "SET SESSION wait_timeout = 1"] {
        server.reset();
        let mut root = server.connect();
        root.execute(b"CREATE TABLE hortator_case.held (id INT PRIMARY KEY)").unwrap();
        root.execute(b"LOCK TABLES hortator_case.held WRITE").unwrap();
        let text = format!(
            "CREATE TABLE t (id INT PRIMARY KEY);\n{settings};\nINSERT INTO held VALUES (1), (2);\nINSERT INTO held VALUES (3);\n\
             UPDATE t SET id = id + 1;\nINSERT INTO t VALUES (1);\nSELECT @@wait_timeout;\n"
        );
        let (_folder, path) = dump_file("dump.sql", text.as_bytes());
        let running = Running::start(load_into(server, &[path.to_str().unwrap()]));
        server.wait_until(
            "SELECT COUNT(*) > 0 FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for table%'",
        );
        // However long this takes: a session that is lost in it must not matter.
        thread::sleep(IDLE);
        root.execute(b"UNLOCK TABLES").unwrap();
        let outcome = running.finish();
        assert_tells(&outcome, 0, &["replays: 0"]);
        assert_eq!(outcome.rows, b"@@wait_timeout\n1\n", "{}", outcome.messages);
        assert_eq!(server.rows_of_case("SELECT (SELECT COUNT(*) FROM held), (SELECT COUNT(*) FROM t)"), [["3", "1"]]);
    }
}
