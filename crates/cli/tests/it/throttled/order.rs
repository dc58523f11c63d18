//! Chunks that have begun, and wait for others that have not.

use super::{limit, start, summary, wait_until_held};
use crate::errors::dump_file;
use crate::servers::pair;

/// A row of `c` that is checked waits for the rows of `p`, and one that is not checked begins before it, and waits for it to
/// commit: it is not left open.
#[test]
fn nothing_that_has_begun_waits_for_a_chunk_that_is_held_up() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let [mut held, mut definer] = [server.connect(), server.connect()];
    definer.execute(b"CREATE TABLE hortator_case.p (id INT PRIMARY KEY)").unwrap();
    definer
        .execute(b"CREATE TABLE hortator_case.c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id))")
        .unwrap();
    held.execute(b"START TRANSACTION").unwrap();
    held.execute(b"INSERT INTO hortator_case.p VALUES (1)").unwrap();
    let (folder, dump) = dump_file(
        "dump.sql",
        b"SET foreign_key_checks = 1;\nINSERT INTO p VALUES (1), (2);\nINSERT INTO c VALUES (1, 2);\n\
          SET foreign_key_checks = 0;\nINSERT INTO c VALUES (2, 2);\n",
    );
    let file = folder.path().join("limits");
    // Of six workers, three wait all the time, so that the load tells when it knows of the pause.
    limit(&file, "threads=3");
    let arguments = ["--threads", "6", "--throttle-file", file.to_str().unwrap(), dump.to_str().unwrap()];
    let mut running = start(server, &arguments);
    let waiting = "SELECT COUNT(*) = 1 FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'";
    server.wait_until(waiting);
    // That of the test, and that of the row of `c`.
    server.wait_until(
        "SELECT COUNT(*) = 2 FROM information_schema.INNODB_TRX WHERE trx_state = 'RUNNING' AND trx_rows_modified > 0",
    );
    limit(&file, "pause");
    wait_until_held(&mut running, "paused: as asked for", 1);
    held.execute(b"ROLLBACK").unwrap();
    server.wait_until("SELECT COUNT(*) = 0 FROM information_schema.INNODB_TRX");
    assert_eq!(server.rows_of_case("SELECT id FROM c ORDER BY id"), [["1"], ["2"]]);
    limit(&file, "");
    summary(&running.finish());
}
