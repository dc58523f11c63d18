//! What a coordinator is given: what it shares with the rest of its load, and the limits of its chunks.

use std::sync::Arc;

use crate::apply::{CatalogConnection, Pool, WorkerStart};
use crate::checkpoint::Checkpoints;
use crate::cluster::Targets;
use crate::deferral::Deferral;
use crate::deferred_keys::DeferredKeys;
use crate::filter::FilterRules;
use crate::progress::Progress;
use crate::rejects::Rejects;
use crate::throttle::Throttle;

/// What a coordinator shares with the rest of its load.
#[derive(Clone, Copy)]
pub(crate) struct LoadContext<'l> {
    pub(crate) pool: &'l Pool,
    pub(crate) workers: &'l WorkerStart,
    pub(crate) progress: &'l Progress,
    pub(crate) targets: &'l Targets,
    pub(crate) catalog: &'l CatalogConnection,
    pub(crate) deferral: &'l Deferral,
    pub(crate) deferred_keys: &'l DeferredKeys,
    pub(crate) checkpoints: Option<&'l Checkpoints>,
    pub(crate) filter_rules: &'l Arc<FilterRules>,
    pub(crate) rejects: Option<&'l Rejects>,
    pub(crate) throttle: &'l Throttle,
}

/// Chunks for each worker that what is left of the input is to be.
const CHUNKS_FOR_EACH_WORKER: usize = 4;
/// The least text of a chunk that is smaller for that.
const GUIDED_BYTES: usize = 1 << 20;

/// How much goes into a chunk, which is a transaction; a single statement may be more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkLimits {
    /// Once a chunk holds so much text, it takes no more.
    pub(crate) bytes: usize,
    /// Chunks become smaller towards the end of the input, so that the workers end at the same time.
    pub(crate) is_guided: bool,
    /// A statement that would bring a chunk above so many rows begins a new one.
    pub(crate) rows: u64,
}

impl ChunkLimits {
    /// The limit of bytes for so many workers, where so much text is left, as far as that is known.
    pub(crate) fn bytes_before(&self, left_bytes: Option<u64>, workers: usize) -> usize {
        let Some(left_bytes) = left_bytes.filter(|_| self.is_guided) else { return self.bytes };
        let share = usize::try_from(left_bytes).unwrap_or(usize::MAX) / (workers.max(1) * CHUNKS_FOR_EACH_WORKER);
        share.max(GUIDED_BYTES).min(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_become_smaller_towards_the_end() {
        const MIB: u64 = 1 << 20;
        let guided = ChunkLimits { bytes: 4 << 20, is_guided: true, rows: u64::MAX };
        let limits = |left: Option<u64>| guided.bytes_before(left, 3) as u64;
        assert_eq!([None, Some(600 * MIB), Some(24 * MIB), Some(MIB)].map(limits), [4, 4, 2, 1].map(|mib| mib * MIB));
        assert_eq!(ChunkLimits { is_guided: false, ..guided }.bytes_before(Some(MIB), 3), 4 << 20);
        assert_eq!(ChunkLimits { bytes: 100, ..guided }.bytes_before(Some(MIB), 3), 100);
    }
}
