//! Definitions whose subjects the load knows without a question: killed in the middle, and resumed.

use std::time::Duration;

use hortator_mysql::Connection;
use rustix::process::{Pid, Signal, kill_process};

use crate::errors::{assert_tells, dump_file, load_into};
use crate::programs::{Running, run};
use crate::resumed_corners::end_statement;
use crate::servers::{Server, pair};

/// An ended load on a busy machine.
const LIMIT: Duration = Duration::from_secs(600);

/// What the dump does before, so that the load knows what is there.
const BEFORE: &str = "CREATE TABLE f (id INT);\nCREATE TABLE t (id INT);\nCREATE USER 'hc_k'@'localhost';\n\
                      CREATE DATABASE hc_k;\nCREATE TABLE hc_k.t (id INT);\nDO GET_LOCK('gate', 1000);\n";
const CLEAN: [&str; 2] =
    ["DROP USER IF EXISTS 'hc_k'@'localhost', 'hc_new'@'localhost'", "DROP DATABASE IF EXISTS hc_k"];

/// A definition, what of another session holds it up, and what counts what it drops or makes; how many that is behind it.
struct Case {
    definition: &'static str,
    hold: &'static [&'static str],
    count: &'static str,
    after: &'static str,
}

const CASES: [Case; 4] = [
    Case {
        definition: "DROP TABLE t",
        hold: &["START TRANSACTION", "SELECT * FROM hortator_case.t"],
        count: "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 't'",
        after: "0",
    },
    Case {
        definition: "DROP DATABASE hc_k",
        hold: &["START TRANSACTION", "SELECT * FROM hc_k.t"],
        count: "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'hc_k'",
        after: "0",
    },
    Case {
        definition: "DROP USER 'hc_k'@'localhost'",
        hold: &["LOCK TABLES mysql.global_priv READ"],
        count: "SELECT COUNT(*) FROM mysql.global_priv WHERE User = 'hc_k'",
        after: "0",
    },
    Case {
        definition: "CREATE USER 'hc_new'@'localhost'",
        hold: &["LOCK TABLES mysql.global_priv READ"],
        count: "SELECT COUNT(*) FROM mysql.global_priv WHERE User = 'hc_new'",
        after: "1",
    },
];

fn clean(server: &Server) {
    server.reset();
    let mut connection = server.connect();
    CLEAN.iter().for_each(|statement| drop(connection.execute(statement.as_bytes()).unwrap()));
}

/// Starts a load that waits in front of `definition`; gives what it waits for.
fn start(server: &Server, file: &str) -> (Running, Connection) {
    let mut gate = server.connect();
    // A load that was killed may still have it for a moment.
    gate.fetch(b"SELECT GET_LOCK('gate', 1000)").unwrap();
    let running = Running::start(load_into(server, &[file]));
    server.wait_until("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'DO GET_LOCK%'");
    (running, gate)
}

fn kill_load(running: Running) {
    let pid = i32::try_from(running.pid()).ok().and_then(Pid::from_raw).expect("a process has an id");
    kill_process(pid, Signal::KILL).expect("the process is ours");
    running.finish_within(LIMIT);
}

/// Kills a load within the definition, which then gets its lock or is ended too; gives what the case counts.
fn kill_in(server: &Server, case: &Case, file: &str, goes_on: bool) -> Vec<Vec<String>> {
    clean(server);
    let (running, gate) = start(server, file);
    let mut holder = server.connect();
    case.hold.iter().for_each(|statement| drop(holder.fetch(statement.as_bytes()).unwrap()));
    drop(gate);
    let like = format!("{}%", case.definition.replace('\'', "''"));
    let found = format!("FROM information_schema.PROCESSLIST WHERE INFO LIKE '{like}'");
    server.wait_until(&format!("SELECT COUNT(*) {found} AND STATE LIKE '%lock%'"));
    kill_load(running);
    if goes_on {
        drop(holder);
        server.wait_until(&format!("SELECT COUNT(*) = 0 {found}"));
    } else {
        end_statement(server, &like);
        drop(holder);
    }
    server.rows_of_case(case.count)
}

#[test]
fn killed_in_the_middle() {
    let pair = pair();
    let server = &pair.hortator;
    for case in &CASES {
        let definition = case.definition;
        let text = format!("{BEFORE}{definition};\nINSERT INTO f VALUES (1);\n");
        let (_folder, path) = dump_file("dump.sql", text.as_bytes());
        let file = path.to_str().unwrap();
        for is_done in [true, false] {
            // The server may have ended the wait of a client that is gone before it got the lock.
            let tries = if is_done { 20 } else { 1 };
            let is_so = |_| (kill_in(server, case, file, is_done) == [[case.after]]) == is_done;
            assert!((0..tries).any(is_so), "{definition} {is_done}");
            assert_tells(&run(load_into(server, &["--resume", file])), 0, &[]);
            assert_eq!(server.rows_of_case(case.count), [[case.after]], "{definition} {is_done}");
            assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM f"), [["1"]], "{definition} {is_done}");
        }
    }
    clean(server);
}

/// Somebody else has dropped it: an error as with the client, and a load that goes on once it is there again.
#[test]
fn changed_by_somebody_else() {
    let pair = pair();
    let server = &pair.hortator;
    for (definition, by_hand, again, code) in [
        ("DROP TABLE t", "DROP TABLE hortator_case.t", "CREATE TABLE hortator_case.t (id INT)", "1051"),
        ("DROP DATABASE hc_k", "DROP DATABASE hc_k", "CREATE DATABASE hc_k", "1008"),
        ("DROP USER 'hc_k'@'localhost'", "DROP USER 'hc_k'@'localhost'", "CREATE USER 'hc_k'@'localhost'", "1396"),
        ("CREATE DATABASE hc_new", "CREATE DATABASE hc_new", "DROP DATABASE hc_new", "1007"),
    ] {
        clean(server);
        let text = format!("{BEFORE}{definition};\nINSERT INTO f VALUES (1);\n");
        let (_folder, path) = dump_file("dump.sql", text.as_bytes());
        let file = path.to_str().unwrap();
        let (running, gate) = start(server, file);
        server.connect().execute(by_hand.as_bytes()).unwrap();
        drop(gate);
        assert_tells(&running.finish_within(LIMIT), 1, &[code, "line 7", "--resume"]);
        assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM f"), [["0"]], "{definition}");
        server.connect().execute(again.as_bytes()).unwrap();
        assert_tells(&run(load_into(server, &["--resume", file])), 0, &[]);
        assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM f"), [["1"]], "{definition}");
    }
    clean(server);
}
