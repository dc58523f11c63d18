//! What a node counts, for its status variables.

use std::sync::atomic::{AtomicI64, Ordering};

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

    /// Takes one away. False: there is none.
    pub fn take_one(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| (count > 0).then(|| count - 1)).is_ok()
    }

    fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl Counters {
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
        ] {
            counter.reset();
        }
    }
}
