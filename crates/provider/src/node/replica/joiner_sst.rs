//! The donor of a joiner: the joiner asks for the state of its SST every second. If the donor could not send, has
//! restarted, or does not reply for a while, the joiner's server would wait for ever.

use super::Replica;
use super::host::Host;
use super::input::JoinRequest;
use super::status::SstResult;
use crate::consensus::NodeId;
use crate::consensus::wire::{DonationStatus, Frame};

/// Interval of the questions to the donor.
const DONOR_STATUS_INTERVAL_MS: u64 = 1_000;
/// Limit of unanswered questions. Longer than a link may be silent. Counts questions, not time: a joiner that was
/// stalled, its disk busy with the SST, does not blame its donor.
const UNANSWERED_LIMIT: u64 = 15;

/// The donor of this node.
#[derive(Debug)]
pub(super) struct Donor {
    node: NodeId,
    /// It has reported an SST in progress.
    is_in_progress: bool,
    asked_ms: u64,
    /// Questions since its last report.
    unanswered: u64,
}

impl<H: Host> Replica<H> {
    /// The leader allows the server to prepare.
    pub(super) fn on_prepare_sst(&mut self) {
        if matches!(self.joiner.request, Some(JoinRequest::PrepareSst)) {
            self.joiner.request = None;
            self.status.can_prepare_sst = true;
        }
    }

    /// The leader names the donor.
    pub(super) fn on_donor_assigned(&mut self, node: NodeId) {
        if !matches!(self.joiner.request, Some(JoinRequest::Join { .. })) {
            return;
        }
        self.host.note(&format!("{} is the donor of this node", self.name_of(node)));
        let [joiner, donor] = [self.own_node(), node].map(|node| self.node_name(node));
        self.host.log_transfer_request(&joiner, &self.host.preferred_donor(), &donor);
        self.status.donor_resolved_upto = None;
        self.joiner.donor = Some(Donor { node, is_in_progress: false, asked_ms: 0, unanswered: 0 });
    }

    /// The donor reports its state.
    pub(super) fn on_donation_status(&mut self, from: NodeId, status: DonationStatus, resolved_upto: i64) {
        let Some(donor) = self.joiner.donor.as_mut().filter(|donor| donor.node == from) else { return };
        match status {
            DonationStatus::InProgress => (donor.is_in_progress, donor.unanswered) = (true, 0),
            DonationStatus::Sent => {
                self.status.donor_resolved_upto = Some(resolved_upto);
                self.joiner.donor = None;
            }
            DonationStatus::Failed { code } => {
                self.give_up_donor(&format!("could not send the SST (error {code}): read its error log"));
            }
            DonationStatus::NotStarted if donor.is_in_progress => {
                self.give_up_donor("has restarted and no longer sends the SST");
            }
            // The leader's message may not have reached the donor yet.
            DonationStatus::NotStarted => {}
        }
    }

    /// Asks the donor for its state; gives up a donor that does not reply.
    pub(super) fn check_donor(&mut self, now_ms: u64) {
        let Some(donor) = &mut self.joiner.donor else { return };
        if donor.asked_ms == 0 || now_ms.saturating_sub(donor.asked_ms) >= DONOR_STATUS_INTERVAL_MS {
            if donor.unanswered == UNANSWERED_LIMIT {
                let seconds = UNANSWERED_LIMIT * DONOR_STATUS_INTERVAL_MS / 1_000;
                let text = format!("has not reported the SST for {seconds} s: it is down or unreachable");
                return self.give_up_donor(&text);
            }
            donor.asked_ms = now_ms.max(1);
            donor.unanswered += 1;
            let node = donor.node;
            self.host.send(node, &Frame::DonationStatusRequest);
        }
    }

    fn give_up_donor(&mut self, what: &str) {
        let Some(donor) = self.joiner.donor.take() else { return };
        self.status.donor_resolved_upto = Some(-1);
        let text = format!("the donor, {}, {what}", self.name_of(donor.node));
        self.host.set_sst_result(SstResult::DonorLost(text));
    }

    /// A node's `wsrep_node_name`.
    pub(super) fn node_name(&self, node: NodeId) -> String {
        match self.peers.get(&node) {
            Some(peer) => peer.hello.name.clone(),
            None if node == self.own_node() => self.host.name(),
            None => node.to_string(),
        }
    }

    /// The node's name, for the error log.
    fn name_of(&self, node: NodeId) -> String {
        match self.peers.get(&node) {
            Some(peer) => format!("{} ({})", peer.hello.name, peer.hello.address),
            None => node.to_string(),
        }
    }
}
