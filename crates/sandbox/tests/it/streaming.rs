//! Streaming transactions (`wsrep_trx_fragment_size`) of nodes that are isolated and come back.

use std::time::Duration;

use hortator_mysql::Connection;
use hortator_sandbox::{Builder, Healed, Node, Sandbox, Temporary};

use crate::cluster_fixture::{assert_logged, define, is_non_primary, since, size, wait_for};
use crate::disk::{Disk, Library};
use crate::{ask, provider, run, set_options};

fn cluster(nodes: usize) -> Temporary {
    provider::build();
    let cluster = Builder::cluster(nodes).start_temporary().unwrap();
    define(&cluster, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)"]);
    cluster
}

/// From then on, the node first applies what was confirmed anywhere before. Otherwise the first of two nodes that write the
/// same row wins, and the other client gets error 1213.
const SYNCED: &str = "SET SESSION wsrep_sync_wait = 7";

/// Runs these statements, and none conflicts with what was confirmed before.
fn run_synced(node: Node<'_>, statements: &[&str]) {
    run(node, &[&[SYNCED], statements].concat());
}

fn open_in_fragments(node: Node<'_>, statements: &[&str]) -> Connection {
    let mut open = node.connect().unwrap();
    for statement in [SYNCED, "SET SESSION wsrep_trx_fragment_size = 1", "BEGIN"].iter().chain(statements) {
        open.execute(statement.as_bytes()).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    open
}

/// The node takes part in a cluster of this size. Primary is not enough: it waits for the rollback of its fragments.
fn is_synced_with(node: Node<'_>, size: &str) -> bool {
    node.wsrep_status().is_some_and(|status| status.is_synced() && status.size.as_deref() == Some(size))
}

fn isolate_and_heal(cluster: &Sandbox, index: usize) {
    let (node, other) = (cluster.node(index), cluster.node((index + 1) % 3));
    node.isolate().unwrap();
    wait_for("the cut", || is_non_primary(node) && size(other).as_deref() == Some("2"));
    assert_eq!(node.heal().unwrap(), Healed::Synced);
}

/// The fragments in the tables of each node.
fn wait_until_no_fragments(cluster: &Sandbox) {
    for node in cluster.nodes() {
        let fragments = || ask(node, "SELECT node_uuid, trx_id, seqno FROM mysql.wsrep_streaming_log");
        wait_for("an empty mysql.wsrep_streaming_log", || fragments().is_empty());
    }
}

fn wait_for_rows(cluster: &Sandbox, rows: &[[&str; 2]]) {
    for node in cluster.nodes() {
        wait_for("the same rows", || ask(node, "SELECT id, v FROM d.t ORDER BY id") == rows);
    }
}

#[test]
fn a_node_that_comes_back_takes_fragments_again() {
    let cluster = cluster(3);
    // Each time it has another member ID; the leader is isolated too.
    for (round, index) in [2, 2, 0, 2].into_iter().enumerate() {
        isolate_and_heal(&cluster, index);
        let node = cluster.node(index);
        let status = |name: &str| ask(node, &format!("SHOW STATUS LIKE '{name}'")).concat().swap_remove(1);
        assert_eq!((status("wsrep_ready"), status("wsrep_connected")), ("ON".to_owned(), "ON".to_owned()));
        let row = format!("INSERT INTO d.t VALUES ({round}, 1)");
        let mut open = open_in_fragments(node, &[&row]);
        open.execute(format!("UPDATE d.t SET v = 2 WHERE id = {round}").as_bytes()).unwrap();
        open.execute(b"COMMIT").unwrap();
        let mut open = open_in_fragments(node, &["INSERT INTO d.t VALUES (99, 1)"]);
        open.execute(b"ROLLBACK").unwrap();
        for node in cluster.nodes() {
            wait_for("its row", || ask(node, "SELECT COUNT(*) FROM d.t") == [[(round + 1).to_string()]]);
        }
    }
    wait_until_no_fragments(&cluster);
    wait_for_rows(&cluster, &[["0", "2"], ["1", "2"], ["2", "2"], ["3", "2"]]);
    // The fragments of the last member ID are known after a crash too.
    let node = cluster.node(2);
    let _open = open_in_fragments(node, &["UPDATE d.t SET v = 3 WHERE id = 0"]);
    node.kill().unwrap();
    node.start().unwrap();
    wait_until_no_fragments(&cluster);
    run_synced(node, &["UPDATE d.t SET v = 4 WHERE id = 0"]);
    wait_for_rows(&cluster, &[["0", "4"], ["1", "2"], ["2", "2"], ["3", "2"]]);
}

#[test]
fn a_transaction_that_was_open_at_the_cut_releases_its_locks() {
    let cluster = cluster(3);
    let (first, third) = (cluster.node(0), cluster.node(2));
    run_synced(first, &["INSERT INTO d.t VALUES (1, 1), (2, 1), (3, 1)"]);
    let mut own = open_in_fragments(third, &["UPDATE d.t SET v = 2 WHERE id = 1"]);
    let mut other = open_in_fragments(first, &["UPDATE d.t SET v = 2 WHERE id = 2"]);
    // One that is not sent yet: the cut does not end it.
    let mut whole = third.connect().unwrap();
    ["BEGIN", "UPDATE d.t SET v = 2 WHERE id = 3"].iter().for_each(|one| drop(whole.execute(one.as_bytes()).unwrap()));
    isolate_and_heal(&cluster, 2);
    // Its client has not asked since.
    run_synced(third, &["UPDATE d.t SET v = 5 WHERE id = 1"]);
    run_synced(first, &["UPDATE d.t SET v = 6 WHERE id = 1"]);
    let error = own.execute(b"COMMIT").unwrap_err().to_string();
    assert!(error.contains("1213"), "{error}");
    other.execute(b"UPDATE d.t SET v = v + 5 WHERE id = 2").unwrap();
    other.execute(b"COMMIT").unwrap();
    whole.execute(b"COMMIT").unwrap();
    wait_until_no_fragments(&cluster);
    wait_for_rows(&cluster, &[["1", "6"], ["2", "7"], ["3", "2"]]);
    // The same client can go on.
    own.execute(b"BEGIN").unwrap();
    own.execute(b"UPDATE d.t SET v = 8 WHERE id = 1").unwrap();
    own.execute(b"COMMIT").unwrap();
    wait_for_rows(&cluster, &[["1", "8"], ["2", "7"], ["3", "2"]]);
}

#[test]
fn a_node_returns_after_the_rollback_of_large_transactions() {
    let cluster = cluster(3);
    let (first, third) = (cluster.node(0), cluster.node(2));
    let large = |from: u32| {
        let mut open = third.connect().unwrap();
        let rows = format!("INSERT INTO d.t SELECT seq, 1 FROM d.seq_{from}_to_{}", from + 199_999);
        for statement in ["SET wsrep_trx_fragment_unit = 'rows'", "SET wsrep_trx_fragment_size = 50000", "BEGIN", &rows]
        {
            open.execute(statement.as_bytes()).unwrap();
        }
        open
    };
    // They are rolled back one after the other, and the fragments of the last one stay until then.
    let large = [1, 200_001, 400_001].map(large);
    // Opened again when the node is back.
    let mut other = open_in_fragments(first, &["INSERT INTO d.t VALUES (0, 1)"]);
    let from = since(third, 0).len();
    isolate_and_heal(&cluster, 2);
    let waits = "waits for the server's rollback of streaming transactions: ";
    assert_logged(&since(third, from), &[waits, "the streaming transactions were rolled back in "]);
    for mut open in large {
        let error = open.execute(b"COMMIT").unwrap_err().to_string();
        assert!(error.contains("1213"), "{error}");
    }
    other.execute(b"UPDATE d.t SET v = 2 WHERE id = 0").unwrap();
    other.execute(b"COMMIT").unwrap();
    run_synced(third, &["INSERT INTO d.t VALUES (1, 3)"]);
    wait_until_no_fragments(&cluster);
    wait_for_rows(&cluster, &[["0", "2"], ["1", "3"]]);
}

#[test]
fn all_nodes_lose_the_quorum_and_come_back() {
    let cluster = cluster(3);
    run_synced(cluster.node(0), &["INSERT INTO d.t VALUES (0, 1), (1, 1), (2, 1)"]);
    let mut open: Vec<Connection> = (0..3)
        .map(|index| open_in_fragments(cluster.node(index), &[&format!("UPDATE d.t SET v = 2 WHERE id = {index}")]))
        .collect();
    cluster.nodes().for_each(|node| node.isolate().unwrap());
    wait_for("the cut", || cluster.nodes().all(is_non_primary));
    cluster.heal().unwrap();
    wait_for("all to be back", || cluster.nodes().all(|node| is_synced_with(node, "3")));
    for (index, open) in open.iter_mut().enumerate() {
        run_synced(cluster.node((index + 1) % 3), &[&format!("UPDATE d.t SET v = 3 WHERE id = {index}")]);
        let error = open.execute(b"COMMIT").unwrap_err().to_string();
        assert!(error.contains("1213"), "{error}");
        let mut again = open_in_fragments(cluster.node(index), &[&format!("UPDATE d.t SET v = 4 WHERE id = {index}")]);
        again.execute(b"COMMIT").unwrap();
    }
    wait_until_no_fragments(&cluster);
    wait_for_rows(&cluster, &[["0", "4"], ["1", "4"], ["2", "4"]]);
    for node in cluster.nodes() {
        let log = since(node, 0);
        assert!(!log.contains("unallowed state transition") && !log.contains("Could not find applier"), "{log}");
    }
}

#[test]
fn a_node_that_goes_on_alone_takes_fragments_again() {
    let cluster = cluster(2);
    let (first, second) = (cluster.node(0), cluster.node(1));
    run_synced(first, &["INSERT INTO d.t VALUES (1, 1), (2, 1)"]);
    let mut own = open_in_fragments(first, &["UPDATE d.t SET v = 2 WHERE id = 1"]);
    let _other = open_in_fragments(second, &["UPDATE d.t SET v = 2 WHERE id = 2"]);
    second.kill().unwrap();
    wait_for("the loss of the other", || is_non_primary(first));
    set_options(first, "pc.bootstrap=yes");
    wait_for("it to go on alone", || is_synced_with(first, "1"));
    run_synced(first, &["UPDATE d.t SET v = 5 WHERE id = 1", "UPDATE d.t SET v = 5 WHERE id = 2"]);
    assert!(own.execute(b"COMMIT").unwrap_err().to_string().contains("1213"));
    let mut again = open_in_fragments(first, &["UPDATE d.t SET v = 6"]);
    again.execute(b"COMMIT").unwrap();
    wait_for("an empty mysql.wsrep_streaming_log", || {
        ask(first, "SELECT COUNT(*) FROM mysql.wsrep_streaming_log") == [["0"]]
    });
    assert_eq!(ask(first, "SELECT id, v FROM d.t ORDER BY id"), [["1", "6"], ["2", "6"]]);
}

#[test]
fn a_node_stops_while_it_comes_back() {
    let cluster = cluster(3);
    let third = cluster.node(2);
    for wait_ms in [0, 200, 600] {
        let _open = open_in_fragments(third, &["INSERT INTO d.t VALUES (1, 1)"]);
        third.isolate().unwrap();
        wait_for("the cut", || is_non_primary(third) && size(cluster.node(0)).as_deref() == Some("2"));
        std::thread::scope(|scope| {
            let heals = scope.spawn(|| third.heal());
            // Anywhere in its return.
            std::thread::sleep(Duration::from_millis(wait_ms));
            third.stop().unwrap();
            let _stopped_or_back = heals.join().unwrap();
        });
        third.start().unwrap();
        assert_eq!(ask(third, "SELECT COUNT(*) FROM d.t"), [["0"]]);
        // Until then they hold the row.
        wait_until_no_fragments(&cluster);
    }
}

/// The last fragment reaches the others, which commit it, and this node loses the quorum before it knows.
#[test]
fn a_transaction_whose_last_fragment_was_committed_elsewhere_at_the_cut_is_confirmed_when_its_node_is_back() {
    provider::build();
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::new(&Library::compile(folder.path()));
    let cluster = Builder::cluster(3).host(2, disk.host()).start_temporary().unwrap();
    define(&cluster, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)"]);
    let [first, third] = [0, 2].map(|index| cluster.node(index));
    let mut ending = open_in_fragments(third, &["INSERT INTO d.t VALUES (1, 1)"]);
    let mut continuing = open_in_fragments(third, &["INSERT INTO d.t VALUES (2, 1)"]);
    // Its node cannot say what is confirmed while its disk stalls.
    continuing.execute(b"SET SESSION wsrep_sync_wait = 0").unwrap();
    disk.stall_log(true);
    std::thread::scope(|scope| {
        let ends = scope.spawn(|| ending.execute(b"COMMIT").map(drop));
        let continues = scope.spawn(|| continuing.execute(b"INSERT INTO d.t VALUES (3, 1)").map(drop));
        wait_for("the commit on another node", || ask(first, "SELECT id FROM d.t") == [["1"]]);
        let fragments = "SELECT COUNT(*) FROM mysql.wsrep_streaming_log";
        wait_for("the fragments there", || ask(first, fragments) == [["2"]]);
        third.isolate().unwrap();
        wait_for("the cut", || is_non_primary(third) && size(first).as_deref() == Some("2"));
        disk.stall_log(false);
        let healed = third.heal();
        ends.join().unwrap().unwrap();
        let refused = continues.join().unwrap().unwrap_err().to_string();
        assert!(refused.contains("1213") || refused.contains("1180"), "{refused}");
        assert_eq!(healed.unwrap(), Healed::Synced, "{}", since(third, 0));
    });
    // With the former member ID, it was rolled back everywhere.
    assert!(continuing.execute(b"SELECT 1").is_ok() || continuing.execute(b"COMMIT").is_ok());
    wait_until_no_fragments(&cluster);
    wait_for_rows(&cluster, &[["1", "1"]]);
    run_synced(third, &["INSERT INTO d.t VALUES (2, 2)"]);
    wait_for_rows(&cluster, &[["1", "1"], ["2", "2"]]);
}

#[test]
fn a_client_whose_fragment_is_refused_and_that_says_nothing_does_not_keep_its_node_out() {
    let cluster = cluster(3);
    let [first, third] = [0, 2].map(|index| cluster.node(index));
    let mut open = open_in_fragments(third, &["INSERT INTO d.t VALUES (1, 1)"]);
    open.execute(b"SET SESSION wsrep_sync_wait = 0").unwrap();
    third.isolate().unwrap();
    wait_for("the cut", || is_non_primary(third) && size(first).as_deref() == Some("2"));
    let refused = open.execute(b"INSERT INTO d.t VALUES (2, 1)").unwrap_err().to_string();
    assert!(refused.contains("1047"), "{refused}");
    assert_eq!(third.heal().unwrap(), Healed::Synced);
    wait_until_no_fragments(&cluster);
    let refused = open.execute(b"COMMIT").unwrap_err().to_string();
    assert!(refused.contains("1213"), "{refused}");
    wait_for_rows(&cluster, &[]);
}

#[test]
fn a_node_stops_while_a_last_fragment_waits_for_its_outcome() {
    provider::build();
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::new(&Library::compile(folder.path()));
    let cluster = Builder::cluster(3).host(2, disk.host()).start_temporary().unwrap();
    define(&cluster, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)"]);
    let [first, third] = [0, 2].map(|index| cluster.node(index));
    let mut ending = open_in_fragments(third, &["INSERT INTO d.t VALUES (1, 1)"]);
    disk.stall_log(true);
    std::thread::scope(|scope| {
        let ends = scope.spawn(|| ending.execute(b"COMMIT").map(drop));
        wait_for("the commit on another node", || ask(first, "SELECT id FROM d.t") == [["1"]]);
        third.isolate().unwrap();
        wait_for("the cut", || is_non_primary(third) && size(first).as_deref() == Some("2"));
        assert!(!ends.is_finished(), "its outcome is not known");
        // A stop syncs the log.
        let resume = scope.spawn(|| {
            wait_for("the stop", || since(third, 0).contains("Normal shutdown"));
            disk.stall_log(false);
        });
        third.stop().unwrap();
        resume.join().unwrap();
        // The node may have heard of it before it went down.
        drop(ends.join().unwrap());
    });
    third.start().unwrap();
    wait_until_no_fragments(&cluster);
    wait_for_rows(&cluster, &[["1", "1"]]);
}
