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
    /// Those of them that had no known conflict: their last-seen seqno was below a commit cut.
    pub local_cert_too_old: Counter,
    /// Transactions of this node that were replayed after a brute-force abort.
    pub local_replays: Counter,
    /// Transactions of this node that were aborted by brute force.
    pub local_bf_aborts: Counter,
    /// Sum of seqno - depends_on of all write sets.
    pub distance: Counter,
    /// Sum of the number of seqnos between the last-seen one and their own.
    pub interval: Counter,
    /// Reads that waited for everything committed.
    pub causal_reads: Counter,
    /// Write sets that receiving threads have applied.
    pub applied: Counter,
    /// Those that began while an earlier one was being applied.
    pub applied_early: Counter,
    /// Those that ended while an earlier one was being applied.
    pub overtaken: Counter,
    /// Sum of the distances between the highest and the lowest seqno being applied, at each begin.
    pub apply_window: Counter,
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
    /// A write set was applied. `distance`: to the lowest seqno that was being applied at its begin; `overtakes`: an earlier
    /// one was, at its end.
    pub fn on_applied(&self, distance: i64, overtakes: bool) {
        self.applied.add(1);
        self.apply_window.add(distance + 1);
        self.applied_early.add(i64::from(distance > 0));
        self.overtaken.add(i64::from(overtakes));
    }

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
            local_cert_too_old,
            local_replays,
            local_bf_aborts,
            distance,
            interval,
            causal_reads,
            applied,
            applied_early,
            overtaken,
            apply_window,
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
            local_cert_too_old,
            local_replays,
            local_bf_aborts,
            distance,
            interval,
            causal_reads,
            applied,
            applied_early,
            overtaken,
            apply_window,
            flow_sent,
            flow_received,
            flow_paused_ns,
        ] {
            counter.reset();
        }
        *since.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}
