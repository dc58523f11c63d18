//! Starts the Raft driver from the hard state and the log.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Instant;

use super::driver::RaftDriver;
use super::flow_control::FlowControl;
use super::{ClusterHandle, ClusterStatus};
use crate::consensus::NodeId;
use crate::consensus::hard_state::HardState;
use crate::consensus::lineage::Lineage;
use crate::consensus::links::Links;
use crate::consensus::proposals::{Proposals, SessionId};
use crate::consensus::raft::{InitialState, LogId, Membership, Raft, Term, Timing};
use crate::consensus::wire::Hello;
use crate::entry;
use crate::identity::Uuid;
use crate::log::{DiskLog, Index};
use crate::node::{Error, Node, lock};

/// A leader's heartbeat interval; without one for one to two times the election timeout, other nodes start an election.
const TIMING: Timing = Timing { heartbeat_ms: 150, election_ms: 1_000 };

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
    beginning: StartMode,
) -> Result<Arc<ClusterHandle>, Error> {
    let log = node.log();
    let is_new_group = matches!(beginning, StartMode::Bootstrap);
    let saved = match beginning {
        StartMode::Restart(saved) => *saved,
        StartMode::Bootstrap => new_hard_state(node, true)?,
        StartMode::Join => new_hard_state(node, false)?,
    };
    let mut saved = saved;
    if saved.lineage.is_unknown() && !saved.voters.is_empty() {
        saved.lineage = Lineage::of_history(node.history_uuid());
    }
    let instance_id = Uuid::random().map_err(Error::Random)?;
    let hello = Hello {
        history_uuid: node.history_uuid(),
        lineage: saved.lineage,
        node: saved.node,
        instance_id,
        cluster_name: cluster_name.to_owned(),
        name: node.setup.name.clone(),
        incoming: node.setup.incoming.clone(),
        address: node.group_address(),
    };
    let (mut links, waker) = Links::open(&node.listen_address(), hello)?;
    let own_address = links.own().address.clone();
    for host in hosts.iter().chain(saved.voters.iter().filter(|(id, _)| **id != saved.node).map(|(_, address)| address))
    {
        links.dial(host);
    }
    links.isolate(lock(&node.options).is_isolated());
    if let Some(address) = saved.voters.get_mut(&saved.node) {
        *address = own_address;
    }
    let mut raft = Raft::new(initial_state(&saved, log.as_deref(), instance_id)?, TIMING, 0);
    let mut first = Vec::new();
    if saved.voters.len() == 1 && saved.voters.contains_key(&saved.node) {
        // No other node can be elected: no reason to wait.
        raft.tick(raft.deadline_ms().unwrap_or(0), &mut first);
    }
    saved.write(&node.setup.data_dir)?;
    node.set_lineage(saved.lineage);
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
    let mut thread = RaftDriver {
        node: Arc::clone(node),
        cluster: Arc::clone(&cluster),
        links,
        raft,
        proposals: Proposals::new(),
        session: SessionId(instance_id.0),
        payloads: HashMap::new(),
        own_member_ids: vec![node.member_id()],
        hard_state: saved,
        peers: BTreeMap::new(),
        hosts: hosts.to_vec(),
        ordered_index: None,
        scanned_upto: Index(0),
        applied: 0,
        status,
        is_new_group,
        leader_duties: None,
        flow_control: FlowControl::default(),
        donors: BTreeMap::new(),
        has_unsynced: false,
        pending_reads: Vec::new(),
        ready_reads: Vec::new(),
        join_request: None,
        donor: None,
        last_refusal: String::new(),
        requested_ms: 0,
        stuck_since_ms: None,
        is_leaving: false,
        reported: None,
        initial_actions: first,
        leader_seen_ms: 0,
        excluded: None,
        had_clients: false,
        first_leader_commit: None,
        started: Instant::now(),
        is_stopped: false,
    };
    // Signals are for the server's threads.
    crate::log::spawn_without_signals("hortator-raft", move || {
        let faulty = std::panic::AssertUnwindSafe(&mut thread);
        let run = std::panic::catch_unwind(|| {
            let thread = faulty;
            thread.0.run();
        });
        if run.is_err() {
            thread.node.fail("a bug in the provider's Raft thread");
        }
        let cluster = Arc::clone(&thread.cluster);
        // A thread that waits for the end may want to listen on the port again.
        drop(thread);
        cluster.close();
    })
    .map_err(Error::Thread)?;
    Ok(cluster)
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
        voters: if votes { [(id, node.group_address())].into() } else { BTreeMap::new() },
        lineage: if votes { node.new_lineage(log.as_deref())? } else { Lineage::UNKNOWN },
    })
}

/// Reads the initial Raft state from the log.
fn initial_state(saved: &HardState, log: Option<&DiskLog>, instance_id: Uuid) -> Result<InitialState, Error> {
    let membership = Membership { voters: saved.voters.keys().copied().collect() };
    let mut memberships = Vec::new();
    let settled = (!saved.voters.is_empty()).then_some((saved.membership_log_id.index, membership));
    let mut base = saved.membership_log_id;
    let (mut runs, mut last) = (Vec::new(), Index(0));
    if let Some(log) = log {
        let first = log.first();
        last = log.last();
        if first > Index(1) {
            // The term of a purged entry is never needed: the entry is committed.
            base = if base.index.next() == first { base } else { LogId { term: Term(0), index: Index(first.0 - 1) } };
        } else {
            base = LogId { term: Term(0), index: Index(0) };
        }
        for record in log.read(first)? {
            let (index, bytes) = record?;
            let (stamp, shape) =
                entry::meta(&bytes).map_err(|error| crate::recovery::Error::Entry { index: index.0, error })?;
            if runs.last().is_none_or(|(_, term)| *term != stamp.term) {
                runs.push((index, stamp.term));
            }
            if let Some(membership) = shape.membership
                && index > saved.membership_log_id.index
            {
                memberships.push((index, membership));
            }
        }
    } else {
        base = LogId { term: Term(0), index: Index(0) };
    }
    if let Some((index, term)) = runs.last().filter(|(_, term)| *term > saved.term) {
        return Err(Error::HardStateTooOld { index: *index, term: *term, known: saved.term });
    }
    Ok(InitialState {
        id: saved.node,
        term: saved.term,
        voted_for: saved.voted_for,
        last_purged: base,
        term_runs: runs,
        last,
        committed_membership: settled,
        memberships,
        commit_index: saved.committed.min(last).max(base.index),
        seed: instance_id.bits(),
    })
}

impl RaftDriver {
    /// Restarts Raft from the hard state and the log.
    pub(super) fn restart_raft(&mut self) -> Result<(), Error> {
        let log = self.node.log();
        let start = initial_state(&self.hard_state, log.as_deref(), Uuid(self.session.0))?;
        self.raft = Raft::new(start, TIMING, self.now_ms());
        self.status.apply_bound = self.raft.apply_bound();
        Ok(())
    }
}
