//! Dispatches events of the links and frames of other nodes.

use super::Replica;
use super::flow_control::HeldProposal;
use super::host::Host;
use super::known_node::Peer;
use crate::consensus::NodeId;
use crate::consensus::links::Event;
use crate::consensus::proposals::Leader;
use crate::consensus::raft::{Action, Message, Role, Term};
use crate::consensus::wire::{Frame, Hello};
use crate::entry;
use crate::log::Index;
use crate::server::Level;

impl<H: Host> Replica<H> {
    pub(super) fn on_event(&mut self, event: Event, actions: &mut Vec<Action>) {
        match event {
            // The link has ended meanwhile.
            Event::Up(hello) if !self.host.is_linked(hello.node) => {}
            Event::Message { from, .. } if !self.peers.contains_key(&from) => {}
            Event::Up(hello) => {
                self.host.note(&format!("linked to {} ({}, {})", hello.name, hello.address, hello.node));
                let node = hello.node;
                self.host.dial(&hello.address);
                if !hello.history_uuid.is_undefined() {
                    self.status.history_uuid = hello.history_uuid;
                }
                // The status of the same instance stays valid: a new link does not remove a node from the view.
                let before = self.peers.remove(&node).filter(|before| before.hello.instance_id == hello.instance_id);
                let peer = match before {
                    Some(before) => Peer { hello, unlinked_since_ms: None, ..before },
                    None => Peer::new(hello),
                };
                if let Some(other) = self.node_at_address(&peer.hello.address, node) {
                    let Hello { name, address, .. } = &peer.hello;
                    let text = format!(
                        "{name} ({node}) uses the address {address}, and so does the running node {other}: {name} \
                         gets no vote. Give each node its own wsrep_node_address, base_host or base_port"
                    );
                    self.host.note(&text);
                    self.host.send(node, &Frame::Refused { text });
                }
                self.peers.insert(node, peer);
                self.leave_single_node();
                self.raft.on_reconnected(node, actions);
                self.reported = None;
                let mut steps = Vec::new();
                if self.raft.leader() == Some(node) {
                    self.own.proposals.resend(&mut steps);
                    self.host.refuse_read_requests();
                }
                self.run_steps(steps, actions);
            }
            Event::Down { node, why } => {
                self.host.note(&format!("the link to {node} is down: {why}"));
                let now = self.now_ms();
                if let Some(peer) = self.peers.get_mut(&node) {
                    peer.unlinked_since_ms = Some(now);
                }
            }
            Event::Refused { address, text } => self.host.note(&format!("{address}: {text}")),
            Event::LineageMismatch { relation, text, is_news, other } => {
                self.on_lineage_mismatch(relation, text, is_news, other);
            }
            Event::Woken => {}
            Event::Message { from, frame } => self.on_frame(from, frame, actions),
        }
        self.run_actions(actions, None);
    }

    pub(super) fn on_frame(&mut self, from: NodeId, frame: Frame, actions: &mut Vec<Action>) {
        match frame {
            Frame::Raft { message, payloads } => {
                // A node without a log cannot store entries.
                let is_append = matches!(message, Message::Append(_));
                if is_append && !self.host.has_log() {
                    return;
                }
                if is_append && payloads.iter().any(|bytes| !entry::is_whole(bytes)) {
                    self.host.log(
                        Level::Warning,
                        &format!(
                            "node {from} sends entries that this release cannot read: install the release of that node"
                        ),
                    );
                    return;
                }
                let committed = if let Message::Append(append) = &message { Some(append.leader_commit) } else { None };
                self.raft.receive(self.now_ms(), from, message, actions);
                self.run_actions(actions, Some(payloads));
                if self.raft.leader() == Some(from) && self.quorum.first_leader_commit.is_none() {
                    self.quorum.first_leader_commit = committed;
                }
            }
            Frame::Forward { term, session, number, payload } => {
                let is_good = entry::is_write_set(&payload);
                if is_good
                    && self.leader_duties.is_some()
                    && let Some(held) = self.hold_if_paused(HeldProposal::Forward { term, session, number, payload })
                {
                    self.release_held(held, actions);
                }
            }
            Frame::MemberStatus(member_status) => {
                let now = self.now_ms();
                if let Some(peer) = self.peers.get_mut(&from) {
                    peer.status = Some((member_status, now));
                }
                if self.raft.role() == Role::Leader {
                    // A single node's clients append to the log; the learner is added when that ends.
                    if !self.status.is_single_node {
                        self.raft.add_learner(from, actions);
                    }
                } else if let Some(leader) = self.raft.leader() {
                    self.send_leader_hint(from, leader);
                }
            }
            Frame::PrepareSstRequest => self.on_prepare_sst_request(from),
            Frame::PrepareSst => self.on_prepare_sst(),
            Frame::Join { request, donor } => self.on_join(from, request, &donor, actions),
            Frame::StartDonation { request, instance_id, address } => {
                self.on_start_donation(from, request, instance_id, address);
            }
            Frame::DonorAssigned { node } => self.on_donor_assigned(node),
            Frame::DonationStatusRequest => self.on_donation_status_request(from),
            Frame::DonationStatus { status, resolved_upto } => self.on_donation_status(from, status, resolved_upto),
            Frame::InstallSnapshot(snapshot) => self.on_install_snapshot(snapshot, actions),
            Frame::Leave => {
                if let Some(peer) = self.peers.get_mut(&from) {
                    peer.is_leaving = true;
                }
            }
            Frame::LeaveReply => self.status.has_left |= self.leave.is_leaving,
            Frame::ReadIndex { request_id } => self.on_read_index(request_id, Some(from), actions),
            // The sender is no longer the leader.
            Frame::ReadIndexReady { request_id, index: Index(0) } => self.host.answer_read_index(request_id, None),
            Frame::ReadIndexReady { request_id, index } => self.reads.ready.push((index, request_id)),
            Frame::LeaderHint { address, .. } => self.host.dial(&address),
            Frame::Refused { text } => {
                // The request is repeated; the reason is logged once.
                if self.last_refusal != text {
                    self.host.note(&format!("{from}: {text}"));
                    self.last_refusal = text;
                }
            }
            Frame::SnapshotRequired => self.on_snapshot_required(),
        }
    }

    /// The leader's log no longer holds the entry after this node's last one.
    pub(super) fn on_snapshot_required(&mut self) {
        if self.is_witness {
            return self.request_log();
        }
        if self.ordered.index.is_some() {
            let text = "the logs of the cluster no longer hold the entries that this node needs. Restart the node: \
                        it receives the tables by SST";
            return self.fail(text);
        }
        self.status.needs_snapshot = true;
    }

    pub(super) fn send_leader_hint(&mut self, whom: NodeId, leader: NodeId) {
        if let Some(address) = self.peers.get(&leader).map(|peer| peer.hello.address.clone()) {
            self.host.send(whom, &Frame::LeaderHint { node: leader, address });
        }
    }

    pub(super) fn on_leader_changed(&mut self, term: Term, leader: Option<NodeId>, actions: &mut Vec<Action>) {
        let new_leader = match leader {
            None => Leader::Unknown,
            Some(node) if node == self.own_node() => Leader::Me,
            Some(node) => Leader::Other(node),
        };
        if new_leader != Leader::Me {
            self.leader_duties = None;
            self.leave_single_node();
        }
        self.reads.pending.clear();
        self.host.refuse_read_requests();
        self.reported = None;
        self.quorum.first_leader_commit = None;
        let mut steps = Vec::new();
        self.own.proposals.on_leader_changed(term, new_leader, &mut steps);
        self.run_steps(steps, actions);
    }
}
