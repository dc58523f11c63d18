//! Workers of a load, and sources of an agent, learn who is in the way of whom, however many of them ask.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::LockWaits;

use crate::errors::{assert_tells, dump_file, load_into};
use crate::programs::Running;
use crate::servers::{DATABASE, Server};
use crate::target;

/// Of each of these, the server's picture of its locks would stay as it is for good.
const ASKERS: usize = 8;
const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn a_connection_learns_that_another_waits_for_it_while_many_ask() {
    let server = Server::start(&[]);
    server.reset();
    let mut connections: Vec<_> = (0..ASKERS + 2).map(|_| server.connect()).collect();
    for connection in &mut connections {
        connection.select_db(DATABASE.as_bytes()).unwrap();
    }
    let (mut holder, mut waiter) = (connections.pop().unwrap(), connections.pop().unwrap());
    holder.execute(b"CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
    let (lock_waits, is_over) = (LockWaits::default(), AtomicBool::new(false));
    assert_eq!(lock_waits.blocks_others(&mut holder).unwrap(), Some(false));
    thread::scope(|scope| {
        for mut asker in connections {
            let (lock_waits, is_over) = (&lock_waits, &is_over);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    assert_eq!(lock_waits.blocks_others(&mut asker).unwrap(), Some(false));
                    thread::sleep(Duration::from_millis(10));
                }
            });
        }
        holder.execute(b"START TRANSACTION").unwrap();
        holder.execute(b"INSERT INTO t VALUES (1)").unwrap();
        let (waiting, held_by) = (waiter.id(), holder.id());
        scope.spawn(move || waiter.execute(b"INSERT INTO t VALUES (1)").unwrap_err());
        let start = Instant::now();
        let knows = loop {
            match lock_waits.blocks_others(&mut holder).unwrap() {
                Some(true) => break true,
                _ if start.elapsed() > LIMIT => break false,
                _ => thread::sleep(Duration::from_millis(10)),
            }
        };
        assert_eq!(lock_waits.holders_for(&mut holder, waiting).unwrap(), [held_by].repeat(knows.into()));
        assert_eq!(lock_waits.holders_for(&mut holder, held_by).unwrap(), [0; 0]);
        is_over.store(true, Ordering::Relaxed);
        holder.execute(b"COMMIT").unwrap();
        assert!(knows, "that it holds up another is not known");
    });
}

/// An ALTER TABLE of somebody waits for a later chunk, which waits for its turn behind an earlier one, which waits for the
/// ALTER TABLE: the server sees no circle in that, and without an end to it all three would wait for `lock_wait_timeout`.
#[test]
fn a_definition_of_another_session_ends_no_load() {
    if target::mysql().is_some() {
        return;
    }
    let server = Server::start(&[("lock_wait_timeout", "100"), ("innodb_lock_wait_timeout", "100")]);
    server.reset();
    let mut holder = server.connect();
    for statement in [
        "USE hortator_case",
        "CREATE TABLE parent (id INT PRIMARY KEY)",
        "CREATE TABLE t (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id))",
        "START TRANSACTION",
        "INSERT INTO parent VALUES (1)",
    ] {
        holder.execute(statement.as_bytes()).unwrap();
    }
    // The first chunk waits for the parent, the second for the first.
    let (_folder, dump) = dump_file("rows.sql", b"INSERT INTO t VALUES (1, 1);\nINSERT INTO t VALUES (2, NULL);\n");
    let arguments = ["--threads", "2", "--chunk-bytes", "1", dump.to_str().unwrap()];
    let load = Running::start(load_into(&server, &arguments));
    server.wait_until("SELECT COUNT(*) = 1 FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'");
    server.wait_until("SELECT COUNT(*) = 3 FROM information_schema.INNODB_TRX WHERE trx_rows_modified > 0");
    let mut other = server.connect();
    let alter = thread::spawn(move || other.execute(b"ALTER TABLE hortator_case.t COMMENT 'x'").map(drop));
    let waits = "FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for%metadata lock'";
    server.wait_until(&format!("SELECT COUNT(*) = 1 {waits}"));
    // Its connection is lost, and it begins anew behind the ALTER TABLE.
    let waiting = "SELECT trx_mysql_thread_id FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'";
    let id = server.rows_of_case(waiting)[0][0].clone();
    server.connect().execute(format!("KILL {id}").as_bytes()).unwrap();
    holder.execute(b"COMMIT").unwrap();
    assert_tells(&load.finish_within(LIMIT), 0, &["loaded 2 rows"]);
    alter.join().unwrap().unwrap();
    assert_eq!(server.rows_of_case("SELECT id, p FROM t ORDER BY id"), [["1", "1"], ["2", "NULL"]]);
}

/// The dump takes the limit off for its session, and a row of it waits longer than that.
#[test]
fn a_servers_limit_of_time_is_not_that_of_a_load() {
    if target::mysql().is_some() {
        return;
    }
    let server = Server::start(&[]);
    server.reset();
    let mut holder = server.connect();
    for statement in [
        "USE hortator_case",
        "CREATE TABLE t (id INT PRIMARY KEY)",
        "SET GLOBAL max_statement_time = 0.2",
        "START TRANSACTION",
        "INSERT INTO t VALUES (2)",
    ] {
        holder.execute(statement.as_bytes()).unwrap();
    }
    let dump = b"SET SESSION max_statement_time = 0;\nINSERT INTO t VALUES (1);\nINSERT INTO t VALUES (2), (3);\n";
    let (_folder, dump) = dump_file("rows.sql", dump);
    let load = Running::start(load_into(&server, &["--analyze", "--verify", dump.to_str().unwrap()]));
    let waiting = "SELECT COUNT(*) = 1 FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT' \
                   AND trx_wait_started < NOW() - INTERVAL 1 SECOND";
    server.wait_until(waiting);
    holder.execute(b"ROLLBACK").unwrap();
    assert_tells(&load.finish_within(LIMIT), 0, &["loaded 3 rows"]);
    holder.execute(b"SET GLOBAL max_statement_time = DEFAULT").unwrap();
    assert_eq!(server.rows_of_case("SELECT id FROM t ORDER BY id"), [["1"], ["2"], ["3"]]);
}
