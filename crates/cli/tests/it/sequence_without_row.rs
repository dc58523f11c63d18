//! A server that was killed in the middle of CREATE SEQUENCE has the sequence without its row, and crashes some time after
//! somebody has tried to read it.

use std::time::Duration;

use hortator_mysql::Connection;
use hortator_sandbox::Temporary;
use rustix::process::{Pid, Signal, kill_process};

use crate::errors::{assert_tells, dump_file, load_into};
use crate::programs::{Running, run};
use crate::replicate::fan_in::{self, FanIn, texts};
use crate::resumed_corners::end_statement;
use crate::servers::{DATABASE, Server};

/// An ended load on a busy machine.
const LIMIT: Duration = Duration::from_secs(600);

/// Kills the server between the table of a sequence and its row: the row is committed without being written to disk. It
/// reads nothing of it afterwards.
fn make_without_row(sandbox: &Temporary, sequence: &str) {
    let node = sandbox.node(0);
    let mut connection = node.connect().unwrap();
    connection.execute(b"SET GLOBAL innodb_flush_log_at_trx_commit = 0").unwrap();
    connection.execute(format!("CREATE SEQUENCE {sequence}").as_bytes()).unwrap();
    node.kill().unwrap();
    node.start().unwrap();
}

/// Nobody defines anything until it is dropped.
fn block_definitions(sandbox: &Temporary) -> Connection {
    let mut connection = sandbox.node(0).connect().unwrap();
    connection.execute(b"BACKUP STAGE START").unwrap();
    connection.execute(b"BACKUP STAGE BLOCK_DDL").unwrap();
    connection
}

const WAITS: &str =
    "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'CREATE%SEQUENCE%' AND STATE LIKE '%lock%'";

#[test]
fn a_load_that_goes_on() {
    let server = Server::start(&[("innodb_flush_log_at_trx_commit", "1")]);
    let sequence = format!("{DATABASE}.s");
    for statement in ["CREATE SEQUENCE s START WITH 7", "CREATE OR REPLACE SEQUENCE s START WITH 7"] {
        server.reset();
        let text = format!(
            "CREATE TABLE t (id INT) ENGINE=InnoDB;\nINSERT INTO t VALUES (1);\nDO GET_LOCK('gate', 1000);\n{statement};\n\
             INSERT INTO t SELECT NEXTVAL(s);\n"
        );
        let (_folder, path) = dump_file("dump.sql", text.as_bytes());
        let file = path.to_str().unwrap();
        let mut gate = server.connect();
        gate.fetch(b"SELECT GET_LOCK('gate', 0)").unwrap();
        let running = Running::start(load_into(&server, &[file]));
        server.wait_until("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'DO GET_LOCK%'");
        let blocked = block_definitions(server.sandbox());
        drop(gate);
        server.wait_until(WAITS);
        kill_process(Pid::from_raw(i32::try_from(running.pid()).unwrap()).unwrap(), Signal::KILL).unwrap();
        running.finish_within(LIMIT);
        end_statement(&server, "CREATE%SEQUENCE%");
        drop(blocked);
        // A sequence of the same position in another text is not the load's.
        server.connect().execute(format!("CREATE SEQUENCE {DATABASE}.other START WITH 20").as_bytes()).unwrap();
        let (_folder, edited) = dump_file("dump.sql", text.replace("SEQUENCE s", "SEQUENCE other").as_bytes());
        run(load_into(&server, &["--resume", edited.to_str().unwrap()]));
        assert_eq!(server.rows_of_case("SELECT NEXTVAL(other)"), [["20"]]);
        make_without_row(server.sandbox(), &sequence);
        assert_tells(&run(load_into(&server, &["--resume", file])), 0, &[]);
        assert_eq!(server.rows_of_case("SELECT GROUP_CONCAT(id ORDER BY id) FROM t"), [["1,7"]], "{statement}");
    }
}

#[test]
fn a_source_that_goes_on() {
    let fan_in = FanIn::new(1, &[("innodb_flush_log_at_trx_commit", "1")]);
    let agent = fan_in.start();
    fan_in::run(&fan_in.sources[0], &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE=InnoDB"]);
    fan_in.catch_up();
    let blocked = block_definitions(&fan_in.target);
    fan_in::run(&fan_in.sources[0], &["CREATE SEQUENCE d.s START WITH 7", "INSERT INTO d.t SELECT NEXTVAL(d.s)"]);
    fan_in.wait_until("it to wait", |_| texts(&fan_in.target, WAITS) == [["1"]]);
    drop(agent);
    let id = texts(&fan_in.target, &WAITS.replace("COUNT(*)", "ID"))[0][0].clone();
    fan_in::run(&fan_in.target, &[&format!("KILL {id}")]);
    drop(blocked);
    make_without_row(&fan_in.target, "d.s");
    let _agent = fan_in.start();
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d.t"), [["7"]]);
    assert_eq!(texts(&fan_in.target, "SELECT NEXTVAL(d.s) > 7"), [["1"]]);
}
