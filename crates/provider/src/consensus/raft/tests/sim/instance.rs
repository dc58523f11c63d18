//! One instance of a node, from its start to its crash: a small version of the real driver.

use std::collections::BTreeSet;

use super::disk;
use super::links::Packet;
use super::world::{Entry, Event, Payload, World};
use crate::consensus::NodeId;
use crate::consensus::proposals::{Leader, Proposals, RequestId, SessionId, Step};
use crate::consensus::raft::{Action, Append, LogId, Membership, Message, Raft};
use crate::log::Index;

pub struct Instance {
    pub number: u64,
    pub raft: Raft,
    pub proposals: Proposals,
    pub session: SessionId,
    pub next_request_id: u64,
    /// Their clients wait.
    pub waiting: BTreeSet<RequestId>,
    pub applied: Index,
    /// Rounds of pending reads, and what was committed anywhere when they started.
    pub reads: Vec<(u64, Index)>,
    /// Entries are appended without Raft, which learns of them when the mode ends.
    pub is_single_node: bool,
    is_syncing: bool,
    wake_at_ms: u64,
    /// Follow-ups of actions, run after the last of them.
    steps: Vec<Step>,
}

fn session_of(instance: u64) -> SessionId {
    SessionId(u128::from(instance).to_be_bytes())
}

impl World {
    pub fn start(&mut self, id: NodeId) {
        self.instances_started += 1;
        let (number, seed, clock_ms) = (self.instances_started, self.rng.next(), self.clock_ms(id));
        self.trace(|| format!("{id} starts"));
        let node = self.nodes.get_mut(&id).expect("nodes stay");
        node.is_full = false;
        let raft = Raft::new(node.disk.start(id, seed), self.settings.timing, clock_ms);
        let applied = raft.apply_bound();
        self.invariants.starts(id, applied);
        node.disk.applied = applied;
        node.instance = Some(Instance {
            number,
            raft,
            proposals: Proposals::new(),
            session: session_of(number),
            next_request_id: 1,
            waiting: BTreeSet::new(),
            applied,
            reads: Vec::new(),
            is_single_node: false,
            is_syncing: false,
            wake_at_ms: u64::MAX,
            steps: Vec::new(),
        });
        // A link belongs to one instance of each node: `recovering` needs that.
        if self.is_calm || !self.settings.is_unordered || self.nodes[&id].disk.has_lost_tail {
            for other in self.up().into_iter().filter(|other| *other != id) {
                self.break_link(id, other);
            }
        }
        self.plan_wake(id);
    }

    pub fn crash(&mut self, id: NodeId) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        if node.instance.take().is_some() {
            node.disk.crash(&mut self.rng);
            node.stopped_until_ms = 0;
            let last = node.disk.last();
            self.trace(|| format!("{id} crashes, with {} durable entries", last.0));
        }
    }

    pub fn wake(&mut self, id: NodeId) {
        let clock_ms = self.clock_ms(id);
        let mut actions = Vec::new();
        let Some(instance) = self.instance(id) else { return };
        instance.wake_at_ms = u64::MAX;
        instance.raft.tick(clock_ms, &mut actions);
        instance.proposals.tick(clock_ms, &mut instance.steps);
        self.act(id, actions, &[]);
    }

    pub fn link_is_new(&mut self, id: NodeId, other: NodeId) {
        self.leave_single_node(id);
        let mut actions = Vec::new();
        let Some(instance) = self.instance(id) else { return };
        instance.raft.on_reconnected(other, &mut actions);
        if instance.raft.leader() == Some(other) {
            instance.proposals.resend(&mut instance.steps);
        }
        self.act(id, actions, &[]);
    }

    pub fn deliver(&mut self, from: NodeId, id: NodeId, packet: Packet) {
        self.trace(|| format!("{id} receives from {from}: {packet:?}"));
        self.leave_single_node(id);
        let clock_ms = self.clock_ms(id);
        let mut actions = Vec::new();
        let mut entries = Vec::new();
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let Some(instance) = node.instance.as_mut() else { return };
        match packet {
            Packet::Raft(message, payloads) => {
                if let Message::Append(Append { entries: metas, .. }) = &message {
                    let zip = metas.iter().zip(payloads);
                    entries = zip.map(|(meta, payload)| Entry { meta: meta.clone(), payload }).collect();
                }
                instance.raft.receive(clock_ms, from, message, &mut actions);
            }
            Packet::Forward { session, term, number, request_id } => {
                if instance.raft.can_append() && instance.proposals.accept_forward(session, term, number) {
                    self.append(id, None, Payload::Write { session, request_id });
                }
                return;
            }
            Packet::InstallSnapshot { term, log_id, membership } => {
                let is_leader = instance.raft.leader() == Some(id);
                if !is_leader && instance.raft.install_snapshot(term, log_id, membership.clone(), &mut actions) {
                    node.disk.install_snapshot(log_id, membership);
                    instance.applied = instance.applied.max(log_id.index);
                    self.invariants.starts(id, instance.applied);
                    // Its proposals in flight may be among the entries that it has not seen: a new session.
                    self.instances_started += 1;
                    instance.session = session_of(self.instances_started);
                    instance.waiting.clear();
                    instance.proposals = Proposals::new();
                    let leader = instance.raft.leader().map_or(Leader::Unknown, Leader::Other);
                    instance.proposals.on_leader_changed(instance.raft.term(), leader, &mut instance.steps);
                }
            }
        }
        self.act(id, actions, &entries);
    }

    /// Appends an entry as leader. False: the node is not the leader.
    pub fn append(&mut self, id: NodeId, membership: Option<Membership>, payload: Payload) -> bool {
        let goes_alone = self.rng.percent(50);
        // Else with the next entry, or because of a heartbeat.
        let is_sent = self.rng.percent(60);
        let mut actions = Vec::new();
        let Some(node) = self.nodes.get_mut(&id) else { return false };
        let Some(instance) = node.instance.as_mut() else { return false };
        if node.is_full {
            self.crash(id);
            return false;
        }
        if goes_alone && membership.is_none() && instance.raft.is_single_node() {
            instance.is_single_node = true;
            node.disk.push(disk::entry(instance.raft.term(), None, payload));
            let upto = node.disk.last();
            node.disk.durable_index = upto;
            self.apply(id, upto);
            self.act(id, actions, &[]);
            return true;
        }
        self.leave_single_node(id);
        let Some(node) = self.nodes.get_mut(&id) else { return false };
        let Some(instance) = node.instance.as_mut() else { return false };
        let Ok(first) = instance.raft.append(std::slice::from_ref(&membership), &mut actions) else { return false };
        node.disk.push(disk::entry(instance.raft.term(), membership, payload));
        if is_sent {
            instance.raft.broadcast_append(&mut actions);
        }
        assert_eq!(first, node.disk.last(), "the log and Raft have different last indexes");
        self.sync(id);
        self.act(id, actions, &[]);
        true
    }

    /// Another node is there: Raft learns what was appended without it.
    pub fn leave_single_node(&mut self, id: NodeId) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let Some(instance) = node.instance.as_mut() else { return };
        if std::mem::take(&mut instance.is_single_node) {
            instance.raft.on_single_node_append(node.disk.last());
        }
    }

    pub fn leave_single_nodes(&mut self) {
        self.up().into_iter().for_each(|id| self.leave_single_node(id));
    }

    /// Runs actions in order, then their follow-ups.
    pub fn act(&mut self, id: NodeId, actions: Vec<Action>, received: &[Entry]) {
        let mut leads = false;
        for action in actions {
            leads |= matches!(action, Action::BecameLeader { .. });
            self.run_actions(id, action, received);
        }
        if leads {
            self.append(id, None, Payload::Nothing);
        }
        let Some(instance) = self.instance(id) else { return };
        for step in std::mem::take(&mut instance.steps) {
            self.take_step(id, step);
        }
        self.plan_wake(id);
    }

    fn run_actions(&mut self, id: NodeId, action: Action, received: &[Entry]) {
        self.trace(|| format!("{id} {action:?}"));
        let highest = self.invariants.highest();
        let is_truncated = self.rng.percent(20);
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let Some(instance) = node.instance.as_mut() else { return };
        match action {
            Action::SaveHardState { term, voted_for } => {
                (node.disk.term, node.disk.voted_for) = (term, voted_for);
                if voted_for.is_some() && !self.is_calm && self.rng.percent(self.settings.voters_crash_percent) {
                    let in_ms = self.rng.between(1, 6);
                    self.at(in_ms, Event::CrashBriefly { node: id });
                }
            }
            Action::SavePendingMemberships { memberships } | Action::SettlePendingMemberships { memberships } => {
                node.disk.pending_memberships = memberships;
            }
            Action::Truncate { from } => node.disk.truncate(from),
            Action::WriteEntries { .. } if node.is_full => self.crash(id),
            Action::WriteEntries { skip, first } => {
                assert_eq!(first, node.disk.last().next());
                for entry in &received[skip..] {
                    node.disk.push(entry.clone());
                }
                assert_eq!(instance.raft.last(), node.disk.log_id(node.disk.last()));
                self.sync(id);
            }
            Action::Send { to, message } => self.send(id, to, Packet::Raft(message, Vec::new())),
            Action::SendEntries { to, term, prev_log_id: before, first, upto, leader_commit: committed, round } => {
                // As if the rest did not fit into the frame.
                let upto = if is_truncated { Index(u64::midpoint(first.0, upto.0)) } else { upto };
                instance.raft.on_partial_send(to, upto);
                let entries: Vec<Entry> = (first.0..=upto.0).map(|at| node.disk.entry(Index(at)).clone()).collect();
                assert_eq!(node.disk.log_id(before.index), before);
                let payloads = entries.iter().map(|entry| entry.payload).collect();
                let entries = entries.into_iter().map(|entry| entry.meta).collect();
                let append = Append { term, prev_log_id: before, leader_commit: committed, round, entries };
                self.send(id, to, Packet::Raft(Message::Append(append), payloads));
            }
            Action::Committed { upto } => self.apply(id, upto),
            Action::LeaderChanged { term, leader } => {
                let leader = match leader {
                    None => Leader::Unknown,
                    Some(leader) if leader == id => Leader::Me,
                    Some(leader) => Leader::Other(leader),
                };
                instance.reads.clear();
                instance.proposals.on_leader_changed(term, leader, &mut instance.steps);
            }
            Action::BecameLeader { term } => self.invariants.leads(id, term, &node.disk),
            Action::SnapshotRequired { node: other, .. } => {
                // Anywhere in the log: a log that begins earlier gets more entries.
                let at = self.rng.between(node.disk.last_purged().index.0, instance.applied.0);
                let log_id = node.disk.log_id(Index(at));
                let term = instance.raft.term();
                let membership = instance.raft.committed_membership().cloned();
                if let Some((_, membership)) = membership {
                    let membership = (log_id.index, membership);
                    self.send(id, other, Packet::InstallSnapshot { term, log_id, membership });
                }
            }
            Action::Recovered => node.disk.has_lost_tail = false,
            Action::HistoryMismatch { here, leader } => panic!("{id} has {here:?}, its leader {leader:?}"),
            Action::ReadIndexReady { round, upto } => {
                for (_, floor) in instance.reads.extract_if(.., |(asked, _)| *asked <= round) {
                    self.invariants.read(id, floor, upto, highest);
                }
            }
        }
    }

    /// Applies entries, and answers the clients.
    fn apply(&mut self, id: NodeId, upto: Index) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let Some(instance) = node.instance.as_mut() else { return };
        assert!(upto <= node.disk.durable_index, "tables would be ahead of the log");
        for at in instance.applied.0 + 1..=upto.0 {
            let entry = node.disk.entry(Index(at));
            self.invariants.committed(id, instance.raft.term(), Index(at), entry);
            let own = match entry.payload {
                Payload::Write { session, request_id } if session == instance.session => Some(request_id),
                _ => None,
            };
            if let Some(request_id) = own
                && instance.waiting.remove(&request_id)
            {
                self.invariants.confirmed(instance.session, request_id, Index(at));
            }
            instance.proposals.on_committed(entry.meta.term, own, &mut instance.steps);
        }
        instance.applied = upto;
        node.disk.applied = upto;
        node.disk.committed_membership = instance.raft.committed_membership().cloned();
    }

    fn take_step(&mut self, id: NodeId, step: Step) {
        let Some(instance) = self.instance(id) else { return };
        let session = instance.session;
        match step {
            Step::Append { request_id, term } => {
                let takes = instance.raft.can_append() && instance.raft.term() == term;
                if takes {
                    self.append(id, None, Payload::Write { session, request_id });
                } else {
                    instance.proposals.on_not_appended(request_id, &mut instance.steps);
                }
            }
            Step::Forward { request_id, to, term, number } => {
                self.send(id, to, Packet::Forward { session, term, number, request_id });
            }
            Step::Discard { .. } => {}
        }
    }

    /// Starts a sync of everything, unless one is running.
    fn sync(&mut self, id: NodeId) {
        let in_ms = self.rng.between(0, self.settings.sync_ms);
        let Some(instance) = self.instance(id) else { return };
        if !instance.is_syncing {
            instance.is_syncing = true;
            let (instance, upto) = (instance.number, instance.raft.last());
            self.at(in_ms, Event::Synced { node: id, instance, upto });
        }
    }

    pub fn synced(&mut self, id: NodeId, upto: LogId) {
        let mut actions = Vec::new();
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let Some(instance) = node.instance.as_mut() else { return };
        instance.is_syncing = false;
        self.is_verbose.then(|| eprintln!("{} {id} synced {upto:?}", self.now_ms));
        if node.disk.has(upto) {
            node.disk.durable_index = node.disk.durable_index.max(upto.index);
        }
        instance.raft.on_durable(upto, &mut actions);
        if node.disk.durable_index < node.disk.last() {
            self.sync(id);
        }
        self.act(id, actions, &[]);
    }

    /// Schedules the node's next tick.
    fn plan_wake(&mut self, id: NodeId) {
        let Some(instance) = self.instance(id) else { return };
        let Some(deadline_ms) = instance.raft.deadline_ms() else { return };
        let (number, planned_ms) = (instance.number, instance.wake_at_ms);
        let in_ms = self.until_clock(id, deadline_ms);
        let at_ms = self.now_ms + in_ms;
        if at_ms < planned_ms {
            if let Some(instance) = self.instance(id) {
                instance.wake_at_ms = at_ms;
            }
            self.at(in_ms, Event::Wake { node: id, instance: number });
        }
    }
}

impl Instance {
    pub fn submit(&mut self, request_id: RequestId) {
        self.proposals.submit(request_id, &mut self.steps).expect("clients propose less than the limit");
    }
}
