//! A whole run: nodes, links, future events, and invariants.

use std::collections::BTreeMap;

use super::disk::Disk;
use super::instance::Instance;
use super::invariants::Invariants;
use super::links::{Links, Packet};
use super::settings::Settings;
use crate::consensus::NodeId;
use crate::consensus::proposals::{RequestId, SessionId};
use crate::consensus::raft::{EntryMeta, LogId, Membership};
use crate::log::Index;
use crate::seeds::Rng;

/// Everything must be ordered this soon after the last fault. Elections take a few attempts of 100 to 200 ms, snapshots
/// some round trips, and proposals are sent again after a second.
const CALM_LIMIT_MS: u64 = 15_000;
/// Logs are compared after this many events.
const COMPARE_EVERY: u64 = 200;

/// The payload of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    Nothing,
    Members,
    Write { session: SessionId, request_id: RequestId },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub meta: EntryMeta,
    pub payload: Payload,
}

pub enum Event {
    Deliver { from: NodeId, to: NodeId, link: u64, packet: Packet },
    LinkIsNew { node: NodeId, other: NodeId },
    Wake { node: NodeId, instance: u64 },
    Synced { node: NodeId, instance: u64, upto: LogId },
    Restart { node: NodeId },
    CrashBriefly { node: NodeId },
    Fault,
    Client,
}

pub struct Node {
    pub disk: Disk,
    /// None: the node is down.
    pub instance: Option<Instance>,
    pub stopped_until_ms: u64,
    pub is_full: bool,
    /// Its clock: the start, and how many of its milliseconds are 1000 real ones.
    started_ms: u64,
    pace: u64,
}

pub struct World {
    pub settings: Settings,
    pub rng: Rng,
    pub now_ms: u64,
    pub nodes: BTreeMap<NodeId, Node>,
    pub links: Links,
    pub invariants: Invariants,
    pub instances_started: u64,
    pub is_calm: bool,
    /// HORTATOR_TRACE: prints every event.
    pub is_verbose: bool,
    queue: BTreeMap<(u64, u64), Event>,
    events: u64,
}

impl World {
    pub fn new(settings: Settings) -> Self {
        let mut world = Self {
            rng: Rng::new(settings.seed),
            now_ms: 0,
            nodes: BTreeMap::new(),
            links: Links::default(),
            invariants: Invariants::default(),
            instances_started: 0,
            is_calm: false,
            is_verbose: std::env::var_os("HORTATOR_TRACE").is_some(),
            queue: BTreeMap::new(),
            events: 0,
            settings,
        };
        let membership = Membership::of((1..=world.settings.nodes).map(NodeId));
        for node in membership.voters.clone() {
            world.add_node(node, Some((Index(0), membership.clone())));
        }
        world
    }

    pub fn add_node(&mut self, id: NodeId, committed_membership: Option<(Index, Membership)>) {
        let started_ms = self.rng.between(0, 5_000);
        let pace = self.rng.between(950, 1050);
        let disk = Disk::new(committed_membership);
        self.nodes.insert(id, Node { disk, instance: None, stopped_until_ms: 0, is_full: false, started_ms, pace });
        self.start(id);
    }

    /// Runs everything. Returns the number of ordered entries.
    pub fn run(mut self) -> u64 {
        self.at(self.settings.fault_every_ms, Event::Fault);
        self.at(1, Event::Client);
        while self.now_ms < self.settings.faulty_ms {
            self.step();
        }
        self.end_faults();
        let limit_ms = self.now_ms + CALM_LIMIT_MS;
        let mut look_at_ms = self.now_ms;
        while self.now_ms < look_at_ms || !self.is_settled() {
            if self.now_ms >= look_at_ms {
                look_at_ms = self.now_ms + 100;
            }
            assert!(self.now_ms < limit_ms, "not everything is in the order:\n{}", self.describe());
            self.step();
        }
        self.compare();
        self.invariants.at_the_end(&self.nodes)
    }

    /// Runs the next event.
    fn step(&mut self) {
        let ((at_ms, _), event) = self.queue.pop_first().expect("some clock always runs");
        self.now_ms = at_ms;
        self.events += 1;
        if self.events.is_multiple_of(COMPARE_EVERY) {
            self.compare();
        }
        let (Event::Deliver { to: node, .. }
        | Event::LinkIsNew { node, .. }
        | Event::Wake { node, .. }
        | Event::Synced { node, .. }
        | Event::CrashBriefly { node }
        | Event::Restart { node }) = event
        else {
            return match event {
                Event::Fault => self.next_fault(),
                _ => self.next_client(),
            };
        };
        let until_ms = self.nodes[&node].stopped_until_ms;
        if until_ms > self.now_ms {
            return self.at(until_ms - self.now_ms, event);
        }
        match event {
            Event::Deliver { from, to, link, packet } if self.links.arrives(from, to, link) => {
                self.deliver(from, to, packet);
            }
            Event::LinkIsNew { node, other } => self.link_is_new(node, other),
            Event::Wake { node, instance } if self.is_current(node, instance) => self.wake(node),
            Event::Synced { node, instance, upto } if self.is_current(node, instance) => self.synced(node, upto),
            Event::CrashBriefly { node } if !self.is_calm => {
                self.crash(node);
                self.at(1, Event::Restart { node });
            }
            Event::Restart { node } if self.nodes[&node].instance.is_none() => self.start(node),
            _ => {}
        }
    }

    pub fn at(&mut self, in_ms: u64, event: Event) {
        self.events += 1;
        self.queue.insert((self.now_ms + in_ms, self.events), event);
    }

    pub fn trace(&self, what: impl FnOnce() -> String) {
        if self.is_verbose {
            eprintln!("{} {}", self.now_ms, what());
        }
    }

    fn is_current(&self, node: NodeId, instance: u64) -> bool {
        self.nodes[&node].instance.as_ref().is_some_and(|now| now.number == instance)
    }

    /// A node's own clock.
    pub fn clock_ms(&self, id: NodeId) -> u64 {
        let node = &self.nodes[&id];
        node.started_ms + self.now_ms * node.pace / 1000
    }

    /// Time until a node's clock shows `clock_ms`, at least 1.
    pub fn until_clock(&self, id: NodeId, clock_ms: u64) -> u64 {
        let pace = self.nodes[&id].pace;
        (clock_ms.saturating_sub(self.clock_ms(id)) * 1000).div_ceil(pace).max(1)
    }

    pub fn instance(&mut self, id: NodeId) -> Option<&mut Instance> {
        self.nodes.get_mut(&id).and_then(|node| node.instance.as_mut())
    }

    pub fn up(&self) -> Vec<NodeId> {
        self.nodes.iter().filter(|(_, node)| node.instance.is_some()).map(|(id, _)| *id).collect()
    }

    /// The leader of the latest term that has one.
    pub fn leader(&self) -> Option<NodeId> {
        let leaders = self.nodes.iter().filter_map(|(id, node)| {
            let raft = &node.instance.as_ref()?.raft;
            (raft.leader() == Some(*id)).then_some((raft.term(), *id))
        });
        leaders.max().map(|(_, id)| id)
    }

    fn compare(&self) {
        self.invariants.compare(self.nodes.values().map(|node| &node.disk));
    }

    /// Whether all voters have everything, and no client waits.
    fn is_settled(&mut self) -> bool {
        self.leave_single_nodes();
        let Some(leader) = self.leader() else { return false };
        let raft = &self.nodes[&leader].instance.as_ref().expect("it leads").raft;
        let (last, voters) = (raft.last(), raft.membership().voters.clone());
        if raft.apply_bound() == last.index {
            // Other nodes have left, or never joined: no node needs to tell them anything.
            for outsider in self.up().into_iter().filter(|node| !voters.contains(node)) {
                self.crash(outsider);
            }
        }
        voters.iter().all(|voter| {
            self.nodes[voter].instance.as_ref().is_some_and(|instance| {
                instance.raft.last() == last && instance.applied == last.index && instance.proposals.is_empty()
            })
        })
    }

    fn describe(&self) -> String {
        let mut text = String::new();
        for (id, node) in &self.nodes {
            let Some(instance) = &node.instance else {
                text += &format!("{id} is down\n");
                continue;
            };
            let raft = &instance.raft;
            text += &format!(
                "{id} {:?} term {} leader {:?} last purged {} last {:?} durable {} committed {} proposals {} voters {:?} {:?}\n",
                raft.role(),
                raft.term().0,
                raft.leader(),
                raft.last_purged().index.0,
                raft.last(),
                node.disk.durable_index.0,
                raft.apply_bound().0,
                instance.proposals.len(),
                raft.membership().voters,
                raft.progress().collect::<Vec<_>>()
            );
        }
        text
    }
}
