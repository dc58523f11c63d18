//! Voters with several votes.

use super::fixture::{TestCluster, membership};
use crate::consensus::NodeId;
use crate::consensus::raft::{AppendError, Role};
use crate::log::Index;

const ONE: NodeId = NodeId(1);
const TWO: NodeId = NodeId(2);

/// The first of two nodes leads, and has two votes.
fn heavy_leader() -> TestCluster {
    let mut cluster = TestCluster::new(&[1, 2]);
    elect(&mut cluster, ONE);
    cluster.append(ONE, None).unwrap();
    cluster.append(ONE, Some(membership([1, 1, 2]))).unwrap();
    assert_eq!(cluster.raft(ONE).committed_membership().unwrap().1, membership([1, 1, 2]));
    cluster
}

fn elect(cluster: &mut TestCluster, id: NodeId) {
    cluster.now_ms += 10_000;
    cluster.on(id, super::super::Raft::tick);
}

fn cut(cluster: &mut TestCluster) {
    cluster.partitioned.extend([(ONE, TWO), (TWO, ONE)]);
}

fn pass(cluster: &mut TestCluster, id: NodeId, ms: u64) {
    for _ in 0..ms / 5 {
        cluster.now_ms += 5;
        cluster.on(id, super::super::Raft::tick);
    }
}

#[test]
fn a_voter_with_most_votes_goes_on_alone_and_the_other_does_not() {
    let mut cluster = heavy_leader();
    cut(&mut cluster);
    pass(&mut cluster, ONE, 5_000);
    let before = cluster.raft(ONE).commit_index();
    cluster.append(ONE, None).unwrap();
    assert_eq!((cluster.raft(ONE).role(), cluster.raft(ONE).commit_index()), (Role::Leader, before.next()));
    elect(&mut cluster, TWO);
    assert_ne!(cluster.raft(TWO).role(), Role::Leader);
    cluster.partitioned.clear();
    pass(&mut cluster, ONE, 1_000);
    assert_eq!(cluster.raft(TWO).last(), cluster.raft(ONE).last());
}

#[test]
fn a_commit_waits_for_a_second_copy_while_another_voter_is_there() {
    let mut cluster = heavy_leader();
    let before = cluster.raft(ONE).commit_index();
    cluster.set_syncing(TWO, false);
    cluster.append(ONE, None).unwrap();
    assert_eq!(cluster.raft(ONE).commit_index(), before, "the other voter has not written it yet");
    cluster.set_syncing(TWO, true);
    assert_eq!(cluster.raft(ONE).commit_index(), before.next());
    // It ends in the middle of a commit.
    cluster.set_syncing(TWO, false);
    cluster.append(ONE, None).unwrap();
    cut(&mut cluster);
    pass(&mut cluster, ONE, 5_000);
    assert_eq!(cluster.raft(ONE).commit_index(), Index(before.0 + 2));
}

#[test]
fn a_commit_does_not_wait_for_a_voter_whose_disk_hangs() {
    let mut cluster = heavy_leader();
    let before = cluster.raft(ONE).commit_index();
    cluster.set_syncing(TWO, false);
    // It answers heartbeats all the same.
    pass(&mut cluster, ONE, 5_000);
    cluster.append(ONE, None).unwrap();
    assert_eq!(cluster.raft(ONE).commit_index(), before, "it had everything until now");
    pass(&mut cluster, ONE, 5_000);
    assert_eq!(cluster.raft(ONE).commit_index(), before.next());
    cluster.append(ONE, None).unwrap();
    assert_eq!(cluster.raft(ONE).commit_index(), Index(before.0 + 2), "nor do the next ones");
}

#[test]
fn votes_change_one_by_one() {
    let mut cluster = TestCluster::new(&[1, 2]);
    elect(&mut cluster, ONE);
    cluster.append(ONE, None).unwrap();
    for votes in [vec![1, 1, 1, 2], vec![1, 1, 2, 2], vec![1, 1]] {
        assert_eq!(cluster.append(ONE, Some(membership(votes.clone()))), Err(AppendError::TooManyAtOnce), "{votes:?}");
    }
    cluster.append(ONE, Some(membership([1, 1, 2]))).unwrap();
    assert_eq!(cluster.append(ONE, Some(membership([1, 1]))), Ok(()));
}

#[test]
fn an_election_counts_votes() {
    let mut cluster = heavy_leader();
    cluster.append(ONE, Some(membership([1, 1, 2, 3]))).unwrap();
    cluster.crash(ONE);
    elect(&mut cluster, TWO);
    assert_ne!(cluster.raft(TWO).role(), Role::Leader, "two nodes of three, and two votes of four");
    cluster.start(ONE);
    elect(&mut cluster, ONE);
    assert_eq!(cluster.raft(ONE).role(), Role::Leader);
}
