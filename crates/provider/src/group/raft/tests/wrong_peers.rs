//! Peers that say anything at all: a node may come to a wrong end with them, but it never panics.

use super::group::{TIMING, membership};
use super::sim::chance::Chance;
use crate::group::NodeId;
use crate::group::raft::{Action, Append, Message, Place, Raft, Shape, Start, Term};
use crate::log::Index;

const ROUNDS: u64 = 300;
const MESSAGES: u64 = 200;

#[test]
fn nothing_that_a_peer_says_makes_a_node_panic() {
    let given = std::env::var("HORTATOR_SEED").ok().map(|seed| seed.parse().unwrap());
    for seed in given.map_or(1..=ROUNDS, |seed: u64| seed..=seed) {
        println!("HORTATOR_SEED={seed}");
        let mut chance = Chance::new(seed);
        let mut node = Node::new(&mut chance);
        for _ in 0..MESSAGES {
            node.happens(&mut chance);
        }
    }
}

struct Node {
    raft: Raft,
    now_ms: u64,
    last: Index,
}

impl Node {
    fn new(chance: &mut Chance) -> Self {
        let base = Place { term: Term(2), index: Index(10) };
        let last = Index(10 + chance.between(0, 5));
        let runs = if last > base.index { vec![(Index(11), Term(chance.between(2, 4)))] } else { Vec::new() };
        let start = Start {
            id: NodeId(1),
            term: Term(5),
            voted_for: None,
            base,
            runs,
            last,
            settled: Some((Index(10), membership(1..=chance.between(1, 3)))),
            memberships: Vec::new(),
            committed: Index(10),
            seed: chance.next(),
        };
        Self { raft: Raft::new(start, TIMING, 0), now_ms: 0, last }
    }

    fn happens(&mut self, chance: &mut Chance) {
        let mut out = Vec::new();
        match chance.between(0, 9) {
            0 => self.now_ms += 70,
            1 => self.now_ms += 5,
            2 => self.raft.stored(self.raft.last(), &mut out),
            3 if self.raft.append(&[None]).is_ok() => self.raft.spread(&mut out),
            _ => {}
        }
        self.raft.tick(self.now_ms, &mut out);
        let from = NodeId(chance.between(1, 5));
        self.raft.receive(self.now_ms, from, any_message(chance), &mut out);
        for action in out {
            if let Action::Truncate { from } = action {
                assert!(from > self.last.min(self.raft.committed()), "what is committed was cut off");
            }
        }
        self.last = self.raft.last().index;
        assert!(self.raft.committed() <= self.last);
    }
}

/// Mostly near to what could be true.
fn any_number(chance: &mut Chance) -> u64 {
    match chance.between(0, 19) {
        0 => u64::MAX,
        1 => chance.next(),
        2 => (1 << 62) + chance.between(0, 1),
        3 => 0,
        4..=9 => chance.between(4, 8),
        _ => chance.between(8, 18),
    }
}

fn any_place(chance: &mut Chance) -> Place {
    Place { term: Term(any_term(chance)), index: Index(any_number(chance)) }
}

fn any_term(chance: &mut Chance) -> u64 {
    if chance.percent(90) { chance.between(2, 9) } else { any_number(chance) }
}

fn any_message(chance: &mut Chance) -> Message {
    let term = Term(any_term(chance));
    let (is_trial, is_granted, is_taken) = (chance.percent(50), chance.percent(80), chance.percent(60));
    match chance.between(0, 9) {
        0 => Message::VoteRequest { is_trial, term, last: any_place(chance) },
        1..=3 => Message::VoteReply { is_trial, term, is_granted },
        4 | 5 => Message::AppendReply { term, round: any_number(chance), is_taken, upto: Index(any_number(chance)) },
        6 => Message::TakeOver { term },
        _ => {
            let before = any_place(chance);
            let mut entries = Vec::new();
            for _ in 0..chance.between(0, 4) {
                let votes = chance.percent(20).then(|| {
                    let first = chance.between(0, 3);
                    membership(first..chance.between(first, 4))
                });
                let entry_term = if chance.percent(80) { term } else { Term(any_term(chance)) };
                entries.push(Shape { term: entry_term, membership: votes });
            }
            let (committed, round) = (Index(any_number(chance)), any_number(chance));
            Message::Append(Append { term, before, committed, round, entries })
        }
    }
}
