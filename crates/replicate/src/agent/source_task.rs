//! One source's life: sessions, pauses between them, and what a person wishes.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hortator_mysql::{ConnectOptions, LockWaits};

use super::conflict::is_conflict;
use super::copying::CopySlots;
use super::hold::Hold;
use super::retry::{Verdict, is_of_host, leaves_target, pause, verdict};
use super::session::{Ended, Error, Session};
use super::status::{SourceState, SourceStatus};
use super::tracker::{Now, Phase, Tracker};
use super::{Notices, SourceOptions};
use crate::apply::{self, InDoubt, LargeTransaction};
use crate::keys::Order;

/// What shall become of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// It runs.
    Run,
    /// It commits what is under way and waits.
    Pause,
    /// It passes the next transaction over, and runs.
    Skip,
    /// It commits what is under way, is copied once more, and runs.
    CopyAgain,
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
    /// Its errors with which a transaction is passed over.
    pub(super) ignore_errors: Vec<u16>,
    /// Connections over which a source with a backlog is applied.
    pub(super) workers_per_source: usize,
    /// Which transactions of a source wait for each other.
    pub(super) order: Order,
    /// Who waits for whose row locks.
    pub(super) lock_waits: Arc<LockWaits>,
    /// What is read ahead of a source, in bytes.
    pub(super) queue_limit_bytes: usize,
    /// Copies that are under way.
    pub(super) copies: CopySlots,
    /// A number that no other agent has.
    pub(super) token: u64,
    /// All sources.
    pub(super) sources: Vec<SourceOptions>,
}

impl Target {
    /// The number of the node to write to.
    fn node(&self) -> usize {
        self.current.load(Ordering::Relaxed) % self.nodes.len()
    }

    /// That node.
    pub(super) fn current_node(&self) -> &ConnectOptions {
        &self.nodes[self.node()]
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
    /// Bytes of the source's log that have arrived.
    pub(super) read_bytes: Arc<AtomicU64>,
    /// For a comparison.
    pub(super) hold: Hold,
}

/// What the thread and others see.
struct Shared {
    wish: Wish,
    /// Tables that are to be copied once more by themselves; none: all of the source.
    tables: Vec<String>,
    /// How often something was wished.
    wishes: u64,
    tracker: Tracker,
    /// Its thread does nothing more.
    has_ended: bool,
}

/// Whether an error is about one transaction, which can be passed over.
fn names_transaction(error: &Error) -> bool {
    use apply::Error::{Event, InDoubt, Target};
    matches!(error, Error::Apply(Target { .. } | Event { .. } | InDoubt { .. }))
}

impl SourceTask {
    pub(super) fn new(options: SourceOptions, target: Arc<Target>, notices: Arc<Notices>) -> Self {
        let now = Now::read();
        let mut tracker = Tracker::new(&options.name, now);
        let host = options.place(0);
        tracker.on_connecting(0, host, now);
        let shared = Mutex::new(Shared { wish: Wish::Run, tables: Vec::new(), wishes: 0, tracker, has_ended: false });
        SourceTask {
            options,
            target,
            notices,
            shared,
            changed: Condvar::new(),
            read_bytes: Arc::default(),
            hold: Hold::default(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.options.name
    }

    pub(super) fn status(&self) -> SourceStatus {
        let read_bytes = self.read_bytes.load(Ordering::Relaxed);
        self.track(|tracker, now| tracker.status(read_bytes, now))
    }

    /// Whether it is stopped by a transaction that can be passed over.
    pub(super) fn can_skip(&self) -> bool {
        self.track(|tracker, _| tracker.state() == SourceState::Stopped && tracker.is_at_transaction())
    }

    /// Says what shall become of it. The end is final.
    pub(super) fn wish(&self, wish: Wish) {
        self.wish_with(wish, &[]);
    }

    /// Says that it is copied once more, or only some of its tables, named as on the source.
    pub(super) fn copy_again(&self, tables: &[String]) {
        self.wish_with(Wish::CopyAgain, tables);
    }

    fn wish_with(&self, wish: Wish, tables: &[String]) {
        let mut shared = self.lock();
        if wish == Wish::CopyAgain {
            // What was asked for a moment ago may not have begun.
            let is_of_all = tables.is_empty() || shared.wish == Wish::CopyAgain && shared.tables.is_empty();
            let before = if is_of_all || shared.wish != Wish::CopyAgain { Vec::new() } else { shared.tables.clone() };
            let tables = if is_of_all { &[] } else { tables };
            shared.tables = before.into_iter().chain(tables.iter().cloned()).collect();
        }
        if shared.wish != Wish::End {
            shared.wish = wish;
        }
        if matches!(wish, Wish::Run | Wish::Skip | Wish::CopyAgain) {
            shared.tracker.on_resume(Now::read());
        }
        if wish == Wish::CopyAgain {
            shared.tracker.on_copy_again();
        }
        shared.wishes += 1;
        self.changed.notify_all();
    }

    /// What shall become of it; its session waits for this meanwhile.
    pub(super) fn wished(&self, phase: Phase) -> Wish {
        let mut shared = self.lock();
        if phase != shared.tracker.phase() {
            shared.tracker.set_phase(phase, Now::read());
        }
        shared.wish
    }

    /// Tells its tracker of something, or asks it.
    pub(super) fn track<T>(&self, tell: impl FnOnce(&mut Tracker, Now) -> T) -> T {
        let mut shared = self.lock();
        tell(&mut shared.tracker, Now::read())
    }

    /// Tells the person who watches.
    pub(super) fn tell(&self, text: &str) {
        (self.notices)(&self.options.name, text);
    }

    /// Runs until the end is wished.
    pub(super) fn run(&self) {
        let (mut failures, mut host) = (0, 0);
        let (mut in_doubt, mut next_large) = (InDoubt::Ask, LargeTransaction::New);
        while self.wait_until_wanted() {
            let skips = self.take_skip();
            let begin = Instant::now();
            let address = self.options.place(host);
            self.track(|tracker, now| tracker.on_connecting(host, address, now));
            let node = self.target.node();
            let (target, source) = (&self.target.nodes[node], &self.options.hosts[host]);
            let mut session = Session::new(self, target, source, in_doubt, skips, next_large);
            let forgotten = self.is_to_be_copied_again().map_or(Ok(()), |tables| session.forget_copy(&tables));
            let is_refused = forgotten.is_err();
            let ended = forgotten.and_then(|()| session.run());
            self.track(|tracker, now| tracker.set_phase(Phase::None, now));
            let error = match ended {
                Ok(Ended::AsWished | Ended::Reached) => {
                    (failures, in_doubt, next_large) = (0, InDoubt::Ask, LargeTransaction::New);
                    continue;
                }
                Ok(Ended::Complete) => {
                    self.track(|tracker, now| tracker.set_state(SourceState::Complete, now));
                    break;
                }
                Err(error) => error,
            };
            next_large = match &error {
                Error::Apply(error) => error.next_large(),
                _ => LargeTransaction::New,
            };
            // What a person has decided holds for the transaction that was given back.
            if next_large == LargeTransaction::New {
                in_doubt = InDoubt::Ask;
            }
            failures = if begin.elapsed() >= STABLE_AFTER { 1 } else { failures + 1 };
            let is_of_host = is_of_host(&error) && self.options.hosts.len() > 1;
            let text = match is_of_host {
                true => format!("{}: {error}", self.options.place(host)),
                false => error.to_string(),
            };
            match verdict(&error) {
                Verdict::Retry => {
                    if self.track(|tracker, _| tracker.error() != Some(&text)) {
                        self.tell(&format!("{text}: trying again"));
                    }
                    let pause = pause(failures);
                    self.track(|tracker, now| tracker.on_retry(text, pause, now));
                    if leaves_target(&error) {
                        self.target.leave(node);
                    } else if matches!(error, Error::Source(_) | Error::Snapshot(_)) {
                        host = (host + 1) % self.options.hosts.len();
                    }
                    self.wait(pause);
                }
                // The files are what they are: there is nothing to mend and try again.
                Verdict::Stop if self.options.files.is_some() && matches!(error, Error::Source(_)) => {
                    self.track(|tracker, now| tracker.on_stop(text, false, false, now));
                    break;
                }
                Verdict::Stop => {
                    let name = self.name();
                    let can_skip = names_transaction(&error);
                    let skip = if can_skip { ", or pass the transaction over with `skip`" } else { "" };
                    self.tell(&format!(
                        "stopped: {text}\n  mend it and then `hortator replicate resume FILE {name}`{skip}"
                    ));
                    let is_conflict = is_conflict(&error);
                    // Who sees that it has stopped may answer before this thread waits.
                    let wishes = self.lock().wishes;
                    self.track(|tracker, now| {
                        if is_refused {
                            tracker.on_copy_refused();
                        }
                        tracker.on_stop(text, can_skip, is_conflict, now);
                    });
                    self.wait_for_a_person(wishes);
                    // Who reads that a statement is in doubt decides about it, whatever else has stopped the source.
                    let is_in_doubt = matches!(error, Error::Apply(apply::Error::InDoubt { .. }));
                    (failures, in_doubt) = (0, if is_in_doubt { InDoubt::Decided } else { InDoubt::Ask });
                    if is_of_host {
                        // Another one may be back; this one has its turn again.
                        host = (host + 1) % self.options.hosts.len();
                    }
                }
            }
        }
        self.track(|tracker, now| {
            // One that was stopped stays so: the last status says why.
            if !matches!(tracker.state(), SourceState::Stopped | SourceState::Complete) {
                tracker.set_state(SourceState::Ended, now);
            }
        });
        self.lock().has_ended = true;
        self.changed.notify_all();
    }

    /// Its thread has ended by an error of this program: nothing is applied any more.
    pub(super) fn on_panic(&self) {
        let text = "an error of Hortator itself has ended the source's thread, see the log: please report it, and start \
                    the agent again";
        self.track(|tracker, now| {
            tracker.set_phase(Phase::None, now);
            tracker.on_stop(text.to_owned(), false, false, now);
        });
        self.lock().has_ended = true;
        self.changed.notify_all();
    }

    /// Waits while it is paused. False: it shall end.
    fn wait_until_wanted(&self) -> bool {
        let mut shared = self.lock();
        while shared.wish == Wish::Pause {
            shared.tracker.set_state(SourceState::Paused, Now::read());
            shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
        }
        shared.wish != Wish::End
    }

    /// Waits until its thread does nothing more.
    pub(super) fn wait_for_end(&self) {
        let waited = self.changed.wait_while(self.lock(), |shared| !shared.has_ended);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
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

    /// The tables that are to be copied once more; an empty list: all of it. None: nothing is.
    fn is_to_be_copied_again(&self) -> Option<Vec<String>> {
        let shared = self.lock();
        (shared.wish == Wish::CopyAgain).then(|| shared.tables.clone())
    }

    /// It is on record that these tables are copied once more, or all of it. More may have been asked for meanwhile.
    pub(super) fn on_forgotten(&self, tables: &[String]) {
        let mut shared = self.lock();
        if shared.wish == Wish::CopyAgain && shared.tables == tables {
            shared.wish = Wish::Run;
        }
    }

    /// Waits until someone says what to do, which may be what was wished before; `before` is how often that was until now.
    fn wait_for_a_person(&self, before: u64) {
        let shared = self.lock();
        let is_waiting = |shared: &mut Shared| shared.wishes == before && shared.wish != Wish::End;
        drop(self.changed.wait_while(shared, is_waiting).unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits for a time, or until something else is wished.
    fn wait(&self, time: Duration) {
        let shared = self.lock();
        let before = shared.wish;
        let waited = self.changed.wait_timeout_while(shared, time, |shared| shared.wish == before);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits for a time. False: the end is wished.
    pub(super) fn sleep(&self, time: Duration) -> bool {
        let shared = self.lock();
        let waited = self.changed.wait_timeout_while(shared, time, |shared| shared.wish != Wish::End);
        let (shared, _) = waited.unwrap_or_else(PoisonError::into_inner);
        shared.wish != Wish::End
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
