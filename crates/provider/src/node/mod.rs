//! One node: what the server's threads do in it.
//!
//! Threads: all of them are the server's. A client's thread takes its transaction through the order (`commit.rs`) or
//! runs alone in it (`isolation.rs`); one receiving thread delivers views and what must be applied (`receive.rs`,
//! `begin.rs`); whoever backs up pauses (`pause.rs`). Lock order: order, log, turns, a transaction's standing; the map of
//! transactions and the gate are taken alone.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering as Atomic};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::counters::Counters;
use crate::gate::{Gate, Passage};
use crate::group::raft::Term;
use crate::identity::{Gtid, Uuid};
use crate::limits::{Limits, Refusals};
use crate::log::{self, DiskLog, Index};
use crate::options::{self, Options};
use crate::recovery::{self, Plan};
use crate::saved_state::{self, SavedState};
use crate::server::{Level, Member, Refused, Server};
use crate::transactions::Transactions;
use crate::turns::Turns;

mod begin;
mod commit;
mod deliver;
mod isolation;
mod order;
mod pause;
mod receive;
mod standing;

pub use commit::{CommitTurn, Outcome};
pub use order::{Order, Told};

use receive::Receiving;

/// What the server says of itself when it loads the provider.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The node's name.
    pub name: String,
    /// Where clients find it.
    pub incoming: String,
    /// Where its data are.
    pub data_dir: PathBuf,
    /// `wsrep_provider_options`.
    pub options: String,
    /// Where its tables are, if it knows.
    pub position: Gtid,
    /// It writes a binary log.
    pub has_binary_log: bool,
}

/// A node that was stopped in order.
#[derive(Clone, Debug)]
pub struct Finished {
    state: SavedState,
    data_dir: PathBuf,
}

impl Finished {
    /// Says so in its data folder.
    pub fn save(&self) -> Result<(), saved_state::Error> {
        self.state.write(&self.data_dir)
    }
}

/// The order, and the road that leads into it.
#[derive(Debug)]
struct Ordering {
    order: Order,
    /// Nobody else votes or follows: a client's thread puts its entry into the log itself.
    is_alone: bool,
}

/// One node.
pub struct Node {
    server: Arc<dyn Server>,
    setup: Setup,
    options: Mutex<Options>,
    /// This life of the node: another for each time that it is connected.
    member: Mutex<Uuid>,
    saved: Mutex<Option<SavedState>>,
    log: OnceLock<DiskLog>,
    order: Mutex<Option<Ordering>>,
    /// The term that this node leads in. Changes under the order only.
    leads_in: AtomicU64,
    plan: Mutex<Option<Plan>>,
    turns: Turns,
    gate: Gate,
    transactions: Transactions,
    /// The place of each connection that runs alone.
    isolations: Mutex<HashMap<u64, i64>>,
    receiving: Receiving,
    counters: Counters,
    limits: Limits,
    refusals: Refusals,
}

/// Why the provider cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An option.
    #[error(transparent)]
    Options(#[from] options::Error),
    /// hortator.state.
    #[error(transparent)]
    SavedState(#[from] saved_state::Error),
    /// The log.
    #[error(transparent)]
    Log(#[from] log::Error),
    /// Where it goes on.
    #[error(transparent)]
    Recovery(#[from] recovery::Error),
    /// No identity can be had.
    #[error("no random numbers for a UUID: {0}")]
    Random(std::io::Error),
    /// It must begin or join a cluster, and cannot join.
    #[error(
        "there is no log here, so this is no member of a cluster yet. To begin a new one, start it with \
         --wsrep-new-cluster (experimental: joining `{0}` needs several nodes, which this release has not)"
    )]
    NothingToJoin(String),
    /// An address that means another cluster.
    #[error("wsrep_cluster_address={0}: this release runs clusters of one node, whose address is its own")]
    SeveralNodes(String),
    /// It is connected already.
    #[error("the node is connected already")]
    Connected,
    /// It failed before.
    #[error("the node has failed, as it told then: the server must be started anew")]
    Failed,
}

impl Node {
    /// Reads options, state and log; nothing is applied yet.
    pub fn new(setup: Setup, server: Arc<dyn Server>) -> Result<Self, Error> {
        let mut options = Options::default();
        options.set(&setup.options, false)?;
        let limits = Limits::default();
        limits.set_write_set_bytes(options.write_set_limit_bytes());
        let member = Uuid::random().map_err(Error::Random)?;
        let saved = SavedState::read(&setup.data_dir)?;
        let node = Self {
            server,
            options: Mutex::new(options),
            member: Mutex::new(member),
            saved: Mutex::new(saved),
            log: OnceLock::new(),
            order: Mutex::new(None),
            leads_in: AtomicU64::new(0),
            plan: Mutex::new(None),
            turns: Turns::default(),
            gate: Gate::default(),
            transactions: Transactions::default(),
            isolations: Mutex::default(),
            receiving: Receiving::default(),
            counters: Counters::default(),
            limits,
            refusals: Refusals::default(),
            setup,
        };
        if let Some(history) = DiskLog::history(&node.setup.data_dir)? {
            node.open(Uuid(history))?;
        }
        Ok(node)
    }

    /// Opens the log and finds out what it means for the server's tables.
    fn open(&self, history: Uuid) -> Result<(), Error> {
        let settings = {
            let options = lock(&self.options);
            log::Settings {
                segment_bytes: options.log_segment_bytes(),
                retain_bytes: options.log_retain_bytes(),
                sync: options.log_sync(),
            }
        };
        let (log, opened) = DiskLog::open(&self.setup.data_dir, settings, history.0)?;
        if let Some(cut) = opened.cut {
            self.note(&format!("the log's last write was cut short: {cut}"));
        }
        let saved = *lock(&self.saved);
        let tables = recovery::tables_at(self.setup.position, saved.as_ref());
        let plan = recovery::plan(&log, log.last(), history, tables, saved.as_ref())?;
        if plan.behind() > 0 && self.setup.has_binary_log {
            return Err(recovery::Error::SecondCopy { count: plan.behind() }.into());
        }
        if let Some(remark) = &plan.remark {
            self.server.log(Level::Warning, remark);
        }
        let _ = self.log.set(log);
        *lock(&self.plan) = Some(plan);
        Ok(())
    }

    /// The server is about to let go of the provider. Some: what is to be saved as soon as its tables are on the disk,
    /// which comes later; None: not everything that was ordered is in them.
    pub fn finish(&self) -> Option<Finished> {
        self.gate.set(Passage::Closed);
        let (history, seqno) = lock(&self.order).as_ref().map(|Ordering { order, .. }| (order.history, order.seqno))?;
        if self.turns.released() < seqno || self.gate.passage() == Passage::Failed {
            return None;
        }
        let log = self.log.get()?;
        log.commit(log.last()).ok()?;
        let state = SavedState { stopped_at: seqno, ..SavedState::running(history, self.member()) };
        Some(Finished { state, data_dir: self.setup.data_dir.clone() })
    }

    /// Takes options while it runs.
    pub fn set_options(&self, text: &str) -> Result<(), Error> {
        let mut options = lock(&self.options);
        options.set(text, true)?;
        self.limits.set_write_set_bytes(options.write_set_limit_bytes());
        if let Some(log) = self.log.get() {
            log.set_sync(options.log_sync());
        }
        Ok(())
    }

    /// All options, with their values.
    pub fn options(&self) -> String {
        lock(&self.options).text()
    }

    /// What has committed here.
    pub fn last_committed(&self) -> Gtid {
        let history = lock(&self.order).as_ref().map(|ordering| ordering.order.history);
        history.map_or(Gtid::UNDEFINED, |history| Gtid { history, seqno: self.turns.left() })
    }

    /// Whatever the node counts.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The node as a member.
    fn own_member(&self) -> Member {
        Member { id: self.member(), name: self.setup.name.clone(), incoming: self.setup.incoming.clone() }
    }

    /// The log must be on the disk up to there. When that fails nothing can be promised any more.
    fn make_durable(&self, index: Index) -> Result<(), log::Error> {
        let log = self.log.get().expect("what was appended to is open");
        log.commit(index).inspect_err(|error| self.fail(&format!("the log cannot be written: {error}")))
    }

    /// Something is wrong that no waiting mends: the node leaves the cluster, and its clients get errors.
    pub fn fail(&self, text: &str) {
        if self.gate.passage() != Passage::Failed {
            self.server.log(Level::Error, &format!("{text}. The node leaves the cluster"));
        }
        self.gate.set(Passage::Failed);
        self.turns.end();
        self.receiving.stop();
    }

    fn save(&self, state: SavedState) -> Result<(), Refused> {
        *lock(&self.saved) = Some(state);
        state.write(&self.setup.data_dir).map_err(|error| {
            self.fail(&error.to_string());
            Refused
        })
    }

    /// The server will say that its tables hold what stands at `seqno`, and they do not. The first of those counts.
    fn could_not_apply(&self, seqno: i64) {
        let saved = *lock(&self.saved);
        if let Some(saved) = saved.filter(|saved| saved.failed_at < 0 || saved.failed_at > seqno) {
            // What fails here has told so.
            let _ = self.save(SavedState { failed_at: seqno, ..saved });
        }
    }

    /// This life of the node, as others know it: another for each time that it is connected.
    fn member(&self) -> Uuid {
        *lock(&self.member)
    }

    /// The term of what this node puts into the log by itself.
    fn term(&self) -> Term {
        Term(self.leads_in.load(Atomic::Relaxed))
    }

    fn note(&self, text: &str) {
        self.server.log(Level::Note, text);
    }
}

/// A panic of ours is caught at the boundary; what it held is as good as before, for every change is one assignment.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
