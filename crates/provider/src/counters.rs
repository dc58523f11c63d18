//! What a node counts, for its status variables.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Counters that any thread adds to. FLUSH STATUS sets them back.
#[derive(Debug, Default)]
pub struct Counters {
    /// Write sets sent into the order.
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
    /// Transactions of this node that committed.
    pub local_commits: Counter,
    /// Transactions of this node that failed certification.
    pub local_cert_failures: Counter,
    /// Transactions of this node that were applied anew after a brute-force abort.
    pub local_replays: Counter,
    /// Transactions of this node that were aborted by brute force.
    pub local_bf_aborts: Counter,
    /// Sum of seqno - depends_on of all write sets.
    pub distance: Counter,
    /// How often this node asked the others to wait for it.
    pub flow_sent: Counter,
    /// How often this node, as leader, held the cluster back.
    pub flow_received: Counter,
    /// For how long, in nanoseconds.
    pub flow_paused_ns: Counter,
    /// Whether it does: not set back.
    pub flow_active: Counter,
    /// When it was set back last.
    since: Mutex<Option<Instant>>,
    /// How often desync stands without its resync: not set back.
    pub desync_count: Counter,
}

/// One number.
#[derive(Debug, Default)]
pub struct Counter(AtomicI64);

impl Counter {
    /// Adds.
    pub fn add(&self, count: i64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// Reads.
    pub fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes one away, if there is one.
    pub fn decrement(&self) {
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| (count > 0).then(|| count - 1));
    }

    /// Sets it to nothing.
    pub fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl Counters {
    /// The part of the time since it was set back for which the cluster was held back.
    pub fn flow_paused(&self) -> f64 {
        let since = *self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let elapsed_ns = since.map_or(0, |since| since.elapsed().as_nanos());
        if elapsed_ns == 0 { 0.0 } else { self.flow_paused_ns.get() as f64 / elapsed_ns as f64 }
    }

    /// Sets back what counts events.
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
