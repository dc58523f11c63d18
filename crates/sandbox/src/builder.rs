//! The description of a sandbox, and its creation.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::account::Account;
use crate::error::At;
use crate::host::Host;
use crate::interrupt::Interrupt;
use crate::program::Programs;
use crate::sandbox::{NodeSetup, Sandbox};
use crate::temporary::Temporary;
use crate::watchdog::Watchdog;
use crate::{Error, Topology, options, paths, provider};

/// The description of a sandbox to create.
///
/// ```no_run
/// let server = hortator_sandbox::Builder::standalone().set("sql_mode", "").start_temporary()?;
/// let mut connection = server.node(0).connect()?;
/// # Ok::<(), hortator_sandbox::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Builder {
    topology: Topology,
    settings: Vec<(String, String)>,
    /// Those of single nodes, by the node's index.
    node_settings: Vec<(usize, (String, String))>,
    /// By the node's index.
    hosts: Vec<(usize, Host)>,
    /// A cluster of Hortator's own provider has a witness.
    has_witness: bool,
    folder: Option<PathBuf>,
    /// The folder of the server's programs, if they are not the system's.
    mysql: Option<PathBuf>,
    /// The library of Hortator's own provider, if it is not the usual one.
    provider: Option<PathBuf>,
    interrupt: Interrupt,
}

impl Builder {
    /// One server.
    pub fn standalone() -> Builder {
        Builder::new(Topology::Standalone)
    }

    /// One MySQL server, whose programs are below `folder`: `bin/mysqld`, as in MySQL's archives and as
    /// `scripts/mysql-server` unpacks them.
    pub fn mysql(folder: impl Into<PathBuf>) -> Builder {
        Builder { mysql: Some(folder.into()), ..Builder::new(Topology::Mysql) }
    }

    /// A Galera cluster with that many nodes, 1 to [`crate::MAX_NODES`].
    pub fn galera(nodes: usize) -> Builder {
        Builder::new(Topology::Galera(nodes))
    }

    /// A cluster of Hortator's own wsrep provider with that many nodes, 1 to [`crate::MAX_CLUSTER_NODES`]. The provider
    /// is the one in the environment variable HORTATOR_PROVIDER, else the one built or installed with the running
    /// program.
    pub fn cluster(nodes: usize) -> Builder {
        Builder::new(Topology::Cluster(nodes))
    }

    /// A source (node 0) and its semi-synchronous replica (node 1).
    pub fn semisync() -> Builder {
        Builder::new(Topology::Semisync)
    }

    /// Two servers, each the semi-synchronous replica of the other.
    pub fn ring() -> Builder {
        Builder::new(Topology::Ring)
    }

    /// Any topology; for MySQL use [`Builder::mysql`].
    pub fn new(topology: Topology) -> Builder {
        Builder {
            topology,
            settings: Vec::new(),
            node_settings: Vec::new(),
            hosts: Vec::new(),
            has_witness: false,
            folder: None,
            mysql: None,
            provider: None,
            interrupt: Interrupt::default(),
        }
    }

    /// The same with the server below `folder` in place of the installed one: another MariaDB build, as `bin/mariadbd`; or,
    /// for a single server, MySQL, as `bin/mysqld`.
    #[must_use]
    pub fn server_in(mut self, folder: impl Into<PathBuf>) -> Builder {
        let folder = folder.into();
        if self.topology == Topology::Standalone && !Programs::are_in(&folder) && folder.join("bin/mysqld").is_file() {
            self.topology = Topology::Mysql;
        }
        self.mysql = Some(folder);
        self
    }

    /// A server option for every node; the name has no leading dashes. Overrides the sandbox's default and any earlier
    /// value; `wsrep_provider_options` adds to the sandbox's own.
    #[must_use]
    pub fn set(mut self, name: impl Into<String>, value: impl Into<String>) -> Builder {
        self.settings.push((name.into(), value.into()));
        self
    }

    /// The same for one node, counted from 0; overrides what is set for every node.
    #[must_use]
    pub fn set_on(mut self, node: usize, name: impl Into<String>, value: impl Into<String>) -> Builder {
        self.node_settings.push((node, (name.into(), value.into())));
        self
    }

    /// The host of a node of a cluster, counted from 0; the others are on 127.0.0.1.
    #[must_use]
    pub fn host(mut self, node: usize, host: Host) -> Builder {
        self.hosts.push((node, host));
        self
    }

    /// The library of Hortator's own provider, in place of the one in HORTATOR_PROVIDER or of the running program. Each node
    /// that starts takes the file as it is then; a running server keeps what it has loaded.
    #[must_use]
    pub fn provider(mut self, library: impl Into<PathBuf>) -> Builder {
        self.provider = Some(library.into());
        self
    }

    /// With a witness beside the nodes of a cluster of Hortator's own provider: a voter without a server. Its program is the
    /// one in the environment variable HORTATOR_WITNESS, else the one built or installed with the running program.
    #[must_use]
    pub fn witness(mut self) -> Builder {
        self.has_witness = true;
        self
    }

    /// The parent of the sandbox's folder. Default: the system's folder for temporary files for a temporary sandbox,
    /// [`crate::default_folder`] for a named one.
    #[must_use]
    pub fn dir(mut self, folder: impl Into<PathBuf>) -> Builder {
        self.folder = Some(folder.into());
        self
    }

    /// When the flag becomes true, waiting ends with [`Error::Interrupted`]; a sandbox under creation is removed.
    #[must_use]
    pub fn interrupt_flag(mut self, flag: Arc<AtomicBool>) -> Builder {
        self.interrupt = Interrupt::new(flag);
        self
    }

    /// Whether this machine has the programs and libraries that the servers of this topology need.
    ///
    /// # Errors
    /// [`Error::Missing`] with the package; for Hortator's own provider, where it was looked for.
    pub fn check_installed(&self) -> Result<(), Error> {
        Programs::of(self.topology, self.mysql.as_deref(), Account::for_servers()?)?;
        match self.topology {
            Topology::Galera(_) => Programs::provider().map(drop),
            Topology::Cluster(_) => {
                if self.has_witness {
                    provider::WITNESS.find()?;
                }
                match &self.provider {
                    Some(_) => Ok(()),
                    None => provider::PROVIDER.find().map(drop),
                }
            }
            Topology::Standalone | Topology::Mysql | Topology::Semisync | Topology::Ring | Topology::FanIn(_) => Ok(()),
        }
    }

    /// Creates and starts a sandbox that ends when the returned value is dropped, and when this process ends for any
    /// reason. Returns when all its servers are ready.
    pub fn start_temporary(self) -> Result<Temporary, Error> {
        let account = Account::for_servers()?;
        let parent = paths::ensure(&self.folder.clone().unwrap_or_else(env::temp_dir), account)?;
        let folder =
            tempfile::Builder::new().prefix("hortator-").tempdir_in(&parent).at("create a folder in", &parent)?;
        let (sandbox, watchdog) = self.make(folder.path(), account)?;
        // From here on `Temporary` removes the folder, after its servers.
        let _kept = folder.keep();
        Ok(Temporary::new(sandbox, watchdog))
    }

    /// Creates and starts a sandbox that lasts until [`Sandbox::down`]. Returns when all its servers are ready; on
    /// failure nothing is left of it.
    pub fn create(self, name: &str) -> Result<Sandbox, Error> {
        paths::check_name(name)?;
        let account = Account::for_servers()?;
        let parent = match &self.folder {
            Some(folder) => paths::ensure(folder, account)?,
            None => paths::ensure(&paths::default_folder()?, account)?,
        };
        let folder = parent.join(name);
        fs::create_dir(&folder).map_err(|source| match source.kind() {
            std::io::ErrorKind::AlreadyExists => Error::Invalid(format!(
                "{} already exists: remove the sandbox with `down {name}`, or choose another name",
                folder.display()
            )),
            _ => Error::Io { action: "create", path: folder.clone(), source },
        })?;
        let (sandbox, watchdog) = self.make(&folder, account).inspect_err(|_| {
            // Empty by now, unless its content could not be removed.
            let _left = fs::remove_dir(&folder);
        })?;
        watchdog.dismiss();
        Ok(sandbox)
    }

    /// Fills the existing, empty `folder` and starts everything; empties the folder again on failure.
    fn make(self, folder: &Path, account: Account) -> Result<(Sandbox, Watchdog), Error> {
        self.topology.check()?;
        if self.has_witness && !matches!(self.topology, Topology::Cluster(_)) {
            return Err(Error::Invalid(format!(
                "{} cannot have a witness: only a cluster of Hortator's own provider can (`cluster`)",
                self.topology
            )));
        }
        options::check_settings(&self.settings)?;
        let (nodes, of_nodes): (Vec<usize>, Vec<(String, String)>) = self.node_settings.iter().cloned().unzip();
        options::check_settings(&of_nodes)?;
        let hosts = self.hosts.iter().map(|(node, _)| *node);
        if let Some(node) = nodes.into_iter().chain(hosts).find(|node| *node >= self.topology.nodes()) {
            let (number, nodes) = (node + 1, self.topology.nodes());
            return Err(Error::Invalid(format!("a setting is for node {number}: this sandbox has {nodes} node(s)")));
        }
        let programs = Programs::of(self.topology, self.mysql.as_deref(), account);
        let made = programs.and_then(|programs| {
            let mut own = vec![NodeSetup::default(); self.topology.nodes()];
            self.node_settings.into_iter().for_each(|(node, setting)| own[node].settings.push(setting));
            self.hosts.into_iter().for_each(|(node, host)| own[node].host = Some(host));
            let Self { topology, settings, has_witness, interrupt, provider, .. } = self;
            let folder = folder.to_owned();
            let sandbox = Sandbox::prepare(folder, topology, settings, own, account, programs, interrupt)?;
            provider.map_or(Ok(()), |provider| sandbox.give_provider(provider))?;
            if has_witness {
                sandbox.add_witness()?;
            }
            Ok(sandbox)
        });
        let sandbox = made.inspect_err(|_| {
            // No server has been started in it yet.
            let _left = fs::remove_dir_all(folder);
        })?;
        let elsewhere = sandbox.socket_folders();
        let watchdog = match Watchdog::over(sandbox.folder(), &elsewhere) {
            Ok(watchdog) => watchdog,
            Err(error) => {
                let _left = sandbox.destroy();
                return Err(error);
            }
        };
        match sandbox.first_start() {
            Ok(()) => Ok((sandbox, watchdog)),
            Err(error) => {
                // The watchdog retries on drop if this fails.
                if sandbox.destroy().is_ok() {
                    watchdog.dismiss();
                }
                Err(error)
            }
        }
    }
}
