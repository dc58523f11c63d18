//! Loads that wait for replicas: behind, stopped, silent, gone, or told by a heartbeat.

use std::net::TcpListener;
use std::thread;

use hortator_sandbox::Builder;

use super::{POLL, TRIES, assert_whole, start, summary, wait_until_held};
use crate::errors::dump_file;
use crate::interrupted::long_dump;
use crate::servers::Server;

/// A source and its replica; the load is into the source.
fn replicated() -> Server {
    let server = Server::from(Builder::semisync());
    server.reset();
    server
}

fn replica(server: &Server, statement: &str) {
    let mut connection = server.sandbox().node(1).connect().unwrap();
    connection.execute(statement.as_bytes()).unwrap_or_else(|error| panic!("{statement}: {error}"));
}

/// Waits until the replica has no such schema.
fn wait_until_gone(server: &Server, schema: &str) {
    let mut connection = server.sandbox().node(1).connect().unwrap();
    let query = format!("SHOW DATABASES LIKE '{schema}'");
    let is_gone = |_| {
        thread::sleep(POLL);
        connection.fetch(query.as_bytes()).unwrap().is_empty()
    };
    assert!((0..TRIES).any(is_gone), "the replica keeps {schema}");
}

#[test]
fn a_replica_that_is_stopped_silent_or_gone() {
    let server = replicated();
    let (_folder, dump) = dump_file("dump.sql", &long_dump());
    let node = server.sandbox().node(1);
    let socket = node.socket().to_str().unwrap().to_owned();
    let arguments = ["--throttle", "lag=600", "--throttle-replicas", &socket, dump.to_str().unwrap()];
    replica(&server, "STOP REPLICA SQL_THREAD");
    let mut running = start(&server, &arguments);
    wait_until_held(&mut running, "its replication is stopped", 1);
    assert!(server.rows_of_case("SHOW TABLES").is_empty());
    replica(&server, "START REPLICA");
    summary(&running.finish());
    assert_whole(&server);

    // One that does not answer is not known to keep up, unless the user says so.
    server.reset();
    node.pause().unwrap();
    let mut running = start(&server, &arguments);
    wait_until_held(&mut running, "is unknown", 1);
    node.resume().unwrap();
    summary(&running.finish());
    assert_whole(&server);

    server.reset();
    node.stop().unwrap();
    let unreachable = [&arguments[..], &["--throttle-unreachable", "ignore"]].concat();
    let summary = summary(&start(&server, &unreachable).finish());
    assert_whole(&server);
    let note = summary["throttle"]["notes"][0].as_str().unwrap();
    assert!(note.contains("did not wait for replica") && note.contains(&socket), "{summary}");
}

/// It takes connections and says nothing.
#[test]
fn a_replica_that_never_answers() {
    let server = replicated();
    let (_folder, dump) = dump_file("dump.sql", &long_dump());
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let arguments = ["--throttle", "lag=1", "--throttle-replicas", &address, dump.to_str().unwrap()];
    let mut running = start(&server, &arguments);
    wait_until_held(&mut running, "is unknown", 2);
    crate::interrupted::signal(&running, rustix::process::Signal::INT);
    assert_eq!(running.finish().status, Some(130));
    assert!(server.rows_of_case("SHOW TABLES").is_empty());
}

#[test]
fn a_server_that_is_no_replica() {
    let server = replicated();
    let (_folder, dump) = dump_file("dump.sql", &long_dump());
    let socket = server.socket().to_str().unwrap().to_owned();
    let arguments = ["--throttle", "lag=1", "--throttle-replicas", &socket, dump.to_str().unwrap()];
    let mut running = start(&server, &arguments);
    wait_until_held(&mut running, "the server is no replica", 1);
    crate::interrupted::signal(&running, rustix::process::Signal::TERM);
    assert_eq!(running.finish().status, Some(130));
}

#[test]
fn a_heartbeat_that_is_old() {
    let server = replicated();
    let mut source = server.connect();
    for statement in [
        "CREATE DATABASE beat",
        // As pt-heartbeat makes it.
        "CREATE TABLE beat.heartbeat (ts VARCHAR(26) NOT NULL, server_id INT UNSIGNED NOT NULL PRIMARY KEY)",
        "INSERT INTO beat.heartbeat VALUES (DATE_FORMAT(NOW(6) - INTERVAL 1 HOUR, '%Y-%m-%dT%H:%i:%s.%f'), 1)",
    ] {
        source.execute(statement.as_bytes()).unwrap();
    }
    let (_folder, dump) = dump_file("dump.sql", &long_dump());
    let socket = server.sandbox().node(1).socket().to_str().unwrap().to_owned();
    let replicas = ["--throttle-replicas", &socket, "--throttle-heartbeat", "beat.heartbeat"];
    let arguments = [&["--throttle", "lag=600"][..], &replicas, &[dump.to_str().unwrap()]].concat();
    let mut running = start(&server, &arguments);
    wait_until_held(&mut running, "lags 36", 1);
    assert!(server.rows_of_case("SHOW TABLES").is_empty());
    source.execute(b"UPDATE beat.heartbeat SET ts = DATE_FORMAT(NOW(6), '%Y-%m-%dT%H:%i:%s.%f')").unwrap();
    summary(&running.finish());
    assert_whole(&server);

    server.reset();
    // The replica has the table until it has applied that.
    wait_until_gone(&server, "beat");
    let mut running = start(&server, &arguments);
    wait_until_held(&mut running, "Table 'beat.heartbeat' doesn't exist", 1);
    crate::interrupted::signal(&running, rustix::process::Signal::INT);
    assert_eq!(running.finish().status, Some(130));
}

/// Who reads the binary log all the time, or waits for events, runs no statement.
#[test]
fn replicas_are_no_statements_of_others() {
    let server = replicated();
    server.connect().execute(b"SET GLOBAL event_scheduler = ON").unwrap();
    server.wait_until(
        "SELECT COUNT(*) = 2 FROM information_schema.PROCESSLIST WHERE COMMAND IN ('Binlog Dump', 'Daemon')",
    );
    let (_folder, dump) = dump_file("dump.sql", &long_dump());
    let running = start(&server, &["--throttle", "threads=1", dump.to_str().unwrap()]);
    summary(&running.finish());
    assert_whole(&server);
}
