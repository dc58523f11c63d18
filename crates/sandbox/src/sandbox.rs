//! A sandbox on disk: its folder, its nodes, and the operations on all of them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::fs::{FlockOperation, flock};

use crate::account::Account;
use crate::error::At;
use crate::host::Host;
use crate::interrupt::Interrupt;
use crate::metadata::{METADATA_FILE, Metadata, NodeMetadata};
use crate::node::{Node, SOCKET_FILE};
use crate::ports::{Endpoint, Ports};
use crate::process::Process;
use crate::program::Programs;
use crate::witness::{self, Witness};
use crate::{Error, State, Topology, cluster, data_folder, fan_in, galera, paths, semisync};

/// The capacity of sockaddr_un, less its final zero byte (unix(7)).
const SOCKET_PATH_LIMIT_BYTES: usize = 107;
const LOCK_FILE: &str = "lock";
/// The prefix of the folders in the system's temporary folder that hold sockets.
const SOCKET_FOLDER_PREFIX: &str = "hortator-s";

/// One or more servers in a folder of their own.
#[derive(Debug)]
pub struct Sandbox {
    folder: PathBuf,
    account: Account,
    interrupt: Interrupt,
    metadata: Mutex<Metadata>,
    programs: OnceLock<Programs>,
    /// The servers that this process has started, to reap them when they end.
    children: Mutex<Vec<Child>>,
}

/// What a node has of its own: its server options, and its host.
#[derive(Debug, Clone, Default)]
pub(crate) struct NodeSetup {
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) host: Option<Host>,
}

/// As long as this value exists, no other process changes the sandbox.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "closing the file releases the lock")] File);

impl Sandbox {
    /// Opens the named sandbox in `dir`.
    pub fn open(dir: &Path, name: &str) -> Result<Sandbox, Error> {
        paths::check_name(name)?;
        let folder = dir.join(name);
        if !folder.join(METADATA_FILE).is_file() {
            return Err(Error::Invalid(format!(
                "sandbox `{name}` does not exist in {}: `list` shows all",
                dir.display()
            )));
        }
        Sandbox::load(&folder.canonicalize().at("resolve", &folder)?)
    }

    /// All sandboxes in `dir`, by name. A missing folder holds none.
    pub fn list(dir: &Path) -> Result<Vec<Sandbox>, Error> {
        let mut folders = Vec::new();
        match fs::read_dir(dir) {
            Ok(entries) => {
                for entry in entries {
                    folders.push(entry.at("read", dir)?.path());
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).at("read", dir),
        }
        folders.retain(|folder| folder.join(METADATA_FILE).is_file());
        folders.sort();
        folders.iter().map(|folder| Sandbox::load(&folder.canonicalize().at("resolve", folder)?)).collect()
    }

    /// When the flag becomes true, waiting for servers ends with [`Error::Interrupted`].
    #[must_use]
    pub fn interrupt_flag(mut self, flag: std::sync::Arc<std::sync::atomic::AtomicBool>) -> Sandbox {
        self.interrupt = Interrupt::new(flag);
        self
    }

    fn load(folder: &Path) -> Result<Sandbox, Error> {
        let metadata = Metadata::load(folder)?;
        Ok(Sandbox::assemble(folder.to_owned(), metadata, Account::for_servers()?, Interrupt::default()))
    }

    fn assemble(folder: PathBuf, metadata: Metadata, account: Account, interrupt: Interrupt) -> Sandbox {
        Sandbox {
            folder,
            account,
            interrupt,
            metadata: Mutex::new(metadata),
            programs: OnceLock::new(),
            children: Mutex::new(Vec::new()),
        }
    }

    /// Fills the existing, empty `folder` with everything but the data folders; starts nothing.
    pub(crate) fn prepare(
        folder: PathBuf,
        topology: Topology,
        settings: Vec<(String, String)>,
        own: Vec<NodeSetup>,
        account: Account,
        programs: Programs,
        interrupt: Interrupt,
    ) -> Result<Sandbox, Error> {
        // The nodes' own folders are private. Their account has to reach them, but need not change the folders above.
        account.make_traversable(&folder)?;
        account.check_reaches(&folder)?;
        let mut nodes = Vec::new();
        for (number, NodeSetup { settings, host }) in (1..).zip(own) {
            let node = folder.join(format!("node{number}"));
            account.create_private_folder(&node)?;
            account.create_private_folder(&node.join("tmp"))?;
            let socket_folder = match socket_fits(&node) {
                true => None,
                false => Some(make_socket_folder(account)?),
            };
            nodes.push(NodeMetadata { ports: Ports::free()?, socket_folder, isolated_pid: None, settings, host });
        }
        let metadata = Metadata::new(topology, settings, programs.version.clone(), nodes, programs.folder().cloned());
        metadata.save(&folder)?;
        let sandbox = Sandbox::assemble(folder, metadata, account, interrupt);
        Ok(Sandbox { programs: OnceLock::from(programs), ..sandbox })
    }

    /// Creates the data folders and starts all servers for the first time.
    pub(crate) fn first_start(&self) -> Result<(), Error> {
        let _lock = self.lock()?;
        let programs = self.programs()?;
        match self.topology() {
            Topology::Galera(_) => galera::first_start(self, programs),
            Topology::Cluster(_) => cluster::first_start(self, programs),
            topology => {
                for node in self.nodes() {
                    data_folder::create(&node.data_dir(), &node.folder(), programs, self.account)?;
                    node.launch(&[])?;
                }
                match topology {
                    Topology::Semisync | Topology::Ring => semisync::set_up(self),
                    Topology::FanIn(_) => fan_in::set_up(self),
                    _ => Ok(()),
                }
            }
        }
    }

    /// Its witness, if it has one.
    pub fn witness(&self) -> Option<Witness<'_>> {
        let has_one = self.metadata().witness.is_some();
        has_one.then(|| Witness::new(self))
    }

    /// Gives the sandbox a witness, which does not run yet.
    pub(crate) fn add_witness(&self) -> Result<(), Error> {
        let prepared = witness::prepare(&self.folder, self.account)?;
        let mut metadata = self.metadata();
        metadata.witness = Some(prepared);
        metadata.save(&self.folder)
    }

    /// The number of voters of a cluster of Hortator's own provider.
    pub(crate) fn voters(&self) -> usize {
        self.topology().nodes() + usize::from(self.witness().is_some())
    }

    /// The configuration for `hortator replicate`, of a sandbox of several sources.
    pub fn replicate_file(&self) -> Option<PathBuf> {
        matches!(self.topology(), Topology::FanIn(_)).then(|| self.folder.join(fan_in::CONFIGURATION))
    }

    /// The folder's name.
    pub fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The folder that holds everything of the sandbox.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its topology.
    pub fn topology(&self) -> Topology {
        self.metadata().topology
    }

    /// The version of the server that created it, such as `10.11.6-MariaDB-0+deb12u1`.
    pub fn server_version(&self) -> String {
        self.metadata().server_version.clone()
    }

    /// A node, counted from 0. Panics when the node does not exist; use [`Sandbox::numbered`] for user input.
    pub fn node(&self, index: usize) -> Node<'_> {
        assert!(index < self.topology().nodes(), "{} has no node with index {index}", self.topology());
        Node::new(self, index)
    }

    /// A node by its number, counted from 1.
    pub fn numbered(&self, number: usize) -> Result<Node<'_>, Error> {
        match number {
            1.. if number <= self.topology().nodes() => Ok(Node::new(self, number - 1)),
            _ => Err(Error::Invalid(format!(
                "sandbox `{}` has no node {number}: give a number from 1 to {}",
                self.name(),
                self.topology().nodes()
            ))),
        }
    }

    /// All nodes in order.
    pub fn nodes(&self) -> impl Iterator<Item = Node<'_>> {
        (0..self.topology().nodes()).map(|index| Node::new(self, index))
    }

    /// Prevents other processes from changing the sandbox at the same time; fails when another process holds the lock.
    pub fn lock(&self) -> Result<Lock, Error> {
        let path = self.folder.join(LOCK_FILE);
        let file = File::create(&path).at("create", &path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Lock(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(Error::Invalid(format!(
                "another process is changing sandbox `{}`: wait until it has ended",
                self.name()
            ))),
            Err(error) => Err(error).at("lock", &path),
        }
    }

    /// Starts every node that does not run, and waits until all are ready. Paused nodes stay paused.
    pub fn start(&self) -> Result<(), Error> {
        if let Some(witness) = self.witness().filter(|witness| witness.process().is_none()) {
            witness.launch()?;
        }
        let down: Vec<usize> = self.nodes().filter(|node| node.process().is_none()).map(Node::index).collect();
        self.start_nodes(&down)?;
        self.witness().filter(|witness| witness.state() == State::Running).map_or(Ok(()), Witness::wait_for_vote)
    }

    /// Shuts every node down, the last first, so that node 1 of a cluster is the most advanced; then the witness.
    pub fn stop(&self) -> Result<(), Error> {
        self.nodes().collect::<Vec<_>>().into_iter().rev().try_for_each(Node::stop)?;
        self.witness().map_or(Ok(()), Witness::stop)
    }

    /// Kills every node at once, as a power failure does.
    pub fn kill(&self) -> Result<(), Error> {
        let processes: Vec<_> = self.nodes().map(Node::process).collect();
        // No node may continue without the others while one of them is waited for.
        processes.iter().flatten().for_each(Process::kill);
        self.witness().map_or(Ok(()), Witness::kill)?;
        self.nodes().zip(&processes).try_for_each(|(node, process)| node.wait_killed(process.as_ref()))
    }

    /// Kills every server and removes everything.
    pub fn down(self) -> Result<(), Error> {
        self.destroy()
    }

    /// Starts those nodes, none of which runs.
    pub(crate) fn start_nodes(&self, indices: &[usize]) -> Result<(), Error> {
        match self.topology() {
            Topology::Galera(_) => galera::start(self, indices),
            Topology::Cluster(_) => cluster::start(self, indices),
            topology => {
                indices.iter().try_for_each(|index| self.node(*index).launch(&[]))?;
                match topology {
                    Topology::Semisync | Topology::Ring => semisync::resume(self),
                    _ => Ok(()),
                }
            }
        }
    }

    pub(crate) fn destroy(&self) -> Result<(), Error> {
        self.kill()?;
        for folder in self.socket_folders() {
            // The metadata could have been tampered with: remove only folders with our own prefix.
            let ours = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(SOCKET_FOLDER_PREFIX));
            if ours && folder.exists() {
                fs::remove_dir_all(&folder).at("remove", &folder)?;
            }
        }
        fs::remove_dir_all(&self.folder).at("remove", &self.folder)
    }

    /// The folders elsewhere that hold sockets.
    pub(crate) fn socket_folders(&self) -> Vec<PathBuf> {
        self.metadata().nodes.iter().filter_map(|node| node.socket_folder.clone()).collect()
    }

    pub(crate) fn account(&self) -> Account {
        self.account
    }

    pub(crate) fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    pub(crate) fn metadata(&self) -> MutexGuard<'_, Metadata> {
        self.metadata.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the nodes reach each other.
    pub(crate) fn endpoints(&self) -> Vec<Endpoint> {
        let address = |host: &Option<Host>| host.as_ref().map_or("127.0.0.1".to_owned(), |host| host.address.clone());
        let of = |node: &NodeMetadata| Endpoint { address: address(&node.host), ports: node.ports };
        self.metadata().nodes.iter().map(of).collect()
    }

    /// Changes the metadata of a node.
    pub(crate) fn change(&self, index: usize, change: impl FnOnce(&mut NodeMetadata)) -> Result<(), Error> {
        let mut metadata = self.metadata();
        change(&mut metadata.nodes[index]);
        metadata.save(&self.folder)
    }

    /// The servers get a copy of this provider at each start.
    pub(crate) fn give_provider(&self, source: PathBuf) -> Result<(), Error> {
        let mut metadata = self.metadata();
        metadata.given_provider = Some(source);
        metadata.save(&self.folder)
    }

    /// Records the provider from which the servers get a copy.
    pub(crate) fn take_note_of_provider(&self, source: PathBuf) -> Result<(), Error> {
        let mut metadata = self.metadata();
        metadata.provider = Some(source);
        metadata.save(&self.folder)
    }

    pub(crate) fn programs(&self) -> Result<&Programs, Error> {
        if let Some(programs) = self.programs.get() {
            return Ok(programs);
        }
        let folder = self.metadata().mysql.clone();
        let found = Programs::of(self.topology(), folder.as_deref(), self.account)?;
        Ok(self.programs.get_or_init(|| found))
    }

    /// Records a server that this process has started.
    pub(crate) fn adopt(&self, child: Child) {
        self.children.lock().unwrap_or_else(PoisonError::into_inner).push(child);
    }

    /// Reaps the servers that have ended.
    pub(crate) fn reap(&self) {
        let mut children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
        children.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
    }
}

fn socket_fits(folder: &Path) -> bool {
    folder.join(SOCKET_FILE).as_os_str().len() <= SOCKET_PATH_LIMIT_BYTES
}

/// Creates a folder with a short path for a socket.
pub(crate) fn make_socket_folder(account: Account) -> Result<PathBuf, Error> {
    let parent = paths::ensure(&std::env::temp_dir(), account)?;
    let parent = if parent.as_os_str().len() < SOCKET_PATH_LIMIT_BYTES / 2 { parent } else { PathBuf::from("/tmp") };
    account.check_reaches(&parent)?;
    let folder = tempfile::Builder::new().prefix(SOCKET_FOLDER_PREFIX).tempdir_in(&parent);
    let folder = folder.at("create a folder in", &parent)?.keep();
    account.make_private(&folder)?;
    Ok(folder)
}
