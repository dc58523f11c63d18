//! What a node finds of itself in its data folder, and keeps there: `hortator.state.log`, `grastate.dat`, its log.

use std::path::Path;

use super::{Error, Node, Setup, lock};
use crate::consensus::hard_state::HardState;
use crate::grastate;
use crate::identity::Uuid;
use crate::log::DiskLog;
use crate::recovery;
use crate::saved_state::SavedState;
use crate::server::{CallbackError, Level, Server};

impl Node {
    /// What the node was last; without a history where somebody wants it to take another's tables.
    pub(super) fn read_saved(setup: &Setup, server: &dyn Server) -> Result<Option<SavedState>, Error> {
        let saved = SavedState::read(&setup.data_dir)?;
        if saved.is_none() || grastate::exists(&setup.data_dir) {
            return Ok(saved);
        }
        if Self::has_other_voters(&setup.data_dir)? {
            server.log(
                Level::Warning,
                "grastate.dat was removed: this node takes the tables of another one, and waits for one that can give them. To keep \
                 its own, stop it before that and make an empty grastate.dat",
            );
            return Ok(Some(SavedState::running(Uuid::UNDEFINED, Uuid::UNDEFINED)));
        }
        server.log(
            Level::Warning,
            "grastate.dat was removed, but there is no other node to take tables from: it goes on",
        );
        Ok(saved)
    }

    /// Opens the log and finds out what it means for the server's tables.
    pub(super) fn open_log(&self, history_uuid: Uuid) -> Result<(), Error> {
        let (log, opened) = DiskLog::open(&self.setup.data_dir, self.log_settings(), history_uuid.0)?;
        if let Some(torn_tail) = opened.torn_tail {
            self.note(&format!("the log's last write was cut short: {torn_tail}"));
        }
        let saved = *lock(&self.saved);
        let tables = recovery::tables_at(self.setup.position, saved.as_ref());
        let plan = match recovery::make_plan(&log, log.last(), history_uuid, tables, saved.as_ref()) {
            Ok(plan) => plan,
            // The others have what is missing here.
            Err(recovery::Error::Gap { .. } | recovery::Error::NoPosition { .. })
                if Self::has_other_voters(&self.setup.data_dir)? =>
            {
                self.set_log(log);
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        if plan.write_sets_behind > 0 && self.setup.has_binary_log {
            return Err(recovery::Error::SecondCopy { count: plan.write_sets_behind }.into());
        }
        if let Some(remark) = &plan.remark {
            self.server.log(Level::Warning, remark);
        }
        self.set_log(log);
        *lock(&self.plan) = Some(plan);
        Ok(())
    }

    /// Whether others have a say in the group that this node is of.
    fn has_other_voters(data_dir: &Path) -> Result<bool, Error> {
        let saved = HardState::read(data_dir)?;
        Ok(saved.is_some_and(|saved| saved.voters.keys().any(|node| *node != saved.node)))
    }

    /// Of the group it is what the group's thread said last; of what was decided, what the tables heed.
    pub(super) fn save(&self, state: SavedState) -> Result<(), CallbackError> {
        let written = {
            // Until it is written: the group's thread, too, writes it when the group is begun anew.
            let mut saved = lock(&self.saved);
            let resolved_upto = self.inconsistency.resolved_upto();
            let state = SavedState { resolved_upto, lineage: *lock(&self.lineage), ..state };
            *saved = Some(state);
            state.write(&self.setup.data_dir)
        };
        written.map_err(|error| {
            self.fail(&error.to_string());
            CallbackError
        })
    }

    /// Has `grastate.dat` say who votes now. Not made anew: that it is missing may be somebody's wish.
    pub(super) fn update_grastate(&self) {
        // Until it is written: others write it, too.
        let saved = lock(&self.saved);
        let data_dir = &self.setup.data_dir;
        let written =
            saved.as_ref().filter(|_| grastate::exists(data_dir)).map(|state| grastate::write(data_dir, state));
        if let Some(Err(error)) = written {
            // Nothing depends on what it says.
            self.note(&format!("{} is not up to date: {error}", grastate::FILE_NAME));
        }
    }
}
