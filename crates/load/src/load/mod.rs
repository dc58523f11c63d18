//! One load from beginning to end: open it, read the input, validate, verify, and sum up.
//!
//! [`Load::run`] shows the phases. `stream` reads the input, `phases` holds what each later phase leaves to the next,
//! `state` what the threads share while they run.

mod analyze;
mod error;
mod interrupter;
mod options;
mod phases;
pub(crate) mod rows_check;
mod sessions;
mod skip_binlog;
mod state;
mod stream;
mod worker_count;

use std::panic::resume_unwind;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Instant;

use hortator_mysql::Connection;

use crate::apply::Pool;
use crate::checkpoint::{self, CheckpointMode, Checkpoints, Start};
use crate::cluster::{NodeMonitor, Targets};
use crate::coordinator::FreshSession;
pub use crate::coordinator::InDoubt;
use crate::deferral::Deferral;
use crate::deferred_keys::DeferredKeys;
use crate::filter::{self, FilterRules};
use crate::input::Source;
use crate::output::Output;
use crate::progress::Progress;
use crate::rejects::{RejectError, Rejects};
use crate::report::{Failure, Summary};
use crate::stall::Stall;
use crate::throttle::{Throttle, ThrottleMonitor};
pub use analyze::AnalyzeReport;
pub use error::{OpenError, StartError};
pub use interrupter::Interrupter;
pub use options::Options;
use phases::{Loaded, Verified};
use sessions::Sessions;
pub use skip_binlog::SKIP_BINLOG;
use state::LoadState;
use worker_count::WorkerCount;

/// Text of all chunks that wait or run, unless said otherwise.
const IN_FLIGHT_BYTES: usize = 64 << 20;
/// Text of one chunk: what a connection applies and commits at a time.
pub(crate) const CHUNK_BYTES: usize = 4 << 20;

/// How often a load resumes automatically after it lost its main session.
const RESTARTS_LIMIT: u64 = 100;

/// A load that is ready to run.
pub struct Load {
    options: Options,
    state: Arc<LoadState>,
    /// For the first reading of the input.
    sessions: Mutex<Option<Sessions>>,
    filter_rules: Arc<FilterRules>,
    /// What it reads instead of files: once.
    source: Mutex<Option<Source>>,
}

impl Load {
    /// Reads the properties of the server and chooses the number of workers.
    ///
    /// # Errors
    /// When there is no connection, the server refuses it, nodes do not belong together, or what is recorded does not
    /// allow it.
    pub fn open(mut options: Options) -> Result<Self, OpenError> {
        let start = Instant::now();
        let throttle = Arc::new(Throttle::open());
        let throttle_monitor = match options.throttle.is_empty() {
            true => None,
            false => Some(ThrottleMonitor::open(Arc::clone(&throttle), &options.throttle, &options.connect)?),
        };
        let rejects = open_rejects(&options)?;
        if options.skip_binlog {
            skip_binlog::set_up(&mut options.connect)?;
        }
        let targets = Arc::new(Targets::open(&options.connect, &options.nodes)?);
        if options.skip_binlog && targets.size() > 0 {
            return Err(OpenError::SkipBinlogOnCluster);
        }
        let mut first = targets.connect_first()?;
        let version = first.connection.version().clone();
        let WorkerCount { threads, reason: threads_reason } =
            WorkerCount::choose(options.threads, &mut first.connection)?;
        let chunk_bytes = options.chunk_bytes.unwrap_or(CHUNK_BYTES);
        let limit_bytes = options.in_flight_bytes.unwrap_or(IN_FLIGHT_BYTES).max(chunk_bytes * 2);
        let pool = Pool::new(threads, limit_bytes, options.force);
        let progress = Arc::new(Progress::new(threads, Arc::clone(&throttle)));
        let open_checkpoints = || open_checkpoints(&options, &targets, threads);
        let ((checkpoints, checkpoints_disabled_reason), sessions) = match options.start {
            Start::New => thread::scope(|scope| {
                // The disk is slow to create their schema.
                let checkpoints = scope.spawn(open_checkpoints);
                let sessions = Sessions::open(&targets, || FreshSession::new(first, None));
                let checkpoints = checkpoints.join().unwrap_or_else(|panic| resume_unwind(panic))?;
                Ok::<_, OpenError>((checkpoints, sessions))
            }),
            Start::Resume | Start::ResumeId(_) => {
                let checkpoints = open_checkpoints()?;
                let sessions = Sessions::open(&targets, || FreshSession::new(first, checkpoints.0.as_ref()));
                Ok((checkpoints, sessions))
            }
        }?;
        let sessions = sessions.inspect_err(|_| forget_empty(checkpoints.as_ref()))?;
        let open_rest = || {
            if let Some(rejects) = &rejects {
                rejects.begin(checkpoints.as_ref().map(Checkpoints::load_id).unwrap_or_default())?;
            }
            let deferral = Deferral::of_load(&options, checkpoints.as_ref())?;
            Ok((deferral, DeferredKeys::open(&options, &targets, checkpoints.as_ref(), &version)?))
        };
        let (deferral, deferred_keys) = open_rest().inspect_err(|_: &OpenError| forget_empty(checkpoints.as_ref()))?;
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
            start,
            monitor: NodeMonitor::new(&targets, threads, options.is_throttled, Arc::clone(&throttle)),
            throttle,
            throttle_monitor,
            targets,
            pool,
            progress,
            checkpoints,
            checkpoints_disabled_reason,
            rejects,
            rows_before,
            restarts: AtomicU64::new(0),
            may_await_input: AtomicBool::new(true),
            deferral,
            deferred_keys,
        };
        let filter_rules = Arc::new(options.filter.clone());
        let sessions = Mutex::new(Some(sessions));
        Ok(Self { options, state: Arc::new(state), sessions, filter_rules, source: Mutex::new(None) })
    }

    /// Reads this instead of files, which must be none, without checkpoints: it cannot be read again.
    #[must_use]
    pub fn reading(self, source: Source) -> Self {
        debug_assert!(self.options.input.parts().is_empty() && self.state.checkpoints.is_none());
        Self { source: Mutex::new(Some(source)), ..self }
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
    /// When a connection cannot be opened. No statement of the input has run then.
    pub fn run(self, output: &mut dyn Output) -> Result<Summary, StartError> {
        let state = &*self.state;
        let LoadState { targets, monitor, .. } = state;
        thread::scope(|scope| {
            let _guard = monitor.start_guard();
            for node in 0..targets.size() {
                scope.spawn(move || monitor.monitor_node(targets, node));
            }
            let _throttle_guard = state.throttle_monitor.as_ref().map(ThrottleMonitor::start_guard);
            self.start_throttle_monitor();
            let (_ends_here, until) = mpsc::channel();
            scope
                .spawn(move || state.checkpoints.iter().for_each(|checkpoints| checkpoints.keep_local_journal(&until)));
            if self.is_refused().inspect_err(|_| forget_empty(state.checkpoints.as_ref()))? {
                forget_empty(state.checkpoints.as_ref());
                return Ok(state.summary(None));
            }
            let loaded = self.load(output).inspect_err(|_| forget_empty(state.checkpoints.as_ref()))?;
            state.finish_rejects();
            state.build_missing_keys();
            let validated = loaded.validate(state, &self.options);
            let analyzed = self.options.analyze.then(|| analyze::analyze(state)).flatten();
            let verified = Verified { analyzed, ..validated.verify(state) };
            state.compare_counted_rows(&self.options);
            Ok(state.summary(Some(verified)))
        })
    }

    /// Samples for the throttle. Nobody waits for these threads: a server that does not answer must not hold up the end.
    fn start_throttle_monitor(&self) {
        let threads = self.state.throttle_monitor.as_ref().map_or(0, ThrottleMonitor::threads);
        for thread in 0..threads {
            let state = Arc::clone(&self.state);
            thread::spawn(move || {
                if let Some(monitor) = &state.throttle_monitor {
                    monitor.run(thread, &|| state.targets.options().clone(), &|| state.pool.running());
                }
            });
        }
    }

    /// Whether the input holds what cannot be loaded under the rules of this load. Nothing has run then.
    fn is_refused(&self) -> Result<bool, StartError> {
        let LoadState { pool, progress, targets, .. } = &*self.state;
        let connect = || Connection::open(targets.options());
        let mut refused = rows_check::check(&self.options, &connect)?;
        if refused.is_empty() {
            let is_interrupted = || pool.is_interrupted();
            refused = filter::check(&self.options, &self.filter_rules, progress, &connect, &is_interrupted)?;
        }
        let is_refused = !refused.is_empty();
        for failure in refused {
            pool.fail(pool.position(), failure, true);
        }
        Ok(is_refused)
    }

    /// Reads the input; restarts from its beginning each time that only a lost main session has stopped the load.
    fn load(&self, output: &mut dyn Output) -> Result<Loaded, StartError> {
        let state = &*self.state;
        let mut loaded = self.load_stream(self.options.start != Start::New, output)?;
        let mut stall = Stall::default();
        while self.may_restart()
            && self.settle()
            && !stall.is_reached(&state.pool, state.checkpoints.as_ref())
            && state.pool.reopen()
        {
            state.restarts.fetch_add(1, Relaxed);
            state.progress.restart();
            if let Err(error) = state.rejects.as_ref().map_or(Ok(()), Rejects::restart) {
                state.pool.fail(state.pool.position(), Failure::of_load(error.to_string()), true);
                break;
            }
            match self.load_stream(true, output) {
                Ok(again) => loaded = again,
                Err(error) => state.pool.fail(state.pool.position(), error.failure(), true),
            }
        }
        Ok(loaded)
    }

    /// Brings the local journal to the server, where the restart reads it; false where that cannot be, and the load ends.
    fn settle(&self) -> bool {
        let LoadState { checkpoints, pool, .. } = &*self.state;
        let settled = checkpoints.as_ref().filter(|_| pool.lost().is_some()).map_or(Ok(()), Checkpoints::settle);
        settled.inspect_err(|error| pool.add_to_lost(&format!("; then {error}"))).is_ok()
    }

    /// Whether a load that lost its main session can resume automatically.
    fn may_restart(&self) -> bool {
        let LoadState { checkpoints, restarts, .. } = &*self.state;
        checkpoints.is_some() && self.options.identity().is_certain() && restarts.load(Relaxed) < RESTARTS_LIMIT
    }
}

fn open_rejects(options: &Options) -> Result<Option<Rejects>, RejectError> {
    let is_resume = options.start != Start::New;
    let Some(path) = &options.reject else { return Ok(None) };
    if options.input.has_folder_of(path) {
        return Err(RejectError::InInput { path: path.clone() });
    }
    Rejects::open(path, is_resume, options.comments, options.binary_mode).map(Some)
}

/// The load did not begin: nothing of it stays on record, unless an earlier run has recorded something.
fn forget_empty(checkpoints: Option<&Checkpoints>) {
    // Where the server is gone, the next load of the same input discards them.
    let _ = checkpoints.map(|checkpoints| checkpoints.end(false));
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
    let journal_folder = options.local_journal_dir.as_deref();
    // Where the schema is asked for, it is used.
    match Checkpoints::open(targets, schema, &options.identity(), threads, options.start, journal_folder, *is_optional)
    {
        Ok(checkpoints) => Ok((Some(checkpoints), None)),
        // To resume without them would be to load again from the beginning.
        Err(error @ checkpoint::Error::Unavailable { .. }) if *is_optional && options.start == Start::New => {
            Ok((None, Some(error.to_string())))
        }
        Err(checkpoint::Error::Server(error)) => Err(error.into()),
        Err(error) => Err(error.into()),
    }
}
