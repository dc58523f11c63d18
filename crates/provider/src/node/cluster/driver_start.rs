//! Starts the Raft driver from the hard state and the log.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Instant;

use super::driver::{Phase, RaftDriver};
use super::flow_control::FlowControl;
use super::relay::Relay;
use super::retention::Retention;
use super::{ClusterHandle, ClusterStatus};
use crate::consensus::NodeId;
use crate::consensus::hard_state::HardState;
use crate::consensus::lineage::Lineage;
use crate::consensus::links::Links;
use crate::consensus::proposals::{Proposals, SessionId};
use crate::consensus::raft::{InitialState, LogId, Membership, Raft, Term};
use crate::consensus::wire::Hello;
use crate::entry;
use crate::identity::Uuid;
use crate::log::{DiskLog, Index};
use crate::node::{Error, Node, lock};

/// How a node starts.
#[derive(Debug)]
pub(in crate::node) enum StartMode {
    /// As the only voter of a new cluster.
    Bootstrap,
    /// With its hard state.
    Restart(Box<HardState>),
    /// Without a log, as a joiner.
    Join,
}

/// Starts the driver and dials the nodes of the cluster.
pub(in crate::node) fn start(
    node: &Arc<Node>,
    cluster_name: &str,
    hosts: &[String],
    mode: StartMode,
) -> Result<Arc<ClusterHandle>, Error> {
    let log = node.log();
    let has_uncommitted_bootstrap = matches!(mode, StartMode::Bootstrap);
    let hard_state = match mode {
        StartMode::Restart(hard_state) => *hard_state,
        StartMode::Bootstrap => new_hard_state(node, true)?,
        StartMode::Join => new_hard_state(node, false)?,
    };
    let mut hard_state = hard_state;
    if hard_state.lineage.is_unknown() && !hard_state.voters.is_empty() {
        hard_state.lineage = Lineage::of_history(node.history_uuid());
    }
    let instance_id = Uuid::random().map_err(Error::Random)?;
    let hello = Hello {
        history_uuid: node.history_uuid(),
        lineage: hard_state.lineage,
        node: hard_state.node,
        instance_id,
        cluster_name: cluster_name.to_owned(),
        name: node.setup.name.clone(),
        incoming: node.setup.incoming.clone(),
        address: node.node_address(),
    };
    let (mut links, waker) = Links::open(&node.listen_address(), hello)?;
    let own_address = links.own().address.clone();
    for host in hosts
        .iter()
        .chain(hard_state.voters.iter().filter(|(id, _)| **id != hard_state.node).map(|(_, address)| address))
    {
        links.dial(host);
    }
    links.isolate(lock(&node.options).is_isolated());
    if let Some(address) = hard_state.voters.get_mut(&hard_state.node) {
        *address = own_address;
    }
    let timing = lock(&node.options).timing();
    let mut raft = Raft::new(initial_state(&hard_state, log.as_deref(), instance_id)?, timing, 0);
    let mut first = Vec::new();
    if hard_state.voters.len() == 1 && hard_state.voters.contains_key(&hard_state.node) {
        // No other node can be elected: no reason to wait.
        raft.tick(raft.deadline_ms().unwrap_or(0), &mut first);
    }
    if raft.is_recovering() {
        let what = log.as_ref().and_then(|log| log.lost_tail()).map_or_else(
            || format!("entries up to index {} were committed", hard_state.committed),
            |lost_tail| lost_tail.to_string(),
        );
        let end = log.as_ref().map_or(Index(0), |log| log.last());
        let text = format!(
            "{what}, but the log ends at index {end}: the disk may have lost its end. Until this node has it again from \
             the other nodes, its vote counts only in an election in which all voters are up. Check the disk"
        );
        node.server.log(crate::server::Level::Warning, &text);
    }
    hard_state.write(&node.setup.data_dir)?;
    node.set_lineage(hard_state.lineage);
    if let Some(log) = &log {
        // Until the node is a single node.
        log.set_keeps_recent(true);
    }
    let cluster = Arc::new(ClusterHandle::new(waker, log.as_ref().map_or(Index(0), |log| log.last())));
    let status = ClusterStatus {
        apply_bound: raft.apply_bound(),
        history_uuid: node.history_uuid(),
        ..ClusterStatus::default()
    };
    let relay = Relay::new();
    let driver = RaftDriver {
        node: Arc::clone(node),
        cluster: Arc::clone(&cluster),
        links,
        raft,
        proposals: Proposals::new(),
        session: SessionId(instance_id.0),
        payloads: HashMap::new(),
        own_member_ids: vec![node.member_id()],
        hard_state,
        peers: BTreeMap::new(),
        hosts: hosts.to_vec(),
        ordered_index: None,
        scanned_upto: Index(0),
        applied: 0,
        status,
        has_uncommitted_bootstrap,
        leader_duties: None,
        flow_control: FlowControl::default(),
        retention: Retention::new(node.retain_time()),
        purge_at_ms: 0,
        donors: BTreeMap::new(),
        has_unsynced: false,
        is_syncing: false,
        relay: Arc::clone(&relay),
        phase: Phase::Commands,
        pending_reads: Vec::new(),
        ready_reads: Vec::new(),
        join_request: None,
        donor: None,
        last_refusal: String::new(),
        requested_ms: 0,
        stuck_since_ms: None,
        is_leaving: false,
        reported: None,
        pending_actions: first,
        timing,
        leader_seen_ms: 0,
        excluded: None,
        had_clients: false,
        first_leader_commit: None,
        started: Instant::now(),
        is_stopped: false,
    };
    let (own_relay, other_relay) = (Arc::clone(&relay), relay);
    let threads = [own_relay, other_relay].into_iter().zip([Some(Box::new(driver)), None]);
    for (relay, first) in threads {
        let (node, cluster) = (Arc::clone(node), Arc::clone(&cluster));
        // Signals are for the server's threads.
        crate::log::spawn_without_signals("hortator-raft", move || drive_in_turn(&relay, first, &node, &cluster))
            .map_err(Error::Thread)?;
    }
    Ok(cluster)
}

/// One of the driver's two threads.
fn drive_in_turn(relay: &Relay<RaftDriver>, mut driver: Option<Box<RaftDriver>>, node: &Node, cluster: &ClusterHandle) {
    while let Some(drives) = driver.take().or_else(|| relay.stand_by()) {
        let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drives.drive()));
        if run.is_err() {
            node.fail("a bug in the provider's Raft thread");
        }
        if run.unwrap_or(true) {
            // The driver is dropped: a thread that waits for the end may want to listen on the port again.
            relay.end();
            cluster.close();
            return;
        }
    }
}

fn new_hard_state(node: &Node, votes: bool) -> Result<HardState, Error> {
    let random = Uuid::random().map_err(Error::Random)?;
    let id = NodeId(random.bits());
    let log = node.log();
    // A new cluster ignores the memberships in its log.
    let last = match &log {
        Some(log) if log.last() >= log.first() => {
            let entries = log.entries(log.last(), 1)?;
            let term =
                entries.first().and_then(|(_, bytes)| entry::meta(bytes).ok()).map_or(Term(0), |(stamp, _)| stamp.term);
            LogId { term, index: log.last() }
        }
        _ => LogId { term: Term(0), index: Index(0) },
    };
    Ok(HardState {
        node: id,
        term: last.term,
        voted_for: None,
        committed: last.index,
        membership_log_id: last,
        snapshot_log_id: LogId { term: Term(0), index: Index(0) },
        voters: if votes { [(id, node.node_address())].into() } else { BTreeMap::new() },
        lineage: if votes { node.new_lineage(log.as_deref())? } else { Lineage::UNKNOWN },
    })
}

/// Reads the initial Raft state from the log.
fn initial_state(hard_state: &HardState, log: Option<&DiskLog>, instance_id: Uuid) -> Result<InitialState, Error> {
    let membership = Membership { voters: hard_state.voters.keys().copied().collect() };
    let mut memberships = Vec::new();
    let committed_membership =
        (!hard_state.voters.is_empty()).then_some((hard_state.membership_log_id.index, membership));
    let (mut term_runs, mut last) = (Vec::new(), Index(0));
    let mut last_purged = LogId { term: Term(0), index: Index(0) };
    if let Some(log) = log {
        let first = log.first();
        last = log.last();
        let known = [hard_state.snapshot_log_id, hard_state.membership_log_id];
        let known = known.into_iter().find(|log_id| log_id.index.next() == first);
        // Else the log was purged, and `purge_log` left a committed entry before the ones that somebody needs.
        let is_purged = first > Index(1) && known.is_none();
        if first > Index(1)
            && let Some(log_id) = known
        {
            last_purged = log_id;
        }
        for record in log.read(first)? {
            let (index, bytes) = record?;
            let (stamp, shape) =
                entry::meta(&bytes).map_err(|error| crate::recovery::Error::Entry { index: index.0, error })?;
            if is_purged && index == first {
                // Votes compare the terms of the last entries, and followers that of the previous entry: a base without
                // its term would let a node without committed entries win, or send a follower to an SST for nothing.
                last_purged = LogId { term: stamp.term, index };
            } else if term_runs.last().is_none_or(|(_, term)| *term != stamp.term) {
                term_runs.push((index, stamp.term));
            }
            if let Some(membership) = shape.membership
                && index > hard_state.membership_log_id.index
            {
                memberships.push((index, membership));
            }
        }
    }
    if let Some((index, term)) = term_runs.last().filter(|(_, term)| *term > hard_state.term) {
        return Err(Error::HardStateTooOld { index: *index, term: *term, known: hard_state.term });
    }
    Ok(InitialState {
        id: hard_state.node,
        term: hard_state.term,
        voted_for: hard_state.voted_for,
        last_purged,
        term_runs,
        last,
        committed_membership,
        memberships,
        commit_index: hard_state.committed.min(last).max(last_purged.index),
        has_lost_tail: has_lost_tail(hard_state, log),
        seed: instance_id.bits(),
    })
}

/// Whether the log may end before entries that this node has acknowledged: the log says so, or the hard state, which
/// names entries that were committed.
fn has_lost_tail(hard_state: &HardState, log: Option<&DiskLog>) -> bool {
    log.is_some_and(|log| log.lost_tail().is_some() || hard_state.committed > log.last())
}

impl RaftDriver {
    /// Restarts Raft from the hard state and the log.
    pub(super) fn restart_raft(&mut self) -> Result<(), Error> {
        let log = self.node.log();
        let start = initial_state(&self.hard_state, log.as_deref(), Uuid(self.session.0))?;
        self.raft = Raft::new(start, self.timing, self.now_ms());
        self.status.apply_bound = self.raft.apply_bound();
        Ok(())
    }
}
