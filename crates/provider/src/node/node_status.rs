//! The node's state, for its status variables.

use std::sync::atomic::Ordering as Atomic;

use super::{Node, OrderState, lock};
use crate::gate::GateState;
use crate::identity::Uuid;

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
    /// 0 initialized, 1 joining, 2 desynced, 3 joined, 4 synced.
    pub state: i64,
    /// Number of keys in the certification index.
    pub keys: i64,
    /// Number of open transactions.
    pub transactions: i64,
    /// The members' addresses for clients.
    pub incoming: String,
    /// The node's own weight: all votes count the same here.
    pub weight: i64,
    /// The first index of the log.
    pub log_first: i64,
    /// Length of the receive queue.
    pub queued: i64,
}

impl Node {
    /// The node's state now.
    pub fn status(&self) -> NodeStatus {
        let (history_uuid, keys, members) =
            lock(&self.order).as_ref().map_or((Uuid::UNDEFINED, 0, Vec::new()), |OrderState { order, .. }| {
                (order.history_uuid, order.keys() as i64, order.members().to_vec())
            });
        let incoming: Vec<String> = members.into_iter().map(|member| member.incoming).collect();
        let is_donor = self.recv_queue.is_donating.load(Atomic::SeqCst);
        let state = match self.gate.state() {
            GateState::Open | GateState::Paused if is_donor || self.counters.desync_count.get() > 0 => 2,
            GateState::Open | GateState::Paused => 4,
            GateState::Closed if self.recv_queue.is_connected() => 1,
            GateState::Closed | GateState::Failed => 0,
        };
        let log = self.log();
        let is_member = state > 1;
        NodeStatus {
            history_uuid,
            member: self.member_id(),
            last_committed: self.commit_monitor.last_left(),
            waits: self.commit_monitor.waits() as i64,
            state,
            keys,
            transactions: self.transactions.count() as i64,
            incoming: if is_member { incoming.join(",") } else { String::new() },
            weight: if is_member { lock(&self.options).weight() } else { 0 },
            log_first: log.map_or(0, |log| log.first().0 as i64),
            queued: self.recv_queue.queued() as i64,
        }
    }
}
