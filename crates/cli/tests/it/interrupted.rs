//! Loads that something breaks into: Ctrl-C, a server that is killed, connections that are lost, locks of others.
//!
//! Every statement of these dumps brings two rows, so that a part of one would be seen.

use std::io::Write;
use std::process::Command;
use std::thread;
use std::time::Duration;

use hortator_mysql::Connection;
use rustix::process::{Pid, Signal, kill_process};

use crate::errors::{assert_tells, dump_file, load_into};
use crate::programs::{Outcome, Running};
use crate::servers::{DATABASE, Server, pair};

/// From a signal to the end. A load that does not hear the signal takes for ever: it waits for [`Held`].
const END_LIMIT: Duration = Duration::from_secs(300);
pub const STATEMENTS: u64 = 60_000;

/// A table that is locked, so that a load of rows for it is not over before the lock goes.
struct Held {
    /// Its end unlocks the table.
    _session: Connection,
}

impl Held {
    const ROWS: &str = "INSERT INTO hortator_held.held VALUES (1), (2);\n";

    fn new(server: &Server) -> Held {
        let mut connection = server.connect();
        for statement in [
            "CREATE DATABASE hortator_held",
            "CREATE TABLE hortator_held.held (id INT PRIMARY KEY) ENGINE=InnoDB",
            "LOCK TABLES hortator_held.held WRITE",
        ] {
            connection.execute(statement.as_bytes()).unwrap();
        }
        Held { _session: connection }
    }
}

/// A dump of many rows.
pub fn long_dump() -> Vec<u8> {
    let mut text = b"CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(200), KEY (v)) ENGINE=InnoDB;\n".to_vec();
    for number in 0..STATEMENTS {
        let (one, other) = (number * 2, number * 2 + 1);
        text.extend(
            format!("INSERT INTO t VALUES ({one},'a row of statement {}'),({other},'x');\n", number * 7919).bytes(),
        );
    }
    text
}

/// Rows of `t`, of which no statement's are there in part.
fn whole_rows(server: &Server) -> u64 {
    let rows = server.rows_of_case("SELECT COUNT(*), COUNT(DISTINCT id DIV 2) * 2 = COUNT(*) FROM t");
    assert_eq!(rows[0][1], "1", "a statement is there in part: {rows:?}");
    rows[0][0].parse().unwrap()
}

pub fn signal(running: &Running, signal: Signal) {
    let pid = i32::try_from(running.pid()).ok().and_then(Pid::from_raw).expect("a process has an id");
    kill_process(pid, signal).expect("the process is ours");
}

/// Ends the load by a signal, which must not take long.
fn end_by(running: Running, with: Signal) -> Outcome {
    signal(&running, with);
    running.finish_within(END_LIMIT)
}

/// A load whose dump comes piece by piece.
pub fn piped(mut command: Command) -> (Running, std::io::PipeWriter) {
    let (reader, writer) = std::io::pipe().unwrap();
    command.stdin(reader);
    (Running::start(command), writer)
}

/// A statement is told from the next by what follows, so that something has to.
pub fn say(dump: &mut impl Write, statements: &str) {
    dump.write_all(statements.as_bytes()).unwrap();
    dump.write_all("-- and so on\n".repeat(100).as_bytes()).unwrap();
}

const NOTHING_OPEN: &str = "SELECT COUNT(*) = 0 FROM information_schema.INNODB_TRX";

#[test]
fn ctrl_c_in_the_middle() {
    let pair = pair();
    let server = &pair.hortator;
    let (_folder, dump) = dump_file("dump.sql", &[long_dump(), Held::ROWS.into()].concat());
    for with in [Signal::INT, Signal::TERM] {
        server.reset();
        let held = Held::new(server);
        let arguments = ["--chunk-bytes", "65536", dump.to_str().unwrap()];
        let running = Running::start(load_into(server, &arguments));
        server.wait_until("SELECT COUNT(*) > 1000 FROM hortator_case.t");
        let outcome = end_by(running, with);
        assert_tells(&outcome, 130, &["interrupted"]);
        drop(held);
        server.wait_until(NOTHING_OPEN);
        let rows = whole_rows(server);
        assert!((1000..=STATEMENTS * 2).contains(&rows), "{rows}");
        assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM hortator_held.held"), [["0"]]);
    }
}

#[test]
fn ctrl_c_during_a_statement_in_a_transaction() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let (running, mut dump) = piped(load_into(server, &[]));
    say(&mut dump, "CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (0), (1);\nBEGIN;\n");
    say(&mut dump, "INSERT INTO t VALUES (2), (3);\nSELECT SLEEP(300);\nCOMMIT;\n");
    server.wait_until("SELECT COUNT(*) > 0 FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT SLEEP(300)%'");
    assert_tells(&end_by(running, Signal::INT), 130, &["interrupted"]);
    server.wait_until(NOTHING_OPEN);
    assert_eq!(whole_rows(server), 2);
}

#[test]
fn ctrl_c_while_nothing_comes() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let (running, mut dump) = piped(load_into(server, &[]));
    say(&mut dump, "CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (0), (1);\nSELECT 1;\nSELECT 2;\n");
    server.wait_until("SELECT COUNT(*) > 0 FROM hortator_case.t");
    assert_tells(&end_by(running, Signal::INT), 130, &["interrupted"]);
    assert_eq!(whole_rows(server), 2);
}

#[test]
fn a_killed_server() {
    let server = Server::start(&[("innodb_flush_log_at_trx_commit", "1")]);
    server.reset();
    let _held = Held::new(&server);
    let (_folder, dump) = dump_file("dump.sql", &[long_dump(), Held::ROWS.into()].concat());
    let running = Running::start(load_into(&server, &["--chunk-bytes", "65536", dump.to_str().unwrap()]));
    server.wait_until("SELECT COUNT(*) > 1000 FROM hortator_case.t");
    let node = server.sandbox().node(0);
    node.kill().unwrap();
    let outcome = running.finish();
    assert_tells(&outcome, 1, &["connect", "dump.sql"]);
    assert!(outcome.messages.lines().count() < 20, "one message would do: {}", outcome.messages);
    node.start().unwrap();
    let rows = whole_rows(&server);
    assert!((1000..=STATEMENTS * 2).contains(&rows), "{rows}");
}

/// Few enough that no chunk is broken off again and again until it is given up.
const KILLS: u32 = 4;

#[test]
fn connections_that_are_lost() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    // The table is there before, and locked: a first connection is lost for certain.
    let text = long_dump();
    let rows = text.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let (_folder, dump) = dump_file("dump.sql", &text[rows..]);
    let mut root = server.connect();
    root.execute(format!("USE {DATABASE}").as_bytes()).unwrap();
    root.execute(text[..rows].trim_ascii_end().strip_suffix(b";").unwrap()).unwrap();
    root.execute(b"LOCK TABLES t WRITE").unwrap();
    let mut running = Running::start(load_into(server, &["--chunk-bytes", "65536", dump.to_str().unwrap()]));
    // Those that are just applying rows; the main session's end cannot be made good.
    let applying = "SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND <> 'Sleep' AND INFO LIKE 'INSERT INTO t %' LIMIT 1";
    let mut killed = 0;
    while !running.has_ended() && killed < KILLS {
        for row in server.connect().fetch(applying.as_bytes()).unwrap() {
            let id = String::from_utf8(row[0].clone().unwrap()).unwrap();
            // It may be over already.
            killed += u32::from(server.connect().execute(format!("KILL CONNECTION {id}").as_bytes()).is_ok());
            if killed == 1 {
                root.execute(b"UNLOCK TABLES").unwrap();
            }
        }
        thread::sleep(Duration::from_millis(60));
    }
    let outcome = running.finish();
    assert!(killed > 0, "no connection was lost: {}", outcome.messages);
    // Also one that is lost in the very moment of a commit: its record tells what became of it.
    assert_eq!(outcome.status, Some(0), "{}", outcome.messages);
    assert_eq!(whole_rows(server), STATEMENTS * 2, "{}", outcome.messages);
    assert!(!outcome.messages.contains(" 0 replays"), "{}", outcome.messages);
}

/// How often somebody has waited for a lock of a row.
fn waits_for_locks(connection: &mut Connection) -> u64 {
    let rows = connection.fetch(b"SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_waits'").unwrap();
    String::from_utf8(rows[0][1].clone().unwrap()).unwrap().parse().unwrap()
}

#[test]
fn locks_of_others() {
    let server = Server::start(&[("innodb_lock_wait_timeout", "1")]);
    server.reset();
    let mut other = server.connect();
    other.execute(b"CREATE TABLE hortator_case.t (id INT PRIMARY KEY, v VARCHAR(20)) ENGINE=InnoDB").unwrap();
    other.execute(b"BEGIN").unwrap();
    other.execute(b"INSERT INTO hortator_case.t VALUES (50, 'in the way')").unwrap();
    let rows = |from: u64| (from..from + 20).map(|id| format!("({id},'r')")).collect::<Vec<_>>().join(",");
    let text: String = (0..10).map(|number| format!("INSERT INTO t VALUES {};\n", rows(number * 20))).collect();
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    let mut running = Running::start(load_into(&server, &[dump.to_str().unwrap()]));
    // A second wait for the lock is that of a replay.
    while waits_for_locks(&mut other) < 2 && !running.has_ended() {
        thread::sleep(Duration::from_millis(20));
    }
    other.execute(b"ROLLBACK").unwrap();
    let outcome = running.finish();
    assert_tells(&outcome, 0, &["replays"]);
    assert!(!outcome.messages.contains(" 0 replays"), "{}", outcome.messages);
    assert_eq!(whole_rows(&server), 200);
}
