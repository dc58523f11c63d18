//! Comparisons of servers that are written to, or end, at the same time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use hortator_check::compare::{Options, Progress, compare};

use crate::pair::{SCHEMA, pair, run_both, shown};
use crate::{connect, run, server};

/// The number of comparisons until a write comes between two snapshots.
const ATTEMPTS: usize = 1000;

#[test]
fn inconsistent_snapshots_give_a_remark() {
    let pair = pair();
    let mut connections = pair.fresh();
    run_both(&mut connections, &["CREATE TABLE still (id INT PRIMARY KEY)", "CREATE TABLE busy (n INT)"]);
    run_both(&mut connections, &["INSERT INTO still VALUES (1)", "INSERT INTO busy VALUES (0)"]);
    let options = Options { threads: 4, tables: vec!["still".to_owned()], ..Options::default() };
    assert_eq!(pair.compare(&options).remarks, [""; 0]);

    let done = AtomicBool::new(false);
    let remarks = thread::scope(|scope| {
        let [_, writer] = &mut connections;
        let write = || {
            while !done.load(Ordering::Relaxed) {
                // A commit would wait for the disk, and may then come too seldom.
                run(writer, &["BEGIN", "UPDATE busy SET n = n + 1", "ROLLBACK"]);
            }
        };
        scope.spawn(write);
        let remarks = (0..ATTEMPTS).map(|_| pair.compare(&options).remarks).find(|remarks| !remarks.is_empty());
        let locked = pair.compare(&Options { lock: true, ..options.clone() });
        let alone = pair.compare(&Options { threads: 1, ..options.clone() });
        done.store(true, Ordering::Relaxed);
        assert_eq!((locked.remarks, alone.remarks), (Vec::new(), Vec::new()));
        remarks
    });
    let remarks = remarks.expect("a writer came between the snapshots").join("\n");
    assert!(remarks.contains("the second endpoint may see different snapshots"), "{remarks}");
    assert!(!remarks.contains("the first endpoint"), "{remarks}");
}

#[test]
fn a_lock_needs_the_privilege() {
    let pair = pair();
    let mut connections = pair.fresh();
    run_both(&mut connections, &["CREATE TABLE t (id INT)"]);
    run(
        &mut connections[0],
        &["CREATE OR REPLACE USER reader@localhost", "GRANT SELECT ON shop.* TO reader@localhost"],
    );
    let mut endpoints = pair.endpoints();
    endpoints[0].connect.user = "reader".to_owned();
    let lock = Options { lock: true, ..Options::default() };
    let error = compare(&endpoints, &lock, &Progress::default()).unwrap_err().to_string();
    let without = compare(&endpoints, &Options::default(), &Progress::default()).map(|report| shown(&report));
    run(&mut connections[0], &["DROP USER reader@localhost"]);
    assert!(error.contains("the first endpoint (") && error.contains("ERROR 1227"), "{error}");
    assert_eq!(without.unwrap(), [""; 0]);
}

#[test]
fn a_server_that_is_killed_meanwhile_is_an_error() {
    let servers = [server(), server()];
    let endpoints = servers.each_ref().map(|server| {
        let mut connection = connect(server);
        run(&mut connection, &[&format!("CREATE DATABASE {SCHEMA}"), &format!("USE {SCHEMA}")]);
        run(&mut connection, &["CREATE TABLE shop.t (id INT PRIMARY KEY, v CHAR(100))"]);
        run(&mut connection, &["INSERT INTO shop.t SELECT seq, REPEAT('x', 100) FROM seq_1_to_200000"]);
        hortator_check::compare::Endpoint { connect: server.node(0).connect_options(), schema: Some(SCHEMA.to_owned()) }
    });
    let progress = Progress::default();
    // So many ranges that it is not over before the kill.
    let options = Options { threads: 2, range_rows: Some(10), ..Options::default() };
    let error = thread::scope(|scope| {
        let comparison = scope.spawn(|| compare(&endpoints, &options, &progress));
        while progress.rows() == 0 && !comparison.is_finished() {
            thread::yield_now();
        }
        servers[1].node(0).kill().unwrap();
        comparison.join().unwrap().unwrap_err().to_string()
    });
    assert!(error.starts_with("the second endpoint (") && error.contains("lost the connection"), "{error}");
    assert!(error.contains("reading rows of shop.t"), "{error}");
}
