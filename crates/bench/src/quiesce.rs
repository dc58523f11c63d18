//! Quiescing servers between runs, so that no run pays for the one before it: no old row versions to purge, no pages to
//! flush, no CPU used.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;

use crate::Error;
use crate::server::status_number;

/// Servers that are not idle after this time are used as they are.
const QUIESCE_TIMEOUT: Duration = Duration::from_secs(60);
/// The interval for checking the servers.
const QUIESCE_INTERVAL: Duration = Duration::from_millis(250);
/// An idle server has fewer old row versions to purge …
const IDLE_HISTORY_LIMIT: u64 = 20;
/// … fewer dirty pages to flush …
const IDLE_DIRTY_PAGES_LIMIT: u64 = 200;
/// … and uses less than this share of one core.
const IDLE_CPU_SHARE: f64 = 0.05;

/// Settings with which a server flushes its pages faster while it quiesces.
const FLUSH_SETTINGS: [(&str, &str); 3] =
    [("innodb_io_capacity_max", "20000"), ("innodb_io_capacity", "20000"), ("innodb_max_dirty_pages_pct", "0")];

/// Waits until the servers of these connections are idle. `cpu_time` returns the CPU time of all of them together.
///
/// # Errors
/// [`Error::Server`] when a statement fails, [`Error::Interrupted`] when the experiment is stopped.
pub(crate) fn wait(
    connections: &mut [Connection],
    cpu_time: impl Fn() -> Result<Duration, Error>,
    stop: &AtomicBool,
) -> Result<(), Error> {
    let before = connections.iter_mut().map(flush_fast).collect::<Result<Vec<_>, _>>()?;
    let waited = wait_until_idle(connections, cpu_time, stop);
    for (connection, settings) in connections.iter_mut().zip(before) {
        // Restore the maximum last: it may not be below the capacity.
        settings.iter().rev().try_for_each(|(name, value)| set(connection, name, value))?;
    }
    waited
}

/// Sets [`FLUSH_SETTINGS`]; returns the values before.
fn flush_fast(connection: &mut Connection) -> Result<Vec<(&'static str, String)>, Error> {
    let mut before = Vec::new();
    for (name, value) in FLUSH_SETTINGS {
        let asked = connection.fetch(format!("SELECT @@GLOBAL.{name}").as_bytes());
        let rows = asked.map_err(Error::server(format!("reading {name}")))?;
        let old = rows.into_iter().flatten().flatten().next().unwrap_or_default();
        before.push((name, String::from_utf8_lossy(&old).into_owned()));
        set(connection, name, value)?;
    }
    Ok(before)
}

fn set(connection: &mut Connection, name: &str, value: &str) -> Result<(), Error> {
    let statement = format!("SET GLOBAL {name} = {value}");
    connection.execute(statement.as_bytes()).map(drop).map_err(Error::server("quiescing the server"))
}

fn wait_until_idle(
    connections: &mut [Connection],
    cpu_time: impl Fn() -> Result<Duration, Error>,
    stop: &AtomicBool,
) -> Result<(), Error> {
    let share_limit = IDLE_CPU_SHARE * connections.len() as f64;
    let deadline = Instant::now() + QUIESCE_TIMEOUT;
    let (mut sampled_at, mut used) = (Instant::now(), cpu_time()?);
    while Instant::now() < deadline {
        thread::sleep(QUIESCE_INTERVAL);
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let (now, used_now) = (Instant::now(), cpu_time()?);
        let share = (used_now - used).as_secs_f64() / (now - sampled_at).as_secs_f64();
        (sampled_at, used) = (now, used_now);
        let (mut history, mut dirty) = (0, 0);
        for connection in &mut *connections {
            history = history.max(status_number(connection, "Innodb_history_list_length")?);
            dirty = dirty.max(status_number(connection, "Innodb_buffer_pool_pages_dirty")?);
        }
        if share < share_limit && history < IDLE_HISTORY_LIMIT && dirty < IDLE_DIRTY_PAGES_LIMIT {
            break;
        }
    }
    Ok(())
}
