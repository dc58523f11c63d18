//! The tables of one node go to another: whom the leader chooses as donor, and how it stands with what a donor gives.
//!
//! A donor's script outlives the joiner that it sends to: what is left of it would come to the next one that listens at the
//! same port. So each donor tells its leader where its state goes, and a joiner's server does not prepare, which opens its
//! port, before nothing goes to its address any more.

use std::sync::atomic::Ordering as Atomic;

use super::driver::RaftDriver;
use crate::consensus::NodeId;
use crate::consensus::raft::{Action, LogId, Membership, Term};
use crate::consensus::wire::{DonationStatus, Frame, SnapshotMeta};
use crate::identity::Uuid;
use crate::log::Index;
use crate::node::delivery::DONATION_REFUSED;
use crate::node::recv_queue::Work;
use crate::node::{Node, OrderState, lock};
use crate::server::Level;

/// A donor that was chosen says by then that it is one.
const DONOR_START_TIMEOUT_MS: u64 = 3_000;

/// So many are remembered. A joiner may still ask of its own when the next one is under way.
const DONATIONS_LIMIT: usize = 8;

/// A state that this node gave to another, or gives.
#[derive(Debug)]
pub(in crate::node) struct Donation {
    /// The process that asked for it.
    instance_id: Uuid,
    /// Where that is.
    address: String,
    status: DonationStatus,
}

impl RaftDriver {
    /// A node without tables asks whether its server may prepare to be given them.
    pub(super) fn on_prepare_sst_request(&mut self, from: NodeId) {
        if self.leader_duties.is_none() {
            return self.redirect_to_leader(from);
        }
        if self.status.is_single_node || self.ordered_index.is_none() {
            return;
        }
        let Some(address) = self.peers.get(&from).map(|peer| peer.hello.address.clone()) else { return };
        let frame = match self.donor_for_address(&address) {
            None => Frame::PrepareSst,
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
    pub(super) fn on_join(&mut self, from: NodeId, request: Vec<u8>, donor: &str, actions: &mut Vec<Action>) {
        if self.leader_duties.is_none() {
            return self.redirect_to_leader(from);
        }
        if self.status.is_single_node || self.ordered_index.is_none() {
            return;
        }
        let Some(log) = self.node.log() else { return };
        let Some(joiner) = self.peers.get(&from) else { return };
        let (instance_id, address) = (joiner.hello.instance_id, joiner.hello.address.clone());
        let begins_at = lock(&self.node.order).as_ref().and_then(|OrderState { order, .. }| order.snapshot_point());
        // Asked again by one who had no answer yet: its donor is at work. Or another leader has chosen that.
        let served = joiner.assigned_donor.as_ref().filter(|(served, _)| *served == request).map(|(_, donor)| *donor);
        let served = served.or_else(|| self.donor_for_address(&address));
        let Some(donor_node) = served.or_else(|| self.choose_donor(from, donor)) else {
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
        let place = LogId { term, index: before };
        let addresses = self.hard_state.voters.iter().map(|(node, address)| (*node, address.clone())).collect();
        let membership = Membership { voters: self.hard_state.voters.keys().copied().collect() };
        let upto = self.status.apply_bound;
        let term = self.raft.term();
        self.links.send(from, &Frame::DonorAssigned { node: donor_node });
        let lineage = self.hard_state.lineage;
        let begin = SnapshotMeta { term, log_id: place, membership, addresses, upto, lineage };
        self.links.send(from, &Frame::InstallSnapshot(begin));
        self.raft.add_learner(from, actions);
        if served.is_some() {
            return;
        }
        self.donors.insert(donor_node, (self.now_ms(), address.clone()));
        if let Some(peer) = self.peers.get_mut(&from) {
            peer.assigned_donor = Some((request.clone(), donor_node));
        }
        if donor_node == self.own_node() {
            self.node.start_donation(request, instance_id, address);
        } else {
            self.links.send(donor_node, &Frame::StartDonation { request, instance_id, address });
        }
    }

    fn redirect_to_leader(&mut self, whom: NodeId) {
        if let Some(leader) = self.raft.leader() {
            self.send_leader_hint(whom, leader);
        }
    }

    /// Whether it was chosen a moment ago, and may not have said so yet.
    fn assigned_address(&self, node: NodeId) -> Option<&str> {
        let chosen = self.donors.get(&node).filter(|(chosen_ms, _)| self.now_ms() - chosen_ms < DONOR_START_TIMEOUT_MS);
        chosen.map(|(_, address)| address.as_str())
    }

    /// Whose state is on its way to that address.
    fn donor_for_address(&self, address: &str) -> Option<NodeId> {
        if self.node.donating_to().as_deref() == Some(address) {
            return Some(self.own_node());
        }
        let gives = |node: NodeId, peer: &super::driver::Peer| {
            let tells = peer.status.as_ref().and_then(|(member_status, _)| member_status.donating_to.as_deref());
            peer.unlinked_since_ms.is_none() && (tells == Some(address) || self.assigned_address(node) == Some(address))
        };
        self.peers.iter().find(|(node, peer)| gives(**node, peer)).map(|(node, _)| *node)
    }

    /// By the joiner's wish; else one that does not lead.
    fn choose_donor(&self, joiner: NodeId, wish: &str) -> Option<NodeId> {
        let member_ids: Vec<_> = lock(&self.node.order)
            .as_ref()
            .map(|OrderState { order, .. }| order.members().iter().map(|member| member.id).collect())
            .unwrap_or_default();
        let may = |node: NodeId| {
            self.assigned_address(node).is_none()
                && self.peers.get(&node).is_some_and(|peer| {
                    let is_free = |member_status: &super::driver::MemberStatus| member_status.donating_to.is_none();
                    let is_good =
                        |member_status| is_free(member_status) && member_ids.contains(&member_status.member_id);
                    node != joiner
                        && peer.unlinked_since_ms.is_none()
                        && !peer.is_leaving
                        && peer.status.as_ref().is_some_and(|(member_status, _)| is_good(member_status))
                })
        };
        let may_itself = || {
            let own = self.member_status();
            self.assigned_address(self.own_node()).is_none()
                && own.donating_to.is_none()
                && member_ids.contains(&own.member_id)
        };
        let wished = wish.split(',').map(str::trim).filter(|name| !name.is_empty()).find_map(|name| {
            if name == self.node.setup.name {
                return may_itself().then(|| self.own_node());
            }
            self.peers.iter().find(|(node, peer)| peer.hello.name == name && may(**node)).map(|(node, _)| *node)
        });
        let other = || self.peers.keys().copied().find(|node| may(*node));
        wished.or_else(other).or_else(|| may_itself().then(|| self.own_node()))
    }

    /// The leader has chosen this node to give its tables.
    pub(super) fn on_start_donation(&mut self, from: NodeId, request: Vec<u8>, instance_id: Uuid, address: String) {
        if self.leader_duties.is_none() && self.raft.leader() == Some(from) {
            self.node.start_donation(request, instance_id, address);
        }
    }

    /// A joiner asks how it stands.
    pub(super) fn on_donation_status_request(&mut self, from: NodeId) {
        let Some(peer) = self.peers.get(&from) else { return };
        let standing = {
            let donations = lock(&self.node.donations);
            let to_it = donations.iter().find(|donation| donation.instance_id == peer.hello.instance_id);
            // One that was to be given when this node went never began.
            let may_be = |standing| {
                standing != DonationStatus::InProgress || self.node.recv_queue.is_donating.load(Atomic::SeqCst)
            };
            to_it
                .map(|donation| donation.status)
                .filter(|standing| may_be(*standing))
                .unwrap_or(DonationStatus::NotStarted)
        };
        let resolved_upto = self.node.inconsistency.resolved_upto();
        self.links.send(from, &Frame::DonationStatus { status: standing, resolved_upto });
    }
}

impl Node {
    /// Gives the tables to another node, when all that has its place by now is done. One at a time: who is not given them
    /// hears that when it asks.
    fn start_donation(&self, request: Vec<u8>, instance_id: Uuid, address: String) {
        let seqno = lock(&self.order).as_ref().map_or(0, |OrderState { order, .. }| order.seqno);
        if !self.recv_queue.is_donating.swap(true, Atomic::SeqCst) {
            {
                let mut donations = lock(&self.donations);
                donations.retain(|donation| donation.status != DonationStatus::InProgress);
                donations.push_front(Donation { instance_id, address, status: DonationStatus::InProgress });
                donations.truncate(DONATIONS_LIMIT);
            }
            if !self.recv_queue.push(Work::Donate { request, seqno }) {
                self.finish_donation(DONATION_REFUSED);
            }
        }
    }

    /// Where the node is that its state goes to.
    pub(super) fn donating_to(&self) -> Option<String> {
        let gives = self.recv_queue.is_donating.load(Atomic::SeqCst);
        gives.then(|| lock(&self.donations).front().map(|donation| donation.address.clone())).flatten()
    }

    /// The server has sent its state, or could not.
    pub fn state_sent(&self, code: i32) {
        if code != 0 {
            self.server.log(Level::Warning, &format!("the state could not be sent: {code}"));
        }
        self.finish_donation(code);
        self.recv_queue.push(Work::Donated);
    }

    /// It gives its state to nobody any more. `code`: 0, all of it was sent.
    pub(in crate::node) fn finish_donation(&self, code: i32) {
        if let Some(donation) = lock(&self.donations).front_mut() {
            donation.status =
                if code == 0 { DonationStatus::Sent } else { DonationStatus::Failed { code: code.into() } };
        }
        self.recv_queue.is_donating.store(false, Atomic::SeqCst);
    }
}
