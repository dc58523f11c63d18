//! The threads: each inserts one row after the other on its own connection, until a given number of rows is taken.
//!
//! Errors count as [`crate::expected_errors`] says. A row that a server refuses for a while is sent again, and its latency includes
//! that. A thread whose connection is lost goes on with a new one, in a failover run to another server; nobody knows of its row
//! whether it was committed, so that it is neither sent again nor counted as confirmed.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;

use super::rows::{self, Supply};
use crate::Error;
use crate::expected_errors::{ErrorCounts, Reaction, reaction};
use crate::latencies::Latencies;
use crate::nodes::{Nodes, READ_TIMEOUT};

/// Hundreds of threads with the usual stacks would use much of a small machine's address space.
const STACK_BYTES: usize = 256 << 10;
/// The time between two attempts at a server that is not ready, and for looking whether all threads have ended.
const RETRY_INTERVAL: Duration = Duration::from_millis(10);
/// The limit for a row that is refused again and again, and for a thread without a server.
const REFUSAL_LIMIT: Duration = Duration::from_secs(60);

/// A confirmed row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Confirmed {
    pub(super) key: u32,
    /// When it was confirmed, since the threads began.
    pub(super) at_us: u64,
    /// From the first attempt on.
    pub(super) latency_us: u32,
}

/// What threads have done.
#[derive(Debug, Default)]
pub(super) struct Inserted {
    pub(super) confirmed: Vec<Confirmed>,
    /// Rows whose thread lost its connection before the answer.
    pub(super) unknown: Vec<u32>,
    pub(super) errors: ErrorCounts,
}

/// The work.
pub(super) struct Clients<'a> {
    pub(super) nodes: &'a Nodes,
    pub(super) supply: Supply,
    pub(super) threads: usize,
    /// Servers that take inserts at first, counted from the first one.
    pub(super) writers: usize,
    /// Whether a thread goes on with another server when its connection is lost, not with its own.
    pub(super) can_move: bool,
    pub(super) stop: &'a AtomicBool,
}

/// What threads and the one that watches them share.
pub(super) struct Progress {
    began: Instant,
    confirmed: AtomicU64,
    running: AtomicUsize,
    /// Raised when a thread failed.
    is_over: AtomicBool,
    /// Servers that take a thread that has lost its own.
    open: Vec<AtomicBool>,
}

impl Progress {
    /// Confirmed rows.
    pub(super) fn confirmed(&self) -> u64 {
        self.confirmed.load(Ordering::Relaxed)
    }

    /// Whether threads still insert.
    pub(super) fn is_running(&self) -> bool {
        self.running.load(Ordering::Relaxed) > 0 && !self.is_over.load(Ordering::Relaxed)
    }

    pub(super) fn now_us(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Lets a server take threads that have lost theirs, or not.
    pub(super) fn set_open(&self, server: usize, is_open: bool) {
        self.open[server].store(is_open, Ordering::Relaxed);
    }

    fn open(&self) -> Vec<usize> {
        let open = self.open.iter().enumerate().filter(|(_, is_open)| is_open.load(Ordering::Relaxed));
        open.map(|(server, _)| server).collect()
    }
}

/// How one row ended.
enum End {
    Confirmed,
    /// The server refuses it for good.
    Refused,
    Unknown,
    Stopped,
}

impl Clients<'_> {
    /// Inserts all rows. `watch` runs beside the threads, which end early if it fails. `open` names the servers that take
    /// threads that have lost theirs.
    pub(super) fn run<T>(
        &self,
        open: &[usize],
        watch: impl FnOnce(&Progress) -> Result<T, Error>,
    ) -> Result<(Inserted, T), Error> {
        let connect = |thread| self.nodes.connect(thread % self.writers);
        let connections = (0..self.threads).map(connect).collect::<Result<Vec<_>, _>>()?;
        let progress = Progress {
            began: Instant::now(),
            confirmed: AtomicU64::new(0),
            running: AtomicUsize::new(self.threads),
            is_over: AtomicBool::new(false),
            open: (0..self.nodes.count()).map(|server| AtomicBool::new(open.contains(&server))).collect(),
        };
        thread::scope(|scope| {
            let end = |_: &Error| progress.is_over.store(true, Ordering::Relaxed);
            let spawn = |(number, connection)| {
                let (builder, progress) = (thread::Builder::new().stack_size(STACK_BYTES), &progress);
                builder.spawn_scoped(scope, move || {
                    let inserted = self.insert(number, connection, progress);
                    progress.running.fetch_sub(1, Ordering::Relaxed);
                    inserted.inspect_err(|_| progress.is_over.store(true, Ordering::Relaxed))
                })
            };
            let threads = connections.into_iter().enumerate().map(spawn).collect::<Result<Vec<_>, _>>();
            let threads = threads.map_err(Error::io("starting a thread")).inspect_err(end)?;
            let watched = watch(&progress).inspect_err(end);
            let mut all = Inserted::default();
            let mut failure = None;
            for thread in threads {
                match thread.join().expect("an inserting thread does not panic") {
                    Ok(inserted) => all.add(inserted),
                    Err(error) => failure = failure.or(Some(error)),
                }
            }
            // The reason why a thread ended is more useful than that nobody could wait for it.
            match failure {
                _ if self.stop.load(Ordering::Relaxed) => Err(Error::Interrupted),
                Some(error) => Err(error),
                None => Ok((all, watched?)),
            }
        })
    }

    fn is_over(&self, progress: &Progress) -> bool {
        progress.is_over.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed)
    }

    fn insert(&self, thread: usize, mut connection: Connection, progress: &Progress) -> Result<Inserted, Error> {
        let (mut inserted, mut sql, mut server) = (Inserted::default(), String::new(), thread % self.writers);
        let mut own = 0;
        while !self.is_over(progress) && self.supply.take() {
            let key = self.supply.key(thread, server, own);
            own += 1;
            sql.clear();
            rows::insert(key, &mut sql);
            let begin_us = progress.now_us();
            match self.send(&mut connection, &sql, &mut inserted.errors, progress)? {
                End::Confirmed => {
                    let at_us = progress.now_us();
                    let latency_us = u32::try_from(at_us - begin_us).unwrap_or(u32::MAX);
                    inserted.confirmed.push(Confirmed { key, at_us, latency_us });
                    progress.confirmed.fetch_add(1, Ordering::Relaxed);
                }
                End::Refused => {}
                End::Unknown => {
                    inserted.unknown.push(key);
                    let Some(other) = self.move_on(thread, server, progress)? else { break };
                    (server, connection) = other;
                }
                End::Stopped => break,
            }
        }
        Ok(inserted)
    }

    fn send(
        &self,
        connection: &mut Connection,
        sql: &str,
        errors: &mut ErrorCounts,
        progress: &Progress,
    ) -> Result<End, Error> {
        let deadline = Instant::now() + REFUSAL_LIMIT;
        loop {
            let start = Instant::now();
            let Err(error) = connection.execute(sql.as_bytes()) else { return Ok(End::Confirmed) };
            // An undisturbed server that has not answered for so long hangs.
            let expected = reaction(&error).filter(|_| self.can_move || start.elapsed() < READ_TIMEOUT);
            let Some((number, reaction)) = expected else { return Err(Error::server("inserting a row")(error)) };
            errors.count(number);
            match reaction {
                Reaction::GoOn => return Ok(End::Refused),
                Reaction::Reconnect => return Ok(End::Unknown),
                Reaction::SendAgain => {}
                Reaction::SendAgainLater => thread::sleep(RETRY_INTERVAL),
            }
            if Instant::now() > deadline {
                return Err(Error::server("inserting a row")(error));
            }
            if self.is_over(progress) {
                return Ok(End::Stopped);
            }
            errors.add_sent_again(1);
        }
    }

    /// Another connection for a thread: to its own server, or in a failover run to one of those that are open, over which the
    /// threads of one server are spread. None when the run is over.
    fn move_on(&self, thread: usize, own: usize, progress: &Progress) -> Result<Option<(usize, Connection)>, Error> {
        let deadline = Instant::now() + REFUSAL_LIMIT;
        let mut attempt = thread / self.writers;
        while !self.is_over(progress) {
            let open = if self.can_move { progress.open() } else { vec![own] };
            if !self.can_move && self.nodes.has_ended(own) {
                return Err(Error::Ended { node: own + 1 });
            }
            if let Some(server) = open.get(attempt % open.len().max(1))
                && let Ok(connection) = self.nodes.open(*server)
            {
                return Ok(Some((*server, connection)));
            }
            if Instant::now() > deadline {
                let limit_s = REFUSAL_LIMIT.as_secs();
                return Err(Error::Answer(format!("no server has taken a thread's connection for {limit_s} s")));
            }
            attempt += 1;
            thread::sleep(RETRY_INTERVAL);
        }
        Ok(None)
    }
}

impl Inserted {
    fn add(&mut self, other: Self) {
        self.confirmed.extend(other.confirmed);
        self.unknown.extend(other.unknown);
        self.errors.merge(&other.errors);
    }

    /// From the begin of the threads to the last confirmed row.
    pub(super) fn wall(&self) -> Duration {
        Duration::from_micros(self.confirmed.iter().map(|row| row.at_us).max().unwrap_or(0))
    }

    pub(super) fn latencies(&self) -> Latencies {
        let mut latencies = Latencies::default();
        self.confirmed.iter().for_each(|row| latencies.add(Duration::from_micros(row.latency_us.into())));
        latencies
    }
}
