//! Whether nodes are well.

use super::*;

impl World {
    /// Whether the node serves its clients, and none waits.
    pub fn is_well(&self, slot: Slot) -> bool {
        self.host(slot).is_some_and(|host| {
            let ordered = host.order.as_ref().map_or(-1, |order| order.seqno);
            let has_quorum = host.status.has_quorum || host.is_single_node;
            host.stage == Stage::Running
                && host.gate == GateState::Open
                && has_quorum
                && host.waiting.is_empty()
                && host.released() == ordered
                && !host.disk.log.as_ref().is_some_and(LogRecords::has_lost_tail)
        }) && self.nodes[&slot].stopped_until_ms <= self.now_ms
    }

    pub(super) fn is_settled(&self) -> bool {
        let ends = |host: &Process| (host.released(), host.disk.log.as_ref().map(LogRecords::last));
        let mut all = self.nodes.keys().filter_map(|slot| self.host(*slot)).map(ends);
        let first = all.next();
        let are_equal = all.all(|other| Some(other) == first);
        are_equal && self.nodes.keys().all(|slot| self.is_well(*slot) && !self.needs_commit_cut(*slot))
    }

    /// A commit cut is due: else the certification index is small.
    fn needs_commit_cut(&self, slot: Slot) -> bool {
        self.host(slot).and_then(|host| host.order.as_ref()).is_some_and(TotalOrder::needs_commit_cut)
    }

    pub(super) fn describe(&self) -> String {
        let mut text = String::new();
        for (slot, node) in &self.nodes {
            let Some(host) = self.host(*slot) else {
                text += &format!("{slot:?} is down\n");
                continue;
            };
            let raft = &node.replica.as_ref().expect("it is up").raft;
            text += &format!(
                "{slot:?} {} {:?} {:?} leader {:?} last {:?} voters {:?}, {:?} {:?}, {:?}\n ordered {:?} released {} queue {} \
                 waiting {} apply error {:?} linked {:?}\n published {:?}\n",
                host.hello.node,
                raft.role(),
                raft.term(),
                raft.leader(),
                raft.last(),
                raft.membership().voters,
                host.stage,
                host.gate,
                host.status,
                host.order.as_ref().map(|order| (order.seqno, order.members().len())),
                host.released(),
                host.queue.len(),
                host.waiting.len(),
                host.inconsistency.apply_error(),
                host.linked,
                host.raft_status,
            );
        }
        text
    }
}
