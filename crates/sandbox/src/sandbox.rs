//! A sandbox on disk: its folder, its nodes, and what can be done with all of them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::fs::{FlockOperation, flock};

use crate::account::Account;
use crate::error::At;
use crate::interrupt::Interrupt;
use crate::node::{Node, SOCKET_FILE};
use crate::ports::Ports;
use crate::process::Process;
use crate::program::Programs;
use crate::record::{NodeRecord, RECORD_FILE, Record};
use crate::{Error, Topology, cluster, data_folder, galera, place, semisync};

/// What sockaddr_un holds, less its final zero byte (unix(7)).
const SOCKET_PATH_LIMIT_BYTES: usize = 107;
const LOCK_FILE: &str = "lock";
/// Begins the names of the folders in the system's temporary folder that hold sockets.
const SOCKET_FOLDER_PREFIX: &str = "hortator-s";

/// One or more servers in a folder of their own.
#[derive(Debug)]
pub struct Sandbox {
    folder: PathBuf,
    account: Account,
    interrupt: Interrupt,
    record: Mutex<Record>,
    programs: OnceLock<Programs>,
    /// The servers that this process has started; kept to take note of their end.
    children: Mutex<Vec<Child>>,
}

/// While it lives, no other process changes the sandbox.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "closing the file gives the lock back")] File);

impl Sandbox {
    /// The named sandbox in `dir`.
    pub fn open(dir: &Path, name: &str) -> Result<Sandbox, Error> {
        place::check_name(name)?;
        let folder = dir.join(name);
        if !folder.join(RECORD_FILE).is_file() {
            return Err(Error::Invalid(format!(
                "there is no sandbox `{name}` in {}; `list` shows them",
                dir.display()
            )));
        }
        Sandbox::load(&folder.canonicalize().at("resolve", &folder)?)
    }

    /// All sandboxes in `dir`, by name. A folder that does not exist holds none.
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
        folders.retain(|folder| folder.join(RECORD_FILE).is_file());
        folders.sort();
        folders.iter().map(|folder| Sandbox::load(&folder.canonicalize().at("resolve", folder)?)).collect()
    }

    /// While it waits for servers and this is true, waiting ends with [`Error::Interrupted`].
    #[must_use]
    pub fn interrupt_flag(mut self, flag: std::sync::Arc<std::sync::atomic::AtomicBool>) -> Sandbox {
        self.interrupt = Interrupt::new(flag);
        self
    }

    fn load(folder: &Path) -> Result<Sandbox, Error> {
        let record = Record::load(folder)?;
        Ok(Sandbox::assemble(folder.to_owned(), record, Account::for_servers()?, Interrupt::default()))
    }

    fn assemble(folder: PathBuf, record: Record, account: Account, interrupt: Interrupt) -> Sandbox {
        Sandbox {
            folder,
            account,
            interrupt,
            record: Mutex::new(record),
            programs: OnceLock::new(),
            children: Mutex::new(Vec::new()),
        }
    }

    /// Fills the existing, empty `folder` with everything but the data folders; starts nothing.
    pub(crate) fn prepare(
        folder: PathBuf,
        topology: Topology,
        settings: Vec<(String, String)>,
        account: Account,
        programs: Programs,
        interrupt: Interrupt,
    ) -> Result<Sandbox, Error> {
        // The nodes' own folders are private. Their account has to get there, and need not change what is around them.
        account.let_through(&folder)?;
        account.check_reaches(&folder)?;
        let mut nodes = Vec::new();
        for number in 1..=topology.nodes() {
            let node = folder.join(format!("node{number}"));
            account.create_private_folder(&node)?;
            account.create_private_folder(&node.join("tmp"))?;
            let socket_folder = match socket_fits(&node) {
                true => None,
                false => Some(make_socket_folder(account)?),
            };
            nodes.push(NodeRecord { ports: Ports::free()?, socket_folder, cut_off_pid: None });
        }
        let record = Record::new(topology, settings, programs.version.clone(), nodes, programs.mysql.clone());
        record.save(&folder)?;
        let sandbox = Sandbox::assemble(folder, record, account, interrupt);
        Ok(Sandbox { programs: OnceLock::from(programs), ..sandbox })
    }

    /// Makes the data folders and starts all servers for the first time.
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
                if topology == Topology::Semisync { semisync::set_up(self) } else { Ok(()) }
            }
        }
    }

    /// The folder's name.
    pub fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The folder that holds everything of the sandbox.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What it consists of.
    pub fn topology(&self) -> Topology {
        self.record().topology
    }

    /// The version of the server that made it, such as `10.11.6-MariaDB-0+deb12u1`.
    pub fn server_version(&self) -> String {
        self.record().server_version.clone()
    }

    /// A node, counted from 0. Panics when there is no such node; [`Sandbox::numbered`] is for what users type.
    pub fn node(&self, index: usize) -> Node<'_> {
        assert!(index < self.topology().nodes(), "{} has no node with index {index}", self.topology());
        Node::new(self, index)
    }

    /// A node by its number, counted from 1.
    pub fn numbered(&self, number: usize) -> Result<Node<'_>, Error> {
        match number {
            1.. if number <= self.topology().nodes() => Ok(Node::new(self, number - 1)),
            _ => Err(Error::Invalid(format!(
                "sandbox `{}` has no node {number}, but 1 to {}",
                self.name(),
                self.topology().nodes()
            ))),
        }
    }

    /// All nodes in order.
    pub fn nodes(&self) -> impl Iterator<Item = Node<'_>> {
        (0..self.topology().nodes()).map(|index| Node::new(self, index))
    }

    /// Keeps other processes from changing the sandbox at the same time; fails when one is just doing that.
    pub fn lock(&self) -> Result<Lock, Error> {
        let path = self.folder.join(LOCK_FILE);
        let file = File::create(&path).at("create", &path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Lock(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(Error::Invalid(format!(
                "another process is at work on sandbox `{}`; wait until it is done",
                self.name()
            ))),
            Err(error) => Err(error).at("lock", &path),
        }
    }

    /// Starts every node that does not run, and waits until all are ready. Those that are paused stay so.
    pub fn start(&self) -> Result<(), Error> {
        let down: Vec<usize> = self.nodes().filter(|node| node.process().is_none()).map(Node::index).collect();
        self.start_nodes(&down)
    }

    /// Shuts every node down, the last first, so that node 1 of a cluster is the most advanced.
    pub fn stop(&self) -> Result<(), Error> {
        self.nodes().collect::<Vec<_>>().into_iter().rev().try_for_each(Node::stop)
    }

    /// Ends every node at once, as a power cut does.
    pub fn kill(&self) -> Result<(), Error> {
        let processes: Vec<_> = self.nodes().map(Node::process).collect();
        // None may go on without the others while one of them is waited for.
        processes.iter().flatten().for_each(Process::kill);
        self.nodes().zip(&processes).try_for_each(|(node, process)| node.wait_killed(process.as_ref()))
    }

    /// Ends every server and removes everything.
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
                if topology == Topology::Semisync { semisync::resume(self) } else { Ok(()) }
            }
        }
    }

    pub(crate) fn destroy(&self) -> Result<(), Error> {
        self.kill()?;
        for folder in self.socket_folders() {
            // The record could have been tampered with: nothing is removed that was not named by us.
            let ours = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(SOCKET_FOLDER_PREFIX));
            if ours && folder.exists() {
                fs::remove_dir_all(&folder).at("remove", &folder)?;
            }
        }
        fs::remove_dir_all(&self.folder).at("remove", &self.folder)
    }

    /// The folders elsewhere that hold sockets.
    pub(crate) fn socket_folders(&self) -> Vec<PathBuf> {
        self.record().nodes.iter().filter_map(|node| node.socket_folder.clone()).collect()
    }

    pub(crate) fn account(&self) -> Account {
        self.account
    }

    pub(crate) fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    pub(crate) fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ports of all nodes.
    pub(crate) fn ports(&self) -> Vec<Ports> {
        self.record().nodes.iter().map(|node| node.ports).collect()
    }

    /// Changes what is recorded of a node.
    pub(crate) fn change(&self, index: usize, change: impl FnOnce(&mut NodeRecord)) -> Result<(), Error> {
        let mut record = self.record();
        change(&mut record.nodes[index]);
        record.save(&self.folder)
    }

    /// Takes note of the provider that the servers get a copy of.
    pub(crate) fn take_note_of_provider(&self, source: PathBuf) -> Result<(), Error> {
        let mut record = self.record();
        record.provider = Some(source);
        record.save(&self.folder)
    }

    pub(crate) fn programs(&self) -> Result<&Programs, Error> {
        if let Some(programs) = self.programs.get() {
            return Ok(programs);
        }
        let (topology, mysql) = (self.topology(), self.record().mysql.clone());
        let found = Programs::of(topology, mysql.as_deref(), self.account)?;
        Ok(self.programs.get_or_init(|| found))
    }

    /// Takes note of a server that this process has started.
    pub(crate) fn adopt(&self, child: Child) {
        self.children.lock().unwrap_or_else(PoisonError::into_inner).push(child);
    }

    /// Lets go of the servers that have ended.
    pub(crate) fn reap(&self) {
        let mut children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
        children.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
    }
}

fn socket_fits(folder: &Path) -> bool {
    folder.join(SOCKET_FILE).as_os_str().len() <= SOCKET_PATH_LIMIT_BYTES
}

/// A folder with a short path for a socket.
pub(crate) fn make_socket_folder(account: Account) -> Result<PathBuf, Error> {
    let parent = place::ensure(&std::env::temp_dir(), account)?;
    let parent = if parent.as_os_str().len() < SOCKET_PATH_LIMIT_BYTES / 2 { parent } else { PathBuf::from("/tmp") };
    account.check_reaches(&parent)?;
    let folder = tempfile::Builder::new().prefix(SOCKET_FOLDER_PREFIX).tempdir_in(&parent);
    let folder = folder.at("create a folder in", &parent)?.keep();
    account.make_private(&folder)?;
    Ok(folder)
}
