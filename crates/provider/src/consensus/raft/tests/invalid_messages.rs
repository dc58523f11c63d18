//! Peers that send anything: a node may end in a wrong state, but never panics.

use super::fixture::{TIMING, membership};
use crate::consensus::NodeId;
use crate::consensus::raft::{Action, Append, EntryMeta, InitialState, LogId, Message, Raft, Term};
use crate::log::Index;
use crate::seeds::Rng;

const ROUNDS: u64 = 300;
const MESSAGES: u64 = 200;

#[test]
fn no_message_of_a_peer_causes_a_panic() {
    let given = std::env::var("HORTATOR_SEED").ok().map(|seed| seed.parse().unwrap());
    for seed in given.map_or(1..=ROUNDS, |seed: u64| seed..=seed) {
        println!("HORTATOR_SEED={seed}");
        let mut rng = Rng::new(seed);
        let mut node = Node::new(&mut rng);
        for _ in 0..MESSAGES {
            node.happens(&mut rng);
        }
    }
}

struct Node {
    raft: Raft,
    now_ms: u64,
    last: Index,
}

impl Node {
    fn new(rng: &mut Rng) -> Self {
        let last_purged = LogId { term: Term(2), index: Index(10) };
        let last = Index(10 + rng.between(0, 5));
        let runs = if last > last_purged.index { vec![(Index(11), Term(rng.between(2, 4)))] } else { Vec::new() };
        let start = InitialState {
            id: NodeId(1),
            term: Term(5),
            voted_for: None,
            last_purged,
            term_runs: runs,
            last,
            committed_membership: Some((Index(10), membership(1..=rng.between(1, 3)))),
            memberships: Vec::new(),
            pending_memberships: Vec::new(),
            commit_index: Index(10),
            has_lost_tail: rng.percent(20),
            seed: rng.next(),
        };
        Self { raft: Raft::new(start, TIMING, 0), now_ms: 0, last }
    }

    fn happens(&mut self, rng: &mut Rng) {
        let mut out = Vec::new();
        match rng.between(0, 9) {
            0 => self.now_ms += 70,
            1 => self.now_ms += 5,
            2 => self.raft.on_durable(self.raft.last(), &mut out),
            3 if self.raft.append(&[None], &mut out).is_ok() => self.raft.broadcast_append(&mut out),
            _ => {}
        }
        self.raft.tick(self.now_ms, &mut out);
        let from = NodeId(rng.between(1, 5));
        self.raft.receive(self.now_ms, from, any_message(rng), &mut out);
        for action in out {
            if let Action::Truncate { from } = action {
                assert!(from > self.last.min(self.raft.apply_bound()), "what is committed was cut off");
            }
        }
        self.last = self.raft.last().index;
        assert!(self.raft.apply_bound() <= self.last);
    }
}

/// Mostly near valid numbers.
fn any_number(rng: &mut Rng) -> u64 {
    match rng.between(0, 19) {
        0 => u64::MAX,
        1 => rng.next(),
        2 => (1 << 62) + rng.between(0, 1),
        3 => 0,
        4..=9 => rng.between(4, 8),
        _ => rng.between(8, 18),
    }
}

fn any_place(rng: &mut Rng) -> LogId {
    LogId { term: Term(any_term(rng)), index: Index(any_number(rng)) }
}

fn any_term(rng: &mut Rng) -> u64 {
    if rng.percent(90) { rng.between(2, 9) } else { any_number(rng) }
}

fn any_message(rng: &mut Rng) -> Message {
    let term = Term(any_term(rng));
    let (is_pre_vote, is_granted, is_accepted) = (rng.percent(50), rng.percent(80), rng.percent(60));
    match rng.between(0, 9) {
        0 => Message::VoteRequest { is_pre_vote, term, last: any_place(rng) },
        1..=3 => {
            let is_recovering = rng.percent(20);
            let count = rng.between(0, 2);
            let memberships = (0..count).map(|_| membership(rng.between(0, 2)..rng.between(1, 6))).collect();
            Message::VoteReply { is_pre_vote, term, is_granted, is_recovering, memberships }
        }
        4 | 5 => {
            let (round, upto, last) = (any_number(rng), Index(any_number(rng)), Index(any_number(rng)));
            Message::AppendReply { term, round, is_accepted, upto, last }
        }
        6 => Message::TimeoutNow { term },
        _ => {
            let before = any_place(rng);
            let mut entries = Vec::new();
            for _ in 0..rng.between(0, 4) {
                let votes = rng.percent(20).then(|| {
                    let first = rng.between(0, 3);
                    membership(first..rng.between(first, 4))
                });
                let entry_term = if rng.percent(80) { term } else { Term(any_term(rng)) };
                entries.push(EntryMeta { term: entry_term, membership: votes });
            }
            let (committed, round) = (Index(any_number(rng)), any_number(rng));
            Message::Append(Append { term, prev_log_id: before, leader_commit: committed, round, entries })
        }
    }
}
