//! A few nodes that hear each other at once, unless they are down or partitioned.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::consensus::NodeId;
use crate::consensus::raft::{
    Action, Append, AppendError, EntryMeta, InitialState, LogId, Membership, Message, PendingMembership, Raft, Term,
    Timing,
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
    durable_index: usize,
    has_lost_tail: bool,
    is_syncing: bool,
    committed_membership: Option<(Index, Membership)>,
    committed: Index,
    pending_memberships: Vec<PendingMembership>,
}

#[derive(Default)]
pub struct TestCluster {
    pub now_ms: u64,
    pub nodes: BTreeMap<NodeId, Seat>,
    messages: VecDeque<(NodeId, NodeId, Message)>,
    pub partitioned: BTreeSet<(NodeId, NodeId)>,
}

pub fn membership(voters: impl IntoIterator<Item = u64>) -> Membership {
    Membership::of(voters.into_iter().map(NodeId))
}

impl TestCluster {
    pub fn new(voters: &[u64]) -> Self {
        let mut cluster = Self::default();
        for &voter in voters {
            cluster.add(NodeId(voter), Some((Index(0), membership(voters.iter().copied()))));
        }
        cluster
    }

    pub fn add(&mut self, id: NodeId, committed_membership: Option<(Index, Membership)>) {
        let last_purged = LogId { term: Term(0), index: Index(0) };
        let (term, committed) = (last_purged.term, last_purged.index);
        let node_state = Seat {
            raft: None,
            term,
            voted_for: None,
            last_purged,
            log: Vec::new(),
            durable_index: 0,
            has_lost_tail: false,
            is_syncing: true,
            committed_membership,
            committed,
            pending_memberships: Vec::new(),
        };
        self.nodes.insert(id, node_state);
        self.start(id);
    }

    pub fn raft(&self, id: NodeId) -> &Raft {
        self.nodes[&id].raft.as_ref().expect("the story lets it be up")
    }

    fn node_state(&mut self, id: NodeId) -> &mut Seat {
        self.nodes.get_mut(&id).expect("the story has that node")
    }

    pub fn start(&mut self, id: NodeId) {
        let now_ms = self.now_ms;
        let node_state = self.node_state(id);
        let at = |nth: usize| Index(node_state.last_purged.index.0 + 1 + nth as u64);
        let mut runs: Vec<(Index, Term)> = Vec::new();
        let mut memberships = Vec::new();
        for (nth, meta) in node_state.log.iter().enumerate() {
            if runs.last().is_none_or(|(_, term)| *term != meta.term) {
                runs.push((at(nth), meta.term));
            }
            memberships.extend(meta.membership.clone().map(|membership| (at(nth), membership)));
        }
        let start = InitialState {
            id,
            term: node_state.term,
            voted_for: node_state.voted_for,
            last_purged: node_state.last_purged,
            term_runs: runs,
            last: Index(node_state.last_purged.index.0 + node_state.log.len() as u64),
            committed_membership: node_state.committed_membership.clone(),
            memberships,
            pending_memberships: node_state.pending_memberships.clone(),
            commit_index: node_state.committed,
            has_lost_tail: node_state.has_lost_tail,
            seed: id.0,
        };
        node_state.raft = Some(Raft::new(start, TIMING, now_ms));
    }

    pub fn crash(&mut self, id: NodeId) {
        let node_state = self.node_state(id);
        node_state.raft = None;
        node_state.log.truncate(node_state.durable_index);
    }

    /// The node crashes, and its disk loses its last durable entries. The node knows that something is lost.
    pub fn lose(&mut self, id: NodeId, count: usize) {
        self.crash(id);
        let node_state = self.node_state(id);
        node_state.has_lost_tail = true;
        node_state.durable_index -= count;
        node_state.log.truncate(node_state.durable_index);
    }

    /// An event on one node, and all its consequences.
    pub fn on<T>(&mut self, id: NodeId, act: impl FnOnce(&mut Raft, u64, &mut Vec<Action>) -> T) -> T {
        let mut actions = Vec::new();
        let now_ms = self.now_ms;
        let result = act(self.node_state(id).raft.as_mut().expect("the story lets it be up"), now_ms, &mut actions);
        self.run_actions(id, actions, &[]);
        self.pump();
        result
    }

    pub fn append(&mut self, id: NodeId, membership: Option<Membership>) -> Result<(), AppendError> {
        let mut actions = Vec::new();
        let node_state = self.node_state(id);
        let raft = node_state.raft.as_mut().expect("the story lets it be up");
        raft.append(std::slice::from_ref(&membership), &mut actions)?;
        raft.broadcast_append(&mut actions);
        node_state.log.push(EntryMeta { term: raft.term(), membership });
        self.run_actions(id, actions, &[]);
        self.sync(id);
        self.pump();
        Ok(())
    }

    pub fn set_syncing(&mut self, id: NodeId, is_syncing: bool) {
        self.node_state(id).is_syncing = is_syncing;
        self.sync(id);
        self.pump();
    }

    fn sync(&mut self, id: NodeId) {
        let mut actions = Vec::new();
        let node_state = self.node_state(id);
        if let (true, Some(raft)) = (node_state.is_syncing, &mut node_state.raft) {
            node_state.durable_index = node_state.log.len();
            raft.on_durable(raft.last(), &mut actions);
        }
        self.run_actions(id, actions, &[]);
    }

    pub fn purge(&mut self, id: NodeId, upto: Index) {
        let node_state = self.node_state(id);
        let count = (upto.0 - node_state.last_purged.index.0) as usize;
        let gone = node_state.log.drain(..count).next_back().expect("something is purged");
        node_state.durable_index -= count;
        node_state.last_purged = LogId { term: gone.term, index: upto };
        let last_purged = node_state.last_purged;
        node_state.raft.as_mut().expect("the story lets it be up").on_purged(last_purged);
    }

    fn pump(&mut self) {
        for _ in 0..MESSAGES_LIMIT {
            let Some((from, to, message)) = self.messages.pop_front() else { return };
            let now_ms = self.now_ms;
            let is_cut = self.partitioned.contains(&(from, to));
            let Some(raft) =
                self.nodes.get_mut(&to).and_then(|node_state| node_state.raft.as_mut()).filter(|_| !is_cut)
            else {
                continue;
            };
            let entries = match &message {
                Message::Append(append) => append.entries.clone(),
                _ => Vec::new(),
            };
            let mut actions = Vec::new();
            raft.receive(now_ms, from, message, &mut actions);
            self.run_actions(to, actions, &entries);
            self.sync(to);
        }
        panic!("the nodes talk for ever");
    }

    fn run_actions(&mut self, id: NodeId, actions: Vec<Action>, received: &[EntryMeta]) {
        for action in actions {
            let node_state = self.nodes.get_mut(&id).expect("the story has that node");
            match action {
                Action::SaveHardState { term, voted_for } => {
                    (node_state.term, node_state.voted_for) = (term, voted_for);
                }
                Action::SavePendingMemberships { memberships } | Action::SettlePendingMemberships { memberships } => {
                    node_state.pending_memberships = memberships;
                }
                Action::Truncate { from } => {
                    node_state.log.truncate((from.0 - node_state.last_purged.index.0 - 1) as usize);
                    node_state.durable_index = node_state.durable_index.min(node_state.log.len());
                }
                Action::WriteEntries { skip, first } => {
                    assert_eq!(first.0, node_state.last_purged.index.0 + node_state.log.len() as u64 + 1);
                    node_state.log.extend_from_slice(&received[skip..]);
                }
                Action::Send { to, message } => self.messages.push_back((id, to, message)),
                Action::SendEntries { to, term, prev_log_id: before, first, upto, leader_commit: committed, round } => {
                    let nth = |index: Index| (index.0 - node_state.last_purged.index.0 - 1) as usize;
                    let entries = node_state.log[nth(first)..=nth(upto)].to_vec();
                    let append = Append { term, prev_log_id: before, leader_commit: committed, round, entries };
                    self.messages.push_back((id, to, Message::Append(append)));
                }
                Action::Committed { upto } => {
                    node_state.committed = upto;
                    node_state.committed_membership =
                        node_state.raft.as_ref().and_then(|raft| raft.committed_membership().cloned());
                }
                Action::SnapshotRequired { node, .. } => self.transfer(id, node),
                Action::Recovered => node_state.has_lost_tail = false,
                Action::HistoryMismatch { here, leader } => panic!("{here:?} is committed, the leader has {leader:?}"),
                Action::LeaderChanged { .. } | Action::BecameLeader { .. } | Action::ReadIndexReady { .. } => {}
            }
        }
    }

    /// The node receives by another way what the leader has purged.
    fn transfer(&mut self, from: NodeId, to: NodeId) {
        let sender = &self.nodes[&from];
        let (term, log_id) = (self.raft(from).term(), sender.last_purged);
        let membership = sender.committed_membership.clone().expect("a leader knows who decides");
        let mut actions = Vec::new();
        let node_state = self.node_state(to);
        let raft = node_state.raft.as_mut().expect("it has just answered");
        if raft.install_snapshot(term, log_id, membership.clone(), &mut actions) {
            (node_state.last_purged, node_state.log, node_state.durable_index) = (log_id, Vec::new(), 0);
            (node_state.committed_membership, node_state.committed) = (Some(membership), log_id.index);
        }
        self.run_actions(to, actions, &[]);
    }
}
