//! Votes and commit indexes: the tables in `testdata/raft`.

use super::fixture::{TIMING, membership};
use crate::consensus::NodeId;
use crate::consensus::raft::{Action, Append, InitialState, LogId, Membership, Message, Raft, Role, Term};
use crate::log::Index;

const VOTES: &str = include_str!("../../../../testdata/raft/votes.txt");
const MAJORITY: &str = include_str!("../../../../testdata/raft/majority.txt");

/// Rows of a table, each with its line and its columns.
fn rows(table: &'static str) -> Vec<(String, Vec<Vec<&'static str>>)> {
    let lines = table.lines().enumerate().map(|(nth, line)| (nth, line.trim()));
    let rows = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let split = |line: &'static str| line.split('|').map(|part| part.split_whitespace().collect()).collect();
    rows.map(|(nth, line)| (format!("line {}: {line}", nth + 1), split(line))).collect()
}

fn number(word: &str) -> u64 {
    word.parse().unwrap()
}

/// `7@3`: entry 7, of term 3.
fn log_id(word: &str) -> LogId {
    let (index, term) = word.split_once('@').unwrap();
    LogId { term: Term(number(term)), index: Index(number(index)) }
}

fn start(
    term: Term,
    voted_for: Option<NodeId>,
    runs: Vec<(Index, Term)>,
    last: Index,
    committed_membership: Membership,
) -> InitialState {
    let last_purged = LogId { term: Term(0), index: Index(0) };
    let committed_membership = Some((last_purged.index, committed_membership));
    let (id, committed, seed) = (NodeId(1), last_purged.index, 1);
    InitialState {
        id,
        term,
        voted_for,
        last_purged,
        term_runs: runs,
        last,
        committed_membership,
        memberships: Vec::new(),
        pending_memberships: Vec::new(),
        commit_index: committed,
        has_lost_tail: false,
        seed,
    }
}

#[test]
fn votes_match_the_table() {
    for (line, columns) in rows(VOTES) {
        let [voter, asks, answer] = columns.as_slice() else { panic!("{line}") };
        let term = Term(number(voter[0]));
        let voted_for = (voter[1] != "none").then(|| NodeId(number(voter[1])));
        let log = log_id(voter[2]);
        let start = start(term, voted_for, vec![(Index(1), log.term)], log.index, membership(1..=3));
        let mut raft = Raft::new(start, TIMING, 0);
        let mut now_ms = 0;
        if voter[3] != "none" {
            let append = Append { term, prev_log_id: log, leader_commit: Index(0), round: 1, entries: Vec::new() };
            raft.receive(now_ms, NodeId(3), Message::Append(append), &mut Vec::new());
            now_ms += if voter[3] == "heard" { TIMING.election_ms - 1 } else { TIMING.election_ms };
        }
        let is_pre_vote = asks[0] == "pre-vote";
        let request = Message::VoteRequest { is_pre_vote, term: Term(number(asks[1])), last: log_id(asks[2]) };
        let mut actions = Vec::new();
        raft.receive(now_ms, NodeId(2), request, &mut actions);
        let granted = actions.iter().find_map(|action| match action {
            Action::Send { message: Message::VoteReply { is_granted, .. }, .. } => Some(*is_granted),
            _ => None,
        });
        assert_eq!(granted, Some(answer[0] == "yes"), "{line}");
        assert_eq!(raft.term(), Term(number(answer[1])), "{line}");
        // A vote that a crash could lose could be given twice.
        let persisted = actions.iter().position(|action| matches!(action, Action::SaveHardState { .. }));
        let sent = actions.iter().position(|action| matches!(action, Action::Send { .. }));
        let is_new = !is_pre_vote && granted == Some(true) && voted_for != Some(NodeId(2));
        assert!(!is_new || persisted.is_some_and(|persisted| Some(persisted) < sent), "{line}");
    }
}

#[test]
fn the_commit_index_matches_the_table() {
    for (line, columns) in rows(MAJORITY) {
        let [voters, durable_index, commit_index] = columns.as_slice() else { panic!("{line}") };
        let votes = membership(voters.iter().map(|voter| number(voter)));
        let durable_index: Vec<Option<u64>> = durable_index.iter().map(|upto| upto.parse().ok()).collect();
        assert_eq!(commit_index_for(&votes, &durable_index), Index(number(commit_index[0])), "{line}");
    }
}

/// Makes node 1 the leader of term 3, with the log 1 1 2 2 and two own entries; then reports the durable indexes.
fn commit_index_for(votes: &Membership, durable_index: &[Option<u64>]) -> Index {
    let runs = vec![(Index(1), Term(1)), (Index(3), Term(2))];
    // It loses its vote only as leader: the entry that removes the vote is omitted here.
    let mut start = start(Term(2), None, runs, Index(4), votes.clone());
    let mut elected_by = votes.clone();
    elected_by.voters.insert(NodeId(1));
    if elected_by != *votes {
        start.memberships = vec![(Index(4), votes.clone())];
        start.committed_membership = Some((Index(0), elected_by.clone()));
    }
    let mut raft = Raft::new(start, TIMING, 0);
    let mut out = Vec::new();
    raft.tick(10 * TIMING.election_ms, &mut out);
    for is_pre_vote in [true, false] {
        for &voter in &elected_by.voters {
            let reply = Message::VoteReply {
                is_pre_vote,
                term: Term(3),
                is_granted: true,
                is_recovering: false,
                memberships: Vec::new(),
            };
            raft.receive(10 * TIMING.election_ms, voter, reply, &mut out);
        }
    }
    assert_eq!(raft.role(), Role::Leader);
    raft.append(&[None, None], &mut out).unwrap();
    raft.broadcast_append(&mut out);
    let upto = |node: usize| durable_index[node - 1];
    for node in 2..=5 {
        raft.add_learner(NodeId(node as u64), &mut out);
        if let Some(upto) = upto(node) {
            let reply = Message::AppendReply {
                term: Term(3),
                round: 1,
                is_accepted: true,
                upto: Index(upto),
                last: Index(upto),
            };
            raft.receive(10 * TIMING.election_ms, NodeId(node as u64), reply, &mut out);
        }
    }
    let own = Index(upto(1).unwrap());
    assert!(own >= Index(4) || own == Index(0), "a node starts with a durable log");
    if let Some(term) = raft.term_at(own) {
        raft.on_durable(LogId { term, index: own }, &mut out);
    }
    // The leader's own disk may be behind the commit index; the followers get that index.
    let sent = out.iter().filter_map(|action| match action {
        Action::Send { message: Message::Append(append), .. } => Some(append.leader_commit),
        Action::Committed { upto } => Some(*upto),
        _ => None,
    });
    sent.max().unwrap_or(Index(0))
}

#[test]
fn a_node_that_delays_its_candidacy_starts_an_election_that_much_later() {
    let mut raft = Raft::new(start(Term(0), None, Vec::new(), Index(0), membership(1..=3)), TIMING, 0);
    raft.delay_candidacy(1_000);
    let mut out = Vec::new();
    raft.tick(1_000 + TIMING.election_ms - 1, &mut out);
    assert_eq!((out.len(), raft.role()), (0, Role::Follower));
    raft.tick(1_000 + 2 * TIMING.election_ms, &mut out);
    assert_eq!(raft.role(), Role::Candidate);
    let next_ms = raft.deadline_ms().unwrap();
    assert!(next_ms >= 2_000 + 3 * TIMING.election_ms, "also the next one: {next_ms}");
}
