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

use crate::commit_monitor::CommitMonitor;
use crate::consensus::hard_state;
use crate::consensus::lineage::Lineage;
use crate::consensus::links;
use crate::consensus::raft::Term;
use crate::counters::Counters;
use crate::gate::{Gate, GateState};
use crate::identity::{Gtid, Uuid};
use crate::legacy_file_names;
use crate::limits::{Limits, Refusals};
use crate::log::{self, DiskLog, Index};
use crate::options::{self, Options};
use crate::recovery::{self, Plan};
use crate::saved_state::{self, SavedState};
use crate::server::{Level, Member, Server};
use crate::transactions::Transactions;

mod cluster;
mod commit;
mod data_files;
mod delivery;
mod inconsistency;
mod node_status;
mod pause;
mod recv_loop;
mod recv_queue;
mod startup;
mod toi;
mod total_order;

pub use commit::{EnterOutcome, Outcome};
pub use total_order::{RecordedVerdicts, TotalOrder};

use cluster::{ClusterHandle, Command, Donation};
use inconsistency::Inconsistency;
use recv_queue::RecvQueue;

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
    pub node_address: String,
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
struct OrderState {
    order: TotalOrder,
    /// Nobody else votes or follows: a client's thread puts its entry into the log itself.
    is_single_node: bool,
}

/// One node.
pub struct Node {
    server: Arc<dyn Server>,
    setup: Setup,
    options: Mutex<Options>,
    /// This life of the node: another for each time that it is connected.
    member_id: Mutex<Uuid>,
    /// The life by whose name the server knows this node: it learns that once, when it is connected.
    server_member_id: Mutex<Uuid>,
    saved: Mutex<Option<SavedState>>,
    /// Of which generation its group is.
    lineage: Mutex<Lineage>,
    log: RwLock<Option<Arc<DiskLog>>>,
    order: Mutex<Option<OrderState>>,
    /// The term that this node leads in. Changes under the order only.
    leader_term: AtomicU64,
    plan: Mutex<Option<Plan>>,
    commit_monitor: CommitMonitor,
    gate: Gate,
    transactions: Transactions,
    /// The place of each connection whose statement runs alone, and whether the node was alone when it got it.
    toi_seqnos: Mutex<HashMap<u64, (i64, bool)>>,
    recv_queue: RecvQueue,
    inconsistency: Inconsistency,
    /// The road to the others, while it is connected.
    cluster: Mutex<Option<Arc<ClusterHandle>>>,
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
    LegacyFileNames {
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
    NoQuorum(String),
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
        file = hard_state::FILE_NAME
    )]
    HasOtherVoters(String),
    /// Nobody knows how it voted.
    #[error(
        "{file} is not in the data folder, and the log says that {0} vote together: without it this node could vote \
         twice. Put it back; or move the files hortator* away, and let the node join anew; or, to go on without the others, \
         for good, start it with --wsrep-new-cluster",
        file = hard_state::FILE_NAME
    )]
    HardStateMissing(String),
    /// The group's file.
    #[error(transparent)]
    HardState(#[from] hard_state::Error),
    /// The group's file is of another time than the log.
    #[error(
        "the log has an entry of {term:?} at {index}, and {file} knows of {known:?} only: it is an old copy, and the node could \
         vote twice. Move it away, together with the files hortator-*, and let the node join anew",
        file = hard_state::FILE_NAME
    )]
    HardStateTooOld {
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
struct MemberIds {
    member: Uuid,
    known_to_server: Uuid,
}

impl MemberIds {
    fn for_server(self, member_id: Uuid) -> Uuid {
        match member_id {
            member_id if member_id == self.member => self.known_to_server,
            member_id if member_id == self.known_to_server => self.member,
            member_id => member_id,
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
        legacy_file_names::rename_all(&setup.data_dir)
            .map_err(|error| Error::LegacyFileNames { folder: setup.data_dir.clone(), error })?;
        let saved = Self::read_saved(&setup, &*server)?;
        let node = Self {
            server,
            options: Mutex::new(options),
            member_id: Mutex::new(member),
            server_member_id: Mutex::new(member),
            saved: Mutex::new(saved),
            lineage: Mutex::default(),
            log: RwLock::default(),
            order: Mutex::new(None),
            leader_term: AtomicU64::new(0),
            plan: Mutex::new(None),
            commit_monitor: CommitMonitor::default(),
            gate: Gate::default(),
            transactions: Transactions::default(),
            toi_seqnos: Mutex::default(),
            recv_queue: RecvQueue::default(),
            inconsistency: Inconsistency::new(saved.map_or(-1, |saved| saved.resolved_upto)),
            cluster: Mutex::default(),
            donor: Mutex::default(),
            donations: Mutex::default(),
            counters: Counters::default(),
            limits,
            refusals: Refusals::default(),
            setup,
        };
        node.counters.reset();
        if let Some(history_uuid) = DiskLog::read_history_uuid(&node.setup.data_dir)? {
            node.open_log(Uuid(history_uuid))?;
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
    fn cluster(&self) -> Option<Arc<ClusterHandle>> {
        lock(&self.cluster).clone()
    }

    /// The history that its log is of.
    fn history_uuid(&self) -> Uuid {
        self.log().map_or(Uuid::UNDEFINED, |log| Uuid(log.history_uuid()))
    }

    /// The server is about to let go of the provider. Some: what is to be saved as soon as its tables are on the disk,
    /// which comes later; None: not everything that was ordered is in them.
    pub fn finish(&self) -> Option<Finished> {
        self.gate.set(GateState::Closed);
        self.close_cluster();
        let (history_uuid, seqno) =
            lock(&self.order).as_ref().map(|OrderState { order, .. }| (order.history_uuid, order.seqno))?;
        if self.commit_monitor.last_released() < seqno || self.gate.state() == GateState::Failed {
            return None;
        }
        let log = self.log()?;
        log.flush(log.last()).ok()?;
        let lineage = *lock(&self.lineage);
        let resolved_upto = self.inconsistency.resolved_upto();
        let state = SavedState {
            stopped_at: seqno,
            resolved_upto,
            lineage,
            ..SavedState::running(history_uuid, self.member_id())
        };
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
        if let Some(cluster) = self.cluster() {
            cluster.send(Command::Isolate(options.is_isolated()));
            if options.is_bootstrap_wanted() && text.contains("pc.bootstrap") {
                cluster.send(Command::Bootstrap);
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
        let history_uuid = lock(&self.order).as_ref().map(|order_state| order_state.order.history_uuid);
        history_uuid
            .map_or(Gtid::UNDEFINED, |history_uuid| Gtid { history_uuid, seqno: self.commit_monitor.last_left() })
    }

    /// Whatever the node counts.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The node as a member.
    fn own_member(&self) -> Member {
        Member { id: self.member_id(), name: self.setup.name.clone(), incoming: self.setup.incoming.clone() }
    }

    /// What the server is to take that life of a node for. Its own, which changes when the node loses touch, it knows by the
    /// one that it was connected with; and that one, which has ended, by the other, which is in no view that it sees.
    fn member_id_for_server(&self, member_id: Uuid) -> Uuid {
        self.member_ids().for_server(member_id)
    }

    /// This life, and the one by whose name the server knows it.
    fn member_ids(&self) -> MemberIds {
        MemberIds { member: self.member_id(), known_to_server: *lock(&self.server_member_id) }
    }

    /// Whether the server still has its own name for this life of the node: only then does what it notes down of
    /// transactions that are sent in parts agree with the log.
    fn has_server_member_id(&self) -> bool {
        self.member_id() == *lock(&self.server_member_id)
    }

    /// The log must be on the disk up to there. When that fails nothing can be promised any more.
    fn flush_log(&self, index: Index) -> Result<(), log::Error> {
        let log = self.log().expect("what was appended to is open");
        log.flush(index).inspect_err(|error| self.fail(&format!("the log cannot be written: {error}")))
    }

    /// Something is wrong that no waiting mends: the node leaves the cluster, and its clients get errors.
    pub fn fail(&self, text: &str) {
        self.enter_failed_state(text);
        if let Some(cluster) = self.cluster() {
            cluster.send(Command::Stop);
        }
    }

    /// As [`Self::fail`], but only the tables are wrong: the node gives its vote back, so that it does not count among
    /// those that the others wait for.
    pub(super) fn fail_and_leave(&self, text: &str) {
        self.enter_failed_state(text);
        // Else a receiving thread takes its leave.
        if !self.recv_queue.is_connected()
            && let Some(cluster) = self.cluster()
        {
            cluster.send(Command::Stop);
        }
    }

    fn enter_failed_state(&self, text: &str) {
        if self.gate.state() != GateState::Failed {
            self.server.log(Level::Error, &format!("{text}. The node leaves the cluster"));
        }
        self.gate.set(GateState::Failed);
        self.commit_monitor.close();
        self.inconsistency.close();
        if let Some(cluster) = self.cluster() {
            cluster.pending_proposals.refuse_all();
            cluster.start_leaving();
        }
        self.recv_queue.disconnect();
    }

    /// The server will say that its tables hold what stands at `seqno`, and they do not. The first of those counts.
    fn record_failed_seqno(&self, seqno: i64) {
        let saved = *lock(&self.saved);
        if let Some(saved) = saved.filter(|saved| saved.failed_at < 0 || saved.failed_at > seqno) {
            // What fails here has told so.
            let _ = self.save(SavedState { failed_at: seqno, ..saved });
        }
    }

    /// This life of the node, as others know it: another for each time that it is connected.
    fn member_id(&self) -> Uuid {
        *lock(&self.member_id)
    }

    /// The term of what this node puts into the log by itself.
    fn term(&self) -> Term {
        Term(self.leader_term.load(Atomic::Relaxed))
    }

    fn note(&self, text: &str) {
        self.server.log(Level::Note, text);
    }
}

/// A panic of ours is caught at the boundary; what it held is as good as before, for every change is one assignment.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
