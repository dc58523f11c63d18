//! One node continues without the other (`pc.ignore_sb`), and the other one comes back by itself, if that loses nothing that it
//! knows to be confirmed.

use std::thread;
use std::time::Duration;

use hortator_sandbox::{Builder, Healed, Node, Temporary};

use crate::cluster_fixture::{Writers, assert_logged, ids, is_non_primary, since, size, wait_for, with_table};
use crate::forced_bootstrap::{generation, goes_on_alone, has_rows, insert, start_position};
use crate::kills::arguments;
use crate::manual_server::{Own, is_ready};
use crate::{provider, set_options};

const CONTINUES: &str = "pc.ignore_sb: this node bootstraps a cluster";
const JOINS: &str = "That cluster has everything that this node has: it joins it";
const LACKS: &str =
    "its log ends with transactions that the bootstrapped cluster lacks, and that may have been confirmed";
const DROPS: &str = "pc.ignore_sb: this node joins it, and drops the end of its log";
/// Longer than a node waits for a leader before it continues alone, several times.
const LONGER_THAN_ALONE: Duration = Duration::from_secs(12);
/// Fewer than max_connections.
const MOST_CLIENTS: u32 = 100;

fn two_nodes() -> Temporary {
    with_table(Builder::cluster(2).set("wsrep_provider_options", "pc.ignore_sb=yes"))
}

/// Both nodes are in one cluster again.
fn are_together(cluster: &Temporary) {
    wait_for("both nodes", || cluster.nodes().all(|node| is_ready(node) && size(node).as_deref() == Some("2")));
    assert_eq!(generation(cluster.node(0)), generation(cluster.node(1)));
}

#[test]
fn a_crashed_node_comes_back_by_itself() {
    provider::build();
    // An election that takes long is no reason to continue alone.
    let builder = Builder::cluster(2).set("wsrep_provider_options", "pc.ignore_sb=yes;raft.election_timeout=PT2S");
    let cluster = builder.start_temporary().unwrap();
    let writers = Writers::on(&cluster, &[0, 1]);
    writers.wait_for_more();
    for (stays, crashes) in [(0, 1), (1, 0), (0, 1)] {
        let [stays_node, crashes_node] = [stays, crashes].map(|index| cluster.node(index));
        crashes_node.kill().unwrap();
        wait_for("the other to continue", || goes_on_alone(stays_node));
        // Only it has these.
        writers.wait_for_more_of(stays);
        let from = since(crashes_node, 0).len();
        crashes_node.start().unwrap();
        are_together(&cluster);
        assert_logged(&since(crashes_node, from), &[]);
        writers.wait_for_more();
    }
    writers.stop(&cluster);
    let logs: String = cluster.nodes().map(|node| since(node, 0)).collect();
    assert_eq!(logs.matches(CONTINUES).count(), 3, "{logs}");
    assert_eq!(logs.matches(JOINS).count() + logs.matches(DROPS).count(), 3, "{logs}");
}

#[test]
fn an_isolated_node_comes_back_while_it_runs() {
    let cluster = with_table(Builder::cluster(2));
    let [first, second] = [0, 1].map(|index| cluster.node(index));
    set_options(first, "pc.ignore_sb=yes");
    insert(second, 1);
    second.isolate().unwrap();
    wait_for("the first to continue", || goes_on_alone(first));
    wait_for("the second to lose its quorum", || is_non_primary(second));
    insert(first, 2);
    let pid = second.pid();
    assert_eq!(second.heal().unwrap(), Healed::Synced);
    are_together(&cluster);
    assert_eq!(second.pid(), pid, "it has not restarted");
    insert(second, 3);
    cluster.nodes().for_each(|node| has_rows(node, &[1, 2, 3]));
    assert_logged(&since(second, 0), &[JOINS]);
    assert!(!since(second, 0).contains(CONTINUES));
}

/// Clients write on the first node when the second one is cut off, so the log of the first ends with entries that the second
/// never gets. Then the first node crashes, and the second continues alone. Returns the confirmed rows.
fn cut_while_clients_write(first: Node<'_>, second: Node<'_>) -> Vec<u32> {
    let write = |client: u32| {
        // The last clients may come after the crash.
        let Ok(mut connection) = first.connect() else { return Vec::new() };
        let mut insert = |id: &u32| connection.execute(format!("INSERT INTO d.t VALUES ({id})").as_bytes()).is_ok();
        (client * 1_000_000..).take_while(|id| insert(id)).collect::<Vec<u32>>()
    };
    let confirmed = thread::scope(|scope| {
        let write = &write;
        let mut clients: Vec<_> = (1..=4).map(|client| scope.spawn(move || write(client))).collect();
        wait_for("some rows", || ids(second).len() > 20);
        let isolation = scope.spawn(|| second.isolate().unwrap());
        // The second node may still get what the clients wait for at that moment. Others begin until the first one, which is
        // the leader for a moment more, appends no longer.
        while !is_non_primary(first) {
            let client = u32::try_from(clients.len()).unwrap() + 1;
            if client <= MOST_CLIENTS {
                clients.push(scope.spawn(move || write(client)));
            }
            thread::sleep(Duration::from_millis(50));
        }
        isolation.join().unwrap();
        first.kill().unwrap();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    wait_for("the second to continue", || goes_on_alone(second));
    assert_eq!(second.heal().unwrap(), Healed::Synced);
    confirmed
}

#[test]
fn a_node_keeps_what_may_be_confirmed_unless_it_is_told_to_drop_it() {
    let cluster = two_nodes();
    let [first, second] = [0, 1].map(|index| cluster.node(index));
    // So that it does not continue alone itself.
    set_options(first, "pc.ignore_sb=no");
    let arguments = arguments(first);
    let confirmed = cut_while_clients_write(first, second);
    let mut without: Vec<String> =
        arguments.iter().map(|argument| argument.replace("pc.ignore_sb=yes", "pc.ignore_sb=no")).collect();
    assert_ne!(without, arguments);
    without.push(start_position(&without));
    let from = since(first, 0).len();
    assert!(!Own::spawn(&without, &[]).end(first).success());
    let told = since(first, from);
    assert_logged(&told, &[LACKS, "with pc.ignore_sb=yes it drops them and joins", "move the files hortator*"]);

    let from = since(first, 0).len();
    first.start().unwrap();
    are_together(&cluster);
    assert_logged(&since(first, from), &[DROPS]);
    insert(first, 3);
    let rows = ids(first);
    assert_eq!(ids(second), rows);
    assert!(confirmed.iter().all(|id| rows.contains(&id.to_string())), "{} of {rows:?}", confirmed.len());
}

#[test]
fn a_node_that_has_left_does_not_continue_alone() {
    let cluster = two_nodes();
    let [first, second] = [0, 1].map(|index| cluster.node(index));
    second.stop().unwrap();
    // The only voter confirms this alone.
    insert(first, 1);
    first.kill().unwrap();
    let from = since(second, 0).len();
    thread::scope(|scope| {
        let start = scope.spawn(|| second.start());
        thread::sleep(LONGER_THAN_ALONE);
        assert!(!is_ready(second));
        first.start().unwrap();
        start.join().unwrap().unwrap();
    });
    assert!(!since(second, from).contains(CONTINUES), "{}", since(second, from));
    are_together(&cluster);
    cluster.nodes().for_each(|node| assert_eq!(ids(node), ["1"], "{}", node.name()));
}
