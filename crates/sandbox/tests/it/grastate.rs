//! `grastate.dat`, as Galera's users know it: its content for a node, and the effect of removing it.

use std::fs;
use std::thread;
use std::time::Duration;

use hortator_sandbox::{Builder, Node};

use crate::cluster_fixture::{assert_logged, ids, since, size, wait_for};
use crate::{ask, provider, run};

/// A value of the file.
fn says(node: Node<'_>, name: &str) -> String {
    let text = fs::read_to_string(node.data_dir().join("grastate.dat")).unwrap();
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.unwrap_or_else(|| panic!("no {name} in {text}")).trim().to_owned()
}

fn status(node: Node<'_>, name: &str) -> String {
    ask(node, &format!("SHOW GLOBAL STATUS LIKE '{name}'"))[0][1].clone()
}

#[test]
fn a_node_without_grastate_receives_the_tables_of_another() {
    provider::build();
    let cluster = Builder::cluster(2).start_temporary().unwrap();
    let [first, second] = [0, 1].map(|index| cluster.node(index));
    run(first, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1), (2)"]);
    assert_eq!(ids(second).len(), 2);
    let history = status(first, "wsrep_cluster_state_uuid");
    for node in cluster.nodes() {
        let said = ["uuid", "seqno", "safe_to_bootstrap"].map(|name| says(node, name));
        assert_eq!(said, [&history, "-1", "0"], "{} while it runs", node.name());
    }

    // After a clean shutdown and after a crash; each time with a row that only its own tables have.
    for (row, is_killed) in [(100, false), (101, true)] {
        run(second, &["SET SESSION wsrep_on = OFF", &format!("INSERT INTO d.t VALUES ({row})")]);
        let place = status(second, "wsrep_last_committed");
        if is_killed {
            second.kill().unwrap();
            assert_eq!(says(second, "seqno"), "-1");
        } else {
            second.stop().unwrap();
            assert_eq!([says(second, "seqno"), says(second, "safe_to_bootstrap")], [&place, "0"]);
            wait_for("the one that is left to be the last", || says(first, "safe_to_bootstrap") == "1");
        }
        // Unchanged, the node continues with its own data.
        let from = since(second, 0).len();
        second.start().unwrap();
        assert_eq!(ids(second), ["1", "2", &row.to_string()], "it had no cause to take another's tables");
        assert!(!since(second, from).contains("SST"), "{}", since(second, from));

        second.stop().unwrap();
        let grastate = second.data_dir().join("grastate.dat");
        fs::remove_file(&grastate).unwrap();
        let from = since(second, 0).len();
        second.start().unwrap();
        assert_logged(
            &since(second, from),
            &[
                // Scripts look for these words.
                &format!("WSREP: Could not open state file for reading: '{}'", grastate.display()),
                "grastate.dat was removed: this node waits for a donor",
                "SST succeeded",
            ],
        );
        assert_eq!(ids(second), ["1", "2"]);
        wait_for("both to be there", || cluster.nodes().all(|node| size(node).as_deref() == Some("2")));
        let said = |node| [says(node, "uuid"), says(node, "safe_to_bootstrap")];
        wait_for("both to say so", || cluster.nodes().all(|node| said(node) == [&*history, "0"]));
    }
    run(second, &["INSERT INTO d.t VALUES (3)"]);
    assert_eq!(ids(first), ["1", "2", "3"]);
}

/// With the other node paused for a moment, the election timer of the one without tables runs out first.
#[test]
fn a_node_without_tables_that_becomes_the_leader_hands_over() {
    provider::build();
    let cluster = Builder::cluster(2).start_temporary().unwrap();
    let [first, second] = [0, 1].map(|index| cluster.node(index));
    run(first, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1), (2)"]);
    for round in 3..6 {
        let from = since(first, 0).len();
        first.kill().unwrap();
        second.pause().unwrap();
        fs::remove_file(first.data_dir().join("grastate.dat")).unwrap();
        thread::scope(|scope| {
            let start = scope.spawn(|| first.start());
            wait_for("it to look for the other", || since(first, from).contains("Connecting with bootstrap option"));
            thread::sleep(Duration::from_millis(700));
            second.resume().unwrap();
            start.join().unwrap().unwrap();
        });
        assert_logged(&since(first, from), &["this node waits for a donor", "SST succeeded"]);
        run(first, &[&format!("INSERT INTO d.t VALUES ({round})")]);
        assert_eq!(ids(first), ids(second), "round {round}");
    }
    assert_eq!(ids(second), ["1", "2", "3", "4", "5"]);
}

#[test]
fn grastate_removed_from_all_nodes_is_restored_and_all_keep_their_data() {
    provider::build();
    let cluster = Builder::cluster(2).start_temporary().unwrap();
    let [first, second] = [0, 1].map(|index| cluster.node(index));
    run(first, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1), (2)"]);
    assert_eq!(ids(second).len(), 2);
    cluster.kill().unwrap();
    let files = [first, second].map(|node| node.data_dir().join("grastate.dat"));
    files.iter().for_each(|file| fs::remove_file(file).unwrap());
    // No node has tables to give: the nodes wait, and their logs say for what.
    let from = cluster.nodes().map(|node| since(node, 0).len()).collect::<Vec<_>>();
    thread::scope(|scope| {
        let started = scope.spawn(|| cluster.start());
        let told =
            |node: Node<'_>, from: usize| since(node, from).contains("To keep the node's own tables, stop it before");
        wait_for("both to say so", || cluster.nodes().zip(&from).all(|(node, from)| told(node, *from)));
        thread::sleep(Duration::from_secs(3));
        cluster.kill().unwrap();
        assert!(started.join().unwrap().is_err());
    });
    files.iter().for_each(|file| fs::write(file, "").unwrap());
    cluster.start().unwrap();
    cluster.nodes().for_each(|node| assert_eq!(ids(node), ["1", "2"], "{}", node.name()));
}

#[test]
fn a_single_node_without_grastate_keeps_its_tables() {
    provider::build();
    let cluster = Builder::cluster(1).start_temporary().unwrap();
    let node = cluster.node(0);
    run(node, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1), (2)"]);
    for is_killed in [false, true] {
        if is_killed { node.kill() } else { node.stop() }.unwrap();
        fs::remove_file(node.data_dir().join("grastate.dat")).unwrap();
        let from = since(node, 0).len();
        cluster.start().unwrap();
        assert_logged(&since(node, from), &["there is no other node to receive tables from"]);
        assert_eq!(ids(node), ["1", "2"]);
        assert_eq!(says(node, "safe_to_bootstrap"), "1");
    }
}
