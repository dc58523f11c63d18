//! A whole run: processes, their disks and links, future events, and invariants.

mod health;
mod lifecycle;
mod node;

use std::collections::BTreeMap;

use super::invariants::Invariants;
use super::links::Links;
use super::memory_log::MemoryLog;
use super::process::{Disk, Fact, Process, Row};
use super::server::{self, Applied};
use super::settings::Settings;
use super::upgrades;
use crate::consensus::NodeId;
use crate::consensus::lineage::Lineage;
use crate::consensus::links;
use crate::consensus::raft::LogId;
use crate::consensus::wire::{Frame, Hello};
use crate::gate::GateState;
use crate::identity::{Gtid, Uuid};
use crate::log::{Index, LogRecords};
use crate::node::replica::{self, Command, Pause, Replica, RetainTime, SstResult, initial_state};
use crate::node::{Error, TotalOrder};
use crate::protocol::ProtocolRange;
use crate::saved_state::SavedState;
use crate::seeds::Rng;

pub use node::Node;

const HISTORY: Uuid = Uuid([7; 16]);
/// The engine flushes its tables at least that often …
const TABLES_FLUSH_MS: u64 = 400;
/// … and the log keeps what they had applied that long ago.
const RETAIN_TIME: RetainTime = RetainTime { ms: 1_000 };
/// A sync that takes longer is a stall, and the other thread drives on.
const STALL_MS: u64 = 50;
/// Everything must be well this soon after the last fault.
const CALM_LIMIT_MS: u64 = 120_000;
/// Steps of one replica at one time: more would mean that it never waits.
const STEPS_LIMIT: usize = 1_000;

/// The place of a node: its address stays, its process and its files may be others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(pub u64);

impl Slot {
    fn address(self) -> String {
        format!("10.0.0.{}:4567", self.0)
    }
}

pub enum Event {
    Run {
        slot: Slot,
        process: u64,
    },
    Synced {
        slot: Slot,
        process: u64,
    },
    Apply {
        slot: Slot,
        process: u64,
    },
    FlushTables {
        slot: Slot,
        process: u64,
    },
    SstEnds {
        donor: Slot,
        process: u64,
        instance_id: Uuid,
        address: String,
        tables: Vec<Row>,
        upto: usize,
        is_whole: bool,
    },
    Start {
        slot: Slot,
    },
    Resume {
        slot: Slot,
    },
    LeaveTimeout {
        slot: Slot,
        process: u64,
    },
    Connect {
        one: Slot,
        other: Slot,
    },
    Down {
        at: Slot,
        from: Slot,
        link: u64,
    },
    Silence {
        one: Slot,
        other: Slot,
        link: u64,
    },
    Deliver {
        from: Slot,
        to: Slot,
        link: u64,
        frame: Frame,
    },
    Fault,
    Client,
}

/// What arrives at a process.
pub enum Arrival {
    Link(Box<links::Event>),
    Time,
}

pub struct World {
    pub settings: Settings,
    pub rng: Rng,
    pub now_ms: u64,
    pub nodes: BTreeMap<Slot, Node>,
    pub links: Links,
    pub invariants: Invariants,
    pub is_calm: bool,
    /// The next SSTs fail.
    pub failing_ssts: u64,
    processes: u64,
    reads: u64,
    /// HORTATOR_TRACE: prints what happens.
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
            is_calm: false,
            failing_ssts: 0,
            processes: 0,
            reads: 1 << 40,
            is_verbose: std::env::var_os("HORTATOR_TRACE").is_some(),
            queue: BTreeMap::new(),
            events: 0,
            settings,
        };
        for slot in (1..=world.settings.nodes + world.settings.witnesses).map(Slot) {
            let node = Node {
                replica: None,
                disk: Disk::default(),
                versions: if world.settings.has_upgrades { upgrades::PREVIOUS } else { ProtocolRange::SPOKEN },
                newest_until_ms: None,
                process: 0,
                inbox: Vec::new(),
                is_syncing: false,
                stopped_until_ms: 0,
                stalls_once: false,
                apply_ms: 0,
                wanted_weight: 1,
                is_apply_planned: false,
                run_at_ms: u64::MAX,
                is_leaving: false,
                started_ms: 0,
                pace: world.rng.between(950, 1050),
            };
            world.nodes.insert(slot, node);
            let in_ms = if slot == Slot(1) { 0 } else { world.rng.between(500, 4_000) };
            world.at(in_ms, Event::Start { slot });
        }
        world
    }

    /// Runs everything. Returns the number of ordered entries.
    pub fn run(mut self) -> u64 {
        self.at(5_000, Event::Fault);
        self.at(1, Event::Client);
        while self.now_ms < self.settings.faulty_ms {
            self.step();
        }
        self.end_faults();
        let limit_ms = self.now_ms + CALM_LIMIT_MS;
        let mut look_at_ms = self.now_ms + 500;
        loop {
            self.step();
            if self.now_ms >= look_at_ms {
                look_at_ms = self.now_ms + 500;
                if self.is_settled() {
                    break;
                }
                assert!(self.now_ms < limit_ms, "not all nodes are well:\n{}", self.describe());
            }
        }
        let all: Vec<Slot> = self.nodes.keys().copied().collect();
        all.into_iter().for_each(|slot| self.take_facts(slot));
        let hosts = self.nodes.values().filter_map(|node| node.replica.as_ref()).map(|replica| &replica.host);
        self.invariants.at_the_end(hosts)
    }

    pub fn at(&mut self, in_ms: u64, event: Event) {
        self.events += 1;
        self.queue.insert((self.now_ms + in_ms, self.events), event);
    }

    fn step(&mut self) {
        let ((at_ms, _), event) = self.queue.pop_first().expect("some clock always runs");
        self.now_ms = at_ms;
        match event {
            Event::Run { slot, process } if self.is_current(slot, process) => self.arrive(slot, Arrival::Time),
            Event::Synced { slot, process } if self.is_current(slot, process) => self.synced(slot),
            Event::Apply { slot, process } if self.is_current(slot, process) => self.apply(slot),
            Event::FlushTables { slot, process } if self.is_current(slot, process) => self.flush_tables(slot),
            Event::SstEnds { donor, process, instance_id, address, tables, upto, is_whole } => {
                self.end_sst((donor, process), instance_id, &address, (tables, upto), is_whole);
            }
            Event::Start { slot } if self.nodes[&slot].replica.is_none() => self.start(slot),
            Event::Resume { slot } if self.nodes[&slot].stopped_until_ms <= self.now_ms => {
                self.arrive(slot, Arrival::Time);
            }
            Event::LeaveTimeout { slot, process } if self.is_current(slot, process) => {
                if let Some(host) = self.host_mut(slot) {
                    host.commands.push(Command::Stop);
                    self.arrive(slot, Arrival::Time);
                }
            }
            Event::Connect { one, other } => self.connect(one, other),
            Event::Down { at, from, link } => self.down(at, from, link),
            Event::Silence { one, other, link } => self.silence(one, other, link),
            Event::Deliver { from, to, link, frame } => self.deliver(from, to, link, frame),
            Event::Fault => self.next_fault(),
            Event::Client => self.next_client(),
            _ => {}
        }
    }

    pub fn trace(&self, what: impl FnOnce() -> String) {
        if self.is_verbose {
            eprintln!("{} {}", self.now_ms, what());
        }
    }

    fn is_current(&self, slot: Slot, process: u64) -> bool {
        let node = &self.nodes[&slot];
        node.process == process && node.replica.is_some()
    }

    pub fn host(&self, slot: Slot) -> Option<&Process> {
        self.nodes[&slot].replica.as_ref().map(|replica| &replica.host)
    }

    pub fn host_mut(&mut self, slot: Slot) -> Option<&mut Process> {
        self.nodes.get_mut(&slot)?.replica.as_mut().map(|replica| &mut replica.host)
    }

    pub fn node_id(&self, slot: Slot) -> Option<NodeId> {
        self.host(slot).map(|host| host.hello.node)
    }

    /// The id of the node that `at` believes to be linked at that place.
    pub fn linked_id(&self, at: Slot, from: Slot) -> Option<NodeId> {
        self.host(at)?.linked.iter().copied().find(|node| slot_of(*node) == from)
    }

    fn clock_ms(&self, slot: Slot) -> u64 {
        let node = &self.nodes[&slot];
        (self.now_ms - node.started_ms) * node.pace / 1000
    }

    /// Something arrives at a process: now, or when it runs again.
    pub fn arrive(&mut self, slot: Slot, arrival: Arrival) {
        let now_ms = self.now_ms;
        let node = self.nodes.get_mut(&slot).expect("nodes stay");
        if node.replica.is_none() {
            return;
        }
        node.inbox.push(arrival);
        if node.stopped_until_ms <= now_ms && !node.is_syncing {
            self.run_node(slot);
        }
    }

    fn run_node(&mut self, slot: Slot) {
        let clock_ms = self.clock_ms(slot);
        let is_verbose = self.is_verbose;
        let node = self.nodes.get_mut(&slot).expect("nodes stay");
        let Some(replica) = node.replica.as_mut() else { return };
        (replica.host.now_ms, replica.host.is_verbose) = (clock_ms, is_verbose);
        let mut events = Vec::new();
        for arrival in std::mem::take(&mut node.inbox) {
            let Arrival::Link(event) = arrival else { continue };
            let event = *event;
            match &event {
                links::Event::Up(hello) => {
                    replica.host.linked.insert(hello.node);
                }
                links::Event::Down { node, .. } => {
                    replica.host.linked.remove(node);
                }
                _ => {}
            }
            // Each event is passed on before the next one changes the links.
            events.push(event);
            replica.on_link_events(std::mem::take(&mut events));
        }
        let process = node.process;
        for _ in 0..STEPS_LIMIT {
            let replica = self.nodes.get_mut(&slot).and_then(|node| node.replica.as_mut()).expect("it runs");
            match replica.run() {
                Pause::Stopped => return self.stopped(slot),
                Pause::Sync(upto) => {
                    if self.begin_sync(slot, upto) {
                        return self.take_output(slot);
                    }
                }
                Pause::Poll(timeout) => {
                    replica.host.advance_start();
                    if !replica.host.commands.is_empty() {
                        continue;
                    }
                    let in_ms = (timeout.as_millis() as u64).max(1);
                    let (at_ms, node) = (self.now_ms + in_ms, self.nodes.get_mut(&slot).expect("nodes stay"));
                    if at_ms < node.run_at_ms || node.run_at_ms <= self.now_ms {
                        node.run_at_ms = at_ms;
                        self.at(in_ms, Event::Run { slot, process });
                    }
                    return self.take_output(slot);
                }
            }
        }
        panic!("{slot:?} never waits:\n{}", self.describe());
    }

    /// A sync begins. True: the process waits for it; false: it has ended, or another thread drives on.
    fn begin_sync(&mut self, slot: Slot, upto: LogId) -> bool {
        let mut in_ms = self.rng.between(0, self.settings.sync_ms);
        let node = self.nodes.get_mut(&slot).expect("nodes stay");
        if std::mem::take(&mut node.stalls_once) {
            in_ms = self.rng.between(100, 4_000);
        }
        let replica = node.replica.as_mut().expect("it runs");
        replica.host.running_sync = Some(upto);
        if in_ms == 0 {
            let synced = replica.host.end_sync().expect("it runs");
            replica.on_synced(synced);
            return false;
        }
        node.is_syncing = in_ms <= STALL_MS;
        replica.host.is_disk_stalled = !node.is_syncing && self.rng.percent(50);
        let (is_waiting, process) = (node.is_syncing, node.process);
        self.at(in_ms, Event::Synced { slot, process });
        is_waiting
    }

    fn synced(&mut self, slot: Slot) {
        let now_ms = self.now_ms;
        let node = self.nodes.get_mut(&slot).expect("nodes stay");
        if node.stopped_until_ms > now_ms {
            let (in_ms, process) = (node.stopped_until_ms - now_ms, node.process);
            return self.at(in_ms, Event::Synced { slot, process });
        }
        node.is_syncing = false;
        let replica = node.replica.as_mut().expect("it runs");
        replica.host.is_disk_stalled = false;
        if let Some(synced) = replica.host.end_sync() {
            replica.on_synced(synced);
        }
        self.run_node(slot);
    }

    /// Tells the invariants. Also before a crash: what a process has applied while it waited for its disk, others may get
    /// by SST.
    fn take_facts(&mut self, slot: Slot) {
        let Some(host) = self.host_mut(slot) else { return };
        let (facts, generation) = (std::mem::take(&mut host.facts), host.hello.lineage.generation());
        for fact in facts {
            if let Fact::Raises { protocol, voters } = &fact {
                self.check_raise(slot, *protocol, voters);
            }
            self.invariants.observe(slot, generation, fact);
        }
    }

    /// Sends frames, tells the invariants, and plans the applying.
    fn take_output(&mut self, slot: Slot) {
        self.take_facts(slot);
        let Some(host) = self.host_mut(slot) else { return };
        let outbox = std::mem::take(&mut host.outbox);
        let has_new_lineage = std::mem::take(&mut host.has_new_lineage);
        let has_new_protocol = std::mem::take(&mut host.has_new_protocol);
        let (has_work, has_left) = (!host.queue.is_empty(), host.status.has_left);
        for (to, frame) in outbox {
            self.send(slot, slot_of(to), frame);
        }
        if has_new_lineage {
            self.check_generations(slot);
        }
        if has_new_protocol {
            self.check_versions(slot);
        }
        let node = self.nodes.get_mut(&slot).expect("nodes stay");
        let process = node.process;
        if has_work && !std::mem::replace(&mut node.is_apply_planned, true) {
            let apply_ms = node.apply_ms;
            let in_ms = self.rng.between(0, 2 + apply_ms);
            self.at(in_ms, Event::Apply { slot, process });
        }
        if has_left && self.nodes[&slot].is_leaving {
            self.at(1, Event::LeaveTimeout { slot, process });
        }
    }

    fn apply(&mut self, slot: Slot) {
        let now_ms = self.now_ms;
        let node = self.nodes.get_mut(&slot).expect("nodes stay");
        let process = node.process;
        if node.stopped_until_ms > now_ms {
            let in_ms = node.stopped_until_ms - now_ms;
            return self.at(in_ms, Event::Apply { slot, process });
        }
        node.is_apply_planned = false;
        let replica = node.replica.as_mut().expect("it runs");
        match replica.host.apply_next() {
            Applied::Done => self.arrive(slot, Arrival::Time),
            Applied::Sends => self.begin_sst(slot),
            Applied::Nothing => {
                // It waits for a vote, or has failed.
                node.is_apply_planned = true;
                self.at(20, Event::Apply { slot, process });
                self.arrive(slot, Arrival::Time);
            }
        }
    }

    fn flush_tables(&mut self, slot: Slot) {
        let process = self.nodes[&slot].process;
        if self.nodes[&slot].stopped_until_ms <= self.now_ms
            && let Some(host) = self.host_mut(slot)
        {
            host.disk.flushed_tables = host.disk.tables.len();
        }
        self.at(TABLES_FLUSH_MS, Event::FlushTables { slot, process });
    }

    fn next_client(&mut self) {
        let every_ms = if self.is_calm { 500 } else { self.settings.client_every_ms };
        let again_ms = self.rng.between(1, 2 * every_ms);
        self.at(again_ms, Event::Client);
        let up: Vec<Slot> = self.nodes.keys().copied().filter(|slot| self.host(*slot).is_some()).collect();
        let Some(slot) = self.rng.one_of(&up) else { return };
        if self.nodes[&slot].stopped_until_ms > self.now_ms || self.settings.is_witness(slot) {
            return;
        }
        let is_read = self.rng.percent(20);
        self.reads += 1;
        let request_id = self.reads;
        let host = self.host_mut(slot).expect("it is up");
        if is_read && !host.is_single_node && host.gate.state() == GateState::Open {
            host.commands.push(Command::ReadIndex { request_id });
            self.invariants.read_starts(request_id);
        } else {
            host.write();
        }
        self.arrive(slot, Arrival::Time);
    }
}

/// Node ids of one place differ by a multiple of this.
const PLACES: u64 = 100;

pub fn slot_of(node: NodeId) -> Slot {
    Slot(node.0 % PLACES)
}
