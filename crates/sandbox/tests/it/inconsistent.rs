//! Tables that differ between nodes: the result of the majority holds, and the others receive the tables of one of its
//! nodes.

use std::thread;
use std::time::Duration;

use hortator_sandbox::{Builder, Node, Sandbox, Temporary};

use crate::cluster_fixture::{assert_logged, define, ids, is_non_primary, since, size, wait_for, with_table};
use crate::{ask, provider, run};

/// Scripts look for these words.
const INCONSISTENT: &str = "[ERROR] WSREP: Inconsistency detected: Inconsistent by consensus on ";

/// Three nodes with a table of a few rows.
fn three(builder: Builder) -> Temporary {
    provider::build();
    let cluster = builder.start_temporary().unwrap();
    let first = cluster.node(0);
    define(&cluster, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, a INT)"]);
    run(first, &["INSERT INTO d.t VALUES (1, 0), (2, 0), (3, 0)"]);
    cluster.nodes().for_each(|node| assert_eq!(ids(node).len(), 3));
    cluster
}

/// Runs a statement on this node's tables only.
fn apart(node: Node<'_>, statement: &str) {
    run(node, &["SET SESSION wsrep_on = OFF", statement]);
}

fn rows(node: Node<'_>) -> Vec<Vec<String>> {
    ids(node);
    ask(node, "SELECT id, a FROM d.t ORDER BY id")
}

/// The node refuses its clients, and the two others continue.
fn goes(cluster: &Sandbox, wrong: Node<'_>) {
    wait_for("the wrong one to refuse", || {
        let asked = wrong.connect().unwrap().fetch(b"SELECT id FROM d.t");
        asked.is_err_and(|error| error.is_unready())
    });
    for node in cluster.nodes().filter(|node| node.name() != wrong.name()) {
        wait_for("the others to go on", || size(node).as_deref() == Some("2") && !is_non_primary(node));
    }
}

/// After a restart, whatever its end was, the node has the tables of another.
fn comes_back(cluster: &Sandbox, wrong: Node<'_>) {
    let from = since(wrong, 0).len();
    wrong.kill().unwrap();
    wrong.start().unwrap();
    wait_for("three to be there", || cluster.nodes().all(|node| size(node).as_deref() == Some("3")));
    assert_logged(&since(wrong, from), &["SST succeeded"]);
    let expected = rows(cluster.node(0));
    cluster.nodes().for_each(|node| assert_eq!(rows(node), expected, "{}", node.name()));
}

#[test]
fn a_node_that_fails_to_apply_leaves_and_receives_the_tables_of_the_others() {
    let cluster = three(Builder::cluster(3));
    let [first, _, third] = [0, 1, 2].map(|index| cluster.node(index));
    // Also the leader.
    for (wrong, right) in [(third, first), (first, third)] {
        apart(wrong, "DELETE FROM d.t WHERE id = 1");
        let from = since(wrong, 0).len();
        run(right, &["UPDATE d.t SET a = a + 1 WHERE id = 1"]);
        goes(&cluster, wrong);
        assert_logged(
            &since(wrong, from),
            &[
                "the nodes vote on it",
                ") initiates vote on ",
                "WSREP: Failed to apply write set: gtid: ",
                INCONSISTENT,
                "The node leaves the cluster",
            ],
        );
        run(right, &["UPDATE d.t SET a = a + 1 WHERE id = 2"]);
        comes_back(&cluster, wrong);
    }
    assert_eq!(rows(first), [["1", "2"], ["2", "2"], ["3", "0"]]);
}

#[test]
fn a_majority_that_fails_to_apply_continues_and_the_others_receive_its_tables() {
    let cluster = three(Builder::cluster(3).set("innodb_flush_log_at_trx_commit", "0"));
    let [first, second, third] = [0, 1, 2].map(|index| cluster.node(index));
    for node in [second, third] {
        apart(node, "DELETE FROM d.t WHERE id = 1");
    }
    let from = since(first, 0).len();
    run(first, &["UPDATE d.t SET a = 7 WHERE id = 1"]);
    goes(&cluster, first);
    let outvoted =
        ["WSREP: Vote 0 (success) on ", " is inconsistent with group. Leaving cluster. Inconsistency detected"];
    assert_logged(&since(first, from), &[&["inconsistency vote on seqno"][..], &outvoted].concat());
    for node in [second, third] {
        assert_logged(&since(node, 0), &["failed on 2 nodes, so all nodes skip it"]);
        run(node, &[&format!("INSERT INTO d.t VALUES ({}, 0)", 10 + node.number())]);
    }
    // They apply that seqno again, and their logs show the vote.
    let from = since(first, 0).len();
    cluster.kill().unwrap();
    cluster.start().unwrap();
    assert_logged(&since(first, from), &["SST succeeded"]);
    let expected = rows(second);
    assert_eq!((expected.len(), expected[0][0].as_str()), (4, "2"));
    cluster.nodes().for_each(|node| assert_eq!(rows(node), expected, "{}", node.name()));
}

#[test]
fn an_inconsistent_node_waits_while_another_is_paused_and_does_not_block_the_cluster() {
    let cluster = three(Builder::cluster(3));
    let [first, wrong, still] = [0, 1, 2].map(|index| cluster.node(index));
    apart(wrong, "DELETE FROM d.t WHERE id = 1");
    let mut locks = still.connect().unwrap();
    locks.execute(b"FLUSH TABLES WITH READ LOCK").unwrap();
    run(first, &["UPDATE d.t SET a = 1 WHERE id = 1"]);
    wait_for("it to fail", || since(wrong, 0).contains("the nodes vote on it"));
    let more: Vec<String> = (10..110).map(|id| format!("INSERT INTO d.t VALUES ({id}, 0)")).collect();
    run(first, &more.iter().map(String::as_str).collect::<Vec<_>>());
    thread::sleep(Duration::from_millis(300));
    assert_eq!(size(first).as_deref(), Some("3"), "one for it, one against it: the third turns the scale");
    // Its server counts the statement as done; the provider does not.
    let from = since(wrong, 0).len();
    wrong.kill().unwrap();
    thread::scope(|scope| {
        let started = scope.spawn(|| wrong.start());
        wait_for("it to fail again", || since(wrong, from).contains("the nodes vote on it"));
        locks.execute(b"UNLOCK TABLES").unwrap();
        let refused = started.join().unwrap().unwrap_err().to_string();
        assert!(refused.contains("left the cluster"), "{refused}");
    });
    assert_eq!(ids(still).len(), 103);
    comes_back(&cluster, wrong);
}

#[test]
fn all_are_killed_while_several_wait_for_an_inconsistency_vote() {
    provider::build();
    let cluster = Builder::cluster(5).set("innodb_flush_log_at_trx_commit", "0").start_temporary().unwrap();
    let [first, wrong, wrong_too, still, still_too] = [0, 1, 2, 3, 4].map(|index| cluster.node(index));
    define(&cluster, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, a INT)"]);
    run(first, &["INSERT INTO d.t VALUES (1, 0), (2, 0), (3, 0)"]);
    cluster.nodes().for_each(|node| assert_eq!(ids(node).len(), 3));
    for node in [wrong, wrong_too] {
        apart(node, "DELETE FROM d.t WHERE id = 1");
    }
    let mut locks = [still, still_too].map(|node| node.connect().unwrap());
    locks.iter_mut().for_each(|lock| drop(lock.execute(b"FLUSH TABLES WITH READ LOCK").unwrap()));
    run(first, &["UPDATE d.t SET a = 1 WHERE id = 1", "INSERT INTO d.t VALUES (4, 0)"]);
    for node in [wrong, wrong_too] {
        wait_for("it to fail", || since(node, 0).contains("the nodes vote on it"));
    }
    thread::sleep(Duration::from_millis(300));
    assert_eq!(size(first).as_deref(), Some("5"), "one for it, two against it: the others turn the scale");
    let from = [wrong, wrong_too].map(|node| since(node, 0).len());
    cluster.kill().unwrap();
    // The two apply that seqno again, and now lose the vote: three nodes succeeded.
    let refused = cluster.start().unwrap_err().to_string();
    assert!(refused.contains("left the cluster"), "{refused}");
    let again = |(node, from)| since(node, from).contains("the nodes vote on it");
    let logs = [(wrong, from[0]), (wrong_too, from[1])];
    // The later one of the two may find the result in its log already.
    wait_for("one to fail again", || logs.into_iter().any(again));
    for (node, from) in logs {
        wait_for("it to leave", || since(node, from).contains("The node leaves the cluster"));
        assert_logged(&since(node, from), &["the tables of this node are inconsistent with the cluster"]);
    }
    wait_for("the others to go on", || size(first).as_deref() == Some("3") && !is_non_primary(first));
    run(first, &["INSERT INTO d.t VALUES (5, 0)"]);
    for node in [wrong, wrong_too] {
        let from = since(node, 0).len();
        node.kill().unwrap();
        node.start().unwrap();
        assert_logged(&since(node, from), &["SST succeeded"]);
    }
    for node in cluster.nodes() {
        assert_eq!(rows(node), [["1", "1"], ["2", "0"], ["3", "0"], ["4", "0"], ["5", "0"]], "{}", node.name());
    }
}

#[test]
fn ddl_that_failed_on_a_single_running_node_fails_on_a_rejoining_node_too() {
    let cluster = with_table(Builder::cluster(2).set("wsrep_ignore_apply_errors", "0"));
    let [first, second] = [0, 1].map(|index| cluster.node(index));
    ids(second);
    second.stop().unwrap();
    wait_for("it to be alone", || size(first).as_deref() == Some("1"));
    let refused = first.connect().unwrap().execute(b"CREATE TABLE d.t (b INT)").unwrap_err();
    assert!(refused.to_string().contains("already exists"), "{refused}");
    run(first, &["INSERT INTO d.t VALUES (1)"]);
    // From the other's log, and so from its own log after a crash of both.
    let from = since(second, 0).len();
    second.start().unwrap();
    assert_eq!([first, second].map(ids), [["1"], ["1"]]);
    assert_logged(&since(second, from), &["all nodes skip it"]);
    cluster.kill().unwrap();
    cluster.start().unwrap();
    assert_eq!([first, second].map(ids), [["1"], ["1"]]);
}

#[test]
fn a_node_that_shuts_down_with_pending_ddl_does_not_continue_without_it() {
    let cluster = three(Builder::cluster(3).set("wsrep_ignore_apply_errors", "0"));
    let [wrong, second, still] = [0, 1, 2].map(|index| cluster.node(index));
    apart(wrong, "CREATE TABLE d.u (b INT)");
    let mut locks = still.connect().unwrap();
    locks.execute(b"FLUSH TABLES WITH READ LOCK").unwrap();
    thread::scope(|scope| {
        let client = scope.spawn(|| wrong.connect().unwrap().execute(b"CREATE TABLE d.u (c INT)"));
        wait_for("it to fail", || since(wrong, 0).contains("the nodes vote on it"));
        wrong.stop().unwrap();
        assert!(client.join().unwrap().is_err());
    });
    wait_for("the others to go on", || size(second).as_deref() == Some("2"));
    assert_eq!(ask(second, "SHOW COLUMNS FROM d.u")[0][0], "c");
    locks.execute(b"UNLOCK TABLES").unwrap();
    // Its own log has that seqno: it fails on it once more, and then receives the tables of another node.
    let refused = wrong.start().unwrap_err().to_string();
    assert!(refused.contains("left the cluster"), "{refused}");
    comes_back(&cluster, wrong);
    cluster.nodes().for_each(|node| assert_eq!(ask(node, "SHOW COLUMNS FROM d.u")[0][0], "c"));
}

#[test]
fn ddl_that_fails_on_all_nodes_is_consistent_and_ddl_that_fails_on_one_node_is_not() {
    let cluster = three(Builder::cluster(3).set("wsrep_ignore_apply_errors", "0"));
    let [first, second, third] = [0, 1, 2].map(|index| cluster.node(index));
    let refused = first.connect().unwrap().execute(b"CREATE TABLE d.t (b INT)").unwrap_err();
    assert!(refused.to_string().contains("already exists"), "{refused}");
    // Two of three votes decide, and a row of a node that still applies the definition would conflict with it.
    cluster.nodes().for_each(|node| drop(ids(node)));
    run(second, &["INSERT INTO d.t VALUES (4, 0)"]);
    cluster.nodes().for_each(|node| assert_eq!((size(node).as_deref(), ids(node).len()), (Some("3"), 4)));
    // On its origin node, and on another node.
    for (wrong, table) in [(first, "u"), (third, "v")] {
        apart(wrong, &format!("CREATE TABLE d.{table} (b INT)"));
        let done = first.connect().unwrap().execute(format!("CREATE TABLE d.{table} (c INT)").as_bytes());
        assert_eq!(done.is_err(), wrong.name() == first.name(), "{done:?}");
        goes(&cluster, wrong);
        comes_back(&cluster, wrong);
        cluster.nodes().for_each(|node| assert_eq!(ask(node, &format!("SHOW COLUMNS FROM d.{table}"))[0][0], "c"));
    }
}

#[test]
fn two_nodes_with_a_full_table_do_not_outvote_the_one_that_confirmed() {
    let cluster = three(Builder::cluster(3));
    let [first, second, third] = [0, 1, 2].map(|index| cluster.node(index));
    run(first, &["ALTER TABLE d.t ADD filling CHAR(200)"]);
    ids(second);
    ids(third);
    // A full table, error 1114: the rows are in memory, and there is little of it.
    let fill = [
        "SET GLOBAL max_heap_table_size = 16384",
        "SET SESSION wsrep_on = OFF",
        "SET SESSION max_heap_table_size = 16384",
    ];
    for node in [second, third] {
        run(node, &[&fill[..], &["ALTER TABLE d.t ENGINE = MEMORY"]].concat());
    }
    let from = [second, third].map(|node| since(node, 0).len());
    run(first, &["INSERT INTO d.t SELECT seq, 0, REPEAT('x', 200) FROM d.seq_100_to_999"]);
    for (node, from) in [second, third].into_iter().zip(from) {
        wait_for("the node to leave", || since(node, from).contains("The node leaves the cluster"));
        assert_logged(&since(node, from), &["the table or its disk is full", "there is no vote", "restart the server"]);
    }
    // The node that confirmed continues.
    wait_for("the first to continue", || size(first).as_deref() == Some("1") && !is_non_primary(first));
    run(first, &["INSERT INTO d.t VALUES (1000, 0, '')"]);
    // With room again, the others apply it from their own logs.
    for node in [second, third] {
        // Unlike InnoDB, the engine of this table has kept the rows that had room.
        run(
            node,
            &["SET SESSION wsrep_on = OFF", "DELETE FROM d.t WHERE id >= 100", "ALTER TABLE d.t ENGINE = InnoDB"],
        );
        node.stop().unwrap();
    }
    for node in [second, third] {
        let from = since(node, 0).len();
        node.start().unwrap();
        assert!(!since(node, from).contains("needs an SST"), "its own log is enough:\n{}", since(node, from));
    }
    let expected = rows(first);
    assert_eq!(expected.len(), 904);
    cluster.nodes().for_each(|node| assert_eq!(rows(node), expected, "{}", node.name()));
}
