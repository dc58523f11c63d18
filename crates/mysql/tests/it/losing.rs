//! Connections that end during a command.

use std::thread;
use std::time::Duration;

use hortator_mysql::{Connection, Error};

use crate::server::Server;

/// How long something is waited for that takes a moment on an idle machine.
const PATIENCE_TRIES: u32 = 12_000;
const PATIENCE_PAUSE: Duration = Duration::from_millis(10);

/// Whether a connection runs a statement: its number is to follow.
const RUNS: &str = "select count(*) > 0 from information_schema.processlist where command = 'Query'";

/// Waits until a query gives 1.
fn wait_until(connection: &mut Connection, query: &str) {
    for _ in 0..PATIENCE_TRIES {
        if connection.fetch(query.as_bytes()).unwrap()[0][0].as_deref() == Some(b"1") {
            return;
        }
        thread::sleep(PATIENCE_PAUSE);
    }
    panic!("it does not come to: {query}");
}

/// Checks that the connection is lost, says so, and stays so.
fn assert_lost(connection: &mut Connection, error: &Error, words: &str) {
    assert!(error.is_lost(), "{error:?}");
    assert!(error.to_string().contains(words), "{error}");
    assert_eq!(&connection.ping().unwrap_err(), error);
    assert_eq!(connection.execute(b"select 1").unwrap_err(), *error);
}

#[test]
fn a_server_that_dies() {
    let mut server = Server::own();
    let mut busy = Connection::open(&server.options()).unwrap();
    let mut idle = Connection::open(&server.options()).unwrap();
    let busy_id = busy.id();
    let waiting = thread::spawn(move || {
        let error = busy.execute(b"select sleep(3600)").unwrap_err();
        assert_lost(&mut busy, &error, "while waiting for the answer to a statement");
    });
    wait_until(&mut idle, &format!("{RUNS} and id = {busy_id}"));
    server.kill();
    waiting.join().unwrap();
    let error = idle.execute(b"select 1").unwrap_err();
    assert_lost(&mut idle, &error, "lost the connection to the server at");
    assert!(matches!(Connection::open(&server.options()), Err(Error::Connect { .. })));
}

#[test]
fn a_connection_that_is_killed() {
    let (server, mut busy) = Server::shared().connection("killed");
    let mut idle = Connection::open(&server.options()).unwrap();
    let mut killer = Connection::open(&server.options()).unwrap();
    let busy_id = busy.id();
    let waiting = thread::spawn(move || {
        let error = busy.execute(b"select sleep(3600)").unwrap_err();
        assert_lost(&mut busy, &error, "lost the connection");
    });
    wait_until(&mut killer, &format!("{RUNS} and id = {busy_id}"));
    for id in [busy_id, idle.id()] {
        killer.execute(format!("kill {id}").as_bytes()).unwrap();
    }
    waiting.join().unwrap();
    wait_until(
        &mut killer,
        &format!("select count(*) = 0 from information_schema.processlist where id = {}", idle.id()),
    );
    let error = idle.ping().unwrap_err();
    assert_lost(&mut idle, &error, "lost the connection");
}

#[test]
fn a_statement_that_is_killed_is_not_the_connection() {
    let (server, mut busy) = Server::shared().connection("interrupted");
    let mut killer = Connection::open(&server.options()).unwrap();
    let id = busy.id();
    let waiting = thread::spawn(move || {
        let error = busy.execute(b"select count(*) from seq_1_to_100000000 a, seq_1_to_1000 b").unwrap_err();
        assert_eq!(error.code(), Some(1317), "{error}");
        busy.ping().unwrap();
    });
    wait_until(&mut killer, &format!("{RUNS} and id = {id}"));
    killer.execute(format!("kill query {id}").as_bytes()).unwrap();
    waiting.join().unwrap();
}

#[test]
fn a_server_that_takes_too_long() {
    let server = Server::shared();
    let mut options = server.options();
    options.read_timeout = Some(Duration::from_secs(3));
    let mut connection = Connection::open(&options).unwrap();
    let error = connection.execute(b"select sleep(3600)").unwrap_err();
    assert_lost(&mut connection, &error, "the server did not answer in time");
}

#[test]
fn idle_for_too_long() {
    let (server, mut connection) = Server::shared().connection("idle");
    let mut watcher = Connection::open(&server.options()).unwrap();
    connection.execute(b"set wait_timeout = 1").unwrap();
    let gone = format!("select count(*) = 0 from information_schema.processlist where id = {}", connection.id());
    wait_until(&mut watcher, &gone);
    let error = connection.execute(b"select 1").unwrap_err();
    assert_lost(&mut connection, &error, "lost the connection");
}

#[test]
fn a_dropped_connection_says_goodbye() {
    let server = Server::own();
    let mut watcher = Connection::open(&server.options()).unwrap();
    for _ in 0..5 {
        drop(Connection::open(&server.options()).unwrap());
    }
    let alone =
        "select variable_value = 1 from information_schema.global_status where variable_name = 'threads_connected'";
    wait_until(&mut watcher, alone);
    let aborted = watcher.fetch(b"show global status like 'Aborted_clients'").unwrap();
    assert_eq!(aborted[0][1].as_deref(), Some(&b"0"[..]));
}
