//! The tables of one node go to another: whom the leader chooses as donor, and how it stands with what a donor gives.
//!
//! A donor's script outlives the joiner that it sends to: what is left of it would come to the next one that listens at the
//! same port. So each donor tells its leader where its state goes, and a joiner's server does not prepare, which opens its
//! port, before nothing goes to its address any more.

use std::sync::atomic::Ordering as Atomic;

use super::thread::GroupThread;
use crate::group::NodeId;
use crate::group::raft::{Action, Membership, Place, Term};
use crate::group::wire::{Begin, Frame, Giving};
use crate::identity::Uuid;
use crate::log::Index;
use crate::node::deliver::CANNOT_GIVE;
use crate::node::receiving::Work;
use crate::node::{Node, Ordering, lock};
use crate::server::Level;

/// A donor that was chosen says by then that it is one.
const DONOR_TELLS_MS: u64 = 3_000;

/// So many are remembered. A joiner may still ask of its own when the next one is under way.
const DONATIONS_LIMIT: usize = 8;

/// A state that this node gave to another, or gives.
#[derive(Debug)]
pub(in crate::node) struct Donation {
    /// The process that asked for it.
    life: Uuid,
    /// Where that is.
    address: String,
    standing: Giving,
}

impl GroupThread {
    /// A node without tables asks whether its server may prepare to be given them.
    pub(super) fn hear_wants_state(&mut self, from: NodeId) {
        if self.leading.is_none() {
            return self.point_to_leader(from);
        }
        if self.contact.is_alone || self.taken.is_none() {
            return;
        }
        let Some(address) = self.peers.get(&from).map(|peer| peer.hello.address.clone()) else { return };
        let frame = match self.who_gives_to(&address) {
            None => Frame::Prepare,
            Some(donor) => {
                let name = self.peers.get(&donor).map_or(&self.node.setup.name, |peer| &peer.hello.name);
                let text = format!(
                    "{name} still sends its state to the node that was at {address} before: until its script has ended no \
                     other transfer begins there"
                );
                Frame::Refused { text }
            }
        };
        self.links.send(from, &frame);
    }

    /// A node wants the tables.
    pub(super) fn hear_join(&mut self, from: NodeId, request: Vec<u8>, donor: &str, actions: &mut Vec<Action>) {
        if self.leading.is_none() {
            return self.point_to_leader(from);
        }
        if self.contact.is_alone || self.taken.is_none() {
            return;
        }
        let Some(log) = self.node.log() else { return };
        let Some(joiner) = self.peers.get(&from) else { return };
        let (life, address) = (joiner.hello.life, joiner.hello.address.clone());
        let begins_at = lock(&self.node.order).as_ref().and_then(|Ordering { order, .. }| order.begins_at());
        // Asked again by one who had no answer yet: its donor is at work. Or another leader has chosen that.
        let served = joiner.served.as_ref().filter(|(served, _)| *served == request).map(|(_, donor)| *donor);
        let served = served.or_else(|| self.who_gives_to(&address));
        let Some(giver) = served.or_else(|| self.choose_donor(from, donor)) else {
            // It asks again: once it knows where its log begins it would only wait.
            let text = "no node is there that could give its state now".to_owned();
            self.links.send(from, &Frame::Refused { text });
            return;
        };
        let before = match begins_at {
            Some(place) => Index(place.index.0 - 1),
            None => Index(log.first().0 - 1),
        };
        let term = self.raft.term_at(before).unwrap_or(Term(0));
        let place = Place { term, index: before };
        let addresses = self.saved.voters.iter().map(|(node, address)| (*node, address.clone())).collect();
        let membership = Membership { voters: self.saved.voters.keys().copied().collect() };
        let upto = self.contact.agreed;
        let term = self.raft.term();
        self.links.send(from, &Frame::DonorIs { node: giver });
        let descent = self.saved.descent;
        let begin = Begin { term, place, membership, addresses, upto, descent };
        self.links.send(from, &Frame::BeginBehind(begin));
        self.raft.observe(from, actions);
        if served.is_some() {
            return;
        }
        self.donors.insert(giver, (self.now_ms(), address.clone()));
        if let Some(peer) = self.peers.get_mut(&from) {
            peer.served = Some((request.clone(), giver));
        }
        if giver == self.own() {
            self.node.give(request, life, address);
        } else {
            self.links.send(giver, &Frame::Give { request, life, address });
        }
    }

    fn point_to_leader(&mut self, whom: NodeId) {
        if let Some(leader) = self.raft.leader() {
            self.point_to(whom, leader);
        }
    }

    /// Whether it was chosen a moment ago, and may not have said so yet.
    fn is_chosen(&self, node: NodeId) -> Option<&str> {
        let chosen = self.donors.get(&node).filter(|(chosen_ms, _)| self.now_ms() - chosen_ms < DONOR_TELLS_MS);
        chosen.map(|(_, address)| address.as_str())
    }

    /// Whose state is on its way to that address.
    fn who_gives_to(&self, address: &str) -> Option<NodeId> {
        if self.node.gives_to().as_deref() == Some(address) {
            return Some(self.own());
        }
        let gives = |node: NodeId, peer: &super::thread::Peer| {
            let tells = peer.present.as_ref().and_then(|(present, _)| present.gives_to.as_deref());
            peer.away_since_ms.is_none() && (tells == Some(address) || self.is_chosen(node) == Some(address))
        };
        self.peers.iter().find(|(node, peer)| gives(**node, peer)).map(|(node, _)| *node)
    }

    /// By the joiner's wish; else one that does not lead.
    fn choose_donor(&self, joiner: NodeId, wish: &str) -> Option<NodeId> {
        let lives: Vec<_> = lock(&self.node.order)
            .as_ref()
            .map(|Ordering { order, .. }| order.members().iter().map(|member| member.id).collect())
            .unwrap_or_default();
        let may = |node: NodeId| {
            self.is_chosen(node).is_none()
                && self.peers.get(&node).is_some_and(|peer| {
                    let is_free = |present: &super::thread::Present| present.gives_to.is_none();
                    let is_good = |present| is_free(present) && lives.contains(&present.life);
                    node != joiner
                        && peer.away_since_ms.is_none()
                        && !peer.leaves
                        && peer.present.as_ref().is_some_and(|(present, _)| is_good(present))
                })
        };
        let may_itself = || {
            let own = self.present();
            self.is_chosen(self.own()).is_none() && own.gives_to.is_none() && lives.contains(&own.life)
        };
        let wished = wish.split(',').map(str::trim).filter(|name| !name.is_empty()).find_map(|name| {
            if name == self.node.setup.name {
                return may_itself().then(|| self.own());
            }
            self.peers.iter().find(|(node, peer)| peer.hello.name == name && may(**node)).map(|(node, _)| *node)
        });
        let other = || self.peers.keys().copied().find(|node| may(*node));
        wished.or_else(other).or_else(|| may_itself().then(|| self.own()))
    }

    /// The leader has chosen this node to give its tables.
    pub(super) fn hear_give(&mut self, from: NodeId, request: Vec<u8>, life: Uuid, address: String) {
        if self.leading.is_none() && self.raft.leader() == Some(from) {
            self.node.give(request, life, address);
        }
    }

    /// A joiner asks how it stands.
    pub(super) fn hear_ask_donor(&mut self, from: NodeId) {
        let Some(peer) = self.peers.get(&from) else { return };
        let standing = {
            let donations = lock(&self.node.donations);
            let to_it = donations.iter().find(|donation| donation.life == peer.hello.life);
            // One that was to be given when this node went never began.
            let may_be = |standing| standing != Giving::AtWork || self.node.receiving.donates.load(Atomic::SeqCst);
            to_it.map(|donation| donation.standing).filter(|standing| may_be(*standing)).unwrap_or(Giving::Nothing)
        };
        let heeded_to = self.node.inconsistency.heeded_to();
        self.links.send(from, &Frame::Giving { standing, heeded_to });
    }
}

impl Node {
    /// Gives the tables to another node, when all that has its place by now is done. One at a time: who is not given them
    /// hears that when it asks.
    fn give(&self, request: Vec<u8>, life: Uuid, address: String) {
        let seqno = lock(&self.order).as_ref().map_or(0, |Ordering { order, .. }| order.seqno);
        if !self.receiving.donates.swap(true, Atomic::SeqCst) {
            {
                let mut donations = lock(&self.donations);
                donations.retain(|donation| donation.standing != Giving::AtWork);
                donations.push_front(Donation { life, address, standing: Giving::AtWork });
                donations.truncate(DONATIONS_LIMIT);
            }
            if !self.receiving.push(Work::Donate { request, seqno }) {
                self.donation_is_over(CANNOT_GIVE);
            }
        }
    }

    /// Where the node is that its state goes to.
    pub(super) fn gives_to(&self) -> Option<String> {
        let gives = self.receiving.donates.load(Atomic::SeqCst);
        gives.then(|| lock(&self.donations).front().map(|donation| donation.address.clone())).flatten()
    }

    /// The server has sent its state, or could not.
    pub fn state_sent(&self, code: i32) {
        if code != 0 {
            self.server.log(Level::Warning, &format!("the state could not be sent: {code}"));
        }
        self.donation_is_over(code);
        self.receiving.push(Work::Donated);
    }

    /// It gives its state to nobody any more. `code`: 0, all of it was sent.
    pub(in crate::node) fn donation_is_over(&self, code: i32) {
        if let Some(donation) = lock(&self.donations).front_mut() {
            donation.standing = if code == 0 { Giving::Sent } else { Giving::Failed { code: code.into() } };
        }
        self.receiving.donates.store(false, Atomic::SeqCst);
    }
}
