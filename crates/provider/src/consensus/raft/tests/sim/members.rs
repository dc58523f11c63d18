//! Nodes that join and leave.

use super::world::{Payload, World};
use crate::consensus::NodeId;
use crate::consensus::raft::Membership;
use crate::log::Index;

/// Limit of nodes in a run, with those that left.
const NODES_LIMIT: usize = 7;
/// Limit of the votes of a voter.
const MOST_VOTES: u8 = 3;
/// A node this near to the end of the log may vote.
const NEAR_ENTRIES: u64 = 5;

impl World {
    fn membership(&self, leader: NodeId) -> Membership {
        self.nodes[&leader].instance.as_ref().map(|instance| instance.raft.membership().clone()).unwrap_or_default()
    }

    /// A new node, or one that left before, becomes a learner.
    pub fn join(&mut self) {
        let Some(leader) = self.leader() else { return };
        let voters = self.membership(leader).voters;
        let outsiders: Vec<NodeId> = self.nodes.keys().copied().filter(|node| !voters.contains(node)).collect();
        let node = match self.rng.one_of(&outsiders) {
            Some(node) if self.nodes.len() >= NODES_LIMIT || self.rng.percent(70) => node,
            _ if self.nodes.len() >= NODES_LIMIT => return,
            _ => {
                let node = NodeId(self.nodes.len() as u64 + 1);
                // A joiner's log begins with a snapshot, which names the voters.
                let membership = Membership::of((1..=self.settings.nodes).map(NodeId));
                self.add_node(node, Some((Index(0), membership)));
                node
            }
        };
        let mut actions = Vec::new();
        if let Some(instance) = self.instance(leader) {
            instance.raft.add_learner(node, &mut actions);
        }
        self.act(leader, actions, &[]);
    }

    /// A learner with nearly all entries gets a vote.
    pub fn promote(&mut self) {
        let Some(leader) = self.leader() else { return };
        let mut membership = self.membership(leader);
        let Some(instance) = self.instance(leader) else { return };
        let last = instance.raft.last().index;
        let near = instance.raft.progress().find(|peer| {
            !membership.voters.contains(&peer.node)
                && peer.match_index.0 + NEAR_ENTRIES >= last.0
                && peer.match_index.0 > 0
        });
        if let Some(near) = near
            && instance.raft.can_change_membership()
        {
            membership.set_weight(near.node, 1);
            self.append(leader, Some(membership), Payload::Members);
        }
    }

    /// Any voter loses a vote, also the leader, and with its last vote its place.
    pub fn leave(&mut self) {
        self.change_weight(|weight| weight - 1);
    }

    /// Any voter gets one vote more.
    pub fn weigh_more(&mut self) {
        self.change_weight(|weight| (weight + 1).min(MOST_VOTES));
    }

    fn change_weight(&mut self, change: impl Fn(u8) -> u8) {
        let Some(leader) = self.leader() else { return };
        let mut membership = self.membership(leader);
        let voters: Vec<NodeId> = membership.voters.iter().copied().collect();
        if let Some(voter) = self.rng.one_of(&voters) {
            membership.set_weight(voter, change(membership.weight(voter)));
            // A refused change (of the last voter, or during another change) does not happen.
            self.append(leader, Some(membership), Payload::Members);
        }
    }
}
