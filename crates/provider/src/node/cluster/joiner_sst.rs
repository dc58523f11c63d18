//! The tables of another node are to come: what the node does until they are there, and when they do not come.
//!
//! Who gives them is asked every second how it stands with that. A donor that could not send them, that was started anew, or
//! that is not heard of for a while leaves its joiner's server waiting for something that never ends, so the provider ends
//! it. Nor can the server be told to begin again: its script has prepared for one transfer, and half of that may have come.
//! So its process ends, as with Galera, in a way by which whoever watches over it knows that it must be started anew.

use std::time::Duration;

use super::driver::RaftDriver;
use super::joiner::JoinRequest;
use super::{ClusterHandle, Command, SstResult};
use crate::consensus::NodeId;
use crate::consensus::wire::{DonationStatus, Frame};
use crate::gate::GateState;
use crate::identity::{Gtid, Uuid};
use crate::node::{Node, lock};
use crate::saved_state::SavedState;
use crate::server::{CallbackError, Level};

/// A donor is asked so often how it stands.
const DONOR_STATUS_INTERVAL_MS: u64 = 1_000;
/// One that leaves so many questions unanswered is given up. That takes longer than a node may be silent to its links. Questions
/// are counted, and not the time: a joiner that stood still, its disk busy with the tables, does not blame its donor for it.
const UNANSWERED_LIMIT: u64 = 15;
/// It says that it has sent them about when they are there.
const DONOR_REPLY_TIMEOUT: Duration = Duration::from_secs(20);

/// Who gives its tables to this node.
#[derive(Debug)]
pub(super) struct Donor {
    node: NodeId,
    /// It has said that it is at work.
    is_in_progress: bool,
    asked_ms: u64,
    /// So many questions since it last said so.
    unanswered: u64,
}

/// The tables did not come.
pub(super) enum SstError {
    /// The node is told to go, or has failed, as it told.
    Leaving,
    /// The server did not even prepare: nothing was changed.
    Unprepared,
    /// Why.
    Failed(String),
}

impl Node {
    /// The tables of another node. Where they are then.
    pub(super) fn receive_state(&self, cluster: &ClusterHandle) -> Result<Gtid, SstError> {
        use SstError::{Failed, Leaving, Unprepared};
        let status = cluster.wait_for(None, |status| !status.history_uuid.is_undefined()).ok_or(Unprepared)?;
        let history_uuid = status.history_uuid;
        self.note(&format!("a state transfer is needed from the cluster {history_uuid}"));
        let state = Gtid { history_uuid, seqno: i64::try_from(status.apply_bound.0).unwrap_or(0) };
        self.report_connected_at(state).map_err(|CallbackError| Unprepared)?;
        // What is sent to a node that was killed here may still be under way: it would come to this one.
        cluster.send(Command::SendJoinRequest(JoinRequest::PrepareSst));
        cluster.wait_for(None, |status| status.can_prepare_sst).ok_or(Unprepared)?;
        cluster.set_waiting_for_sst(true);
        let request = self.server.sst_request().map_err(|CallbackError| Unprepared)?;
        // From here on the tables are nobody's until all of them have come, whatever a server that is killed meanwhile
        // finds in them.
        self.save(SavedState::running(Uuid::UNDEFINED, Uuid::UNDEFINED)).map_err(|CallbackError| Leaving)?;
        cluster.send(Command::SendJoinRequest(JoinRequest::Join { request }));
        let position = match cluster.wait_for_sst().ok_or(Leaving)? {
            SstResult::Received(position) if position.history_uuid == history_uuid => position,
            SstResult::Received(position) => {
                let text = format!("the state that came is at {position}, not of the cluster {history_uuid}");
                return Err(Failed(text));
            }
            SstResult::Failed(code) => {
                let text =
                    format!("the state transfer failed with {code}: see the lines above, and the donor's error log");
                return Err(Failed(text));
            }
            SstResult::DonorLost(text) => return Err(Failed(text)),
        };
        self.note(&format!("the state is at {position}"));
        let reaches =
            |status: &super::ClusterStatus| status.snapshot_upto.is_some_and(|behind| status.apply_bound >= behind);
        cluster.wait_for(None, reaches).ok_or(Leaving)?;
        // What was decided is heeded in them if the donor has heeded it. One that is gone may have had to go.
        let heard = cluster.wait_for(Some(DONOR_REPLY_TIMEOUT), |status| status.donor_resolved_upto.is_some());
        self.inconsistency.on_sst_received(heard.and_then(|status| status.donor_resolved_upto).unwrap_or(-1));
        *lock(&self.saved) = Some(SavedState::running(history_uuid, self.member_id()));
        Ok(position)
    }

    /// Its tables are nobody's, and no others come: the server ends, unless it was told to anyway, or was up before and
    /// still has what it had.
    pub(super) fn end_without_tables(&self, cluster: &ClusterHandle, without: &SstError) -> CallbackError {
        let has_failed = self.gate.state() == GateState::Failed;
        if !has_failed && cluster.is_leaving() {
            return CallbackError;
        }
        let why = match without {
            SstError::Failed(why) => why,
            SstError::Leaving => "the state transfer cannot go on",
            SstError::Unprepared => "the server did not prepare a state transfer: see the lines above",
        };
        if matches!(without, SstError::Unprepared) && lock(&self.order).is_some() {
            self.server.log(Level::Error, &format!("{why}. Start the server anew: it can be given the tables then"));
            return CallbackError;
        }
        let text = format!(
            "{why}. The server ends here, since it has no tables to go on with. Start it anew: it asks for everything again, \
             and of whoever can give it then"
        );
        self.server.log(Level::Error, &text);
        self.server.end_process();
        CallbackError
    }

    /// The server has the state of another node, or could not get it. False: nobody asked for one.
    pub fn state_received(&self, state: Gtid, code: i32) -> bool {
        let cluster = self.cluster();
        if let Some(cluster) = &cluster {
            cluster.set_sst_result(if code == 0 { SstResult::Received(state) } else { SstResult::Failed(code) });
        }
        cluster.is_some()
    }
}

impl ClusterHandle {
    /// From now on the tables of another node are to come, or not any more.
    fn set_waiting_for_sst(&self, awaits: bool) {
        let mut mailbox = self.mailbox();
        (mailbox.is_waiting_for_sst, mailbox.sst_result) = (awaits, None);
    }

    /// Waits for the end of a state transfer. None: the group's thread ended.
    fn wait_for_sst(&self) -> Option<SstResult> {
        let mut mailbox = self.mailbox();
        loop {
            if let Some(transfer) = mailbox.sst_result.take() {
                return Some(transfer);
            }
            if mailbox.is_over || mailbox.is_leaving {
                return None;
            }
            mailbox = self.wait(mailbox, None)?;
        }
    }

    /// This came of the state transfer to this node, if it waits for one. The first word counts.
    fn set_sst_result(&self, transfer: SstResult) {
        let mut mailbox = self.mailbox();
        if mailbox.is_waiting_for_sst {
            mailbox.is_waiting_for_sst = false;
            mailbox.sst_result = Some(transfer);
            self.changed.notify_all();
        }
    }
}

impl RaftDriver {
    /// The leader says that the server may prepare.
    pub(super) fn on_prepare_sst(&mut self) {
        if matches!(self.join_request, Some(JoinRequest::PrepareSst)) {
            self.join_request = None;
            self.status.can_prepare_sst = true;
        }
    }

    /// The leader says who gives the tables.
    pub(super) fn on_donor_assigned(&mut self, node: NodeId) {
        if !matches!(self.join_request, Some(JoinRequest::Join { .. })) {
            return;
        }
        self.node.note(&format!("{} gives its state to this node", self.name_of(node)));
        self.status.donor_resolved_upto = None;
        self.donor = Some(Donor { node, is_in_progress: false, asked_ms: 0, unanswered: 0 });
    }

    /// The donor says how it stands.
    pub(super) fn on_donation_status(&mut self, from: NodeId, standing: DonationStatus, resolved_upto: i64) {
        let Some(donor) = self.donor.as_mut().filter(|donor| donor.node == from) else { return };
        match standing {
            DonationStatus::InProgress => (donor.is_in_progress, donor.unanswered) = (true, 0),
            DonationStatus::Sent => {
                self.status.donor_resolved_upto = Some(resolved_upto);
                self.donor = None;
            }
            DonationStatus::Failed { code } => {
                self.give_up_donor(&format!("could not send its state ({code}): see its error log"));
            }
            DonationStatus::NotStarted if donor.is_in_progress => {
                self.give_up_donor("does not give its state any more: it was started anew");
            }
            // The leader's word may not have come there yet.
            DonationStatus::NotStarted => {}
        }
    }

    /// Asks the donor how it stands, and does not wait for one that is gone.
    pub(super) fn check_donor(&mut self, now_ms: u64) {
        let Some(donor) = &mut self.donor else { return };
        if donor.asked_ms == 0 || now_ms - donor.asked_ms >= DONOR_STATUS_INTERVAL_MS {
            if donor.unanswered == UNANSWERED_LIMIT {
                let seconds = UNANSWERED_LIMIT * DONOR_STATUS_INTERVAL_MS / 1_000;
                let text = format!("has not said for {seconds} s that it gives its state: it is gone, or cut off");
                return self.give_up_donor(&text);
            }
            donor.asked_ms = now_ms.max(1);
            donor.unanswered += 1;
            let node = donor.node;
            self.links.send(node, &Frame::DonationStatusRequest);
        }
    }

    fn give_up_donor(&mut self, what: &str) {
        let Some(donor) = self.donor.take() else { return };
        self.status.donor_resolved_upto = Some(-1);
        self.cluster.set_sst_result(SstResult::DonorLost(format!("the donor, {}, {what}", self.name_of(donor.node))));
    }

    /// For the server's log.
    fn name_of(&self, node: NodeId) -> String {
        match self.peers.get(&node) {
            Some(peer) => format!("{} ({})", peer.hello.name, peer.hello.address),
            None => node.to_string(),
        }
    }
}
