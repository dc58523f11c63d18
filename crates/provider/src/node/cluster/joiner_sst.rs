//! The joiner side of an SST: what the node does until the tables are there, and when the SST fails.
//!
//! The replica watches the donor (`replica/joiner_sst.rs`). A server cannot start an SST over: its script has prepared for
//! one, and half of it may have arrived. So the provider ends the process, as Galera's does, in a way that makes a
//! service manager restart it.

use std::time::Duration;

use super::{ClusterHandle, Command, JoinRequest, JoinerLog, SstResult};
use crate::galera_lines::{KnownMessage, NodeState};
use crate::gate::GateState;
use crate::identity::{Gtid, Uuid};
use crate::node::{Node, lock};
use crate::saved_state::SavedState;
use crate::server::{CallbackError, Level};

/// The donor reports the end of the SST within this time of its arrival.
const DONOR_REPLY_TIMEOUT: Duration = Duration::from_secs(20);

/// Why there are no tables.
pub(super) enum SstError {
    /// The node leaves, or has failed; the log has the reason.
    Leaving,
    /// The server did not prepare: nothing has changed.
    Unprepared,
    /// The reason.
    Failed(String),
}

impl Node {
    /// Receives the tables of a donor. Returns their position.
    pub(super) fn receive_state(&self, cluster: &ClusterHandle) -> Result<Gtid, SstError> {
        use SstError::{Failed, Leaving, Unprepared};
        let status = cluster.wait_for(None, |status| !status.history_uuid.is_undefined()).ok_or(Unprepared)?;
        let history_uuid = status.history_uuid;
        self.note(&format!("this node needs an SST from the cluster {history_uuid}"));
        let state = Gtid { history_uuid, seqno: i64::try_from(status.apply_bound.0).unwrap_or(0) };
        self.report_connected_at(state).map_err(|CallbackError| Unprepared)?;
        // An SST to a killed node at this address may still be running: its data would come to this one.
        cluster.send(Command::SendJoinRequest(JoinRequest::PrepareSst));
        cluster.wait_for(None, |status| status.can_prepare_sst).ok_or(Unprepared)?;
        self.shift_to(NodeState::Joiner);
        cluster.set_waiting_for_sst(true);
        let request = self.server.sst_request().map_err(|CallbackError| Unprepared)?;
        // Until the SST is complete, the tables are undefined, whatever a killed server finds in them.
        self.save(SavedState::running(Uuid::UNDEFINED, Uuid::UNDEFINED)).map_err(|CallbackError| Leaving)?;
        cluster.send(Command::SendJoinRequest(JoinRequest::Join { request }));
        let position = match cluster.wait_for_sst().ok_or(Leaving)? {
            SstResult::Received(position) if position.history_uuid == history_uuid => position,
            SstResult::Received(position) => {
                let text = format!("the received state is at {position}, which is not of the cluster {history_uuid}");
                return Err(Failed(text));
            }
            SstResult::Failed(code) => {
                let text = format!("the SST failed with error {code}: read the lines above, and the donor's error log");
                return Err(Failed(text));
            }
            SstResult::DonorLost(text) => return Err(Failed(text)),
        };
        self.note(&format!("the received state is at {position}"));
        self.shift_to(NodeState::Joined);
        let status = cluster.wait_for(None, |status| status.joiner_log() != JoinerLog::Incomplete).ok_or(Leaving)?;
        if status.joiner_log() == JoinerLog::Lost {
            let text = format!(
                "the leader no longer has the entries of the log after index {}, which the received tables need: it has \
                 changed, or its link to this node was down, meanwhile",
                status.apply_bound
            );
            return Err(Failed(text));
        }
        // The tables match the vote results that the donor matches. A donor that is gone may have left as inconsistent.
        let status = cluster.wait_for(Some(DONOR_REPLY_TIMEOUT), |status| status.donor_resolved_upto.is_some());
        self.inconsistency.on_sst_received(status.and_then(|status| status.donor_resolved_upto).unwrap_or(-1));
        *lock(&self.saved) = Some(SavedState::running(history_uuid, self.member_id()));
        Ok(position)
    }

    /// Ends the server, which has no tables and receives none: unless it leaves anyway, or was running before and still
    /// has its tables.
    pub(super) fn end_without_tables(&self, cluster: &ClusterHandle, error: &SstError) -> CallbackError {
        let has_failed = self.gate.state() == GateState::Failed;
        if !has_failed && cluster.is_leaving() {
            return CallbackError;
        }
        let why = match error {
            SstError::Failed(why) => why,
            SstError::Leaving => "the SST cannot continue",
            SstError::Unprepared => "the server did not prepare an SST: read the lines above",
        };
        if matches!(error, SstError::Unprepared) && lock(&self.order).is_some() {
            let text = format!("{why}. Restart the server: it can receive the tables then");
            self.server.log_known(Level::Error, &KnownMessage::SstNotPrepared, &text);
            return CallbackError;
        }
        let message = match error {
            SstError::Unprepared => KnownMessage::SstNotPrepared,
            SstError::Leaving | SstError::Failed(_) => KnownMessage::SstNotReceived,
        };
        let text = format!(
            "{why}. The server ends, since it has no tables. Restart it: it requests everything again, from any \
             available donor"
        );
        self.server.log_known(Level::Error, &message, &text);
        self.server.end_process();
        CallbackError
    }

    /// The server has received an SST, or failed to. False: none was requested.
    pub fn state_received(&self, state: Gtid, code: i32) -> bool {
        let cluster = self.cluster();
        if let Some(cluster) = &cluster {
            cluster.set_sst_result(if code == 0 { SstResult::Received(state) } else { SstResult::Failed(code) });
        }
        cluster.is_some()
    }
}

impl ClusterHandle {
    /// Starts or stops waiting for an SST.
    fn set_waiting_for_sst(&self, is_waiting: bool) {
        let mut mailbox = self.mailbox();
        (mailbox.is_waiting_for_sst, mailbox.sst_result) = (is_waiting, None);
    }

    /// Waits for the end of the SST. None: the driver has ended.
    fn wait_for_sst(&self) -> Option<SstResult> {
        let mut mailbox = self.mailbox();
        loop {
            if let Some(result) = mailbox.sst_result.take() {
                return Some(result);
            }
            if mailbox.is_over || mailbox.is_leaving {
                return None;
            }
            mailbox = self.wait(mailbox, None)?;
        }
    }

    /// Sets the result of the SST, if the node waits for one. The first result counts.
    pub(super) fn set_sst_result(&self, result: SstResult) {
        let mut mailbox = self.mailbox();
        if mailbox.is_waiting_for_sst {
            mailbox.is_waiting_for_sst = false;
            mailbox.sst_result = Some(result);
            self.changed.notify_all();
        }
    }
}
