//! The node's state, for its status variables.

use std::sync::Arc;

use super::cluster::{ClusterHandle, RaftStatus};
use super::{Node, OrderState, lock};
use crate::identity::Uuid;
use crate::node_state::NodeState;
use crate::server::Member;
use crate::statistics::{Latencies, QueueLengths};

/// The node's state at one moment.
#[derive(Clone, Debug)]
pub struct NodeStatus {
    /// The history UUID.
    pub history_uuid: Uuid,
    /// The member ID.
    pub member: Uuid,
    /// The last committed seqno.
    pub last_committed: i64,
    /// Number of waits for a turn to commit.
    pub waits: i64,
    /// Its state.
    pub state: NodeState,
    /// Number of keys in the certification index.
    pub keys: i64,
    /// Number of open transactions.
    pub transactions: i64,
    /// The members' addresses for clients.
    pub incoming: String,
    /// Number of votes of the members of the view.
    pub weight: i64,
    /// The first index of the log.
    pub log_first: i64,
    /// Length of the receive queue.
    pub queued: i64,
    /// The same, over time.
    pub recv_lengths: QueueLengths,
    /// Number of write sets of this node that wait for their seqnos.
    pub pending: i64,
    /// The same, over time.
    pub pending_lengths: QueueLengths,
    /// How long they have waited.
    pub latencies: Latencies,
    /// Whether the node is connected, and has a leader.
    pub connection: ConnectionState,
    /// Raft's state.
    pub raft: Arc<RaftStatus>,
}

/// The node's connection to its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    /// The node is not connected.
    Closed,
    /// The node leaves.
    Leaving,
    /// There is no leader, or none that this node knows.
    NoQuorum,
    /// There is a leader.
    Quorum,
}

impl Node {
    /// The node's state now.
    pub fn status(&self) -> NodeStatus {
        let (history_uuid, keys, members) =
            lock(&self.order).as_ref().map_or((Uuid::UNDEFINED, 0, Vec::new()), |OrderState { order, .. }| {
                (order.history_uuid, order.keys() as i64, order.members().to_vec())
            });
        let state = self.gate.node_state();
        let log = self.log();
        let cluster = self.cluster();
        let (pending_lengths, latencies) =
            cluster.as_ref().map_or_else(Default::default, |cluster| cluster.pending_proposals.statistics());
        let connection = match &cluster {
            None => ConnectionState::Closed,
            Some(cluster) if cluster.is_leaving() => ConnectionState::Leaving,
            Some(cluster) => {
                let status = cluster.status();
                let is_quorum = status.has_quorum || status.is_single_node;
                if is_quorum { ConnectionState::Quorum } else { ConnectionState::NoQuorum }
            }
        };
        let raft = self.raft_status(cluster.as_deref());
        let votes = |member: &Member| {
            let peer = raft.peers.iter().find(|peer| peer.name == member.name);
            let weight = if member.id == self.member_id() { Some(raft.weight) } else { peer.map(|peer| peer.weight) };
            i64::from(weight.unwrap_or(1).max(1))
        };
        let weight = members.iter().map(votes).sum();
        let incoming: Vec<String> = members.into_iter().map(|member| member.incoming).collect();
        let is_member = state.takes_part();
        NodeStatus {
            history_uuid,
            member: self.member_id(),
            last_committed: self.commit_monitor.last_left(),
            waits: self.commit_monitor.waits() as i64,
            state,
            keys,
            transactions: self.transactions.count() as i64,
            incoming: if is_member { incoming.join(",") } else { String::new() },
            weight: if is_member { weight } else { 0 },
            log_first: log.map_or(0, |log| log.first().0 as i64),
            queued: self.recv_queue.queued() as i64,
            recv_lengths: self.recv_queue.lengths(),
            pending: cluster.as_ref().map_or(0, |cluster| cluster.pending_proposals.len() as i64),
            pending_lengths,
            latencies,
            connection,
            raft,
        }
    }

    fn raft_status(&self, cluster: Option<&ClusterHandle>) -> Arc<RaftStatus> {
        let Some(cluster) = cluster else { return Arc::default() };
        let status = cluster.raft_status();
        // Clients' threads append to the log of a single node, and Raft learns of it when that ends.
        match self.log().filter(|_| cluster.status().is_single_node) {
            Some(log) => {
                let last = log.last();
                // Its votes change when another node joins.
                let weight = self.limits.weight();
                let (last_index, commit_index, applied_index) = (last, last, last);
                Arc::new(RaftStatus { last_index, commit_index, applied_index, weight, ..(*status).clone() })
            }
            None => status,
        }
    }
}
