//! Flow control: while the receive queue of a member is over its limit (`FlowControlLimits`), the leader appends nothing
//! more; nor while its disk stalls and its log fills the memory, and at times while a node catches up (`catching_up`).
//!
//! Each node reports to the leader whether it is behind. The leader holds proposals back, and their clients wait.
//! Beyond a limit it drops forwards; their nodes send them again.

use std::collections::VecDeque;
use std::time::Duration;

use super::Replica;
use super::host::{FlowEvent, Host};
use crate::consensus::raft::{Action, Term};
use crate::identity::Uuid;

/// Limit of bytes that a leader holds back.
const HELD_LIMIT_BYTES: usize = 64 << 20;

/// A proposal that is held back.
#[derive(Debug)]
pub(super) enum HeldProposal {
    /// Of this node.
    Own { request_id: u64, bytes: Vec<u8> },
    /// Of another node.
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

/// Proposals that the leader holds back.
#[derive(Debug, Default)]
pub(super) struct FlowControl {
    held: VecDeque<HeldProposal>,
    held_bytes: usize,
    paused_since: Option<Duration>,
    /// This node's receive queue has passed the limit, and is not short enough again.
    is_over_limit: bool,
}

impl FlowControl {
    /// Whether a proposal is held back.
    pub fn holds_any(&self) -> bool {
        !self.held.is_empty()
    }
}

impl<H: Host> Replica<H> {
    /// Whether this node's receive queue is over the limit. Not while applying waits for an own transaction to yield:
    /// that must be ordered first, and would wait behind the pause. Nor during an inconsistency vote: all nodes would
    /// wait for the slowest.
    pub(super) fn is_behind(&self) -> bool {
        let is_desynced = self.host.is_desynced();
        let waits = self.host.has_victim() || self.host.apply_error().is_some();
        self.flow_control.is_over_limit && !is_desynced && !waits
    }

    fn update_over_limit(&mut self) {
        let (queued, limit) = self.host.queued();
        let was_over = self.flow_control.is_over_limit;
        self.flow_control.is_over_limit = queued > if was_over { self.host.resume_limit() } else { limit };
    }

    /// Whether a member of the view is behind.
    fn is_member_behind(&self) -> bool {
        let others =
            self.peers.values().filter_map(|peer| peer.status.as_ref()).map(|(member_status, _)| member_status);
        let behind: Vec<Uuid> = others
            .filter(|member_status| member_status.is_behind)
            .map(|member_status| member_status.member_id)
            .collect();
        let is_one_behind = self.host.with_order(|order| behind.iter().any(|member_id| order.is_in_view(*member_id)));
        is_one_behind.is_some_and(|is_one_behind| is_one_behind || self.is_behind())
    }

    /// Holds the proposal back if flow control is active; else returns it.
    pub(super) fn hold_if_paused(&mut self, held: HeldProposal) -> Option<HeldProposal> {
        if self.flow_control.paused_since.is_none() {
            return Some(held);
        }
        let is_own = matches!(held, HeldProposal::Own { .. });
        // Own proposals are limited by the clients, each of which waits.
        if is_own || self.flow_control.held_bytes + held.bytes() <= HELD_LIMIT_BYTES {
            self.flow_control.held_bytes += held.bytes();
            self.flow_control.held.push_back(held);
        }
        None
    }

    /// Starts or ends a flow control pause.
    pub(super) fn update_flow_control(&mut self, actions: &mut Vec<Action>) {
        self.update_over_limit();
        let is_log_slow = self.round.is_syncing && self.host.is_backed_up();
        let is_leader = self.leader_duties.is_some() && !self.status.is_single_node;
        let waits_for_joiner = self.must_wait_for_joiner();
        let is_paused = is_leader && (is_log_slow || waits_for_joiner || self.is_member_behind());
        let now = self.host.now();
        match (self.flow_control.paused_since, is_paused) {
            (None, true) => {
                self.flow_control.paused_since = Some(now);
                self.host.count(FlowEvent::Paused);
            }
            (Some(since), true) if (now - since).as_millis() > 0 => {
                self.flow_control.paused_since = Some(now);
                self.host.count(FlowEvent::Lasted(now - since));
            }
            (Some(since), false) => {
                self.flow_control.paused_since = None;
                self.host.count(FlowEvent::Lasted(now - since));
                self.host.count(FlowEvent::Resumed);
                self.flow_control.held_bytes = 0;
                for held in std::mem::take(&mut self.flow_control.held) {
                    self.release_held(held, actions);
                }
            }
            _ => {}
        }
    }
}
