//! One source's life: sessions, pauses between them, and what a person wishes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hortator_mysql::ConnectOptions;

use super::retry::{Verdict, leaves_target, pause, verdict};
use super::session::{Ended, Error, Session};
use super::status::{SourceState, SourceStatus};
use super::{Notices, SourceOptions};
use crate::apply::{self, InDoubt};

/// What shall become of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// It runs.
    Run,
    /// It commits what is under way and waits.
    Pause,
    /// It passes the next transaction over, and runs.
    Skip,
    /// It commits what is under way and ends.
    End,
}

/// A session that has lived for this long was in order: the next pause is a short one.
const STABLE_AFTER: Duration = Duration::from_secs(30);

/// What is the same for all sources.
pub(super) struct Target {
    /// One server, or nodes of a cluster; at least one.
    pub(super) nodes: Vec<ConnectOptions>,
    /// The node that all sources write to.
    pub(super) current: AtomicUsize,
    /// The schema of the positions.
    pub(super) schema: String,
    /// What is read ahead of a source, in bytes.
    pub(super) queue_limit_bytes: usize,
}

impl Target {
    /// The number of the node to write to.
    fn node(&self) -> usize {
        self.current.load(Ordering::Relaxed) % self.nodes.len()
    }

    /// Goes on with the next node, unless another source has done so.
    fn leave(&self, node: usize) {
        let next = (node + 1) % self.nodes.len();
        let _ = self.current.compare_exchange(node, next, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// A source and its thread.
pub(super) struct SourceTask {
    pub(super) options: SourceOptions,
    pub(super) target: Arc<Target>,
    notices: Arc<Notices>,
    shared: Mutex<Shared>,
    changed: Condvar,
}

/// What the thread and others see.
struct Shared {
    wish: Wish,
    /// How often something was wished.
    wishes: u64,
    status: SourceStatus,
    /// What has stopped it is a transaction.
    can_skip: bool,
    /// When the status has changed last.
    noted: Instant,
}

/// Whether an error is about one transaction, which can be passed over.
fn names_transaction(error: &Error) -> bool {
    use apply::Error::{Event, InDoubt, Target};
    matches!(error, Error::Apply(Target { .. } | Event { .. } | InDoubt { .. }))
}

/// A running source changes its status more often than that, in seconds: an idle one too.
const FRESH_S: u64 = 2;

impl SourceTask {
    pub(super) fn new(options: SourceOptions, target: Arc<Target>, notices: Arc<Notices>) -> Self {
        let status = SourceStatus {
            name: options.name.clone(),
            state: SourceState::Connecting,
            host: options.hosts.first().map(|host| host.address.to_string()).unwrap_or_default(),
            applied_file: String::new(),
            applied_position: 0,
            applied_gtid: String::new(),
            lag_s: None,
            transactions: 0,
            retries: 0,
            error: None,
        };
        let shared = Mutex::new(Shared { wish: Wish::Run, wishes: 0, status, can_skip: false, noted: Instant::now() });
        SourceTask { options, target, notices, shared, changed: Condvar::new() }
    }

    pub(super) fn name(&self) -> &str {
        &self.options.name
    }

    pub(super) fn status(&self) -> SourceStatus {
        let shared = self.lock();
        let mut status = shared.status.clone();
        // Where a transaction takes long, the target falls behind meanwhile.
        let silent_s = shared.noted.elapsed().as_secs();
        if silent_s >= FRESH_S && status.state == SourceState::Running {
            status.lag_s = status.lag_s.map(|lag_s| lag_s + silent_s);
        }
        status
    }

    /// Whether it is stopped by a transaction that can be passed over.
    pub(super) fn can_skip(&self) -> bool {
        let shared = self.lock();
        shared.status.state == SourceState::Stopped && shared.can_skip
    }

    /// Says what shall become of it. The end is final.
    pub(super) fn wish(&self, wish: Wish) {
        let mut shared = self.lock();
        if shared.wish != Wish::End {
            shared.wish = wish;
        }
        shared.wishes += 1;
        self.changed.notify_all();
    }

    /// What shall become of it.
    pub(super) fn wished(&self) -> Wish {
        self.lock().wish
    }

    /// Changes the status.
    pub(super) fn note(&self, change: impl FnOnce(&mut SourceStatus)) {
        let mut shared = self.lock();
        change(&mut shared.status);
        shared.noted = Instant::now();
    }

    /// Tells the person who watches.
    pub(super) fn tell(&self, text: &str) {
        (self.notices)(&self.options.name, text);
    }

    /// Runs until the end is wished.
    pub(super) fn run(&self) {
        let (mut failures, mut host) = (0, 0);
        let mut in_doubt = InDoubt::Ask;
        while self.wait_until_wanted() {
            let skips = self.take_skip();
            let begin = Instant::now();
            self.note(|status| {
                status.state = SourceState::Connecting;
                status.host = self.options.hosts[host].address.to_string();
            });
            let node = self.target.node();
            let (target, source) = (&self.target.nodes[node], &self.options.hosts[host]);
            let mut session = Session { task: self, target, host: source, in_doubt, skips, counted: 0 };
            let error = match session.run() {
                Ok(Ended::AsWished) => {
                    (failures, in_doubt) = (0, InDoubt::Ask);
                    continue;
                }
                Err(error) => error,
            };
            in_doubt = InDoubt::Ask;
            failures = if begin.elapsed() >= STABLE_AFTER { 1 } else { failures + 1 };
            let text = error.to_string();
            match verdict(&error) {
                Verdict::Retry => {
                    if self.status().error.as_ref() != Some(&text) {
                        self.tell(&format!("{text}: trying again"));
                    }
                    self.note(|status| {
                        (status.error, status.retries) = (Some(text), status.retries + 1);
                        status.lag_s = None;
                    });
                    if leaves_target(&error) {
                        self.target.leave(node);
                    } else if matches!(error, Error::Source(_)) {
                        host = (host + 1) % self.options.hosts.len();
                    }
                    self.wait(pause(failures));
                }
                Verdict::Stop => {
                    let name = self.name();
                    let can_skip = names_transaction(&error);
                    let skip = if can_skip { ", or pass the transaction over with `skip`" } else { "" };
                    self.tell(&format!(
                        "stopped: {text}\n  mend it and then `hortator replicate resume FILE {name}`{skip}"
                    ));
                    self.lock().can_skip = can_skip;
                    self.note(|status| (status.state, status.error) = (SourceState::Stopped, Some(text)));
                    self.wait_for_a_person();
                    // Who reads that a statement is in doubt decides about it, whatever else has stopped the source.
                    let is_in_doubt = matches!(error, Error::Apply(apply::Error::InDoubt { .. }));
                    (failures, in_doubt) = (0, if is_in_doubt { InDoubt::Decided } else { InDoubt::Ask });
                }
            }
        }
        self.note(|status| {
            // One that was stopped stays so: the last status says why.
            if status.state != SourceState::Stopped {
                status.state = SourceState::Ended;
            }
        });
    }

    /// Waits while it is paused. False: it shall end.
    fn wait_until_wanted(&self) -> bool {
        let mut shared = self.lock();
        while shared.wish == Wish::Pause {
            shared.status.state = SourceState::Paused;
            shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
        }
        shared.wish != Wish::End
    }

    /// Whether the next transaction is to be passed over: once.
    fn take_skip(&self) -> bool {
        let mut shared = self.lock();
        let skips = shared.wish == Wish::Skip;
        if skips {
            shared.wish = Wish::Run;
        }
        skips
    }

    /// Waits until someone says what to do, which may be what was wished before.
    fn wait_for_a_person(&self) {
        let shared = self.lock();
        let before = shared.wishes;
        let is_waiting = |shared: &mut Shared| shared.wishes == before && shared.wish != Wish::End;
        drop(self.changed.wait_while(shared, is_waiting).unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits for a time, or until something else is wished.
    fn wait(&self, time: Duration) {
        let shared = self.lock();
        let waited = self.changed.wait_timeout_while(shared, time, |shared| shared.wish == Wish::Run);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
