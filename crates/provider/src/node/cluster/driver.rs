//! The Raft driver: owns the links, the Raft state machine and the end of the log.
//!
//! One round: commands of the server's threads; the actions of Raft until there are none, with one message to each node
//! and one sync of the log; ordering of committed entries; the leader's duties; then a poll of the links, and the
//! events from it. A sync that stalls does not stop the rounds (`relay`): the node answers and sends heartbeats, and
//! what it appends meanwhile is durable with the next sync.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::bootstrap::Excluded;
use super::flow_control::{FlowControl, HeldProposal};
use super::joiner::JoinRequest;
use super::joiner_sst::Donor;
use super::leader::LeaderDuties;
use super::relay::{Relay, Synced};
use super::retention::Retention;
use super::{ClusterHandle, ClusterStatus, Command};
use crate::consensus::NodeId;
use crate::consensus::hard_state::HardState;
use crate::consensus::links::Links;
use crate::consensus::proposals::{Proposals, SessionId};
use crate::consensus::raft::{Action, Append, LogId, Raft, Timing};
use crate::consensus::wire::{BATCH_LIMIT_BYTES, Frame, Hello, MemberStatus};
use crate::entry;
use crate::identity::Uuid;
use crate::log;
use crate::log::{DiskLog, Index};
use crate::node::Node;

/// Interval of status reports to the leader.
pub(super) const STATUS_INTERVAL_MS: u64 = 300;

/// A single node without links only purges its log, and needs no more than this.
const SINGLE_NODE_INTERVAL_MS: u64 = 1_000;

/// Limit of queued bytes of entries for one node.
const IN_FLIGHT_LIMIT_BYTES: usize = 16 << 20;

/// Another node.
#[derive(Debug)]
pub(super) struct Peer {
    pub hello: Hello,
    /// None: the node is linked. Else since when it is not.
    pub unlinked_since_ms: Option<u64>,
    /// Its last status report, and the time.
    pub status: Option<(MemberStatus, u64)>,
    /// It wants to leave.
    pub is_leaving: bool,
    /// Its last SST request, and the donor chosen for it.
    pub assigned_donor: Option<(Vec<u8>, NodeId)>,
    /// Its log begins after this entry: the last snapshot that it got from this leader.
    pub snapshot: Option<Index>,
}

/// The next step of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Commands,
    Duties,
    Poll,
}

/// Why [`RaftDriver::run_until_sync`] returns.
pub(super) enum Pause {
    /// The log must be synced up to there.
    Sync(Arc<DiskLog>, LogId),
    /// The driver has ended.
    Stopped,
}

/// The Raft driver.
pub(super) struct RaftDriver {
    pub(super) node: Arc<Node>,
    pub(super) cluster: Arc<ClusterHandle>,
    pub(super) links: Links,
    pub(super) raft: Raft,
    pub(super) proposals: Proposals,
    pub(super) session: SessionId,
    /// Payloads of own proposals with an open outcome.
    pub(super) payloads: HashMap<u64, Vec<u8>>,
    /// Member IDs of this node since the thread started.
    pub(super) own_member_ids: Vec<Uuid>,
    pub(super) hard_state: HardState,
    pub(super) peers: BTreeMap<NodeId, Peer>,
    /// The addresses in `wsrep_cluster_address`.
    pub(super) hosts: Vec<String>,
    /// Entries up to here are ordered. None: ordering has not started.
    pub(super) ordered_index: Option<Index>,
    /// Entries up to here were scanned for vote results, while there was no room to order them.
    pub(super) scanned_upto: Index,
    pub(super) status: ClusterStatus,
    /// The last applied seqno while the node was healthy: turns that end after a failure do not count.
    pub(super) applied: i64,
    /// The voters are not in the log yet.
    pub(super) has_uncommitted_bootstrap: bool,
    pub(super) leader_duties: Option<LeaderDuties>,
    pub(super) flow_control: FlowControl,
    pub(super) retention: Retention,
    pub(super) purge_at_ms: u64,
    /// Donors that this leader has chosen: when, and for which address.
    pub(super) donors: BTreeMap<NodeId, (u64, String)>,
    /// The end of the log needs a sync.
    pub(super) has_unsynced: bool,
    /// The other thread syncs the log.
    pub(super) is_syncing: bool,
    pub(super) relay: Arc<Relay<Self>>,
    pub(super) phase: Phase,
    /// Reads that wait for a round of heartbeats: round, request id, and the asking node.
    pub(super) pending_reads: Vec<(u64, u64, Option<NodeId>)>,
    /// Own reads that wait until entries up to the index are ordered.
    pub(super) ready_reads: Vec<(Index, u64)>,
    /// The request to the leader, until it replies.
    pub(super) join_request: Option<JoinRequest>,
    /// The donor of this node.
    pub(super) donor: Option<Donor>,
    /// The last refusal, logged once.
    pub(super) last_refusal: String,
    pub(super) requested_ms: u64,
    /// As leader: since when it cannot order committed entries.
    pub(super) stuck_since_ms: Option<u64>,
    pub(super) is_leaving: bool,
    pub(super) reported: Option<(MemberStatus, u64)>,
    /// Actions to run: those from before the thread started, and those of the last step.
    pub(super) pending_actions: Vec<Action>,
    /// Election and heartbeat intervals.
    pub(super) timing: Timing,
    pub(super) leader_seen_ms: u64,
    /// The leader's commit index in its first message.
    pub(super) first_leader_commit: Option<Index>,
    /// A node of a cluster that was bootstrapped from this one's was met.
    pub(super) excluded: Option<Excluded>,
    /// The node has had clients since the thread started.
    pub(super) had_clients: bool,
    pub(super) started: Instant,
    pub(super) is_stopped: bool,
}

impl RaftDriver {
    pub(super) fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn own_node(&self) -> NodeId {
        self.hard_state.node
    }

    /// Drives until the driver ends (true), or the other thread has taken it (false).
    pub(super) fn drive(mut self: Box<Self>) -> bool {
        loop {
            let (log, upto) = match self.run_until_sync() {
                Pause::Sync(log, upto) => (log, upto),
                Pause::Stopped => return true,
            };
            let (relay, cluster) = (Arc::clone(&self.relay), Arc::clone(&self.cluster));
            // The log is dropped with the function: a joiner replaces it, and nobody else may hold it then.
            let Some((driver, synced)) = relay.sync(self, upto, cluster.waker(), move || log.flush(upto.index)) else {
                return false;
            };
            self = driver;
            self.on_synced(synced);
        }
    }

    /// Runs the steps of rounds until the log must be synced. One sync for everything appended in a step.
    fn run_until_sync(&mut self) -> Pause {
        while !self.is_stopped {
            if let Some(synced) = self.relay.take_synced() {
                self.on_synced(synced);
            }
            let mut actions = std::mem::take(&mut self.pending_actions);
            self.run_actions(&mut actions, None);
            // What the links bring, and clients' commands, share one sync.
            if self.has_unsynced && self.phase != Phase::Commands {
                self.raft.broadcast_append(&mut actions);
                self.run_actions(&mut actions, None);
                if let Some(log) = self.node.log().filter(|_| !self.is_syncing && !self.is_stopped) {
                    (self.has_unsynced, self.is_syncing) = (false, true);
                    // The other nodes write at the same time.
                    self.links.flush();
                    return Pause::Sync(log, self.raft.last());
                }
            }
            match self.phase {
                Phase::Commands => {
                    self.handle_commands(&mut actions);
                    self.raft.tick(self.now_ms(), &mut actions);
                    self.tick_proposals(&mut actions);
                    self.phase = Phase::Duties;
                }
                Phase::Duties => {
                    self.order_committed(&mut actions);
                    self.run_leader_duties(&mut actions);
                    self.phase = Phase::Poll;
                }
                Phase::Poll => {
                    self.report_status();
                    self.purge_log();
                    self.poll_links(&mut actions);
                    self.phase = Phase::Commands;
                }
            }
            self.pending_actions = actions;
        }
        self.links.flush();
        // The next connect assumes that the whole log is durable.
        self.sync_log();
        Pause::Stopped
    }

    fn poll_links(&mut self, actions: &mut Vec<Action>) {
        if self.is_stopped {
            return;
        }
        let mut events = Vec::new();
        self.links.poll(self.poll_timeout(), &mut events);
        for event in events {
            if self.is_stopped {
                break;
            }
            self.on_event(event, actions);
        }
    }

    /// A sync has ended.
    pub(super) fn on_synced(&mut self, (upto, result): Synced) {
        self.is_syncing = false;
        match result {
            Ok(()) => self.raft.on_durable(upto, &mut self.pending_actions),
            // A leader's log has other entries there: they were truncated.
            Err(log::Error::Dropped { .. }) => {}
            Err(error) => self.fail(&format!("the log cannot be written: {error}")),
        }
    }

    /// Syncs the whole log without a report to Raft, which ends here or restarts. False: it failed.
    pub(super) fn sync_log(&mut self) -> bool {
        self.has_unsynced = false;
        let Some(log) = self.node.log() else { return true };
        let result = log.flush(log.last());
        if let Err(error) = &result {
            self.fail(&format!("the log cannot be written: {error}"));
        }
        result.is_ok()
    }

    /// How long there is nothing to do without an event.
    pub(super) fn poll_timeout(&self) -> Duration {
        let now = self.now_ms();
        let is_busy = !self.status.is_single_node || self.status.is_linked || self.is_leaving;
        let chores = if is_busy { now + STATUS_INTERVAL_MS / 3 } else { now + SINGLE_NODE_INTERVAL_MS };
        let has_more = self.ordered_index.is_some_and(|taken| taken < self.status.apply_bound)
            && self.node.can_order(&self.cluster);
        if has_more {
            return Duration::ZERO;
        }
        let deadlines = [self.raft.deadline_ms(), self.duties_deadline_ms()];
        let deadline = deadlines.into_iter().flatten().fold(chores, u64::min);
        Duration::from_millis(deadline.saturating_sub(now))
    }

    pub(super) fn handle_commands(&mut self, actions: &mut Vec<Action>) {
        let mut steps = Vec::new();
        for command in self.cluster.take_commands() {
            match command {
                Command::Propose { .. } if self.status.is_single_node => {
                    // The command is from before the single-node mode: clients' threads append to the log now.
                    self.leave_single_node();
                    self.cluster.send_and_wake(command);
                }
                Command::Propose { request_id, bytes } => {
                    if let Some(held) = self.hold_if_paused(HeldProposal::Own { request_id, bytes }) {
                        self.propose_own(held, &mut steps);
                    }
                }
                Command::ReadIndex { request_id } => self.on_read_index(request_id, None, actions),
                Command::SendJoinRequest(join_request) => {
                    self.join_request = Some(join_request);
                    self.requested_ms = 0;
                }
                Command::OrderFrom(index) => self.ordered_index = Some(Index(index.0 - 1)),
                Command::Leave => self.is_leaving = true,
                Command::Isolate(is_isolated) => self.links.isolate(is_isolated),
                Command::Bootstrap => self.bootstrap("pc.bootstrap", actions),
                Command::Recheck => {}
                Command::Stop => self.is_stopped = true,
            }
        }
        self.run_steps(steps, actions);
    }

    /// Runs actions until there are none and everything appended is durable, for rare changes that need that at once.
    pub(super) fn run_actions_and_sync(&mut self, actions: &mut Vec<Action>) {
        loop {
            self.run_actions(actions, None);
            if !self.has_unsynced || self.is_stopped {
                return;
            }
            self.raft.broadcast_append(actions);
            self.run_actions(actions, None);
            self.sync_appended(actions);
        }
    }

    /// Runs actions until there are none, without the sync. `arrived`: the payloads of a received append.
    pub(super) fn run_actions(&mut self, actions: &mut Vec<Action>, mut arrived: Option<Vec<Vec<u8>>>) {
        while !actions.is_empty() {
            for action in std::mem::take(actions) {
                // After a failed write, later entries must not take its place.
                if self.is_stopped {
                    return;
                }
                self.run_action(action, &mut arrived, actions);
            }
        }
    }

    /// One sync for everything appended.
    fn sync_appended(&mut self, actions: &mut Vec<Action>) {
        self.has_unsynced = false;
        let Some(log) = self.node.log() else { return };
        let last = self.raft.last();
        // The other nodes write at the same time.
        self.links.flush();
        match log.flush(last.index) {
            Ok(()) => self.raft.on_durable(last, actions),
            Err(error) => self.fail(&format!("the log cannot be written: {error}")),
        }
    }

    pub(super) fn run_action(&mut self, action: Action, arrived: &mut Option<Vec<Vec<u8>>>, actions: &mut Vec<Action>) {
        match action {
            Action::SaveHardState { term, voted_for } => {
                (self.hard_state.term, self.hard_state.voted_for) = (term, voted_for);
                self.save_hard_state();
            }
            Action::Truncate { from } => {
                let result = self.node.log().map_or(Ok(()), |log| log.truncate(from));
                if let Err(error) = result {
                    self.fail(&format!("the uncommitted end of the log cannot be truncated: {error}"));
                }
            }
            Action::WriteEntries { skip, first } => {
                let Some(log) = self.node.log() else { return };
                if log.last().next() != first {
                    return self.fail(&format!(
                        "the log ends at index {}, but the next entry is for index {first}",
                        log.last()
                    ));
                }
                for bytes in arrived.take().unwrap_or_default().iter().skip(skip) {
                    if let Err(error) = log.throttle().and_then(|()| log.append(&[bytes])) {
                        self.fail(&format!("the log cannot be appended to: {error}"));
                        return;
                    }
                }
                self.has_unsynced = true;
            }
            Action::Send { to, message } => {
                self.links.send(to, &Frame::Raft { message, payloads: Vec::new() });
            }
            Action::SendEntries { to, term, prev_log_id: before, first, upto, leader_commit: committed, round } => {
                let append = Append { term, prev_log_id: before, leader_commit: committed, round, entries: Vec::new() };
                self.send_entries(to, append, (first, upto), actions);
            }
            Action::Committed { upto } => self.status.apply_bound = upto,
            Action::LeaderChanged { term, leader } => self.on_leader_changed(term, leader, actions),
            Action::BecameLeader { term } => self.on_became_leader(term),
            Action::Recovered => {
                let result = self.node.log().map_or(Ok(()), |log| log.confirm_tail());
                match result {
                    Ok(()) => self.node.note("the log has no gap any more: this node votes as usual"),
                    Err(error) => self.fail(&format!("the log cannot be written: {error}")),
                }
            }
            Action::HistoryMismatch { here, leader } => self.fail(&format!(
                "entry {} is committed in the log of this node with {:?}, but the leader's log has {leader:?} there: \
                 one of the two has lost confirmed transactions, or belongs to another cluster. Compare the data; then \
                 move the files hortator* out of the data folder of the node that is to give up its own, and start it: \
                 it joins again",
                here.index, here.term
            )),
            Action::SnapshotRequired { node, .. } => {
                self.links.send(node, &Frame::SnapshotRequired);
            }
            Action::ReadIndexReady { round, upto } => {
                let (ready, rest) = self.pending_reads.drain(..).partition(|(of, ..)| *of <= round);
                self.pending_reads = rest;
                let ready: Vec<(u64, u64, Option<NodeId>)> = ready;
                for (_, request_id, asking_node) in ready {
                    match asking_node {
                        None => self.ready_reads.push((upto, request_id)),
                        Some(node) => {
                            self.links.send(node, &Frame::ReadIndexReady { request_id, index: upto });
                        }
                    }
                }
            }
        }
    }

    pub(super) fn save_hard_state(&mut self) {
        self.hard_state.committed = self.status.apply_bound.max(self.hard_state.committed);
        if let Err(error) = self.hard_state.write(&self.node.setup.data_dir) {
            self.fail(&error.to_string());
        }
        self.node.update_grastate();
    }

    /// Sends as many entries as fit into one message; the rest follows while the send queue has room.
    fn send_entries(
        &mut self,
        to: NodeId,
        mut append: Append,
        (first, upto): (Index, Index),
        actions: &mut Vec<Action>,
    ) {
        if self.links.queued_bytes(to) > IN_FLIGHT_LIMIT_BYTES {
            // The next reply from the node continues.
            self.raft.on_partial_send(to, append.prev_log_id.index);
            return;
        }
        let Some(log) = self.node.log() else { return };
        let entries = match log.entries(first, BATCH_LIMIT_BYTES) {
            Ok(entries) => entries,
            Err(error) => {
                // Nothing was sent: the next reply from the node tries again.
                self.raft.on_partial_send(to, append.prev_log_id.index);
                self.node.note(&format!("entries from index {first} on cannot be sent to {to}: {error}"));
                return;
            }
        };
        let mut payloads = Vec::with_capacity(entries.len());
        for (index, bytes) in entries.into_iter().take_while(|(index, _)| *index <= upto) {
            let Ok((_, shape)) = entry::meta(&bytes) else {
                self.fail(&format!("entry {index} of the log is not valid"));
                return;
            };
            append.entries.push(shape);
            payloads.push(bytes);
        }
        let sent = Index(first.0 + payloads.len() as u64 - 1);
        if self.links.send_append(to, &append, &payloads) && sent < upto {
            self.raft.on_partial_send(to, sent);
            self.raft.resume_sending(to, actions);
        }
    }

    pub(super) fn fail(&mut self, text: &str) {
        self.node.fail(text);
        self.is_stopped = true;
    }
}
