//! A few nodes that hear each other at once, unless they are down or partitioned.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::consensus::NodeId;
use crate::consensus::raft::{
    Action, Append, AppendError, EntryMeta, InitialState, LogId, Membership, Message, Raft, Term, Timing,
};
use crate::log::Index;

pub const TIMING: Timing = Timing { heartbeat_ms: 25, election_ms: 100 };

/// Limit of messages after one event: more would mean an endless exchange.
const MESSAGES_LIMIT: usize = 10_000;

pub struct Seat {
    /// None: the node is down.
    pub raft: Option<Raft>,
    term: Term,
    voted_for: Option<NodeId>,
    last_purged: LogId,
    pub log: Vec<EntryMeta>,
    safe: usize,
    is_syncing: bool,
    settled: Option<(Index, Membership)>,
    committed: Index,
}

#[derive(Default)]
pub struct TestCluster {
    pub now_ms: u64,
    pub seats: BTreeMap<NodeId, Seat>,
    messages: VecDeque<(NodeId, NodeId, Message)>,
    pub cut: BTreeSet<(NodeId, NodeId)>,
}

pub fn membership(voters: impl IntoIterator<Item = u64>) -> Membership {
    Membership { voters: voters.into_iter().map(NodeId).collect() }
}

impl TestCluster {
    pub fn new(voters: &[u64]) -> Self {
        let mut cluster = Self::default();
        for &voter in voters {
            cluster.add(NodeId(voter), Some((Index(0), membership(voters.iter().copied()))));
        }
        cluster
    }

    pub fn add(&mut self, id: NodeId, settled: Option<(Index, Membership)>) {
        let last_purged = LogId { term: Term(0), index: Index(0) };
        let (term, committed) = (last_purged.term, last_purged.index);
        let seat = Seat {
            raft: None,
            term,
            voted_for: None,
            last_purged,
            log: Vec::new(),
            safe: 0,
            is_syncing: true,
            settled,
            committed,
        };
        self.seats.insert(id, seat);
        self.start(id);
    }

    pub fn raft(&self, id: NodeId) -> &Raft {
        self.seats[&id].raft.as_ref().expect("the story lets it be up")
    }

    fn seat(&mut self, id: NodeId) -> &mut Seat {
        self.seats.get_mut(&id).expect("the story has that node")
    }

    pub fn start(&mut self, id: NodeId) {
        let now_ms = self.now_ms;
        let seat = self.seat(id);
        let at = |nth: usize| Index(seat.last_purged.index.0 + 1 + nth as u64);
        let mut runs: Vec<(Index, Term)> = Vec::new();
        let mut memberships = Vec::new();
        for (nth, meta) in seat.log.iter().enumerate() {
            if runs.last().is_none_or(|(_, term)| *term != meta.term) {
                runs.push((at(nth), meta.term));
            }
            memberships.extend(meta.membership.clone().map(|membership| (at(nth), membership)));
        }
        let start = InitialState {
            id,
            term: seat.term,
            voted_for: seat.voted_for,
            last_purged: seat.last_purged,
            term_runs: runs,
            last: Index(seat.last_purged.index.0 + seat.log.len() as u64),
            committed_membership: seat.settled.clone(),
            memberships,
            commit_index: seat.committed,
            seed: id.0,
        };
        seat.raft = Some(Raft::new(start, TIMING, now_ms));
    }

    pub fn crash(&mut self, id: NodeId) {
        let seat = self.seat(id);
        seat.raft = None;
        seat.log.truncate(seat.safe);
    }

    /// An event on one node, and all its consequences.
    pub fn on<T>(&mut self, id: NodeId, act: impl FnOnce(&mut Raft, u64, &mut Vec<Action>) -> T) -> T {
        let mut actions = Vec::new();
        let now_ms = self.now_ms;
        let result = act(self.seat(id).raft.as_mut().expect("the story lets it be up"), now_ms, &mut actions);
        self.carry_out(id, actions, &[]);
        self.pump();
        result
    }

    pub fn append(&mut self, id: NodeId, membership: Option<Membership>) -> Result<(), AppendError> {
        let mut actions = Vec::new();
        let seat = self.seat(id);
        let raft = seat.raft.as_mut().expect("the story lets it be up");
        raft.append(std::slice::from_ref(&membership))?;
        raft.broadcast_append(&mut actions);
        seat.log.push(EntryMeta { term: raft.term(), membership });
        self.carry_out(id, actions, &[]);
        self.sync(id);
        self.pump();
        Ok(())
    }

    pub fn set_syncing(&mut self, id: NodeId, is_syncing: bool) {
        self.seat(id).is_syncing = is_syncing;
        self.sync(id);
        self.pump();
    }

    fn sync(&mut self, id: NodeId) {
        let mut actions = Vec::new();
        let seat = self.seat(id);
        if let (true, Some(raft)) = (seat.is_syncing, &mut seat.raft) {
            seat.safe = seat.log.len();
            raft.on_durable(raft.last(), &mut actions);
        }
        self.carry_out(id, actions, &[]);
    }

    pub fn purge(&mut self, id: NodeId, upto: Index) {
        let seat = self.seat(id);
        let count = (upto.0 - seat.last_purged.index.0) as usize;
        let gone = seat.log.drain(..count).next_back().expect("something is purged");
        seat.safe -= count;
        seat.last_purged = LogId { term: gone.term, index: upto };
        let last_purged = seat.last_purged;
        seat.raft.as_mut().expect("the story lets it be up").on_purged(last_purged);
    }

    fn pump(&mut self) {
        for _ in 0..MESSAGES_LIMIT {
            let Some((from, to, message)) = self.messages.pop_front() else { return };
            let now_ms = self.now_ms;
            let is_cut = self.cut.contains(&(from, to));
            let Some(raft) = self.seats.get_mut(&to).and_then(|seat| seat.raft.as_mut()).filter(|_| !is_cut) else {
                continue;
            };
            let entries = match &message {
                Message::Append(append) => append.entries.clone(),
                _ => Vec::new(),
            };
            let mut actions = Vec::new();
            raft.receive(now_ms, from, message, &mut actions);
            self.carry_out(to, actions, &entries);
            self.sync(to);
        }
        panic!("the nodes talk for ever");
    }

    fn carry_out(&mut self, id: NodeId, actions: Vec<Action>, received: &[EntryMeta]) {
        for action in actions {
            let seat = self.seats.get_mut(&id).expect("the story has that node");
            match action {
                Action::SaveHardState { term, voted_for } => (seat.term, seat.voted_for) = (term, voted_for),
                Action::Truncate { from } => {
                    seat.log.truncate((from.0 - seat.last_purged.index.0 - 1) as usize);
                    seat.safe = seat.safe.min(seat.log.len());
                }
                Action::WriteEntries { skip, first } => {
                    assert_eq!(first.0, seat.last_purged.index.0 + seat.log.len() as u64 + 1);
                    seat.log.extend_from_slice(&received[skip..]);
                }
                Action::Send { to, message } => self.messages.push_back((id, to, message)),
                Action::SendEntries { to, term, prev_log_id: before, first, upto, leader_commit: committed, round } => {
                    let nth = |index: Index| (index.0 - seat.last_purged.index.0 - 1) as usize;
                    let entries = seat.log[nth(first)..=nth(upto)].to_vec();
                    let append = Append { term, prev_log_id: before, leader_commit: committed, round, entries };
                    self.messages.push_back((id, to, Message::Append(append)));
                }
                Action::Committed { upto } => {
                    seat.committed = upto;
                    seat.settled = seat.raft.as_ref().and_then(|raft| raft.committed_membership().cloned());
                }
                Action::SnapshotRequired { node, .. } => self.transfer(id, node),
                Action::LeaderChanged { .. } | Action::BecameLeader { .. } | Action::ReadIndexReady { .. } => {}
            }
        }
    }

    /// The node receives by another way what the leader has purged.
    fn transfer(&mut self, from: NodeId, to: NodeId) {
        let giver = &self.seats[&from];
        let (term, place) = (self.raft(from).term(), giver.last_purged);
        let membership = giver.settled.clone().expect("a leader knows who decides");
        let mut actions = Vec::new();
        let seat = self.seat(to);
        let raft = seat.raft.as_mut().expect("it has just answered");
        if raft.install_snapshot(term, place, membership.clone(), &mut actions) {
            (seat.last_purged, seat.log, seat.safe) = (place, Vec::new(), 0);
            (seat.settled, seat.committed) = (Some(membership), place.index);
        }
        self.carry_out(to, actions, &[]);
    }
}
