//! A disk that stalls: the node lives, and delays nobody but its own clients.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use hortator_sandbox::{Builder, Node, Temporary};

use crate::cluster_fixture::{ids, since, size, wait_for, with_table};
use crate::kills::arguments;
use crate::manual_server::{Own, is_ready};
use crate::run;

/// Longer than an election timeout of each node, which is [`ELECTION`] to twice that.
const STALL: Duration = Duration::from_millis(8_500);
/// No election on a busy machine.
const ELECTION: &str = "raft.election_timeout=PT4S";

/// Files that stall the disk of their node while they exist.
fn stall_file(node: Node<'_>) -> PathBuf {
    node.folder().join("stall")
}

/// Restarts all nodes with disks that can stall.
fn start_with_stalls(cluster: &Temporary) -> Vec<Own> {
    let library = cluster.folder().join("stall.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/stall.c");
    let mut compile = Command::new("cc");
    compile.args(["-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl");
    assert!(compile.status().unwrap().success(), "stall.c cannot be compiled");
    let start = |node: Node<'_>| {
        let arguments = arguments(node);
        let around =
            [format!("LD_PRELOAD={}", library.display()), format!("HORTATOR_STALL={}", stall_file(node).display())];
        node.stop().unwrap();
        let own = Own::start(node, &arguments, &around);
        wait_for("the node", || is_ready(node));
        own
    };
    let servers = cluster.nodes().map(start).collect();
    wait_for("all three", || cluster.nodes().all(|node| size(node).as_deref() == Some("3")));
    servers
}

/// The latest term that the node has led.
fn latest_term_led(node: Node<'_>) -> u64 {
    let log = since(node, 0);
    let terms = log.split("this node is the Raft leader (Term(").skip(1).filter_map(|rest| rest.split(')').next());
    terms.last().map_or(0, |term| term.parse().unwrap())
}

#[test]
fn a_leader_whose_disk_stalls_still_leads_and_the_others_commit() {
    let cluster = with_table(Builder::cluster(3).set("wsrep_provider_options", ELECTION));
    let _servers = start_with_stalls(&cluster);
    let leader = cluster.nodes().max_by_key(|node| latest_term_led(*node)).unwrap();
    let term = latest_term_led(leader);
    let other = cluster.nodes().find(|node| node.name() != leader.name()).unwrap();
    let expected: Vec<String> = (1..=4).map(|id| id.to_string()).collect();

    fs::write(stall_file(leader), "").unwrap();
    thread::scope(|scope| {
        // A client of the leader waits for its disk.
        let own = scope.spawn(|| run(leader, &["INSERT INTO d.t VALUES (1)"]));
        run(other, &["INSERT INTO d.t VALUES (2)"]);
        thread::sleep(STALL);
        run(other, &["INSERT INTO d.t VALUES (3)"]);
        assert!(!own.is_finished(), "its log does not have the row");
        fs::remove_file(stall_file(leader)).unwrap();
        own.join().unwrap();
    });
    run(leader, &["INSERT INTO d.t VALUES (4)"]);
    for node in cluster.nodes() {
        assert_eq!(ids(node), expected, "{}", node.name());
        assert!(latest_term_led(node) <= term, "{} was elected:\n{}", node.name(), since(node, 0));
    }
}
