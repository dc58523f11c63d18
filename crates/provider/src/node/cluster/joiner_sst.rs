//! The joiner side of an SST: what the node does until the tables are there, and when the SST fails.
//!
//! The replica watches the donor (`replica/joiner_sst.rs`). A server cannot start an SST over: its script has prepared for
//! one, and half of it may have arrived. So the provider ends the process, as Galera's does, in a way that makes a
//! service manager restart it.

use std::time::{Duration, Instant};

use super::{ClusterHandle, Command, JoinRequest, SstResult};
use crate::file_systems;
use crate::galera_lines::KnownMessage;
use crate::gate::GateState;
use crate::identity::{Gtid, Uuid};
use crate::node::supervisor::{SstFailure, Stage, Step, Supervisor};
use crate::node::{Node, lock};
use crate::node_state::StateEvent;
use crate::saved_state::SavedState;
use crate::server::{CallbackError, Level};

/// A sync of received tables that takes this long is noted.
const TOLD_SYNC: Duration = Duration::from_secs(1);

/// Why there are no tables.
pub(super) enum SstError {
    /// The node leaves, or has failed; the log has the reason.
    Leaving,
    /// The server did not prepare: nothing has changed.
    Unprepared,
    /// The reason.
    Failed(SstFailure),
}

impl SstError {
    /// The node leaves, or has failed, at that stage.
    pub(super) fn interrupted(stage: Stage) -> Self {
        match stage {
            Stage::Begin | Stage::Compare { .. } | Stage::NeedsSst | Stage::Prepare { .. } => Self::Unprepared,
            Stage::Receive { .. } | Stage::Complete { .. } | Stage::Report { .. } | Stage::Over => Self::Leaving,
        }
    }
}

impl Node {
    /// Tells the server where the cluster is, and asks the leader whether the server may prepare.
    pub(super) fn ask_to_prepare(&self, cluster: &ClusterHandle, history_uuid: Uuid) -> Result<(), SstError> {
        self.note(&format!("this node needs an SST from the cluster {history_uuid}"));
        let state = Gtid { history_uuid, seqno: i64::try_from(cluster.status().apply_bound.0).unwrap_or(0) };
        self.report_connected_at(state).map_err(|CallbackError| SstError::Unprepared)?;
        // An SST to a killed node at this address may still be running: its data would come to this one.
        cluster.send(Command::SendJoinRequest(JoinRequest::PrepareSst));
        Ok(())
    }

    /// Lets the server prepare, and requests the tables.
    pub(super) fn request_sst(&self, cluster: &ClusterHandle) -> Result<(), SstError> {
        self.shift(StateEvent::SstRequested);
        cluster.set_waiting_for_sst(true);
        let request = self.server.sst_request().map_err(|CallbackError| SstError::Unprepared)?;
        // Until the SST is complete, the tables are undefined, whatever a killed server finds in them.
        self.save(SavedState::running(Uuid::UNDEFINED, Uuid::UNDEFINED)).map_err(|CallbackError| SstError::Leaving)?;
        cluster.send(Command::SendJoinRequest(JoinRequest::Join { request }));
        Ok(())
    }

    /// Ends the server, which has no tables and receives none: unless it leaves anyway, or was running before and still
    /// has its tables.
    pub(super) fn end_without_tables(&self, cluster: &ClusterHandle, error: &SstError) -> CallbackError {
        let has_failed = self.gate.state() == GateState::Failed;
        if !has_failed && cluster.is_leaving() {
            return CallbackError;
        }
        let why = match error {
            SstError::Failed(why) => why.to_string(),
            SstError::Leaving => "the SST cannot continue".to_owned(),
            SstError::Unprepared => "the server did not prepare an SST: read the lines above".to_owned(),
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
            let code = if code == 0 { self.sync_received() } else { code };
            cluster.set_sst_result(if code == 0 { SstResult::Received(state) } else { SstResult::Failed(code) });
        }
        cluster.is_some()
    }

    /// Makes the received tables durable; an error code of the system, or 0. On a thread of the server's SST.
    fn sync_received(&self) -> i32 {
        let began = Instant::now();
        let synced = file_systems::sync(&self.setup.data_dir);
        if began.elapsed() >= TOLD_SYNC {
            self.note(&format!("the received tables are on disk after {:.0} s", began.elapsed().as_secs_f64()));
        }
        let Err(error) = synced else { return 0 };
        let folder = self.setup.data_dir.display();
        self.server.log(Level::Error, &format!("the received tables in {folder} cannot be synced: {error}"));
        error.raw_os_error().unwrap_or(libc::EIO)
    }
}

impl ClusterHandle {
    /// Starts or stops waiting for an SST.
    fn set_waiting_for_sst(&self, is_waiting: bool) {
        let mut mailbox = self.mailbox();
        (mailbox.is_waiting_for_sst, mailbox.sst_result) = (is_waiting, None);
    }

    /// The next step of a start. None: the node leaves, or its driver has ended.
    pub(in crate::node) fn next_step(&self, supervisor: &mut Supervisor, has_log: bool) -> Option<Step> {
        let mut mailbox = self.mailbox();
        loop {
            let status = mailbox.start.of(mailbox.status);
            let step = supervisor.next(&status, has_log, &mut mailbox.sst_result, self.opened.elapsed());
            mailbox.start.note(&step);
            if step != Step::Wait {
                return Some(step);
            }
            if mailbox.is_over || mailbox.is_leaving {
                // What has arrived is kept: only the donor's report is no longer waited for.
                let late = supervisor.deadline()?;
                let step = supervisor.next(&status, has_log, &mut mailbox.sst_result, late);
                return (step != Step::Wait).then_some(step);
            }
            let until = supervisor.deadline().map(|deadline| self.opened + deadline);
            mailbox = match self.wait(mailbox, until) {
                Some(mailbox) => mailbox,
                // The time is over.
                None => self.mailbox(),
            };
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
