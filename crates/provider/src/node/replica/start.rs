//! The state of a replica when it starts, from the hard state and the log.

use std::collections::BTreeMap;

use super::committed_entries::Ordered;
use super::flow_control::FlowControl;
use super::host::Host;
use super::joiner::Joiner;
use super::leave::Leave;
use super::proposals::OwnProposals;
use super::quorum::Quorum;
use super::reads::Reads;
use super::retention::{RetainTime, Retention};
use super::status::ClusterStatus;
use super::{Phase, Replica, Round};
use crate::consensus::hard_state::HardState;
use crate::consensus::proposals::SessionId;
use crate::consensus::raft::{InitialState, LogId, Raft, Term, Timing};
use crate::entry;
use crate::identity::Uuid;
use crate::log::{Index, LogRecords};
use crate::node::Error;
use crate::protocol::ProtocolRange;

/// What a replica starts with.
pub(in crate::node) struct Settings {
    pub hard_state: HardState,
    /// The protocol versions that this node speaks.
    pub versions: ProtocolRange,
    /// From [`initial_state`].
    pub raft: InitialState,
    /// A random id of this start.
    pub instance_id: Uuid,
    /// The addresses in `wsrep_cluster_address`.
    pub hosts: Vec<String>,
    pub timing: Timing,
    pub retain_time: RetainTime,
    /// This node is the only voter of a new cluster, and its log does not say so yet.
    pub is_new_cluster: bool,
    /// This node votes and has no tables.
    pub is_witness: bool,
}

impl<H: Host> Replica<H> {
    /// A replica that has met no other node yet.
    pub(in crate::node) fn new(host: H, settings: Settings) -> Self {
        let Settings {
            hard_state,
            versions,
            raft,
            instance_id,
            hosts,
            timing,
            retain_time,
            is_new_cluster,
            is_witness,
        } = settings;
        let mut raft = Raft::new(raft, timing, u64::try_from(host.now().as_millis()).unwrap_or(u64::MAX));
        if is_witness {
            raft.delay_candidacy(timing.election_ms);
        }
        let mut pending_actions = Vec::new();
        if hard_state.voters.len() == 1 && hard_state.voters.contains_key(&hard_state.node) {
            // No other node can be elected: no reason to wait.
            raft.tick(raft.deadline_ms().unwrap_or(0), &mut pending_actions);
        }
        // With a committed one whose entry is lost.
        let pending_memberships = raft.pending_memberships().to_vec();
        let hard_state = HardState { pending_memberships, ..hard_state };
        let status = ClusterStatus {
            apply_bound: raft.apply_bound(),
            history_uuid: host.history_uuid(),
            ..ClusterStatus::default()
        };
        let own = OwnProposals::new(SessionId(instance_id.0), host.member_id());
        let mut replica = Self {
            host,
            raft,
            hard_state,
            versions,
            timing,
            is_witness,
            round: Round {
                phase: Phase::Commands,
                pending_actions,
                has_unsynced: false,
                is_syncing: false,
                is_stopped: false,
            },
            status,
            peers: BTreeMap::new(),
            hosts,
            last_refusal: String::new(),
            own,
            reads: Reads::default(),
            ordered: Ordered::default(),
            quorum: Quorum::default(),
            leader_duties: None,
            has_uncommitted_bootstrap: is_new_cluster,
            flow_control: FlowControl::default(),
            catching_up: BTreeMap::new(),
            retention: Retention::new(retain_time),
            purge_at_ms: 0,
            donors: BTreeMap::new(),
            joiner: Joiner::default(),
            leave: Leave::default(),
            reported: None,
            raft_published_ms: 0,
        };
        replica.take_committed_membership();
        replica
    }

    /// Whether the log may lack entries that this node has acknowledged.
    pub(in crate::node) fn is_recovering(&self) -> bool {
        self.raft.is_recovering()
    }

    /// Restarts Raft from the hard state and the log.
    pub(super) fn restart_raft(&mut self) -> Result<(), Error> {
        let start = initial_state(&self.hard_state, self.host.records().as_ref(), Uuid(self.own.session.0))?;
        self.raft = Raft::new(start, self.timing, self.now_ms());
        if self.is_witness {
            self.raft.delay_candidacy(self.timing.election_ms);
        }
        self.status.apply_bound = self.raft.apply_bound();
        Ok(())
    }
}

/// Reads the initial Raft state from the log.
pub(in crate::node) fn initial_state(
    hard_state: &HardState,
    log: Option<&impl LogRecords>,
    instance_id: Uuid,
) -> Result<InitialState, Error> {
    let membership = hard_state.membership();
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
        // Else the log was purged, and `Replica::purge_log` left a committed entry before the ones that somebody needs.
        let is_purged = first > Index(1) && known.is_none();
        if first > Index(1)
            && let Some(log_id) = known
        {
            last_purged = log_id;
        }
        if is_purged && last < first {
            return Err(Error::LogLost(first));
        }
        for record in log.records()? {
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
        pending_memberships: hard_state.pending_memberships.clone(),
        commit_index: hard_state.committed.min(last).max(last_purged.index),
        has_lost_tail: has_lost_tail(hard_state, log),
        seed: instance_id.bits(),
    })
}

/// Whether the log may end before entries that this node has acknowledged: the log says so, or the hard state, which
/// names entries that were committed.
fn has_lost_tail(hard_state: &HardState, log: Option<&impl LogRecords>) -> bool {
    log.is_some_and(|log| log.has_lost_tail() || hard_state.committed > log.last())
}
