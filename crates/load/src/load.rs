//! One load from beginning to end: how many workers, the threads, and the summary.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use hortator_mysql::{ConnectOptions, Connection, Error};

use crate::apply::{Pool, Stopped, Worker};
use crate::checkpoint::{self, CheckpointMode, Checkpoints, Identity, Start};
use crate::cluster::{self, NodeMonitor, Targets};
pub use crate::coordinator::InDoubt;
use crate::coordinator::{ChunkLimits, Coordinator, LoadContext, Resume};
use crate::deferral::{self, Checks, Deferral, Validations};
use crate::expect::Expectations;
use crate::lexer::{self, Charset, Dialect, Item, Statements, StatementsOptions};
use crate::output::Output;
use crate::progress::Progress;
use crate::report::{CheckpointSummary, End, Failure, Summary, TableRows};
use crate::stall::Stall;
use crate::verify::{Verification, Verify};

/// Workers for every two cores of the server: while one waits for the disk or for its commit slot, another computes.
/// Measured on two cores: 3, 4 and 6 are within a tenth of each other; more only wait for each other in the server.
const WORKERS_PER_TWO_CORES: usize = 3;
/// Workers for a server that does not report its number of cores.
const DEFAULT_WORKERS: usize = 8;
/// Most workers that a load chooses itself.
const WORKERS_CHOSEN_LIMIT: usize = 16;
/// Text of all chunks that wait or run, unless said otherwise.
pub(crate) const IN_FLIGHT_BYTES: usize = 64 << 20;
/// Text of one chunk: what a connection applies and commits at a time.
pub(crate) const CHUNK_BYTES: usize = 4 << 20;

/// How often a load resumes automatically after it lost its main session.
const RESTARTS_LIMIT: u64 = 100;

/// What to load, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server, and how to connect to any other node.
    pub connect: ConnectOptions,
    /// Whether a lagging node of a cluster throttles the workers. Off only to measure the throttle.
    pub is_throttled: bool,
    /// The nodes of a Galera cluster; without any, the server of `connect` and the nodes that it knows.
    pub nodes: Vec<String>,
    /// The files in their order; none, or `-`, is standard input.
    pub files: Vec<PathBuf>,
    /// Connections that apply chunks; `None` lets the server's cores decide.
    pub threads: Option<usize>,
    /// Text of one chunk, in bytes; `None` for the default.
    pub chunk_bytes: Option<usize>,
    /// Rows of one batch. With a value, the load sends batches even to a server that supports bulk execute.
    pub batch_rows: Option<usize>,
    /// Continue after a statement fails.
    pub force: bool,
    /// Send comments too.
    pub comments: bool,
    /// Take CR LF and NUL as they are.
    pub binary_mode: bool,
    /// Whether the load writes checkpoints, and where.
    pub checkpoint_mode: CheckpointMode,
    /// From the beginning, or where an interrupted load ended.
    pub start: Start,
    /// How to treat a statement that is in doubt.
    pub in_doubt: InDoubt,
    /// When to check foreign keys.
    pub foreign_keys: Checks,
    /// When to check unique keys.
    pub unique_checks: Checks,
    /// Verify at the end that the server has the content of the stream.
    pub verify: bool,
}

/// Why a load cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No connection, or the server refuses it.
    #[error(transparent)]
    Server(#[from] Error),
    /// It is not known which nodes to load into.
    #[error(transparent)]
    Cluster(#[from] cluster::Error),
    /// The checkpoints are not available.
    #[error(transparent)]
    Checkpoint(#[from] checkpoint::Error),
}

/// A load that is ready to run.
pub struct Load {
    options: Options,
    state: Arc<LoadState>,
}

/// The state of a running load.
struct LoadState {
    threads: usize,
    threads_reason: String,
    start: Instant,
    targets: Arc<Targets>,
    monitor: NodeMonitor,
    /// Seconds until all nodes had everything, behind the last commit.
    all_nodes_s: Mutex<Option<f64>>,
    pool: Pool,
    progress: Arc<Progress>,
    /// `None` for a load without checkpoints.
    checkpoints: Option<Checkpoints>,
    checkpoints_disabled_reason: Option<String>,
    can_resume: AtomicBool,
    rows_before: u64,
    restarts: AtomicU64,
    deferral: Deferral,
    /// The result of the validation at the end.
    validations: Mutex<Option<Validations>>,
    /// What the stream should have left, once it has been read.
    expectations: Mutex<Option<Expectations>>,
    verification: Mutex<Option<Verification>>,
}

/// Ends a load from another thread.
#[derive(Clone)]
pub struct Interrupter {
    state: Arc<LoadState>,
}

impl Interrupter {
    /// Ends the load: kills running statements and rolls back open transactions. The summary has the rest.
    pub fn interrupt(&self) {
        self.state.pool.interrupt();
        // Best effort: without it, the load ends with the statements under way.
        if let Ok(mut connection) = Connection::open(self.state.targets.options()) {
            for id in self.state.pool.running() {
                let _ = connection.execute(format!("KILL QUERY {id}").as_bytes());
            }
        }
    }

    /// What an interrupted load did, once its workers have rolled back. For a load whose coordinator cannot end by itself
    /// because it waits for input that does not come.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let _ = self.state.pool.drain(&mut || {});
        self.state.summary()
    }
}

impl Load {
    /// Reads the properties of the server and chooses the number of workers.
    ///
    /// # Errors
    /// When there is no connection, the server refuses it, nodes do not belong together, or what is recorded does not
    /// allow it.
    pub fn open(options: Options) -> Result<Self, OpenError> {
        let targets = Arc::new(Targets::open(&options.connect, &options.nodes)?);
        let mut connection = Connection::open(targets.options())?;
        let (threads, threads_reason) = match options.threads {
            Some(threads) => (threads.max(1), "--threads".to_owned()),
            None => match cores(&mut connection)? {
                Some(cores) => {
                    let threads = (cores * WORKERS_PER_TWO_CORES / 2).clamp(2, WORKERS_CHOSEN_LIMIT);
                    (threads, format!("the server has {cores} cores"))
                }
                None => (DEFAULT_WORKERS, "the server does not report its number of cores".to_owned()),
            },
        };
        let chunk_bytes = options.chunk_bytes.unwrap_or(CHUNK_BYTES);
        let limit_bytes = IN_FLIGHT_BYTES.max(chunk_bytes * 2);
        let pool = Pool::new(threads, limit_bytes, options.force);
        let progress = Arc::new(Progress::new(threads));
        let (checkpoints, checkpoints_disabled_reason) = open_checkpoints(&options, &targets, threads)?;
        let deferral = Deferral::of_load(&options, checkpoints.as_ref())?;
        let mut rows_before = 0;
        if let Some(checkpoints) = checkpoints.as_ref().filter(|_| options.start != Start::New) {
            for (table, rows) in checkpoints.rows_by_table()? {
                progress.loaded_before(table, rows);
                rows_before += rows;
            }
        }
        let state = LoadState {
            threads,
            threads_reason,
            start: Instant::now(),
            monitor: NodeMonitor::new(&targets, threads, options.is_throttled),
            targets,
            all_nodes_s: Mutex::new(None),
            pool,
            progress,
            checkpoints,
            checkpoints_disabled_reason,
            can_resume: AtomicBool::new(false),
            rows_before,
            restarts: AtomicU64::new(0),
            deferral,
            validations: Mutex::default(),
            expectations: Mutex::new(None),
            verification: Mutex::new(None),
        };
        Ok(Self { options, state: Arc::new(state) })
    }

    /// Why an interruption would leave nothing to resume; `None` for a load with checkpoints.
    #[must_use]
    pub fn checkpoints_disabled_reason(&self) -> Option<&str> {
        self.state.checkpoints_disabled_reason.as_deref()
    }

    /// Counters to read while it runs.
    #[must_use]
    pub fn progress(&self) -> Arc<Progress> {
        self.state.progress.clone()
    }

    /// A handle to end it with.
    #[must_use]
    pub fn interrupter(&self) -> Interrupter {
        Interrupter { state: self.state.clone() }
    }

    /// Runs it. Failures of statements and of the input are in the summary; rows that statements return go to `output`.
    ///
    /// # Errors
    /// When the main session cannot be opened.
    pub fn run(self, output: &mut dyn Output) -> Result<Summary, Error> {
        let LoadState { targets, monitor, .. } = &*self.state;
        std::thread::scope(|scope| {
            let _guard = monitor.start_guard();
            for node in 0..targets.size() {
                scope.spawn(move || monitor.monitor_node(targets, node));
            }
            let outcome = self.run_until_it_ends(output);
            if outcome.is_ok() {
                self.state.end_checkpoints();
                self.state.wait_for_all_nodes();
                self.state.verify();
            }
            outcome.map(|()| self.state.summary())
        })
    }

    fn run_until_it_ends(&self, output: &mut dyn Output) -> Result<(), Error> {
        let state = &*self.state;
        self.run_once(self.options.start != Start::New, output)?;
        let mut stall = Stall::default();
        while self.may_restart() && !stall.is_reached(&state.pool, state.checkpoints.as_ref()) && state.pool.reopen() {
            state.restarts.fetch_add(1, Relaxed);
            state.progress.restart();
            if let Err(error) = self.run_once(true, output) {
                state.pool.fail(state.pool.position(), Failure::of_connection(&error), true);
            }
        }
        self.validate();
        Ok(())
    }

    /// Whether a load that lost its main session can resume automatically.
    fn may_restart(&self) -> bool {
        let state = &*self.state;
        state.checkpoints.is_some() && self.identity().is_certain() && state.restarts.load(Relaxed) < RESTARTS_LIMIT
    }

    fn identity(&self) -> Identity {
        identity(&self.options)
    }

    fn run_once(&self, is_resume: bool, output: &mut dyn Output) -> Result<(), Error> {
        let LoadState { threads, targets, monitor, pool, progress, checkpoints, deferral, .. } = &*self.state;
        let checkpoints = checkpoints.as_ref();
        let in_doubt = self.options.in_doubt;
        if is_resume {
            targets.connect(&|| pool.is_interrupted())?;
        }
        if let Some(checkpoints) = checkpoints.filter(|_| is_resume && in_doubt != InDoubt::Applied)
            && let Some(lost) = checkpoints.lost_rows()?
        {
            return Err(Error::Unsupported(lost.to_string()));
        }
        let resume = match checkpoints.filter(|_| is_resume) {
            Some(checkpoints) => {
                Some(Resume::new(checkpoints.reader()?, in_doubt, self.state.restarts.load(Relaxed) > 0))
            }
            None => None,
        };
        let load_context = LoadContext { pool, progress, targets, deferral, checkpoints };
        let mut coordinator = Coordinator::open(load_context, self.chunk_limits(), resume, output)?
            .with_expectations(self.options.verify.then(Expectations::default));
        std::thread::scope(|scope| {
            for number in 1..=*threads {
                let worker = Worker::new(number, pool, progress, targets, monitor.throttle(), checkpoints)
                    .with_batch_rows(self.options.batch_rows);
                scope.spawn(move || {
                    if catch_unwind(AssertUnwindSafe(|| worker.run())).is_err() {
                        pool.poison();
                    }
                });
            }
            // Stopped or not: what is admitted is carried through, or given up, by the workers.
            let _ = self.read_stream(&mut coordinator);
            let _ = pool.drain(&mut || {});
            coordinator.end();
            pool.close();
        });
        *lock(&self.state.expectations) = coordinator.into_expectations();
        Ok(())
    }

    fn chunk_limits(&self) -> ChunkLimits {
        let caps = self.state.targets.caps();
        let asked_bytes = self.options.chunk_bytes.or(caps.usual_text_bytes).unwrap_or(CHUNK_BYTES);
        ChunkLimits {
            bytes: caps.text_bytes.map_or(asked_bytes, |cap| cap.min(asked_bytes)),
            rows: caps.rows.unwrap_or(u64::MAX),
        }
    }

    /// Validates the deferred constraints after the last row.
    fn validate(&self) {
        let LoadState { threads, targets, pool, deferral, .. } = &*self.state;
        if pool.has_stopped() || pool.is_interrupted() {
            return;
        }
        let validations = deferral::validate(deferral, &self.options, targets, pool, *threads);
        *self.state.validations.lock().unwrap_or_else(PoisonError::into_inner) = Some(validations);
    }

    fn read_stream(&self, coordinator: &mut Coordinator<'_>) -> Result<(), Stopped> {
        let client_charset = Charset::from_name(self.options.connect.charset.as_bytes());
        let options = StatementsOptions {
            // MySQL's own client sends them, so that routines keep theirs.
            comments: self.options.comments || !coordinator.dialect().mariadb,
            binary_mode: self.options.binary_mode,
            ..StatementsOptions::new(Dialect { charset: client_charset, ..coordinator.dialect() })
        };
        let mut statements = match Statements::open(&self.options.files, options) {
            Ok(statements) => statements,
            Err(error) => return self.input_failed(&error.into()),
        };
        self.state.progress.follow(statements.progress());
        while let Some(item) = statements.next() {
            match item {
                Ok(Item::Statement(statement)) => coordinator.statement(statement)?,
                Ok(Item::Use { database, location }) => coordinator.use_database(&database, &location)?,
                Ok(Item::Charset { name, location }) => coordinator.use_charset(&name, &location)?,
                Ok(Item::Quit { .. } | Item::Ignored { .. }) => {}
                Err(error) => {
                    // What is whole before the error goes in, as it does with the client.
                    coordinator.finish_stream()?;
                    self.input_failed(&error)?;
                }
            }
            statements.set_dialect(coordinator.dialect());
        }
        coordinator.finish_stream()
    }

    /// Takes note of an input that cannot be read on, or of something in it that is not understood.
    fn input_failed(&self, error: &lexer::Error) -> Result<(), Stopped> {
        let pool = &self.state.pool;
        pool.fail(pool.position(), Failure::of_input(error), error.is_final());
        if error.is_final() || !pool.is_forced() { Err(Stopped) } else { Ok(()) }
    }
}

impl LoadState {
    /// Waits until all nodes of a cluster have applied all rows, unless the load has failed.
    fn wait_for_all_nodes(&self) {
        if self.targets.size() == 0 || self.pool.is_ending() {
            return;
        }
        let took = self.monitor.wait_for_all_nodes(&self.targets, &|| self.pool.is_interrupted());
        *self.all_nodes_s.lock().unwrap_or_else(PoisonError::into_inner) = took.map(|took| took.as_secs_f64());
    }

    /// Verifies the content of the server, if the options ask for it and the whole stream was tried.
    fn verify(&self) {
        let expectations = lock(&self.expectations).take();
        if let Some(expectations) = expectations.filter(|_| !self.pool.has_stopped() && !self.pool.is_interrupted()) {
            let validations = lock(&self.validations);
            let validated = validations.as_ref().and_then(|validations| validations.foreign_keys.as_ref());
            let verify = Verify {
                expectations: &expectations,
                loaded: self.progress.rows_by_table().into_iter().collect(),
                connect: self.targets.options(),
                nodes: self.targets.nodes(),
                validated_foreign_keys: validated.map(|validation| validation.constraints as u64),
                threads: self.threads,
            };
            *lock(&self.verification) = Some(verify.run());
        }
    }

    /// The load has ended: discards its checkpoints, unless it can be resumed.
    fn end_checkpoints(&self) {
        let Some(checkpoints) = &self.checkpoints else { return };
        let is_validation_open = self
            .validations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
            .is_some_and(Validations::have_failed);
        let is_complete = !self.pool.is_interrupted() && !self.pool.has_stopped() && !is_validation_open;
        // If the server does not answer, the checkpoints stay.
        let can_resume = checkpoints.end(is_complete).unwrap_or(!is_complete);
        self.can_resume.store(can_resume, Relaxed);
    }

    fn summary(&self) -> Summary {
        let (failures, failure_count) = self.pool.failures();
        let validations = self.validations.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let validations = validations.unwrap_or_else(|| Validations::skipped(&self.deferral));
        let end = if self.pool.is_interrupted() {
            End::Interrupted
        } else if self.pool.has_stopped() {
            End::Failed
        } else if !validations.are_valid() {
            End::NotValidated
        } else if failure_count > 0 {
            End::WithErrors
        } else {
            End::Complete
        };
        let verification = lock(&self.verification).clone();
        let progress = &self.progress;
        let barrier_reasons = progress.barriers();
        let tables = progress.rows_by_table().into_iter().map(|(table, rows)| TableRows { table, rows }).collect();
        Summary {
            end,
            statements: Progress::value(&progress.statements),
            rows: Progress::value(&progress.rows),
            read_bytes: progress.read_bytes(),
            elapsed_s: self.start.elapsed().as_secs_f64() - verification.as_ref().map_or(0.0, |found| found.elapsed_s),
            threads: self.threads,
            threads_reason: self.threads_reason.clone(),
            all_nodes_s: *self.all_nodes_s.lock().unwrap_or_else(PoisonError::into_inner),
            cluster: self.monitor.summary(&self.targets),
            binary_statements: Progress::value(&progress.binary_statements),
            text_statements: Progress::value(&progress.text_statements),
            skipped: Progress::value(&progress.skipped),
            barriers: barrier_reasons.values().sum(),
            barrier_reasons,
            foreign_keys: self.deferral.report_foreign_keys(validations.foreign_keys),
            unique_checks: self.deferral.report_unique_checks(validations.unique_keys),
            replays: Progress::value(&progress.replays),
            warnings: Progress::value(&progress.warnings),
            checkpoint: CheckpointSummary {
                load_id: self.checkpoints.as_ref().map(Checkpoints::load_id),
                schema: self.checkpoints.as_ref().map(|checkpoints| checkpoints.schema().to_owned()),
                disabled_reason: self.checkpoints_disabled_reason.clone(),
                can_resume: self.can_resume.load(Relaxed),
                rows_before: self.rows_before,
                restarts: self.restarts.load(Relaxed),
            },
            verification,
            tables,
            failures,
            failure_count,
        }
    }
}

fn identity(options: &Options) -> Identity {
    Identity::new(&options.files, options.connect.database.as_deref(), options.comments, options.binary_mode)
}

/// The checkpoints of the load, or why there are none.
fn open_checkpoints(
    options: &Options,
    targets: &Arc<Targets>,
    threads: usize,
) -> Result<(Option<Checkpoints>, Option<String>), OpenError> {
    let CheckpointMode::Enabled { schema, is_optional } = &options.checkpoint_mode else {
        return Ok((None, Some("--no-checkpoint is set".to_owned())));
    };
    match Checkpoints::open(targets, schema, &identity(options), threads, options.start) {
        Ok(checkpoints) => Ok((Some(checkpoints), None)),
        Err(error @ checkpoint::Error::Unavailable { .. }) if *is_optional => Ok((None, Some(error.to_string()))),
        Err(checkpoint::Error::Server(error)) => Err(error.into()),
        Err(error) => Err(error.into()),
    }
}

/// Each change under these is one assignment.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The server's cores, as MariaDB takes them for its thread pool's size. MySQL does not say; on this machine it has ours.
fn cores(connection: &mut Connection) -> Result<Option<usize>, Error> {
    match connection.fetch(b"SELECT @@thread_pool_size") {
        Ok(rows) => {
            let value = rows.first().and_then(|row| row.first()?.as_deref());
            Ok(value.and_then(|value| std::str::from_utf8(value).ok()?.parse().ok()))
        }
        Err(Error::Server(_)) if connection.is_local() => {
            Ok(std::thread::available_parallelism().ok().map(std::num::NonZero::get))
        }
        Err(Error::Server(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
