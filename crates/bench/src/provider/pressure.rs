//! Statements by many threads for a fixed time, counted as the servers confirm them.
//!
//! The threads never pause: the clocks and the counters are read while they work, after a warm-up and again at the end, so
//! that neither connecting nor the last answers are part of the figures.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;
use hortator_mysql::error::DEADLOCK;

use super::spent::{Clocks, Spent};
use super::workload::Threads;
use super::{Done, Workload, settled};
use crate::Error;
use crate::nodes::Nodes;

/// The schema of all tables that are worked on.
pub(super) const SCHEMA: &str = "work";
/// The warm-up is this part of what is measured.
const WARM_UP_PART: u32 = 5;
/// Two hundred threads with the usual stacks would be much of a small machine's address space.
const STACK_BYTES: usize = 256 << 10;
/// How often the waiting thread looks whether to end early.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// What the threads are to do.
pub(super) struct Task<'a> {
    /// How an error names it.
    pub(super) work: Workload,
    pub(super) threads: Threads,
    /// Makes the table, in [`SCHEMA`].
    pub(super) setup: &'a [&'a str],
    /// Rows of a statement.
    pub(super) rows: u64,
    /// Gives the number of rows that a node has; an updated one counts as often as it was updated.
    pub(super) count: &'a str,
}

impl Task<'_> {
    /// Lets the threads send statements, each its own, until the time is over, and looks then whether all nodes have what was
    /// confirmed. `statements` is told a thread's number and gives what writes one after the other into an empty text.
    pub(super) fn run<S: FnMut(&mut String) + Send>(
        &self,
        nodes: &Nodes,
        time: Duration,
        stop: &AtomicBool,
        statements: impl Fn(usize) -> S,
    ) -> Result<Done, Error> {
        self.set_up(&mut nodes.connect(0)?).map_err(Error::server("creating the table"))?;
        nodes.wait_everywhere()?;
        let connect = |thread| nodes.connect(thread % self.threads.nodes);
        let connections = (0..self.threads.count).map(connect).collect::<Result<Vec<_>, _>>()?;
        let work = Work { confirmed: AtomicU64::new(0), refused: AtomicU64::new(0), over: AtomicBool::new(false) };

        let (confirmed, refused, spent) = thread::scope(|scope| {
            let spawn = |(thread, connection)| {
                let (builder, work) = (thread::Builder::new().stack_size(STACK_BYTES), &work);
                let statements = statements(thread);
                builder.spawn_scoped(scope, move || work.send(connection, statements))
            };
            let workers = connections.into_iter().enumerate().map(spawn).collect::<Result<Vec<_>, _>>();
            let workers = workers.inspect_err(|_| work.over.store(true, Ordering::Relaxed));
            let workers = workers.map_err(Error::io("starting a thread"))?;
            let outcome = work.measure(nodes, time, stop);
            work.over.store(true, Ordering::Relaxed);
            let ends = workers.into_iter().map(|worker| worker.join().expect("a sending thread does not panic"));
            // Why a thread ended says more than that the wait was cut short.
            ends.collect::<Result<Vec<()>, _>>().map_err(Error::server("sending a statement"))?;
            outcome
        })?;
        let end = Instant::now();
        nodes.wait_everywhere()?;
        let behind = end.elapsed();
        let confirmed_in_all = work.confirmed.into_inner() * self.rows;
        settled::check(nodes, self.work, confirmed_in_all, |connection| settled::number(connection, self.count))?;
        Ok(Done { rows: confirmed * self.rows, refused, spent, behind })
    }

    fn set_up(&self, connection: &mut Connection) -> Result<(), hortator_mysql::Error> {
        connection.execute(format!("CREATE DATABASE {SCHEMA}").as_bytes())?;
        connection.execute(format!("USE {SCHEMA}").as_bytes())?;
        self.setup.iter().try_for_each(|sql| connection.execute(sql.as_bytes()).map(drop))
    }
}

/// What all threads share.
struct Work {
    confirmed: AtomicU64,
    refused: AtomicU64,
    over: AtomicBool,
}

impl Work {
    fn send(
        &self,
        mut connection: Connection,
        mut statements: impl FnMut(&mut String),
    ) -> Result<(), hortator_mysql::Error> {
        let mut sql = String::new();
        while !self.over.load(Ordering::Relaxed) {
            sql.clear();
            statements(&mut sql);
            while let Err(error) = connection.execute(sql.as_bytes()) {
                if error.code() != Some(DEADLOCK) {
                    self.over.store(true, Ordering::Relaxed);
                    return Err(error);
                }
                self.refused.fetch_add(1, Ordering::Relaxed);
                if self.over.load(Ordering::Relaxed) {
                    return Ok(());
                }
            }
            self.confirmed.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Lets the threads work for a warm-up, and then for the time in which confirmed and refused statements count.
    fn measure(&self, nodes: &Nodes, measured: Duration, stop: &AtomicBool) -> Result<(u64, u64, Spent), Error> {
        let counted = || (self.confirmed.load(Ordering::Relaxed), self.refused.load(Ordering::Relaxed));
        self.wait(measured / WARM_UP_PART, stop)?;
        let (before, clocks) = (counted(), Clocks::read(nodes)?);
        self.wait(measured, stop)?;
        let spent = Clocks::read(nodes)?.since(&clocks);
        let after = counted();
        Ok((after.0 - before.0, after.1 - before.1, spent))
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
