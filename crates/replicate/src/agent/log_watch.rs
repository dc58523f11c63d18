//! Asks a source how much its log has behind what is applied, over a connection of its own: the stream of its log says that
//! only at its end.

use std::sync::Arc;
use std::time::Duration;

use hortator_mysql::{ConnectOptions, Connection, Error};

use super::source_task::SourceTask;
use crate::source;

/// How often a source is asked while the target does not have everything.
const ASK_INTERVAL: Duration = Duration::from_secs(2);
/// How often, while it does not answer.
const FAILED_INTERVAL: Duration = Duration::from_secs(10);
/// How long the connection, and each answer, may take.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Asks until the source's end.
pub(super) fn run(task: &Arc<SourceTask>) {
    let mut open: Option<(usize, Connection)> = None;
    let mut interval = ASK_INTERVAL;
    while task.sleep(interval) {
        interval = ASK_INTERVAL;
        let Some((host, at)) = task.track(|tracker, now| tracker.position_for_log(now)) else { continue };
        let kept = open.take().filter(|(of, _)| *of == host).map(|(_, connection)| connection);
        let connection = match kept {
            Some(connection) => Ok(connection),
            None => connect(&task.options.hosts[host]),
        };
        let asked = connection.and_then(|mut connection| {
            let bytes = source::lag_bytes(&mut connection, &at)?;
            Ok((connection, bytes))
        });
        let bytes = match asked {
            Ok((connection, bytes)) => {
                open = Some((host, connection));
                bytes
            }
            // The session says what is wrong with the source.
            Err(_) => {
                interval = FAILED_INTERVAL;
                None
            }
        };
        task.track(|tracker, now| tracker.on_log(bytes, now));
    }
}

/// With time limits: a source that hangs does not keep anything waiting for long.
pub(super) fn connect(options: &ConnectOptions) -> Result<Connection, Error> {
    let connect_timeout = options.connect_timeout.min(TIMEOUT);
    Connection::open(&ConnectOptions { connect_timeout, read_timeout: Some(TIMEOUT), ..options.clone() })
}
