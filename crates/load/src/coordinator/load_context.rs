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

/// How much goes into a chunk, which is a transaction; a single statement may be more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkLimits {
    /// Once a chunk holds so much text, it takes no more.
    pub(crate) bytes: usize,
    /// A statement that would bring a chunk above so many rows begins a new one.
    pub(crate) rows: u64,
}
