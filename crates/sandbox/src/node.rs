//! One server of a sandbox: its paths, its state, its start and end.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hortator_mysql::{Address, ConnectOptions, Connection};

use crate::error::At;
use crate::options::{self, Files};
use crate::ports::Ports;
use crate::process::{self, Process};
use crate::program::search_path;
use crate::provider::PROVIDER;
use crate::sandbox::{Sandbox, make_socket_folder};
use crate::server_process::ServerProcess;
use crate::{Error, Topology, error_log, mysql, wsrep};

/// The socket's name in the node's folder.
pub(crate) const SOCKET_FILE: &str = "socket";
/// The time limit for a server to become ready; a crashed server recovers from its log first, a node that joins a
/// cluster copies all data, and other programs may want the same processors. One that ends is noticed at once.
pub(crate) const START_TIMEOUT: Duration = Duration::from_secs(600);
/// The time limit for a clean shutdown, which writes dirty pages.
const STOP_TIMEOUT: Duration = Duration::from_secs(120);
/// The number of start attempts when another program takes one of the ports.
const START_ATTEMPTS: usize = 3;
/// The interval for checking a starting server.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// The time limit of one check: a server that is just starting can accept a connection and not continue.
pub(crate) const POLL_TIMEOUT: Duration = Duration::from_secs(5);
/// The error for a wrong password: the server answers, and the caller has changed root's password.
const ACCESS_DENIED: u16 = 1045;

/// The state of a node's server, found by inspecting the processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The process exists.
    Running,
    /// The process exists and is stopped by [`Node::pause`].
    Paused,
    /// The server was shut down.
    Stopped,
    /// The server was started, not shut down, and does not exist: it was killed, it crashed, or the machine was
    /// restarted.
    Crashed,
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            State::Running => "running",
            State::Paused => "paused",
            State::Stopped => "stopped",
            State::Crashed => "crashed",
        })
    }
}

/// One server of a sandbox.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    sandbox: &'a Sandbox,
    index: usize,
}

impl<'a> Node<'a> {
    pub(crate) fn new(sandbox: &'a Sandbox, index: usize) -> Node<'a> {
        Node { sandbox, index }
    }

    pub(crate) fn index(self) -> usize {
        self.index
    }

    pub(crate) fn sandbox(self) -> &'a Sandbox {
        self.sandbox
    }

    /// Whether the node belongs to a wsrep cluster.
    pub(crate) fn is_cluster_node(self) -> bool {
        self.sandbox.topology().is_cluster()
    }

    /// Its number, counted from 1.
    pub fn number(self) -> usize {
        self.index + 1
    }

    /// Its name, as in `node1`; also the name of its folder.
    pub fn name(self) -> String {
        format!("node{}", self.number())
    }

    /// The folder with its data, log, and temporary files.
    pub fn folder(self) -> PathBuf {
        self.sandbox.folder().join(self.name())
    }

    /// The server's data folder.
    pub fn data_dir(self) -> PathBuf {
        self.folder().join("data")
    }

    /// The server's error log.
    pub fn error_log(self) -> PathBuf {
        self.folder().join("error.log")
    }

    /// The server's socket.
    pub fn socket(self) -> PathBuf {
        let elsewhere = self.sandbox.metadata().nodes[self.index].socket_folder.clone();
        elsewhere.unwrap_or_else(|| self.folder()).join(SOCKET_FILE)
    }

    /// The server's port on 127.0.0.1. Root can connect through the socket only.
    pub fn port(self) -> u16 {
        self.ports().sql
    }

    /// All its ports.
    pub fn ports(self) -> Ports {
        self.sandbox.metadata().nodes[self.index].ports
    }

    /// The server's process id, if it runs.
    pub fn pid(self) -> Option<u32> {
        self.process().map(|process| process.pid())
    }

    /// The state of the server.
    pub fn state(self) -> State {
        self.server_process().state()
    }

    /// The options to connect as root: through the socket, without a password.
    pub fn connect_options(self) -> ConnectOptions {
        ConnectOptions::new(Address::Socket(self.socket()), "root")
    }

    /// Connects as root.
    pub fn connect(self) -> Result<Connection, Error> {
        Connection::open(&self.connect_options()).map_err(|source| self.statement(source))
    }

    /// The words of a shell command that connects the client as root: the `mariadb` client, or MySQL's own.
    pub fn client_command(self) -> Vec<String> {
        let socket = self.socket().to_string_lossy().into_owned();
        let of_mysql = self.sandbox.metadata().mysql.as_deref().and_then(mysql::client);
        let client = of_mysql.map_or_else(|| "mariadb".to_owned(), |client| client.to_string_lossy().into_owned());
        [&client, "--no-defaults", "-S", &socket, "-u", "root"].map(str::to_owned).to_vec()
    }

    /// The same as a DSN.
    pub fn dsn(self) -> String {
        format!("mysql://root@localhost/?socket={}", self.socket().display())
    }

    /// Starts the server unless it runs, and waits until it is ready: it answers; in a cluster it is synced; with
    /// semi-synchronous replication and the other server running, the replica is connected. A paused node is an error.
    pub fn start(self) -> Result<(), Error> {
        match self.process() {
            Some(process) if process.is_paused() => {
                Err(Error::Invalid(format!("{} is paused: `resume` continues it", self.name())))
            }
            Some(_) => Ok(()),
            None => self.sandbox.start_nodes(&[self.index]),
        }
    }

    /// Shuts the server down if it runs, and waits until it has ended.
    pub fn stop(self) -> Result<(), Error> {
        self.server_process().stop(STOP_TIMEOUT)
    }

    /// Kills the server (SIGKILL), as a crash does, and waits until it has ended.
    pub fn kill(self) -> Result<(), Error> {
        let process = self.process();
        process.iter().for_each(Process::kill);
        self.wait_killed(process.as_ref())
    }

    /// Waits until a killed server has ended, with its child processes.
    pub(crate) fn wait_killed(self, process: Option<&Process>) -> Result<(), Error> {
        self.server_process().wait_killed(process)?;
        if let Some(pid) = self.server_process().recorded_pid() {
            process::end_leftovers(pid, &self.data_dir());
        }
        Ok(())
    }

    /// Starts the server with arguments besides its usual ones, and waits until it is ready on its own. Chooses other
    /// ports if one is in use.
    pub(crate) fn launch(self, further: &[String]) -> Result<(), Error> {
        let log = self.error_log();
        let mut attempt = 1;
        loop {
            self.forget_socket_lock();
            let log_start = error_log::length(&log);
            let failure = match self.spawn(further).and_then(|process| self.wait_ready(&process)) {
                Ok(()) => return Ok(()),
                Err(failure) => failure,
            };
            self.kill()?;
            if attempt == START_ATTEMPTS || !error_log::port_in_use_since(&log, log_start) {
                return Err(failure);
            }
            attempt += 1;
        }
    }

    /// MySQL takes a killed server for one that runs, as long as nobody has reaped its process: it reads the pid beside
    /// the socket.
    fn forget_socket_lock(self) {
        let mut lock = self.socket().into_os_string();
        lock.push(".lock");
        let _ = fs::remove_file(lock);
    }

    /// The server's usual arguments.
    pub(crate) fn arguments(self) -> Result<Vec<String>, Error> {
        let folder = self.folder();
        let base = self.sandbox.metadata().mysql.clone();
        let files = Files {
            data: &folder.join("data"),
            socket: &self.socket(),
            error_log: &folder.join("error.log"),
            temporary: &folder.join("tmp"),
            base: base.as_deref(),
            provider: &PROVIDER.copy_in(self.sandbox.folder()),
        };
        let settings = {
            let metadata = self.sandbox.metadata();
            [&metadata.settings[..], &metadata.nodes[self.index].settings[..]].concat()
        };
        options::arguments(self.sandbox.topology(), &settings, files, &self.sandbox.endpoints(), self.index)
    }

    /// A command that runs the server's program as the server's account, on its host, in its folder, without the caller's
    /// environment.
    pub(crate) fn server_command(self, output: File) -> Result<Command, Error> {
        let server = &self.sandbox.programs()?.server;
        let host = self.sandbox.metadata().nodes[self.index].host.clone();
        let mut words = host.iter().flat_map(|host| &host.command);
        let mut command = match words.next() {
            Some(program) => {
                let mut command = Command::new(program);
                command.args(words).arg(server);
                command
            }
            None => {
                let mut command = Command::new(server);
                self.sandbox.account().run(&mut command);
                command
            }
        };
        command
            .env_clear()
            .env("PATH", search_path())
            .envs(env::var_os("TZ").map(|zone| ("TZ", zone)))
            .current_dir(self.folder())
            // The server must not receive Ctrl-C or the end of the terminal.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(output.try_clone().at("open", &self.error_log())?)
            .stderr(output);
        Ok(command)
    }

    /// Chooses other ports if another program uses one of them.
    pub(crate) fn take_free_ports(self) -> Result<(), Error> {
        if self.ports().are_free() {
            return Ok(());
        }
        let ports = Ports::free()?;
        self.sandbox.change(self.index, |node| node.ports = ports)
    }

    fn spawn(self, further: &[String]) -> Result<Process, Error> {
        self.sandbox.interrupt().check()?;
        self.take_free_ports()?;
        if self.socket().parent().is_some_and(|folder| !folder.exists()) {
            // The system's folder for temporary files may have been emptied.
            let folder = make_socket_folder(self.sandbox.account())?;
            self.sandbox.change(self.index, |node| node.socket_folder = Some(folder))?;
        }
        let child = self
            .server_command(self.open_log()?)?
            .args(self.arguments()?)
            .args(further)
            .spawn()
            .at("run", &self.sandbox.programs()?.server)?;
        let process = Process::started(&child).at("watch", &self.data_dir());
        self.sandbox.adopt(child);
        let process = process?;
        self.server_process().record(&process)?;
        Ok(process)
    }

    /// The node's folder belongs to its account: do not follow links there.
    fn open_log(self) -> Result<File, Error> {
        let log = self.error_log();
        let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let file = OpenOptions::new().create(true).append(true).custom_flags(no_link).open(&log).at("open", &log)?;
        self.sandbox.account().own(&log)?;
        Ok(file)
    }

    fn wait_ready(self, process: &Process) -> Result<(), Error> {
        let topology = self.sandbox.topology();
        self.wait_until(process, "was not ready", |connection| match topology {
            // Not before it has applied its whole log.
            Topology::Galera(_) | Topology::Cluster(_) => wsrep::is_synced(connection),
            Topology::Standalone | Topology::Mysql | Topology::Semisync | Topology::Ring | Topology::FanIn(_) => {
                connection.execute(b"SELECT 1").map(|_| true)
            }
        })
    }

    /// Polls until `ready` returns true. `what` completes the error's "... within N s".
    pub(crate) fn wait_until(
        self,
        process: &Process,
        what: &str,
        mut ready: impl FnMut(&mut Connection) -> Result<bool, hortator_mysql::Error>,
    ) -> Result<(), Error> {
        let mut options = self.connect_options();
        options.connect_timeout = POLL_TIMEOUT;
        options.read_timeout = Some(POLL_TIMEOUT);
        let log = self.error_log();
        let log_from = error_log::length(&log);
        let deadline = Instant::now() + START_TIMEOUT;
        let mut connection = None;
        let mut last_error = None;
        while Instant::now() < deadline {
            self.sandbox.interrupt().check()?;
            if process.wait_gone(POLL_INTERVAL) {
                self.sandbox.reap();
                return Err(self.failed("ended before it was ready".to_owned()));
            }
            let open = connection.take().map_or_else(|| Connection::open(&options), Ok);
            match open.and_then(|mut open| ready(&mut open).map(|is_ready| (open, is_ready))) {
                Ok((_, true)) => return Ok(()),
                Ok(_) if error_log::node_left_since(&log, log_from) => {
                    return Err(self.failed("left the cluster before it was ready".to_owned()));
                }
                Ok((open, false)) => connection = Some(open),
                Err(error) if error.code() == Some(ACCESS_DENIED) => return self.denied(error),
                Err(error) => last_error = Some(error),
            }
        }
        let remark = last_error.map_or(String::new(), |error| format!(" ({error})"));
        Err(self.failed(format!("{what} within {} s{remark}", START_TIMEOUT.as_secs())))
    }

    /// Root's password was changed: a single server that says so is ready; for others nothing more can be checked.
    fn denied(self, error: hortator_mysql::Error) -> Result<(), Error> {
        match self.sandbox.topology() {
            Topology::Standalone | Topology::Mysql => Ok(()),
            Topology::Galera(_) | Topology::Cluster(_) | Topology::Semisync | Topology::Ring | Topology::FanIn(_) => {
                Err(self.statement(error))
            }
        }
    }

    pub(crate) fn server_process(self) -> ServerProcess<'a> {
        let (folder, error_log) = (self.data_dir(), self.error_log());
        ServerProcess { sandbox: self.sandbox, name: self.name(), folder, error_log }
    }

    pub(crate) fn process(self) -> Option<Process> {
        self.server_process().find()
    }

    pub(crate) fn failed(self, what: String) -> Error {
        self.server_process().failed(what)
    }

    pub(crate) fn failed_by(self, what: String, log: &Path) -> Error {
        self.server_process().failed_by(what, log)
    }

    pub(crate) fn statement(self, source: hortator_mysql::Error) -> Error {
        Error::Statement { node: self.name(), source }
    }
}
