//! The end of a load from another thread.

use std::sync::Arc;

use hortator_mysql::Connection;

use super::state::LoadState;
use crate::report::Summary;

/// Ends a load from another thread.
#[derive(Clone)]
pub struct Interrupter {
    pub(super) state: Arc<LoadState>,
}

impl Interrupter {
    /// Ends the load: kills running statements, so that open transactions roll back. The summary has the rest.
    pub fn interrupt(&self) {
        self.state.pool.interrupt();
        // Best effort: without it, the load ends with the statements under way.
        if let Ok(mut connection) = Connection::open(self.state.targets.options()) {
            for id in self.state.pool.running() {
                let _ = connection.execute(format!("KILL QUERY {id}").as_bytes());
            }
        }
    }

    /// Builds the deferred keys that are missing once the workers have ended, or waits until they are built: for a load that
    /// cannot end by itself. Returns whether there were any.
    #[must_use]
    pub fn build_missing_keys(&self) -> bool {
        let _ = self.state.pool.drain(&mut || {});
        let were_missing = !self.missing_keys().is_empty();
        self.state.build_missing_keys();
        were_missing
    }

    /// The statements that add the keys which are missing now.
    #[must_use]
    pub fn missing_keys(&self) -> Vec<String> {
        self.state.deferred_keys.report().missing
    }

    /// What an interrupted load did, once its workers have rolled back: for a load that cannot end by itself because it
    /// waits for input that does not come. What a load knows only at its end is absent.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let _ = self.state.pool.drain(&mut || {});
        self.state.summary(None)
    }
}
