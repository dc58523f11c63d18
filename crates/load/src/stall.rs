//! Detects a load that resumes automatically after lost connections and makes no progress.

use crate::apply::Pool;
use crate::checkpoint::Checkpoints;
use crate::report::Failure;

/// Restarts in a row that may end at the same statement.
const RESTARTS_IN_PLACE: u32 = 2;

/// The message for a load without progress.
const STALLED: &str = "; the load lost the connection three times in a row at this statement and recorded no new \
    checkpoint in between: read the server's error log, then run the same command with --resume";

/// Where the load lost its connection, and how often it made no progress since.
#[derive(Debug, Default)]
pub(crate) struct Stall {
    last: Option<(Failure, u64)>,
    repeats: u32,
}

impl Stall {
    /// Records one more lost connection; returns whether to give up, and adds that to the failure of the load.
    pub(crate) fn is_reached(&mut self, pool: &Pool, checkpoints: Option<&Checkpoints>) -> bool {
        let (Some(lost), Some(checkpoints)) = (pool.lost(), checkpoints) else { return false };
        // If the server does not answer, the restart reports it.
        let Ok(applied_checkpoints) = checkpoints.count_applied() else { return false };
        let has_stalled = self.repeats_at(lost, applied_checkpoints) >= RESTARTS_IN_PLACE;
        if has_stalled {
            pool.add_to_lost(STALLED);
        }
        has_stalled
    }

    fn repeats_at(&mut self, lost: Failure, applied_checkpoints: u64) -> u32 {
        let is_same = self.last.as_ref().is_some_and(|(failure, checkpoints)| {
            (&failure.file, failure.byte) == (&lost.file, lost.byte) && *checkpoints == applied_checkpoints
        });
        self.repeats = if is_same { self.repeats + 1 } else { 0 };
        self.last = Some((lost, applied_checkpoints));
        self.repeats
    }
}
