//! How long the test waits for a node that starts or that is healed: less than the sandbox does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Ends the sandbox's waits by its interrupt flag. What waited fails with "interrupted"; the servers go on.
#[derive(Debug, Default, Clone)]
pub struct Patience(Arc<AtomicBool>);

impl Patience {
    /// The flag for the sandbox.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Waits for no longer than `limit`, if there is one.
    pub fn with<T>(&self, limit: Option<Duration>, wait: impl FnOnce() -> T) -> T {
        let Some(limit) = limit else { return wait() };
        let (is_over, over) = mpsc::channel::<()>();
        let done = thread::scope(|scope| {
            let interrupted = &self.0;
            scope.spawn(move || {
                if over.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                    interrupted.store(true, Ordering::Relaxed);
                }
            });
            let done = wait();
            drop(is_over);
            done
        });
        self.0.store(false, Ordering::Relaxed);
        done
    }
}
