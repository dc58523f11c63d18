//! Nodes of a cluster that are isolated or paused, and come back.

use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;
use hortator_sandbox::{Builder, Healed, Node, State};

use crate::cluster_fixture::{define, ids, is_non_primary, remove_provider_files, since, size, wait_for, with_table};
use crate::{ask, provider, run};

/// The time limit for a cluster to notice an event.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

fn cut_off_and_back(builder: Builder) {
    let cluster = builder.start_temporary().unwrap();
    let [first, second, third] = [0, 1, 2].map(|index| cluster.node(index));
    define(&cluster, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    let message = third.heal().unwrap_err().to_string();
    assert_eq!(message, "node3 is not isolated");

    // One node is isolated: it takes no statements, the others do, and it comes back with the missed changes.
    third.isolate().unwrap();
    assert!(third.is_isolated() && third.state() == State::Running);
    assert_eq!(third.isolate().unwrap_err().to_string(), "node3 is already isolated: `heal` ends the isolation");
    wait_for("the cut", || is_non_primary(third) && size(first).as_deref() == Some("2"));
    let error = third.connect().unwrap().execute(b"INSERT INTO d.t VALUES (3)").unwrap_err();
    assert!(error.is_unready(), "{error}");
    assert_eq!(third.wsrep_status().unwrap().local_state.as_deref(), Some("Initialized"));
    run(first, &["INSERT INTO d.t VALUES (1)"]);
    assert_eq!(cluster.heal().unwrap(), Healed::Synced);
    assert!(!third.is_isolated());
    assert_eq!(cluster.heal().unwrap_err().to_string(), format!("no node of sandbox `{}` is isolated", cluster.name()));
    assert_eq!(ask(third, "SELECT id FROM d.t"), [["1"]]);
    wait_for("Galera's words", || since(third, 0).contains(" WSREP: Receiving IST..."));

    // A start ends the isolation.
    third.isolate().unwrap();
    wait_for("the cut", || is_non_primary(third));
    third.kill().unwrap();
    assert_eq!(third.isolate().unwrap_err().to_string(), "node3 does not run: it is crashed");
    third.start().unwrap();
    assert!(!third.is_isolated() && ask(third, "SELECT id FROM d.t") == [["1"]]);

    // All but one are down: healing it is not enough.
    first.isolate().unwrap();
    second.kill().unwrap();
    third.kill().unwrap();
    wait_for("the loss of all others", || is_non_primary(first));
    assert_eq!(first.heal().unwrap(), Healed::NoMajority);
}

#[test]
fn a_galera_node_is_isolated_and_rejoins() {
    cut_off_and_back(Builder::galera(3));
}

#[test]
fn a_hortator_node_is_isolated_and_rejoins() {
    provider::build();
    cut_off_and_back(Builder::cluster(3));
}

#[test]
fn a_paused_node_continues() {
    let cluster = Builder::galera(3).start_temporary().unwrap();
    let [first, second, third] = [0, 1, 2].map(|index| cluster.node(index));
    define(&cluster, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    third.pause().unwrap();
    assert_eq!((third.state(), third.wsrep_status()), (State::Paused, None));
    assert_eq!(third.pause().unwrap_err().to_string(), "node3 is already paused: `resume` continues it");
    assert_eq!(third.start().unwrap_err().to_string(), "node3 is paused: `resume` continues it");
    assert_eq!(third.isolate().unwrap_err().to_string(), "node3 is paused: `resume` it first");
    wait_for("the others to go on", || size(first).as_deref() == Some("2"));
    run(second, &["INSERT INTO d.t VALUES (1)"]);
    // The others come back without the paused node.
    second.kill().unwrap();
    cluster.start().unwrap_or_else(|error| panic!("{error}"));
    cluster.resume().unwrap();
    assert_eq!(third.resume().unwrap_err().to_string(), "node3 is not paused: it is running");
    // For a moment it counts itself as one of the three nodes of its last view.
    let has_row = |mut connection: Connection| {
        connection.fetch(b"SELECT id FROM d.t").is_ok_and(|rows| rows == [[Some(b"1".to_vec())]])
    };
    wait_for("it to be back", || third.connect().is_ok_and(has_row));

    // A paused node can be shut down, and its sandbox can be removed.
    third.pause().unwrap();
    third.stop().unwrap();
    assert_eq!(third.state(), State::Stopped);
    assert_eq!(third.pause().unwrap_err().to_string(), "node3 does not run, so it cannot be paused");
    second.pause().unwrap();
}

#[test]
fn a_node_with_different_tables_leaves_and_the_other_continues() {
    let cluster = with_table(Builder::cluster(2));
    // Each node is the wrong one once.
    for (id, wrong, right) in [(10, 0, 1), (20, 1, 0)] {
        let [wrong, right] = [wrong, right].map(|index| cluster.node(index));
        let mut apart = wrong.connect().unwrap();
        apart.execute(b"SET SESSION wsrep_on = OFF").unwrap();
        apart.execute(format!("INSERT INTO d.t VALUES ({id})").as_bytes()).unwrap();
        run(right, &[&format!("INSERT INTO d.t VALUES ({id})")]);
        wait_for("the wrong one to refuse", || {
            let asked = wrong.connect().unwrap().fetch(b"SELECT id FROM d.t");
            asked.is_err_and(|error| error.is_unready())
        });
        wait_for("the right one to go on", || {
            size(right).as_deref() == Some("1")
                && !is_non_primary(right)
                && right.connect().is_ok_and(|mut connection| {
                    connection.execute(format!("REPLACE INTO d.t VALUES ({})", id + 1).as_bytes()).is_ok()
                })
        });
        // It gets the tables of the other node.
        wrong.kill().unwrap();
        wrong.start().unwrap();
        let rows = |node| ask(node, "SELECT id FROM d.t ORDER BY id");
        wait_for("the same rows", || rows(wrong) == rows(right));
        assert!(rows(wrong).concat().contains(&(id + 1).to_string()));
    }
}

#[test]
fn nodes_join_and_leave_while_a_backup_locks_the_leader() {
    // No election on a busy machine, but that of a leader that cannot go on.
    let cluster = with_table(Builder::cluster(3).set("wsrep_provider_options", "raft.election_timeout=PT5S"));
    let [first, second, third] = [0, 1, 2].map(|index| cluster.node(index));
    // Who began it.
    let leads = |node| since(node, 0).contains("this node is the Raft leader");
    assert!(!leads(second) && !leads(third));
    let mut locks = first.connect().unwrap();
    locks.execute(b"FLUSH TABLES WITH READ LOCK").unwrap();
    third.kill().unwrap();
    wait_for("its loss", || size(second).as_deref() == Some("2"));
    run(second, &["INSERT INTO d.t VALUES (1)"]);
    thread::scope(|scope| {
        let started = scope.spawn(|| third.start());
        wait_for("its return", || size(second).as_deref() == Some("3"));
        assert!(leads(second) || leads(third));
        locks.execute(b"UNLOCK TABLES").unwrap();
        started.join().unwrap().unwrap();
    });
    cluster.nodes().for_each(|node| assert_eq!(ids(node), ["1"]));
}

/// The lock waits behind a commit that waits for a quorum, and is given when that commit has failed.
#[test]
fn a_global_read_lock_that_is_given_without_a_quorum_holds() {
    let cluster = with_table(Builder::cluster(3));
    let [first, second, third] = [0, 1, 2].map(|index| cluster.node(index));
    let (mut commits, mut locks) = (third.connect().unwrap(), third.connect().unwrap());
    third.isolate().unwrap();
    thread::scope(|scope| {
        let commit = scope.spawn(|| commits.execute(b"INSERT INTO d.t VALUES (3)"));
        thread::sleep(Duration::from_millis(300));
        locks.execute(b"FLUSH TABLES WITH READ LOCK").unwrap();
        assert!(commit.join().unwrap().is_err());
    });
    wait_for("the cut", || is_non_primary(third) && size(first).as_deref() == Some("2"));
    // SET is let through by a node that is not ready.
    locks.execute(b"SET SESSION wsrep_dirty_reads = ON").unwrap();
    let cut = since(third, 0).len();
    thread::scope(|scope| {
        let healed = scope.spawn(|| third.heal());
        wait_for("its links", || since(third, cut).contains("linked to node1"));
        run(first, &["INSERT INTO d.t VALUES (1)", "CREATE TABLE d.u (id INT PRIMARY KEY)"]);
        assert_eq!(ids(second), ["1"]);
        // A node that is not held back has both by then.
        thread::sleep(Duration::from_secs(2));
        // What a backup would read does not change.
        assert!(locks.fetch(b"SELECT id FROM d.t").unwrap().is_empty());
        assert_eq!(locks.fetch(b"SHOW TABLES FROM d").unwrap().len(), 1);
        locks.execute(b"UNLOCK TABLES").unwrap();
        assert_eq!(healed.join().unwrap().unwrap(), Healed::Synced);
    });
    assert_eq!(ids(third), ["1"]);
    // The server counts its pauses: the next one, and the end of the server, wait for none that is over.
    locks.execute(b"FLUSH TABLES WITH READ LOCK").unwrap();
    locks.execute(b"UNLOCK TABLES").unwrap();
    // Nor does a connection that the lock's own session makes anew leave a desync behind.
    let address = ask(third, "SELECT @@wsrep_cluster_address").concat().concat();
    locks.execute(b"FLUSH TABLES WITH READ LOCK").unwrap();
    locks.execute(format!("SET GLOBAL wsrep_cluster_address = '{address}'").as_bytes()).unwrap();
    locks.execute(b"UNLOCK TABLES").unwrap();
    let is_synced = || third.wsrep_status().is_some_and(|status| status.local_state.as_deref() == Some("Synced"));
    wait_for("its return", is_synced);
    third.stop().unwrap();
}

#[test]
fn a_node_with_an_invalid_cluster_address_can_get_a_valid_one() {
    let cluster = with_table(Builder::cluster(2));
    let [first, second] = [0, 1].map(|index| cluster.node(index));
    let address = ask(second, "SELECT @@wsrep_cluster_address").concat().concat();
    let connect = format!("SET GLOBAL wsrep_cluster_address = '{address}'");
    first.kill().unwrap();
    wait_for("the loss of the other", || is_non_primary(second));
    // Only the error log shows the failure: the server's own statement does not.
    run(second, &[&connect, "SET GLOBAL wsrep_cluster_address = 'nowhere'"]);
    let log = since(second, 0);
    // Scripts look for the first words.
    for told in [
        "WSREP: gcs connect failed: Connection timed out. Hortator: ",
        "no quorum of the cluster is reachable",
        "WSREP: gcs connect failed: Invalid argument. Hortator: ",
        "wsrep_cluster_address is `nowhere`: use the form gcomm://",
    ] {
        assert!(log.contains(told), "{told}: {log}");
    }
    thread::scope(|scope| {
        let start = scope.spawn(|| first.start());
        // The first may take longer to come than the second waits.
        let is_back = (0..16).any(|_| {
            run(second, &[&connect]);
            let deadline = Instant::now() + WAIT_TIMEOUT / 4;
            while is_non_primary(second) && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(50));
            }
            !is_non_primary(second)
        });
        assert!(is_back, "{}", since(second, 0));
        start.join().unwrap().unwrap();
    });
    wait_for("both to go on", || size(second).as_deref() == Some("2"));
    run(first, &["INSERT INTO d.t VALUES (1)"]);
    wait_for("its row", || ask(second, "SELECT id FROM d.t") == [["1"]]);
}

/// The server keeps the wish of a refused `gcomm://` for a new cluster.
#[test]
fn a_node_that_was_refused_a_new_cluster_can_join_its_own() {
    let cluster = with_table(Builder::cluster(3));
    // The first one was started with that wish.
    for (round, node) in [2, 0].map(|index| cluster.node(index)).into_iter().enumerate() {
        let address = ask(node, "SELECT @@wsrep_cluster_address").concat().concat();
        let from = since(node, 0).len();
        run(node, &["SET GLOBAL wsrep_cluster_address = 'gcomm://'"]);
        assert!(since(node, from).contains("It may not be safe to bootstrap the cluster from this node"));
        wait_for("its leave", || size(cluster.node(1)).as_deref() == Some("2"));
        run(cluster.node(1), &[&format!("INSERT INTO d.t VALUES ({round})")]);
        run(node, &[&format!("SET GLOBAL wsrep_cluster_address = '{address}'")]);
        wait_for("its return", || cluster.nodes().all(|node| size(node).as_deref() == Some("3")));
        let expected: Vec<String> = (0..=round).map(|id| id.to_string()).collect();
        wait_for("the rows", || ask(node, "SELECT id FROM d.t ORDER BY id").concat() == expected);
        // The server has forgotten and found its position meanwhile.
        node.kill().unwrap();
        node.start().unwrap();
        cluster.nodes().for_each(|node| assert_eq!(ids(node), expected));
    }
}

#[test]
fn fragments_of_another_node_are_kept_by_a_node_that_was_away() {
    let cluster = with_table(Builder::cluster(3));
    let [first, second, third] = [0, 1, 2].map(|index| cluster.node(index));
    let mut open = first.connect().unwrap();
    let part = |open: &mut Connection, id: u32| {
        open.execute(format!("INSERT INTO d.t VALUES ({id})").as_bytes()).unwrap();
    };
    // The transaction stays open while each of the other nodes goes away and comes back in its own way.
    open.execute(b"SET SESSION wsrep_trx_fragment_size = 1").unwrap();
    open.execute(b"BEGIN").unwrap();
    part(&mut open, 1);
    third.isolate().unwrap();
    wait_for("the cut", || is_non_primary(third) && size(first).as_deref() == Some("2"));
    part(&mut open, 2);
    assert_eq!(third.heal().unwrap(), Healed::Synced);
    part(&mut open, 3);
    second.stop().unwrap();
    part(&mut open, 4);
    second.start().unwrap();
    part(&mut open, 5);
    third.kill().unwrap();
    third.start().unwrap();
    part(&mut open, 6);
    let address = ask(second, "SELECT @@wsrep_cluster_address").concat().concat();
    run(second, &["SET GLOBAL wsrep_cluster_address = ''"]);
    wait_for("the view without it", || size(first).as_deref() == Some("2"));
    part(&mut open, 7);
    run(second, &[&format!("SET GLOBAL wsrep_cluster_address = '{address}'")]);
    wait_for("it to be back", || size(second).as_deref() == Some("3"));
    part(&mut open, 8);
    second.stop().unwrap();
    remove_provider_files(second);
    second.start().unwrap();
    part(&mut open, 9);
    open.execute(b"COMMIT").unwrap();
    for node in cluster.nodes() {
        wait_for("its rows", || ask(node, "SELECT COUNT(*) FROM d.t") == [["9"]]);
    }
}

/// A client of the node with an open transaction whose only row the other nodes have as a fragment. None: an error, as
/// after a pause of seconds, in which the node may have lost its quorum for a moment.
fn begun_in_parts(node: Node<'_>, id: u32) -> Option<Connection> {
    let mut open = node.connect().unwrap();
    let insert = format!("INSERT INTO d.t VALUES ({id})");
    let statements = ["SET SESSION wsrep_trx_fragment_size = 1", "BEGIN", insert.as_str()];
    statements.iter().all(|statement| open.execute(statement.as_bytes()).is_ok()).then_some(open)
}

#[test]
fn fragments_sent_before_an_isolation_do_not_commit_on_the_isolated_node() {
    let cluster = with_table(Builder::cluster(3));
    let [first, _, third] = [0, 1, 2].map(|index| cluster.node(index));
    let mut open = None;
    wait_for("a transaction in parts", || {
        open = begun_in_parts(third, 1);
        open.is_some()
    });
    let mut open = open.unwrap();
    third.isolate().unwrap();
    wait_for("the cut", || is_non_primary(third) && size(first).as_deref() == Some("2"));
    assert_eq!(third.heal().unwrap(), Healed::Synced);
    let error = open.execute(b"COMMIT").unwrap_err();
    run(third, &["INSERT INTO d.t VALUES (2)"]);
    for node in cluster.nodes() {
        wait_for("the same rows", || ask(node, "SELECT id FROM d.t") == [["2"]]);
    }
    assert!(error.to_string().contains("1213"), "{error}");
}

#[test]
fn many_open_fragments_are_rolled_back_before_their_node_returns() {
    let cluster = with_table(Builder::cluster(3));
    let [first, _, third] = [0, 1, 2].map(|index| cluster.node(index));
    // The server rolls them back one by one: long enough for the node to be back before the last one is.
    let mut open = Vec::new();
    for id in 1..=100 {
        wait_for("a transaction in parts", || {
            open.extend(begun_in_parts(third, id));
            open.len() == id as usize
        });
    }
    third.isolate().unwrap();
    wait_for("the cut", || is_non_primary(third) && size(first).as_deref() == Some("2"));
    assert_eq!(third.heal().unwrap(), Healed::Synced);
    for client in &mut open {
        let error = client.execute(b"COMMIT").unwrap_err();
        assert_eq!(error.code(), Some(1213), "{error}");
    }
    run(third, &["INSERT INTO d.t VALUES (101)"]);
    for node in cluster.nodes() {
        wait_for("the same rows", || ask(node, "SELECT id FROM d.t") == [["101"]]);
        wait_for("no fragments", || ask(node, "SELECT COUNT(*) FROM mysql.wsrep_streaming_log") == [["0"]]);
    }
}

/// Each node's index in the view, and its auto-increment offset.
fn places(nodes: &[Node<'_>]) -> Vec<[String; 2]> {
    let value = |node: Node<'_>, question: &str| ask(node, question).swap_remove(0).swap_remove(1);
    let places = nodes.iter().map(|node| {
        ["SHOW STATUS LIKE 'wsrep_local_index'", "SHOW GLOBAL VARIABLES LIKE 'auto_increment_offset'"]
            .map(|question| value(*node, question))
    });
    places.collect()
}

#[test]
fn a_node_that_was_isolated_has_its_own_view_index_and_auto_increment_offset() {
    provider::build();
    let cluster = Builder::cluster(3).start_temporary().unwrap();
    let nodes = [0, 1, 2].map(|index| cluster.node(index));
    define(&cluster, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)"]);
    // The remaining nodes move up, and the returning node becomes the last, repeatedly.
    for (cut, expected) in [(0, ["2", "0", "1"]), (1, ["1", "2", "0"]), (1, ["1", "2", "0"]), (0, ["2", "1", "0"])] {
        nodes[cut].isolate().unwrap();
        wait_for("the cut", || is_non_primary(nodes[cut]) && size(nodes[(cut + 1) % 3]).as_deref() == Some("2"));
        assert_eq!(nodes[cut].heal().unwrap(), Healed::Synced);
        let wanted: Vec<[String; 2]> = expected
            .iter()
            .map(|place| [(*place).to_owned(), (place.parse::<u32>().unwrap() + 1).to_string()])
            .collect();
        wait_for("places in the view", || places(&nodes) == wanted);
        nodes.iter().for_each(|node| run(*node, &["INSERT INTO d.t (v) VALUES (1)"]));
    }
    for node in nodes {
        wait_for("all rows", || ask(node, "SELECT COUNT(*), COUNT(DISTINCT id % 3) FROM d.t") == [["12", "3"]]);
    }
}

#[test]
fn only_a_node_of_several_can_be_isolated() {
    for (builder, topology) in [(Builder::standalone(), "standalone"), (Builder::galera(1), "galera 1")] {
        let sandbox = builder.start_temporary().unwrap();
        let message = sandbox.node(0).isolate().unwrap_err().to_string();
        assert!(
            message.contains(&format!("` is {topology}: only a node of a cluster with several nodes")),
            "{message}"
        );
        assert_eq!(
            sandbox.heal().unwrap_err().to_string(),
            format!("no node of sandbox `{}` is isolated", sandbox.name())
        );
        assert_eq!(sandbox.node(0).heal().unwrap_err().to_string(), "node1 is not isolated");
    }
}
