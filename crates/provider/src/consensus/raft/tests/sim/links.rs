//! Links between nodes: streams that keep their order until they break, or worse.

use std::collections::{BTreeMap, BTreeSet};

use super::world::{Event, World};
use crate::consensus::NodeId;
use crate::consensus::proposals::{RequestId, SessionId};
use crate::consensus::raft::{LogId, Membership, Message, Term};
use crate::log::Index;

#[derive(Clone, Debug)]
pub enum Packet {
    Raft(Message, Vec<super::world::Payload>),
    Forward {
        session: SessionId,
        term: Term,
        number: u64,
        request_id: RequestId,
    },
    /// The snapshot; the log continues after it.
    InstallSnapshot {
        term: Term,
        log_id: LogId,
        membership: (Index, Membership),
    },
}

#[derive(Default)]
pub struct Links {
    /// By direction.
    links: BTreeMap<(NodeId, NodeId), Link>,
    partitioned: BTreeSet<(NodeId, NodeId)>,
}

#[derive(Clone, Copy, Default)]
struct Link {
    /// Number of breaks: messages from before the last one do not arrive.
    number: u64,
    last_arrival_ms: u64,
}

impl Links {
    pub fn arrives(&self, from: NodeId, to: NodeId, link: u64) -> bool {
        self.links.get(&(from, to)).is_some_and(|now| now.number == link) && !self.partitioned.contains(&(from, to))
    }

    pub fn partitioned(&mut self, from: NodeId, to: NodeId) {
        self.partitioned.insert((from, to));
    }
}

impl World {
    pub fn send(&mut self, from: NodeId, to: NodeId, packet: Packet) {
        if !self.nodes.contains_key(&to) || self.links.partitioned.contains(&(from, to)) {
            return;
        }
        let is_unordered = self.settings.is_unordered && !self.is_calm;
        let slow_percent = if is_unordered { 20 } else { 3 };
        let slow_ms = if self.rng.percent(slow_percent) { 60 } else { self.settings.delay_ms };
        let delay_ms = self.rng.between(0, slow_ms);
        let copies = match self.rng.between(0, 99) {
            0..=7 if is_unordered => 0,
            8..=15 if is_unordered => 2,
            _ => 1,
        };
        for (copy, packet) in (0..).zip(std::iter::repeat_n(packet, copies)) {
            let link = self.links.links.entry((from, to)).or_default();
            let mut at_ms = self.now_ms + delay_ms + copy * 20;
            if !is_unordered {
                at_ms = at_ms.max(link.last_arrival_ms);
                link.last_arrival_ms = at_ms;
            }
            let event = Event::Deliver { from, to, link: link.number, packet };
            self.at(at_ms - self.now_ms, event);
        }
    }

    /// Messages in flight between the two are lost, in both directions, and both learn of the new link.
    pub fn break_link(&mut self, one: NodeId, other: NodeId) {
        for pair in [(one, other), (other, one)] {
            let link = self.links.links.entry(pair).or_default();
            link.number += 1;
            link.last_arrival_ms = self.now_ms;
            if self.settings.has_link_news {
                self.at(1, Event::LinkIsNew { node: pair.0, other: pair.1 });
            }
        }
    }

    pub fn heal(&mut self) {
        for (from, to) in std::mem::take(&mut self.links.partitioned) {
            self.break_link(from, to);
        }
    }
}
