//! Nodes that may not link, and the messages in both logs.

use super::*;

/// The two meet; they do not link; both logs contain all the words.
pub(super) fn expect_refusal(one: Hello, other: Hello, words: &[&str]) {
    let mut nodes = Nodes::new(&[one, other]);
    nodes.dial(0, 1);
    nodes.until("both logs have it", |nodes| !nodes.refusals(0).is_empty() && !nodes.refusals(1).is_empty());
    nodes.turn_for(Duration::from_millis(2_500));
    for which in 0..2 {
        let texts = nodes.refusals(which);
        assert_eq!(texts.len(), 1, "said again and again: {texts:?}");
        assert!(words.iter().all(|word| texts[0].contains(word)), "{texts:?}");
        assert_eq!(nodes.ups(which), 0);
        assert!(nodes.at(which).streams.len() <= 1);
    }
}

#[test]
fn another_cluster_name() {
    let other = Hello { cluster_name: "bakers".to_owned(), ..tag(2) };
    expect_refusal(tag(1), other, &["cluster names differ", "`bakers`", "`rowers`", "n1", "n2", "wsrep_cluster_name"]);
}

#[test]
fn another_history() {
    let one = Hello { history_uuid: Uuid([1; 16]), ..tag(1) };
    let other = Hello { history_uuid: Uuid([2; 16]), ..tag(2) };
    expect_refusal(one, other, &["history UUIDs differ", "01010101", "02020202"]);
}

#[test]
fn a_copied_node() {
    let copy = Hello { instance_id: Uuid([2; 16]), name: "n2".to_owned(), ..tag(1) };
    expect_refusal(tag(1), copy, &["have the same node id", "n1", "n2", "copy"]);
}

#[test]
fn nodes_link_if_one_has_no_history() {
    let one = Hello { history_uuid: Uuid([1; 16]), ..tag(1) };
    let mut nodes = Nodes::new(&[one, tag(2)]);
    nodes.dial(0, 1);
    nodes.until_settled();
    nodes.at(1).set_lineage(Uuid([1; 16]), Lineage::UNKNOWN);
    let learnt = |nodes: &Nodes| nodes.links[0].as_ref().unwrap().peers().next().map(|peer| peer.history_uuid);
    nodes.until("the other learns it", |nodes| learnt(nodes) == Some(Uuid([1; 16])));
    assert!(nodes.downs(0).is_empty() && nodes.downs(1).is_empty());
}

#[test]
fn a_link_ends_when_histories_differ() {
    let mut nodes = Nodes::new(&[tag(1), tag(2)]);
    nodes.dial(0, 1);
    nodes.until_settled();
    nodes.at(0).set_lineage(Uuid([1; 16]), Lineage::UNKNOWN);
    nodes.at(1).set_lineage(Uuid([2; 16]), Lineage::UNKNOWN);
    nodes.until("they part", |nodes| !nodes.downs(0).is_empty() && !nodes.downs(1).is_empty());
    assert!(nodes.downs(0)[0].contains("history UUIDs differ") && nodes.downs(1)[0].contains("history UUIDs differ"));
    nodes.turn_for(Duration::from_millis(1_500));
    assert_eq!((nodes.ups(0), nodes.ups(1)), (1, 1));
}
