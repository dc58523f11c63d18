//! Dumps that fail at a place, are mended there and resumed: each must end as the client's load of the whole does.
//!
//! The place is a statement on the table `missing`, which is made before the load goes on. So everything before it is done,
//! and everything that a later statement draws from what is done must be as if nothing had been between.

use rustix::process::Signal;

use super::{LIMIT, signal};
use crate::errors::{assert_tells, dump_file, load_into};
use crate::programs::{Contender, Dump, Running, load, run};
use crate::servers::{Server, pair};
use crate::target::mysql;

const FAILS_HERE: &str = "INSERT INTO missing VALUES (1);\n";

/// Loads up to the place, mends it, goes on, and compares with the client.
fn assert_goes_on(server: &Server, client: &Server, what: &str, before: &str, behind: &str, options: &[&str]) {
    let whole = format!("CREATE TABLE missing (id INT);\n{before}{FAILS_HERE}{behind}");
    let text = format!("{before}{FAILS_HERE}{behind}");
    let (_folder, path) = dump_file("dump.sql", text.as_bytes());
    let file = path.to_str().unwrap();
    server.reset();
    let failed = run(load_into(server, &[options, &[file]].concat()));
    assert_eq!(failed.status, Some(1), "{what}: {}", failed.messages);
    assert!(failed.messages.contains("missing"), "{what}: {}", failed.messages);
    server.connect().execute(b"CREATE TABLE hortator_case.missing (id INT)").unwrap();
    let outcome = run(load_into(server, &[options, &["--resume", file]].concat()));
    assert_eq!(outcome.status, Some(0), "{what}: {}", outcome.messages);
    client.reset();
    let theirs = load(Contender::Client, client, Dump::Bytes(whole.as_bytes()), false);
    assert_eq!(theirs.status, Some(0), "{what}: {}", theirs.messages);
    let (theirs, ours) = (client.state(false), server.state(false));
    for (name, state) in &theirs {
        let differences = ours.get(name).map_or(vec!["no schema".to_owned()], |found| state.differences(found));
        assert!(differences.is_empty(), "{what}: {}", differences.join("\n"));
    }
    assert_eq!(theirs.len(), ours.len(), "{what}: schemas");
}

/// Name, what stands before the place, what stands behind it.
const CORNERS: &[(&str, &str, &str)] = &[
    (
        "the last number given",
        "CREATE TABLE p (id INT AUTO_INCREMENT PRIMARY KEY, v INT);\nCREATE TABLE c (p INT);\nINSERT INTO p (v) VALUES (1), (2);\n",
        "INSERT INTO c VALUES (LAST_INSERT_ID());\n",
    ),
    (
        "the last number given by the main session",
        "CREATE TABLE p (id INT AUTO_INCREMENT PRIMARY KEY, v INT);\nCREATE TABLE c (p INT);\nINSERT INTO p (v) SELECT 7;\n",
        "INSERT INTO c VALUES (LAST_INSERT_ID());\n",
    ),
    (
        "a transaction whose rows the server numbers, and which is rolled back",
        "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT);\nBEGIN;\nINSERT INTO t (v) VALUES (1), (2);\n",
        "ROLLBACK;\nINSERT INTO t (v) VALUES (3);\n",
    ),
    (
        "a table that a recorded view reads, dropped without a checkpoint",
        "DROP TABLE IF EXISTS t;\nCREATE TABLE t (a INT PRIMARY KEY);\nCREATE VIEW v1 AS SELECT * FROM t;\n\
         DROP VIEW IF EXISTS v2;\nCREATE VIEW v2 AS SELECT * FROM v1;\nDROP TABLE IF EXISTS t;\n",
        "CREATE TABLE u (a INT);\n",
    ),
    (
        "a table whose name a view gives in another character set",
        "SET NAMES utf8mb4;\nDROP TABLE IF EXISTS `ä`;\nCREATE TABLE `ä` (a INT PRIMARY KEY);\n\
         CREATE OR REPLACE VIEW v AS SELECT * FROM `ä`;\nDROP TABLE IF EXISTS `ä`;\n",
        "CREATE TABLE u (a INT);\n",
    ),
    (
        "transactions of rows, some of them done",
        "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT);\nSET autocommit = 0;\nINSERT INTO t (v) VALUES (1), (2);\n\
         COMMIT;\nINSERT INTO t (v) VALUES (3);\n",
        "COMMIT;\nINSERT INTO t (v) VALUES (4);\nINSERT INTO t (v) VALUES (5);\nCOMMIT;\n",
    ),
    (
        "rows that cannot roll back, in a transaction",
        "CREATE TABLE t (a INT) ENGINE=MyISAM;\nBEGIN;\nINSERT INTO t VALUES (1), (2);\n",
        "COMMIT;\n",
    ),
    (
        "rows that cannot roll back, in a transaction that is rolled back",
        "CREATE TABLE t (a INT) ENGINE=MyISAM;\nBEGIN;\nINSERT INTO t VALUES (1), (2);\nROLLBACK;\n",
        "INSERT INTO t VALUES (3);\n",
    ),
    (
        "keys switched on without autocommit",
        "CREATE TABLE t (a INT);\nSET autocommit = 0;\nINSERT INTO t VALUES (1), (2);\n\
         ALTER TABLE t ENABLE KEYS;\nUNLOCK TABLES;\nINSERT INTO t VALUES (3);\nCOMMIT;\n",
        "COMMIT;\n",
    ),
    (
        "SET STATEMENT and a question within a transaction",
        "CREATE TABLE t (a INT);\nCREATE TABLE l (n INT);\nBEGIN;\nSET STATEMENT max_statement_time = 60 FOR INSERT INTO t VALUES (1);\n\
         INSERT INTO t VALUES (2), (3);\nINSERT INTO l VALUES (ROW_COUNT());\nINSERT INTO t VALUES (4);\nSELECT ROW_COUNT();\n\
         INSERT INTO t VALUES (5);\n",
        "COMMIT;\n",
    ),
    (
        "numbers within a transaction",
        "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT);\nSET autocommit = 0;\nINSERT INTO t (v) VALUES (1), (2), (3);\n\
         INSERT INTO t (v) VALUES (4);\n",
        "INSERT INTO t (v) VALUES (5);\nCOMMIT;\n",
    ),
    (
        "numbers of a transaction that is rolled back",
        "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT);\nBEGIN;\nINSERT INTO t (v) VALUES (1), (2), (3);\nROLLBACK;\n\
         INSERT INTO t (v) VALUES (4);\n",
        "INSERT INTO t (v) VALUES (5);\n",
    ),
    (
        "the same key after a rolled back one",
        "CREATE TABLE t (id INT PRIMARY KEY);\nBEGIN;\nINSERT INTO t VALUES (1);\nROLLBACK;\nINSERT INTO t VALUES (1);\n",
        "INSERT INTO t VALUES (2);\n",
    ),
    (
        "commits of every form",
        "CREATE TABLE t (id INT);\nBEGIN;\nINSERT INTO t VALUES (1);\nCOMMIT AND NO CHAIN NO RELEASE;\nBEGIN;\n\
         INSERT INTO t VALUES (2);\nCOMMIT NO RELEASE;\nBEGIN;\nINSERT INTO t VALUES (3);\nSAVEPOINT a;\nINSERT INTO t VALUES (4);\n\
         ROLLBACK TO SAVEPOINT a;\nRELEASE SAVEPOINT a;\nCOMMIT;\n",
        "INSERT INTO t VALUES (5);\n",
    ),
    (
        "a number for the next statement",
        "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT);\nCREATE TABLE u (id INT AUTO_INCREMENT PRIMARY KEY, v INT);\n\
         SET INSERT_ID = 100;\nINSERT INTO t (v) VALUES (1);\n",
        "INSERT INTO u (v) VALUES (1);\n",
    ),
    (
        "global variables",
        "CREATE TABLE t (id INT);\nSET GLOBAL innodb_stats_persistent_sample_pages = 20;\nINSERT INTO t VALUES (1);\n",
        "INSERT INTO t VALUES (2);\n",
    ),
    (
        "locks between two statements of a chunk",
        "CREATE TABLE t (id INT);\nINSERT INTO t VALUES (1);\nUNLOCK TABLES;\nLOCK TABLES t WRITE;\nINSERT INTO t VALUES (2);\nUNLOCK TABLES;\n",
        "INSERT INTO t VALUES (3);\n",
    ),
    (
        "schemas and tables that are gone later",
        "CREATE DATABASE gone;\nUSE gone;\nCREATE TABLE t (id INT);\nINSERT INTO t VALUES (1);\nUSE hortator_case;\n\
         CREATE TABLE t (id INT);\nLOCK TABLES t WRITE;\nINSERT INTO t VALUES (1);\nSHOW CREATE TABLE t;\nUNLOCK TABLES;\n\
         RENAME TABLE t TO t2;\nDROP DATABASE gone;\n",
        "INSERT INTO t2 VALUES (2);\n",
    ),
    (
        "views, triggers, routines and several in one",
        "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT);\nCREATE TABLE l (id INT AUTO_INCREMENT PRIMARY KEY, w INT);\n\
         CREATE TRIGGER ai AFTER INSERT ON t FOR EACH ROW INSERT INTO l (w) VALUES (NEW.v);\nINSERT INTO t (v) VALUES (1), (2);\n\
         CREATE VIEW w AS SELECT v FROM t;\nINSERT INTO w VALUES (3);\nUPDATE t SET v = v * 10;\n",
        "INSERT INTO t (v) VALUES (4);\nUPDATE t SET v = v + 1;\n",
    ),
];

#[test]
fn corners_go_on() {
    let pair = pair();
    for (what, before, behind) in CORNERS {
        if mysql().is_some() && before.contains("SET STATEMENT") {
            // MariaDB's own.
            continue;
        }
        for options in [&["--threads", "1"][..], &["--chunk-bytes", "1"][..]] {
            assert_goes_on(&pair.hortator, &pair.client, what, before, behind, options);
        }
    }
}

/// Done only in part, or with what only its session had: that is said, and nothing is done twice.
const STOPS: &[(&str, &str, &str, &str)] = &[
    (
        "a routine that failed half-way",
        "CREATE TABLE t (id INT);\nCREATE PROCEDURE p() BEGIN INSERT INTO t VALUES (1); INSERT INTO missing VALUES (1); END//\n\
         CALL p()//\n",
        "cannot tell",
        "1",
    ),
    (
        "rows that cannot roll back, in part",
        "CREATE TABLE t (id INT, CHECK (id < 200)) ENGINE=MyISAM//\nINSERT INTO t SELECT 1 UNION SELECT 300//\n",
        "cannot tell",
        "1",
    ),
    (
        "a variable that rows have set",
        "CREATE TABLE t (id INT)//\nINSERT INTO t VALUES (1), (2)//\nSET @n = 0//\nUPDATE t SET id = (@n := @n + 1)//\n\
         INSERT INTO missing VALUES (@n)//\n",
        "its session",
        "2",
    ),
];

#[test]
fn what_is_not_certain_stops() {
    let pair = pair();
    let server = &pair.hortator;
    for (what, text, words, rows) in STOPS {
        let text = format!("DELIMITER //\n{}", text.replace("INT);\n", "INT)//\n"));
        let (_folder, path) = dump_file("dump.sql", text.as_bytes());
        let file = path.to_str().unwrap();
        server.reset();
        assert_eq!(run(load_into(server, &[file])).status, Some(1), "{what}");
        server.connect().execute(b"CREATE TABLE IF NOT EXISTS hortator_case.missing (id INT)").unwrap();
        assert_tells(&run(load_into(server, &["--resume", file])), 1, &[words]);
        assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM t")[0][0], *rows, "{what}");
    }
}

#[test]
fn a_forced_load_forgets_no_failure() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let text = "CREATE TABLE gate (id INT);\nINSERT INTO gate VALUES (1);\nINSERT INTO t VALUES (1);\n\
                CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (2);\nINSERT INTO t VALUES (2);\n\
                UPDATE nowhere SET id = 1;\nSELECT SLEEP(300) FROM gate;\nINSERT INTO t VALUES (3);\n";
    let (_folder, path) = dump_file("dump.sql", text.as_bytes());
    let file = path.to_str().unwrap();
    let running = Running::start(load_into(server, &["--force", file]));
    server.wait_until("SELECT COUNT(*) > 0 FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT SLEEP(300)%'");
    signal(&running, Signal::KILL);
    running.finish_within(LIMIT);
    let mut root = server.connect();
    let sleeping = "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT SLEEP(300)%'";
    for row in root.fetch(sleeping.as_bytes()).unwrap() {
        root.execute(format!("KILL {}", String::from_utf8(row[0].clone().unwrap()).unwrap()).as_bytes()).unwrap();
    }
    root.execute(b"DELETE FROM hortator_case.gate").unwrap();
    // What failed before is not tried again, though it could succeed now; and it is not forgotten.
    let outcome = run(load_into(server, &["--force", "--resume", file]));
    assert_eq!(outcome.status, Some(3), "{}", outcome.messages);
    assert_eq!(outcome.messages.matches("failed before").count(), 3, "{}", outcome.messages);
    assert_eq!(server.rows_of_case("SELECT GROUP_CONCAT(id) FROM t"), [["2,3"]]);
}

#[test]
fn the_last_statement_before_a_broken_end() {
    let pair = pair();
    let server = &pair.hortator;
    let ends = ["INSERT INTO t VALUES (3),('abc", "SELECT ROW_COUNT() FROM nowhere;\n", "nonsense;\n"];
    for end in ends {
        server.reset();
        let text = format!("CREATE TABLE t (a INT);\nINSERT INTO t VALUES (1);\nUPDATE t SET a = 2;\n{end}");
        let (_folder, path) = dump_file("dump.sql", text.as_bytes());
        let outcome = run(load_into(server, &[path.to_str().unwrap()]));
        assert_eq!(outcome.status, Some(1), "{end}: {}", outcome.messages);
        assert_eq!(server.rows_of_case("SELECT a FROM t"), [["2"]], "{end}");
    }
}

#[test]
fn a_deadlock_of_the_main_session() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let mut root = server.connect();
    root.execute(b"CREATE TABLE hortator_case.t (id INT PRIMARY KEY, v INT)").unwrap();
    root.execute(b"INSERT INTO hortator_case.t VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0)").unwrap();
    // Row 2 first, so that the load, which has row 1 and waits for it, is in the way of row 1 and has done less.
    root.execute(b"BEGIN").unwrap();
    root.execute(b"UPDATE hortator_case.t SET v = v + 100 WHERE id > 1").unwrap();
    let (_folder, path) = dump_file("dump.sql", b"UPDATE t SET v = v + 1;\n");
    let running = Running::start(load_into(server, &[path.to_str().unwrap()]));
    let waits = "SELECT COUNT(*) > 0 FROM information_schema.PROCESSLIST WHERE INFO LIKE 'UPDATE t SET v = v + 1%'";
    server.wait_until(waits);
    server.wait_until("SELECT COUNT(*) > 0 FROM information_schema.INNODB_TRX WHERE TRX_STATE = 'LOCK WAIT'");
    root.execute(b"UPDATE hortator_case.t SET v = v + 1000 WHERE id = 1").unwrap();
    root.execute(b"COMMIT").unwrap();
    let outcome = running.finish_within(LIMIT);
    assert_eq!(outcome.status, Some(0), "{}", outcome.messages);
    assert!(!outcome.messages.contains("replays: 0"), "{}", outcome.messages);
    assert_eq!(server.rows_of_case("SELECT GROUP_CONCAT(v ORDER BY id) FROM t"), [["1001,101,101,101,101,101"]]);
}
