//! Options that every commit, or every round of the Raft driver, reads: without a lock where it must be fast.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::options::Options;

#[cfg(test)]
mod tests;

/// Limits from options.
#[derive(Debug, Default)]
pub struct Limits {
    write_set_bytes: AtomicU64,
    flow_control: Mutex<FlowControlLimits>,
    /// `cert.optimistic_pa=no`.
    follows_source: AtomicBool,
    /// `pc.weight`.
    weight: AtomicU8,
}

/// When flow control starts and ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowControlLimits {
    /// The length of the receive queue, for one member (`gcs.fc_limit`).
    pub limit: f64,
    /// The fraction of the limit at which the pause ends (`gcs.fc_factor`).
    pub factor: f64,
    /// The limit does not grow with the members (`gcs.fc_single_primary`).
    pub is_single_primary: bool,
    /// A node that sends an SST counts too (`gcs.sync_donor`).
    pub waits_for_donors: bool,
}

impl FlowControlLimits {
    /// The lengths of the receive queue at which a node is behind no more, and at which it is behind. With several
    /// primaries, the upper one grows with the square root of their number.
    pub fn interval(&self, members: usize) -> (u64, u64) {
        let growth = if self.is_single_primary { 1.0 } else { (members.max(1) as f64).sqrt() };
        let upper = (self.limit * growth).max(0.0);
        // `as` saturates.
        ((upper * self.factor.clamp(0.0, 1.0)) as u64, upper as u64)
    }
}

impl Limits {
    /// When flow control starts and ends.
    pub fn flow_control(&self) -> FlowControlLimits {
        *self.flow_control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the limits from the options.
    pub fn set(&self, options: &Options) {
        self.write_set_bytes.store(options.write_set_limit_bytes(), Ordering::Relaxed);
        *self.flow_control.lock().unwrap_or_else(PoisonError::into_inner) = options.flow_control();
        self.follows_source.store(!options.is_parallel_apply_optimistic(), Ordering::Relaxed);
        self.weight.store(options.weight(), Ordering::Relaxed);
    }

    /// The number of votes that the node wants.
    pub fn weight(&self) -> u8 {
        self.weight.load(Ordering::Relaxed)
    }

    /// The largest write set in bytes.
    pub fn write_set_bytes(&self) -> u64 {
        self.write_set_bytes.load(Ordering::Relaxed)
    }

    /// The last seqno that must be applied here before a write set. `depends_on`: by certification; `last_seen`: what
    /// its node had seen. Both are before its own seqno.
    pub fn apply_after(&self, depends_on: i64, last_seen: i64) -> i64 {
        if self.follows_source.load(Ordering::Relaxed) { depends_on.max(last_seen) } else { depends_on }
    }
}

/// Whether transactions are refused for lack of room: logged at the start and the end, not each time.
#[derive(Debug, Default)]
pub struct Refusals(AtomicBool);

impl Refusals {
    /// A transaction is refused. True: the first one.
    pub fn begins(&self) -> bool {
        !self.0.swap(true, Ordering::Relaxed)
    }

    /// A transaction is accepted. True: the first one after refusals.
    pub fn end(&self) -> bool {
        self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::Relaxed)
    }
}
