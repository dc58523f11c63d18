//! Which memberships a node saves before its log has them, and for how long.

use super::fixture::{TIMING, membership};
use crate::consensus::NodeId;
use crate::consensus::raft::{
    Action, Append, EntryMeta, InitialState, LogId, Membership, Message, PendingMembership, Raft, Term,
};
use crate::log::Index;

fn log_id(term: u64, index: u64) -> LogId {
    LogId { term: Term(term), index: Index(index) }
}

fn pending(term: u64, index: u64, voters: impl IntoIterator<Item = u64>) -> PendingMembership {
    (log_id(term, index), membership(voters))
}

fn entry(term: u64, membership: Option<Membership>) -> EntryMeta {
    EntryMeta { term: Term(term), membership }
}

/// A node of three with two entries of term 1, both committed.
fn initial_state(committed_membership: (u64, Membership), pending_memberships: Vec<PendingMembership>) -> InitialState {
    let (index, voters) = committed_membership;
    InitialState {
        id: NodeId(1),
        term: Term(4),
        voted_for: None,
        last_purged: log_id(0, 0),
        term_runs: vec![(Index(1), Term(1))],
        last: Index(2),
        committed_membership: Some((Index(index), voters)),
        memberships: Vec::new(),
        pending_memberships,
        commit_index: Index(2),
        has_lost_tail: false,
        seed: 1,
    }
}

fn follower() -> Raft {
    Raft::new(initial_state((0, membership(1..=3)), Vec::new()), TIMING, 0)
}

/// Entries of the leader of that term, which is node 2. Returns the actions without messages.
fn append(
    raft: &mut Raft,
    term: u64,
    prev_log_id: LogId,
    leader_commit: u64,
    entries: impl Into<Vec<EntryMeta>>,
) -> Vec<Action> {
    let (round, leader_commit) = (leader_commit + raft.last().index.0, Index(leader_commit));
    let append = Append { term: Term(term), prev_log_id, leader_commit, round, entries: entries.into() };
    let mut out = Vec::new();
    raft.receive(0, NodeId(2), Message::Append(append), &mut out);
    own_actions(out)
}

fn sync(raft: &mut Raft) -> Vec<Action> {
    let mut out = Vec::new();
    raft.on_durable(raft.last(), &mut out);
    own_actions(out)
}

fn own_actions(mut out: Vec<Action>) -> Vec<Action> {
    out.retain(|action| !matches!(action, Action::Send { .. } | Action::LeaderChanged { .. }));
    out
}

#[test]
fn a_membership_is_saved_before_its_entry_is_written_and_until_it_is_committed_and_durable() {
    let mut raft = follower();
    let memberships = vec![pending(4, 4, 1..=4)];
    let entries = [entry(4, None), entry(4, Some(membership(1..=4)))];
    let save = Action::SavePendingMemberships { memberships: memberships.clone() };
    let write = Action::WriteEntries { skip: 0, first: Index(3) };
    assert_eq!(append(&mut raft, 4, log_id(1, 2), 2, entries), [save, write]);
    assert_eq!(append(&mut raft, 4, log_id(4, 4), 4, []), [], "committed, and not durable here");
    assert_eq!(raft.pending_memberships(), memberships);
    // The next write of the hard state has the voters as committed ones.
    let settle = Action::SettlePendingMemberships { memberships: Vec::new() };
    assert_eq!(sync(&mut raft), [settle, Action::Committed { upto: Index(4) }]);
    assert_eq!(raft.pending_memberships(), []);
}

#[test]
fn a_leader_saves_its_own_membership() {
    let mut start = initial_state((0, membership([1])), Vec::new());
    start.last = Index(2);
    let mut raft = Raft::new(start, TIMING, 0);
    raft.tick(10 * TIMING.election_ms, &mut Vec::new());
    let mut out = Vec::new();
    raft.append(&[None], &mut out).unwrap();
    assert_eq!(out, []);
    sync(&mut raft);
    raft.append(&[None, Some(membership(1..=2))], &mut out).unwrap();
    assert_eq!(out, [Action::SavePendingMemberships { memberships: vec![pending(5, 5, 1..=2)] }]);
}

#[test]
fn a_truncated_membership_stays_until_an_entry_of_a_later_term_is_committed_and_durable() {
    let mut raft = follower();
    append(&mut raft, 4, log_id(1, 2), 2, [entry(4, Some(membership(1..=4)))]);
    sync(&mut raft);
    let truncate = Action::Truncate { from: Index(3) };
    let write = Action::WriteEntries { skip: 0, first: Index(3) };
    let actions = append(&mut raft, 6, log_id(1, 2), 2, [entry(5, None), entry(6, None)]);
    let hard_state = Action::SaveHardState { term: Term(6), voted_for: None };
    assert_eq!(actions, [hard_state, truncate, write]);
    assert_eq!(sync(&mut raft), []);
    assert_eq!(raft.pending_memberships(), [pending(4, 3, 1..=4)]);
    append(&mut raft, 6, log_id(6, 4), 4, []);
    assert_eq!(raft.pending_memberships(), []);
}

#[test]
fn of_the_memberships_in_a_log_the_last_two_are_pending() {
    let mut raft = follower();
    let entries: Vec<EntryMeta> = (4..=7).map(|last| entry(4, Some(membership(1..=last)))).collect();
    append(&mut raft, 4, log_id(1, 2), 2, entries);
    assert_eq!(raft.pending_memberships(), [pending(4, 5, 1..=6), pending(4, 6, 1..=7)]);
    append(&mut raft, 4, log_id(4, 6), 2, [entry(4, Some(membership(1..=6)))]);
    assert_eq!(raft.pending_memberships(), [pending(4, 6, 1..=7), pending(4, 7, 1..=6)]);
}

#[test]
fn a_committed_membership_whose_entry_is_lost_is_pending_again() {
    let raft = Raft::new(initial_state((9, membership(1..=4)), vec![pending(3, 12, 1..=5)]), TIMING, 0);
    let known: Vec<&Membership> = raft.pending_memberships().iter().map(|(_, membership)| membership).collect();
    assert_eq!(known, [&membership(1..=5), &membership(1..=4)]);
    let raft = Raft::new(initial_state((2, membership(1..=4)), Vec::new()), TIMING, 0);
    assert_eq!(raft.pending_memberships(), []);
}
