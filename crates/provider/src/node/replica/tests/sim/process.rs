//! A process: the host of a simulated replica, with the node's total order, tables and clients.

mod local_node;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hortator_core::Failure;

use super::memory_log::MemoryLog;
use super::server::Work;
use super::upgrades;
use crate::consensus::NodeId;
use crate::consensus::hard_state::{self, HardState};
use crate::consensus::lineage::Lineage;
use crate::consensus::raft::{Append, LogId, Message, Term};
use crate::consensus::wire::{DonationStatus, Frame, Hello};
use crate::entry::{self, Entry};
use crate::gate::{Gate, GateState};
use crate::identity::{Gtid, Uuid};
use crate::log::{self, Index, LogRecords, Shared};
use crate::node::TotalOrder;
use crate::node::inconsistency::Inconsistency;
use crate::node::replica::{
    Clock, ClusterStatus, Command, EntryLog, FlowEvent, LocalNode, OrderedEntry, RaftStatus, SingleNodeEnd, SstResult,
    Synced, Transport, Waiters,
};
use crate::node::supervisor::Supervisor;
use crate::node::total_order::takes_seqno;
use crate::node::witness::WitnessOrder;
use crate::node_state::StateEvent;
use crate::protocol::ProtocolVersion;
use crate::saved_state::SavedState;
use crate::seeds::Rng;
use crate::server::{CallbackError, Level, Member};
use crate::vote_result::{ApplyError, VoteResult};

/// What a seqno has changed in the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// Applied: member ID and request id.
    Applied(Uuid, u64),
    /// Failed certification.
    Failed,
    /// A vote has skipped it.
    Skipped,
    View,
    /// Half of an SST.
    Garbage,
}

/// What survives a crash of the process.
#[derive(Clone, Default)]
pub struct Disk {
    pub hard_state: Option<HardState>,
    pub log: Option<MemoryLog>,
    pub saved: Option<SavedState>,
    /// The first is that of seqno 1.
    pub tables: Vec<Row>,
    /// The engine has flushed up to this seqno.
    pub flushed_tables: usize,
}

/// What an invariant wants to know.
#[derive(Clone, Debug)]
pub enum Fact {
    Leads {
        term: Term,
    },
    /// A leader has appended the first entry of a higher protocol version.
    Raises {
        protocol: ProtocolVersion,
        voters: Vec<NodeId>,
    },
    Ordered {
        index: Index,
        seqno: i64,
        protocol: ProtocolVersion,
        bytes: Vec<u8>,
        passed: bool,
    },
    Applied {
        seqno: i64,
        row: Row,
    },
    Confirmed {
        seqno: i64,
        row: Row,
    },
    ReadAt {
        request_id: u64,
        seqno: i64,
    },
    /// A write set of a client that waits has failed, since a commit cut had purged what it may conflict with.
    TooOld {
        seqno: i64,
        failure: Failure,
    },
}

/// An SST that this process sends.
#[derive(Clone, Debug)]
pub struct Donation {
    pub instance_id: Uuid,
    pub address: String,
    pub status: DonationStatus,
}

pub struct Process {
    pub disk: Disk,
    pub rng: Rng,
    pub now_ms: u64,
    pub hello: Hello,
    pub linked: BTreeSet<NodeId>,
    pub outbox: Vec<(NodeId, Frame)>,
    pub dialled: BTreeSet<String>,
    pub has_new_lineage: bool,
    pub has_new_protocol: bool,
    pub running_sync: Option<LogId>,
    ended_sync: Option<Synced>,
    pub is_disk_stalled: bool,
    pub commands: Vec<Command>,
    pub status: ClusterStatus,
    pub raft_status: RaftStatus,
    pub order: Option<TotalOrder>,
    pub is_single_node: bool,
    pub leader_term: Term,
    pub gate: Gate,
    pub member_id: Uuid,
    pub is_caught_up: bool,
    pub queue: VecDeque<Work>,
    /// Request ids of write sets whose clients wait for the commit.
    pub waiting: BTreeSet<u64>,
    /// Last-seen seqnos of the proposals whose clients wait for their seqnos, by request id.
    pub pending_proposals: BTreeMap<u64, i64>,
    pub next_request_id: u64,
    pub inconsistency: Inconsistency,
    /// The server cannot apply this seqno.
    pub fails_at: Option<i64>,
    /// The nodes vote on it.
    pub has_asked: bool,
    pub sst_result: Option<SstResult>,
    pub donations: Vec<Donation>,
    pub is_donating: bool,
    /// A partition has ended the script of the SST.
    pub is_sst_cut: bool,
    pub supervisor: Supervisor,
    /// Its start is over: it orders entries.
    pub is_running: bool,
    pub failed: Option<String>,
    pub facts: Vec<Fact>,
    pub is_verbose: bool,
    /// `pc.ignore_sb`.
    pub ignores_quorum: bool,
    /// `pc.weight`
    pub wanted_weight: u8,
    /// The node leaves, and orders nothing more.
    pub is_held: bool,
    /// This process is a witness: it has no server and no tables.
    pub witness: Option<WitnessOrder>,
}

impl Process {
    pub fn new(disk: Disk, hello: Hello, member_id: Uuid, rng: Rng, is_witness: bool) -> Self {
        let resolved_upto = disk.saved.map_or(-1, |saved| saved.resolved_upto);
        let gate = Gate::default();
        let _ = gate.shift(StateEvent::Connected);
        Self {
            disk,
            rng,
            now_ms: 0,
            hello,
            linked: BTreeSet::new(),
            outbox: Vec::new(),
            dialled: BTreeSet::new(),
            has_new_lineage: false,
            has_new_protocol: false,
            running_sync: None,
            ended_sync: None,
            is_disk_stalled: false,
            commands: Vec::new(),
            status: ClusterStatus::default(),
            raft_status: RaftStatus::default(),
            order: None,
            is_single_node: false,
            leader_term: Term(0),
            gate,
            member_id: if is_witness { Uuid::UNDEFINED } else { member_id },
            is_caught_up: false,
            queue: VecDeque::new(),
            waiting: BTreeSet::new(),
            pending_proposals: BTreeMap::new(),
            next_request_id: 1,
            inconsistency: Inconsistency::new(resolved_upto),
            fails_at: None,
            has_asked: false,
            sst_result: None,
            donations: Vec::new(),
            is_donating: false,
            is_sst_cut: false,
            supervisor: Supervisor::default(),
            is_running: is_witness,
            failed: None,
            facts: Vec::new(),
            is_verbose: false,
            ignores_quorum: false,
            wanted_weight: 1,
            is_held: false,
            witness: is_witness.then(WitnessOrder::default),
        }
    }

    pub fn released(&self) -> i64 {
        self.disk.tables.len() as i64
    }

    pub fn save(&mut self, saved: SavedState) {
        let resolved_upto = self.inconsistency.resolved_upto();
        self.disk.saved = Some(SavedState { resolved_upto, lineage: self.hello.lineage, ..saved });
    }

    pub fn random(&mut self) -> Uuid {
        let (high, low) = (self.rng.next(), self.rng.next());
        Uuid((u128::from(high) << 64 | u128::from(low)).to_be_bytes())
    }

    fn memory_log(&mut self) -> &mut MemoryLog {
        self.disk.log.as_mut().expect("a node without a log changes none")
    }

    /// The sync that ran has ended. None: the replica has waited for it already.
    pub fn end_sync(&mut self) -> Option<Synced> {
        let upto = self.running_sync.take()?;
        let result = self.disk.log.as_mut().map_or(Ok(()), |log| log.sync(upto.index));
        Some((upto, result))
    }
}

impl Clock for Process {
    fn now(&self) -> Duration {
        Duration::from_millis(self.now_ms)
    }

    fn random_uuid(&mut self) -> io::Result<Uuid> {
        Ok(self.random())
    }
}

impl EntryLog for Process {
    fn records(&self) -> Option<impl LogRecords> {
        self.disk.log.clone()
    }

    fn has_log(&self) -> bool {
        self.disk.log.is_some()
    }

    fn bounds(&self) -> Option<(Index, Index)> {
        self.disk.log.as_ref().map(|log| (log.first(), log.last()))
    }

    fn flushed(&self) -> Index {
        self.disk.log.as_ref().map_or(Index(0), MemoryLog::durable)
    }

    fn entries(&self, first: Index, limit_bytes: usize) -> Result<Vec<Shared>, log::Error> {
        self.disk.log.as_ref().map_or(Ok(Vec::new()), |log| log.entries_from(first, limit_bytes))
    }

    fn throttle(&self) -> Result<(), log::Error> {
        self.disk.log.as_ref().map_or(Ok(()), MemoryLog::throttle)
    }

    fn append(&mut self, bytes: &[u8]) -> Result<Index, log::Error> {
        upgrades::on_append(self, bytes);
        self.memory_log().append(bytes)
    }

    fn truncate(&mut self, from: Index) -> Result<(), log::Error> {
        self.memory_log().truncate(from);
        Ok(())
    }

    fn abandon_tail(&mut self, from: Index) -> Result<(), log::Error> {
        self.memory_log().abandon_tail(from);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), log::Error> {
        let last = self.memory_log().last();
        self.memory_log().sync(last)
    }

    fn flush_to_disk(&mut self) -> Result<(), log::Error> {
        self.flush()
    }

    fn take_synced(&mut self) -> Option<Synced> {
        self.ended_sync.take()
    }

    fn wait_for_synced(&mut self) -> Synced {
        self.end_sync().expect("the replica waits for a sync that runs")
    }

    fn is_backed_up(&self) -> bool {
        self.is_disk_stalled
    }

    fn purge(&mut self, below: Index) {
        self.memory_log().purge(below);
    }

    fn confirm_tail(&mut self) -> Result<(), log::Error> {
        self.memory_log().confirm_tail();
        Ok(())
    }

    fn install_snapshot(&mut self, history_uuid: Uuid, index: Index) -> Result<(), log::Error> {
        self.disk.log = Some(MemoryLog::new(history_uuid, index));
        self.witness = self.witness.as_ref().map(|_| WitnessOrder::default());
        Ok(())
    }

    fn save_hard_state(&mut self, hard_state: &HardState) -> Result<(), hard_state::Error> {
        assert!(hard_state.protocol <= self.hello.versions.newest, "{} cannot read its hard state", self.hello.name);
        self.disk.hard_state = Some(hard_state.clone());
        Ok(())
    }
}

impl Transport for Process {
    fn send(&mut self, to: NodeId, frame: &Frame) -> bool {
        let is_linked = self.linked.contains(&to);
        if is_linked {
            self.outbox.push((to, frame.clone()));
        }
        is_linked
    }

    fn send_append(&mut self, to: NodeId, append: &Append, payloads: &[Arc<[u8]>]) -> bool {
        let payloads = payloads.iter().map(|payload| payload.to_vec()).collect();
        self.send(to, &Frame::Raft { message: Message::Append(append.clone()), payloads })
    }

    fn queued_bytes(&self, _: NodeId) -> usize {
        0
    }

    fn flush_links(&mut self) {}

    fn is_linked(&self, node: NodeId) -> bool {
        self.linked.contains(&node)
    }

    fn dial(&mut self, address: &str) {
        self.dialled.insert(address.to_owned());
    }

    fn hang_up(&mut self, address: &str) {
        self.dialled.remove(address);
    }

    fn isolate(&mut self, _: bool) {}

    fn own_address(&self) -> String {
        self.hello.address.clone()
    }

    fn set_lineage(&mut self, history_uuid: Uuid, lineage: Lineage) {
        (self.hello.history_uuid, self.hello.lineage) = (history_uuid, lineage);
        self.has_new_lineage = true;
    }

    fn set_protocol(&mut self, version: ProtocolVersion) {
        self.hello.in_force = Some(version);
        self.has_new_protocol = true;
    }
}

impl Waiters for Process {
    fn take_commands(&mut self) -> Vec<Command> {
        std::mem::take(&mut self.commands)
    }

    fn defer_command(&mut self, command: Command) {
        self.commands.push(command);
    }

    fn set_status(&mut self, status: ClusterStatus) {
        self.status = status;
    }

    fn set_raft_status(&mut self, status: RaftStatus) {
        self.raft_status = status;
    }

    fn oldest_seen(&self) -> Option<i64> {
        self.pending_proposals.values().copied().min()
    }

    fn refuse_proposal(&mut self, request_id: u64) {
        self.pending_proposals.remove(&request_id);
        self.waiting.remove(&request_id);
    }

    fn has_victim(&self) -> bool {
        false
    }

    fn answer_read_index(&mut self, request_id: u64, seqno: Option<i64>) {
        if let Some(seqno) = seqno {
            self.facts.push(Fact::ReadAt { request_id, seqno });
        }
    }

    fn refuse_read_requests(&mut self) {}

    fn set_sst_result(&mut self, result: SstResult) {
        if self.receives() {
            self.sst_result.get_or_insert(result);
        }
    }
}
