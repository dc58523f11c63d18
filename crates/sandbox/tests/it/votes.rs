//! Dead nodes do not vote for ever: the running nodes continue when one of them is shut down, or another joins.

use std::thread;
use std::time::Duration;

use hortator_sandbox::{Builder, Node, Temporary};

use crate::cluster_fixture::{ids, since, size, wait_for, with_table};
use crate::{run, set_options};

fn cluster_of(nodes: usize) -> Temporary {
    with_table(Builder::cluster(nodes).set("innodb_flush_log_at_trx_commit", "0"))
}

/// The node continues, with that cluster size.
fn goes_on(node: Node<'_>, nodes: &str) {
    wait_for(&format!("{} to go on as one of {nodes}", node.name()), || {
        size(node).as_deref() == Some(nodes) && node.wsrep_status().is_some_and(|status| status.is_synced())
    });
}

/// The node takes statements for a while.
fn takes_statements(node: Node<'_>) -> bool {
    (0..5).all(|_| {
        thread::sleep(Duration::from_millis(100));
        node.connect().is_ok_and(|mut client| client.execute(b"SELECT COUNT(*) FROM d.t").is_ok())
    })
}

/// The fate of a node while another is shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Killed,
    Isolated,
    /// Killed, and started at the same time.
    BackMeanwhile,
}

#[test]
fn the_last_node_continues_when_one_is_dead_or_isolated_and_the_other_is_shut_down() {
    let cluster = cluster_of(3);
    let [first, second, third] = [0, 1, 2].map(|index| cluster.node(index));
    let mut rows = 0;
    let mut insert = |node: Node<'_>| {
        rows += 1;
        // Also where an election takes longer than a statement waits.
        let row = format!("INSERT IGNORE INTO d.t VALUES ({rows})");
        wait_for("a row", || node.connect().is_ok_and(|mut client| client.execute(row.as_bytes()).is_ok()));
        (1..=rows).map(|id: i32| id.to_string()).collect::<Vec<_>>()
    };
    // The leader is the remaining node, the stopped node, or the killed node.
    for (stays, stops, dies) in [(first, second, third), (second, third, first), (third, first, second)] {
        for way in [Way::Killed, Way::Isolated, Way::BackMeanwhile] {
            println!("{} is the one that stays; the other: {way:?}", stays.name());
            insert(dies);
            if way == Way::Isolated { dies.isolate() } else { dies.kill() }.unwrap();
            thread::scope(|scope| {
                let back = (way == Way::BackMeanwhile).then(|| scope.spawn(|| dies.start()));
                stops.stop().unwrap();
                if back.is_none() {
                    goes_on(stays, "1");
                }
                wait_for("a client to get through", || takes_statements(stays));
                let expected = insert(stays);
                match way {
                    Way::Killed => dies.start().unwrap(),
                    Way::Isolated => drop(dies.heal().unwrap()),
                    Way::BackMeanwhile => {}
                }
                // The node may see earlier views first, one of them without itself.
                wait_for("it to be back", || size(dies).as_deref() == Some("2") && takes_statements(dies));
                assert_eq!(ids(dies), expected);
                stops.start().unwrap();
                // That node waits for all that ran, also for the stopped one, which may have announced its end.
                let _waited = back.map(|back| back.join().unwrap());
            });
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
fn a_node_at_another_address_replaces_a_dead_one() {
    let cluster = cluster_of(4);
    let [first, second, dead, new] = [0, 1, 2, 3].map(|index| cluster.node(index));
    new.stop().unwrap();
    dead.kill().unwrap();
    goes_on(first, "2");
    new.start().unwrap();
    goes_on(first, "3");
    // Two of three are a majority; two of four would not be.
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

#[test]
fn a_node_that_shuts_down_does_not_form_its_own_cluster() {
    let cluster = cluster_of(2);
    let [first, second] = [0, 1].map(|index| cluster.node(index));
    cluster.nodes().for_each(|node| set_options(node, "pc.ignore_sb=yes"));
    second.kill().unwrap();
    first.stop().unwrap();
    cluster.start().unwrap();
    cluster.nodes().for_each(|node| goes_on(node, "2"));
    assert!(!since(first, 0).contains("bootstraps a cluster"), "{}", since(first, 0));
}
