//! A global read lock that is taken while a node catches up at its start: what its session reads does not change, and the node
//! is there when the lock has ended.

use std::thread;
use std::time::Duration;

use hortator_mysql::Connection;
use hortator_sandbox::{Builder, Node, Sandbox, Temporary};

use crate::cluster_fixture::{define, size, wait_for};
use crate::{ask, provider, run};

/// Rows of a write set: it takes a while to apply.
const ROWS: usize = 2_000;
/// The node catches up for seconds.
const WRITE_SETS: usize = 150;
/// It may have caught up before the lock.
const ATTEMPTS: usize = 6;

fn cluster(nodes: usize) -> Temporary {
    provider::build();
    // What a crash leaves to be applied again.
    let builder = Builder::cluster(nodes).set("innodb_flush_log_at_trx_commit", "0");
    let builder = builder.set("innodb_flush_log_at_timeout", "20").set("innodb_log_buffer_size", "256M");
    let cluster = builder.start_temporary().unwrap();
    define(&cluster, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)"]);
    cluster
}

fn write(node: Node<'_>, from: usize) {
    let mut client = node.connect().unwrap();
    // For the tables of the engine SEQUENCE.
    client.execute(b"USE d").unwrap();
    for nth in from..from + WRITE_SETS {
        let first = nth * ROWS;
        client.execute(format!("INSERT INTO d.t SELECT {first} + seq, 0 FROM seq_1_to_{ROWS}").as_bytes()).unwrap();
    }
}

fn count(client: &mut Connection) -> Option<usize> {
    let rows = client.fetch(b"SELECT COUNT(*) FROM d.t").ok()?;
    String::from_utf8(rows[0][0].clone()?).ok()?.parse().ok()
}

/// A session of a node that may still catch up, and sees its tables.
fn reader(node: Node<'_>) -> Connection {
    let mut reader = None;
    wait_for("a session", || {
        reader = node.connect().ok().filter(|_| node.pid().is_some());
        reader.as_mut().is_some_and(|client| client.execute(b"SET SESSION wsrep_dirty_reads = ON").is_ok())
    });
    reader.unwrap()
}

/// Takes the lock while the node has more than `before` of the rows. True: the node had not caught up yet.
fn is_locked_meanwhile(node: Node<'_>, before: usize, all: usize) -> bool {
    let mut client = reader(node);
    wait_for("some of the rows", || count(&mut client).is_some_and(|rows| rows >= before));
    client.execute(b"FLUSH TABLES WITH READ LOCK").unwrap();
    let rows = count(&mut client).unwrap();
    let is_synced = || node.wsrep_status().is_some_and(|status| status.is_synced());
    // A node that is not held back applies more by then.
    thread::sleep(Duration::from_secs(2));
    assert_eq!(count(&mut client), Some(rows));
    assert!(rows == all || !is_synced());
    client.execute(b"UNLOCK TABLES").unwrap();
    rows < all
}

fn assert_equal(cluster: &Sandbox, rows: usize) {
    for node in cluster.nodes() {
        run(node, &["SET SESSION wsrep_sync_wait = 1", "SELECT COUNT(*) FROM d.t"]);
        assert_eq!(ask(node, "SELECT COUNT(*), SUM(id) FROM d.t")[0][0], rows.to_string(), "{}", node.name());
        // The next lock, and its end, do not meet the former one.
        run(node, &["FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES"]);
    }
}

#[test]
fn a_global_read_lock_holds_while_a_node_catches_up() {
    let cluster = cluster(3);
    let [first, third] = [0, 2].map(|index| cluster.node(index));
    let was_meanwhile = (0..ATTEMPTS).any(|round| {
        let (before, all) = (round * WRITE_SETS * ROWS + 1, (round + 1) * WRITE_SETS * ROWS);
        third.stop().unwrap();
        write(first, round * WRITE_SETS);
        let was_meanwhile = thread::scope(|scope| {
            let start = scope.spawn(|| third.start());
            let was_meanwhile = is_locked_meanwhile(third, before, all);
            start.join().unwrap().unwrap();
            was_meanwhile
        });
        wait_for("its return", || size(first).as_deref() == Some("3"));
        assert_equal(&cluster, all);
        was_meanwhile
    });
    assert!(was_meanwhile, "the lock always came too late");
}

#[test]
fn a_global_read_lock_holds_while_a_single_node_applies_its_log() {
    let cluster = cluster(1);
    let node = cluster.node(0);
    let was_meanwhile = (0..ATTEMPTS).any(|round| {
        write(node, round * WRITE_SETS);
        node.kill().unwrap();
        let all = (round + 1) * WRITE_SETS * ROWS;
        let was_meanwhile = thread::scope(|scope| {
            let start = scope.spawn(|| node.start());
            let was_meanwhile = is_locked_meanwhile(node, 0, all);
            start.join().unwrap().unwrap();
            was_meanwhile
        });
        assert_equal(&cluster, all);
        was_meanwhile
    });
    assert!(was_meanwhile, "the lock always came too late");
}
