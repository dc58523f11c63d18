//! Statements of many threads for a fixed time, counted when the servers confirm them.
//!
//! The threads never pause: the clocks and the counters are read while they run, after a warm-up and again at the end,
//! so that neither connecting nor the last answers are part of the figures.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;
use hortator_mysql::error::DEADLOCK;

use super::resource_usage::{Clocks, ResourceUsage};
use super::workload::Threads;
use super::{Done, Workload, convergence};
use crate::Error;
use crate::nodes::Nodes;

/// The schema of all tables of the workloads.
pub(super) const SCHEMA: &str = "work";
/// The warm-up takes the measured time divided by this.
const WARM_UP_DIVISOR: u32 = 5;
/// Two hundred threads with the usual stacks would use much of a small machine's address space.
const STACK_BYTES: usize = 256 << 10;
/// The interval at which the waiting thread checks whether to end early.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The work of the threads.
pub(super) struct Task<'a> {
    /// The workload, for error messages.
    pub(super) work: Workload,
    pub(super) threads: Threads,
    /// The statements that create the table, in [`SCHEMA`].
    pub(super) setup: &'a [&'a str],
    /// Rows per statement.
    pub(super) rows: u64,
    /// The query for the number of rows of a node; an updated row counts once per update.
    pub(super) count: &'a str,
}

impl Task<'_> {
    /// Lets the threads send statements until the time is over, and then checks whether all nodes have the confirmed
    /// rows. `statements` gets a thread's number and returns the function that writes that thread's statements, one
    /// after the other, into an empty text.
    pub(super) fn run<S: FnMut(&mut String) + Send>(
        &self,
        nodes: &Nodes,
        time: Duration,
        stop: &AtomicBool,
        statements: impl Fn(usize) -> S,
    ) -> Result<Done, Error> {
        self.set_up(&mut nodes.connect(0)?).map_err(Error::server("creating the table"))?;
        nodes.wait_until_applied()?;
        let connect = |thread| nodes.connect(thread % self.threads.nodes);
        let connections = (0..self.threads.count).map(connect).collect::<Result<Vec<_>, _>>()?;
        let work = Work { confirmed: AtomicU64::new(0), conflicts: AtomicU64::new(0), is_over: AtomicBool::new(false) };

        let (confirmed, conflicts, usage) = thread::scope(|scope| {
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
            ends.collect::<Result<Vec<()>, _>>().map_err(Error::server("sending a statement"))?;
            outcome
        })?;
        let end = Instant::now();
        nodes.wait_until_applied()?;
        let apply_lag = end.elapsed();
        let confirmed_in_all = work.confirmed.into_inner() * self.rows;
        convergence::check(nodes, self.work, confirmed_in_all, |connection| {
            convergence::number(connection, self.count)
        })?;
        Ok(Done { rows: confirmed * self.rows, conflicts, usage, apply_lag })
    }

    fn set_up(&self, connection: &mut Connection) -> Result<(), hortator_mysql::Error> {
        connection.execute(format!("CREATE DATABASE {SCHEMA}").as_bytes())?;
        connection.execute(format!("USE {SCHEMA}").as_bytes())?;
        self.setup.iter().try_for_each(|sql| connection.execute(sql.as_bytes()).map(drop))
    }
}

/// The state that all threads share.
struct Work {
    confirmed: AtomicU64,
    conflicts: AtomicU64,
    is_over: AtomicBool,
}

impl Work {
    fn send(
        &self,
        mut connection: Connection,
        mut statements: impl FnMut(&mut String),
    ) -> Result<(), hortator_mysql::Error> {
        let mut sql = String::new();
        while !self.is_over.load(Ordering::Relaxed) {
            sql.clear();
            statements(&mut sql);
            while let Err(error) = connection.execute(sql.as_bytes()) {
                if error.code() != Some(DEADLOCK) {
                    self.is_over.store(true, Ordering::Relaxed);
                    return Err(error);
                }
                self.conflicts.fetch_add(1, Ordering::Relaxed);
                if self.is_over.load(Ordering::Relaxed) {
                    return Ok(());
                }
            }
            self.confirmed.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Lets the threads run for a warm-up, and then for the time in which confirmed statements and conflicts count.
    fn measure(
        &self,
        nodes: &Nodes,
        measured: Duration,
        stop: &AtomicBool,
    ) -> Result<(u64, u64, ResourceUsage), Error> {
        let counted = || (self.confirmed.load(Ordering::Relaxed), self.conflicts.load(Ordering::Relaxed));
        self.wait(measured / WARM_UP_DIVISOR, stop)?;
        let (before, clocks) = (counted(), Clocks::read(nodes)?);
        self.wait(measured, stop)?;
        let usage = Clocks::read(nodes)?.since(&clocks);
        let after = counted();
        Ok((after.0 - before.0, after.1 - before.1, usage))
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
