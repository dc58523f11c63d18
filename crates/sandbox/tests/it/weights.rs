//! Nodes with several votes (`pc.weight`).

use hortator_sandbox::{Builder, Healed, Node, set_provider_options};

use crate::cluster_fixture::{Writers, assert_logged, ids, is_non_primary, since, size, wait_for, with_table};
use crate::forced_bootstrap::{goes_on_alone, insert};
use crate::manual_server::is_ready;
use crate::{ask, provider, set_options};

pub fn set_weight(node: Node<'_>, weight: u8) {
    set_options(node, &format!("pc.weight={weight}"));
}

/// The sum of the votes is this when SET GLOBAL returns, or the node has said that it will be.
fn set_weight_to_sum(node: Node<'_>, weight: u8, sum: &str) {
    let from = since(node, 0).len();
    set_weight(node, weight);
    if since(node, from).contains("is not in force yet") {
        wait_for("the weight to be in force", || cluster_weight(node) == sum);
    }
    assert_eq!(cluster_weight(node), sum);
}

/// `wsrep_cluster_weight`
pub fn cluster_weight(node: Node<'_>) -> String {
    ask(node, "SHOW STATUS LIKE 'wsrep_cluster_weight'")[0][1].clone()
}

#[test]
fn a_node_with_two_votes_goes_on_without_the_other_one() {
    provider::build();
    let cluster = Builder::cluster(2).start_temporary().unwrap();
    let [first, second] = [0, 1].map(|index| cluster.node(index));
    set_weight_to_sum(first, 2, "3");
    wait_for("the other to know", || cluster_weight(second) == "3");
    assert_logged(&since(second, 0), &["(2 votes)"]);
    let writers = Writers::on(&cluster, &[0, 1]);
    writers.wait_for_more();

    second.kill().unwrap();
    wait_for("the first to go on", || goes_on_alone(first));
    writers.wait_for_more_of(0);
    second.start().unwrap();
    wait_for("both", || cluster.nodes().all(|node| is_ready(node) && size(node).as_deref() == Some("2")));
    assert_eq!(cluster_weight(first), "3");
    writers.wait_for_more();

    // Without the two votes there is no majority.
    first.kill().unwrap();
    wait_for("the second to lose its quorum", || is_non_primary(second));
    let error = second.connect().unwrap().execute(b"CREATE DATABASE e").unwrap_err();
    assert!(error.is_unready(), "{error}");
    first.start().unwrap();
    wait_for("both", || cluster.nodes().all(|node| is_ready(node) && size(node).as_deref() == Some("2")));
    writers.wait_for_more();
    writers.stop(&cluster);
}

#[test]
fn votes_are_given_back_while_other_nodes_are_away() {
    let cluster = with_table(Builder::cluster(3));
    let [first, second, third] = [0, 1, 2].map(|index| cluster.node(index));
    let message = set_provider_options(&mut first.connect().unwrap(), "pc.weight=0").unwrap_err().to_string();
    let said = ["Incorrect arguments to SET", "can't be set to the value of '0'"];
    assert!(said.iter().any(|words| message.contains(words)), "{message}");
    assert_logged(&since(first, 0), &["pc.weight is `0`, but it must be a whole number from 1 to 16"]);
    set_weight_to_sum(first, 3, "5");

    // Two nodes of three have two votes of five.
    first.isolate().unwrap();
    wait_for("the others to lose their quorum", || is_non_primary(second) && is_non_primary(third));
    wait_for("the first to go on", || goes_on_alone(first));
    assert_eq!((cluster_weight(first).as_str(), cluster_weight(second).as_str()), ("3", "0"));
    insert(first, 1);
    // A statement that fails is decided by the votes that are there.
    let error = first.connect().unwrap().execute(b"ALTER TABLE d.t ADD COLUMN id INT").unwrap_err();
    assert_eq!(error.code(), Some(1060), "{error}");
    set_weight_to_sum(first, 1, "1");
    insert(first, 2);
    assert_eq!(first.heal().unwrap(), Healed::Synced);
    wait_for("all nodes", || cluster.nodes().all(|node| is_ready(node) && size(node).as_deref() == Some("3")));
    insert(third, 3);
    cluster.nodes().for_each(|node| assert_eq!(ids(node), ["1", "2", "3"]));
    wait_for("one vote each", || cluster.nodes().all(|node| cluster_weight(node) == "3"));

    // A clean stop takes all votes along.
    set_weight_to_sum(first, 4, "6");
    first.stop().unwrap();
    wait_for("the others to go on", || size(second).as_deref() == Some("2") && is_ready(second));
    insert(second, 4);
    first.start().unwrap();
    // The option is back at what my.cnf says.
    wait_for("all nodes", || cluster.nodes().all(|node| is_ready(node) && cluster_weight(node) == "3"));
    cluster.nodes().for_each(|node| assert_eq!(ids(node), ["1", "2", "3", "4"]));
}

#[test]
fn votes_of_the_configuration_count_from_the_start() {
    let cluster = with_table(Builder::cluster(2).set("wsrep_provider_options", "pc.weight=2"));
    wait_for("two votes each", || cluster.nodes().all(|node| cluster_weight(node) == "4"));
    insert(cluster.node(0), 1);
    cluster.kill().unwrap();
    cluster.start().unwrap();
    cluster
        .nodes()
        .for_each(|node| assert_eq!((ids(node), cluster_weight(node)), (vec!["1".to_owned()], "4".to_owned())));
}
