//! What a leader does about votes: who joined and has nearly everything gets one, who leaves gives it back, and whose node is gone
//! loses it where it would be in the way of the others.

use super::leading::{AWAY_MS, GRACE_MS, NEAR};
use super::next_voters::{Presence, Voters, next_voters};
use super::thread::{GroupThread, Peer};
use crate::entry::{self, Voter};
use crate::group::NodeId;
use crate::group::wire::Frame;
use crate::node::lock;

impl GroupThread {
    /// One at a time comes or goes. True: something is under way.
    pub(super) fn see_to_votes(&mut self) -> bool {
        let now = self.now_ms();
        for (node, peer) in &self.peers {
            if self.saved.voters.contains_key(node) {
                continue;
            }
            if peer.leaves {
                self.links.send(*node, &Frame::Left);
            }
            // It is sent entries again when it says that it is there.
            if peer.away_since_ms.is_some_and(|since| now - since > AWAY_MS) {
                self.raft.forget(*node);
            }
        }
        if !self.raft.may_change_membership() {
            return false;
        }
        let voters = self.saved.voters.clone();
        if self.is_new_group {
            self.is_new_group = false;
            return self.propose_voters(voters);
        }
        let leaver = self.peers.iter().find(|(node, peer)| peer.leaves && voters.contains_key(node));
        let leaver = leaver.map(|(node, _)| *node).or_else(|| (self.leaves && voters.len() > 1).then(|| self.own()));
        let asked_ms = self.asked_to_go_ms(leaver);
        let presence = |node| if leaver.is_some() { self.heard_since(node, asked_ms) } else { self.presence(node) };
        let Some(voters) = next_voters(&voters, leaver, self.who_may_vote(), presence) else { return false };
        self.propose_voters(voters)
    }

    fn propose_voters(&mut self, voters: Voters) -> bool {
        let voters: Vec<Voter> = voters.into_iter().map(|(node, address)| Voter { node, address }).collect();
        self.propose(entry::encode_group(&voters), Some(&voters))
    }

    /// Since when that one has been the next to go.
    fn asked_to_go_ms(&mut self, leaver: Option<NodeId>) -> u64 {
        let now = self.now_ms();
        let Some(leading) = &mut self.leading else { return now };
        if leading.leaver.map(|(node, _)| node) != leaver {
            leading.leaver = leaver.map(|node| (node, now));
        }
        leading.leaver.map_or(now, |(_, since)| since)
    }

    /// Whether a voter can be counted on when another goes: it has answered since that was asked for.
    fn heard_since(&self, node: NodeId, asked_ms: u64) -> Presence {
        let peer = self.peers.get(&node);
        let is_linked = peer.is_some_and(|peer| peer.away_since_ms.is_none());
        let has_answered =
            || self.raft.progress().any(|progress| progress.node == node && progress.heard_ms > asked_ms);
        if node == self.own() || is_linked && has_answered() {
            return if self.has_tables(node) { Presence::There } else { Presence::Empty };
        }
        // A link may be made anew, or be on its way to a leader that is new.
        let led_since = self.leading.as_ref().map_or(0, |leading| leading.since_ms);
        let away_since = peer.and_then(|peer| peer.away_since_ms).unwrap_or(asked_ms);
        let is_given_up = self.now_ms() - led_since.max(away_since) >= AWAY_MS;
        if is_given_up { Presence::Gone } else { Presence::Unknown }
    }

    /// Whether that node can go on with what is agreed on: it is in the view, or asks for one.
    pub(super) fn has_tables(&self, node: NodeId) -> bool {
        if node == self.own() {
            return self.taken.is_some() && !self.waits_for_tables();
        }
        let Some((present, _)) = self.peers.get(&node).and_then(|peer| peer.present.as_ref()) else { return false };
        let is_in = || lock(&self.node.order).as_ref().is_some_and(|order| order.order.is_in_view(present.life));
        present.wants_view || is_in()
    }

    /// It is to be given another's tables, or they are on their way.
    pub(super) fn waits_for_tables(&self) -> bool {
        self.wants.is_some() || self.contact.joins_behind.is_some() && self.taken.is_none()
    }

    /// Whether a voter is there, by the rules by which views are made.
    fn presence(&self, node: NodeId) -> Presence {
        let now = self.now_ms();
        let since = self.leading.as_ref().map_or(now, |leading| leading.since_ms);
        match self.peers.get(&node) {
            _ if node == self.own() => Presence::There,
            Some(peer) if peer.is_near(now) => Presence::There,
            // A new leader has not met all of them yet.
            _ if now - since < GRACE_MS => Presence::Unknown,
            _ => Presence::Gone,
        }
    }

    fn who_may_vote(&self) -> Option<(NodeId, String)> {
        let near = self.contact.agreed.0.saturating_sub(NEAR);
        self.raft.progress().find_map(|progress| {
            let peer = self.peers.get(&progress.node)?;
            let waits = peer.present.as_ref().is_some_and(|(present, _)| present.wants_view);
            let may = waits
                && !peer.leaves
                && peer.away_since_ms.is_none()
                && progress.matched.0 >= near
                && self.who_is_at(&peer.hello.address, progress.node).is_none();
            (may && !self.saved.voters.contains_key(&progress.node))
                .then(|| (progress.node, peer.hello.address.clone()))
        })
    }

    /// Another node that is there and says that it is found at that address, this one included.
    pub(super) fn who_is_at(&self, address: &str, besides: NodeId) -> Option<NodeId> {
        let is_there = |(node, peer): &(&NodeId, &Peer)| {
            **node != besides && peer.away_since_ms.is_none() && peer.hello.address == address
        };
        let other = self.peers.iter().find(is_there).map(|(node, _)| *node);
        other.or_else(|| (self.links.own().address == address).then(|| self.own()))
    }
}
