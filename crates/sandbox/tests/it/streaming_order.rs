//! The end of a streaming transaction (`wsrep_trx_fragment_size`) releases rows that a later write set changes: it comes
//! first on every node, also on one that is behind, after a crash, and over a change of leader.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;
use hortator_sandbox::{Builder, Node, Sandbox, Temporary};

use crate::cluster_fixture::{define, since, size, wait_for};
use crate::disk::{Disk, Library};
use crate::{ask, provider, run};

/// A cluster with several appliers, and a table `d.t`.
fn cluster(nodes: usize) -> Temporary {
    provider::build();
    let builder = Builder::cluster(nodes).set("wsrep_slave_threads", "8");
    let cluster = builder.set("innodb_lock_wait_timeout", "5").start_temporary().unwrap();
    define(
        &cluster,
        &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)", "CREATE TABLE d.a (id INT)"],
    );
    cluster
}

fn execute(connection: &mut Connection, statements: &[&str]) {
    for statement in statements {
        connection.execute(statement.as_bytes()).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
}

const IN_FRAGMENTS: &str = "SET SESSION wsrep_trx_fragment_size = 1";
const WHOLE: &str = "SET SESSION wsrep_trx_fragment_size = 0";

/// An open transaction with this row, which was sent as a fragment.
fn open_with_row(node: Node<'_>, id: usize) -> Connection {
    let mut open = node.connect().unwrap();
    execute(&mut open, &[IN_FRAGMENTS, "BEGIN", &format!("INSERT INTO d.t VALUES ({id}, 1)")]);
    open
}

/// All nodes have so many rows, all with the value 2, and no fragments.
fn wait_for_rows(cluster: &Sandbox, count: usize) {
    let count = count.to_string();
    for node in cluster.nodes() {
        let rows = || ask(node, "SELECT COUNT(*), SUM(v = 2) FROM d.t");
        wait_for("the same rows", || rows() == [[count.clone(), count.clone()]]);
        let fragments = || ask(node, "SELECT node_uuid, trx_id, seqno FROM mysql.wsrep_streaming_log");
        wait_for("an empty mysql.wsrep_streaming_log", || fragments().is_empty());
    }
}

/// Runs the body while a node applies nothing; then it applies what has piled up with all threads.
fn while_behind(node: Node<'_>, body: impl FnOnce()) {
    let mut lock = node.connect().unwrap();
    execute(&mut lock, &["FLUSH TABLES WITH READ LOCK"]);
    body();
    execute(&mut lock, &["UNLOCK TABLES"]);
}

#[test]
fn what_follows_the_end_of_a_streaming_transaction_waits_for_it() {
    let cluster = cluster(3);
    let mut client = cluster.node(0).connect().unwrap();
    for round in 0..5 {
        while_behind(cluster.node(2), || {
            for id in (round * 60)..(round * 60 + 60) {
                let insert = format!("INSERT INTO d.t VALUES ({id}, 1)");
                let (end, next) = if id % 2 == 0 {
                    ("ROLLBACK", format!("INSERT INTO d.t VALUES ({id}, 2)"))
                } else {
                    ("COMMIT", format!("UPDATE d.t SET v = v + 1 WHERE id = {id}"))
                };
                let other = format!("INSERT INTO d.a VALUES ({id})");
                execute(&mut client, &[IN_FRAGMENTS, "BEGIN", &insert, &other, end, WHOLE, &next]);
            }
        });
        wait_for_rows(&cluster, (round + 1) * 60);
    }
    assert!(cluster.nodes().all(|node| size(node).as_deref() == Some("3")));
}

/// The server sends no rollback for a transaction that a definition has aborted: it takes it that all nodes abort it.
#[test]
fn what_follows_a_definition_that_aborts_a_streaming_transaction_waits_for_it() {
    let cluster = cluster(3);
    let (first, second) = (cluster.node(0), cluster.node(1));
    let mut client = first.connect().unwrap();
    for round in 0..3 {
        while_behind(cluster.node(2), || {
            for id in (round * 20)..(round * 20 + 20) {
                let mut open = first.connect().unwrap();
                let (one, other) =
                    (format!("INSERT INTO d.a VALUES ({id})"), format!("INSERT INTO d.t VALUES ({id}, 1)"));
                execute(&mut open, &[IN_FRAGMENTS, "BEGIN", &one, &other]);
                run(second, &[&format!("ALTER TABLE d.a COMMENT = '{id}'")]);
                execute(&mut client, &[&format!("INSERT INTO d.t VALUES ({id}, 2)")]);
                assert!(open.execute(b"COMMIT").unwrap_err().to_string().contains("1213"));
            }
        });
        wait_for_rows(&cluster, (round + 1) * 20);
    }
    assert!(cluster.nodes().all(|node| size(node).as_deref() == Some("3")));
}

/// The transaction only reads the table: on the other nodes nothing of it is in the way of the definition.
#[test]
fn a_streaming_transaction_that_a_definition_aborts_on_its_node_ends_on_all_nodes() {
    let cluster = cluster(3);
    for (id, definer) in [(1, 1), (2, 0)] {
        let mut open = cluster.node(0).connect().unwrap();
        execute(&mut open, &[IN_FRAGMENTS, "BEGIN"]);
        open.fetch(b"SELECT * FROM d.a").unwrap();
        execute(&mut open, &[&format!("INSERT INTO d.t VALUES ({id}, 1)")]);
        run(cluster.node(definer), &[&format!("ALTER TABLE d.a ADD COLUMN c{id} INT")]);
        for node in cluster.nodes() {
            let fragments = || ask(node, "SELECT node_uuid, trx_id, seqno FROM mysql.wsrep_streaming_log");
            wait_for("the end of its fragments", || fragments().is_empty());
        }
        run(cluster.node(0), &[&format!("INSERT INTO d.t VALUES ({id}, 2)")]);
        assert!(open.execute(b"COMMIT").unwrap_err().to_string().contains("1213"));
    }
    wait_for_rows(&cluster, 2);
}

#[test]
fn a_fragment_on_its_way_that_a_definition_aborts_ends_on_all_nodes() {
    provider::build();
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::new(&Library::compile(folder.path()));
    let cluster = Builder::cluster(3).host(0, disk.host()).start_temporary().unwrap();
    define(
        &cluster,
        &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)", "CREATE TABLE d.a (id INT)"],
    );
    disk.slow(Duration::from_millis(20));
    let (first, second) = (cluster.node(0), cluster.node(1));
    for id in 0..20_u64 {
        let mut open = first.connect().unwrap();
        execute(&mut open, &[IN_FRAGMENTS, "BEGIN"]);
        open.fetch(b"SELECT * FROM d.a").unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(id % 10 * 2));
                // The definition may be before it.
                let _ = open.execute(format!("INSERT INTO d.t VALUES ({id}, 1)").as_bytes());
            });
            run(second, &[&format!("ALTER TABLE d.a COMMENT = '{id}'")]);
        });
        // It is over, or is not: then this ends it.
        let _ = open.execute(b"ROLLBACK");
        // Node 2 has seen what node 1 did.
        run(second, &["SET SESSION wsrep_sync_wait = 7", &format!("INSERT INTO d.t VALUES ({id}, 2)")]);
    }
    wait_for_rows(&cluster, 20);
}

/// All at once, so that rollbacks wait for one another; the rows are written again within this time.
fn roll_back_and_write_again(node: Node<'_>, open: Vec<(usize, Connection)>, within: Duration) {
    let options = node.connect_options();
    let step = within / u32::try_from(open.len()).unwrap();
    let start = Barrier::new(open.len());
    thread::scope(|scope| {
        for (delay, (id, mut open)) in (0..).map(|nth| step * nth).zip(open) {
            let (options, start) = (&options, &start);
            scope.spawn(move || {
                let mut next = Connection::open(options).unwrap();
                start.wait();
                // Without a leader for long, its node has rolled it back.
                let _ = open.execute(b"ROLLBACK");
                thread::sleep(delay);
                let row = format!("INSERT INTO d.t VALUES ({id}, 2)");
                let deadline = Instant::now() + Duration::from_secs(60);
                // A change of leader may refuse it for a moment.
                while let Err(error) = next.execute(row.as_bytes()) {
                    assert!(Instant::now() < deadline, "{row}: {error}");
                    thread::sleep(Duration::from_millis(20));
                    next = Connection::open(options).unwrap();
                }
            });
        }
    });
}

#[test]
fn a_single_node_rolls_back_before_what_follows_also_after_a_crash() {
    const ROWS: usize = 60;
    let cluster = cluster(2);
    let (first, second) = (cluster.node(0), cluster.node(1));
    second.stop().unwrap();
    wait_for("a single node", || size(first).as_deref() == Some("1"));
    for (round, is_locked) in [false, true, false].into_iter().enumerate() {
        let open = (round * ROWS..(round + 1) * ROWS).map(|id| (id, open_with_row(first, id)));
        let mut open: Vec<_> = open.collect();
        if is_locked {
            while_behind(first, || open.iter_mut().for_each(|(_, open)| execute(open, &["ROLLBACK"])));
        }
        roll_back_and_write_again(first, open, Duration::ZERO);
        first.kill().unwrap();
        first.start().unwrap();
        wait_for("its rows", || ask(first, "SELECT SUM(v = 2) FROM d.t") == [[((round + 1) * ROWS).to_string()]]);
    }
    // It applies the same log.
    second.start().unwrap();
    wait_for_rows(&cluster, 3 * ROWS);
}

#[test]
fn a_rollback_during_a_pause_in_which_another_node_links_comes_before_what_follows() {
    const ROWS: usize = 20;
    let cluster = cluster(2);
    let (first, second) = (cluster.node(0), cluster.node(1));
    second.stop().unwrap();
    wait_for("a single node", || size(first).as_deref() == Some("1"));
    let mut open: Vec<_> = (0..ROWS).map(|id| (id, open_with_row(first, id))).collect();
    let from = since(first, 0).len();
    thread::scope(|scope| {
        let mut start = None;
        while_behind(first, || {
            open.iter_mut().for_each(|(_, open)| execute(open, &["ROLLBACK"]));
            start = Some(scope.spawn(|| second.start()));
            wait_for("the link", || since(first, from).contains("linked to node2"));
        });
        roll_back_and_write_again(first, open, Duration::ZERO);
        start.unwrap().join().unwrap().unwrap();
    });
    wait_for_rows(&cluster, ROWS);
    second.kill().unwrap();
    second.start().unwrap();
    wait_for_rows(&cluster, ROWS);
}

#[test]
fn a_rollback_that_a_full_log_has_no_room_for_needs_no_further_write() {
    const ROWS: usize = 20;
    provider::build();
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::new(&Library::compile(folder.path()));
    let builder = Builder::cluster(1).host(0, disk.host()).set("wsrep_provider_options", "log.segment=1M");
    let cluster = builder.start_temporary().unwrap();
    let node = cluster.node(0);
    run(node, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)", "CREATE TABLE d.a (id INT)"]);
    run(node, &["CREATE TABLE d.wide (id INT PRIMARY KEY, n INT, filler VARBINARY(7000))"]);
    run(node, &["INSERT INTO d.wide VALUES (1, 0, REPEAT('x', 7000))"]);
    let mut writer = node.connect().unwrap();
    let mut update = |n: i32| {
        writer.execute(format!("UPDATE d.wide SET n = {n}, filler = REPEAT('{}', 7000)", n % 10).as_bytes()).err()
    };
    // The tables grow by what they need.
    assert!((0..1000).all(|n| update(n).is_none()));
    // The log's last bytes may have room for a few rollbacks, which are short.
    let open: Vec<_> = (0..ROWS).map(|id| (id, open_with_row(node, id))).collect();
    let fragments = || ask(node, "SELECT node_uuid, trx_id, seqno FROM mysql.wsrep_streaming_log");
    assert_eq!(fragments().len(), ROWS);
    disk.set_full(true);
    let is_refused = |error: hortator_mysql::Error| error.to_string().contains("ERROR 1180");
    assert!((0..5000).any(|n| update(n).is_some_and(is_refused)), "the log finds room for everything");
    let mut writer = node.connect().unwrap();
    let mut insert = |id: i32| writer.execute(format!("INSERT INTO d.a VALUES ({id})").as_bytes()).err();
    assert!((0..200).any(|id| insert(id).is_some_and(is_refused)), "the log finds room for everything that is short");
    open.into_iter().for_each(|(_, mut open)| execute(&mut open, &["ROLLBACK"]));
    assert!(!fragments().is_empty(), "the log has no room for the rollbacks");
    disk.set_full(false);
    wait_for("an empty mysql.wsrep_streaming_log", || fragments().is_empty());
    for id in 0..ROWS {
        run(node, &[&format!("INSERT INTO d.t VALUES ({id}, 2)")]);
    }
    node.kill().unwrap();
    node.start().unwrap();
    wait_for_rows(&cluster, ROWS);
}

#[test]
fn a_rollback_that_is_lost_with_a_leader_comes_before_what_follows() {
    const ROWS: usize = 60;
    provider::build();
    let folder = tempfile::tempdir().unwrap();
    let library = Library::compile(folder.path());
    // The first entry of a new leader takes that long, and what is written meanwhile waits for it.
    let disks: Vec<Disk> = (0..3).map(|_| Disk::new(&library)).collect();
    let builder = Builder::cluster(3).set("wsrep_slave_threads", "8");
    let builder = disks.iter().enumerate().fold(builder, |builder, (index, disk)| builder.host(index, disk.host()));
    let cluster = builder.start_temporary().unwrap();
    define(&cluster, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)"]);
    for round in 0..3 {
        let leads =
            |node: &Node<'_>| ask(*node, "SHOW STATUS LIKE 'wsrep_raft_role'").iter().any(|row| row[1] == "leader");
        wait_for("a leader", || cluster.nodes().any(|node| leads(&node)));
        let leader = cluster.nodes().find(leads).unwrap();
        let follower = cluster.nodes().find(|node| !leads(node)).unwrap();
        let open: Vec<_> = (round * ROWS..(round + 1) * ROWS).map(|id| (id, open_with_row(follower, id))).collect();
        disks.iter().for_each(|disk| disk.slow(Duration::from_millis(150)));
        leader.kill().unwrap();
        // Some before, some while and some after the others elect one.
        roll_back_and_write_again(follower, open, Duration::from_secs(4));
        disks.iter().for_each(|disk| disk.slow(Duration::ZERO));
        leader.start().unwrap();
        wait_for_rows(&cluster, (round + 1) * ROWS);
    }
    assert!(cluster.nodes().all(|node| size(node).as_deref() == Some("3")));
}

/// A range has a lock on the gaps only where the transaction runs.
#[test]
fn a_streaming_transaction_yields_its_gaps_while_its_fragment_commits() {
    provider::build();
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::new(&Library::compile(folder.path()));
    let builder = Builder::cluster(3).set("wsrep_slave_threads", "8").host(0, disk.host());
    let cluster = builder.start_temporary().unwrap();
    define(&cluster, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)"]);
    disk.slow(Duration::from_millis(10));
    let (first, second) = (cluster.node(0), cluster.node(1));
    run(first, &["INSERT INTO d.t VALUES (10, 0), (12, 0), (14, 0), (16, 0), (18, 0), (20, 0)"]);
    let deadline = Instant::now() + Duration::from_secs(15);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = first.connect().unwrap();
                execute(&mut client, &[IN_FRAGMENTS]);
                let update = "UPDATE d.t SET v = v + 1 WHERE id BETWEEN 10 AND 20";
                while Instant::now() < deadline {
                    // Conflicts end it.
                    let all = ["BEGIN", update, update, update, update, "COMMIT"];
                    if all.iter().any(|statement| client.execute(statement.as_bytes()).is_err()) {
                        execute(&mut client, &["ROLLBACK"]);
                    }
                }
            });
        }
        for id in [11, 13, 15, 17] {
            scope.spawn(move || {
                let mut client = second.connect().unwrap();
                let (insert, delete) =
                    (format!("INSERT INTO d.t VALUES ({id}, 2)"), format!("DELETE FROM d.t WHERE id = {id}"));
                while Instant::now() < deadline {
                    let _ = client.execute(insert.as_bytes());
                    let _ = client.execute(delete.as_bytes());
                }
            });
        }
    });
    // Nobody waits for ever: the first node applies what the second one writes now.
    run(second, &["INSERT INTO d.t VALUES (99, 2)"]);
    wait_for("the row", || ask(first, "SELECT v FROM d.t WHERE id = 99") == [["2"]]);
    run(first, &["INSERT INTO d.t VALUES (100, 2)"]);
}
