//! A session that drops indexes is lost in the middle, and the server goes on with its statement.

use std::fs::File;

use super::ended::Held;
use super::{LIMIT, indexes};
use crate::errors::{assert_tells, dump_file};
use crate::programs::{Running, hortator};
use crate::relay::Relay;
use crate::servers::{DATABASE, pair};
use crate::target;

/// Behind the first row come those that make the table one whose indexes are dropped.
const BEGIN: &str = "\
CREATE TABLE t (id INT PRIMARY KEY, a INT, v VARCHAR(40), p INT, KEY p (p), KEY v (v), KEY a (a, v),
  CONSTRAINT held FOREIGN KEY (p) REFERENCES hortator_held.held (id)) ENGINE=InnoDB;
INSERT INTO t VALUES (1, 1, 'a', 1);
";
/// More than 4 MiB in the end.
const ROWS: u32 = 80_000;

/// The load ends, and builds what is missing before. The drop waits for another session while its client is gone. Whoever looks now still finds the indexes.
#[test]
fn while_the_drop_waits() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let mut root = server.connect();
    for statement in
        ["CREATE OR REPLACE USER root@'127.0.0.1'", "GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION"]
    {
        root.execute(statement.as_bytes()).unwrap();
    }
    let relay = Relay::start(server.rows_of_case("SELECT @@port")[0][0].parse().unwrap());
    let rows: Vec<String> =
        (2..ROWS).map(|id| format!("({id}, {id}, 'the value of row {id} of many', NULL)")).collect();
    let text = format!("{BEGIN}INSERT INTO t VALUES {};\n", rows.join(",\n"));
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    let held = Held::new(server);
    let mut command = hortator("load");
    command.args(["--no-defaults", "--protocol=tcp", "-h", "127.0.0.1", "-u", "root", "-D", DATABASE]);
    command
        .args(["--defer-indexes=auto", "--chunk-bytes", "1", "-P"])
        .arg(relay.port().to_string())
        .stdin(File::open(&dump).unwrap());
    let running = Running::start(command);
    server.wait_until("SELECT COUNT(*) = 1 FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'");
    let mut reader = server.connect();
    for statement in ["START TRANSACTION", "SELECT COUNT(*) FROM hortator_case.t"] {
        reader.execute(statement.as_bytes()).unwrap();
    }
    drop(held);
    let waiting =
        "FROM information_schema.PROCESSLIST WHERE INFO LIKE 'ALTER TABLE%DROP KEY%' AND STATE LIKE 'Waiting%'";
    server.wait_until(&format!("SELECT COUNT(*) {waiting}"));
    let port = server.rows_of_case(&format!("SELECT SUBSTRING_INDEX(HOST, ':', -1) {waiting}"))[0][0].parse().unwrap();
    relay.cut(port);
    // The load waits for the lost session, or takes the indexes for built. The server gives the drop up after 5 seconds.
    server.wait_until(
        "SELECT EXISTS (SELECT * FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT GET_LOCK%' AND STATE = 'User lock') \
         OR NOT EXISTS (SELECT * FROM hortator.deferred_keys)",
    );
    reader.execute(b"COMMIT").unwrap();
    server.wait_until(&format!("SELECT COUNT(*) = 0 {waiting}"));
    // A pipe cannot be read again.
    assert_tells(&running.finish_within(LIMIT), 1, &["line 1"]);
    assert_eq!(indexes(server, "t"), "2");
    root.execute(b"DROP USER root@'127.0.0.1'").unwrap();
}
