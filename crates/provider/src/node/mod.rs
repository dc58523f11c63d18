//! One node: what the server's threads do in it.
//!
//! Threads: the server's, but for the group's and the log's. A client's thread takes its transaction through the order (`commit.rs`) or
//! runs alone in it (`isolation.rs`); one receiving thread delivers views and what must be applied (`receive.rs`,
//! `begin.rs`); whoever backs up pauses (`pause.rs`). Lock order: order, log, turns, a transaction's standing; the map of
//! transactions and the gate are taken alone.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering as Atomic};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::counters::Counters;
use crate::former_names;
use crate::gate::{Gate, Passage};
use crate::group::descent::Descent;
use crate::group::links;
use crate::group::raft::Term;
use crate::group::saved;
use crate::identity::{Gtid, Uuid};
use crate::limits::{Limits, Refusals};
use crate::log::{self, DiskLog, Index};
use crate::options::{self, Options};
use crate::recovery::{self, Plan};
use crate::saved_state::{self, SavedState};
use crate::server::{Level, Member, Server};
use crate::transactions::Transactions;
use crate::turns::Turns;

mod begin;
mod commit;
mod deliver;
mod inconsistency;
mod isolation;
mod order;
mod own_files;
mod pause;
mod receive;
mod receiving;
mod standing;
mod together;

pub use commit::{CommitTurn, Outcome};
pub use order::{Order, Told};

use inconsistency::Inconsistency;
use receiving::Receiving;
use together::{Command, Donation, Together};

/// What the server says of itself when it loads the provider.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The node's name.
    pub name: String,
    /// Where clients find it.
    pub incoming: String,
    /// Where its data are.
    pub data_dir: PathBuf,
    /// Where other nodes find it.
    pub address: String,
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
    /// The life by whose name the server knows this node: it learns that once, when it is connected.
    known_as: Mutex<Uuid>,
    saved: Mutex<Option<SavedState>>,
    /// Of which generation its group is.
    descent: Mutex<Descent>,
    log: RwLock<Option<Arc<DiskLog>>>,
    order: Mutex<Option<Ordering>>,
    /// The term that this node leads in. Changes under the order only.
    leads_in: AtomicU64,
    plan: Mutex<Option<Plan>>,
    turns: Turns,
    gate: Gate,
    transactions: Transactions,
    /// The place of each connection whose statement runs alone, and whether the node was alone when it got it.
    isolations: Mutex<HashMap<u64, (i64, bool)>>,
    receiving: Receiving,
    inconsistency: Inconsistency,
    /// The road to the others, while it is connected.
    together: Mutex<Option<Arc<Together>>>,
    /// `wsrep_sst_donor`.
    donor: Mutex<String>,
    /// Its state goes, or went, to another.
    donations: Mutex<VecDeque<Donation>>,
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
    /// The node's own file.
    #[error(transparent)]
    SavedState(#[from] saved_state::Error),
    /// Files of an earlier release.
    #[error("{folder}: the files of an earlier release cannot be given the names that they have now: {error}")]
    FormerNames {
        /// Where they are.
        folder: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// The log.
    #[error(transparent)]
    Log(#[from] log::Error),
    /// Where it goes on.
    #[error(transparent)]
    Recovery(#[from] recovery::Error),
    /// No identity can be had.
    #[error("no random numbers for a UUID: {0}")]
    Random(std::io::Error),
    /// An address of another kind.
    #[error("wsrep_cluster_address is `{0}`, and must be like gcomm://A,B,C")]
    Address(String),
    /// A server that runs is told to connect, and cannot.
    #[error("{0}: no majority of the cluster is in reach. Set wsrep_cluster_address again when it is")]
    OutOfReach(String),
    /// It must begin or join a cluster, and cannot join.
    #[error(
        "there is no log here, so this is no member of a cluster yet, and wsrep_cluster_address={0} names no node to join. \
         To begin a new cluster, start it with --wsrep-new-cluster; to join one, name its nodes: gcomm://A,B,C"
    )]
    NothingToJoin(String),
    /// It is connected already.
    #[error("the node is connected already")]
    Connected,
    /// Other nodes have a say.
    #[error(
        "--wsrep-new-cluster (or gcomm://) would begin a new cluster, and this node is of a group with {0}. Start it \
         without, as the others: they find each other by themselves, also when all had crashed. To go on without them, for \
         good, move {file} out of the data folder first",
        file = saved::FILE_NAME
    )]
    OthersVote(String),
    /// Nobody knows how it voted.
    #[error(
        "{file} is not in the data folder, and the log says that {0} vote together: without it this node could vote \
         twice. Put it back; or move the files hortator* away, and let the node join anew; or, to go on without the others, \
         for good, start it with --wsrep-new-cluster",
        file = saved::FILE_NAME
    )]
    NoVotes(String),
    /// The group's file.
    #[error(transparent)]
    SavedGroup(#[from] saved::Error),
    /// The group's file is of another time than the log.
    #[error(
        "the log has an entry of {term:?} at {index}, and {file} knows of {known:?} only: it is an old copy, and the node could \
         vote twice. Move it away, together with the files hortator-*, and let the node join anew",
        file = saved::FILE_NAME
    )]
    OldVotes {
        /// In the log.
        index: Index,
        /// In the log.
        term: Term,
        /// In the file.
        known: Term,
    },
    /// The links to other nodes.
    #[error(transparent)]
    Links(#[from] links::Error),
    /// The system gives no thread.
    #[error("no thread for the group: {0}")]
    Thread(std::io::Error),
    /// It failed before.
    #[error("the node has failed, as it told then: the server must be started anew")]
    Failed,
}

/// See [`Node::name_for_server`].
#[derive(Clone, Copy, Debug)]
struct Names {
    member: Uuid,
    known_as: Uuid,
}

impl Names {
    fn for_server(self, life: Uuid) -> Uuid {
        match life {
            life if life == self.member => self.known_as,
            life if life == self.known_as => self.member,
            life => life,
        }
    }
}

impl Node {
    /// Reads options, state and log; nothing is applied yet.
    pub fn new(setup: Setup, server: Arc<dyn Server>) -> Result<Self, Error> {
        let mut options = Options::default();
        options.set(&setup.options, false)?;
        let limits = Limits::default();
        limits.set(&options);
        let member = Uuid::random().map_err(Error::Random)?;
        former_names::adopt(&setup.data_dir)
            .map_err(|error| Error::FormerNames { folder: setup.data_dir.clone(), error })?;
        let saved = Self::read_saved(&setup, &*server)?;
        let node = Self {
            server,
            options: Mutex::new(options),
            member: Mutex::new(member),
            known_as: Mutex::new(member),
            saved: Mutex::new(saved),
            descent: Mutex::default(),
            log: RwLock::default(),
            order: Mutex::new(None),
            leads_in: AtomicU64::new(0),
            plan: Mutex::new(None),
            turns: Turns::default(),
            gate: Gate::default(),
            transactions: Transactions::default(),
            isolations: Mutex::default(),
            receiving: Receiving::default(),
            inconsistency: Inconsistency::new(saved.map_or(-1, |saved| saved.heeded_to)),
            together: Mutex::default(),
            donor: Mutex::default(),
            donations: Mutex::default(),
            counters: Counters::default(),
            limits,
            refusals: Refusals::default(),
            setup,
        };
        node.counters.reset();
        if let Some(history) = DiskLog::history(&node.setup.data_dir)? {
            node.open(Uuid(history))?;
        }
        Ok(node)
    }

    fn log_settings(&self) -> log::Settings {
        let options = lock(&self.options);
        log::Settings {
            segment_bytes: options.log_segment_bytes(),
            retain_bytes: options.log_retain_bytes(),
            sync: options.log_sync(),
        }
    }

    /// The log, if the node has one.
    fn log(&self) -> Option<Arc<DiskLog>> {
        self.log.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_log(&self, log: DiskLog) {
        *self.log.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(log));
    }

    /// Lets go of the log: another will take its place.
    fn close_log(&self) {
        let _log = self.log.write().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// The road to the others, while there is one.
    fn together(&self) -> Option<Arc<Together>> {
        lock(&self.together).clone()
    }

    /// The history that its log is of.
    fn history(&self) -> Uuid {
        self.log().map_or(Uuid::UNDEFINED, |log| Uuid(log.of_history()))
    }

    /// The server is about to let go of the provider. Some: what is to be saved as soon as its tables are on the disk,
    /// which comes later; None: not everything that was ordered is in them.
    pub fn finish(&self) -> Option<Finished> {
        self.gate.set(Passage::Closed);
        self.end_together();
        let (history, seqno) = lock(&self.order).as_ref().map(|Ordering { order, .. }| (order.history, order.seqno))?;
        if self.turns.released() < seqno || self.gate.passage() == Passage::Failed {
            return None;
        }
        let log = self.log()?;
        log.commit(log.last()).ok()?;
        let descent = *lock(&self.descent);
        let heeded_to = self.inconsistency.heeded_to();
        let state = SavedState { stopped_at: seqno, heeded_to, descent, ..SavedState::running(history, self.member()) };
        Some(Finished { state, data_dir: self.setup.data_dir.clone() })
    }

    /// Takes options while it runs.
    pub fn set_options(&self, text: &str) -> Result<(), Error> {
        let mut options = lock(&self.options);
        options.set(text, true)?;
        self.limits.set(&options);
        if let Some(log) = self.log() {
            log.set_sync(options.log_sync());
        }
        if let Some(together) = self.together() {
            together.ask(Command::Isolate(options.is_isolated()));
            if options.is_bootstrap_wanted() && text.contains("pc.bootstrap") {
                together.ask(Command::Bootstrap);
            }
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

    /// What the server is to take that life of a node for. Its own, which changes when the node loses touch, it knows by the
    /// one that it was connected with; and that one, which has ended, by the other, which is in no view that it sees.
    fn name_for_server(&self, life: Uuid) -> Uuid {
        self.names().for_server(life)
    }

    /// This life, and the one by whose name the server knows it.
    fn names(&self) -> Names {
        Names { member: self.member(), known_as: *lock(&self.known_as) }
    }

    /// Whether the server still has its own name for this life of the node: only then does what it notes down of
    /// transactions that are sent in parts agree with the log.
    fn is_known_by_its_name(&self) -> bool {
        self.member() == *lock(&self.known_as)
    }

    /// The log must be on the disk up to there. When that fails nothing can be promised any more.
    fn make_durable(&self, index: Index) -> Result<(), log::Error> {
        let log = self.log().expect("what was appended to is open");
        log.commit(index).inspect_err(|error| self.fail(&format!("the log cannot be written: {error}")))
    }

    /// Something is wrong that no waiting mends: the node leaves the cluster, and its clients get errors.
    pub fn fail(&self, text: &str) {
        self.give_up(text);
        if let Some(together) = self.together() {
            together.ask(Command::End);
        }
    }

    /// As [`Self::fail`], but only the tables are wrong: the node gives its vote back, so that it does not count among
    /// those that the others wait for.
    pub(super) fn fail_in_order(&self, text: &str) {
        self.give_up(text);
        // Else a receiving thread takes its leave.
        if !self.receiving.is_connected()
            && let Some(together) = self.together()
        {
            together.ask(Command::End);
        }
    }

    fn give_up(&self, text: &str) {
        if self.gate.passage() != Passage::Failed {
            self.server.log(Level::Error, &format!("{text}. The node leaves the cluster"));
        }
        self.gate.set(Passage::Failed);
        self.turns.end();
        self.inconsistency.end();
        if let Some(together) = self.together() {
            together.waiting.refuse_all();
            together.leave_soon();
        }
        self.receiving.stop();
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
