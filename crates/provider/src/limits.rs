//! Limits that every commit checks, without a lock.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::options::Options;

/// Limits from options.
#[derive(Debug, Default)]
pub struct Limits {
    write_set_bytes: AtomicU64,
    queued: AtomicU64,
}

impl Limits {
    /// Receive queue length at which flow control starts.
    pub fn queued(&self) -> u64 {
        self.queued.load(Ordering::Relaxed)
    }

    /// Takes the limits from the options.
    pub fn set(&self, options: &Options) {
        self.set_write_set_bytes(options.write_set_limit_bytes());
        self.queued.store(options.flow_limit(), Ordering::Relaxed);
    }

    /// The largest write set in bytes.
    pub fn write_set_bytes(&self) -> u64 {
        self.write_set_bytes.load(Ordering::Relaxed)
    }

    fn set_write_set_bytes(&self, bytes: u64) {
        self.write_set_bytes.store(bytes, Ordering::Relaxed);
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
