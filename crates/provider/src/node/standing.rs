//! How a node stands, for its status variables.

use std::sync::atomic::Ordering as Atomic;

use super::{Node, Ordering, lock};
use crate::gate::Passage;
use crate::identity::Uuid;

/// How a node stands at one moment.
#[derive(Clone, Debug)]
pub struct Standing {
    /// Its history.
    pub history: Uuid,
    /// This life of it.
    pub member: Uuid,
    /// Committed up to here.
    pub left: i64,
    /// How many had to wait for their turn to commit.
    pub waits: i64,
    /// 0 initialized, 1 joining, 2 desynced, 3 joined, 4 synced.
    pub state: i64,
    /// Keys that certification remembers.
    pub keys: i64,
    /// Transactions that have something to order.
    pub transactions: i64,
    /// Where clients find the members.
    pub incoming: String,
    /// Its own weight: all votes count alike here.
    pub weight: i64,
    /// The first entry of the log.
    pub log_first: i64,
    /// Write sets that wait to be applied here.
    pub queued: i64,
}

impl Node {
    /// How it stands.
    pub fn standing(&self) -> Standing {
        let (history, keys, members) =
            lock(&self.order).as_ref().map_or((Uuid::UNDEFINED, 0, Vec::new()), |Ordering { order, .. }| {
                (order.history, order.keys() as i64, order.members().to_vec())
            });
        let incoming: Vec<String> = members.into_iter().map(|member| member.incoming).collect();
        let is_donor = self.receiving.donates.load(Atomic::SeqCst);
        let state = match self.gate.passage() {
            Passage::Open | Passage::Paused if is_donor || self.counters.desync_count.get() > 0 => 2,
            Passage::Open | Passage::Paused => 4,
            Passage::Closed if self.receiving.is_connected() => 1,
            Passage::Closed | Passage::Failed => 0,
        };
        let log = self.log();
        let is_member = state > 1;
        Standing {
            history,
            member: self.member(),
            left: self.turns.left(),
            waits: self.turns.waits() as i64,
            state,
            keys,
            transactions: self.transactions.count() as i64,
            incoming: if is_member { incoming.join(",") } else { String::new() },
            weight: if is_member { lock(&self.options).weight() } else { 0 },
            log_first: log.map_or(0, |log| log.first().0 as i64),
            queued: self.receiving.queued() as i64,
        }
    }
}
