//! Workers of a load, and sources of an agent, learn who is in the way of whom, however many of them ask.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::LockWaits;

use crate::servers::{DATABASE, Server};

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
