//! Single-node mode: without other nodes, clients' threads append to the log themselves.
//!
//! The mode ends when another node links: Raft is told the end of the log, and entries need a majority from then on.

use super::Replica;
use super::host::Host;

impl<H: Host> Replica<H> {
    /// Whether other nodes are linked.
    pub(super) fn has_linked_peers(&self) -> bool {
        self.peers.values().any(|peer| peer.unlinked_since_ms.is_none())
    }

    /// Enters single-node mode: clients' threads append to the log themselves. Not before the newest protocol version is in
    /// force: only the leader's duties raise it. At the start, the first view does (`node/startup.rs`).
    pub(super) fn enter_single_node(&mut self) {
        if self.status.is_single_node
            || self.has_linked_peers()
            || self.leader_duties.is_none()
            || !self.raft.is_single_node()
            || !self.host.has_log()
            || self.ordered.index.is_some() && self.hard_state.protocol < self.versions.newest
        {
            return;
        }
        let has_proposals = !self.own.proposals.is_empty() || self.flow_control.holds_any();
        self.status.is_single_node = self.host.enter_single_node(self.ordered.index, has_proposals);
    }

    /// Leaves single-node mode: another node is there, and entries need a majority from now on.
    pub(super) fn leave_single_node(&mut self) {
        if !self.status.is_single_node {
            return;
        }
        let Some(end) = self.host.leave_single_node() else { return };
        self.raft.on_single_node_append(end.last);
        self.ordered.index = Some(end.last);
        self.status.apply_bound = end.last;
        if let Some(leader_duties) = &mut self.leader_duties {
            leader_duties.appended_seqno = end.seqno;
            leader_duties.appended_protocol = end.protocol.max(leader_duties.appended_protocol);
            leader_duties.ready_at = leader_duties.ready_at.min(end.last);
        }
        self.status.is_single_node = false;
    }
}
