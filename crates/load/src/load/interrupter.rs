//! The end of a load from another thread.

use std::sync::Arc;
use std::sync::atomic::Ordering::Acquire;

use hortator_mysql::{Connection, Row};

use super::state::LoadState;
use crate::checkpoint::Checkpoints;
use crate::report::Summary;

/// Cancels the statements that these connections run.
fn kill(connection: &mut Connection, ids: &[u32]) {
    for id in ids {
        let _ = connection.execute(format!("KILL QUERY {id}").as_bytes());
    }
}

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
            kill(&mut connection, &self.state.pool.running());
        }
    }

    /// Cancels statements of an interrupted load that wait for a lock of a table or of the server, also those by which it
    /// writes its records: it may be the dump's own session that holds the lock, until the load has ended. To be called
    /// again until then, since what ends a load may wait too.
    pub fn cancel_lock_waits(&self) {
        let mut ids = self.state.pool.running();
        ids.extend(self.state.checkpoints.as_ref().map(Checkpoints::internal_connection_id));
        let Ok(mut connection) = Connection::open(self.state.targets.options()) else { return };
        let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
        let query = format!(
            "SELECT ID FROM information_schema.PROCESSLIST WHERE ID IN ({}) AND STATE LIKE 'Waiting for % lock'",
            ids.join(", ")
        );
        let rows = connection.fetch(query.as_bytes()).unwrap_or_default();
        let number = |row: Row| std::str::from_utf8(row.first()?.as_deref()?).ok()?.parse().ok();
        kill(&mut connection, &rows.into_iter().filter_map(number).collect::<Vec<u32>>());
    }

    /// Whether the interrupted load ends by itself: it does not wait for its input.
    #[must_use]
    pub fn ends_by_itself(&self) -> bool {
        !self.state.may_await_input.load(Acquire)
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
