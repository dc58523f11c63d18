//! A disk that loses entries that its node has acknowledged.

use std::fs;
use std::thread;

use hortator_sandbox::{Builder, Node};

use crate::cluster_fixture::{assert_logged, define, ids, since, wait_for, with_table};
use crate::{provider, run};

/// Overwrites the end of the last record in the log.
pub fn rot(node: Node<'_>) {
    let files = fs::read_dir(node.data_dir()).unwrap().map(|entry| entry.unwrap().path());
    let segments = files.filter(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("hortator-0") && name.len() == "hortator-.log".len() + 20
    });
    let newest = segments.max().unwrap();
    let mut bytes = fs::read(&newest).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    bytes[end - 3] ^= 0xff;
    fs::write(newest, bytes).unwrap();
}

#[test]
fn a_node_whose_last_entries_rot_gets_them_again_and_then_votes() {
    let cluster = with_table(Builder::cluster(3).set("wsrep_provider_options", "log.segment=1M"));
    let [first, second, third] = [0, 1, 2].map(|index| cluster.node(index));
    (1..=5).for_each(|id| run(second, &[&format!("INSERT INTO d.t VALUES ({id})")]));
    assert_eq!(ids(third).len(), 5);
    third.kill().unwrap();
    rot(third);
    let from = since(third, 0).len();
    third.start().unwrap();
    wait_for("the node to recover", || since(third, from).contains("this node votes as usual"));
    assert_logged(&since(third, from), &["this node has acknowledged entries up to index", "Check the disk"]);
    // Its vote counts again.
    second.kill().unwrap();
    first.kill().unwrap();
    first.start().unwrap();
    run(third, &["INSERT INTO d.t VALUES (6)"]);
    second.start().unwrap();
    cluster.nodes().for_each(|node| assert_eq!(ids(node).len(), 6, "{}", node.name()));
}

#[test]
fn a_node_whose_last_entries_rot_does_not_continue_alone_by_itself() {
    provider::build();
    let options = "log.segment=1M;pc.ignore_sb=yes";
    let cluster = Builder::cluster(2).set("wsrep_provider_options", options).start_temporary().unwrap();
    let [first, second] = [0, 1].map(|index| cluster.node(index));
    define(&cluster, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    (1..=5).for_each(|id| run(first, &[&format!("INSERT INTO d.t VALUES ({id})")]));
    assert_eq!(ids(second).len(), 5);
    cluster.nodes().for_each(|node| node.kill().unwrap());
    rot(first);
    let from = since(first, 0).len();
    thread::scope(|scope| {
        let start = scope.spawn(|| first.start());
        let reason = "pc.ignore_sb: this node does not continue alone by itself";
        wait_for("the node to say so", || since(first, from).contains(reason));
        second.start().unwrap();
        start.join().unwrap().unwrap();
    });
    assert!(!since(first, from).contains("bootstraps a cluster"), "{}", since(first, from));
    run(first, &["INSERT INTO d.t VALUES (6)"]);
    cluster.nodes().for_each(|node| assert_eq!(ids(node).len(), 6, "{}", node.name()));
}
