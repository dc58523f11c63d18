//! Faults.

use super::world::{Event, Node, World};
use crate::consensus::NodeId;
use crate::log::Index;

#[derive(Clone, Copy, Debug)]
pub enum Fault {
    Crash,
    /// A crash, and the disk loses durable entries; on one node at a time.
    LoseTail,
    CrashAll,
    Restart,
    /// The next write fails, and ends the instance.
    FillDisk,
    /// One side hears nothing of the other.
    Partition,
    /// One node's messages do not reach one other.
    PartitionOneWay,
    Heal,
    BreakLink,
    /// Like SIGSTOP; messages wait.
    Stop,
    TransferLeadership,
    Purge,
    Join,
    Promote,
    Leave,
    /// A voter gets one vote more.
    Weigh,
}

impl World {
    pub fn next_fault(&mut self) {
        if self.is_calm {
            return;
        }
        if self.rng.percent(70) {
            self.leave_single_nodes();
        }
        let every_ms = self.settings.fault_every_ms;
        let again_ms = self.rng.between(1, 2 * every_ms);
        self.at(again_ms, Event::Fault);
        let all: u64 = self.settings.faults.iter().map(|(weight, _)| weight).sum();
        let mut left = self.rng.between(1, all);
        let chosen = self.settings.faults.iter().find(|(weight, _)| {
            let is_it = left <= *weight;
            left = left.saturating_sub(*weight);
            is_it
        });
        let fault = chosen.expect("the weights sum up to all").1;
        self.happens(fault);
    }

    fn happens(&mut self, fault: Fault) {
        let up = self.up();
        let all: Vec<NodeId> = self.nodes.keys().copied().collect();
        let (Some(one), Some(other)) = (self.rng.one_of(&all), self.rng.one_of(&all)) else { return };
        match fault {
            Fault::Crash => {
                self.crash(one);
                let longest_ms = if self.rng.percent(50) { 8 } else { 400 };
                let in_ms = self.rng.between(1, longest_ms);
                self.at(in_ms, Event::Restart { node: one });
            }
            Fault::LoseTail => self.lose_tail(one),
            Fault::CrashAll => {
                for node in up {
                    self.crash(node);
                    let in_ms = self.rng.between(1, 50);
                    self.at(in_ms, Event::Restart { node });
                }
            }
            Fault::Restart => self.at(1, Event::Restart { node: one }),
            Fault::FillDisk => self.nodes.get_mut(&one).expect("nodes stay").is_full = true,
            Fault::Partition => {
                let side: Vec<NodeId> = all.iter().copied().filter(|_| self.rng.percent(40)).collect();
                for &inside in &side {
                    for &outside in all.iter().filter(|node| !side.contains(node)) {
                        self.links.partitioned(inside, outside);
                        self.links.partitioned(outside, inside);
                    }
                }
            }
            Fault::PartitionOneWay => self.links.partitioned(one, other),
            Fault::Heal => self.heal(),
            Fault::BreakLink if one != other => self.break_link(one, other),
            Fault::BreakLink => {}
            Fault::Stop => {
                let for_ms = self.rng.between(20, 400);
                self.nodes.get_mut(&one).expect("nodes stay").stopped_until_ms = self.now_ms + for_ms;
            }
            Fault::TransferLeadership | Fault::Join | Fault::Promote | Fault::Leave | Fault::Weigh => {
                self.change(fault, other);
            }
            Fault::Purge => self.purge(one),
        }
    }

    /// Faults that make calls to a leader.
    fn change(&mut self, fault: Fault, other: NodeId) {
        self.leave_single_nodes();
        match fault {
            Fault::TransferLeadership => self.transfer_leadership(other),
            Fault::Join => self.join(),
            Fault::Promote => self.promote(),
            Fault::Weigh => self.weigh_more(),
            _ => {
                self.leave();
                // The second change is refused until the first is committed.
                if self.rng.percent(40) {
                    self.leave();
                }
            }
        }
    }

    /// No more faults; all nodes run.
    pub fn end_faults(&mut self) {
        self.is_calm = true;
        self.heal();
        let all: Vec<NodeId> = self.nodes.keys().copied().collect();
        for id in all {
            let node = self.nodes.get_mut(&id).expect("nodes stay");
            node.is_full = false;
            node.stopped_until_ms = 0;
            if node.instance.is_none() {
                self.start(id);
            }
        }
    }

    fn transfer_leadership(&mut self, to: NodeId) {
        let Some(leader) = self.leader() else { return };
        let mut actions = Vec::new();
        if let Some(instance) = self.instance(leader) {
            instance.raft.transfer_leadership(to, &mut actions);
        }
        self.act(leader, actions, &[]);
    }

    /// The committed entries are on the disk of another voter, and no leader commits with this disk alone.
    fn lose_tail(&mut self, id: NodeId) {
        let is_other_lost = self.nodes.iter().any(|(other, node)| *other != id && node.disk.has_lost_tail);
        let counts_alone = |node: &Node| {
            let voters = node.instance.as_ref().map(|instance| &instance.raft.membership().voters);
            voters.is_some_and(|voters| voters.iter().eq([&id]))
        };
        if is_other_lost || self.nodes[&id].instance.is_none() || self.nodes.values().any(counts_alone) {
            return;
        }
        self.crash(id);
        let order = self.invariants.order();
        let voters =
            self.invariants.voters().cloned().unwrap_or_else(|| (1..=self.settings.nodes).map(NodeId).collect());
        let others = self.nodes.iter().filter(|(other, _)| **other != id && voters.contains(other));
        let on_others = others.map(|(_, node)| node.disk.holds_of(order)).max().unwrap_or_default();
        let node = self.nodes.get_mut(&id).expect("nodes stay");
        let here = node.disk.holds_of(order);
        let keeps = if here <= on_others { Index(0) } else { here };
        node.disk.lose_tail(keeps, &mut self.rng);
        let last = node.disk.last();
        self.trace(|| format!("{id} loses its tail after {}", last.0));
        let in_ms = self.rng.between(1, 100);
        self.at(in_ms, Event::Restart { node: id });
    }

    /// Purges the front of a log, up to somewhere within the applied entries.
    fn purge(&mut self, id: NodeId) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let Some(instance) = node.instance.as_mut() else { return };
        if instance.is_single_node {
            instance.raft.on_single_node_append(node.disk.last());
        }
        let upto = self.rng.between(node.disk.last_purged().index.0, instance.applied.0);
        let log_id = node.disk.log_id(Index(upto));
        node.disk.purge(log_id);
        instance.raft.on_purged(log_id);
    }
}
