//! Counters for the status variables.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Counters. FLUSH STATUS resets them.
#[derive(Debug, Default)]
pub struct Counters {
    /// Write sets sent.
    pub replicated: Counter,
    /// Their bytes.
    pub replicated_bytes: Counter,
    /// Their keys.
    pub repl_keys: Counter,
    /// Bytes of the keys.
    pub repl_keys_bytes: Counter,
    /// Bytes of the events.
    pub repl_data_bytes: Counter,
    /// Write sets and views delivered to receiving threads.
    pub received: Counter,
    /// Their bytes.
    pub received_bytes: Counter,
    /// Committed transactions of this node.
    pub local_commits: Counter,
    /// Transactions of this node that failed certification.
    pub local_cert_failures: Counter,
    /// Transactions of this node that were replayed after a brute-force abort.
    pub local_replays: Counter,
    /// Transactions of this node that were aborted by brute force.
    pub local_bf_aborts: Counter,
    /// Sum of seqno - depends_on of all write sets.
    pub distance: Counter,
    /// Flow control requests of this node.
    pub flow_sent: Counter,
    /// Flow control pauses of this node as leader.
    pub flow_received: Counter,
    /// Their duration in nanoseconds.
    pub flow_paused_ns: Counter,
    /// Whether flow control is active: not reset.
    pub flow_active: Counter,
    /// Time of the last reset.
    since: Mutex<Option<Instant>>,
    /// Open desyncs: not reset.
    pub desync_count: Counter,
}

/// A counter.
#[derive(Debug, Default)]
pub struct Counter(AtomicI64);

impl Counter {
    /// Adds to the counter.
    pub fn add(&self, count: i64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// The value.
    pub fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Subtracts one, if the value is positive.
    pub fn decrement(&self) {
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| (count > 0).then(|| count - 1));
    }

    /// Sets the value to 0.
    pub fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl Counters {
    /// The fraction of time since the last reset in which flow control was active.
    pub fn flow_paused(&self) -> f64 {
        let since = *self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let elapsed_ns = since.map_or(0, |since| since.elapsed().as_nanos());
        if elapsed_ns == 0 { 0.0 } else { self.flow_paused_ns.get() as f64 / elapsed_ns as f64 }
    }

    /// Resets the counters of events.
    pub fn reset(&self) {
        let Self {
            replicated,
            replicated_bytes,
            repl_keys,
            repl_keys_bytes,
            repl_data_bytes,
            received,
            received_bytes,
            local_commits,
            local_cert_failures,
            local_replays,
            local_bf_aborts,
            distance,
            flow_sent,
            flow_received,
            flow_paused_ns,
            since,
            flow_active: _,
            desync_count: _,
        } = self;
        for counter in [
            replicated,
            replicated_bytes,
            repl_keys,
            repl_keys_bytes,
            repl_data_bytes,
            received,
            received_bytes,
            local_commits,
            local_cert_failures,
            local_replays,
            local_bf_aborts,
            distance,
            flow_sent,
            flow_received,
            flow_paused_ns,
        ] {
            counter.reset();
        }
        *since.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}
