//! What is looked at for every commit, without a lock.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::options::Options;

/// Limits that options set.
#[derive(Debug, Default)]
pub struct Limits {
    write_set_bytes: AtomicU64,
    queued: AtomicU64,
}

impl Limits {
    /// How many write sets a node may have to apply before the cluster waits for it.
    pub fn queued(&self) -> u64 {
        self.queued.load(Ordering::Relaxed)
    }

    /// Takes what the options say.
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

/// Whether transactions are being refused for want of room: told when it begins and when it ends, not each time.
#[derive(Debug, Default)]
pub struct Refusals(AtomicBool);

impl Refusals {
    /// One is refused. True: it is the first.
    pub fn begins(&self) -> bool {
        !self.0.swap(true, Ordering::Relaxed)
    }

    /// One is not. True: it is the first.
    pub fn end(&self) -> bool {
        self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::Relaxed)
    }
}
