//! Statements of many threads for a fixed time, counted when the servers confirm them.
//!
//! The threads never pause: the clocks and the counters are read while they run, after a warm-up and again at the end,
//! so that neither connecting nor the last answers are part of the figures. A statement that is on its way at the beginning
//! or the end of the measured time counts with its part of it: large statements are few.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;
use hortator_mysql::error::{DEADLOCK, LOCK_WAIT_TIMEOUT};

use crate::latencies::Latencies;
use crate::nodes::Nodes;
use crate::resource_usage::{Clocks, ResourceUsage};
use crate::{Error, convergence, profile};

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
    pub(crate) rows: f64,
    /// Statements that got this error and were sent again.
    pub(crate) errors: BTreeMap<u16, u64>,
    pub(crate) usage: ResourceUsage,
    /// The time from the end of the last statement until all nodes had applied everything.
    pub(crate) apply_lag: Duration,
    /// Of each confirmed statement, with its repetitions after an error.
    pub(crate) latencies: Latencies,
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
        let work = Work::begin();

        let (sent, usage) = thread::scope(|scope| {
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
            let ends = ends.collect::<Result<Vec<Sent>, _>>().map_err(Error::server("sending a statement"))?;
            outcome.map(|usage| (ends.into_iter().fold(Sent::default(), Sent::and), usage))
        })?;
        let end = Instant::now();
        nodes.wait_until_applied()?;
        let apply_lag = end.elapsed();
        let confirmed_in_all = work.confirmed.into_inner() * self.rows;
        convergence::check(nodes, &self.work, confirmed_in_all, |connection| {
            convergence::number(connection, self.count)
        })?;
        let Sent { confirmed, errors, latencies } = sent;
        if confirmed == 0.0 {
            return Err(Error::Answer(format!(
                "no statement of {} was confirmed in the measured {} s: give more --seconds",
                self.work,
                time.as_secs_f64()
            )));
        }
        Ok(Generated { rows: confirmed * self.rows as f64, errors, usage, apply_lag, latencies })
    }
}

/// The state that all threads share.
struct Work {
    /// Statements, also of the warm-up.
    confirmed: AtomicU64,
    began: Instant,
    /// The measured time, in nanoseconds since the beginning; [`NOT_YET`] before.
    from_ns: AtomicU64,
    to_ns: AtomicU64,
    is_over: AtomicBool,
}

/// A moment that has not come.
const NOT_YET: u64 = u64::MAX;

/// What a thread sent in the measured time.
struct Sent {
    confirmed: f64,
    /// By number.
    errors: BTreeMap<u16, u64>,
    latencies: Latencies,
}

/// After these errors the statement is sent again. Any other error is the end of the run.
const RETRIED: [u16; 2] = [DEADLOCK, LOCK_WAIT_TIMEOUT];

impl Work {
    fn begin() -> Self {
        Self {
            confirmed: AtomicU64::new(0),
            began: Instant::now(),
            from_ns: AtomicU64::new(NOT_YET),
            to_ns: AtomicU64::new(NOT_YET),
            is_over: AtomicBool::new(false),
        }
    }

    fn send(
        &self,
        mut connection: Connection,
        mut statements: impl FnMut(&mut String),
    ) -> Result<Sent, hortator_mysql::Error> {
        let (mut sql, mut sent) = (String::new(), Sent::default());
        while !self.is_over.load(Ordering::Relaxed) {
            sql.clear();
            statements(&mut sql);
            let start_ns = self.now_ns();
            while let Err(error) = connection.execute(sql.as_bytes()) {
                let Some(number) = error.code().filter(|number| RETRIED.contains(number)) else {
                    self.is_over.store(true, Ordering::Relaxed);
                    return Err(error);
                };
                sent.count_error(number, self.now_ns(), self.window_ns());
                if self.is_over.load(Ordering::Relaxed) {
                    return Ok(sent);
                }
            }
            self.confirmed.fetch_add(1, Ordering::Relaxed);
            sent.count(start_ns, self.now_ns(), self.window_ns());
        }
        Ok(sent)
    }

    /// Begin and end of the measured time.
    fn window_ns(&self) -> (u64, u64) {
        (self.from_ns.load(Ordering::Relaxed), self.to_ns.load(Ordering::Relaxed))
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(NOT_YET)
    }

    /// Lets the threads run for a warm-up, and then for the time that counts.
    fn measure(&self, nodes: &Nodes, measured: Duration, stop: &AtomicBool) -> Result<ResourceUsage, Error> {
        self.wait(measured / WARM_UP_DIVISOR, stop)?;
        let recording = profile::begin(nodes.processes()?);
        let clocks = Clocks::read(nodes)?;
        self.from_ns.store(self.now_ns(), Ordering::Relaxed);
        self.wait(measured, stop)?;
        self.to_ns.store(self.now_ns(), Ordering::Relaxed);
        let usage = Clocks::read(nodes)?.since(&clocks);
        if let Some(recording) = recording {
            recording.end();
        }
        Ok(usage)
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

impl Default for Sent {
    fn default() -> Self {
        Self { confirmed: 0.0, errors: RETRIED.map(|number| (number, 0)).into(), latencies: Latencies::default() }
    }
}

impl Sent {
    /// Counts a confirmed statement with the part of it that is in the measured time.
    fn count(&mut self, start_ns: u64, end_ns: u64, (from_ns, to_ns): (u64, u64)) {
        let inside_ns = end_ns.min(to_ns).saturating_sub(start_ns.max(from_ns));
        if inside_ns == 0 {
            return;
        }
        self.confirmed += inside_ns as f64 / (end_ns - start_ns) as f64;
        if end_ns <= to_ns {
            self.latencies.add(Duration::from_nanos(end_ns - start_ns));
        }
    }

    /// Counts an error after which the statement is sent again.
    fn count_error(&mut self, number: u16, at_ns: u64, (from_ns, to_ns): (u64, u64)) {
        if (from_ns..to_ns).contains(&at_ns) {
            *self.errors.entry(number).or_default() += 1;
        }
    }

    /// Both together.
    fn and(mut self, other: Self) -> Self {
        self.confirmed += other.confirmed;
        for (number, count) in other.errors {
            *self.errors.entry(number).or_default() += count;
        }
        self.latencies.merge(&other.latencies);
        self
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_statement_counts_with_its_part_of_the_measured_time() {
        let mut sent = Sent::default();
        let mut counted = |start_ns, end_ns, from_ns, to_ns| {
            sent.count(start_ns, end_ns, (from_ns, to_ns));
            (sent.confirmed, sent.latencies.count())
        };
        assert_eq!(counted(0, 900, NOT_YET, NOT_YET), (0.0, 0));
        assert_eq!(counted(0, 900, 900, NOT_YET), (0.0, 0));
        assert_eq!(counted(900, 1_300, 1_000, NOT_YET), (0.75, 1));
        assert_eq!(counted(1_300, 1_900, 1_000, 2_000), (1.75, 2));
        assert_eq!(counted(1_900, 2_300, 1_000, 2_000), (2.0, 2));
        assert_eq!(counted(2_300, 2_400, 1_000, 2_000), (2.0, 2));
    }

    /// It is the writing of the statement that takes long: nothing is on its way in the measured time.
    #[test]
    fn a_run_without_a_statement_in_the_measured_time_has_no_figure() {
        let stop = Arc::new(AtomicBool::new(false));
        let nodes = Nodes::alone(&stop).unwrap();
        let threads = Threads { count: 1, nodes: 1 };
        let task = Task { work: "waiting".to_owned(), threads, set_up: &|_| Ok(()), rows: 1, count: "SELECT 1" };
        let done = task.run(&nodes, Duration::from_millis(50), &stop, |_| {
            |sql: &mut String| {
                thread::sleep(Duration::from_millis(1_500));
                sql.push_str("DO 1");
            }
        });
        let message = done.unwrap_err().to_string();
        assert_eq!(message, "no statement of waiting was confirmed in the measured 0.05 s: give more --seconds");
    }

    /// The warm-up's errors are not those of the figure.
    #[test]
    fn errors_count_by_number_within_the_measured_time_and_over_all_threads() {
        let (mut one, mut other) = (Sent::default(), Sent::default());
        for at_ns in [900, 1_000, 1_999, 2_000] {
            one.count_error(DEADLOCK, at_ns, (1_000, 2_000));
            other.count_error(LOCK_WAIT_TIMEOUT, at_ns + 1, (1_000, 2_000));
        }
        one.count_error(DEADLOCK, 1_500, (NOT_YET, NOT_YET));
        assert_eq!(one.and(other).errors, BTreeMap::from([(DEADLOCK, 2), (LOCK_WAIT_TIMEOUT, 1)]));
    }
}
