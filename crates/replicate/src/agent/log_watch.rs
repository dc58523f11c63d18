//! Asks a source how much its log has behind what is applied, over a connection of its own: the stream of its log says that
//! only at its end.

use std::sync::Arc;
use std::time::Duration;

use super::side_connection::SideConnection;
use super::source_task::SourceTask;
use crate::source;

/// How often a source is asked while the target does not have everything.
const ASK_INTERVAL: Duration = Duration::from_secs(2);

/// Asks until the source's end.
pub(super) fn run(task: &Arc<SourceTask>) {
    let mut connection = SideConnection::new(ASK_INTERVAL);
    while task.sleep(connection.interval()) {
        let Some((host, at)) = task.track(|tracker, now| tracker.position_for_log(now)) else {
            connection.pass();
            continue;
        };
        let bytes = connection.ask(&task.options.hosts[host], |connection| source::lag_bytes(connection, &at));
        task.track(|tracker, now| tracker.on_log(bytes.flatten(), now));
    }
}
