//! What the links bring.

use super::flow::Held;
use super::thread::{GroupThread, Peer, Present};
use crate::entry;
use crate::group::NodeId;
use crate::group::links::Event;
use crate::group::proposals::Leader;
use crate::group::raft::{Action, Message, Role, Term};
use crate::group::wire::{Frame, Hello};
use crate::log::Index;
use crate::server::Level;

impl GroupThread {
    pub(super) fn heed(&mut self, event: Event, actions: &mut Vec<Action>) {
        match event {
            // It was parted from while this was on its way.
            Event::Up(hello) if !self.links.is_linked(hello.node) => {}
            Event::Message { from, .. } if !self.peers.contains_key(&from) => {}
            Event::Up(hello) => {
                self.node.note(&format!("linked to {} ({}, {})", hello.name, hello.address, hello.node));
                let node = hello.node;
                self.links.dial(&hello.address);
                if !hello.history.is_undefined() {
                    self.contact.history = hello.history;
                }
                // Of the same process what it said stands: a link that is renewed costs nobody its place in the view.
                let before = self.peers.remove(&node).filter(|before| before.hello.life == hello.life);
                let peer = match before {
                    Some(before) => Peer { hello, away_since_ms: None, ..before },
                    None => Peer { hello, away_since_ms: None, present: None, leaves: false, served: None },
                };
                if let Some(other) = self.who_is_at(&peer.hello.address, node) {
                    let Hello { name, address, .. } = &peer.hello;
                    let text = format!(
                        "{name} ({node}) says that it is found at {address}, and so does {other}, which is there: it gets no \
                         vote. Each node needs a wsrep_node_address, base_host or base_port of its own"
                    );
                    self.node.note(&text);
                    self.links.send(node, &Frame::Refused { text });
                }
                self.peers.insert(node, peer);
                self.stop_being_alone();
                self.raft.link_renewed(node, actions);
                self.told = None;
                let mut steps = Vec::new();
                if self.raft.leader() == Some(node) {
                    self.proposals.send_again(&mut steps);
                    self.together.refuse_asked();
                }
                self.step(steps, actions);
            }
            Event::Down { node, why } => {
                self.node.note(&format!("the link to {node} is down: {why}"));
                let now = self.now_ms();
                if let Some(peer) = self.peers.get_mut(&node) {
                    peer.away_since_ms = Some(now);
                }
            }
            Event::Refused { address, text } => self.node.note(&format!("{address}: {text}")),
            Event::Apart { kinship, text, is_news } => self.heed_kin(kinship, text, is_news),
            Event::Woken => {}
            Event::Message { from, frame } => self.hear(from, frame, actions),
        }
        self.carry_out(actions, None);
    }

    pub(super) fn hear(&mut self, from: NodeId, frame: Frame, actions: &mut Vec<Action>) {
        match frame {
            Frame::Raft { message, payloads } => {
                // Without a log there is nothing to put them into.
                let is_append = matches!(message, Message::Append(_));
                if is_append && self.node.log().is_none() {
                    return;
                }
                if is_append && payloads.iter().any(|bytes| !entry::is_whole(bytes)) {
                    self.node
                        .server
                        .log(Level::Warning, &format!("{from} sends entries that this release does not understand"));
                    return;
                }
                let committed = if let Message::Append(append) = &message { Some(append.committed) } else { None };
                self.raft.receive(self.now_ms(), from, message, actions);
                self.carry_out(actions, Some(payloads));
                if self.raft.leader() == Some(from) && self.heard_committed.is_none() {
                    self.heard_committed = committed;
                }
            }
            Frame::Forward { term, origin, number, payload } => {
                let is_good = entry::is_write_set(&payload);
                if is_good
                    && self.leading.is_some()
                    && let Some(held) = self.hold(Held::Forward { term, origin, number, payload })
                {
                    self.take_in(held, actions);
                }
            }
            Frame::Present { life, applied, wants_view, is_behind, gives_to, fault } => {
                let now = self.now_ms();
                if let Some(peer) = self.peers.get_mut(&from) {
                    let present = Present { life, applied, wants_view, is_behind, gives_to, fault };
                    peer.present = Some((present, now));
                }
                if self.raft.role() == Role::Leader {
                    // While it is alone, clients' threads write the log: it is known what to send from when that ends.
                    if !self.contact.is_alone {
                        self.raft.observe(from, actions);
                    }
                } else if let Some(leader) = self.raft.leader() {
                    self.point_to(from, leader);
                }
            }
            Frame::WantsState => self.hear_wants_state(from),
            Frame::Prepare => self.may_prepare(),
            Frame::Join { request, donor } => self.hear_join(from, request, &donor, actions),
            Frame::Give { request, life, address } => self.hear_give(from, request, life, address),
            Frame::DonorIs { node } => self.donor_is(node),
            Frame::AskDonor => self.hear_ask_donor(from),
            Frame::Giving { standing, heeded_to } => self.hear_giving(from, standing, heeded_to),
            Frame::BeginBehind(begin) => self.begin_behind(begin, actions),
            Frame::Leave => {
                if let Some(peer) = self.peers.get_mut(&from) {
                    peer.leaves = true;
                }
            }
            Frame::Left => self.contact.has_left |= self.leaves,
            Frame::Confirm { ticket } => self.confirm(ticket, Some(from), actions),
            // Of one who does not lead any more.
            Frame::Confirmed { ticket, index: Index(0) } => self.together.answer(ticket, None),
            Frame::Confirmed { ticket, index } => self.confirmed.push((index, ticket)),
            Frame::LeaderIs { address, .. } => self.links.dial(&address),
            Frame::Refused { text } => {
                // It is asked again and again.
                if self.refused != text {
                    self.node.note(&format!("{from}: {text}"));
                    self.refused = text;
                }
            }
            Frame::TooFarBehind => self.is_too_far_behind(),
        }
    }

    /// The others' logs do not reach back to the end of this one.
    pub(super) fn is_too_far_behind(&mut self) {
        if self.taken.is_some() {
            let text = "the cluster's logs do not reach back to the end of this node's any more. Restart it: it gets the \
                        tables then";
            return self.fail(text);
        }
        self.contact.is_too_far_behind = true;
    }

    pub(super) fn point_to(&mut self, whom: NodeId, leader: NodeId) {
        if let Some(address) = self.peers.get(&leader).map(|peer| peer.hello.address.clone()) {
            self.links.send(whom, &Frame::LeaderIs { node: leader, address });
        }
    }

    pub(super) fn leader_is(&mut self, term: Term, leader: Option<NodeId>, actions: &mut Vec<Action>) {
        let known = match leader {
            None => Leader::Unknown,
            Some(node) if node == self.own() => Leader::Me,
            Some(node) => Leader::Other(node),
        };
        if known != Leader::Me {
            self.leading = None;
            self.stop_being_alone();
        }
        self.confirms.clear();
        self.together.refuse_asked();
        self.told = None;
        self.heard_committed = None;
        let mut steps = Vec::new();
        self.proposals.leader_is(term, known, &mut steps);
        self.step(steps, actions);
    }
}
