//! Links over real sockets of this machine, polled in turn by the test.

mod exchange;
mod greetings;
mod kin;
mod storms;
mod strangers;
mod words;

use super::*;
use crate::group::descent::Descent;
use crate::group::wire::Signal;
use crate::identity::Uuid;

use std::net::SocketAddr;

/// No test waits longer for anything.
const PATIENCE: Duration = Duration::from_secs(120);

/// A node's name tag. Its node id is its number, its life a number too: the smaller one's connection is the kept one.
fn tag(number: u64) -> Hello {
    Hello {
        history: Uuid::UNDEFINED,
        descent: Descent::UNKNOWN,
        node: NodeId(number),
        life: Uuid([number as u8; 16]),
        group: "rowers".to_owned(),
        name: format!("n{number}"),
        incoming: format!("127.0.0.1:{number}"),
        address: String::new(),
    }
}

/// Some nodes, and what each has seen.
struct Nodes {
    links: Vec<Option<Links>>,
    events: Vec<Vec<Event>>,
}

impl Nodes {
    fn new(tags: &[Hello]) -> Self {
        let open = |tag: &Hello| Some(Links::open("127.0.0.1:0", tag.clone()).unwrap().0);
        Self { links: tags.iter().map(open).collect(), events: vec![Vec::new(); tags.len()] }
    }

    /// Nodes 1 to `count`, where each dials all others, and all are linked.
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

    /// Takes turns until it is so.
    fn until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !is_so(self) {
            assert!(Instant::now() < end, "never so: {what}; seen: {:?}", self.lately());
            self.turn();
        }
    }

    /// Takes turns until all that live are linked with all others, and nothing changes any more.
    fn until_settled(&mut self) {
        let mut changes = usize::MAX;
        let end = Instant::now() + PATIENCE;
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

    /// The tickets that came from a node, in their order.
    fn tickets(&self, which: usize, sender: u64) -> Vec<u64> {
        self.events[which]
            .iter()
            .filter_map(|event| match event {
                Event::Message { from, frame: Frame::Confirm { ticket } } if *from == NodeId(sender) => Some(*ticket),
                _ => None,
            })
            .collect()
    }

    /// Sends a numbered frame.
    fn say(&mut self, from: usize, to: u64, ticket: u64) -> bool {
        self.at(from).send(NodeId(to), &Frame::Confirm { ticket })
    }
}

/// Where a node's links listen, for raw sockets.
fn place(nodes: &Nodes, which: usize) -> SocketAddr {
    nodes.address(which).parse().unwrap()
}
