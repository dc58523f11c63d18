//! As many builds as there are at a time wait, and the indexes of another table are dropped meanwhile.

use super::ended::Held;
use super::{LIMIT, indexes};
use crate::errors::{assert_tells, dump_file, load_into};
use crate::programs::Running;
use crate::servers::pair;
use crate::target;

/// Tables whose builds wait.
const BUILT: [&str; 3] = ["a", "b", "c"];
/// One row of it has the indexes of its table dropped.
const LARGE_BYTES: usize = (4 << 20) + (1 << 10);

fn table(name: &str, rows: [&str; 2]) -> String {
    format!(
        "CREATE TABLE {name} (id INT PRIMARY KEY, n INT, p INT, v LONGTEXT, KEY p (p), KEY n (n), \
         CONSTRAINT held_{name} FOREIGN KEY (p) REFERENCES hortator_held.held (id)) ENGINE=InnoDB;\nLOCK TABLES {name} WRITE;\n\
         INSERT INTO {name} VALUES {};\nINSERT INTO {name} VALUES {};\nUNLOCK TABLES;\n",
        rows[0], rows[1],
    )
}

#[test]
fn a_drop_waits_for_no_build() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let large = format!("(1, 1, NULL, '{}')", "x".repeat(LARGE_BYTES));
    // The last row of each waits; of the other table, the first one.
    let mut text: String = BUILT.iter().map(|name| table(name, [&large, "(2, 1, 1, '')"])).collect();
    text += &table("d", ["(2, 1, 2, '')", &large]);
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    let held = Held::new(server);
    let mut other = server.connect();
    for statement in ["START TRANSACTION", "INSERT INTO hortator_held.held VALUES (2)"] {
        other.execute(statement.as_bytes()).unwrap();
    }
    let arguments = ["--defer-indexes=auto", "--chunk-bytes", "1", "--threads", "8", dump.to_str().unwrap()];
    let running = Running::start(load_into(server, &arguments));
    server.wait_until("SELECT COUNT(*) = 4 FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'");
    let mut reader = server.connect();
    reader.execute(b"START TRANSACTION").unwrap();
    for name in BUILT {
        reader.fetch(format!("SELECT COUNT(*) FROM hortator_case.{name}").as_bytes()).unwrap();
    }
    drop(held);
    let waiting = "SELECT COUNT(*) = 3 FROM information_schema.PROCESSLIST WHERE INFO LIKE 'ALTER TABLE%ADD KEY%' AND STATE LIKE 'Waiting%'";
    server.wait_until(waiting);
    other.execute(b"COMMIT").unwrap();
    server.wait_until("SELECT COUNT(*) = 2 FROM hortator_case.d");
    assert_eq!(indexes(server, "d"), "0");
    assert_eq!(server.rows_of_case(waiting), [["1"]], "the builds no longer wait");
    reader.execute(b"COMMIT").unwrap();
    assert_tells(&running.finish_within(LIMIT), 0, &["indexes: 4 built after the rows, in 4 table(s)"]);
    for name in BUILT.iter().chain(&["d"]) {
        assert_eq!(indexes(server, name), "1", "{name}");
    }
}
