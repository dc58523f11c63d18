//! The joiner: gets a log from the leader, tables from a donor, and a place in the view.
//!
//! ```text
//!   restarted   own log ──► missing entries from the leader ──► view(N) ─► apply N+1 … ─► view with the node ─► synced
//!   joins       may the server prepare? ─► SST request from the server ─► Join ─► snapshot point from the leader, which
//!               also chooses a donor: log from there ‖ SST from the donor, at N ─► as above
//! ```
//!
//! The donor's side: `donor`. The SST on the joiner, and its failures: `joiner_sst`. What the server's thread does
//! meanwhile: `node/cluster/joiner.rs`.

use super::Replica;
use super::host::Host;
use super::input::JoinRequest;
use super::joiner_sst::Donor;
use crate::consensus::NodeId;
use crate::consensus::lineage::LineageRelation;
use crate::consensus::proposals::{Proposals, SessionId};
use crate::consensus::raft::Action;
use crate::consensus::wire::{Frame, SnapshotMeta};
use crate::server::Level;

/// Interval of repeated requests to the leader.
const RESEND_INTERVAL_MS: u64 = 2_000;
/// A node that has nobody to ask for this long says so.
const NOBODY_TO_ASK_TIMEOUT_MS: u64 = 5_000;

/// What a node without tables, or without a log, waits for.
#[derive(Debug, Default)]
pub(super) struct Joiner {
    /// The request to the leader, until it replies.
    pub request: Option<JoinRequest>,
    /// When it was sent last. 0: not yet.
    requested_ms: u64,
    nobody_to_ask: NobodyToAsk,
    /// The donor of this node.
    pub donor: Option<Donor>,
}

/// Whether there is no leader that this node could ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum NobodyToAsk {
    #[default]
    No,
    Since(u64),
    Logged,
}

impl Joiner {
    /// Sends this request from now on.
    pub fn set_request(&mut self, request: JoinRequest) {
        (self.request, self.requested_ms) = (Some(request), 0);
    }
}

impl<H: Host> Replica<H> {
    /// The leader sends the start of this node's log.
    pub(super) fn on_install_snapshot(&mut self, snapshot: SnapshotMeta, actions: &mut Vec<Action>) {
        let SnapshotMeta { term, log_id, membership, addresses, upto, lineage, protocol } = snapshot;
        // A node without a cluster may have asked two clusters: the first reply counts.
        if self.hard_state.lineage.relation_to(&lineage) != LineageRelation::Same {
            return;
        }
        // The reply may come from a former leader.
        if self.leader_duties.is_some() || !matches!(self.joiner.request, Some(JoinRequest::Join { .. })) {
            return;
        }
        self.joiner.request = None;
        if self.round.is_syncing {
            let synced = self.host.wait_for_synced();
            self.on_synced(synced);
        }
        // The entries just received count as durable after the snapshot.
        self.run_actions_and_sync(actions);
        let history_uuid = self.status.history_uuid;
        // False: the log is complete, only the tables are not.
        let voters = membership.clone();
        let is_installed = self.raft.install_snapshot(term, log_id, (log_id.index, membership), actions);
        if !self.host.has_log() || is_installed && self.raft.last() == log_id {
            if let Err(error) = self.host.install_snapshot(history_uuid, log_id.index) {
                return self.host.fail(&format!("cannot create a log after index {}: {error}", log_id.index));
            }
            self.hard_state.set_voters(addresses.iter().cloned().collect(), &voters);
            self.hard_state.membership_log_id = log_id;
            self.hard_state.snapshot_log_id = log_id;
            // Until the log is there again, the node may lack what it has confirmed: it votes as one that knows that.
            self.hard_state.committed = self.hard_state.committed.max(log_id.index);
            self.status.apply_bound = log_id.index;
            self.ordered.index = None;
        }
        if is_installed && let Ok(session) = self.host.random_uuid() {
            // The node has not seen the entries in between, so the outcome of its earlier proposals is unknown.
            self.own.proposals = Proposals::new();
            self.forget_proposals();
            self.own.session = SessionId(session.0);
            let (term, leader) = (self.raft.term(), self.raft.leader());
            self.on_leader_changed(term, leader, actions);
        }
        for (_, address) in &addresses {
            self.host.dial(address);
        }
        self.adopt_lineage(lineage, history_uuid);
        self.adopt_protocol(protocol);
        self.status.needs_snapshot = false;
        self.status.snapshot_upto = Some(upto);
        self.save_hard_state();
    }

    /// Repeats the request until there is a reply.
    pub(super) fn resend_join_request(&mut self, now_ms: u64) {
        let Some(request) = self.joiner.request.clone() else { return };
        self.note_nobody_to_ask(now_ms);
        // Within the first millisecond of the clock, the time of the request is ahead of it.
        if self.joiner.requested_ms != 0 && now_ms.saturating_sub(self.joiner.requested_ms) < RESEND_INTERVAL_MS {
            return;
        }
        self.joiner.requested_ms = now_ms.max(1);
        let frame = match request {
            JoinRequest::PrepareSst => Frame::PrepareSstRequest,
            JoinRequest::Join { request } => Frame::Join { request, donor: self.host.preferred_donor() },
        };
        let linked = self.peers.iter().filter(|(_, peer)| peer.unlinked_since_ms.is_none()).map(|(node, _)| *node);
        let linked: Vec<NodeId> = linked.collect();
        // A follower replies with the leader's address, which is linked then.
        let to = self.raft.leader().filter(|leader| linked.contains(leader)).map_or(linked, |leader| vec![leader]);
        to.into_iter().for_each(|node| {
            self.host.send(node, &frame);
        });
    }
    /// Says once what a node waits for whose request nobody can answer. A node without a log asks all others, and does not
    /// know their leader; nor need a witness have a donor.
    fn note_nobody_to_ask(&mut self, now_ms: u64) {
        if self.is_witness || !self.host.has_log() {
            return;
        }
        let leader = self.raft.leader();
        let waits_for = if leader == Some(self.own_node()) {
            "it is the Raft leader itself, and no linked node has tables. Start a node that has some"
        } else if leader.is_none() {
            "it reaches no majority. Start the other nodes"
        } else {
            self.joiner.nobody_to_ask = NobodyToAsk::No;
            return;
        };
        match self.joiner.nobody_to_ask {
            NobodyToAsk::No => self.joiner.nobody_to_ask = NobodyToAsk::Since(now_ms),
            NobodyToAsk::Since(since_ms) if now_ms - since_ms >= NOBODY_TO_ASK_TIMEOUT_MS => {
                self.joiner.nobody_to_ask = NobodyToAsk::Logged;
                let text = format!("this node waits for a donor, and has none to ask: {waits_for}");
                self.host.log(Level::Warning, &text);
            }
            NobodyToAsk::Since(_) | NobodyToAsk::Logged => {}
        }
    }
}
