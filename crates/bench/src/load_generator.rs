//! Statements of many threads for a fixed time, counted when the servers confirm them.
//!
//! The threads never pause: the clocks and the counters are read while they run, after a warm-up and again at the end,
//! so that neither connecting nor the last answers are part of the figures.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;
use hortator_mysql::error::{DEADLOCK, LOCK_WAIT_TIMEOUT};

use crate::nodes::Nodes;
use crate::resource_usage::{Clocks, ResourceUsage};
use crate::{Error, convergence};

/// The warm-up takes the measured time divided by this.
const WARM_UP_DIVISOR: u32 = 5;
/// Two hundred threads with the usual stacks would use much of a small machine's address space.
const STACK_BYTES: usize = 256 << 10;
/// The interval at which the waiting thread checks whether to end early.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Connections, each with a thread of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads {
    /// The number on all nodes together.
    pub count: usize,
    /// The number of nodes, counted from the first, over which the threads are spread evenly.
    pub nodes: usize,
}

/// The work of the threads.
pub(crate) struct Task<'a> {
    /// What it is, for error messages.
    pub(crate) work: String,
    pub(crate) threads: Threads,
    /// Creates the schema and its tables.
    pub(crate) set_up: &'a dyn Fn(&mut Connection) -> Result<(), hortator_mysql::Error>,
    /// Rows per statement.
    pub(crate) rows: u64,
    /// The query for the number of rows of a node; an updated row counts once per update.
    pub(crate) count: &'a str,
}

/// What the threads did in the measured time.
#[derive(Debug)]
pub(crate) struct Generated {
    /// Confirmed rows.
    pub(crate) rows: u64,
    /// Statements that got this error and were sent again.
    pub(crate) errors: BTreeMap<u16, u64>,
    pub(crate) usage: ResourceUsage,
    /// The time from the end of the last statement until all nodes had applied everything.
    pub(crate) apply_lag: Duration,
    /// Microseconds of each confirmed statement, with its repetitions; sorted.
    pub(crate) latencies_us: Vec<u32>,
}

impl Task<'_> {
    /// Lets the threads send statements until the time is over, and then checks whether all nodes have the confirmed
    /// rows. `statements` gets a thread's number and returns the function that writes that thread's statements, one
    /// after the other, into an empty text.
    pub(crate) fn run<S: FnMut(&mut String) + Send>(
        &self,
        nodes: &Nodes,
        time: Duration,
        stop: &AtomicBool,
        statements: impl Fn(usize) -> S,
    ) -> Result<Generated, Error> {
        (self.set_up)(&mut nodes.connect(0)?).map_err(Error::server("creating the tables"))?;
        nodes.wait_until_applied()?;
        let connect = |thread| nodes.connect(thread % self.threads.nodes);
        let connections = (0..self.threads.count).map(connect).collect::<Result<Vec<_>, _>>()?;
        let work = Work::default();

        let (counted, usage, latencies_us) = thread::scope(|scope| {
            let spawn = |(thread, connection)| {
                let (builder, work) = (thread::Builder::new().stack_size(STACK_BYTES), &work);
                let statements = statements(thread);
                builder.spawn_scoped(scope, move || work.send(connection, statements))
            };
            let workers = connections.into_iter().enumerate().map(spawn).collect::<Result<Vec<_>, _>>();
            let workers = workers.inspect_err(|_| work.is_over.store(true, Ordering::Relaxed));
            let workers = workers.map_err(Error::io("starting a thread"))?;
            let outcome = work.measure(nodes, time, stop);
            work.is_over.store(true, Ordering::Relaxed);
            let ends = workers.into_iter().map(|worker| worker.join().expect("a sending thread does not panic"));
            // The reason why a thread ended is more useful than the interruption of the wait.
            let latencies = ends.collect::<Result<Vec<Vec<u32>>, _>>().map_err(Error::server("sending a statement"))?;
            let mut latencies_us = latencies.concat();
            latencies_us.sort_unstable();
            outcome.map(|(counted, usage)| (counted, usage, latencies_us))
        })?;
        let end = Instant::now();
        nodes.wait_until_applied()?;
        let apply_lag = end.elapsed();
        let confirmed_in_all = work.confirmed.into_inner() * self.rows;
        convergence::check(nodes, &self.work, confirmed_in_all, |connection| {
            convergence::number(connection, self.count)
        })?;
        let Counted { confirmed, deadlocks, lock_waits } = counted;
        let errors = BTreeMap::from([(DEADLOCK, deadlocks), (LOCK_WAIT_TIMEOUT, lock_waits)]);
        Ok(Generated { rows: confirmed * self.rows, errors, usage, apply_lag, latencies_us })
    }
}

/// The state that all threads share.
#[derive(Default)]
struct Work {
    confirmed: AtomicU64,
    deadlocks: AtomicU64,
    lock_waits: AtomicU64,
    /// Between warm-up and end.
    is_measured: AtomicBool,
    is_over: AtomicBool,
}

/// The counters at a moment, or between two.
struct Counted {
    confirmed: u64,
    deadlocks: u64,
    lock_waits: u64,
}

impl Work {
    /// The latencies of the statements that end in the measured time.
    fn send(
        &self,
        mut connection: Connection,
        mut statements: impl FnMut(&mut String),
    ) -> Result<Vec<u32>, hortator_mysql::Error> {
        let (mut sql, mut latencies_us) = (String::new(), Vec::new());
        while !self.is_over.load(Ordering::Relaxed) {
            sql.clear();
            statements(&mut sql);
            let start = Instant::now();
            while let Err(error) = connection.execute(sql.as_bytes()) {
                match error.code() {
                    Some(DEADLOCK) => self.deadlocks.fetch_add(1, Ordering::Relaxed),
                    Some(LOCK_WAIT_TIMEOUT) => self.lock_waits.fetch_add(1, Ordering::Relaxed),
                    _ => {
                        self.is_over.store(true, Ordering::Relaxed);
                        return Err(error);
                    }
                };
                if self.is_over.load(Ordering::Relaxed) {
                    return Ok(latencies_us);
                }
            }
            self.confirmed.fetch_add(1, Ordering::Relaxed);
            if self.is_measured.load(Ordering::Relaxed) {
                latencies_us.push(u32::try_from(start.elapsed().as_micros()).unwrap_or(u32::MAX));
            }
        }
        Ok(latencies_us)
    }

    /// Lets the threads run for a warm-up, and then for the time that counts.
    fn measure(&self, nodes: &Nodes, measured: Duration, stop: &AtomicBool) -> Result<(Counted, ResourceUsage), Error> {
        self.wait(measured / WARM_UP_DIVISOR, stop)?;
        let (before, clocks) = (self.counted(), Clocks::read(nodes)?);
        self.is_measured.store(true, Ordering::Relaxed);
        self.wait(measured, stop)?;
        self.is_measured.store(false, Ordering::Relaxed);
        let usage = Clocks::read(nodes)?.since(&clocks);
        let after = self.counted();
        let counted = Counted {
            confirmed: after.confirmed - before.confirmed,
            deadlocks: after.deadlocks - before.deadlocks,
            lock_waits: after.lock_waits - before.lock_waits,
        };
        Ok((counted, usage))
    }

    fn counted(&self) -> Counted {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counted {
            confirmed: read(&self.confirmed),
            deadlocks: read(&self.deadlocks),
            lock_waits: read(&self.lock_waits),
        }
    }

    /// Lets the threads run for that time.
    fn wait(&self, time: Duration, stop: &AtomicBool) -> Result<(), Error> {
        let start = Instant::now();
        while let Some(rest) = time.checked_sub(start.elapsed()) {
            if stop.load(Ordering::Relaxed) || self.is_over.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            thread::sleep(rest.min(STOP_CHECK_INTERVAL));
        }
        Ok(())
    }
}
