//! A witness: a process that votes and holds the log, without a server and without tables.
//!
//! It runs the same replica and the same driver as a node (`node/replica/witness.rs` has what differs); the program is the
//! crate `hortator-witness`. Its folder holds the files of the log and of the hard state, and `witness.lock`.
//!
//! | file | content |
//! |---|---|
//! | `mod` | start, stop and state of a witness |
//! | `folder` | its folder: the checks and the lock |
//! | `host` | what its replica uses |
//! | `order` | the total order without verdicts |
//!
//! *Absent*: the command line, signals, the form of log lines.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::cluster::{ClusterHandle, Command, ProcessIo, Relay, recovering_warning, spawn};
use super::lock;
use super::replica::{Replica, RetainTime, Settings, initial_state};
use crate::consensus::NodeId;
use crate::consensus::hard_state::{self, HardState};
use crate::consensus::lineage::Lineage;
use crate::consensus::links::{Links, Security};
use crate::consensus::raft::{LogId, Term};
use crate::consensus::wire::Hello;
use crate::identity::Uuid;
use crate::log::{self, DiskLog, Index};
use crate::options::Options;
use crate::protocol::{ProtocolRange, ProtocolVersion};

mod folder;
mod host;
mod order;

pub use crate::server::Level;
use folder::FolderLock;
use host::{Shared, WitnessHost};
pub(in crate::node) use order::WitnessOrder;

/// How long the driver may take for its last sync.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// Where the lines of a witness go.
pub trait LogSink: Send + Sync {
    /// Writes a line.
    fn log(&self, level: Level, text: &str);
}

/// What a witness starts with.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Its name in the status of nodes.
    pub name: String,
    /// Its folder. It is created if it does not exist.
    pub folder: PathBuf,
    /// `wsrep_cluster_name` of the nodes.
    pub cluster_name: String,
    /// `wsrep_cluster_address`: the nodes to join.
    pub cluster_address: String,
    /// The address to listen on. None: `gmcast.listen_addr`.
    pub listen: Option<String>,
    /// The address for other nodes. None: `base_host`, else the one that it listens on.
    pub node_address: Option<String>,
    /// `wsrep_provider_options`.
    pub options: String,
}

/// Why a witness cannot start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What keeps a node from starting as well: options, files, the log, the hard state, the address to listen on.
    #[error(transparent)]
    Node(super::Error),
    /// The folder.
    #[error(transparent)]
    Folder(#[from] folder::Error),
    /// An unknown kind of address.
    #[error("the cluster address is `{0}`: use the form gcomm://A,B with the nodes of the cluster")]
    Address(String),
    /// There is nothing to join.
    #[error(
        "the cluster address names no node, and the folder has no log: a witness cannot begin a cluster. Name the \
         nodes of one: gcomm://A,B"
    )]
    NothingToJoin,
    /// Other nodes cannot reach it.
    #[error(
        "the witness listens on {0}, which no other node can use as an address: listen on an address of this machine, \
         or name one for the other nodes (--node-address)"
    )]
    Wildcard(String),
    /// The hard state is missing.
    #[error(
        "{file} is not in {folder}, and a log is there: without the file the witness could vote twice. Move the files \
         hortator* away: the witness joins again as a new one",
        file = hard_state::FILE_NAME, folder = folder.display()
    )]
    HardStateMissing {
        /// The folder.
        folder: PathBuf,
    },
}

impl<E> From<E> for Error
where
    super::Error: From<E>,
{
    fn from(error: E) -> Self {
        Self::Node(error.into())
    }
}

/// The state of a witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// It follows a leader.
    pub has_quorum: bool,
    /// The leader's name.
    pub leader: String,
    /// Its replica has ended.
    pub is_over: bool,
    /// It has failed: the reason is logged.
    pub has_failed: bool,
}

/// A running witness.
pub struct Witness {
    shared: Arc<Shared>,
    cluster: Arc<ClusterHandle>,
    options: Options,
    address: String,
    node: NodeId,
    _lock: FolderLock,
}

impl Witness {
    /// Starts a witness. It joins the cluster by itself as soon as it reaches the leader.
    ///
    /// # Errors
    /// An option, the folder or the address cannot be used; the folder is of another process, or its files do not fit
    /// together.
    pub fn start(setup: Setup, sink: Arc<dyn LogSink>) -> Result<Self, Error> {
        let mut options = Options::default();
        let notes = options.set(&setup.options, false)?;
        notes.iter().for_each(|note| sink.log(Level::Warning, note));
        options.check_for_witness()?.iter().for_each(|note| sink.log(Level::Warning, note));
        let security = Security::load(&options.security_files())?;
        let hosts = hosts_of(&setup.cluster_address)?;
        let folder_lock = FolderLock::take(&setup.folder)?;
        let log_settings = log::Settings {
            segment_bytes: options.log_segment_bytes(),
            retain_bytes: options.log_retain_bytes(),
            sync: options.log_sync(),
        };
        let (hard_state, log) = read_files(&setup, log_settings, &*sink)?;
        if log.is_none() && hosts.is_empty() {
            return Err(Error::NothingToJoin);
        }
        let mut hard_state = hard_state;
        let instance_id = Uuid::random().map_err(super::Error::Random)?;
        let hello = Hello {
            versions: ProtocolRange::SPOKEN,
            in_force: (!hard_state.lineage.is_unknown()).then_some(hard_state.protocol),
            history_uuid: log.as_ref().map_or(Uuid::UNDEFINED, |log| Uuid(log.history_uuid())),
            lineage: hard_state.lineage,
            node: hard_state.node,
            instance_id,
            cluster_name: setup.cluster_name.clone(),
            name: setup.name.clone(),
            incoming: String::new(),
            address: setup.node_address.clone().unwrap_or_else(|| options.node_address("")),
            extension: Hello::OF_WITNESS.to_vec(),
        };
        let listen = setup.listen.clone().unwrap_or_else(|| options.listen_address());
        let (mut links, waker) = Links::open(&listen, hello)?;
        let address = links.own().address.clone();
        if address.starts_with("0.0.0.0:") || address.starts_with("[::]:") {
            return Err(Error::Wildcard(address));
        }
        let known = hard_state.voters.iter().filter(|(node, _)| **node != hard_state.node).map(|(_, known)| known);
        hosts.iter().chain(known).for_each(|host| links.dial(host));
        links.isolate(options.is_isolated());
        if let Some(own) = hard_state.voters.get_mut(&hard_state.node) {
            own.clone_from(&address);
        }
        let raft = initial_state(&hard_state, log.as_ref(), instance_id)?;
        hard_state.write(&setup.folder)?;
        if let Some(log) = &log {
            log.set_keeps_recent(true);
        }
        let shared = Arc::new(Shared {
            name: setup.name,
            folder: setup.folder,
            sink,
            security: Mutex::new(Arc::new(security)),
            has_failed: AtomicBool::new(false),
        });
        let cluster = Arc::new(ClusterHandle::new(waker, Index(0)));
        let io = ProcessIo::new(Arc::clone(&cluster), Relay::new(), links);
        let (node, committed) = (hard_state.node, hard_state.committed);
        let retain_ms = u64::try_from(options.log_retain_time().as_millis()).unwrap_or(u64::MAX);
        let settings = Settings {
            hard_state,
            versions: ProtocolRange::SPOKEN,
            raft,
            instance_id,
            hosts,
            timing: options.timing(),
            retain_time: RetainTime { ms: retain_ms },
            is_new_cluster: false,
            is_witness: true,
        };
        let warning = recovering_warning(log.as_ref(), committed);
        let replica = Replica::new(WitnessHost::new(Arc::clone(&shared), log, log_settings, io), settings);
        if replica.is_recovering() {
            shared.sink.log(Level::Warning, &warning);
        }
        let on_panic = {
            let shared = Arc::clone(&shared);
            move || shared.fail("a bug in the Raft thread")
        };
        spawn(replica, on_panic).map_err(super::Error::Thread)?;
        Ok(Self { shared, cluster, options, address, node, _lock: folder_lock })
    }

    /// The address for other nodes, host:port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The state now.
    pub fn state(&self) -> State {
        State {
            has_quorum: self.cluster.status().has_quorum,
            leader: self.cluster.raft_status().leader.clone(),
            is_over: self.cluster.is_over(),
            has_failed: self.shared.has_failed.load(Ordering::SeqCst),
        }
    }

    /// Reads the files of TLS and of the shared secret again. New links use them.
    ///
    /// # Errors
    /// A file cannot be used: nothing changes.
    pub fn reload(&self) -> Result<(), Error> {
        *lock(&self.shared.security) = Arc::new(Security::load(&self.options.security_files())?);
        self.cluster.waker().wake();
        Ok(())
    }

    /// Drops all links, or restores them: for tests.
    pub fn isolate(&self, is_isolated: bool) {
        self.cluster.send(Command::Isolate(is_isolated));
    }

    /// Gives the vote back. False: within the time, or without a quorum, the cluster did not take it.
    ///
    /// # Errors
    /// The hard state cannot be read.
    pub fn leave(&self, limit: Duration) -> Result<bool, Error> {
        self.cluster.send(Command::Leave);
        self.cluster.wait_for(Some(limit), |status| status.has_left);
        let hard_state = HardState::read(&self.shared.folder)?;
        Ok(!hard_state.is_some_and(|hard_state| hard_state.voters.contains_key(&self.node)))
    }

    /// Stops the witness: everything that it has acknowledged is on its disk. It stays a voter.
    pub fn stop(self) {
        self.cluster.stop(STOP_TIMEOUT);
    }
}

/// The addresses in a cluster address.
fn hosts_of(cluster_address: &str) -> Result<Vec<String>, Error> {
    let hosts = cluster_address.strip_prefix("gcomm://").ok_or_else(|| Error::Address(cluster_address.to_owned()))?;
    let hosts = hosts.split('?').next().unwrap_or_default();
    Ok(hosts.split(',').map(str::trim).filter(|host| !host.is_empty()).map(str::to_owned).collect())
}

/// The hard state and the log in the folder. None: the witness joins, and gets a log.
fn read_files(
    setup: &Setup,
    log_settings: log::Settings,
    sink: &dyn LogSink,
) -> Result<(HardState, Option<DiskLog>), Error> {
    let hard_state = HardState::read(&setup.folder)?;
    let history_uuid = DiskLog::read_history_uuid(&setup.folder)?;
    let (hard_state, history_uuid) = match (hard_state, history_uuid) {
        // Without voters it had not got its log yet, or not all of it.
        (Some(hard_state), _) if hard_state.voters.is_empty() => return Ok((hard_state, None)),
        (Some(hard_state), Some(history_uuid)) => (hard_state, history_uuid),
        // The log is gone, and with it what the witness has acknowledged: it is another one.
        (_, None) => return Ok((new_hard_state()?, None)),
        (None, Some(_)) => return Err(Error::HardStateMissing { folder: setup.folder.clone() }),
    };
    let (log, opened) = DiskLog::open(&setup.folder, log_settings, history_uuid)?;
    if let Some(torn_tail) = opened.torn_tail {
        sink.log(Level::Note, &format!("the last write of the log was torn: {torn_tail}"));
    }
    let known = [hard_state.snapshot_log_id, hard_state.membership_log_id].map(|log_id| log_id.index.next());
    if log.last() < log.first() && log.first() > Index(1) && !known.contains(&log.first()) {
        // It ended while it replaced its log.
        sink.log(Level::Warning, "the log is empty: the witness joins again as a new one");
        return Ok((new_hard_state()?, None));
    }
    Ok((hard_state, Some(log)))
}

/// The hard state of a witness that belongs to no cluster yet.
fn new_hard_state() -> Result<HardState, Error> {
    let nothing = LogId { term: Term(0), index: Index(0) };
    Ok(HardState {
        node: NodeId(Uuid::random().map_err(super::Error::Random)?.bits()),
        term: Term(0),
        voted_for: None,
        committed: Index(0),
        membership_log_id: nothing,
        snapshot_log_id: nothing,
        voters: std::collections::BTreeMap::new(),
        weights: std::collections::BTreeMap::new(),
        pending_memberships: Vec::new(),
        lineage: Lineage::UNKNOWN,
        protocol: ProtocolVersion::FIRST,
    })
}
