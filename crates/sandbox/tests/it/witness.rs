//! Two nodes and a witness: any one of the three dies, all die, disks lose entries, and nothing that was confirmed is lost.

mod errors;
mod manual_witness;
mod random;
mod tls;

use std::fs;
use std::thread;

use hortator_sandbox::{Builder, Node, Sandbox, State, Temporary, Witness};

use crate::cluster_fixture::{Writers, create_to_fill, define, fill, ids, is_non_primary, wait_for};
use crate::forced_bootstrap::goes_on_alone;
use crate::lost_tail::rot;
use crate::{ask, provider, run, set_options};

/// A cluster with a witness and these options of the provider, the same for all.
fn cluster(nodes: usize, options: &str) -> Temporary {
    provider::build();
    Builder::cluster(nodes).set("wsrep_provider_options", options).witness().start_temporary().unwrap()
}

fn witness(sandbox: &Sandbox) -> Witness<'_> {
    sandbox.witness().unwrap()
}

/// A status variable of the provider.
fn variable(node: Node<'_>, name: &str) -> String {
    ask(node, &format!("SHOW STATUS LIKE 'wsrep_{name}'"))[0][1].clone()
}

/// The witness has on its disk what the leader has in its log.
fn has_witness_all(sandbox: &Sandbox) -> bool {
    let on_leader = |node: Node<'_>| {
        let peers = variable(node, "raft_peers");
        let witness = peers.split(", ").find(|peer| peer.ends_with(" witness"))?;
        let matched = witness.split(' ').find_map(|word| word.strip_prefix("match="))?;
        Some(matched == variable(node, "raft_last_index"))
    };
    sandbox.nodes().any(|node| variable(node, "raft_role") == "leader" && on_leader(node) == Some(true))
}

#[test]
fn any_one_of_two_nodes_and_a_witness_may_die() {
    let sandbox = cluster(2, "");
    let [first, second] = [0, 1].map(|index| sandbox.node(index));
    assert_eq!(variable(first, "raft_voters"), "3");
    assert_eq!(variable(second, "cluster_size"), "2", "a witness is in no view");
    for node in sandbox.nodes() {
        let is_it = |peer: &str| peer.starts_with("witness ") && peer.ends_with(" witness");
        wait_for("the node to know the witness", || variable(node, "raft_peers").split(", ").any(is_it));
    }
    let writers = Writers::on(&sandbox, &[0, 1]);

    witness(&sandbox).kill().unwrap();
    assert_eq!(witness(&sandbox).state(), State::Crashed);
    writers.wait_for_more();
    witness(&sandbox).start().unwrap();

    second.kill().unwrap();
    writers.wait_for_more_of(0);
    // A failed statement of the only node is skipped, as on a single node.
    let error = first.connect().unwrap().execute(b"CREATE TABLE d.t (id INT)").unwrap_err();
    assert_eq!(error.code(), Some(1050), "{error}");
    writers.wait_for_more_of(0);
    second.start().unwrap();
    writers.wait_for_more();

    first.kill().unwrap();
    writers.wait_for_more_of(1);
    first.start().unwrap();
    writers.wait_for_more();

    witness(&sandbox).isolate().unwrap();
    writers.wait_for_more();
    witness(&sandbox).heal().unwrap();
    wait_for("the witness's vote", || witness(&sandbox).has_vote());
    first.isolate().unwrap();
    wait_for("the isolated node to notice", || is_non_primary(first));
    writers.wait_for_more_of(1);
    sandbox.heal().unwrap();

    witness(&sandbox).pause().unwrap();
    writers.wait_for_more();
    witness(&sandbox).resume().unwrap();
    wait_for("the witness's vote", || witness(&sandbox).has_vote());
    second.pause().unwrap();
    writers.wait_for_more_of(0);
    second.resume().unwrap();
    writers.wait_for_more();
    writers.stop(&sandbox);
}

#[test]
fn all_three_die_at_once() {
    let sandbox = cluster(2, "");
    let writers = Writers::on(&sandbox, &[0, 1]);
    for _ in 0..3 {
        writers.wait_for_more();
        sandbox.kill().unwrap();
        sandbox.start().unwrap();
    }
    writers.wait_for_more();
    // Two of them at once: the third waits for either.
    sandbox.node(1).kill().unwrap();
    witness(&sandbox).kill().unwrap();
    wait_for("the loss of the majority", || is_non_primary(sandbox.node(0)));
    witness(&sandbox).start().unwrap();
    writers.wait_for_more_of(0);
    sandbox.node(1).start().unwrap();
    writers.wait_for_more();
    writers.stop(&sandbox);
}

#[test]
fn a_witness_gives_the_nodes_what_their_disks_have_lost() {
    let sandbox = cluster(2, "log.segment=1M");
    let [first, second] = [0, 1].map(|index| sandbox.node(index));
    define(&sandbox, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    (1..=20).for_each(|id| run(second, &[&format!("INSERT INTO d.t VALUES ({id})")]));
    wait_for("the witness to have all", || has_witness_all(&sandbox));
    sandbox.kill().unwrap();
    sandbox.nodes().for_each(rot);
    sandbox.start().unwrap();
    sandbox.nodes().for_each(|node| assert_eq!(ids(node).len(), 20, "{}", node.name()));
    wait_for("a node to lead", || sandbox.nodes().any(|node| variable(node, "raft_role") == "leader"));
    run(first, &["INSERT INTO d.t VALUES (21)"]);
    assert_eq!(ids(second).len(), 21);
}

#[test]
fn one_node_and_a_witness_need_each_other() {
    let sandbox = cluster(1, "");
    let node = sandbox.node(0);
    run(node, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"]);
    witness(&sandbox).kill().unwrap();
    wait_for("the loss of the majority", || is_non_primary(node));
    let error = node.connect().unwrap().execute(b"INSERT INTO d.t VALUES (2)").unwrap_err();
    assert!(error.is_unready(), "{error}");
    witness(&sandbox).start().unwrap();
    wait_for("the node to be back", || node.wsrep_status().is_some_and(|status| status.is_synced()));
    run(node, &["INSERT INTO d.t VALUES (2)"]);
    // The last node keeps its vote: a witness cannot continue without it.
    sandbox.stop().unwrap();
    sandbox.start().unwrap();
    assert_eq!((ids(node).len(), variable(node, "raft_voters")), (2, "2".to_owned()));
    // A failed statement of the only node is skipped, as on a single node.
    let error = node.connect().unwrap().execute(b"CREATE TABLE d.t (id INT)").unwrap_err();
    assert_eq!(error.code(), Some(1050), "{error}");
    run(node, &["INSERT INTO d.t VALUES (3)"]);
}

#[test]
fn a_node_that_stops_gives_its_vote_back_and_gets_it_again() {
    let sandbox = cluster(2, "");
    let [first, second] = [0, 1].map(|index| sandbox.node(index));
    define(&sandbox, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    second.stop().unwrap();
    wait_for("two voters", || variable(first, "raft_voters") == "2");
    run(first, &["INSERT INTO d.t VALUES (1)"]);
    witness(&sandbox).stop().unwrap();
    assert_eq!(witness(&sandbox).state(), State::Stopped);
    witness(&sandbox).start().unwrap();
    // Without the witness it may have lost the majority.
    wait_for("the node to be back", || first.wsrep_status().is_some_and(|status| status.is_synced()));
    run(first, &["INSERT INTO d.t VALUES (2)"]);
    second.start().unwrap();
    wait_for("three voters", || variable(first, "raft_voters") == "3");
    assert_eq!(ids(second).len(), 2);
}

#[test]
fn a_witness_that_was_away_for_long_begins_its_log_anew() {
    let sandbox = cluster(2, "log.segment=64K;log.retain=256K;log.sync=no;log.retain_time=PT5S");
    let [first, second] = [0, 1].map(|index| sandbox.node(index));
    create_to_fill(first);
    witness(&sandbox).stop().unwrap();
    let begins_at = |node| variable(node, "local_cached_downto").parse::<u64>().unwrap();
    fill(first, 1, 4_500);
    wait_for("a purge", || begins_at(first) > 100 && begins_at(second) > 100);
    witness(&sandbox).start().unwrap();
    wait_for("the witness to have all", || has_witness_all(&sandbox));
    let begins_anew_at = first_segment(witness(&sandbox));
    assert!(begins_anew_at > 100, "its own log ended before entry {begins_anew_at}");
    // It holds what it has acknowledged, and purges as the nodes do.
    second.kill().unwrap();
    let expected = fill(first, 4_501, 9_000);
    second.start().unwrap();
    first.kill().unwrap();
    // On a busy machine, the election may take longer than the node waits before it answers with an error.
    let mut found = None;
    wait_for("the node and the witness to continue", || {
        found = count(second);
        found.is_some()
    });
    assert_eq!(found.unwrap(), expected.len().to_string());
    first.start().unwrap();
    // The log is purged up to a commit cut, and the next one comes with later rows only.
    let mut last = 9_000;
    wait_for("a purge of the witness", || {
        fill(first, last + 1, last + 500);
        last += 500;
        first_segment(witness(&sandbox)) > begins_anew_at.max(4_500)
    });
}

/// The number of rows, after everything that was confirmed before is applied. None: the node answers with an error.
fn count(node: Node<'_>) -> Option<String> {
    let mut connection = node.connect().ok()?;
    connection.execute(b"SET SESSION wsrep_sync_wait = 1").ok()?;
    let count = connection.fetch(b"SELECT COUNT(*) FROM d.t").ok()?.concat().pop()?;
    String::from_utf8(count?).ok()
}

/// The index of the first entry in the first segment of the witness's log.
fn first_segment(witness: Witness<'_>) -> u64 {
    let names = fs::read_dir(witness.folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let index = |name: String| {
        let digits = name.strip_prefix("hortator-")?.strip_suffix(".log")?;
        digits.parse().ok().filter(|_| digits.len() == 20)
    };
    names.filter_map(index).min().expect("its log has a segment")
}

/// The node and the witness that were left out do not elect each other, join the new generation, and count again.
#[test]
fn a_node_continues_alone_and_the_other_two_come_back() {
    let sandbox = cluster(2, "");
    let [first, second] = [0, 1].map(|index| sandbox.node(index));
    define(&sandbox, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    set_options(first, "pc.ignore_sb=yes");
    run(second, &["INSERT INTO d.t VALUES (1)"]);
    assert_eq!(ids(first), ["1"]);
    second.kill().unwrap();
    witness(&sandbox).kill().unwrap();
    wait_for("the first to continue", || goes_on_alone(first));
    run(first, &["INSERT INTO d.t VALUES (2)"]);
    thread::scope(|scope| {
        let other = scope.spawn(|| second.start());
        witness(&sandbox).start().unwrap();
        other.join().unwrap().unwrap();
    });
    wait_for("three voters", || variable(first, "raft_voters") == "3");
    run(second, &["INSERT INTO d.t VALUES (3)"]);
    first.kill().unwrap();
    // The election may take longer than a statement waits.
    let insert =
        || second.connect().is_ok_and(|mut client| client.execute(b"INSERT IGNORE INTO d.t VALUES (4)").is_ok());
    wait_for("the second and the witness to go on", insert);
    first.start().unwrap();
    sandbox.nodes().for_each(|node| assert_eq!(ids(node), ["1", "2", "3", "4"], "{}", node.name()));
}
