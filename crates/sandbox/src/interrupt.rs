//! The caller's interrupt flag, checked while waiting for servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Error;

/// Set by the caller, typically in a signal handler; checked while waiting.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt(Option<Arc<AtomicBool>>);

impl Interrupt {
    pub(crate) fn new(flag: Arc<AtomicBool>) -> Interrupt {
        Interrupt(Some(flag))
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        match &self.0 {
            Some(flag) if flag.load(Ordering::Relaxed) => Err(Error::Interrupted),
            _ => Ok(()),
        }
    }
}
