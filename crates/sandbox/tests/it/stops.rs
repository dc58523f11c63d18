//! Nodes that are stopped at the same time.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

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

/// A node that hears no leader for this long stops with its vote.
const LEADERLESS_LIMIT: Duration = Duration::from_secs(4);
/// Rounds that a slow machine may take for nothing.
const MOST_SLOW_STOPS: usize = 2;

/// Stops all nodes at once. None: some needed so long that they may keep their votes, as documented.
fn stop_all(cluster: &Temporary) -> Option<Node<'_>> {
    let began = Instant::now();
    thread::scope(|scope| {
        for node in cluster.nodes() {
            scope.spawn(move || node.stop().unwrap());
        }
    });
    let is_slow = began.elapsed() > LEADERLESS_LIMIT;
    let logs: Vec<String> = cluster.nodes().map(|node| since(node, 0)).collect();
    let last: Vec<Node<'_>> = cluster.nodes().filter(|node| is_last(*node)).collect();
    assert!(
        last.len() == 1 || is_slow && last.is_empty(),
        "{} after {:?}:\n{}",
        last.len(),
        began.elapsed(),
        logs.join("\n\n")
    );
    last.first().copied()
}

/// All are stopped at once, and each gives its vote back in time: the last one is the whole cluster, and starts without the
/// others.
fn stop_at_once(cluster: &Temporary, id: u32) {
    insert(cluster.node(0), id);
    let stop = |_| {
        let last = stop_all(cluster);
        if last.is_none() {
            cluster.start().unwrap();
        }
        last
    };
    let last = (0..=MOST_SLOW_STOPS).find_map(stop).expect("a round of stops that is not slow");
    last.start().unwrap();
    assert!(goes_on_alone(last));
    let expected: Vec<String> = (1..=id).map(|id| id.to_string()).collect();
    assert_eq!(ids(last), expected);
    cluster.nodes().filter(|node| node.name() != last.name()).for_each(|node| node.start().unwrap());
}

#[test]
fn nodes_that_stop_at_once_all_leave() {
    let cluster = with_table(Builder::cluster(3));
    (1..=4).for_each(|id| stop_at_once(&cluster, id));
}
