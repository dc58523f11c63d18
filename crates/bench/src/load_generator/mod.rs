//! Statements of many threads for a fixed time, counted when the servers confirm them.
//!
//! The threads never pause: the clocks and the counters are read while they run, after a warm-up and again at the end,
//! so that neither connecting nor the last answers are part of the figures. A statement that is on its way at the beginning
//! or the end of the measured time counts with its part of it: large statements are few.
//!
//! An expected error ([`crate::expected_errors`]) is counted, and does not end the run. After it each node must have exactly the
//! rows of confirmed statements, but for those whose connection was lost before the answer.

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;

use crate::expected_errors::{ErrorCounts, Reaction, reaction};
use crate::latencies::Latencies;
use crate::nodes::{Nodes, READ_TIMEOUT};
use crate::resource_usage::{Clocks, ResourceUsage};
use crate::{Error, convergence, profile};

/// The warm-up takes the measured time divided by this.
const WARM_UP_DIVISOR: u32 = 5;
/// Two hundred threads with the usual stacks would use much of a small machine's address space.
const STACK_BYTES: usize = 256 << 10;
/// The time between two attempts at a node that is not ready, or that has ended a connection.
const RETRY_INTERVAL: Duration = Duration::from_millis(10);
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
    pub(crate) errors: ErrorCounts,
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
                let server = Server { nodes, node: thread % self.threads.nodes };
                builder.spawn_scoped(scope, move || {
                    let sent = work.send(server, connection, statements);
                    sent.inspect_err(|_| work.is_over.store(true, Ordering::Relaxed))
                })
            };
            let workers = connections.into_iter().enumerate().map(spawn).collect::<Result<Vec<_>, _>>();
            let workers = workers.inspect_err(|_| work.is_over.store(true, Ordering::Relaxed));
            let workers = workers.map_err(Error::io("starting a thread"))?;
            let outcome = work.measure(nodes, time, stop);
            work.is_over.store(true, Ordering::Relaxed);
            let ends = workers.into_iter().map(|worker| worker.join().expect("a sending thread does not panic"));
            // The reason why a thread ended is more useful than the interruption of the wait.
            let ends = ends.collect::<Result<Vec<Sent>, _>>()?;
            outcome.map(|usage| (ends.iter().fold(Sent::default(), Sent::and), usage))
        })?;
        let end = Instant::now();
        nodes.wait_until_applied()?;
        let apply_lag = end.elapsed();
        let (confirmed, unknown) = (work.confirmed.into_inner() * self.rows, work.unknown.into_inner() * self.rows);
        convergence::check_with_unknown(nodes, &self.work, confirmed, unknown, |connection| {
            convergence::number(connection, self.count)
        })?;
        let Sent { confirmed, errors, latencies } = sent;
        if confirmed == 0.0 {
            let remedy = match errors.is_none() {
                true => "give more --seconds".to_owned(),
                false => format!("the errors were {}", errors.text()),
            };
            return Err(Error::Answer(format!(
                "no statement of {} was confirmed in the measured {} s: {remedy}",
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
    /// Those whose connection was lost before the answer.
    unknown: AtomicU64,
    began: Instant,
    /// The measured time, in nanoseconds since the beginning; [`NOT_YET`] before.
    from_ns: AtomicU64,
    to_ns: AtomicU64,
    is_over: AtomicBool,
}

/// A moment that has not come.
const NOT_YET: u64 = u64::MAX;

/// What a thread sent in the measured time.
#[derive(Default)]
struct Sent {
    confirmed: f64,
    errors: ErrorCounts,
    latencies: Latencies,
}

/// Where a thread sends its statements.
#[derive(Clone, Copy)]
struct Server<'a> {
    nodes: &'a Nodes,
    /// From 0.
    node: usize,
}

/// How one statement ended.
enum End {
    Confirmed,
    /// The server refuses it for good.
    Refused,
    /// The connection was lost before the answer.
    Unknown,
    /// The time was over before the server took it.
    Over,
}

impl Work {
    fn begin() -> Self {
        Self {
            confirmed: AtomicU64::new(0),
            unknown: AtomicU64::new(0),
            began: Instant::now(),
            from_ns: AtomicU64::new(NOT_YET),
            to_ns: AtomicU64::new(NOT_YET),
            is_over: AtomicBool::new(false),
        }
    }

    fn send(
        &self,
        server: Server<'_>,
        mut connection: Connection,
        mut statements: impl FnMut(&mut String),
    ) -> Result<Sent, Error> {
        let (mut sql, mut sent) = (String::new(), Sent::default());
        while !self.is_over.load(Ordering::Relaxed) {
            sql.clear();
            statements(&mut sql);
            let start_ns = self.now_ns();
            match self.send_one(&mut connection, &sql, &mut sent)? {
                End::Confirmed => {
                    self.confirmed.fetch_add(1, Ordering::Relaxed);
                    sent.count(start_ns, self.now_ns(), self.window_ns());
                }
                End::Refused => {}
                End::Unknown => {
                    self.unknown.fetch_add(1, Ordering::Relaxed);
                    let Some(other) = self.connect_again(server)? else { break };
                    connection = other;
                }
                End::Over => break,
            }
        }
        Ok(sent)
    }

    /// Sends a statement until the server takes it or refuses it for good.
    fn send_one(&self, connection: &mut Connection, sql: &str, sent: &mut Sent) -> Result<End, Error> {
        loop {
            let start = Instant::now();
            let Err(error) = connection.execute(sql.as_bytes()) else { return Ok(End::Confirmed) };
            // A node that has not answered for so long hangs.
            let expected = reaction(&error).filter(|_| start.elapsed() < READ_TIMEOUT);
            let Some((number, reaction)) = expected else { return Err(Error::server("sending a statement")(error)) };
            let is_sent_again = matches!(reaction, Reaction::SendAgain | Reaction::SendAgainLater);
            sent.count_error(number, is_sent_again, self.now_ns(), self.window_ns());
            match reaction {
                Reaction::GoOn => return Ok(End::Refused),
                Reaction::Reconnect => return Ok(End::Unknown),
                Reaction::SendAgain => {}
                Reaction::SendAgainLater => thread::sleep(RETRY_INTERVAL),
            }
            if self.is_over.load(Ordering::Relaxed) {
                return Ok(End::Over);
            }
        }
    }

    /// Another connection to the same node; None when the time is over.
    fn connect_again(&self, Server { nodes, node }: Server<'_>) -> Result<Option<Connection>, Error> {
        while !self.is_over.load(Ordering::Relaxed) {
            if let Ok(connection) = nodes.open(node) {
                return Ok(Some(connection));
            }
            if nodes.has_ended(node) {
                return Err(Error::Ended { node: node + 1 });
            }
            thread::sleep(RETRY_INTERVAL);
        }
        Ok(None)
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

    /// Counts an error, and whether its statement is sent again.
    fn count_error(&mut self, number: u16, is_sent_again: bool, at_ns: u64, (from_ns, to_ns): (u64, u64)) {
        if (from_ns..to_ns).contains(&at_ns) {
            self.errors.count(number);
            self.errors.add_sent_again(u64::from(is_sent_again));
        }
    }

    /// Both together.
    fn and(mut self, other: &Self) -> Self {
        self.confirmed += other.confirmed;
        self.errors.merge(&other.errors);
        self.latencies.merge(&other.latencies);
        self
    }
}
