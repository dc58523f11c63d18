//! What a load reads while the server runs a statement: it must hold up nothing, and never run before its turn.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::process::Signal;

use crate::compare::{Terms, compare};
use crate::errors::{assert_tells, dump_file, load_into};
use crate::interrupted::signal;
use crate::programs::{Contender, Dump, Running, run};
use crate::servers::{DATABASE, Server, pair};

/// A line of output on a busy machine.
const LINE_LIMIT: Duration = Duration::from_secs(120);

/// The lines that a program prints, as they come.
fn lines(output: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

#[test]
fn what_is_typed_is_answered_before_more_is_typed() {
    let pair = pair();
    pair.hortator.reset();
    let mut command = load_into(&pair.hortator, &["-q"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut typed = child.stdin.take().unwrap();
    let printed = lines(child.stdout.take().unwrap());
    for (text, answer) in [
        ("SELECT 'one' AS a;\n", &["a", "one"][..]),
        ("CREATE TABLE t (id INT); INSERT INTO t VALUES (1), (2);\nSELECT COUNT(*) FROM t;\n", &["COUNT(*)", "2"]),
        // The beginning of the next is no reason to wait.
        ("SELECT 'two' AS b; SELECT\n", &["b", "two"]),
        ("'three' AS c;\n", &["c", "three"]),
        ("DELIMITER //\nSELECT 4 AS d//\n", &["d", "4"]),
    ] {
        typed.write_all(text.as_bytes()).unwrap();
        for line in answer {
            assert_eq!(printed.recv_timeout(LINE_LIMIT).as_deref(), Ok(*line), "behind {text}");
        }
    }
    drop(typed);
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_was_read_ahead_does_not_run_after_ctrl_c() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let text = "CREATE TABLE m (id INT PRIMARY KEY, n INT) ENGINE=MyISAM;\nINSERT INTO m VALUES (1, 0);\n\
                SELECT SLEEP(300);\nUPDATE m SET n = n + 1;\nUPDATE m SET n = n + 10;\n";
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    let running = Running::start(load_into(server, &[dump.to_str().unwrap()]));
    server.wait_until("SELECT COUNT(*) > 0 FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT SLEEP(300)%'");
    signal(&running, Signal::INT);
    assert_tells(&running.finish(), 130, &["interrupted"]);
    assert_eq!(server.rows_of_case("SELECT n FROM m"), [["0"]]);
}

#[test]
fn what_has_ended_is_on_record_while_another_statement_runs() {
    let server = Server::start(&[("innodb_flush_log_at_trx_commit", "1")]);
    server.reset();
    let mut other = server.connect();
    other.execute(format!("CREATE TABLE {DATABASE}.held (id INT)").as_bytes()).unwrap();
    other.execute(format!("LOCK TABLES {DATABASE}.held WRITE").as_bytes()).unwrap();
    // No load could tell later whether an UPDATE of a MyISAM table has run.
    let text = "CREATE TABLE m (id INT PRIMARY KEY, n INT) ENGINE=MyISAM;\nINSERT INTO m VALUES (1, 0);\n\
                UPDATE m SET n = n + 1;\nUPDATE m SET n = n + 10;\nSELECT COUNT(*) FROM held;\n\
                UPDATE m SET n = n * 2;\n";
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    let file = dump.to_str().unwrap();
    let running = Running::start(load_into(&server, &[file]));
    server.wait_until(
        "SELECT COUNT(*) > 0 FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT COUNT(*) FROM held%'",
    );
    signal(&running, Signal::KILL);
    running.finish();
    other.execute(b"UNLOCK TABLES").unwrap();
    assert_tells(&run(load_into(&server, &["--resume", file])), 0, &[]);
    assert_eq!(server.rows_of_case("SELECT n FROM m"), [["22"]]);
}

/// Loads a dump with the client and with Hortator, with and without --force.
fn assert_like_client(text: &str) {
    let pair = pair();
    for force in [false, true] {
        let contenders = &[Contender::OneThread, Contender::Default];
        let terms = Terms { contenders, force, row_times: false, is_stricter: false, ahead: &[] };
        let found = compare(&pair, Dump::Bytes(text.as_bytes()), terms);
        assert!(found.differences.is_empty(), "{text}\n{}", found.differences.join("\n"));
    }
}

/// Each of these runs alone, and changes how the text behind it is read, or what it means.
#[test]
fn a_statement_that_changes_how_the_next_is_read() {
    const HEAD: &str = "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(50)) ENGINE=MyISAM;\n\
                        INSERT INTO t (v) VALUES ('a');\n";
    for body in [
        "EXECUTE IMMEDIATE 'SET sql_mode = ''ANSI_QUOTES''';\nUPDATE t SET \"v\" = 'x\"; y' WHERE \"id\" = 1;\n",
        "EXECUTE IMMEDIATE 'SET sql_mode = ''ANSI_QUOTES''';\nSELECT 'a' \"b\\\";\nSELECT * FROM t;\n",
        "EXECUTE IMMEDIATE 'SET sql_mode = ''NO_BACKSLASH_ESCAPES''';\nUPDATE t SET v = 'it\\'; SELECT 'it\\';\n\
         UPDATE t SET v = CONCAT(v, '!\\'); EXECUTE IMMEDIATE 'SET sql_mode = DEFAULT'; SELECT '\\';', v FROM t;\n",
        "EXECUTE IMMEDIATE 'SET sql_mode = ''NO_BACKSLASH_ESCAPES''' /* ; */;\n-- '\nSELECT '\\' /*'*/;\nSELECT 2;\n",
        "DELIMITER //\nBEGIN NOT ATOMIC SET sql_mode = 'NO_BACKSLASH_ESCAPES'; END//\nSELECT '\\'// SELECT '//'//\n",
        "SET sql_mode = 'ANSI_QUOTES';\nUPDATE t SET v = \"id\";\nSELECT 'a' \"b;\";\n",
        "EXECUTE IMMEDIATE 'SET @d = DATABASE()';\nuse mysql\nSELECT DATABASE();\nUPDATE hortator_case.t SET v = 1;\n",
        "EXECUTE IMMEDIATE 'SET autocommit = 0';\nUPDATE t SET v = 'b';\nINSERT INTO t (v) VALUES ('c');\nROLLBACK;\n",
        "EXECUTE IMMEDIATE 'CREATE TEMPORARY TABLE t (v INT)';\nINSERT INTO t VALUES (1), (2);\nUPDATE t SET v = v + 1;\n\
         SELECT * FROM t;\nDROP TEMPORARY TABLE t;\nUPDATE t SET v = 'z';\n",
        "SELECT COUNT(*) FROM t;\nCREATE FUNCTION repeat2(a INT) RETURNS INT RETURN a + 1;\nSELECT repeat2(4);\n\
         INSERT INTO t (v) VALUES (repeat2(5));\n",
        "PREPARE p FROM 'UPDATE t SET v = CONCAT(v, ''x'')';\nEXECUTE p;\nPREPARE p FROM 'SELECT * FROM t';\nEXECUTE p;\n",
    ] {
        assert_like_client(&[HEAD, body].concat());
    }
}

#[test]
fn errors_are_told_in_their_order() {
    const HEAD: &str =
        "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(50)) ENGINE=MyISAM;\nINSERT INTO t VALUES (1, 'a');\n";
    for body in [
        "UPDATE t SET v = 'b';\nUPDATE nowhere SET v = 'c';\nUPDATE t SET v = CONCAT(v, 'd');\nSELECT v FROM t;\n",
        "SELECT v FROM t;\nSELECT nothing FROM t;\nSELECT 'behind' FROM t;\n",
        "UPDATE t SET v = 'b';\nSELEC;\nUPDATE t SET v = CONCAT(v, 'd');\nSELECT v FROM t; SELECT ",
        "SELECT v FROM t;\nUPDATE t SET v = 'q';\nquit\nUPDATE t SET v = 'r';\n",
        "DELIMITER //\nSELECT v FROM t//\nSELECT COUNT(*) FROM t// DELIMITER ;\nSELECT v FROM t;\nDELIMITER ;\nSELECT 1;\n",
        "SELECT v FROM t\\G\nSELECT v FROM t\\g SELECT 3; SELECT v FROM t\\G SELECT 4 ;\n",
        "UPDATE t SET v = 'b';\nuse nowhere\nUPDATE t SET v = CONCAT(v, 'd');\nSELECT v FROM t;\n",
    ] {
        assert_like_client(&[HEAD, body].concat());
    }
}
