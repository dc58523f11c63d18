//! How many chunks may run while the slowest node keeps up.
//!
//! The write sets of a lagging node wait in its receive queue. When the queue exceeds a limit, the node pauses all writers
//! of the cluster (flow control), other clients included. So a load stays below the limit: the throttle admits as many
//! chunks as the slowest node has room for ([`crate::throttle`]).

/// The share of the limit that a load uses at most, together with the write sets in the queue.
const SHARE: f64 = 0.5;
/// Above this share of the limit, no new chunk starts: the node applies the write sets in the queue, and other clients
/// write meanwhile.
const WAITING_SHARE: f64 = 0.25;
/// The receive queue of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueDepth {
    /// Write sets in the queue.
    pub waiting: u64,
    /// Length of the queue at which the node pauses the cluster.
    pub limit: f64,
}

/// How many chunks may be under way at a time, of `workers` that there are: none while more than a quarter of what stops
/// the cluster waits at any node; else so many that together with what waits, each of them a write set to come, they are
/// no more than half of it. One always may where nothing waits, however small the limit is.
#[must_use]
pub fn allowed(depths: &[QueueDepth], workers: usize) -> usize {
    let room = |depth: &QueueDepth| match depth.waiting {
        0 => ((depth.limit * SHARE) as usize).max(1),
        waiting if waiting as f64 > depth.limit * WAITING_SHARE => 0,
        waiting => ((depth.limit * SHARE) as usize).saturating_sub(usize::try_from(waiting).unwrap_or(usize::MAX)),
    };
    depths.iter().map(room).min().unwrap_or(workers).min(workers)
}

#[cfg(test)]
mod tests;
