//! A sandbox that ends with its owner.

use std::ops::Deref;

use crate::sandbox::Sandbox;
use crate::watchdog::Watchdog;

/// A running sandbox whose servers and folder are removed when this value is dropped, or when the process ends for any
/// reason.
#[derive(Debug)]
pub struct Temporary {
    sandbox: Sandbox,
    watchdog: Option<Watchdog>,
}

impl Temporary {
    pub(crate) fn new(sandbox: Sandbox, watchdog: Watchdog) -> Temporary {
        Temporary { sandbox, watchdog: Some(watchdog) }
    }
}

impl Deref for Temporary {
    type Target = Sandbox;

    fn deref(&self) -> &Sandbox {
        &self.sandbox
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let removed = self.sandbox.destroy();
        if let Some(watchdog) = self.watchdog.take()
            && removed.is_ok()
        {
            watchdog.dismiss();
        }
    }
}
