//! Quiescing servers between runs, so that no run pays for the one before it: no old row versions to purge, no pages to
//! flush, no CPU used.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;

use crate::Error;
use crate::server::status_number;

/// Servers that are not idle after this time give no figure.
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

/// That servers are at rest: what a measured run begins with.
#[derive(Debug)]
pub(crate) struct AtRest(());

/// Waits until the servers of these connections are idle. `cpu_time` returns the CPU time of all of them together.
///
/// # Errors
/// [`Error::NotAtRest`] when they are not idle in time, [`Error::Server`] when a statement fails, [`Error::Interrupted`]
/// when the experiment is stopped.
pub(crate) fn wait(
    connections: &mut [Connection],
    cpu_time: impl Fn() -> Result<Duration, Error>,
    stop: &AtomicBool,
) -> Result<AtRest, Error> {
    wait_for(QUIESCE_TIMEOUT, connections, cpu_time, stop)
}

fn wait_for(
    limit: Duration,
    connections: &mut [Connection],
    cpu_time: impl Fn() -> Result<Duration, Error>,
    stop: &AtomicBool,
) -> Result<AtRest, Error> {
    let before = connections.iter_mut().map(flush_fast).collect::<Result<Vec<_>, _>>()?;
    let waited = wait_until_idle(limit, connections, cpu_time, stop);
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

/// What a server still does.
#[derive(Clone, Copy, Debug, Default)]
struct Activity {
    /// Of one core, of all servers together.
    cpu_share: f64,
    /// Old row versions to purge, of the server with most.
    history: u64,
    /// Pages to flush, of the server with most.
    dirty_pages: u64,
}

impl Activity {
    fn is_rest(self, servers: usize) -> bool {
        self.cpu_share < IDLE_CPU_SHARE * servers as f64
            && self.history < IDLE_HISTORY_LIMIT
            && self.dirty_pages < IDLE_DIRTY_PAGES_LIMIT
    }
}

fn wait_until_idle(
    limit: Duration,
    connections: &mut [Connection],
    cpu_time: impl Fn() -> Result<Duration, Error>,
    stop: &AtomicBool,
) -> Result<AtRest, Error> {
    let deadline = Instant::now() + limit;
    let (mut sampled_at, mut used) = (Instant::now(), cpu_time()?);
    loop {
        thread::sleep(QUIESCE_INTERVAL);
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let (now, used_now) = (Instant::now(), cpu_time()?);
        let cpu_share = used_now.saturating_sub(used).as_secs_f64() / (now - sampled_at).as_secs_f64();
        (sampled_at, used) = (now, used_now);
        let mut activity = Activity { cpu_share, ..Activity::default() };
        for connection in &mut *connections {
            activity.history = activity.history.max(status_number(connection, "Innodb_history_list_length")?);
            let dirty_pages = status_number(connection, "Innodb_buffer_pool_pages_dirty")?;
            activity.dirty_pages = activity.dirty_pages.max(dirty_pages);
        }
        if activity.is_rest(connections.len()) {
            return Ok(AtRest(()));
        }
        if now > deadline {
            let Activity { cpu_share, history, dirty_pages } = activity;
            return Err(Error::NotAtRest { limit_s: limit.as_secs(), cpu_share, history, dirty_pages });
        }
    }
}

#[cfg(test)]
mod tests {
    use hortator_sandbox::Builder;

    use super::*;

    /// A server that works, as for a client that the experiment does not know.
    #[test]
    fn a_server_that_is_not_at_rest_is_an_error_that_says_what_it_does() {
        let server = Builder::standalone().start_temporary().unwrap();
        let mut connections = [server.node(0).connect().unwrap()];
        let used = std::cell::Cell::new(Duration::ZERO);
        let busy = || Ok(used.replace(used.get() + Duration::from_secs(1)));
        let stop = AtomicBool::new(false);
        let waited = wait_for(Duration::from_secs(1), &mut connections, busy, &stop);
        let message = waited.unwrap_err().to_string();
        assert!(message.starts_with("the servers were not at rest after 1 s"), "{message}");
        // The settings are as before, also after a failure.
        let capacity = connections[0].fetch(b"SELECT @@innodb_io_capacity").unwrap();
        assert_eq!(capacity, [[Some(b"200".to_vec())]]);
        wait(&mut connections, || Ok(Duration::ZERO), &stop).unwrap();
    }
}
