//! Orders committed entries: when, and what follows from each. The host gives them seqno and verdict, and delivers them.
//!
//! Takes entries as fast as the receive queue has room.

use super::Replica;
use super::host::Host;
use crate::consensus::proposals::RequestId;
use crate::consensus::raft::Action;
use crate::consensus::wire::BATCH_LIMIT_BYTES;
use crate::log::Index;

/// How far the node has ordered and applied.
#[derive(Debug, Default)]
pub(super) struct Ordered {
    /// Entries up to here are ordered. None: ordering has not started.
    pub index: Option<Index>,
    /// Entries up to here were scanned for vote results, while there was no room to order them.
    pub scanned_upto: Index,
    /// The last applied seqno while the node was healthy: turns that end after a failure do not count.
    pub applied: i64,
    /// As leader: since when it cannot order committed entries.
    pub stuck_since_ms: Option<u64>,
}

/// Limit of bytes ordered before the links get their turn.
const ORDER_ROUND_LIMIT_BYTES: usize = 4 << 20;

impl<H: Host> Replica<H> {
    /// Orders committed entries.
    pub(super) fn order_committed(&mut self, actions: &mut Vec<Action>) {
        if !self.host.has_log() {
            return;
        }
        let mut steps = Vec::new();
        let mut bytes_taken = 0;
        while let Some(taken) = self.ordered.index
            && taken < self.status.apply_bound
            && bytes_taken < ORDER_ROUND_LIMIT_BYTES
            && !self.round.is_stopped
        {
            let entries = match self.host.entries(taken.next(), BATCH_LIMIT_BYTES) {
                Ok(entries) => entries,
                Err(error) => return self.fail(&format!("the log cannot be read: {error}")),
            };
            for (index, bytes) in entries {
                if index > self.status.apply_bound {
                    break;
                }
                if !self.host.can_order() {
                    self.scan_vote_results(index);
                    bytes_taken = ORDER_ROUND_LIMIT_BYTES;
                    break;
                }
                let entry = match self.host.order_committed(index, &bytes, &self.own.member_ids) {
                    Ok(Some(entry)) => entry,
                    Ok(None) => {
                        bytes_taken = ORDER_ROUND_LIMIT_BYTES;
                        break;
                    }
                    Err(_) => {
                        self.round.is_stopped = true;
                        return;
                    }
                };
                bytes_taken += bytes.len();
                self.ordered.index = Some(index);
                let own = entry
                    .request
                    .filter(|(source, _)| self.own.member_ids.contains(source))
                    .map(|(_, request_id)| request_id);
                self.own.proposals.on_committed(entry.term, own.map(RequestId), &mut steps);
                if let Some(request_id) = own {
                    self.own.payloads.remove(&request_id);
                }
                if entry.is_excluded {
                    self.host.note("the cluster has excluded this node from the view");
                    self.lose_quorum();
                }
            }
        }
        self.answer_ready_reads();
        self.run_steps(steps, actions);
    }
}
