//! Nodes with a forced bootstrap, without a majority: the excluded nodes do not continue silently beside them.

use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;
use hortator_sandbox::{Builder, Healed, Node, Sandbox, State};

use crate::cluster_fixture::{ids, is_non_primary, remove_provider_files, since, wait_for, with_table};
use crate::kills::arguments;
use crate::manual_server::{Own, is_ready};
use crate::{run, set_options};

/// A client gives up after waiting this long for an answer.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(40);
const ANEW: &str =
    "belongs to a cluster that was bootstrapped (pc.bootstrap, pc.ignore_sb, or hortator.raft.log removed) without";
const LEFT_OUT: &str = "This node has no majority of the old cluster, so it stops";

/// Its clients may write, and it sees no other node.
pub fn goes_on_alone(node: Node<'_>) -> bool {
    let is_alone = node.wsrep_status().is_some_and(|status| status.is_synced() && status.size.as_deref() == Some("1"));
    is_alone && is_ready(node)
}

fn errors(node: Node<'_>, words: &str) -> usize {
    since(node, 0).lines().filter(|line| line.contains("[ERROR]") && line.contains(words)).count()
}

/// The generation of the node's cluster, as its file has it.
pub fn generation(node: Node<'_>) -> String {
    let text = fs::read_to_string(node.data_dir().join("hortator.raft.log")).unwrap();
    text.lines().find(|line| line.starts_with("generation: ")).unwrap().to_owned()
}

fn go_on_alone(node: Node<'_>) {
    set_options(node, "pc.bootstrap=yes");
}

pub fn insert(node: Node<'_>, id: u32) {
    run(node, &[&format!("INSERT INTO d.t VALUES ({id})")]);
}

pub fn has_rows(node: Node<'_>, expected: &[u32]) {
    let expected: Vec<String> = expected.iter().map(u32::to_string).collect();
    assert_eq!(ids(node), expected, "{}", node.name());
}

/// The stopped nodes are started unchanged: they end, and meanwhile take no writes.
fn assert_left_out(cluster: &Sandbox, by: Node<'_>) {
    let down: Vec<Node<'_>> = cluster.nodes().filter(|node| node.state() == State::Crashed).collect();
    let from: Vec<usize> = down.iter().map(|node| since(*node, 0).len()).collect();
    thread::scope(|scope| {
        let start = scope.spawn(|| cluster.start());
        while !start.is_finished() {
            for node in &down {
                let written =
                    node.connect().ok().map(|mut connection| connection.execute(b"INSERT INTO d.t VALUES (99)"));
                assert!(!matches!(written, Some(Ok(_))), "{} goes on beside the others", node.name());
            }
            thread::sleep(Duration::from_millis(20));
        }
        start.join().unwrap().expect_err("those who were left out must not come up");
    });
    for (node, from) in down.into_iter().zip(from) {
        let told = since(node, from);
        let met = format!("{} at 127.0.0.1:{} {ANEW} {} at", by.name(), by.ports().group, node.name());
        for words in [&met, LEFT_OUT, "move the files hortator* out of this node's data folder"] {
            assert!(told.contains(words), "`{words}` is missing in the log of {}:\n{told}", node.name());
        }
        assert!(!told.contains("panicked") && !told.contains("got signal"), "{told}");
        assert_ne!(node.state(), State::Running);
    }
}

#[test]
fn a_node_continues_without_the_others_and_they_do_not_continue_without_it() {
    let cluster = with_table(Builder::cluster(3));
    let [first, second, third] = [0, 1, 2].map(|index| cluster.node(index));
    let begun = generation(first);
    cluster.nodes().for_each(|node| assert_eq!(generation(node), begun, "{}", node.name()));

    // With a majority it has no effect.
    go_on_alone(second);
    insert(second, 1);
    cluster.nodes().for_each(|node| has_rows(node, &[1]));
    cluster.nodes().for_each(|node| assert_eq!(generation(node), begun, "{}", node.name()));

    // On an isolated node it is a mistake. Both sides continue, and all report a split-brain.
    third.isolate().unwrap();
    wait_for("the cut", || is_non_primary(third));
    go_on_alone(third);
    wait_for("it to go on by itself", || goes_on_alone(third));
    assert_ne!(generation(third), begun);
    insert(third, 2);
    insert(first, 3);
    let healed = Instant::now();
    assert_eq!(third.heal().unwrap(), Healed::Synced);
    let by = format!("node3 at 127.0.0.1:{} {ANEW}", third.ports().group);
    wait_for("the majority to say so", || [first, second].iter().all(|node| errors(*node, &by) > 0));
    wait_for("the other to say so", || {
        ["node1", "node2"].iter().all(|name| since(third, 0).contains(&format!("{by} {name}")))
    });
    insert(third, 4);
    insert(second, 5);
    [first, second].into_iter().for_each(|node| has_rows(node, &[1, 3, 5]));
    has_rows(third, &[1, 2, 4]);
    // It is said again each minute.
    let most = 1 + usize::try_from(healed.elapsed().as_secs() / 60).unwrap();
    for node in [first, second] {
        assert!(errors(node, &by) <= most, "{} says it again and again:\n{}", node.name(), since(node, 0));
    }
    // The nodes of the majority that start beside it have what it lacks, and keep it.
    first.kill().unwrap();
    second.kill().unwrap();
    assert_left_out(&cluster, third);
    assert!(since(first, 0).contains("it has committed transactions that the bootstrapped cluster lacks"));
    third.kill().unwrap();
    remove_provider_files(third);
    cluster.start().unwrap();
    has_rows(third, &[1, 3, 5]);
    assert_eq!(generation(third), begun);

    // The others crash, and the node continues for good.
    second.kill().unwrap();
    third.kill().unwrap();
    wait_for("the loss of the majority", || is_non_primary(first));
    go_on_alone(first);
    wait_for("it to go on by itself", || goes_on_alone(first));
    insert(first, 6);
    has_rows(first, &[1, 3, 5, 6]);
    // They have nothing that it lacks: they join it.
    cluster.start().unwrap();
    insert(first, 7);
    insert(third, 8);
    cluster.nodes().for_each(|node| has_rows(node, &[1, 3, 5, 6, 7, 8]));
    assert_ne!(generation(first), begun);
    cluster.nodes().for_each(|node| assert_eq!(generation(node), generation(first), "{}", node.name()));
}

/// The option with the position of a killed node, as systemd's unit finds it out.
pub fn start_position(arguments: &[String]) -> String {
    let mut recovers = Command::new(&arguments[0]);
    recovers.args(&arguments[1..]).args(["--user=mysql", "--skip-log-error", "--wsrep-recover"]);
    let recovered = recovers.output().unwrap();
    let recovered = String::from_utf8_lossy(&recovered.stderr).into_owned();
    let (_, position) = recovered.rsplit_once("Recovered position: ").unwrap_or_else(|| panic!("{recovered}"));
    format!("--wsrep-start-position={}", position.lines().next().unwrap())
}

/// Starts a killed node at its position, and bootstraps a cluster.
fn start_new_cluster(node: Node<'_>, arguments: &[String]) -> Own {
    let further = [start_position(arguments), "--wsrep-new-cluster".to_owned()];
    let own = Own::spawn(&[arguments, &further].concat(), &[]);
    wait_for("the new cluster", || goes_on_alone(node));
    own
}

#[test]
fn two_nodes_that_each_continue_are_a_split_brain() {
    // An election that takes long is no reason to continue alone.
    let options = "pc.ignore_sb=yes;raft.election_timeout=PT2S";
    let cluster = with_table(Builder::cluster(2).set("wsrep_provider_options", options));
    let [first, second] = [0, 1].map(|index| cluster.node(index));
    let arguments = arguments(first);

    // A partition, and both sides continue by themselves. So do their clients, also those whose commits were on their
    // way to the other node.
    run(first, &["CREATE TABLE d.busy (id INT PRIMARY KEY AUTO_INCREMENT)"]);
    let ends = AtomicBool::new(false);
    let write = |node: Node<'_>| {
        let mut options = node.connect_options();
        options.read_timeout = Some(CLIENT_TIMEOUT);
        while !ends.load(Ordering::SeqCst) {
            let asked = Instant::now();
            let _ = Connection::open(&options)
                .and_then(|mut connection| connection.execute(b"INSERT INTO d.busy VALUES ()").map(|_| ()));
            // Any answer is correct, but there must be one.
            assert!(asked.elapsed() < CLIENT_TIMEOUT, "a client of {} waits for ever", node.name());
        }
    };
    thread::scope(|scope| {
        let write = &write;
        let clients: Vec<_> =
            [first, second].iter().flat_map(|node| [*node; 4]).map(|node| scope.spawn(move || write(node))).collect();
        second.isolate().unwrap();
        wait_for("both to go on", || [first, second].iter().all(|node| goes_on_alone(*node)));
        ends.store(true, Ordering::SeqCst);
        clients.into_iter().for_each(|client| client.join().unwrap());
    });
    insert(first, 1);
    insert(second, 2);
    assert_eq!(second.heal().unwrap(), Healed::Synced);
    let addresses = [first, second].map(|node| format!("{} at 127.0.0.1:{} (", node.name(), node.ports().group));
    wait_for("both to say so", || [first, second].iter().all(|node| errors(*node, "split-brain") > 0));
    for node in [first, second] {
        let told = since(node, 0);
        let line = told.lines().find(|line| line.contains("split-brain")).unwrap();
        assert!(addresses.iter().all(|address| line.contains(address.as_str())), "{line}");
    }
    insert(first, 3);
    insert(second, 4);
    has_rows(first, &[1, 3]);
    has_rows(second, &[2, 4]);
    // One node is discarded.
    second.kill().unwrap();
    remove_provider_files(second);
    second.start().unwrap();
    cluster.nodes().for_each(|node| has_rows(node, &[1, 3]));

    // One node bootstraps without its votes. The other, which continues by itself when it reaches no node, learns this.
    cluster.kill().unwrap();
    fs::remove_file(first.data_dir().join("hortator.raft.log")).unwrap();
    let from = since(first, 0).len();
    first.start().expect_err("without its votes");
    assert!(since(first, from).contains("hortator.raft.log is not in the data folder"), "{}", since(first, from));
    let own = start_new_cluster(first, &arguments);
    insert(first, 5);
    assert_left_out(&cluster, first);
    remove_provider_files(second);
    cluster.start().unwrap();
    cluster.nodes().for_each(|node| has_rows(node, &[1, 3, 5]));
    assert_eq!(generation(first), generation(second));
    drop(own);
}
