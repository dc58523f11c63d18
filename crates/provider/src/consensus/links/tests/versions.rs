//! Nodes of two releases: which version their frames have, and who may not link.

use super::handshake::expect_refusal;
use super::*;
use crate::consensus::raft::{LogId, Membership, Term};
use crate::consensus::wire::SnapshotMeta;
use crate::log::Index;
use crate::protocol::{ProtocolRange, ProtocolVersion};

const FIRST: ProtocolVersion = ProtocolVersion::FIRST;
const NEWEST: ProtocolVersion = ProtocolVersion::WEIGHTS;

/// A node of the previous release.
fn previous(number: u64) -> Hello {
    Hello { versions: ProtocolRange { lowest: FIRST, newest: FIRST }, in_force: Some(FIRST), ..tag(number) }
}

/// A node of this release.
fn newest(number: u64, in_force: ProtocolVersion) -> Hello {
    Hello { versions: ProtocolRange { lowest: FIRST, newest: NEWEST }, in_force: Some(in_force), ..tag(number) }
}

/// The version in which a snapshot arrives at the receiver: only newer frames name it.
fn version_of_next_frame(nodes: &mut Nodes, from: usize, to: usize) -> ProtocolVersion {
    let log_id = LogId { term: Term(1), index: Index(1) };
    let snapshot = SnapshotMeta {
        term: Term(1),
        log_id,
        membership: Membership::of([NodeId(1)]),
        addresses: Vec::new(),
        upto: Index(1),
        lineage: Lineage::UNKNOWN,
        protocol: NEWEST,
    };
    let arrived = |nodes: &Nodes| -> Vec<ProtocolVersion> {
        let protocol = |event: &Event| match event {
            Event::Message { frame: Frame::InstallSnapshot(snapshot), .. } => Some(snapshot.protocol),
            _ => None,
        };
        nodes.events[to].iter().filter_map(protocol).collect()
    };
    let before = arrived(nodes).len();
    let receiver = NodeId(to as u64 + 1);
    assert!(nodes.at(from).send(receiver, &Frame::InstallSnapshot(snapshot)));
    nodes.until("it arrives", |nodes| arrived(nodes).len() > before);
    arrived(nodes)[before]
}

#[test]
fn frames_have_the_version_in_force_not_the_newest() {
    let mut nodes = Nodes::new(&[newest(1, FIRST), newest(2, FIRST)]);
    nodes.dial(0, 1);
    nodes.until_settled();
    assert_eq!(version_of_next_frame(&mut nodes, 0, 1), FIRST);
    // One node learns of the new version first: each frame tells its own.
    nodes.at(1).set_protocol(NEWEST);
    assert_eq!(version_of_next_frame(&mut nodes, 1, 0), NEWEST);
    assert_eq!(version_of_next_frame(&mut nodes, 0, 1), FIRST);
    nodes.at(0).set_protocol(NEWEST);
    assert_eq!(version_of_next_frame(&mut nodes, 0, 1), NEWEST);
    assert_eq!((nodes.ups(0), nodes.ups(1)), (1, 1));
    assert!(nodes.downs(0).is_empty() && nodes.downs(1).is_empty());
}

#[test]
fn nodes_of_two_releases_link_in_the_older_version() {
    for dialler in [0, 1] {
        let mut nodes = Nodes::new(&[newest(1, FIRST), previous(2)]);
        nodes.dial(dialler, 1 - dialler);
        nodes.until_settled();
        assert_eq!(version_of_next_frame(&mut nodes, 0, 1), FIRST);
        assert_eq!(version_of_next_frame(&mut nodes, 1, 0), FIRST);
    }
}

#[test]
fn a_joiner_uses_the_version_in_force_at_once() {
    let mut nodes = Nodes::new(&[newest(1, NEWEST), Hello { in_force: None, ..newest(2, FIRST) }]);
    nodes.dial(1, 0);
    nodes.until_settled();
    assert_eq!(version_of_next_frame(&mut nodes, 1, 0), NEWEST);
    assert_eq!(version_of_next_frame(&mut nodes, 0, 1), NEWEST);
}

#[test]
fn a_node_without_the_version_in_force_is_refused() {
    let words = ["protocol version 9 is in force", "n2", "speaks versions 7-7", "speaks version 9"];
    expect_refusal(newest(1, NEWEST), previous(2), &words);
    expect_refusal(newest(1, NEWEST), Hello { in_force: None, ..previous(2) }, &words);
}

#[test]
fn a_link_ends_when_a_version_comes_into_force_that_the_node_lacks() {
    let mut nodes = Nodes::new(&[newest(1, FIRST), previous(2)]);
    nodes.dial(0, 1);
    nodes.until_settled();
    nodes.at(0).set_protocol(NEWEST);
    nodes.until("they part", |nodes| !nodes.downs(0).is_empty() && !nodes.downs(1).is_empty());
    let why = "protocol version 9 is in force in the cluster, and n2 at";
    assert!(nodes.downs(0)[0].contains(why) && nodes.downs(1)[0].contains(why), "{:?}", nodes.downs(1));
    nodes.turn_for(Duration::from_millis(1_500));
    assert_eq!((nodes.ups(0), nodes.ups(1)), (1, 1));
}
