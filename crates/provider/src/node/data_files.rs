//! A node's state in its data folder: `hortator.state.log`, `grastate.dat`, and the log.

use std::path::Path;
use std::sync::atomic::Ordering;

use super::{Error, Node, Setup, lock};
use crate::binary_log;
use crate::consensus::hard_state::HardState;
use crate::galera_lines::KnownMessage;
use crate::grastate;
use crate::identity::Uuid;
use crate::log::{DiskLog, Index};
use crate::recovery::{self, Plan};
use crate::saved_state::SavedState;
use crate::server::{CallbackError, Level, Server};

impl Node {
    /// Reads the saved state; without a history UUID if an administrator wants an SST.
    pub(super) fn read_saved(setup: &Setup, server: &dyn Server) -> Result<Option<SavedState>, Error> {
        let saved = SavedState::read(&setup.data_dir)?;
        if saved.is_none() || grastate::exists(&setup.data_dir) {
            return Ok(saved);
        }
        let message = KnownMessage::NoGrastate(setup.data_dir.join(grastate::FILE_NAME));
        if Self::has_other_voters(&setup.data_dir)? {
            server.log_known(
                Level::Warning,
                &message,
                "grastate.dat was removed: this node waits for a donor and receives its tables by SST. To keep the \
                 node's own tables, stop it before the SST starts and create an empty grastate.dat",
            );
            return Ok(Some(SavedState::running(Uuid::UNDEFINED, Uuid::UNDEFINED)));
        }
        server.log_known(
            Level::Warning,
            &message,
            "grastate.dat was removed, but there is no other node to receive tables from: the node continues with \
             its own",
        );
        Ok(saved)
    }

    /// Opens the log and plans the recovery of the tables.
    pub(super) fn open_log(&self, history_uuid: Uuid) -> Result<(), Error> {
        let (log, opened) = DiskLog::open(&self.setup.data_dir, self.log_settings(), history_uuid.0)?;
        if let Some(torn_tail) = opened.torn_tail {
            self.note(&format!("the last write of the log was torn: {torn_tail}"));
        }
        let saved = *lock(&self.saved);
        let tables = recovery::tables_at(self.setup.position, saved.as_ref());
        // After a clean stop, the tables lack nothing.
        let was_stopped = saved.is_some_and(|saved| saved.stopped_at >= 0);
        let compared = if was_stopped { Ok(()) } else { self.compare_binary_log(&log, log.last())? };
        let plan = match recovery::make_plan(&log, log.last(), history_uuid, tables, saved.as_ref()) {
            Ok(plan) => plan,
            // Other nodes hold what is missing here.
            Err(recovery::Error::Gap { .. } | recovery::Error::NoPosition { .. })
                if Self::has_other_voters(&self.setup.data_dir)? =>
            {
                self.set_log(log);
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        if plan.write_sets_behind > 0
            && let Err(reason) = compared
        {
            return Err(recovery::Error::BinaryLog { count: plan.write_sets_behind, reason }.into());
        }
        if let Some(remark) = &plan.remark {
            self.server.log(Level::Warning, remark);
        }
        self.warn_of_unlogged(&plan);
        self.set_log(log);
        *lock(&self.plan) = Some(plan);
        Ok(())
    }

    /// Finds out up to which seqno the binary log holds what the log holds. The inner error: that is not known.
    pub(super) fn compare_binary_log(
        &self,
        log: &DiskLog,
        commit_index: Index,
    ) -> Result<Result<(), binary_log::Error>, recovery::Error> {
        let Some(binary_log) = &self.setup.binary_log else { return Ok(Ok(())) };
        let groups = match binary_log.last_groups() {
            Ok(groups) => groups,
            Err(error) => return Ok(Err(error)),
        };
        let upto = recovery::logged_upto(log, commit_index, &groups)?;
        self.logged_upto.store(upto, Ordering::SeqCst);
        self.note(&format!("the binary log holds everything up to seqno {upto}: nothing of it is written there again"));
        Ok(Ok(()))
    }

    /// The storage engine has committed what was prepared at the crash, before it was in the binary log.
    fn warn_of_unlogged(&self, plan: &Plan) {
        let upto = self.logged_upto.load(Ordering::SeqCst);
        if upto > 0 && upto < plan.last_committed {
            let text = format!(
                "the tables hold transactions up to seqno {}, and the binary log only up to seqno {upto}: replicas of \
                 this server will not get the ones in between. docs/provider.md says how to find the position after a \
                 crash with a binary log",
                plan.last_committed
            );
            self.server.log(Level::Warning, &text);
        }
    }

    /// Whether the binary log holds that seqno.
    pub(super) fn is_logged(&self, seqno: i64) -> bool {
        seqno <= self.logged_upto.load(Ordering::SeqCst)
    }

    /// Whether the cluster has other voters.
    fn has_other_voters(data_dir: &Path) -> Result<bool, Error> {
        let hard_state = HardState::read(data_dir)?;
        Ok(hard_state.is_some_and(|hard_state| hard_state.voters.keys().any(|node| *node != hard_state.node)))
    }

    /// Saves the state, with the current lineage and `resolved_upto`.
    pub(super) fn save(&self, state: SavedState) -> Result<(), CallbackError> {
        let written = {
            // Locked until the file is written: the Raft driver also writes it, after a bootstrap.
            let mut saved = lock(&self.saved);
            let resolved_upto = self.inconsistency.resolved_upto();
            let state = SavedState { resolved_upto, lineage: *lock(&self.lineage), ..state };
            *saved = Some(state);
            state.write(&self.setup.data_dir)
        };
        match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                self.server.log(Level::Warning, &format!("{error}; the state is in the reserve"));
                Ok(())
            }
            Err(error) => {
                self.fail(&error.to_string());
                Err(CallbackError)
            }
        }
    }

    /// Neither the state nor its reserve can be written, and the tables lack `seqno` though the server counts it as applied: a
    /// removal needs no room on the disk, and without `grastate.dat` the node receives an SST.
    pub(super) fn demand_sst(&self, seqno: i64) {
        let file = self.setup.data_dir.join(grastate::FILE_NAME);
        let done = match std::fs::remove_file(&file) {
            Ok(()) => "was removed, so that the next start receives all tables".to_owned(),
            Err(error) => format!("cannot be removed ({error}): remove it before the next start"),
        };
        let text =
            format!("the tables of this node lack seqno {seqno}, and that cannot be stored: {} {done}", file.display());
        self.server.log(Level::Error, &text);
    }

    /// Writes the current voters to `grastate.dat`. Does not create the file: an administrator may have removed it on
    /// purpose.
    pub(super) fn update_grastate(&self) {
        // Locked until the file is written: others also write it.
        let saved = lock(&self.saved);
        let data_dir = &self.setup.data_dir;
        let written =
            saved.as_ref().filter(|_| grastate::exists(data_dir)).map(|state| grastate::write(data_dir, state));
        if let Some(Err(error)) = written {
            // Nothing depends on its content.
            self.note(&format!("{} is not up to date: {error}", grastate::FILE_NAME));
        }
    }
}
