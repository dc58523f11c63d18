//! Samples what the user's limits are about: the server's running statements, the lag of replicas, and the file with the
//! limits themselves. Each has a thread, so that a server that hangs delays no other.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hortator_mysql::{ConnectOptions, Connection, Error, Flavor};

use super::Throttle;
use super::decision::{Answer, Decision, Lag, UNKNOWN_TIMEOUT, Unreachable, decide};
use super::file::read_limits;
use super::limits::ThrottleLimits;
use super::replica::{self, HeartbeatTable};
use super::report::ThrottleSummary;
use crate::cluster::node_address;

/// Between two samples.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(500);
/// How long each step of a sample may take.
const SAMPLE_TIMEOUT: Duration = Duration::from_secs(3);
/// Notes that are kept.
const NOTES_KEPT: usize = 100;
/// The port of a replica that is named without one.
const DEFAULT_PORT: u16 = 3306;

const RUNNING: &[u8] = b"SHOW GLOBAL STATUS LIKE 'Threads_running'";

/// What a user asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThrottleOptions {
    /// The limits.
    pub limits: ThrottleLimits,
    /// A file with limits, which take the place of these.
    pub file: Option<PathBuf>,
    /// Replicas whose lag counts: hosts, with ports where they are not 3306.
    pub replicas: Vec<String>,
    /// A table that tells the lag; without one, the replica does.
    pub heartbeat: Option<HeartbeatTable>,
    /// What to do while a lag is not known.
    pub unreachable: Unreachable,
}

impl ThrottleOptions {
    /// Whether nothing is asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.limits == ThrottleLimits::default() && self.file.is_none() && self.replicas.is_empty()
    }

    /// Whether these options go together.
    ///
    /// # Errors
    /// A limit lacks its replicas, or replicas have no limit.
    pub fn check(&self) -> Result<(), ThrottleError> {
        match self.limits.lag_s {
            Some(lag) if self.replicas.is_empty() => Err(ThrottleError::NoReplicas(lag)),
            None if self.file.is_none() && !self.replicas.is_empty() => Err(ThrottleError::NoLimits),
            _ => Ok(()),
        }
    }
}

/// Why a load cannot be throttled as asked for.
#[derive(Debug, thiserror::Error)]
pub enum ThrottleError {
    /// There is nothing to sample them for.
    #[error("--throttle-replicas: no limit needs them; name one with --throttle lag=SECONDS, or a --throttle-file")]
    NoLimits,
    /// The limits need something else.
    #[error("--throttle: lag={0} needs --throttle-replicas")]
    NoReplicas(f64),
    /// A replica's name is not understood.
    #[error("--throttle-replicas: {0}")]
    Replica(crate::cluster::Error),
    /// The file cannot be used.
    #[error("--throttle-file: {0}")]
    File(String),
}

/// Samples servers for the throttle of a load.
#[derive(Debug)]
pub struct ThrottleMonitor {
    throttle: Arc<Throttle>,
    options: ThrottleOptions,
    replicas: Vec<(String, ConnectOptions)>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    limits: ThrottleLimits,
    /// Statements of others that run on the server; `None` if that was never known.
    others: Option<Sample<u64>>,
    /// The lags of the replicas.
    replicas: Vec<Sample<f64>>,
    notes: Vec<String>,
    is_over: bool,
}

/// What is known of one server.
#[derive(Clone, Debug)]
struct Sample<T> {
    /// When it was last known, or began to count.
    known_at: Instant,
    found: Result<T, String>,
}

impl<T: Copy> Sample<T> {
    fn unasked() -> Self {
        Self { known_at: Instant::now(), found: Err("it has not answered yet".to_owned()) }
    }

    fn update(&mut self, found: Result<T, String>) {
        if found.is_ok() {
            self.known_at = Instant::now();
        }
        self.found = found;
    }

    fn answer(&self) -> Answer<T> {
        match &self.found {
            Ok(found) => Answer::Known(*found),
            Err(reason) => Answer::Unknown { since: self.known_at.elapsed(), reason: reason.clone() },
        }
    }
}

impl ThrottleMonitor {
    /// Begins with the limits asked for. `connect`: the account and the encryption for replicas.
    ///
    /// # Errors
    /// [`ThrottleError`].
    pub fn open(
        throttle: Arc<Throttle>,
        options: &ThrottleOptions,
        connect: &ConnectOptions,
    ) -> Result<Self, ThrottleError> {
        options.check()?;
        let replica = |name: &String| {
            let address = node_address(name, DEFAULT_PORT).map_err(ThrottleError::Replica)?;
            let connect = ConnectOptions { address, init_command: None, ..sample_options(connect) };
            Ok::<_, ThrottleError>((name.clone(), connect))
        };
        let replicas = options.replicas.iter().map(replica).collect::<Result<Vec<_>, _>>()?;
        let sample = Sample::unasked();
        let state = State {
            limits: ThrottleLimits::default(),
            others: None,
            replicas: vec![sample; replicas.len()],
            notes: Vec::new(),
            is_over: false,
        };
        let monitor =
            Self { throttle, options: options.clone(), replicas, state: Mutex::new(state), changed: Condvar::new() };
        let limits = monitor.read_limits().map_err(ThrottleError::File)?;
        monitor.set_limits(limits);
        Ok(monitor)
    }

    /// How many threads [`ThrottleMonitor::run`] needs.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.replicas.len() + 2
    }

    /// Samples one thing until the load is over. `connect`: how to connect to the server that is loaded; `own`: the load's
    /// connections that may run statements there.
    pub fn run(&self, thread: usize, connect: &dyn Fn() -> ConnectOptions, own: &dyn Fn() -> Vec<u32>) {
        let mut sampler = None;
        loop {
            match thread {
                0 => match self.read_limits() {
                    Ok(limits) => self.set_limits(limits),
                    Err(note) => self.note(format!("{note}; the limits before stay")),
                },
                1 => self.sample_server(&mut sampler, connect, own),
                _ => self.sample_replica(&mut sampler, thread - 2),
            }
            let state = self.lock();
            let waited = self.changed.wait_timeout_while(state, SAMPLE_INTERVAL, |state| !state.is_over);
            if waited.unwrap_or_else(PoisonError::into_inner).0.is_over {
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is a few assignments.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The limits in the file, and those asked for where it has none.
    fn read_limits(&self) -> Result<ThrottleLimits, String> {
        let Some(file) = &self.options.file else { return Ok(self.options.limits) };
        let limits = read_limits(file)?;
        if let Some(lag) = limits.lag_s.filter(|_| self.replicas.is_empty()) {
            return Err(format!("the throttle file {}: lag={lag} needs --throttle-replicas", file.display()));
        }
        Ok(limits.or(self.options.limits))
    }

    fn set_limits(&self, limits: ThrottleLimits) {
        let mut state = self.lock();
        if state.limits != limits {
            state.limits = limits;
            self.throttle.set_rate(&limits);
        }
        self.decide(&state);
    }

    fn sample_server(
        &self,
        sampler: &mut Option<Connection>,
        connect: &dyn Fn() -> ConnectOptions,
        own: &dyn Fn() -> Vec<u32>,
    ) {
        let mut state = self.lock();
        let Some(limit) = state.limits.threads else {
            *sampler = None;
            state.others = None;
            return;
        };
        drop(state);
        let found = ask(sampler, || sample_options(&connect()), |connection| others(connection, own));
        let found = found.map_err(|error| {
            *sampler = None;
            error.to_string()
        });
        let mut state = self.lock();
        let note = match (&mut state.others, found) {
            (Some(sample), found) => {
                sample.update(found);
                let waited = sample.found.as_ref().err().filter(|_| sample.known_at.elapsed() >= UNKNOWN_TIMEOUT);
                waited.map(|reason| format!("threads={limit} was not kept: the server does not answer: {reason}"))
            }
            (others @ None, Ok(found)) => {
                *others = Some(Sample { known_at: Instant::now(), found: Ok(found) });
                None
            }
            // Where the server has never answered, it is not because it has become slow.
            (None, Err(reason)) => Some(format!(
                "statements of others did not count for threads={limit}: the server cannot be asked: {reason}"
            )),
        };
        self.decide(&state);
        drop(state);
        note.into_iter().for_each(|note| self.note(note));
    }

    fn sample_replica(&self, sampler: &mut Option<Connection>, index: usize) {
        let mut state = self.lock();
        if state.limits.lag_s.is_none() {
            *sampler = None;
            // It is asked as soon as there is such a limit, and waited for from then on.
            state.replicas[index] = Sample::unasked();
            return;
        }
        drop(state);
        let (name, options) = &self.replicas[index];
        let found =
            ask(sampler, || options.clone(), |connection| replica::ask(connection, self.options.heartbeat.as_ref()));
        let found = found.unwrap_or_else(|error| {
            *sampler = None;
            Err(error.to_string())
        });
        let mut state = self.lock();
        let sample = &mut state.replicas[index];
        sample.update(found);
        let note = match sample.answer() {
            Lag::Unknown { since, reason }
                if self.options.unreachable == Unreachable::Ignore || since >= UNKNOWN_TIMEOUT =>
            {
                Some(format!("the load did not wait for replica {name}, whose lag was unknown: {reason}"))
            }
            _ => None,
        };
        self.decide(&state);
        drop(state);
        note.into_iter().for_each(|note| self.note(note));
    }

    fn decide(&self, state: &State) {
        let lags: Vec<Lag> = state.replicas.iter().map(Sample::answer).collect();
        let others = state.others.as_ref().map(Sample::answer);
        let named = self.replicas.iter().zip(&lags).map(|((name, _), lag)| (name.as_str(), lag));
        let decision: Decision = decide(&state.limits, others, named, self.options.unreachable);
        self.throttle.decide(decision);
    }

    /// Adds a note, once.
    fn note(&self, note: String) {
        let mut state = self.lock();
        if state.notes.len() < NOTES_KEPT && !state.notes.contains(&note) {
            state.notes.push(note);
        }
    }

    /// Notes for the user so far.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.lock().notes.clone()
    }

    /// For the summary of the load.
    #[must_use]
    pub fn summary(&self) -> ThrottleSummary {
        let (paused, rate) = self.throttle.delays();
        let state = self.lock();
        ThrottleSummary {
            limits: state.limits.to_string(),
            paused_s: paused.as_secs_f64(),
            rate_delayed_s: rate.as_secs_f64(),
            notes: state.notes.clone(),
        }
    }

    /// A guard that ends the sampling when it is dropped.
    #[must_use]
    pub fn start_guard(&self) -> ThrottleGuard<'_> {
        ThrottleGuard(self)
    }
}

/// Sampling runs until this guard is dropped.
#[derive(Debug)]
pub struct ThrottleGuard<'m>(&'m ThrottleMonitor);

impl Drop for ThrottleGuard<'_> {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
    }
}

/// How to connect for samples, with short timeouts.
fn sample_options(options: &ConnectOptions) -> ConnectOptions {
    ConnectOptions {
        connect_timeout: options.connect_timeout.min(SAMPLE_TIMEOUT),
        read_timeout: Some(SAMPLE_TIMEOUT),
        database: None,
        charset: "utf8mb4".to_owned(),
        ..options.clone()
    }
}

/// Asks over the sampler's connection; opens it if there is none.
fn ask<T>(
    sampler: &mut Option<Connection>,
    options: impl FnOnce() -> ConnectOptions,
    question: impl FnOnce(&mut Connection) -> Result<T, Error>,
) -> Result<T, Error> {
    let connection = match sampler {
        Some(connection) => connection,
        None => sampler.insert(Connection::open(&options())?),
    };
    question(connection)
}

/// The statements of others that run on a server, without this one.
fn others(connection: &mut Connection, own: &dyn Fn() -> Vec<u32>) -> Result<u64, Error> {
    let before = not_of_others(connection, &own())?;
    let running = number(connection, RUNNING, 1)?;
    // Statements begin and end meanwhile; the load is not to be held back by its own.
    let not_of_others = before.max(not_of_others(connection, &own())?);
    Ok(running.saturating_sub(not_of_others + 1))
}

/// How many threads run and are not others' statements: those of the load's connections, and those that run all the time
/// since they send or apply a binary log, or wait for events. The account may not see these.
fn not_of_others(connection: &mut Connection, own: &[u32]) -> Result<u64, Error> {
    // In MySQL, the others do not count as running.
    let service = match connection.version().flavor {
        Flavor::MariaDb => "'Binlog Dump', 'Slave_IO', 'Slave_SQL', 'Slave_worker', 'Daemon'",
        Flavor::MySql => "'Binlog Dump', 'Binlog Dump GTID'",
    };
    // No connection has the number 0.
    let own: Vec<String> = own.iter().map(u32::to_string).chain(["0".to_owned()]).collect();
    let question = format!(
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND IN ({service}) OR (ID IN ({}) AND COMMAND <> 'Sleep')",
        own.join(", "),
    );
    number(connection, question.as_bytes(), 0)
}

/// The number in a column of an answer; 0 for none.
fn number(connection: &mut Connection, question: &[u8], column: usize) -> Result<u64, Error> {
    let rows = connection.fetch(question)?;
    let value = rows.first().and_then(|row| row.get(column)?.as_deref());
    Ok(value.and_then(|value| std::str::from_utf8(value).ok()?.parse().ok()).unwrap_or_default())
}

#[cfg(test)]
mod tests;
