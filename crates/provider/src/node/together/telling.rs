//! How the node stands: for its own threads, and for its leader.

use std::sync::atomic::Ordering as Atomic;

use super::thread::{GroupThread, PRESENT_MS, Present};
use crate::gate::Passage;
use crate::group::NodeId;
use crate::group::proposals::Ticket;
use crate::group::wire::Frame;
use crate::node::{Ordering, lock};

/// And at the earliest, if something has changed.
const PRESENT_SOON_MS: u64 = 20;
/// Without a leader for so long the node is out of touch. Longer than an election takes.
pub(super) const OUT_OF_TOUCH_MS: u64 = 4_000;

impl GroupThread {
    /// Tells the server's threads how the node stands, and the leader.
    pub(super) fn tell(&mut self) {
        let now = self.now_ms();
        self.see_how_far_it_is();
        let leader = self.raft.leader();
        if leader.is_some() {
            self.leader_seen_ms = now;
        }
        self.contact.is_linked = self.peers.values().any(|peer| peer.away_since_ms.is_none());
        // Before that it may know less than its tables hold.
        let known = match &self.leading {
            Some(leading) => Some(leading.ready_at),
            // A leader that is new may know less than that itself, until something of its own term is agreed on.
            None => {
                let is_of_this_term = self.raft.term_at(self.contact.agreed) == Some(self.raft.term());
                self.heard_committed.filter(|_| is_of_this_term)
            }
        };
        self.contact.in_touch = leader.is_some() && known.is_some_and(|known| self.contact.agreed >= known);
        self.stop_if_left_out();
        if self.is_over {
            return;
        }
        if leader.is_none() && now - self.leader_seen_ms > OUT_OF_TOUCH_MS {
            // One that goes makes no group of its own on its way out.
            if self.node.ignores_majorities() && !self.leaves {
                let mut actions = Vec::new();
                self.bootstrap("pc.ignore_sb", &mut actions);
                self.settle(&mut actions);
            } else {
                self.lose_touch();
            }
        }
        self.together.set_contact(self.contact);
        let present = self.present();
        let is_due = self.told.as_ref().is_none_or(|(told, at)| {
            told.is_behind != present.is_behind
                || told.fault != present.fault
                || *told != present && now - at >= PRESENT_SOON_MS
                || now - at >= PRESENT_MS
        });
        if let Some(leader) = leader.filter(|leader| *leader != self.own())
            && is_due
        {
            self.send_present(leader, present.clone());
            self.told = Some((present, now));
        } else if leader.is_none() && is_due && self.node.log().is_some() {
            // It may have been voted out, or never been in: whoever leads sends to those who say that they are there.
            self.told = Some((present.clone(), now));
            let all: Vec<NodeId> = self.peers.keys().copied().collect();
            all.into_iter().for_each(|node| self.send_present(node, present.clone()));
        }
        self.ask_again(now);
        self.watch_donor(now);
    }

    pub(super) fn send_present(&mut self, to: NodeId, present: Present) {
        let Present { life, applied, wants_view, is_behind, gives_to, fault } = present;
        if is_behind && !self.told.as_ref().is_some_and(|(told, _)| told.is_behind) {
            self.node.counters.flow_sent.add(1);
        }
        let frame = Frame::Present { life, applied, wants_view, is_behind, gives_to, fault };
        self.links.send(to, &frame);
    }

    /// Asked for the place first: one who has failed lets go of turns that were not done.
    pub(super) fn see_how_far_it_is(&mut self) {
        let released = self.node.turns.released();
        if self.node.gate.passage() != Passage::Failed {
            self.applied = released;
        }
    }

    /// How this node stands.
    pub(super) fn present(&self) -> Present {
        let life = self.node.member();
        let is_in = lock(&self.node.order).as_ref().is_some_and(|Ordering { order, .. }| order.is_in_view(life));
        let is_settled = self.together.is_settled.load(Atomic::SeqCst) && self.taken.is_some();
        let is_near = self.taken.is_some_and(|taken| taken == self.contact.agreed) && self.node.receiving.queued() < 64;
        // One that was silent for a moment may have lost its vote, and be in the view still.
        let votes = self.saved.voters.contains_key(&self.own());
        let wants_view = is_settled && is_near && !(is_in && votes) && !self.leaves;
        let gives_to = self.node.gives_to();
        let fault = self.node.inconsistency.fault();
        Present { life, applied: self.applied, wants_view, is_behind: self.is_behind(), gives_to, fault }
    }

    pub(super) fn lose_touch(&mut self) {
        if let Some(life) = self.node.lose_touch(&self.together) {
            self.lives.push(life);
            let proposals = &mut self.proposals;
            // Those that are on their way may come to stand in the order, and those behind them only after them.
            self.payloads.retain(|ticket, _| !proposals.give_up(Ticket(*ticket)));
        }
    }
}
