//! The donor side of an SST: the leader chooses the donor, and the donor reports its progress.
//!
//! A donor's SST script outlives its joiner: its remaining output would go to the next joiner on the same port. So each
//! donor reports the address that it sends to, and a joiner's server prepares, which opens its port, only when no donor
//! sends to its address.

use std::collections::BTreeMap;

use super::Replica;
use super::host::Host;
use super::known_node::Peer;
use crate::consensus::NodeId;
use crate::consensus::raft::{Action, LogId};
use crate::consensus::wire::{Frame, MemberStatus, SnapshotMeta};
use crate::identity::Uuid;
use crate::log::Index;
use crate::node::TotalOrder;

/// A chosen donor must report the donation within this time.
const DONOR_START_TIMEOUT_MS: u64 = 3_000;
/// A donor without a link for this long is gone, and its script with it.
const DONOR_RELINK_TIMEOUT_MS: u64 = 5_000;
/// A new leader waits this long for the reports of nodes that may be donors: a link ends after half of it without input.
const NEW_LEADER_SST_TIMEOUT_MS: u64 = 10_000;

/// Donors that this leader has chosen: when, and for which address.
pub(super) type AssignedDonors = BTreeMap<NodeId, (u64, String)>;

impl<H: Host> Replica<H> {
    /// A joiner asks whether its server may prepare an SST.
    pub(super) fn on_prepare_sst_request(&mut self, from: NodeId) {
        if self.leader_duties.is_none() {
            return self.redirect_to_leader(from);
        }
        if self.status.is_single_node || self.ordered.index.is_none() {
            return;
        }
        let Some(address) = self.peers.get(&from).map(|peer| peer.hello.address.clone()) else { return };
        let frame = match (self.donor_for_address(&address), self.unheard_node(from, &address)) {
            // A server that prepares gives up its own tables: they may be the last ones.
            (None, None) if self.is_witness && self.choose_donor(from, "").is_none() => {
                let text =
                    "the Raft leader is a witness, and no node with tables is up that could send an SST: start the \
                            other nodes"
                        .to_owned();
                Frame::Refused { text }
            }
            (None, None) => Frame::PrepareSst,
            (None, Some(unheard)) => {
                let name = self.peers.get(&unheard).map_or_else(|| unheard.to_string(), |peer| peer.hello.name.clone());
                let text = format!(
                    "the leader is new and has not heard of {name} yet, which may still send an SST to the former node \
                     at {address}: this one waits for a few seconds"
                );
                Frame::Refused { text }
            }
            (Some(donor), _) => {
                let name = self.peers.get(&donor).map_or_else(|| self.host.name(), |peer| peer.hello.name.clone());
                let text = format!(
                    "{name} still sends an SST to the former node at {address}: no other SST to that address starts \
                     before its script ends"
                );
                Frame::Refused { text }
            }
        };
        self.host.send(from, &frame);
    }

    /// A joiner requests an SST; a witness, only a log.
    pub(super) fn on_join(&mut self, from: NodeId, request: Vec<u8>, donor: &str, actions: &mut Vec<Action>) {
        if self.leader_duties.is_none() {
            return self.redirect_to_leader(from);
        }
        if self.status.is_single_node || !self.peers.contains_key(&from) {
            return;
        }
        if request.is_empty() {
            // Also before this node orders anything: it may need the vote of the witness for that.
            return self.send_snapshot(from, actions);
        }
        if self.ordered.index.is_none() {
            return;
        }
        let Some(joiner) = self.peers.get(&from) else { return };
        let (instance_id, address) = (joiner.hello.instance_id, joiner.hello.address.clone());
        // A repeated request: its donor is at work. Or another leader has chosen the donor.
        let assigned =
            joiner.assigned_donor.as_ref().filter(|(assigned, _)| *assigned == request).map(|(_, donor)| *donor);
        let assigned = assigned.or_else(|| self.donor_for_address(&address));
        let Some(donor_node) = assigned.or_else(|| self.choose_donor(from, donor)) else {
            // The joiner asks again. It must not get its snapshot point yet: it would only wait then.
            let text = "no donor is available now".to_owned();
            self.host.send(from, &Frame::Refused { text });
            return;
        };
        self.host.send(from, &Frame::DonorAssigned { node: donor_node });
        self.send_snapshot(from, actions);
        if assigned.is_some() {
            return;
        }
        let [joiner_name, donor_name] = [from, donor_node].map(|node| self.node_name(node));
        self.host.log_transfer_request(&joiner_name, donor, &donor_name);
        self.donors.insert(donor_node, (self.now_ms(), address.clone()));
        if let Some(peer) = self.peers.get_mut(&from) {
            peer.assigned_donor = Some((request.clone(), donor_node));
        }
        if donor_node == self.own_node() {
            self.host.start_donation(request, instance_id, address);
        } else {
            self.host.send(donor_node, &Frame::StartDonation { request, instance_id, address });
        }
    }

    /// Sends the start of a joiner's log, and the log from there on.
    fn send_snapshot(&mut self, to: NodeId, actions: &mut Vec<Action>) {
        let snapshot_point = self.host.with_order(TotalOrder::snapshot_point).flatten();
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
        let membership = self.hard_state.membership();
        let upto = self.status.apply_bound;
        let term = self.raft.term();
        let lineage = self.hard_state.lineage;
        let protocol = self.hard_state.protocol;
        let snapshot = SnapshotMeta { term, log_id, membership, addresses, upto, lineage, protocol };
        self.host.send(to, &Frame::InstallSnapshot(snapshot));
        if let Some(peer) = self.peers.get_mut(&to) {
            peer.snapshot = Some(log_id.index);
        }
        self.raft.add_learner(to, actions);
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
        if self.host.donating_to().as_deref() == Some(address) {
            return Some(self.own_node());
        }
        let sends_to = |node: NodeId, peer: &Peer| {
            let reported = peer.status.as_ref().and_then(|(member_status, _)| member_status.donating_to.as_deref());
            // The script of a donor runs on while its link to this node is new again.
            self.is_linked_or_was(peer) && (reported == Some(address) || self.assigned_address(node) == Some(address))
        };
        self.peers.iter().find(|(node, peer)| sends_to(**node, peer)).map(|(node, _)| *node)
    }

    /// Whether the node is linked, or was a moment ago.
    fn is_linked_or_was(&self, peer: &Peer) -> bool {
        peer.unlinked_since_ms.is_none_or(|since| self.now_ms() - since < DONOR_RELINK_TIMEOUT_MS)
    }

    /// A node that this leader has not heard of since its election, and that may send an SST. `joiner`: not this one, nor
    /// the former node at its address.
    fn unheard_node(&self, joiner: NodeId, address: &str) -> Option<NodeId> {
        let led_since = self.leader_duties.as_ref()?.since_ms;
        if self.now_ms() - led_since >= NEW_LEADER_SST_TIMEOUT_MS {
            return None;
        }
        let voters = self.hard_state.voters.iter().filter(|(_, known)| *known != address).map(|(node, _)| *node);
        // A node without a log has no tables to send.
        let others = self.peers.iter().filter(|(_, peer)| {
            peer.hello.address != address && !peer.hello.history_uuid.is_undefined() && self.is_linked_or_was(peer)
        });
        let is_unheard = |node: &NodeId| {
            let status = self.peers.get(node).and_then(|peer| peer.status.as_ref());
            *node != joiner && *node != self.own_node() && status.is_none_or(|(_, at)| *at < led_since)
        };
        voters.chain(others.map(|(node, _)| *node)).find(is_unheard)
    }

    /// Follows the joiner's preference; else prefers a node that is not the leader.
    fn choose_donor(&self, joiner: NodeId, preference: &str) -> Option<NodeId> {
        let member_ids: Vec<_> =
            self.host.with_order(|order| order.members().iter().map(|member| member.id).collect()).unwrap_or_default();
        let can_donate = |node: NodeId| {
            self.assigned_address(node).is_none()
                && self.peers.get(&node).is_some_and(|peer| {
                    let is_free = |member_status: &MemberStatus| member_status.donating_to.is_none();
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
            if name == self.host.name() {
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
            self.host.start_donation(request, instance_id, address);
        }
    }

    /// A joiner asks for the state of its SST.
    pub(super) fn on_donation_status_request(&mut self, from: NodeId) {
        let Some(peer) = self.peers.get(&from) else { return };
        let status = self.host.donation_status(peer.hello.instance_id);
        let resolved_upto = self.host.resolved_upto();
        self.host.send(from, &Frame::DonationStatus { status, resolved_upto });
    }
}
