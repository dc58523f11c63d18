//! Purges the log, on single nodes too: what is purged, and what single nodes append, Raft must know, since it sends the
//! log to others. What must stay: `retention`.

use super::Replica;
use super::host::Host;
use super::retention::LinkedNode;
use crate::consensus::raft::LogId;
use crate::log::Index;
use crate::node::TotalOrder;

/// Interval of purges.
const PURGE_INTERVAL_MS: u64 = 500;

impl<H: Host> Replica<H> {
    /// Purges what nobody needs, if it is time.
    pub(super) fn purge_log(&mut self) {
        let now = self.now_ms();
        if now < self.purge_at_ms {
            return;
        }
        self.purge_at_ms = now + PURGE_INTERVAL_MS;
        // Without a majority nothing new is committed, and the voter that makes it one may need everything that is here.
        if !self.host.has_log() || !(self.status.has_quorum || self.status.is_single_node) {
            return;
        }
        if let Some(point) = self.host.with_order(TotalOrder::snapshot_point).flatten() {
            self.retention.add_point(point.index, point.last_seqno_before);
        }
        let linked: Vec<LinkedNode> = self
            .raft
            .progress()
            .filter_map(|progress| {
                let peer = self.peers.get(&progress.node).filter(|peer| peer.unlinked_since_ms.is_none())?;
                let (match_index, needs_snapshot) = (progress.match_index, progress.needs_snapshot);
                Some(LinkedNode { match_index, needs_snapshot, snapshot: peer.snapshot })
            })
            .collect();
        let Some(below) = self.retention.purge_below(now, self.ordered.applied, linked) else { return };
        if self.status.is_single_node {
            self.report_single_node_log();
        }
        // A leader commits nothing more if it lacks entries that a new voter needs.
        let below = self.raft.majority_index().map_or(below, |majority_index| below.min(majority_index.next()));
        // The entry before the needed ones stays: it stands for all purged ones, and its term is in it.
        self.host.purge(Index(below.0 - 1));
        if let Some((first, _)) = self.host.bounds()
            && first > self.raft.last_purged().index.next()
            && let Some(term) = self.raft.term_at(first)
        {
            self.raft.on_purged(LogId { term, index: first });
        }
    }

    /// A single node: tells Raft what clients' threads have appended.
    fn report_single_node_log(&mut self) {
        if self.raft.is_single_node() {
            self.raft.on_single_node_append(self.host.flushed());
        }
    }
}
