//! The lineage of a cluster that this node bootstraps. When and why: `replica/bootstrap.rs`.

use crate::consensus::lineage::Lineage;
use crate::identity::Uuid;
use crate::log::DiskLog;
use crate::node::{Error, Node, lock};

impl Node {
    /// The lineage of a cluster that this node bootstraps.
    pub(super) fn new_lineage(&self, log: Option<&DiskLog>) -> Result<Lineage, Error> {
        let generation = Uuid::random().map_err(Error::Random)?;
        if log.is_none_or(|log| log.last() < log.first()) {
            return Ok(Lineage::initial(generation));
        }
        // The lineage was in the missing file.
        let history_uuid = self.history_uuid();
        let saved = lock(&self.saved).filter(|saved| saved.history_uuid == history_uuid && !saved.lineage.is_unknown());
        let lineage = saved.map_or(Lineage::of_history(history_uuid), |saved| saved.lineage);
        Ok(lineage.bootstrapped(generation))
    }

    /// Sets the lineage. `hortator.state.log` gets it with the next save.
    pub(super) fn set_lineage(&self, lineage: Lineage) {
        *lock(&self.lineage) = lineage;
    }

    /// Saves the lineage to `hortator.state.log` now.
    pub(super) fn save_lineage(&self) {
        let written = {
            let mut saved = lock(&self.saved);
            let lineage = *lock(&self.lineage);
            saved.as_mut().map_or(Ok(()), |state| {
                state.lineage = lineage;
                state.write(&self.setup.data_dir).map(drop)
            })
        };
        if let Err(error) = written {
            self.fail(&error.to_string());
        }
    }
}
