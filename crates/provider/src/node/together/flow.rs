//! Flow control: while a node has more to apply than it wants (`gcs.fc_limit`), nothing more is put into the order.
//!
//! Each node tells its leader whether it has too much; the leader holds back what it is asked to append, and the clients
//! whose it is wait. What arrives while too much is held is dropped, and comes again: whoever proposes sends it anew.

use std::collections::VecDeque;
use std::time::Instant;

use super::thread::GroupThread;
use crate::group::raft::{Action, Term};
use crate::identity::Uuid;
use crate::node::{Ordering, lock};

/// What a leader holds back at most, in bytes.
const HELD_LIMIT_BYTES: usize = 64 << 20;

/// What waits to be put into the order.
#[derive(Debug)]
pub(super) enum Held {
    /// Of this node.
    Own { ticket: u64, bytes: Vec<u8> },
    /// Of another.
    Forward { term: Term, origin: Uuid, number: u64, payload: Vec<u8> },
}

impl Held {
    fn bytes(&self) -> usize {
        match self {
            Self::Own { bytes, .. } => bytes.len(),
            Self::Forward { payload, .. } => payload.len(),
        }
    }
}

/// What a leader holds back.
#[derive(Debug, Default)]
pub(super) struct Flow {
    held: VecDeque<Held>,
    held_bytes: usize,
    paused_since: Option<Instant>,
}

impl GroupThread {
    /// Whether this node has more to apply than it wants. Not while what it applies waits for a transaction of its own to
    /// give way: that needs its place first, and would wait for it behind the pause. Nor while it waits for what the others
    /// say: all of them would wait for the slowest.
    pub(super) fn is_behind(&self) -> bool {
        let is_desynced = self.node.counters.desync_count.get() > 0;
        let is_full = self.node.receiving.queued() as u64 > self.node.limits.queued();
        let waits = self.together.waiting.has_victim() || self.node.inconsistency.fault().is_some();
        !is_desynced && is_full && !waits
    }

    /// Whether a member of the view has.
    fn is_somebody_behind(&self) -> bool {
        let ordering = lock(&self.node.order);
        let Some(Ordering { order, .. }) = ordering.as_ref() else { return false };
        let others = self.peers.values().filter_map(|peer| peer.present.as_ref()).map(|(present, _)| present);
        let mut behind = others.filter(|present| present.is_behind).map(|present| present.life);
        behind.any(|life| order.is_in_view(life)) || self.is_behind()
    }

    /// Holds it back if that is what has to be done. Gives it back if not.
    pub(super) fn hold(&mut self, held: Held) -> Option<Held> {
        if self.flow.paused_since.is_none() {
            return Some(held);
        }
        let is_own = matches!(held, Held::Own { .. });
        // This node's own are bounded by its clients, each of which waits.
        if is_own || self.flow.held_bytes + held.bytes() <= HELD_LIMIT_BYTES {
            self.flow.held_bytes += held.bytes();
            self.flow.held.push_back(held);
        }
        None
    }

    /// Pauses and goes on, by how the nodes stand.
    pub(super) fn see_to_flow(&mut self, actions: &mut Vec<Action>) {
        let is_paused = self.leading.is_some() && !self.contact.is_alone && self.is_somebody_behind();
        match (self.flow.paused_since, is_paused) {
            (None, true) => {
                self.flow.paused_since = Some(Instant::now());
                self.node.counters.flow_received.add(1);
                self.node.counters.flow_active.add(1);
            }
            (Some(since), true) if since.elapsed().as_millis() > 0 => {
                self.flow.paused_since = Some(Instant::now());
                self.count_pause(since);
            }
            (Some(since), false) => {
                self.flow.paused_since = None;
                self.count_pause(since);
                self.node.counters.flow_active.add(-1);
                self.flow.held_bytes = 0;
                for held in std::mem::take(&mut self.flow.held) {
                    self.take_in(held, actions);
                }
            }
            _ => {}
        }
    }

    fn count_pause(&self, since: Instant) {
        self.node.counters.flow_paused_ns.add(i64::try_from(since.elapsed().as_nanos()).unwrap_or(i64::MAX));
    }
}
