//! One node: the operations of the server's threads.
//!
//! All threads belong to the server, except the Raft driver's and the log's. A client's thread replicates its
//! transaction (`commit.rs`) or a statement in total order isolation (`toi.rs`); receiving threads deliver views and
//! write sets (`recv_loop.rs`, `startup.rs`); a backup pauses the node (`pause.rs`). Lock order: the total order, the
//! log, a transaction's state, the commit monitor. The map of transactions and the gate are locked alone.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering as Atomic};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::binary_log::BinaryLog;
use crate::commit_monitor::CommitMonitor;
use crate::consensus::hard_state;
use crate::consensus::lineage::Lineage;
use crate::consensus::links::{self, Security};
use crate::consensus::raft::Term;
use crate::counters::Counters;
use crate::galera_lines::KnownMessage;
use crate::gate::{Gate, GateState};
use crate::identity::{Gtid, Uuid};
use crate::legacy_file_names;
use crate::limits::{Limits, Refusals};
use crate::log::{self, DiskLog, Index};
use crate::node_state::StateEvent;
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
mod known_lines;
mod live_options;
mod node_status;
mod pause;
mod recv_loop;
mod recv_queue;
mod rejoin;
mod replica;
mod security;
mod startup;
mod streaming_rollback;
mod supervisor;
mod toi;
mod total_order;
pub mod witness;

pub use commit::{EnterOutcome, Outcome};
pub use node_status::{ConnectionState, NodeStatus};
pub use replica::{PeerStatus, RaftStatus};
pub use total_order::{RecordedVerdicts, TotalOrder};

use cluster::{ClusterHandle, Command, Donation, RetainTime};
use inconsistency::Inconsistency;
use known_lines::KnownLines;
use recv_queue::RecvQueue;
use streaming_rollback::HeldRollback;

/// What the server tells the provider at init.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The node's name.
    pub name: String,
    /// The address for clients.
    pub incoming: String,
    /// The data folder.
    pub data_dir: PathBuf,
    /// The address for other nodes.
    pub node_address: String,
    /// `wsrep_provider_options`.
    pub options: String,
    /// The GTID up to which the tables are applied, if the server knows it.
    pub position: Gtid,
    /// The server's binary log, if it writes one.
    pub binary_log: Option<BinaryLog>,
}

/// The final state of a node after a clean stop.
#[derive(Clone, Debug)]
pub struct Finished {
    state: SavedState,
    data_dir: PathBuf,
}

impl Finished {
    /// Saves it in the data folder.
    pub fn save(&self) -> Result<(), saved_state::Error> {
        // A state in the reserve is as good.
        self.state.write(&self.data_dir).map(drop)
    }
}

/// The total order, and how write sets enter it.
#[derive(Debug)]
struct OrderState {
    order: TotalOrder,
    /// There is no other voter or learner: a client's thread appends its entry itself.
    is_single_node: bool,
    /// Rollbacks of streaming transactions that come before whatever is ordered next.
    held_rollbacks: VecDeque<HeldRollback>,
}

impl OrderState {
    fn new(order: TotalOrder, is_single_node: bool) -> Self {
        Self { order, is_single_node, held_rollbacks: VecDeque::new() }
    }
}

/// One node.
pub struct Node {
    server: Arc<dyn Server>,
    setup: Setup,
    options: Mutex<Options>,
    /// What other nodes must prove.
    security: Mutex<Arc<Security>>,
    /// This node's member ID: another one for each connect, and after each loss of the quorum.
    member_id: Mutex<Uuid>,
    /// The member ID that the server knows. After a loss of the quorum it stays the former one until a view without that
    /// comes: what has been ordered until then carries it (`rejoin.rs`).
    server_member_id: Mutex<Uuid>,
    saved: Mutex<Option<SavedState>>,
    /// The generations of its cluster.
    lineage: Mutex<Lineage>,
    log: RwLock<Option<Arc<DiskLog>>>,
    order: Mutex<Option<OrderState>>,
    /// The term that this node leads in. Changes only under the order's lock.
    leader_term: AtomicU64,
    plan: Mutex<Option<Plan>>,
    /// The binary log holds everything up to this seqno. Matters only for what is applied again.
    logged_upto: AtomicI64,
    commit_monitor: CommitMonitor,
    gate: Gate,
    /// A copy of what the order's lock protects, for a look without it.
    has_held_rollbacks: AtomicBool,
    transactions: Transactions,
    /// By connection: the seqno of its TOI statement, and whether the node was a single node then.
    toi_seqnos: Mutex<HashMap<u64, (i64, bool)>>,
    recv_queue: RecvQueue,
    inconsistency: Inconsistency,
    /// The server has asked for a connection to a cluster.
    has_tried_to_connect: AtomicBool,
    /// The Raft driver's handle, while the node is connected.
    cluster: Mutex<Option<Arc<ClusterHandle>>>,
    /// `wsrep_sst_donor`.
    donor: Mutex<String>,
    /// SSTs that this node sends, or has sent.
    donations: Mutex<VecDeque<Donation>>,
    counters: Counters,
    limits: Limits,
    refusals: Refusals,
    known_lines: Mutex<KnownLines>,
}

/// Why the provider cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An invalid option.
    #[error(transparent)]
    Options(#[from] options::Error),
    /// The files of TLS or of the shared secret.
    #[error(transparent)]
    Security(#[from] links::SecurityError),
    /// `hortator.state.log`.
    #[error(transparent)]
    SavedState(#[from] saved_state::Error),
    /// Files of an earlier release.
    #[error("{folder}: cannot rename the files of an earlier release: {error}")]
    LegacyFileNames {
        /// The data folder.
        folder: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// The log.
    #[error(transparent)]
    Log(#[from] log::Error),
    /// Recovery.
    #[error(transparent)]
    Recovery(#[from] recovery::Error),
    /// No random number for an id.
    #[error("cannot get random numbers for a UUID: {0}")]
    Random(std::io::Error),
    /// An unknown kind of address.
    #[error("wsrep_cluster_address is `{0}`: use the form gcomm://A,B,C")]
    Address(String),
    /// A running server cannot reach the cluster that it was told to connect to.
    #[error("{0}: no quorum of the cluster is reachable. Set wsrep_cluster_address again when it is")]
    NoQuorum(String),
    /// There is neither a cluster to bootstrap nor one to join.
    #[error(
        "this node has no log, so it is no member of a cluster yet, and wsrep_cluster_address={0} names no node to \
         join. To bootstrap a new cluster, start the node with --wsrep-new-cluster; to join one, name its nodes: \
         gcomm://A,B,C"
    )]
    NothingToJoin(String),
    /// The node is connected already.
    #[error("the node is connected already")]
    Connected,
    /// The cluster has other voters.
    #[error(
        "--wsrep-new-cluster (or gcomm://) would bootstrap a new cluster, but this node is in a cluster with {0}. \
         Start it without, like the others: the nodes find each other by themselves, even if all have crashed. To \
         continue without the others for good, move {file} out of the data folder first",
        file = hard_state::FILE_NAME
    )]
    HasOtherVoters(String),
    /// The hard state is missing.
    #[error(
        "{file} is not in the data folder, and the log says that the voters are {0}: without the file this node \
         could vote twice. Restore the file; or move the files hortator* away and let the node join again; or, to \
         continue without the others for good, start it with --wsrep-new-cluster",
        file = hard_state::FILE_NAME
    )]
    HardStateMissing(String),
    /// `hortator.raft.log`.
    #[error(transparent)]
    HardState(#[from] hard_state::Error),
    /// The hard state is older than the log.
    #[error(
        "the log has an entry of {term:?} at index {index}, and {file} has only {known:?}: the file is an old copy, \
         and the node could vote twice. Move the file away, together with the files hortator-*, and let the node \
         join again",
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
    /// A purged log has lost all its entries.
    #[error(
        "the log in the data folder begins with entry {0}, and no entry of it can be read: the disk has lost entries \
         that were confirmed. Move the files hortator* away and let the node join again"
    )]
    LogLost(Index),
    /// The links to other nodes.
    #[error(transparent)]
    Links(#[from] links::Error),
    /// The system starts no thread.
    #[error("cannot start the Raft thread: {0}")]
    Thread(std::io::Error),
    /// The provider has failed before.
    #[error("the provider has failed: read the error log, then restart the server")]
    Failed,
}

impl Node {
    /// Reads the options, the state and the log; applies nothing yet.
    pub fn new(setup: Setup, server: Arc<dyn Server>) -> Result<Self, Error> {
        let mut options = Options::default();
        let notes = options.set(&setup.options, false)?;
        notes.iter().for_each(|note| server.log(Level::Note, note));
        let security = Self::load_security(&options, &*server)?;
        let limits = Limits::default();
        limits.set(&options);
        let member = Uuid::random().map_err(Error::Random)?;
        legacy_file_names::rename_all(&setup.data_dir)
            .map_err(|error| Error::LegacyFileNames { folder: setup.data_dir.clone(), error })?;
        let saved = Self::read_saved(&setup, &*server)?;
        let node = Self {
            server,
            options: Mutex::new(options),
            security: Mutex::new(Arc::new(security)),
            member_id: Mutex::new(member),
            server_member_id: Mutex::new(member),
            saved: Mutex::new(saved),
            lineage: Mutex::default(),
            log: RwLock::default(),
            order: Mutex::new(None),
            leader_term: AtomicU64::new(0),
            plan: Mutex::new(None),
            logged_upto: AtomicI64::new(0),
            commit_monitor: CommitMonitor::default(),
            gate: Gate::default(),
            has_held_rollbacks: AtomicBool::new(false),
            transactions: Transactions::default(),
            toi_seqnos: Mutex::default(),
            recv_queue: RecvQueue::default(),
            inconsistency: Inconsistency::new(saved.map_or(-1, |saved| saved.resolved_upto)),
            has_tried_to_connect: AtomicBool::new(false),
            cluster: Mutex::default(),
            donor: Mutex::default(),
            donations: Mutex::default(),
            counters: Counters::default(),
            limits,
            refusals: Refusals::default(),
            known_lines: Mutex::default(),
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

    /// How long the log keeps what the tables have applied.
    fn retain_time(&self) -> RetainTime {
        let time = lock(&self.options).log_retain_time();
        RetainTime { ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX) }
    }

    /// The log, if the node has one.
    fn log(&self) -> Option<Arc<DiskLog>> {
        self.log.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_log(&self, log: DiskLog) {
        *self.log.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(log));
    }

    /// Closes the log: another one will replace it.
    fn close_log(&self) {
        let _log = self.log.write().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// The Raft driver's handle, if the node is connected.
    fn cluster(&self) -> Option<Arc<ClusterHandle>> {
        lock(&self.cluster).clone()
    }

    /// The history UUID of the log.
    fn history_uuid(&self) -> Uuid {
        self.log().map_or(Uuid::UNDEFINED, |log| Uuid(log.history_uuid()))
    }

    /// The server unloads the provider. Some: the state to save when the tables are on disk, later; None: not
    /// everything ordered is applied.
    pub fn finish(&self) -> Option<Finished> {
        self.shift(StateEvent::Left);
        self.close_cluster();
        let (history_uuid, seqno) =
            lock(&self.order).as_ref().map(|OrderState { order, .. }| (order.history_uuid, order.seqno))?;
        if self.commit_monitor.last_released() < seqno || self.gate.state() == GateState::Failed {
            return None;
        }
        let log = self.log()?;
        // With log.sync=no too: a stop is no power failure.
        log.sync_all().ok()?;
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

    /// The last committed GTID.
    pub fn last_committed(&self) -> Gtid {
        let history_uuid = lock(&self.order).as_ref().map(|order_state| order_state.order.history_uuid);
        history_uuid
            .map_or(Gtid::UNDEFINED, |history_uuid| Gtid { history_uuid, seqno: self.commit_monitor.last_left() })
    }

    /// The GTID of a seqno of this history.
    fn gtid_of(&self, seqno: i64) -> Gtid {
        Gtid { history_uuid: self.last_committed().history_uuid, seqno }
    }

    /// FLUSH STATUS.
    pub fn reset_status(&self) {
        self.counters.reset();
        self.recv_queue.reset_lengths();
        if let Some(cluster) = self.cluster() {
            cluster.pending_proposals.reset_statistics();
        }
    }

    /// The counters.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// This node as a member.
    fn own_member(&self) -> Member {
        Member { id: self.member_id(), name: self.setup.name.clone(), incoming: self.setup.incoming.clone() }
    }

    /// The member ID by which the server knows this node.
    fn server_member_id(&self) -> Uuid {
        *lock(&self.server_member_id)
    }

    /// Flushes the log up to `index`. If that fails, the node can guarantee nothing any more.
    fn flush_log(&self, index: Index) -> Result<(), log::Error> {
        let log = self.log().expect("the log of an appended entry is open");
        log.flush(index).inspect_err(|error| self.fail(&format!("the log cannot be written: {error}")))
    }

    /// A permanent failure: the node leaves the cluster, and its clients get errors.
    pub fn fail(&self, text: &str) {
        if self.gate.state() != GateState::Failed {
            self.server.log(Level::Error, &format!("{text}. The node leaves the cluster"));
        }
        self.enter_failed_state();
        if let Some(cluster) = self.cluster() {
            cluster.send(Command::Stop);
        }
    }

    /// As [`Self::fail`], but only the tables are wrong: the node gives up its vote first, so that the others do not
    /// count it.
    pub(super) fn fail_and_leave(&self, message: &KnownMessage, text: &str) {
        if self.gate.state() != GateState::Failed {
            self.log_wrong_tables(message, &format!("{text}. The node leaves the cluster"));
        }
        self.enter_failed_state();
        // Else a receiving thread leaves the cluster.
        if !self.recv_queue.is_connected()
            && let Some(cluster) = self.cluster()
        {
            cluster.send(Command::Stop);
        }
    }

    fn enter_failed_state(&self) {
        self.log_shift(&self.gate.fail());
        self.commit_monitor.close();
        self.inconsistency.close();
        if let Some(cluster) = self.cluster() {
            cluster.pending_proposals.refuse_all();
            cluster.start_leaving();
        }
        self.recv_queue.disconnect();
    }

    /// The server will report `seqno` as applied, though it is not. The first such seqno counts.
    fn record_failed_seqno(&self, seqno: i64) {
        let saved = *lock(&self.saved);
        if let Some(saved) = saved.filter(|saved| saved.failed_at < 0 || saved.failed_at > seqno)
            && self.save(SavedState { failed_at: seqno, ..saved }).is_err()
        {
            self.demand_sst(seqno);
        }
    }

    /// The current member ID.
    fn member_id(&self) -> Uuid {
        *lock(&self.member_id)
    }

    /// The term of entries that this node appends itself.
    fn term(&self) -> Term {
        Term(self.leader_term.load(Atomic::Relaxed))
    }

    fn note(&self, text: &str) {
        self.server.log(Level::Note, text);
    }
}

/// Panics are caught at the boundary. The data behind the lock are consistent then, since each change is one
/// assignment.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
