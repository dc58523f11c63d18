//! Inserts by many threads for a fixed time, counted as the server confirms them.
//!
//! The threads never pause: the clocks and the counters are read while they work, after a warm-up and again at the end, so
//! that neither connecting nor the last answers are part of the figures.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;

use super::spent::{Clocks, Spent};
use super::workload::Inserts;
use crate::Error;
use crate::server::Server;

/// The schema of the table.
pub(super) const SCHEMA: &str = "inserts";
/// Of what each row holds besides its key.
const PAYLOAD_BYTES: usize = 100;
/// Each thread's keys begin that far from those of the one before. A key that all draw from one counter would make all
/// wait for the table's last page: with 200 threads, a server without a provider was then the slowest of all.
const KEYS_OF_A_THREAD: usize = 1 << 32;
/// Two hundred threads with the usual stacks would be much of a small machine's address space.
const STACK_BYTES: usize = 256 << 10;
/// How often the waiting thread looks whether to end early.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// Rows that were confirmed within `measured`, and what was spent on them.
pub(super) fn run(
    server: &Server,
    shape: Inserts,
    warm_up: Duration,
    measured: Duration,
    stop: &AtomicBool,
) -> Result<(u64, Spent), Error> {
    let mut connection = server.connect()?;
    create_table(&mut connection).map_err(Error::server("creating the table"))?;
    let connections = (0..shape.threads).map(|_| server.connect()).collect::<Result<Vec<_>, _>>()?;
    let work = Work { confirmed: AtomicU64::new(0), over: AtomicBool::new(false), rows: shape.rows as u64 };

    let (inserts, spent) = thread::scope(|scope| {
        let spawn = |(connection, first_key)| {
            let (thread, work) = (thread::Builder::new().stack_size(STACK_BYTES), &work);
            thread.spawn_scoped(scope, move || work.insert(connection, first_key))
        };
        let first_keys = (0..).step_by(KEYS_OF_A_THREAD);
        let workers = connections.into_iter().zip(first_keys).map(spawn).collect::<Result<Vec<_>, _>>();
        let workers = workers.inspect_err(|_| work.over.store(true, Ordering::Relaxed));
        let workers = workers.map_err(Error::io("starting a thread"))?;
        let outcome = work.measure(server, [warm_up, measured], stop);
        work.over.store(true, Ordering::Relaxed);
        let ends = workers.into_iter().map(|worker| worker.join().expect("an inserting thread does not panic"));
        // Why a thread ended says more than that the wait was cut short.
        ends.collect::<Result<Vec<()>, _>>().map_err(Error::server("inserting"))?;
        outcome
    })?;
    check_rows(&mut connection, work.confirmed.into_inner() * shape.rows as u64)?;
    Ok((inserts * shape.rows as u64, spent))
}

struct Work {
    /// Statements that the server has confirmed, of all threads.
    confirmed: AtomicU64,
    over: AtomicBool,
    /// In each statement.
    rows: u64,
}

impl Work {
    fn insert(&self, mut connection: Connection, first_key: u64) -> Result<(), hortator_mysql::Error> {
        let payload = "x".repeat(PAYLOAD_BYTES);
        let (mut keys, mut sql) = (first_key.., String::new());
        while !self.over.load(Ordering::Relaxed) {
            sql.clear();
            let _ = write!(sql, "INSERT INTO {SCHEMA}.t VALUES ");
            for (row, key) in (0..self.rows).zip(&mut keys) {
                let _ = write!(sql, "{}({key},'{payload}')", if row == 0 { "" } else { "," });
            }
            connection.execute(sql.as_bytes()).inspect_err(|_| self.over.store(true, Ordering::Relaxed))?;
            self.confirmed.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Lets the threads work for two times, and counts the second.
    fn measure(
        &self,
        server: &Server,
        [warm_up, measured]: [Duration; 2],
        stop: &AtomicBool,
    ) -> Result<(u64, Spent), Error> {
        let confirmed = || self.confirmed.load(Ordering::Relaxed);
        self.wait(warm_up, stop)?;
        let (before, clocks) = (confirmed(), Clocks::read(server)?);
        self.wait(measured, stop)?;
        let spent = Clocks::read(server)?.since(&clocks);
        Ok((confirmed() - before, spent))
    }

    /// Lets the threads work for that long.
    fn wait(&self, time: Duration, stop: &AtomicBool) -> Result<(), Error> {
        let start = Instant::now();
        while let Some(rest) = time.checked_sub(start.elapsed()) {
            if stop.load(Ordering::Relaxed) || self.over.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            thread::sleep(rest.min(LOOK_INTERVAL));
        }
        Ok(())
    }
}

fn create_table(connection: &mut Connection) -> Result<(), hortator_mysql::Error> {
    for sql in [
        format!("DROP DATABASE IF EXISTS {SCHEMA}"),
        format!("CREATE DATABASE {SCHEMA}"),
        format!(
            "CREATE TABLE {SCHEMA}.t (id BIGINT UNSIGNED NOT NULL PRIMARY KEY, \
             payload VARCHAR({PAYLOAD_BYTES}) NOT NULL) ENGINE=InnoDB"
        ),
    ] {
        connection.execute(sql.as_bytes())?;
    }
    Ok(())
}

/// Nothing that was confirmed may be missing.
fn check_rows(connection: &mut Connection, expected: u64) -> Result<(), Error> {
    let query = format!("SELECT COUNT(*) FROM {SCHEMA}.t");
    let counted = connection.fetch(query.as_bytes()).map_err(Error::server("counting the rows"))?;
    let count = counted.into_iter().flatten().flatten().next().unwrap_or_default();
    let rows = String::from_utf8_lossy(&count).parse().unwrap_or(0);
    if rows == expected { Ok(()) } else { Err(Error::Incomplete { way: "inserting", rows, expected }) }
}
