//! A disk that stalls: the node lives, and delays nobody but its own clients. A disk that is full: nothing is missing
//! afterwards.

use std::thread;
use std::time::Duration;

use hortator_sandbox::{Builder, Node, Temporary};

use crate::cluster_fixture::{create_to_fill, ids, since, size, wait_for, with_table};
use crate::disk::{Disk, Library};
use crate::kills::arguments;
use crate::manual_server::{Own, is_ready};
use crate::{provider, run};

/// Longer than an election timeout of each node, which is [`ELECTION`] to twice that.
const STALL: Duration = Duration::from_millis(8_500);
/// No election on a busy machine.
const ELECTION: &str = "raft.election_timeout=PT4S";

/// Restarts all nodes with disks that can stall.
fn start_with_stalls(cluster: &Temporary) -> (Vec<Own>, Vec<Disk>) {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::compile(folder.path());
    let start = |node: Node<'_>| {
        let arguments = arguments(node);
        let disk = Disk::new(&library);
        node.stop().unwrap();
        let own = Own::start(node, &arguments, &disk.environment(node.data_dir().to_str().unwrap()));
        wait_for("the node", || is_ready(node));
        (own, disk)
    };
    let started = cluster.nodes().map(start).unzip();
    wait_for("all three", || cluster.nodes().all(|node| size(node).as_deref() == Some("3")));
    started
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
    let (_servers, disks) = start_with_stalls(&cluster);
    let leader = cluster.nodes().max_by_key(|node| latest_term_led(*node)).unwrap();
    let term = latest_term_led(leader);
    let other = cluster.nodes().find(|node| node.name() != leader.name()).unwrap();
    let expected: Vec<String> = (1..=4).map(|id| id.to_string()).collect();

    let disk = &disks[leader.number() - 1];
    disk.stall_log(true);
    thread::scope(|scope| {
        // A client of the leader waits for its disk.
        let own = scope.spawn(|| run(leader, &["INSERT INTO d.t VALUES (1)"]));
        run(other, &["INSERT INTO d.t VALUES (2)"]);
        thread::sleep(STALL);
        run(other, &["INSERT INTO d.t VALUES (3)"]);
        assert!(!own.is_finished(), "its log does not have the row");
        disk.stall_log(false);
        own.join().unwrap();
    });
    run(leader, &["INSERT INTO d.t VALUES (4)"]);
    for node in cluster.nodes() {
        assert_eq!(ids(node), expected, "{}", node.name());
        assert!(latest_term_led(node) <= term, "{} was elected:\n{}", node.name(), since(node, 0));
    }
}

/// The storage engine counts a write set as applied although it had no room for it.
#[test]
fn a_node_applies_after_a_restart_what_its_full_disk_had_no_room_for() {
    provider::build();
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::new(&Library::compile(folder.path()));
    let builder = Builder::cluster(3).host(2, disk.host());
    let cluster = builder.start_temporary().unwrap();
    let [first, third] = [0, 2].map(|index| cluster.node(index));
    create_to_fill(first);
    run(first, &["CREATE TABLE d.other (id INT PRIMARY KEY)"]);
    let mut filling = 1;
    for round in 0..3 {
        wait_for("the node", || third.wsrep_status().is_some_and(|status| status.is_synced()));
        let from = since(third, 0).len();
        disk.set_full(true);
        while !since(third, from).contains("the table or its disk is full") {
            run(first, &[&format!("CALL d.fill({filling}, {})", filling + 99)]);
            filling += 100;
            assert!(filling < 100_000, "{}", since(third, from));
        }
        // What it commits besides counts the failed one as applied.
        thread::sleep(Duration::from_millis(1_500));
        third.kill().unwrap();
        disk.set_full(false);
        run(first, &[&format!("INSERT INTO d.other VALUES ({round})")]);
        third.start().unwrap();
        assert_eq!(ids(third), ids(first), "{}", since(third, from));
    }
}
