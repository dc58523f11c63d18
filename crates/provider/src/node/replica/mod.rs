//! The replica: everything that a node decides about its cluster, without I/O.
//!
//! ```text
//!   inputs                                     Replica                                    its host (`host`)
//!   commands of the server's threads ──► ┌─────────────────────────┐ ──► append, truncate, flush, purge   log
//!   events and frames of the links   ──► │ one thread at a time,   │ ──► send, dial                       links
//!   ends of syncs                    ──► │ no file, socket, clock  │ ──► order a committed entry          tables
//!   time                             ──► └─────────────────────────┘ ──► answer, status                   clients
//! ```
//!
//! The same code runs in the process and in the simulator (`tests/sim`): only the host differs. So a replica is as
//! deterministic as its host. [`Replica::run`] runs rounds until it needs its driver: to sync the log, to wait for the
//! links, or to end. One round: commands; the actions of Raft until there are none, with one message to each node and
//! one sync of the log; ordering of committed entries; the leader's duties; then a poll of the links, and the events
//! from it. A sync that stalls does not stop the rounds: the node answers and sends heartbeats, and what it appends
//! meanwhile is durable with the next sync.
//!
//! | file | state | what it decides |
//! |---|---|---|
//! | `mod` | [`Round`] | the order of a round |
//! | `input`, `status`, `host` | | what goes in, and what comes out |
//! | `start` | | the state at the start, from the hard state and the log |
//! | `dispatch` | | which part gets an event or a frame |
//! | `raft_actions` | | carries out what Raft asks for |
//! | `known_node` | [`Peer`] | what is known of another node |
//! | `proposals` | [`OwnProposals`] | how a proposal enters the log |
//! | `reads` | [`Reads`] | linearizable reads |
//! | `committed_entries` | [`Ordered`] | which entries are ordered, and when |
//! | `flow_control` | [`FlowControl`] | when the leader appends nothing more |
//! | `catching_up` | [`CatchingUp`] | when it does so for a node outside the view |
//! | `retention`, `purge` | [`Retention`] | what must stay in the log, and what is purged |
//! | `leader` | [`LeaderDuties`] | when which duty runs; commit cuts |
//! | `commit_cut` | | up to which seqno a commit cut may go |
//! | `view`, `next_view` | | the members of the next view |
//! | `membership` | | the voters |
//! | `upgrade` | | the protocol version in force |
//! | `leave` | [`Leave`] | how a node, or a stuck leader, gives up its place |
//! | `inconsistency_vote` | | votes on apply errors |
//! | `single_node` | | when clients append to the log themselves |
//! | `quorum` | [`Quorum`] | whether the node has a majority |
//! | `bootstrap` | | bootstrap without a majority, by this node |
//! | `excluded` | [`Excluded`](excluded::Excluded) | what a node does whose cluster was bootstrapped without it |
//! | `joiner`, `joiner_sst` | [`Joiner`] | how a node joins, and receives an SST |
//! | `donor` | | which node donates |
//! | `status_report` | | what the server's threads and the leader are told |
//! | `raft_status` | [`RaftStatus`] | Raft's state, for status variables |
//! | `witness` | | what a voter without tables does otherwise |
//!
//! *Absent*: files, sockets, clocks, threads, locks, callbacks of the server.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::consensus::NodeId;
use crate::consensus::hard_state::HardState;
use crate::consensus::links::Event;
use crate::consensus::raft::{Action, LogId, Raft, Timing};
use crate::consensus::wire::MemberStatus;
use crate::log::{self, Index};
use crate::protocol::ProtocolRange;

mod bootstrap;
mod catching_up;
mod commit_cut;
mod committed_entries;
mod dispatch;
mod donor;
mod excluded;
mod flow_control;
mod host;
mod inconsistency_vote;
mod input;
mod joiner;
mod joiner_sst;
mod known_node;
mod leader;
mod leave;
mod membership;
mod next_view;
mod proposals;
mod purge;
mod quorum;
mod raft_actions;
mod raft_status;
mod reads;
mod retention;
mod single_node;
mod start;
mod status;
mod status_report;
mod upgrade;
mod view;
mod witness;

#[cfg(test)]
mod tests;

use catching_up::CatchingUp;
use committed_entries::Ordered;
use donor::AssignedDonors;
use flow_control::{FlowControl, HeldProposal};
use joiner::Joiner;
use known_node::Peer;
use leader::LeaderDuties;
use leave::Leave;
use proposals::OwnProposals;
use quorum::Quorum;
use reads::Reads;
use retention::Retention;

pub(in crate::node) use host::{
    Clock, EntryLog, FlowEvent, Host, LocalNode, OrderedEntry, SingleNodeEnd, Synced, Transport, Waiters,
};
pub(in crate::node) use input::{Command, JoinRequest};
pub use raft_status::{PeerStatus, RaftStatus};
pub(in crate::node) use retention::RetainTime;
pub(in crate::node) use start::{Settings, initial_state};
pub(in crate::node) use status::{ClusterStatus, JoinerLog, SstResult};

/// Interval of status reports to the leader.
const STATUS_INTERVAL_MS: u64 = 300;

/// A single node without links only purges its log, and needs no more than this.
const SINGLE_NODE_INTERVAL_MS: u64 = 1_000;

/// The next step of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Commands,
    Duties,
    Poll,
}

/// How far the current round is.
#[derive(Debug)]
struct Round {
    phase: Phase,
    /// Actions to run: those from before the start, and those of the last step.
    pending_actions: Vec<Action>,
    /// The end of the log needs a sync.
    has_unsynced: bool,
    /// A sync of the log runs.
    is_syncing: bool,
    is_stopped: bool,
}

/// What the driver of a replica does next.
#[derive(Debug)]
pub(in crate::node) enum Pause {
    /// Sync the log up to there, then call [`Replica::on_synced`]. Meanwhile the replica may run on.
    Sync(LogId),
    /// Wait for events of the links for at most that long, and pass them to [`Replica::on_link_events`].
    Poll(Duration),
    /// The replica has ended.
    Stopped,
}

/// A node of a cluster.
pub(in crate::node) struct Replica<H> {
    pub(in crate::node) host: H,
    raft: Raft,
    hard_state: HardState,
    /// The protocol versions that this node speaks.
    versions: ProtocolRange,
    /// Election and heartbeat intervals.
    timing: Timing,
    /// A voter without tables.
    is_witness: bool,
    round: Round,
    status: ClusterStatus,
    peers: BTreeMap<NodeId, Peer>,
    /// The addresses in `wsrep_cluster_address`.
    hosts: Vec<String>,
    /// The last refusal, logged once.
    last_refusal: String,
    own: OwnProposals,
    reads: Reads,
    ordered: Ordered,
    quorum: Quorum,
    leader_duties: Option<LeaderDuties>,
    /// The voters are not in the log yet.
    has_uncommitted_bootstrap: bool,
    flow_control: FlowControl,
    /// Nodes outside the view, for the leader.
    catching_up: BTreeMap<NodeId, CatchingUp>,
    retention: Retention,
    purge_at_ms: u64,
    donors: AssignedDonors,
    joiner: Joiner,
    leave: Leave,
    /// The last status report, and when.
    reported: Option<(MemberStatus, u64)>,
    /// When Raft's state was published last; 0: never.
    raft_published_ms: u64,
}

impl<H: Host> Replica<H> {
    /// Runs rounds until the driver has something to do. One sync for everything appended in a step.
    pub(in crate::node) fn run(&mut self) -> Pause {
        while !self.round.is_stopped {
            if let Some(synced) = self.host.take_synced() {
                self.on_synced(synced);
            }
            let mut actions = std::mem::take(&mut self.round.pending_actions);
            self.run_actions(&mut actions, None);
            // What the links bring, and clients' commands, share one sync.
            if self.round.has_unsynced && self.round.phase != Phase::Commands {
                self.raft.broadcast_append(&mut actions);
                self.run_actions(&mut actions, None);
                if !self.round.is_syncing && !self.round.is_stopped && self.host.has_log() {
                    (self.round.has_unsynced, self.round.is_syncing) = (false, true);
                    // The other nodes write at the same time.
                    self.host.flush_links();
                    return Pause::Sync(self.raft.last());
                }
            }
            match self.round.phase {
                Phase::Commands => {
                    self.handle_commands(&mut actions);
                    // Behind the commands: one of them tells of it.
                    self.host.order_held_rollbacks();
                    self.hold_elections_if_excluded();
                    self.raft.tick(self.now_ms(), &mut actions);
                    self.tick_proposals(&mut actions);
                    self.round.phase = Phase::Duties;
                }
                Phase::Duties => {
                    self.run_witness_duties(&mut actions);
                    self.order_committed(&mut actions);
                    self.follow_protocol();
                    self.run_leader_duties(&mut actions);
                    self.round.phase = Phase::Poll;
                }
                Phase::Poll => {
                    self.report_status();
                    self.purge_log();
                    self.round.phase = Phase::Commands;
                    self.round.pending_actions = actions;
                    if !self.round.is_stopped {
                        return Pause::Poll(self.poll_timeout());
                    }
                    break;
                }
            }
            self.round.pending_actions = actions;
        }
        self.host.flush_links();
        // The next connect assumes that the whole log is durable.
        self.sync_log();
        Pause::Stopped
    }

    /// What the links have brought.
    pub(in crate::node) fn on_link_events(&mut self, events: Vec<Event>) {
        let mut actions = std::mem::take(&mut self.round.pending_actions);
        for event in events {
            if self.round.is_stopped {
                break;
            }
            self.on_event(event, &mut actions);
        }
        self.round.pending_actions = actions;
    }

    /// A sync has ended.
    pub(in crate::node) fn on_synced(&mut self, (upto, result): Synced) {
        self.round.is_syncing = false;
        match result {
            Ok(()) => self.raft.on_durable(upto, &mut self.round.pending_actions),
            // A leader's log has other entries there: they were truncated.
            Err(log::Error::Dropped { .. }) => {}
            Err(error) => self.fail(&format!("the log cannot be written: {error}")),
        }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.host.now().as_millis()).unwrap_or(u64::MAX)
    }

    fn own_node(&self) -> NodeId {
        self.hard_state.node
    }

    /// How long there is nothing to do without an event.
    fn poll_timeout(&self) -> Duration {
        let now = self.now_ms();
        let is_busy = !self.status.is_single_node || self.status.is_linked || self.leave.is_leaving;
        let chores = if is_busy { now + STATUS_INTERVAL_MS / 3 } else { now + SINGLE_NODE_INTERVAL_MS };
        let has_more = self.ordered.index.is_some_and(|taken| taken < self.status.apply_bound) && self.host.can_order();
        if has_more {
            return Duration::ZERO;
        }
        let deadlines = [self.raft.deadline_ms(), self.duties_deadline_ms()];
        let deadline = deadlines.into_iter().flatten().fold(chores, u64::min);
        Duration::from_millis(deadline.saturating_sub(now))
    }

    fn handle_commands(&mut self, actions: &mut Vec<Action>) {
        let mut steps = Vec::new();
        for command in self.host.take_commands() {
            match command {
                Command::Propose { .. } if self.status.is_single_node => {
                    // The command is from before the single-node mode: clients' threads append to the log now.
                    self.leave_single_node();
                    self.host.defer_command(command);
                }
                Command::Propose { request_id, bytes } => {
                    if let Some(held) = self.hold_if_paused(HeldProposal::Own { request_id, bytes }) {
                        self.propose_own(held, &mut steps);
                    }
                }
                Command::ReadIndex { request_id } => self.on_read_index(request_id, None, actions),
                Command::SendJoinRequest(request) => self.joiner.set_request(request),
                Command::OrderFrom(index) => self.ordered.index = Some(Index(index.0 - 1)),
                Command::Leave => self.leave.is_leaving = true,
                Command::Isolate(is_isolated) => self.host.isolate(is_isolated),
                Command::Bootstrap => self.bootstrap("pc.bootstrap", actions),
                Command::Recheck => {}
                Command::Stop => self.round.is_stopped = true,
            }
        }
        self.run_steps(steps, actions);
    }

    /// The node cannot continue.
    fn fail(&mut self, text: &str) {
        self.host.fail(text);
        self.round.is_stopped = true;
    }
}
