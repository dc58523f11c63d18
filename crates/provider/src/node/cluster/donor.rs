//! SSTs that this node sends, on the server's threads. Which node donates: `replica/donor.rs`.

use std::sync::atomic::Ordering as Atomic;

use crate::consensus::wire::DonationStatus;
use crate::identity::Uuid;
use crate::node::delivery::DONATION_REFUSED;
use crate::node::recv_queue::Work;
use crate::node::{Node, OrderState, lock};

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

impl Node {
    /// Queues an SST to a joiner, after everything ordered until now is applied. One at a time: a refused joiner learns
    /// it when it asks.
    pub(super) fn start_donation(&self, request: Vec<u8>, instance_id: Uuid, address: String) {
        let seqno = lock(&self.order).as_ref().map_or(0, |OrderState { order, .. }| order.seqno);
        if !self.recv_queue.is_donating.swap(true, Atomic::SeqCst) {
            {
                let mut donations = lock(&self.donations);
                donations.retain(|donation| donation.status != DonationStatus::InProgress);
                donations.push_front(Donation { instance_id, address, status: DonationStatus::InProgress });
                donations.truncate(DONATIONS_LIMIT);
            }
            self.shift_donor();
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

    /// The state of the SST to that instance of a joiner.
    pub(super) fn donation_status(&self, instance_id: Uuid) -> DonationStatus {
        let donations = lock(&self.donations);
        let to_it = donations.iter().find(|donation| donation.instance_id == instance_id);
        // A donation that was queued when this node left never started.
        let may_be = |status| status != DonationStatus::InProgress || self.recv_queue.is_donating.load(Atomic::SeqCst);
        to_it.map(|donation| donation.status).filter(|status| may_be(*status)).unwrap_or(DonationStatus::NotStarted)
    }

    /// The server has sent the SST, or failed to.
    pub fn state_sent(&self, code: i32) {
        self.finish_donation(code);
        self.recv_queue.push(Work::Donated);
    }

    /// The donation has ended. `code`: 0 if everything was sent.
    pub(in crate::node) fn finish_donation(&self, code: i32) {
        let address = lock(&self.donations).front_mut().map(|donation| {
            donation.status =
                if code == 0 { DonationStatus::Sent } else { DonationStatus::Failed { code: code.into() } };
            donation.address.clone()
        });
        self.recv_queue.is_donating.store(false, Atomic::SeqCst);
        let address = address.unwrap_or_default();
        let raft = self.cluster().map(|cluster| cluster.raft_status()).unwrap_or_default();
        let joiner = raft.peers.iter().find(|peer| peer.address == address).map_or(address.as_str(), |peer| &peer.name);
        self.log_transfer_end(joiner, &self.setup.name, code.into());
        self.shift_donor();
    }
}
