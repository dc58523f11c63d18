//! The process that applies sources: a thread for each, and what a person can ask of it.
//!
//! ```text
//!   Agent ── a SourceTask for each source ── session: connect, read ahead, apply        a thread, and one that reads
//!                │                               │ fails
//!                │                               ▼
//!                │                            retry: again after a pause, or stopped with a message
//!                ▼
//!             Tracker ──► SourceStatus ◄── log_watch: how far it is behind;  target_watch: why a statement takes long
//! ```
//!
//! A source that stops leaves the others alone. It goes on when a person says so.

mod conflict;
mod copying;
mod hold;
mod lag;
mod log_watch;
mod rate;
mod retry;
mod same_server;
mod session;
mod side_connection;
mod source_task;
mod status;
mod target_watch;
mod tracker;
mod uncommitted;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hortator_mysql::ConnectOptions;

use crate::apply::ConflictPolicy;
use crate::binlog::GtidState;
use crate::config::Start;
use crate::rules::Rules;
use crate::source::Until;
use source_task::SourceTask;

pub use crate::keys::Order;
pub use hold::HoldState;
pub(crate) use retry::PASSING;
pub use source_task::Wish;
pub use status::{SourceState, SourceStatus, WaitsFor};

/// What is read ahead of all sources together, in bytes,
const QUEUES_BYTES: usize = 96 << 20;
/// but of each of them at least
const SMALLEST_QUEUE_BYTES: usize = 1 << 20;
/// and at most this.
const LARGEST_QUEUE_BYTES: usize = 16 << 20;

/// How often it is looked whether threads have ended.
const END_INTERVAL: Duration = Duration::from_millis(5);

/// What an agent needs to know, with connections resolved.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    /// The target; further ones are nodes of the same cluster.
    pub target: Vec<ConnectOptions>,
    /// The schema of the target that holds the positions.
    pub schema: String,
    /// Errors of the target: a transaction that fails with one of them is passed over.
    pub ignore_errors: Vec<u16>,
    /// Connections to the target over which all sources together are applied; each has one at least.
    pub workers: usize,
    /// Which transactions of one source wait for each other.
    pub order: Order,
    /// The sources.
    pub sources: Vec<SourceOptions>,
}

/// A source, with connections resolved.
#[derive(Clone, Debug)]
pub struct SourceOptions {
    /// Its name.
    pub name: String,
    /// Its hosts, tried in turn; at least one.
    pub hosts: Vec<ConnectOptions>,
    /// Where to start if nothing of it is applied yet.
    pub start: Start,
    /// The server id with which it registers.
    pub server_id: u32,
    /// What becomes of its tables.
    pub rules: Rules,
    /// Servers whose transactions are not applied.
    pub ignore_server_ids: Vec<u32>,
    /// What becomes of rows that do not fit those of the target.
    pub conflict: ConflictPolicy,
    /// Files that are read instead of its hosts.
    pub files: Option<SourceFiles>,
}

impl SourceOptions {
    /// Where it is read, for a person: a host of the list, or the folder of its files.
    pub(crate) fn place(&self, host: usize) -> String {
        match &self.files {
            Some(files) => files.folder.display().to_string(),
            None => self.hosts.get(host).map(|host| host.address.to_string()).unwrap_or_default(),
        }
    }
}

/// The log of a source as files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFiles {
    /// Where they are.
    pub folder: PathBuf,
    /// Where to end; `None`: at the end of the last file.
    pub until: Option<Until>,
}

/// Takes what the agent has to say to a person who watches: the source's name and a line.
pub type Notices = dyn Fn(&str, &str) + Send + Sync;

/// Sources that are being applied.
pub struct Agent {
    tasks: Vec<Arc<SourceTask>>,
    threads: Vec<JoinHandle<()>>,
}

impl Agent {
    /// Starts a thread for each source.
    #[must_use]
    pub fn start(options: AgentOptions, notices: &Arc<Notices>) -> Agent {
        let AgentOptions { target, schema, ignore_errors, workers, order, sources } = options;
        let target = Arc::new(source_task::Target {
            nodes: target,
            current: AtomicUsize::new(0),
            schema,
            ignore_errors,
            workers_per_source: workers / sources.len().max(1),
            order,
            lock_waits: Arc::default(),
            queue_limit_bytes: (QUEUES_BYTES / sources.len().max(1)).clamp(SMALLEST_QUEUE_BYTES, LARGEST_QUEUE_BYTES),
            copies: copying::CopySlots::default(),
            token: RandomState::new().build_hasher().finish(),
            sources: sources.clone(),
        });
        let make = |source| Arc::new(SourceTask::new(source, target.clone(), notices.clone()));
        let tasks: Vec<Arc<SourceTask>> = sources.into_iter().map(make).collect();
        let run = |task: Arc<SourceTask>| {
            move || {
                if catch_unwind(AssertUnwindSafe(|| task.run())).is_err() {
                    task.on_panic();
                }
            }
        };
        let threads = tasks.iter().map(|task| thread::spawn(run(task.clone()))).collect();
        // The server of files is gone.
        for task in tasks.iter().filter(|task| task.options.files.is_none()) {
            let task = task.clone();
            thread::spawn(move || log_watch::run(&task));
        }
        let watched = tasks.clone();
        thread::spawn(move || target_watch::run(&watched));
        Agent { tasks, threads }
    }

    /// How each source stands, in the order of the configuration.
    #[must_use]
    pub fn status(&self) -> Vec<SourceStatus> {
        self.tasks.iter().map(|task| task.status()).collect()
    }

    /// Tells how each source stands, as [`Agent::status`] does, for as long as someone asks.
    pub fn reporter(&self) -> impl Fn() -> Vec<SourceStatus> + Send + Sync + use<> {
        let tasks = self.tasks.clone();
        move || tasks.iter().map(|task| task.status()).collect()
    }

    /// Says what shall become of a source. False: there is none of that name.
    #[must_use]
    pub fn wish(&self, name: &str, wish: Wish) -> bool {
        let task = self.tasks.iter().find(|task| task.name() == name);
        task.inspect(|task| task.wish(wish)).is_some()
    }

    /// Copies a source once more, or only some of its tables: `schema.table`, as on the source.
    ///
    /// # Errors
    /// Why it is not, in words.
    pub fn copy_again(&self, name: &str, tables: &[String]) -> Result<(), String> {
        let task = self.tasks.iter().find(|task| task.name() == name);
        let task = task.ok_or_else(|| format!("there is no source {name}"))?;
        if task.options.files.is_some() {
            return Err("a source that is read from files cannot be copied".to_owned());
        }
        if tables.is_empty() && task.options.start != Start::Snapshot {
            return Err(format!(
                "the source {name} has another start than \"snapshot\": set that and start the agent again"
            ));
        }
        task.copy_again(tables);
        Ok(())
    }

    /// Holds a source for a comparison: where it is, or at a position behind that. It is held for as long as this is asked
    /// again and again, and no longer than some seconds without.
    ///
    /// # Errors
    /// Why it is not held, in words.
    pub fn hold(&self, name: &str, by: u64, until: Option<GtidState>) -> Result<HoldState, String> {
        let task = self.tasks.iter().find(|task| task.name() == name);
        task.ok_or_else(|| format!("there is no source {name}"))?.hold.ask(by, until)
    }

    /// Lets a source go that was held.
    pub fn release(&self, name: &str, by: u64) {
        self.tasks.iter().filter(|task| task.name() == name).for_each(|task| task.hold.release(by));
    }

    /// Whether a source is stopped by a transaction that can be passed over.
    #[must_use]
    pub fn can_skip(&self, name: &str) -> bool {
        self.tasks.iter().any(|task| task.name() == name && task.can_skip())
    }

    /// What waits until all sources have ended by themselves: those that are read from files do.
    pub fn wait_for_end(&self) -> impl FnOnce() + Send + use<> {
        let tasks = self.tasks.clone();
        move || tasks.iter().for_each(|task| task.wait_for_end())
    }

    /// Commits what is under way, ends all threads, and gives the last status. A thread that waits for a server longer than
    /// the limit is left behind, and its source's state is not [`SourceState::Ended`]: what it has not committed is applied
    /// by the next agent.
    #[must_use]
    pub fn stop(self, limit: Duration) -> Vec<SourceStatus> {
        for task in &self.tasks {
            task.wish(Wish::End);
        }
        let end = Instant::now() + limit;
        while self.threads.iter().any(|thread| !thread.is_finished()) && Instant::now() < end {
            thread::sleep(END_INTERVAL);
        }
        self.tasks.iter().map(|task| task.status()).collect()
    }
}

#[cfg(test)]
mod tests;
