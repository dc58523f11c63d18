//! Links between processes: streams that keep their order until they end, and partitions that stop one direction or both.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::world::{Arrival, Event, Slot, World};
use crate::consensus::lineage::LineageRelation;
use crate::consensus::links::{self, link_version};
use crate::consensus::wire::Frame;

/// Interval of attempts to connect.
const DIAL_INTERVAL_MS: u64 = 1_000;
/// A link that is silent for that long ends.
const SILENCE_TIMEOUT_MS: u64 = 5_000;

#[derive(Default)]
pub struct Links {
    /// By pair, the lower slot first.
    links: BTreeMap<(Slot, Slot), Link>,
    /// Nothing arrives from the first at the second.
    blocked: BTreeSet<(Slot, Slot)>,
}

#[derive(Default)]
struct Link {
    /// Frames of earlier links do not arrive.
    number: u64,
    is_up: bool,
    is_dialled: bool,
    last_arrival_ms: BTreeMap<Slot, u64>,
    /// Frames that a partition holds back, by receiver.
    held: BTreeMap<Slot, VecDeque<Frame>>,
}

fn pair(one: Slot, other: Slot) -> (Slot, Slot) {
    (one.min(other), one.max(other))
}

impl Links {
    pub fn is_blocked(&self, one: Slot, other: Slot) -> bool {
        self.blocked.contains(&(one, other)) || self.blocked.contains(&(other, one))
    }

    pub fn has_partition(&self) -> bool {
        !self.blocked.is_empty()
    }

    fn is_current(&self, one: Slot, other: Slot, number: u64) -> bool {
        self.links.get(&pair(one, other)).is_some_and(|link| link.is_up && link.number == number)
    }
}

impl World {
    pub fn send(&mut self, from: Slot, to: Slot, frame: Frame) {
        let slow_ms = if self.rng.percent(2) { 80 } else { self.settings.delay_ms };
        let delay_ms = self.rng.between(0, slow_ms);
        let now_ms = self.now_ms;
        let frame = if self.settings.has_upgrades { self.through_wire(from, to, frame) } else { Some(frame) };
        let Some(frame) = frame else { return };
        let Some(link) = self.links.links.get_mut(&pair(from, to)).filter(|link| link.is_up) else { return };
        let last = link.last_arrival_ms.entry(to).or_default();
        let at_ms = (now_ms + delay_ms).max(*last);
        *last = at_ms;
        let number = link.number;
        self.at(at_ms - now_ms, Event::Deliver { from, to, link: number, frame });
    }

    /// A frame arrives, or waits behind a partition.
    pub fn deliver(&mut self, from: Slot, to: Slot, number: u64, frame: Frame) {
        if !self.links.is_current(from, to, number) {
            return;
        }
        if self.links.blocked.contains(&(from, to)) {
            let link = self.links.links.get_mut(&pair(from, to)).expect("it is current");
            return link.held.entry(to).or_default().push_back(frame);
        }
        let Some(node) = self.node_id(from) else { return };
        if !matches!(frame, Frame::MemberStatus(_)) {
            self.trace(|| format!("{to:?} gets {frame:?} of {from:?}"));
        }
        self.arrive(to, Arrival::Link(Box::new(links::Event::Message { from: node, frame })));
    }

    pub fn block(&mut self, from: Slot, to: Slot) {
        if from != to && self.links.blocked.insert((from, to)) {
            // A leader that does not see a donor cannot know that its script runs.
            for slot in [from, to] {
                if let Some(host) = self.host_mut(slot) {
                    host.is_sst_cut |= host.is_donating;
                }
            }
            let in_ms = self.rng.between(SILENCE_TIMEOUT_MS / 5, SILENCE_TIMEOUT_MS);
            let number = self.links.links.get(&pair(from, to)).map_or(0, |link| link.number);
            self.at(in_ms, Event::Silence { one: from, other: to, link: number });
        }
    }

    pub fn silence(&mut self, one: Slot, other: Slot, number: u64) {
        if self.links.is_blocked(one, other) && self.links.is_current(one, other, number) {
            self.break_link(one, other);
        }
    }

    /// All partitions end: held frames arrive.
    pub fn heal(&mut self) {
        self.links.blocked.clear();
        let pairs: Vec<(Slot, Slot)> = self.links.links.keys().copied().collect();
        for (one, other) in pairs {
            for (from, to) in [(one, other), (other, one)] {
                let link = self.links.links.get_mut(&(one, other)).expect("its key is there");
                for frame in link.held.remove(&to).unwrap_or_default() {
                    self.send(from, to, frame);
                }
            }
        }
    }

    /// The node has another lineage: links to nodes of other generations end.
    pub fn check_generations(&mut self, slot: Slot) {
        let others: Vec<Slot> = self.nodes.keys().copied().filter(|other| *other != slot).collect();
        for other in others {
            let (Some(one), Some(two)) = (self.host(slot), self.host(other)) else { continue };
            if one.hello.lineage.relation_to(&two.hello.lineage) != LineageRelation::Same {
                self.break_link(slot, other);
            }
        }
    }

    /// The link ends; each side learns that.
    pub fn break_link(&mut self, one: Slot, other: Slot) {
        let Some(link) = self.links.links.get_mut(&pair(one, other)).filter(|link| link.is_up) else { return };
        link.is_up = false;
        link.held.clear();
        let number = link.number;
        for (at, from) in [(one, other), (other, one)] {
            let in_ms = self.rng.between(1, 40);
            self.at(in_ms, Event::Down { at, from, link: number });
        }
        self.dial(one, other);
    }

    pub fn break_links_of(&mut self, slot: Slot) {
        let others: Vec<Slot> = self.nodes.keys().copied().filter(|other| *other != slot).collect();
        others.into_iter().for_each(|other| self.break_link(slot, other));
    }

    /// A link of this node has ended some time ago.
    pub fn down(&mut self, at: Slot, from: Slot, number: u64) {
        let is_newer = self.links.links.get(&pair(at, from)).is_some_and(|link| link.number > number);
        let Some(node) = self.linked_id(at, from).filter(|_| !is_newer) else { return };
        let why = "the simulated link has ended".to_owned();
        self.arrive(at, Arrival::Link(Box::new(links::Event::Down { node, why })));
    }

    /// The two nodes try to connect from now on.
    pub fn dial(&mut self, one: Slot, other: Slot) {
        let in_ms = self.rng.between(50, DIAL_INTERVAL_MS);
        let link = self.links.links.entry(pair(one, other)).or_default();
        if one != other && !std::mem::replace(&mut link.is_dialled, true) {
            self.at(in_ms, Event::Connect { one, other });
        }
    }

    pub fn connect(&mut self, one: Slot, other: Slot) {
        let link = self.links.links.entry(pair(one, other)).or_default();
        link.is_dialled = false;
        if link.is_up {
            return;
        }
        let (Some(first), Some(second)) = (self.host(one), self.host(other)) else { return };
        let (first, second) = (first.hello.clone(), second.hello.clone());
        let is_stopped = [one, other].iter().any(|slot| self.nodes[slot].stopped_until_ms > self.now_ms);
        if self.links.is_blocked(one, other) || is_stopped {
            return self.dial(one, other);
        }
        if let Err(text) = link_version(&first, &second) {
            for (slot, address) in [(one, &second.address), (other, &first.address)] {
                let (address, text) = (address.clone(), text.clone());
                self.arrive(slot, Arrival::Link(Box::new(links::Event::Refused { address, text })));
            }
            return self.dial(one, other);
        }
        let relation = first.lineage.relation_to(&second.lineage);
        if relation != LineageRelation::Same {
            for (slot, relation, other) in
                [(one, relation, &second), (other, second.lineage.relation_to(&first.lineage), &first)]
            {
                let (text, other) = ("another generation".to_owned(), Box::new(other.clone()));
                let event = links::Event::LineageMismatch { relation, text, is_news: true, other };
                self.arrive(slot, Arrival::Link(Box::new(event)));
            }
            return self.dial(one, other);
        }
        // What each side still believes of an earlier link.
        for (at, from) in [(one, other), (other, one)] {
            if let Some(node) = self.linked_id(at, from) {
                let why = "a newer link".to_owned();
                self.arrive(at, Arrival::Link(Box::new(links::Event::Down { node, why })));
            }
        }
        let now_ms = self.now_ms;
        let link = self.links.links.get_mut(&pair(one, other)).expect("it was just there");
        link.number += 1;
        link.is_up = true;
        link.last_arrival_ms = [(one, now_ms), (other, now_ms)].into();
        self.arrive(one, Arrival::Link(Box::new(links::Event::Up(second))));
        self.arrive(other, Arrival::Link(Box::new(links::Event::Up(first))));
    }
}
