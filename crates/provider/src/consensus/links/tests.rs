//! Links over real sockets of this machine, polled by the test.

mod exchange;
mod handshake;
mod lineage_check;
mod security;
mod storms;
mod unidentified_peers;
mod versions;
mod words;

use super::*;
use crate::consensus::lineage::Lineage;
use crate::consensus::wire::Signal;
use crate::identity::Uuid;
use crate::protocol::ProtocolRange;

use std::net::SocketAddr;

/// Limit of each wait.
const WAIT_LIMIT: Duration = Duration::from_secs(120);

/// A node's hello. Its node id is its number, and so is its instance id: the connection of the smaller one stays.
fn tag(number: u64) -> Hello {
    Hello {
        versions: ProtocolRange::SPOKEN,
        in_force: None,
        history_uuid: Uuid::UNDEFINED,
        lineage: Lineage::UNKNOWN,
        node: NodeId(number),
        instance_id: Uuid([number as u8; 16]),
        cluster_name: "rowers".to_owned(),
        name: format!("n{number}"),
        incoming: format!("127.0.0.1:{number}"),
        address: String::new(),
        extension: Vec::new(),
    }
}

/// Some nodes, and their events.
struct Nodes {
    links: Vec<Option<Links>>,
    events: Vec<Vec<Event>>,
}

impl Nodes {
    fn new(tags: &[Hello]) -> Self {
        let open = |tag: &Hello| Some(Links::open("127.0.0.1:0", tag.clone()).unwrap().0);
        Self { links: tags.iter().map(open).collect(), events: vec![Vec::new(); tags.len()] }
    }

    /// Nodes 1 to `count`: each dials all others, and all are linked.
    fn linked(count: u64) -> Self {
        let tags: Vec<Hello> = (1..=count).map(tag).collect();
        let mut nodes = Self::new(&tags);
        for from in 0..tags.len() {
            for to in 0..tags.len() {
                nodes.dial(from, to);
            }
        }
        nodes.until_settled();
        nodes
    }

    fn at(&mut self, which: usize) -> &mut Links {
        self.links[which].as_mut().unwrap()
    }

    fn address(&self, which: usize) -> String {
        self.links[which].as_ref().unwrap().own().address.clone()
    }

    fn dial(&mut self, from: usize, to: usize) {
        let address = self.address(to);
        self.at(from).dial(&address);
    }

    fn turn(&mut self) {
        for (links, events) in self.links.iter_mut().zip(&mut self.events) {
            if let Some(links) = links {
                links.poll(Duration::from_millis(1), events);
            }
        }
    }

    fn turn_for(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            self.turn();
        }
    }

    /// Polls until the condition holds.
    fn until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let end = Instant::now() + WAIT_LIMIT;
        while !is_so(self) {
            assert!(Instant::now() < end, "never so: {what}; seen: {:?}", self.lately());
            self.turn();
        }
    }

    /// Polls until all running nodes are linked with all others, and nothing changes any more.
    fn until_settled(&mut self) {
        let mut changes = usize::MAX;
        let end = Instant::now() + WAIT_LIMIT;
        loop {
            let live = self.links.iter().flatten().count();
            let are_linked = self.links.iter().flatten().all(|links| links.peers().count() == live - 1);
            let seen = self.events.iter().flatten().filter(|event| !matches!(event, Event::Message { .. })).count();
            if are_linked && seen == changes {
                return;
            }
            assert!(Instant::now() < end, "never settled; seen: {:?}", self.lately());
            changes = seen;
            self.turn_for(Duration::from_millis(250));
        }
    }

    fn lately(&self) -> Vec<Vec<Event>> {
        self.events.iter().map(|events| events.iter().rev().take(8).rev().cloned().collect()).collect()
    }

    fn ups(&self, which: usize) -> usize {
        self.events[which].iter().filter(|event| matches!(event, Event::Up(_))).count()
    }

    fn downs(&self, which: usize) -> Vec<&str> {
        self.events[which]
            .iter()
            .filter_map(|event| match event {
                Event::Down { why, .. } => Some(why.as_str()),
                _ => None,
            })
            .collect()
    }

    fn refusals(&self, which: usize) -> Vec<&str> {
        self.events[which]
            .iter()
            .filter_map(|event| match event {
                Event::Refused { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The request ids from a node, in order.
    fn request_ids(&self, which: usize, sender: u64) -> Vec<u64> {
        self.events[which]
            .iter()
            .filter_map(|event| match event {
                Event::Message { from, frame: Frame::ReadIndex { request_id } } if *from == NodeId(sender) => {
                    Some(*request_id)
                }
                _ => None,
            })
            .collect()
    }

    /// Sends a numbered frame.
    fn say(&mut self, from: usize, to: u64, request_id: u64) -> bool {
        self.at(from).send(NodeId(to), &Frame::ReadIndex { request_id })
    }
}

/// The address of a node, for raw sockets.
fn address(nodes: &Nodes, which: usize) -> SocketAddr {
    nodes.address(which).parse().unwrap()
}
