//! Nodes crash, restart, are isolated and dial each other, while all send: no link ever loses a frame in the middle,
//! and at the end all are linked.

use super::*;
use crate::consensus::wire::tests::Rng;

const NODES: usize = 4;

/// Four nodes under random faults.
struct Storm {
    nodes: Nodes,
    addresses: Vec<String>,
    member_ids: u8,
    /// The next request id of each pair; each queued frame has the next number.
    next: [[u64; NODES]; NODES],
    rng: Rng,
}

impl Storm {
    fn new(rng: Rng) -> Self {
        let tags: Vec<Hello> = (1..=NODES as u64).map(tag).collect();
        let nodes = Nodes::new(&tags);
        let addresses = (0..NODES).map(|which| nodes.address(which)).collect();
        Self { nodes, addresses, member_ids: 100, next: [[0; NODES]; NODES], rng }
    }

    fn dial_all(&mut self, which: usize) {
        let Some(links) = &mut self.nodes.links[which] else { return };
        self.addresses.iter().for_each(|address| links.dial(address));
    }

    fn start(&mut self, which: usize) {
        if self.nodes.links[which].is_none() {
            // Random instance ids: either side's connection may stay.
            self.member_ids += 1;
            let mut instance_id = [self.member_ids; 16];
            instance_id[0] = self.rng.next() as u8;
            let tag = Hello { instance_id: Uuid(instance_id), ..tag(which as u64 + 1) };
            self.nodes.links[which] = Some(Links::open(&self.addresses[which], tag).unwrap().0);
            self.dial_all(which);
        }
    }

    fn happen(&mut self) {
        let which = self.rng.below(NODES as u64) as usize;
        let what = self.rng.below(12);
        let address = self.addresses[self.rng.below(NODES as u64) as usize].clone();
        let Some(links) = &mut self.nodes.links[which] else { return self.start(which) };
        match what {
            0 => {
                self.nodes.links[which] = None;
                // Its events end with it.
                self.nodes.events[which].push(Event::Woken);
            }
            1 => links.isolate(true),
            2 | 3 => links.isolate(false),
            4 => links.hang_up(&address),
            _ => self.dial_all(which),
        }
    }

    fn talk(&mut self) {
        for from in 0..NODES {
            for to in 0..NODES {
                let request_id = self.next[from][to];
                if self.nodes.links[from].is_some() && self.nodes.say(from, to as u64 + 1, request_id) {
                    self.next[from][to] += 1;
                }
            }
        }
    }

    /// Within each link, request ids are consecutive; without a link nothing arrives.
    fn check(&self) -> usize {
        let mut count = 0;
        for events in &self.nodes.events {
            let mut linked: BTreeMap<NodeId, Option<u64>> = BTreeMap::new();
            for event in events {
                match event {
                    Event::Up(peer) => assert_eq!(linked.insert(peer.node, None), None, "up twice"),
                    Event::Down { node, .. } => assert!(linked.remove(node).is_some(), "down twice"),
                    Event::Message { from, frame: Frame::ReadIndex { request_id } } => {
                        let last = linked.get_mut(from).expect("a message of a node that is not linked");
                        assert!(last.is_none_or(|last| last + 1 == *request_id), "{last:?}, then {request_id}");
                        *last = Some(*request_id);
                        count += 1;
                    }
                    Event::Woken => linked.clear(),
                    _ => {}
                }
            }
        }
        count
    }
}

#[test]
fn links_keep_their_invariants_under_faults() {
    let mut storm = Storm::new(Rng::seeded());
    (0..NODES).for_each(|which| storm.dial_all(which));
    for _ in 0..600 {
        if storm.rng.below(6) == 0 {
            storm.happen();
        }
        storm.talk();
        storm.nodes.turn();
    }
    for which in 0..NODES {
        storm.start(which);
        storm.nodes.at(which).isolate(false);
        storm.dial_all(which);
    }
    storm.nodes.until_settled();
    assert!(storm.check() > 1_000);
    storm.next = [[1 << 32; NODES]; NODES];
    storm.talk();
    for to in 0..NODES {
        for from in (0..NODES).filter(|from| *from != to) {
            let sender = from as u64 + 1;
            storm.nodes.until("all hear all", |nodes| nodes.request_ids(to, sender).last() == Some(&(1 << 32)));
        }
    }
}
