//! A node whose log begins after a snapshot.

use super::fixture::{TIMING, membership};
use crate::consensus::NodeId;
use crate::consensus::raft::{Action, Append, InitialState, LogId, Message, Raft, Term};
use crate::log::Index;

const OLD_LEADER: NodeId = NodeId(2);

fn log_id(term: u64, index: u64) -> LogId {
    LogId { term: Term(term), index: Index(index) }
}

/// A follower of an old leader: term 4, and five entries of term 1, two of them committed.
fn follower() -> Raft {
    let start = InitialState {
        id: NodeId(1),
        term: Term(4),
        voted_for: None,
        last_purged: log_id(0, 0),
        term_runs: vec![(Index(1), Term(1))],
        last: Index(5),
        committed_membership: Some((Index(0), membership(1..=3))),
        memberships: Vec::new(),
        pending_memberships: Vec::new(),
        commit_index: Index(2),
        has_lost_tail: false,
        seed: 1,
    };
    let mut raft = Raft::new(start, TIMING, 0);
    raft.receive(0, OLD_LEADER, heartbeat(4, log_id(1, 5)), &mut Vec::new());
    assert_eq!(raft.leader(), Some(OLD_LEADER));
    raft
}

fn heartbeat(term: u64, before: LogId) -> Message {
    Message::Append(Append {
        term: Term(term),
        prev_log_id: before,
        leader_commit: Index(0),
        round: 7,
        entries: Vec::new(),
    })
}

fn install_snapshot(raft: &mut Raft, term: u64, log_id: LogId) -> (bool, Vec<Action>) {
    let mut out = Vec::new();
    let votes = (Index(0), membership(1..=3));
    (raft.install_snapshot(Term(term), log_id, votes, &mut out), out)
}

#[test]
fn the_log_continues_after_the_snapshot() {
    let mut raft = follower();
    assert!(install_snapshot(&mut raft, 4, log_id(3, 30)).0);
    assert_eq!((raft.last_purged(), raft.last(), raft.apply_bound()), (log_id(3, 30), log_id(3, 30), Index(30)));
}

#[test]
fn an_old_leader_gets_no_reply_after_a_later_snapshot() {
    let mut raft = follower();
    assert!(install_snapshot(&mut raft, 5, log_id(3, 30)).0);
    let mut out = Vec::new();
    raft.receive(1, OLD_LEADER, heartbeat(4, log_id(1, 5)), &mut out);
    let answer = Message::AppendReply { term: Term(5), round: 7, is_accepted: false, upto: Index(30), last: Index(30) };
    assert_eq!(out, [Action::Send { to: OLD_LEADER, message: answer }]);
}

#[test]
fn later_entries_stay_if_the_log_holds_the_snapshot() {
    let mut raft = follower();
    assert!(install_snapshot(&mut raft, 4, log_id(1, 4)).0);
    assert_eq!((raft.last_purged(), raft.last(), raft.apply_bound()), (log_id(1, 4), log_id(1, 5), Index(4)));
}

#[test]
fn an_older_snapshot_is_ignored() {
    let mut raft = follower();
    assert!(!install_snapshot(&mut raft, 4, log_id(1, 2)).0);
    assert_eq!((raft.last_purged(), raft.last()), (log_id(0, 0), log_id(1, 5)));
}

#[test]
fn another_history_below_the_commit_index_is_reported() {
    let mut raft = follower();
    let mut out = Vec::new();
    raft.receive(1, OLD_LEADER, heartbeat(4, log_id(3, 2)), &mut out);
    assert_eq!(out, [Action::HistoryMismatch { here: log_id(1, 2), leader: Term(3) }]);
}
