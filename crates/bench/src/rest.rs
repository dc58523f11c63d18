//! Servers coming to rest between runs, so that none pays for the one before it: no old row versions to purge, no pages to
//! write, no CPU used.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;

use crate::Error;
use crate::server::number;

/// Servers that have not come to rest after this long are used as they are.
const REST_LIMIT: Duration = Duration::from_secs(60);
/// How often they are looked at.
const REST_INTERVAL: Duration = Duration::from_millis(250);
/// At rest, few old row versions wait to be purged …
const REST_HISTORY: u64 = 20;
/// … few pages wait to be written …
const REST_DIRTY_PAGES: u64 = 200;
/// … and each server uses less than this part of one core.
const REST_CPU_SHARE: f64 = 0.05;

/// How a server is made to write its pages out meanwhile, and then set back.
const HURRY: [(&str, &str); 3] =
    [("innodb_io_capacity_max", "20000"), ("innodb_io_capacity", "20000"), ("innodb_max_dirty_pages_pct", "0")];

/// Waits for the servers of these connections, which together have used `cpu_time`.
///
/// # Errors
/// [`Error::Server`] when a statement fails, [`Error::Interrupted`] when told to stop.
pub(crate) fn wait(
    connections: &mut [Connection],
    cpu_time: impl Fn() -> Result<Duration, Error>,
    stop: &AtomicBool,
) -> Result<(), Error> {
    let before = connections.iter_mut().map(hurry).collect::<Result<Vec<_>, _>>()?;
    let rested = wait_in_hurry(connections, cpu_time, stop);
    for (connection, settings) in connections.iter_mut().zip(before) {
        // The limit is lowered last: it may not be below the capacity.
        settings.iter().rev().try_for_each(|(name, value)| set(connection, name, value))?;
    }
    rested
}

/// Sets [`HURRY`]; gives what was set before.
fn hurry(connection: &mut Connection) -> Result<Vec<(&'static str, String)>, Error> {
    let mut before = Vec::new();
    for (name, value) in HURRY {
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
    connection.execute(statement.as_bytes()).map(drop).map_err(Error::server("bringing the server to rest"))
}

fn wait_in_hurry(
    connections: &mut [Connection],
    cpu_time: impl Fn() -> Result<Duration, Error>,
    stop: &AtomicBool,
) -> Result<(), Error> {
    let share_limit = REST_CPU_SHARE * connections.len() as f64;
    let deadline = Instant::now() + REST_LIMIT;
    let (mut looked, mut used) = (Instant::now(), cpu_time()?);
    while Instant::now() < deadline {
        thread::sleep(REST_INTERVAL);
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let (looked_now, used_now) = (Instant::now(), cpu_time()?);
        let share = (used_now - used).as_secs_f64() / (looked_now - looked).as_secs_f64();
        (looked, used) = (looked_now, used_now);
        let (mut history, mut dirty) = (0, 0);
        for connection in &mut *connections {
            history = history.max(number(connection, "Innodb_history_list_length")?);
            dirty = dirty.max(number(connection, "Innodb_buffer_pool_pages_dirty")?);
        }
        if share < share_limit && history < REST_HISTORY && dirty < REST_DIRTY_PAGES {
            break;
        }
    }
    Ok(())
}
