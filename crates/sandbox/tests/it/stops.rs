//! Nodes that are stopped at the same time.

use std::fs;
use std::thread;

use hortator_sandbox::{Builder, Node, Temporary};

use crate::cluster_fixture::{ids, since, with_table};
use crate::forced_bootstrap::{goes_on_alone, insert};

/// Whether the node is the only voter that it knows.
fn is_last(node: Node<'_>) -> bool {
    let text = fs::read_to_string(node.data_dir().join("hortator.raft.log")).unwrap();
    let values = |name: &str| text.lines().filter_map(|line| line.strip_prefix(name)).collect::<Vec<_>>();
    let (own, voters) = (values("node: "), values("voter: "));
    voters.len() == 1 && voters[0].starts_with(own[0])
}

/// All are stopped at once, and each gives its vote back in time: the last one is the whole cluster, and starts without the
/// others.
fn stop_at_once(cluster: &Temporary, id: u32) {
    insert(cluster.node(0), id);
    thread::scope(|scope| {
        for node in cluster.nodes() {
            scope.spawn(move || node.stop().unwrap());
        }
    });
    let logs: Vec<String> = cluster.nodes().map(|node| since(node, 0)).collect();
    let last: Vec<Node<'_>> = cluster.nodes().filter(|node| is_last(*node)).collect();
    assert_eq!(last.len(), 1, "{}", logs.join("\n\n"));
    last[0].start().unwrap();
    assert!(goes_on_alone(last[0]));
    let expected: Vec<String> = (1..=id).map(|id| id.to_string()).collect();
    assert_eq!(ids(last[0]), expected);
    cluster.nodes().filter(|node| node.name() != last[0].name()).for_each(|node| node.start().unwrap());
}

#[test]
fn nodes_that_stop_at_once_all_leave() {
    let cluster = with_table(Builder::cluster(3));
    (1..=4).for_each(|id| stop_at_once(&cluster, id));
}
