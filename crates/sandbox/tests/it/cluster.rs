//! Nodes with Hortator's own provider: they keep everything they have confirmed, however they end.

use hortator_sandbox::{Builder, State};

use crate::cluster_fixture::{Writers, define, ids, is_non_primary, size, wait_for, with_table};
use crate::{ask, provider, run};

#[test]
fn a_node_keeps_its_rows_over_crashes_and_stops() {
    provider::build();
    let cluster = Builder::cluster(1).start_temporary().unwrap();
    let node = cluster.node(0);
    assert!(ask(node, "SELECT @@wsrep_provider")[0][0].ends_with("/libhortator_wsrep.so"));
    let last_committed = || -> u64 { ask(node, "SHOW STATUS LIKE 'wsrep_last_committed'")[0][1].parse().unwrap() };
    run(node, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"]);
    let rows = || ask(node, "SELECT id FROM d.t ORDER BY id").concat();
    let before = last_committed();

    cluster.kill().unwrap();
    assert_eq!(node.state(), State::Crashed);
    cluster.start().unwrap();
    assert_eq!(rows(), ["1"]);
    let position = || ask(node, "SELECT @@wsrep_start_position").concat().concat();
    let history = position().split_once(':').unwrap().0.to_owned();
    assert!(!history.starts_with("00000000-"), "the second start is told its place");
    assert!(last_committed() >= before, "{} after {before}", last_committed());

    run(node, &["INSERT INTO d.t VALUES (2)"]);
    cluster.stop().unwrap();
    assert_eq!(node.state(), State::Stopped);
    cluster.start().unwrap();
    assert_eq!(rows(), ["1", "2"]);
    assert!(position().starts_with(&history), "{history} goes on, at {}", position());
    // Only the log has the last row: the storage engine flushes its own log once a second, or at shutdown.
    run(node, &["SET GLOBAL innodb_flush_log_at_trx_commit = 0", "INSERT INTO d.t VALUES (3)"]);
    cluster.kill().unwrap();
    cluster.start().unwrap();
    assert_eq!(rows(), ["1", "2", "3"]);
}

#[test]
fn three_nodes_recover_after_all_crashed() {
    let cluster = with_table(Builder::cluster(3).set("innodb_flush_log_at_trx_commit", "0"));
    let rows = |node| ids(node).len();
    for id in 1..=10 {
        // The last one is confirmed a moment before all are killed.
        cluster.nodes().for_each(|node| run(node, &[&format!("INSERT INTO d.t VALUES ({})", id * 10 + node.number())]));
        cluster.kill().unwrap();
        cluster.start().unwrap();
        cluster.nodes().for_each(|node| assert_eq!(rows(node), id * 3, "{}", node.name()));
    }
    cluster.stop().unwrap();
    cluster.start().unwrap();
    cluster.nodes().for_each(|node| assert_eq!(rows(node), 30, "{}", node.name()));
}

#[test]
fn the_first_committer_wins_and_the_remaining_nodes_continue() {
    provider::build();
    let cluster = Builder::cluster(3).start_temporary().unwrap();
    define(&cluster, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)"]);
    run(cluster.node(0), &["INSERT INTO d.t VALUES (1, 0), (2, 0)"]);
    let value = |node, id: u32| {
        let mut connection = hortator_sandbox::Node::connect(node).unwrap();
        connection.execute(b"SET SESSION wsrep_sync_wait = 1").unwrap();
        let rows = connection.fetch(format!("SELECT v FROM d.t WHERE id = {id}").as_bytes()).unwrap();
        String::from_utf8(rows[0][0].clone().unwrap()).unwrap()
    };
    cluster.nodes().for_each(|node| assert_eq!(value(node, 1), "0"));

    // Both change the row; neither has seen the other's change.
    let mut first = cluster.node(1).connect().unwrap();
    let mut second = cluster.node(2).connect().unwrap();
    for (connection, mine) in [(&mut first, 2), (&mut second, 3)] {
        connection.execute(b"BEGIN").unwrap();
        connection.execute(format!("UPDATE d.t SET v = {mine} WHERE id = 1").as_bytes()).unwrap();
    }
    first.execute(b"COMMIT").unwrap();
    let lost = second.execute(b"COMMIT").unwrap_err().to_string();
    assert!(lost.contains("1213"), "{lost}");
    cluster.nodes().for_each(|node| assert_eq!(value(node, 1), "2", "{}", node.name()));

    // Two are shut down cleanly: the last node is a majority of itself.
    for number in [2, 1] {
        cluster.node(number).stop().unwrap();
        run(cluster.node(0), &[&format!("UPDATE d.t SET v = v + {number} WHERE id = 2")]);
    }
    for number in [1, 2] {
        cluster.node(number).start().unwrap();
    }
    cluster.nodes().for_each(|node| assert_eq!(value(node, 2), "3", "{}", node.name()));
}

#[test]
fn five_nodes_survive_the_loss_of_two() {
    provider::build();
    let cluster = Builder::cluster(5).start_temporary().unwrap();
    let writers = Writers::on(&cluster, &[3, 4]);
    writers.wait_for_more();
    // The first Raft leader is among them.
    [0, 1].into_iter().for_each(|index| cluster.node(index).kill().unwrap());
    writers.wait_for_more();
    wait_for("the view without them", || size(cluster.node(4)).as_deref() == Some("3"));
    // Two of five are no majority.
    cluster.node(2).kill().unwrap();
    wait_for("the loss of the majority", || [3, 4].iter().all(|index| is_non_primary(cluster.node(*index))));
    let refused = cluster.node(3).connect().unwrap().execute(b"INSERT INTO d.t VALUES (-1, 3)").unwrap_err();
    assert!(refused.is_unready(), "{refused}");
    cluster.start().unwrap();
    writers.wait_for_more();
    wait_for("all five", || cluster.nodes().all(|node| size(node).as_deref() == Some("5")));
    writers.stop(&cluster);
}

#[test]
fn no_more_than_five_nodes() {
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    for nodes in [0, 6] {
        let message = Builder::cluster(nodes).dir(dir.path()).create("many").unwrap_err().to_string();
        assert_eq!(message, format!("a cluster of Hortator's own provider cannot have {nodes} nodes: give 1 to 5"));
    }
    assert!(!dir.path().join("many").exists());
}
