//! How much of something may come in a second: pure, the caller has the clock.
//!
//! What is done is charged when it is done, since rows are known only then. So a bucket may be below zero, and whoever comes
//! waits until it is not. A bucket that is not used fills up to half a second's worth.

use std::time::{Duration, Instant};

/// Seconds that a bucket may save up, and that a chunk should take at most.
pub(super) const BURST_S: f64 = 0.5;
/// The longest wait that is computed; the bucket is looked at again.
const WAIT_LIMIT_S: f64 = 3600.0;

/// A token bucket.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bucket {
    per_s: Option<f64>,
    available: f64,
    at: Option<Instant>,
}

impl Bucket {
    /// So much a second from now on; `None` for no limit. What is owed stays, and is paid at the new rate.
    pub(super) fn set(&mut self, per_s: Option<u64>, now: Instant) {
        self.fill(now);
        let is_new = self.per_s.is_none();
        self.per_s = per_s.map(|per_s| per_s as f64);
        match self.per_s {
            None => self.available = 0.0,
            Some(per_s) if is_new => self.available = per_s * BURST_S,
            Some(per_s) => self.available = self.available.min(per_s * BURST_S),
        }
    }

    /// Whether there is a rate.
    pub(super) fn is_limited(&self) -> bool {
        self.per_s.is_some()
    }

    /// So much was done.
    pub(super) fn charge(&mut self, amount: u64, now: Instant) {
        self.fill(now);
        if self.per_s.is_some() {
            self.available -= amount as f64;
        }
    }

    /// How long to wait before more is done.
    pub(super) fn wait(&self, now: Instant) -> Option<Duration> {
        let mut filled = *self;
        filled.fill(now);
        let per_s = filled.per_s.filter(|_| filled.available < 0.0)?;
        Some(Duration::from_secs_f64((-filled.available / per_s).min(WAIT_LIMIT_S)))
    }

    /// How much one chunk should do at most, where `workers` do the same; `None` for any amount.
    pub(super) fn share(&self, workers: usize) -> Option<u64> {
        self.per_s.map(|per_s| (per_s * BURST_S / workers.max(1) as f64).max(1.0) as u64)
    }

    fn fill(&mut self, now: Instant) {
        let elapsed = self.at.map_or(Duration::ZERO, |at| now.saturating_duration_since(at));
        self.at = Some(now);
        if let Some(per_s) = self.per_s {
            self.available = (self.available + elapsed.as_secs_f64() * per_s).min(per_s * BURST_S);
        }
    }
}
