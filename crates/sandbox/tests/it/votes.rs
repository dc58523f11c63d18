//! Nodes that are dead do not count for ever: those that are there go on when one of them is shut down, or another comes.

use hortator_sandbox::{Builder, Node, Temporary};

use crate::company::{ids, is_cut_off, size, wait_for};
use crate::{provider, run};

fn cluster_of(nodes: usize) -> Temporary {
    provider::build();
    let cluster = Builder::cluster(nodes).set("innodb_flush_log_at_trx_commit", "0").start_temporary().unwrap();
    run(cluster.node(0), &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    cluster
}

/// The node goes on, and sees so many in its cluster.
fn goes_on(node: Node<'_>, nodes: &str) {
    wait_for(&format!("{} to go on as one of {nodes}", node.name()), || {
        size(node).as_deref() == Some(nodes) && !is_cut_off(node)
    });
}

#[test]
fn the_last_one_goes_on_when_one_is_dead_or_cut_off_and_the_other_is_shut_down() {
    let cluster = cluster_of(3);
    let [first, second, third] = [0, 1, 2].map(|index| cluster.node(index));
    let mut rows = 0;
    let mut insert = |node| {
        rows += 1;
        run(node, &[&format!("INSERT INTO d.t VALUES ({rows})")]);
        (1..=rows).map(|id: i32| id.to_string()).collect::<Vec<_>>()
    };
    // Whoever leads: the one that stays, the one that is shut down, or the one that dies.
    for (stays, stops, dies) in [(first, second, third), (second, third, first), (third, first, second)] {
        for is_killed in [true, false] {
            println!("{} is the one that stays; killed: {is_killed}", stays.name());
            insert(dies);
            if is_killed { dies.kill() } else { dies.cut() }.unwrap();
            stops.stop().unwrap();
            goes_on(stays, "1");
            let expected = insert(stays);
            if is_killed { dies.start() } else { dies.heal().map(drop) }.unwrap();
            goes_on(dies, "2");
            assert_eq!(ids(dies), expected);
            stops.start().unwrap();
            cluster.nodes().for_each(|node| goes_on(node, "3"));
        }
    }
    let expected = insert(first);
    // All three vote again.
    second.kill().unwrap();
    goes_on(first, "2");
    cluster.kill().unwrap();
    cluster.start().unwrap();
    cluster.nodes().for_each(|node| assert_eq!(ids(node), expected, "{}", node.name()));
}

#[test]
fn a_node_at_another_address_takes_the_place_of_one_that_is_dead() {
    let cluster = cluster_of(4);
    let [first, second, dead, new] = [0, 1, 2, 3].map(|index| cluster.node(index));
    new.stop().unwrap();
    dead.kill().unwrap();
    goes_on(first, "2");
    new.start().unwrap();
    goes_on(first, "3");
    // Two of three, where two of four would stand still.
    second.kill().unwrap();
    goes_on(first, "2");
    run(new, &["INSERT INTO d.t VALUES (1)"]);
    assert_eq!(ids(first), ["1"]);
    // Both come back, and vote again.
    second.start().unwrap();
    dead.start().unwrap();
    cluster.nodes().for_each(|node| goes_on(node, "4"));
    new.kill().unwrap();
    goes_on(dead, "3");
    run(dead, &["INSERT INTO d.t VALUES (2)"]);
    [first, second, dead].into_iter().for_each(|node| assert_eq!(ids(node), ["1", "2"]));
}
