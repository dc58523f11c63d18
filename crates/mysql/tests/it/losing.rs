//! Connections that end during a command.

use std::thread;
use std::time::Duration;

use hortator_mysql::{Connection, Error};

use crate::server::Server;

/// Checks that the connection is lost, reports it, and stays lost.
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
    let waiting = thread::spawn(move || {
        let error = busy.execute(b"select sleep(60)").unwrap_err();
        assert_lost(&mut busy, &error, "while waiting for the answer to a statement");
    });
    thread::sleep(Duration::from_millis(300));
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
        let error = busy.execute(b"select sleep(60)").unwrap_err();
        assert_lost(&mut busy, &error, "lost the connection");
    });
    thread::sleep(Duration::from_millis(300));
    for id in [busy_id, idle.id()] {
        killer.execute(format!("kill {id}").as_bytes()).unwrap();
    }
    waiting.join().unwrap();
    thread::sleep(Duration::from_millis(300));
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
    thread::sleep(Duration::from_millis(300));
    killer.execute(format!("kill query {id}").as_bytes()).unwrap();
    waiting.join().unwrap();
}

#[test]
fn a_server_that_takes_too_long() {
    let server = Server::shared();
    let mut options = server.options();
    options.read_timeout = Some(Duration::from_millis(300));
    let mut connection = Connection::open(&options).unwrap();
    let error = connection.execute(b"select sleep(5)").unwrap_err();
    assert_lost(&mut connection, &error, "the server did not answer in time");
}

#[test]
fn idle_for_too_long() {
    let (_server, mut connection) = Server::shared().connection("idle");
    connection.execute(b"set wait_timeout = 1").unwrap();
    thread::sleep(Duration::from_millis(1500));
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
    thread::sleep(Duration::from_millis(200));
    let aborted = watcher.fetch(b"show global status like 'Aborted_clients'").unwrap();
    assert_eq!(aborted[0][1].as_deref(), Some(&b"0"[..]));
}
