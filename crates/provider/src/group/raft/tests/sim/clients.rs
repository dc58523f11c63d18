//! Clients at all nodes: they propose, give up, and read.

use super::world::{Event, Node, World};
use crate::group::NodeId;
use crate::group::proposals::Ticket;

/// A node waits for this many at most: in a long cut nothing is gained by more.
const WAITING_LIMIT: usize = 40;

impl World {
    pub fn next_client(&mut self) {
        if self.is_calm {
            return;
        }
        let again_ms = self.chance.between(0, 2 * self.settings.client_every_ms);
        self.at(again_ms, Event::Client);
        let up = self.up();
        let Some(node) = self.chance.one_of(&up) else { return };
        match self.chance.between(0, 99) {
            0..=69 => self.propose(node),
            70..=74 => self.give_up(node),
            _ => self.read(),
        }
    }

    fn propose(&mut self, id: NodeId) {
        let count = self.chance.between(1, 4);
        for _ in 0..count {
            let Some(life) = self.life(id) else { return };
            if life.proposals.len() >= WAITING_LIMIT {
                return;
            }
            let ticket = Ticket(life.next_ticket);
            life.next_ticket += 1;
            life.waiting.insert(ticket);
            life.submit(ticket);
            self.act(id, Vec::new(), &[]);
        }
    }

    fn give_up(&mut self, id: NodeId) {
        let Some(life) = self.life(id) else { return };
        let Some(ticket) = life.waiting.pop_last() else { return };
        if life.proposals.give_up(ticket) {
            let origin = life.origin;
            self.invariants.withdrawn(origin, ticket);
        }
    }

    /// Asks a node that believes that it leads; there may be more than one, and the one of the oldest term is wrong.
    fn read(&mut self) {
        let leads = |(id, node): (&NodeId, &Node)| {
            let raft = &node.life.as_ref()?.raft;
            (raft.leader() == Some(*id)).then_some((raft.term(), *id))
        };
        let Some((_, id)) = self.nodes.iter().filter_map(leads).min() else { return };
        let highest = self.invariants.highest();
        let mut actions = Vec::new();
        let Some(life) = self.life(id) else { return };
        if let Some(round) = life.raft.confirm(&mut actions) {
            life.reads.push((round, highest));
        }
        self.act(id, actions, &[]);
    }
}
