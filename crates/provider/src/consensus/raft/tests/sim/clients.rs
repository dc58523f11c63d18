//! Clients on all nodes: propose, cancel, and read.

use super::world::{Event, Node, World};
use crate::consensus::NodeId;
use crate::consensus::proposals::RequestId;

/// Limit of waiting proposals of a node: more tests nothing in a long partition.
const WAITING_LIMIT: usize = 40;

impl World {
    pub fn next_client(&mut self) {
        if self.is_calm {
            return;
        }
        let again_ms = self.rng.between(0, 2 * self.settings.client_every_ms);
        self.at(again_ms, Event::Client);
        let up = self.up();
        let Some(node) = self.rng.one_of(&up) else { return };
        match self.rng.between(0, 99) {
            0..=69 => self.propose(node),
            70..=74 => self.cancel(node),
            _ => self.read(),
        }
    }

    fn propose(&mut self, id: NodeId) {
        let count = self.rng.between(1, 4);
        for _ in 0..count {
            let Some(instance) = self.instance(id) else { return };
            if instance.proposals.len() >= WAITING_LIMIT {
                return;
            }
            let request_id = RequestId(instance.next_request_id);
            instance.next_request_id += 1;
            instance.waiting.insert(request_id);
            instance.submit(request_id);
            self.act(id, Vec::new(), &[]);
        }
    }

    fn cancel(&mut self, id: NodeId) {
        let Some(instance) = self.instance(id) else { return };
        let Some(request_id) = instance.waiting.pop_last() else { return };
        if instance.proposals.cancel(request_id) {
            let session = instance.session;
            self.invariants.lost(session, request_id);
        }
    }

    /// Asks a node that believes it is leader; there may be several, and the one of an old term is wrong.
    fn read(&mut self) {
        let leads = |(id, node): (&NodeId, &Node)| {
            let raft = &node.instance.as_ref()?.raft;
            (raft.leader() == Some(*id)).then_some((raft.term(), *id))
        };
        let Some((_, id)) = self.nodes.iter().filter_map(leads).min() else { return };
        self.leave_single_node(id);
        let highest = self.invariants.highest();
        let mut actions = Vec::new();
        let Some(instance) = self.instance(id) else { return };
        if let Some(round) = instance.raft.read_index(&mut actions) {
            instance.reads.push((round, highest));
        }
        self.act(id, actions, &[]);
    }
}
