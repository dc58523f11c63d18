//! Several connections that apply groups of one source beside each other, for an applier that has a backlog.
//!
//! ```text
//!   Applier ── group, keys ──► GroupQueue ──► worker: BINLOG '…'                         beside each other
//!      ▲                           │                     │ its turn
//!      │                           │                     ▼
//!      │                           │                  position; COMMIT                   one after the other
//!      └─────── committed ◄────────┴── refused: the applier does its transactions one by one
//! ```
//!
//! The result is that of one connection, whatever the keys say. A group commits only behind all earlier ones, and holds its
//! locks until then: an earlier group that needs a row of it waits, the target says so, and the later one rolls back and
//! runs again. A group that ran too early and found other rows than on the source is refused by the target, and runs again
//! when nothing is before it; only then does an error count. That holds where each use of a row takes a lock and each
//! difference is an error: rows of InnoDB, without triggers, on a target that refuses wrong rows (see `locks`). Others go over
//! one connection.

mod group_queue;
mod locks;
mod pace;
mod worker;

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hortator_core::{Seqno, WriteSet};
use hortator_mysql::ConnectOptions;

use super::error::Error;
use super::position_table::{PositionTable, SourcePosition};
use crate::transaction::Transaction;
use group_queue::{GroupQueue, Turn};

pub(super) use locks::{can_run_side_by_side, is_blocked_by_others_of};
pub(super) use pace::Pace;

/// Groups that are under way or wait, for each worker.
const GROUPS_PER_WORKER: usize = 2;
/// Bytes of those groups, for each worker.
const BYTES_PER_WORKER: usize = 2 << 20;
/// How long the first group may take before the target is asked what it waits for; it is asked again after twice that, and so on.
const STALL: Duration = Duration::from_millis(20);
/// The longest time between two such questions.
const LONGEST_STALL: Duration = Duration::from_secs(1);

/// After how long a worker that could not connect is started again, the first time; it is twice that the next time.
const SHORTEST_PAUSE: Duration = Duration::from_secs(5);
/// The longest of these times.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// Transactions of rows that become one of the target's.
#[derive(Debug)]
pub(super) struct RowGroup {
    pub(super) transactions: Vec<Transaction>,
    /// What the rows stand behind.
    pub(super) format: Arc<Vec<u8>>,
    /// The source's position before the group and behind it.
    pub(super) from: SourcePosition,
    pub(super) to: SourcePosition,
}

/// What the applier has to do next.
pub(super) enum Step {
    /// To take note of groups that are committed.
    Committed(Vec<Arc<RowGroup>>),
    /// To apply a group itself: nothing is before it, and no other one holds locks.
    Apply(Seqno, Arc<RowGroup>),
    /// To ask the target what this connection waits for, and whether it is another one of these.
    Stalled { connection: u32, others: Vec<u32> },
    /// To give up.
    Failed(Error),
    /// Nothing: all groups are committed.
    Idle,
    /// Nothing: the group that was offered is admitted, or there is room for one.
    Admitted,
}

/// A group for the workers: its keys, and its size in bytes.
pub(super) type Offer = (WriteSet, usize, Arc<RowGroup>);

/// What the applier waits for.
pub(super) enum Until {
    /// All groups are committed.
    Idle,
    /// There is room for another group.
    Room,
    /// This one is admitted.
    Admitted(Option<Offer>),
}

/// The workers of a source. Dropped, they roll back what has not committed, and end.
pub(super) struct Workers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    start: Start,
    /// When workers that could not begin are started again, and after how long the next time.
    again: Option<(Instant, Duration)>,
    /// The trouble that was told last.
    told: Option<String>,
    /// The group that was asked about, and how long it may take until it is asked about again.
    asked: Option<(Seqno, Duration)>,
}

/// What workers are started with.
struct Start {
    target: ConnectOptions,
    table: PositionTable,
    count: usize,
}

struct Shared {
    state: Mutex<State>,
    /// A group may be there for a worker. One worker is woken, which wakes the next one where there is another group.
    work: Condvar,
    /// The turn of a worker may have come.
    turns: Condvar,
    /// The applier may have something to do.
    progress: Condvar,
}

/// Threads that wait: a wake-up costs, also where nobody waits.
#[derive(Clone, Copy, Default)]
struct Waiting {
    work: usize,
    turns: usize,
    progress: usize,
}

struct State {
    waiting: Waiting,
    queue: GroupQueue<RowGroup>,
    /// The connection of each group that a worker has, and since when.
    under_way: HashMap<Seqno, (u32, Instant)>,
    /// Workers that have not ended.
    workers: usize,
    /// Those of them that are connected.
    connected: usize,
    /// Why a worker could not begin.
    trouble: Option<String>,
    error: Option<Error>,
    ends: bool,
}

impl std::fmt::Debug for Workers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workers").field("count", &self.start.count).finish_non_exhaustive()
    }
}

impl Workers {
    /// So many workers; they connect when the first group comes.
    pub(super) fn new(target: ConnectOptions, table: PositionTable, count: usize) -> Workers {
        let state = State {
            waiting: Waiting::default(),
            queue: GroupQueue::new(count * GROUPS_PER_WORKER, count * BYTES_PER_WORKER),
            under_way: HashMap::new(),
            workers: 0,
            connected: 0,
            trouble: None,
            error: None,
            ends: false,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            work: Condvar::new(),
            turns: Condvar::new(),
            progress: Condvar::new(),
        });
        Workers {
            shared,
            threads: Vec::new(),
            start: Start { target, table, count },
            again: None,
            told: None,
            asked: None,
        }
    }

    /// Whether no group is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.shared.lock().queue.is_empty()
    }

    /// Behind the last group that was admitted; `None` where no group is under way.
    pub(super) fn end(&self) -> Option<SourcePosition> {
        self.shared.lock().queue.last().map(|group| group.to.clone())
    }

    /// Whether a group that uses these keys would wait for one that is under way.
    pub(super) fn would_wait(&self, keys: &WriteSet) -> bool {
        self.shared.lock().queue.would_wait(keys)
    }

    /// How often a group was rolled back to run again.
    pub(super) fn again(&self) -> u64 {
        self.shared.lock().queue.again()
    }

    /// Workers that are connected.
    pub(super) fn connected(&self) -> usize {
        self.shared.lock().connected
    }

    /// Why a worker could not begin, once for each reason.
    pub(super) fn take_trouble(&mut self) -> Option<String> {
        let trouble = self.shared.lock().trouble.take()?;
        let is_new = self.told.as_ref() != Some(&trouble);
        self.told = Some(trouble.clone());
        is_new.then_some(trouble)
    }

    /// Waits until something is to be done, or `until`.
    pub(super) fn step(&mut self, until: &mut Until) -> Step {
        if matches!(until, Until::Admitted(_)) && self.is_to_begin() {
            self.begin();
        }
        let shared = self.shared.clone();
        let mut state = shared.lock();
        loop {
            if let Some(error) = state.error.take() {
                return Step::Failed(error);
            }
            let committed = state.queue.take_committed();
            if !committed.is_empty() {
                return Step::Committed(committed);
            }
            match until {
                Until::Admitted(offered) => {
                    if let Some((keys, bytes, group)) = offered.take() {
                        match state.queue.admit(keys, bytes, &group) {
                            Ok(()) => {
                                let waiting = state.waiting;
                                drop(state);
                                shared.wake_worker(waiting);
                                return Step::Admitted;
                            }
                            Err(keys) => *offered = Some((keys, bytes, group)),
                        }
                    }
                }
                Until::Room if state.queue.has_room() => return Step::Admitted,
                Until::Room | Until::Idle => {}
            }
            let has_workers = state.workers > 0;
            if state.queue.is_for_applier(has_workers) {
                if state.queue.is_way_clear()
                    && let Some((seqno, group)) = state.queue.take_first()
                {
                    return Step::Apply(seqno, group);
                }
                if state.queue.clear_the_way() {
                    shared.turns.notify_all();
                }
            }
            if state.queue.is_empty() {
                return Step::Idle;
            }
            state.waiting.progress += 1;
            let waited = shared.progress.wait_timeout(state, STALL).unwrap_or_else(PoisonError::into_inner);
            state = waited.0;
            state.waiting.progress -= 1;
            if !waited.1.timed_out() || !state.queue.has_executed() {
                continue;
            }
            if state.queue.is_first_left() && state.queue.clear_the_way() {
                shared.turns.notify_all();
            }
            let Some(first) = state.queue.first_running() else { continue };
            let Some((connection, since)) = state.under_way.get(&first).copied() else { continue };
            let patience = self.asked.filter(|(asked, _)| *asked == first).map_or(STALL, |(_, patience)| patience);
            if since.elapsed() >= patience {
                self.asked = Some((first, (since.elapsed() * 2).min(since.elapsed() + LONGEST_STALL)));
                let others = state.under_way.values().map(|(id, _)| *id).filter(|id| *id != connection).collect();
                return Step::Stalled { connection, others };
            }
        }
    }

    /// The applier has applied a group.
    pub(super) fn applied(&mut self, seqno: Seqno) {
        self.shared.change(|state| state.queue.applied(seqno));
    }

    /// The first group waits for others.
    pub(super) fn clear_the_way(&mut self) {
        self.shared.change(|state| state.queue.clear_the_way());
    }

    /// Whether workers are missing, and it is time to start them.
    fn is_to_begin(&mut self) -> bool {
        let missing = self.start.count - self.shared.lock().workers;
        let now = Instant::now();
        match (missing, self.again) {
            (0, _) => return false,
            (_, Some((at, _))) if now < at => return false,
            _ => {}
        }
        let pause = self.again.map_or(SHORTEST_PAUSE, |(_, pause)| pause);
        self.again = Some((now + pause, (pause * 2).min(LONGEST_PAUSE)));
        true
    }

    fn begin(&mut self) {
        let missing = {
            let mut state = self.shared.lock();
            let missing = self.start.count - state.workers;
            state.workers += missing;
            missing
        };
        self.threads.retain(|thread| !thread.is_finished());
        for _ in 0..missing {
            let shared = self.shared.clone();
            let (target, table) = (self.start.target.clone(), self.start.table.clone());
            self.threads.push(thread::spawn(move || {
                // It is one less, however it ends.
                let _ends = Ends(&shared);
                worker::run(&shared, &target, &table);
            }));
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.change(|state| state.ends = true);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

struct Ends<'a>(&'a Shared);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.change(|state| {
            state.workers -= 1;
            if thread::panicking() {
                let found = "an error of Hortator itself has ended a worker, see the log: please report it".to_owned();
                state.error.get_or_insert(Error::Event { place: "applying".to_owned(), found });
            }
        });
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and wakes whoever that may concern.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let changed = change(&mut state);
        let (waiting, ends) = (state.waiting, state.ends);
        // Who wakes needs the lock.
        drop(state);
        if ends {
            self.work.notify_all();
        }
        self.wake_worker(waiting);
        self.wake_for_turns(waiting);
        if waiting.progress > 0 {
            self.progress.notify_one();
        }
        changed
    }

    fn wake_worker(&self, waiting: Waiting) {
        if waiting.work > 0 {
            self.work.notify_one();
        }
    }

    fn wake_for_turns(&self, waiting: Waiting) {
        if waiting.turns > 0 {
            self.turns.notify_all();
        }
    }

    /// The next group for a worker with this connection; `None` when all shall end.
    fn take(&self, connection: u32) -> Option<(Seqno, Arc<RowGroup>)> {
        let mut state = self.lock();
        while !state.ends {
            if let Some((seqno, group)) = state.queue.take() {
                state.under_way.insert(seqno, (connection, Instant::now()));
                let (waiting, has_more) = (state.waiting, state.queue.has_work());
                drop(state);
                if has_more {
                    self.wake_worker(waiting);
                }
                return Some((seqno, group));
            }
            state.waiting.work += 1;
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting.work -= 1;
        }
        None
    }

    /// What becomes of a group whose rows are sent; `None` when all shall end.
    fn turn(&self, seqno: Seqno) -> Option<Turn> {
        let mut state = self.lock();
        state.queue.executed(seqno);
        // The applier has a group to run alone, and tells this one to give way.
        if state.waiting.progress > 0 && state.queue.is_for_applier(true) {
            self.progress.notify_one();
        }
        while !state.ends {
            match state.queue.turn(seqno) {
                Turn::Wait => {}
                turn => return Some(turn),
            }
            state.waiting.turns += 1;
            state = self.turns.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting.turns -= 1;
        }
        None
    }

    /// The next group may commit behind this one, which holds the lock on the position.
    fn can_follow(&self, seqno: Seqno) {
        let mut state = self.lock();
        state.queue.can_follow(seqno);
        let waiting = state.waiting;
        drop(state);
        self.wake_for_turns(waiting);
    }
}
