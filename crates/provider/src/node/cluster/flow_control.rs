//! Flow control: while a node has more to apply than it wants (`gcs.fc_limit`), nothing more is put into the order.
//!
//! Each node tells its leader whether it has too much; the leader holds back what it is asked to append, and the clients
//! whose it is wait. What arrives while too much is held is dropped, and comes again: whoever proposes sends it anew.

use std::collections::VecDeque;
use std::time::Instant;

use super::driver::RaftDriver;
use crate::consensus::raft::{Action, Term};
use crate::identity::Uuid;
use crate::node::{OrderState, lock};

/// What a leader holds back at most, in bytes.
const HELD_LIMIT_BYTES: usize = 64 << 20;

/// What waits to be put into the order.
#[derive(Debug)]
pub(super) enum HeldProposal {
    /// Of this node.
    Own { request_id: u64, bytes: Vec<u8> },
    /// Of another.
    Forward { term: Term, session: Uuid, number: u64, payload: Vec<u8> },
}

impl HeldProposal {
    fn bytes(&self) -> usize {
        match self {
            Self::Own { bytes, .. } => bytes.len(),
            Self::Forward { payload, .. } => payload.len(),
        }
    }
}

/// What a leader holds back.
#[derive(Debug, Default)]
pub(super) struct FlowControl {
    held: VecDeque<HeldProposal>,
    held_bytes: usize,
    paused_since: Option<Instant>,
}

impl RaftDriver {
    /// Whether this node has more to apply than it wants. Not while what it applies waits for a transaction of its own to
    /// give way: that needs its place first, and would wait for it behind the pause. Nor while it waits for what the others
    /// say: all of them would wait for the slowest.
    pub(super) fn is_behind(&self) -> bool {
        let is_desynced = self.node.counters.desync_count.get() > 0;
        let is_full = self.node.recv_queue.queued() as u64 > self.node.limits.queued();
        let waits = self.cluster.pending_proposals.has_victim() || self.node.inconsistency.apply_error().is_some();
        !is_desynced && is_full && !waits
    }

    /// Whether a member of the view has.
    fn is_member_behind(&self) -> bool {
        let order_state = lock(&self.node.order);
        let Some(OrderState { order, .. }) = order_state.as_ref() else { return false };
        let others =
            self.peers.values().filter_map(|peer| peer.status.as_ref()).map(|(member_status, _)| member_status);
        let mut behind =
            others.filter(|member_status| member_status.is_behind).map(|member_status| member_status.member_id);
        behind.any(|member_id| order.is_in_view(member_id)) || self.is_behind()
    }

    /// Holds it back if that is what has to be done. Gives it back if not.
    pub(super) fn hold_if_paused(&mut self, held: HeldProposal) -> Option<HeldProposal> {
        if self.flow_control.paused_since.is_none() {
            return Some(held);
        }
        let is_own = matches!(held, HeldProposal::Own { .. });
        // This node's own are bounded by its clients, each of which waits.
        if is_own || self.flow_control.held_bytes + held.bytes() <= HELD_LIMIT_BYTES {
            self.flow_control.held_bytes += held.bytes();
            self.flow_control.held.push_back(held);
        }
        None
    }

    /// Pauses and goes on, by how the nodes stand.
    pub(super) fn update_flow_control(&mut self, actions: &mut Vec<Action>) {
        let is_paused = self.leader_duties.is_some() && !self.status.is_single_node && self.is_member_behind();
        match (self.flow_control.paused_since, is_paused) {
            (None, true) => {
                self.flow_control.paused_since = Some(Instant::now());
                self.node.counters.flow_received.add(1);
                self.node.counters.flow_active.add(1);
            }
            (Some(since), true) if since.elapsed().as_millis() > 0 => {
                self.flow_control.paused_since = Some(Instant::now());
                self.count_pause(since);
            }
            (Some(since), false) => {
                self.flow_control.paused_since = None;
                self.count_pause(since);
                self.node.counters.flow_active.add(-1);
                self.flow_control.held_bytes = 0;
                for held in std::mem::take(&mut self.flow_control.held) {
                    self.release_held(held, actions);
                }
            }
            _ => {}
        }
    }

    fn count_pause(&self, since: Instant) {
        self.node.counters.flow_paused_ns.add(i64::try_from(since.elapsed().as_nanos()).unwrap_or(i64::MAX));
    }
}
