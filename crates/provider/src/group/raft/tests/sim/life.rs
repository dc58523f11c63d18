//! One life of a node, from its start to its crash: what the real driver does, in small.

use std::collections::BTreeSet;

use super::disk;
use super::links::Packet;
use super::world::{Entry, Event, Payload, World};
use crate::group::NodeId;
use crate::group::proposals::{Leader, Origin, Proposals, Step, Ticket};
use crate::group::raft::{Action, Append, Membership, Message, Place, Raft};
use crate::log::Index;

pub struct Life {
    pub number: u64,
    pub raft: Raft,
    pub proposals: Proposals,
    pub origin: Origin,
    pub next_ticket: u64,
    /// Clients wait for these.
    pub waiting: BTreeSet<Ticket>,
    pub applied: Index,
    /// Rounds that somebody waits for, and what had been committed anywhere when they asked.
    pub reads: Vec<(u64, Index)>,
    is_syncing: bool,
    wake_at_ms: u64,
    /// What actions lead to is done after the last of them.
    steps: Vec<Step>,
}

fn origin_of(life: u64) -> Origin {
    Origin(u128::from(life).to_be_bytes())
}

impl World {
    pub fn start(&mut self, id: NodeId) {
        self.lives += 1;
        let (number, seed, clock_ms) = (self.lives, self.chance.next(), self.clock_ms(id));
        self.tell(|| format!("{id} starts"));
        let node = self.nodes.get_mut(&id).expect("nodes stay");
        node.is_full = false;
        let raft = Raft::new(node.disk.start(id, seed), self.settings.timing, clock_ms);
        let applied = raft.committed();
        self.invariants.starts(id, applied);
        node.disk.applied = applied;
        node.life = Some(Life {
            number,
            raft,
            proposals: Proposals::new(),
            origin: origin_of(number),
            next_ticket: 1,
            waiting: BTreeSet::new(),
            applied,
            reads: Vec::new(),
            is_syncing: false,
            wake_at_ms: u64::MAX,
            steps: Vec::new(),
        });
        if self.is_calm || !self.settings.is_unordered {
            for other in self.up().into_iter().filter(|other| *other != id) {
                self.break_link(id, other);
            }
        }
        self.plan_wake(id);
    }

    pub fn crash(&mut self, id: NodeId) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        if node.life.take().is_some() {
            node.disk.crash(&mut self.chance);
            node.stopped_until_ms = 0;
            let last = node.disk.last();
            self.tell(|| format!("{id} crashes, and has {}", last.0));
        }
    }

    pub fn wake(&mut self, id: NodeId) {
        let clock_ms = self.clock_ms(id);
        let mut actions = Vec::new();
        let Some(life) = self.life(id) else { return };
        life.wake_at_ms = u64::MAX;
        life.raft.tick(clock_ms, &mut actions);
        life.proposals.tick(clock_ms, &mut life.steps);
        self.act(id, actions, &[]);
    }

    pub fn link_is_new(&mut self, id: NodeId, other: NodeId) {
        let mut actions = Vec::new();
        let Some(life) = self.life(id) else { return };
        life.raft.link_renewed(other, &mut actions);
        if life.raft.leader() == Some(other) {
            life.proposals.send_again(&mut life.steps);
        }
        self.act(id, actions, &[]);
    }

    pub fn deliver(&mut self, from: NodeId, id: NodeId, packet: Packet) {
        self.tell(|| format!("{id} hears {from}: {packet:?}"));
        let clock_ms = self.clock_ms(id);
        let mut actions = Vec::new();
        let mut entries = Vec::new();
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let Some(life) = node.life.as_mut() else { return };
        match packet {
            Packet::Raft(message, payloads) => {
                if let Message::Append(Append { entries: shapes, .. }) = &message {
                    let zip = shapes.iter().zip(payloads);
                    entries = zip.map(|(shape, payload)| Entry { shape: shape.clone(), payload }).collect();
                }
                life.raft.receive(clock_ms, from, message, &mut actions);
            }
            Packet::Forward { origin, term, number, ticket } => {
                if life.raft.takes_entries() && life.proposals.take(origin, term, number) {
                    self.append(id, None, Payload::Write { origin, ticket });
                }
                return;
            }
            Packet::BeginBehind { term, place, membership } => {
                let is_leader = life.raft.leader() == Some(id);
                if !is_leader && life.raft.begin_behind(term, place, membership.clone(), &mut actions) {
                    node.disk.begin_behind(place, membership);
                    life.applied = life.applied.max(place.index);
                    self.invariants.starts(id, life.applied);
                    // What it had under way may be in what it did not see: another life.
                    self.lives += 1;
                    life.origin = origin_of(self.lives);
                    life.waiting.clear();
                    life.proposals = Proposals::new();
                    let leader = life.raft.leader().map_or(Leader::Unknown, Leader::Other);
                    life.proposals.leader_is(life.raft.term(), leader, &mut life.steps);
                }
            }
        }
        self.act(id, actions, &entries);
    }

    /// Puts an entry into the log of a leader. False: it is none.
    pub fn append(&mut self, id: NodeId, membership: Option<Membership>, payload: Payload) -> bool {
        let goes_alone = self.chance.percent(50);
        // Else with the next one, or because of a heartbeat.
        let is_sent = self.chance.percent(60);
        let mut actions = Vec::new();
        let Some(node) = self.nodes.get_mut(&id) else { return false };
        let Some(life) = node.life.as_mut() else { return false };
        if node.is_full {
            self.crash(id);
            return false;
        }
        if goes_alone && membership.is_none() && life.raft.is_alone() {
            node.disk.push(disk::entry(life.raft.term(), None, payload));
            let upto = node.disk.last();
            node.disk.safe = upto;
            life.raft.appended_alone(upto);
            self.apply(id, upto);
            self.act(id, actions, &[]);
            return true;
        }
        let Ok(first) = life.raft.append(std::slice::from_ref(&membership)) else { return false };
        node.disk.push(disk::entry(life.raft.term(), membership, payload));
        if is_sent {
            life.raft.spread(&mut actions);
        }
        assert_eq!(first, node.disk.last(), "the log and what agreement knows of it are not the same");
        self.sync(id);
        self.act(id, actions, &[]);
        true
    }

    /// Carries out actions, each before the next, then what they led to.
    pub fn act(&mut self, id: NodeId, actions: Vec<Action>, received: &[Entry]) {
        let mut leads = false;
        for action in actions {
            leads |= matches!(action, Action::Lead { .. });
            self.carry_out(id, action, received);
        }
        if leads {
            self.append(id, None, Payload::Nothing);
        }
        let Some(life) = self.life(id) else { return };
        for step in std::mem::take(&mut life.steps) {
            self.take_step(id, step);
        }
        self.plan_wake(id);
    }

    fn carry_out(&mut self, id: NodeId, action: Action, received: &[Entry]) {
        self.tell(|| format!("{id} {action:?}"));
        let highest = self.invariants.highest();
        let is_cut_short = self.chance.percent(20);
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let Some(life) = node.life.as_mut() else { return };
        match action {
            Action::Persist { term, voted_for } => {
                (node.disk.term, node.disk.voted_for) = (term, voted_for);
                if voted_for.is_some() && !self.is_calm && self.chance.percent(self.settings.voters_crash_percent) {
                    let in_ms = self.chance.between(1, 6);
                    self.at(in_ms, Event::CrashBriefly { node: id });
                }
            }
            Action::Truncate { from } => node.disk.truncate(from),
            Action::Store { .. } if node.is_full => self.crash(id),
            Action::Store { skip, first } => {
                assert_eq!(first, node.disk.last().next());
                for entry in &received[skip..] {
                    node.disk.push(entry.clone());
                }
                assert_eq!(life.raft.last(), node.disk.place(node.disk.last()));
                self.sync(id);
            }
            Action::Send { to, message } => self.send(id, to, Packet::Raft(message, Vec::new())),
            Action::SendEntries { to, term, before, first, upto, committed, round } => {
                // As if the rest did not fit into the frame.
                let upto = if is_cut_short { Index(u64::midpoint(first.0, upto.0)) } else { upto };
                life.raft.sent(to, upto);
                let entries: Vec<Entry> = (first.0..=upto.0).map(|at| node.disk.entry(Index(at)).clone()).collect();
                assert_eq!(node.disk.place(before.index), before);
                let payloads = entries.iter().map(|entry| entry.payload).collect();
                let entries = entries.into_iter().map(|entry| entry.shape).collect();
                let append = Append { term, before, committed, round, entries };
                self.send(id, to, Packet::Raft(Message::Append(append), payloads));
            }
            Action::Committed { upto } => self.apply(id, upto),
            Action::LeaderIs { term, leader } => {
                let leader = match leader {
                    None => Leader::Unknown,
                    Some(leader) if leader == id => Leader::Me,
                    Some(leader) => Leader::Other(leader),
                };
                life.reads.clear();
                life.proposals.leader_is(term, leader, &mut life.steps);
            }
            Action::Lead { term } => self.invariants.leads(id, term, &node.disk),
            Action::TooFarBehind { node: other, .. } => {
                let place = node.disk.place(life.applied);
                let term = life.raft.term();
                let membership = life.raft.settled_membership().cloned();
                if let Some(membership) = membership {
                    self.send(id, other, Packet::BeginBehind { term, place, membership });
                }
            }
            Action::Confirmed { round, upto } => {
                for (_, floor) in life.reads.extract_if(.., |(asked, _)| *asked <= round) {
                    self.invariants.read(id, floor, upto, highest);
                }
            }
        }
    }

    /// Gives entries to the tables, and tells the clients.
    fn apply(&mut self, id: NodeId, upto: Index) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let Some(life) = node.life.as_mut() else { return };
        assert!(upto <= node.disk.safe, "tables would be ahead of the log");
        for at in life.applied.0 + 1..=upto.0 {
            let entry = node.disk.entry(Index(at));
            self.invariants.committed(id, life.raft.term(), Index(at), entry);
            let own = match entry.payload {
                Payload::Write { origin, ticket } if origin == life.origin => Some(ticket),
                _ => None,
            };
            if let Some(ticket) = own
                && life.waiting.remove(&ticket)
            {
                self.invariants.confirmed(life.origin, ticket, Index(at));
            }
            life.proposals.committed(entry.shape.term, own, &mut life.steps);
        }
        life.applied = upto;
        node.disk.applied = upto;
        node.disk.settled = life.raft.settled_membership().cloned();
    }

    fn take_step(&mut self, id: NodeId, step: Step) {
        let Some(life) = self.life(id) else { return };
        let origin = life.origin;
        match step {
            Step::Append { ticket, term } => {
                let takes = life.raft.takes_entries() && life.raft.term() == term;
                if takes {
                    self.append(id, None, Payload::Write { origin, ticket });
                } else {
                    life.proposals.not_appended(ticket, &mut life.steps);
                }
            }
            Step::Forward { ticket, to, term, number } => {
                self.send(id, to, Packet::Forward { origin, term, number, ticket });
            }
            Step::Forget { .. } => {}
        }
    }

    /// Begins a sync of all there is, unless one is under way.
    fn sync(&mut self, id: NodeId) {
        let in_ms = self.chance.between(0, self.settings.sync_ms);
        let Some(life) = self.life(id) else { return };
        if !life.is_syncing {
            life.is_syncing = true;
            let (life, upto) = (life.number, life.raft.last());
            self.at(in_ms, Event::Synced { node: id, life, upto });
        }
    }

    pub fn synced(&mut self, id: NodeId, upto: Place) {
        let mut actions = Vec::new();
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let Some(life) = node.life.as_mut() else { return };
        life.is_syncing = false;
        self.is_told.then(|| eprintln!("{} {id} synced {upto:?}", self.now_ms));
        if node.disk.has(upto) {
            node.disk.safe = node.disk.safe.max(upto.index);
        }
        life.raft.stored(upto, &mut actions);
        if node.disk.safe < node.disk.last() {
            self.sync(id);
        }
        self.act(id, actions, &[]);
    }

    /// Makes sure that the node wakes when agreement wants it.
    fn plan_wake(&mut self, id: NodeId) {
        let Some(life) = self.life(id) else { return };
        let Some(deadline_ms) = life.raft.deadline_ms() else { return };
        let (number, planned_ms) = (life.number, life.wake_at_ms);
        let in_ms = self.until_clock(id, deadline_ms);
        let at_ms = self.now_ms + in_ms;
        if at_ms < planned_ms {
            if let Some(life) = self.life(id) {
                life.wake_at_ms = at_ms;
            }
            self.at(in_ms, Event::Wake { node: id, life: number });
        }
    }
}

impl Life {
    pub fn submit(&mut self, ticket: Ticket) {
        self.proposals.submit(ticket, &mut self.steps).expect("clients propose less than the limit");
    }
}
