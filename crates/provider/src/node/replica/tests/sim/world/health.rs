//! Whether nodes are well.

use super::*;

impl World {
    /// Whether the node serves its clients, and none waits; a witness, whether it votes, and a node leads.
    pub fn is_well(&self, slot: Slot) -> bool {
        self.host(slot).is_some_and(|host| {
            if host.witness.is_some() {
                let raft = &self.nodes[&slot].replica.as_ref().expect("it has a host").raft;
                let is_voter = raft.membership().voters.contains(&host.hello.node);
                return host.status.has_quorum
                    && is_voter
                    && raft.leader() != Some(host.hello.node)
                    && !host.disk.log.as_ref().is_some_and(LogRecords::has_lost_tail);
            }
            let ordered = host.order.as_ref().map_or(-1, |order| order.seqno);
            let has_quorum = host.status.has_quorum || host.is_single_node;
            host.is_running
                && host.gate.state() == GateState::Open
                && has_quorum
                && host.waiting.is_empty()
                && host.released() == ordered
                && !host.disk.log.as_ref().is_some_and(LogRecords::has_lost_tail)
        }) && self.nodes[&slot].stopped_until_ms <= self.now_ms
    }

    pub(super) fn is_settled(&self) -> bool {
        let tables = |host: &Process| host.witness.is_none().then(|| host.released());
        let hosts = || self.nodes.keys().filter_map(|slot| self.host(*slot));
        let logs: Vec<_> = hosts().map(|host| host.disk.log.as_ref().map(LogRecords::last)).collect();
        let tables: Vec<i64> = hosts().filter_map(tables).collect();
        let are_equal =
            logs.windows(2).all(|pair| pair[0] == pair[1]) && tables.windows(2).all(|pair| pair[0] == pair[1]);
        let is_at_rest = |slot| {
            self.is_well(slot) && self.is_upgraded(slot) && !self.needs_commit_cut(slot) && self.has_its_votes(slot)
        };
        are_equal && self.nodes.keys().all(|slot| is_at_rest(*slot))
    }

    /// The node has as many votes as it wants.
    fn has_its_votes(&self, slot: Slot) -> bool {
        let replica = self.nodes[&slot].replica.as_ref();
        replica.is_some_and(|replica| {
            let host = &replica.host;
            host.witness.is_some()
                || host.is_single_node
                || replica.raft.membership().weight(host.hello.node) == host.wanted_weight
        })
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
                raft.membership(),
                host.supervisor.stage(),
                host.gate.node_state(),
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
