//! The donor side of an SST: the leader chooses the donor, and the donor reports its progress.
//!
//! A donor's SST script outlives its joiner: its remaining output would go to the next joiner on the same port. So each
//! donor reports the address that it sends to, and a joiner's server prepares, which opens its port, only when no donor
//! sends to its address.

use std::sync::atomic::Ordering as Atomic;

use super::driver::RaftDriver;
use crate::consensus::NodeId;
use crate::consensus::raft::{Action, LogId, Membership};
use crate::consensus::wire::{DonationStatus, Frame, SnapshotMeta};
use crate::identity::Uuid;
use crate::log::Index;
use crate::node::delivery::DONATION_REFUSED;
use crate::node::recv_queue::Work;
use crate::node::{Node, OrderState, lock};
use crate::server::Level;

/// A chosen donor must report the donation within this time.
const DONOR_START_TIMEOUT_MS: u64 = 3_000;

/// Limit of remembered donations. A joiner may still ask about its own when the next one runs.
const DONATIONS_LIMIT: usize = 8;

/// An SST that this node sends, or has sent.
#[derive(Debug)]
pub(in crate::node) struct Donation {
    /// The joiner's instance id.
    instance_id: Uuid,
    /// The joiner's address.
    address: String,
    status: DonationStatus,
}

impl RaftDriver {
    /// A joiner asks whether its server may prepare an SST.
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
                    "{name} still sends an SST to the former node at {address}: no other SST to that address starts \
                     before its script ends"
                );
                Frame::Refused { text }
            }
        };
        self.links.send(from, &frame);
    }

    /// A joiner requests an SST.
    pub(super) fn on_join(&mut self, from: NodeId, request: Vec<u8>, donor: &str, actions: &mut Vec<Action>) {
        if self.leader_duties.is_none() {
            return self.redirect_to_leader(from);
        }
        if self.status.is_single_node || self.ordered_index.is_none() {
            return;
        }
        let Some(joiner) = self.peers.get(&from) else { return };
        let (instance_id, address) = (joiner.hello.instance_id, joiner.hello.address.clone());
        let snapshot_point =
            lock(&self.node.order).as_ref().and_then(|OrderState { order, .. }| order.snapshot_point());
        // A repeated request: its donor is at work. Or another leader has chosen the donor.
        let assigned =
            joiner.assigned_donor.as_ref().filter(|(assigned, _)| *assigned == request).map(|(_, donor)| *donor);
        let assigned = assigned.or_else(|| self.donor_for_address(&address));
        let Some(donor_node) = assigned.or_else(|| self.choose_donor(from, donor)) else {
            // The joiner asks again. It must not get its snapshot point yet: it would only wait then.
            let text = "no donor is available now".to_owned();
            self.links.send(from, &Frame::Refused { text });
            return;
        };
        // The first entry of a purged log is only there for its term: see `purge_log`.
        let previous = snapshot_point.map_or(self.raft.last_purged().index, |point| Index(point.index.0 - 1));
        let log_id = self.raft.term_at(previous).map(|term| LogId { term, index: previous });
        let log_id = log_id.unwrap_or_else(|| self.raft.last_purged());
        // The current voters, although entries after `log_id` may still change them: a later membership than the log
        // holds is safe. Each membership overlaps the next one, and is committed by a majority of its own voters before
        // the next is proposed. So a joiner that votes or stands by a later membership needs a majority that overlaps
        // the one that committed it, and one of the two refuses: it has entries that the joiner lacks. The same holds
        // for the memberships that the joiner passes through while it receives the entries.
        let addresses = self.hard_state.voters.iter().map(|(node, address)| (*node, address.clone())).collect();
        let membership = Membership { voters: self.hard_state.voters.keys().copied().collect() };
        let upto = self.status.apply_bound;
        let term = self.raft.term();
        self.links.send(from, &Frame::DonorAssigned { node: donor_node });
        let lineage = self.hard_state.lineage;
        let snapshot = SnapshotMeta { term, log_id, membership, addresses, upto, lineage };
        self.links.send(from, &Frame::InstallSnapshot(snapshot));
        if let Some(peer) = self.peers.get_mut(&from) {
            peer.snapshot = Some(log_id.index);
        }
        self.raft.add_learner(from, actions);
        if assigned.is_some() {
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

    /// The address that the node was chosen to send to, if it may not have reported it yet.
    fn assigned_address(&self, node: NodeId) -> Option<&str> {
        let chosen = self.donors.get(&node).filter(|(chosen_ms, _)| self.now_ms() - chosen_ms < DONOR_START_TIMEOUT_MS);
        chosen.map(|(_, address)| address.as_str())
    }

    /// The donor that sends to that address.
    fn donor_for_address(&self, address: &str) -> Option<NodeId> {
        if self.node.donating_to().as_deref() == Some(address) {
            return Some(self.own_node());
        }
        let sends_to = |node: NodeId, peer: &super::driver::Peer| {
            let reported = peer.status.as_ref().and_then(|(member_status, _)| member_status.donating_to.as_deref());
            peer.unlinked_since_ms.is_none()
                && (reported == Some(address) || self.assigned_address(node) == Some(address))
        };
        self.peers.iter().find(|(node, peer)| sends_to(**node, peer)).map(|(node, _)| *node)
    }

    /// Follows the joiner's preference; else prefers a node that is not the leader.
    fn choose_donor(&self, joiner: NodeId, preference: &str) -> Option<NodeId> {
        let member_ids: Vec<_> = lock(&self.node.order)
            .as_ref()
            .map(|OrderState { order, .. }| order.members().iter().map(|member| member.id).collect())
            .unwrap_or_default();
        let can_donate = |node: NodeId| {
            self.assigned_address(node).is_none()
                && self.peers.get(&node).is_some_and(|peer| {
                    let is_free =
                        |member_status: &crate::consensus::wire::MemberStatus| member_status.donating_to.is_none();
                    let is_good =
                        |member_status| is_free(member_status) && member_ids.contains(&member_status.member_id);
                    node != joiner
                        && peer.unlinked_since_ms.is_none()
                        && !peer.is_leaving
                        && peer.status.as_ref().is_some_and(|(member_status, _)| is_good(member_status))
                })
        };
        let can_donate_itself = || {
            let own = self.member_status();
            self.assigned_address(self.own_node()).is_none()
                && own.donating_to.is_none()
                && member_ids.contains(&own.member_id)
        };
        let preferred = preference.split(',').map(str::trim).filter(|name| !name.is_empty()).find_map(|name| {
            if name == self.node.setup.name {
                return can_donate_itself().then(|| self.own_node());
            }
            self.peers.iter().find(|(node, peer)| peer.hello.name == name && can_donate(**node)).map(|(node, _)| *node)
        });
        let other = || self.peers.keys().copied().find(|node| can_donate(*node));
        preferred.or_else(other).or_else(|| can_donate_itself().then(|| self.own_node()))
    }

    /// The leader has chosen this node as donor.
    pub(super) fn on_start_donation(&mut self, from: NodeId, request: Vec<u8>, instance_id: Uuid, address: String) {
        if self.leader_duties.is_none() && self.raft.leader() == Some(from) {
            self.node.start_donation(request, instance_id, address);
        }
    }

    /// A joiner asks for the state of its SST.
    pub(super) fn on_donation_status_request(&mut self, from: NodeId) {
        let Some(peer) = self.peers.get(&from) else { return };
        let status = {
            let donations = lock(&self.node.donations);
            let to_it = donations.iter().find(|donation| donation.instance_id == peer.hello.instance_id);
            // A donation that was queued when this node left never started.
            let may_be =
                |status| status != DonationStatus::InProgress || self.node.recv_queue.is_donating.load(Atomic::SeqCst);
            to_it.map(|donation| donation.status).filter(|status| may_be(*status)).unwrap_or(DonationStatus::NotStarted)
        };
        let resolved_upto = self.node.inconsistency.resolved_upto();
        self.links.send(from, &Frame::DonationStatus { status, resolved_upto });
    }
}

impl Node {
    /// Queues an SST to a joiner, after everything ordered until now is applied. One at a time: a refused joiner learns
    /// it when it asks.
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

    /// The address of the joiner that this node sends to.
    pub(super) fn donating_to(&self) -> Option<String> {
        let sends_to = self.recv_queue.is_donating.load(Atomic::SeqCst);
        sends_to.then(|| lock(&self.donations).front().map(|donation| donation.address.clone())).flatten()
    }

    /// The server has sent the SST, or failed to.
    pub fn state_sent(&self, code: i32) {
        if code != 0 {
            self.server.log(Level::Warning, &format!("the SST could not be sent: error {code}"));
        }
        self.finish_donation(code);
        self.recv_queue.push(Work::Donated);
    }

    /// The donation has ended. `code`: 0 if everything was sent.
    pub(in crate::node) fn finish_donation(&self, code: i32) {
        if let Some(donation) = lock(&self.donations).front_mut() {
            donation.status =
                if code == 0 { DonationStatus::Sent } else { DonationStatus::Failed { code: code.into() } };
        }
        self.recv_queue.is_donating.store(false, Atomic::SeqCst);
    }
}
