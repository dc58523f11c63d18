//! One server of a sandbox: where it is, whether it runs, and its start and end.

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
use crate::process::{self, KILL_LIMIT, Process};
use crate::program::search_path;
use crate::sandbox::{Sandbox, make_socket_folder};
use crate::{Error, Topology, cluster, error_log, mysql, provider, wsrep};

/// The socket's name in the node's folder.
pub(crate) const SOCKET_FILE: &str = "socket";
/// How long a server may take until it is ready; a crashed one has its log to go through first, and a node that joins a
/// cluster all data to copy.
pub(crate) const START_LIMIT: Duration = Duration::from_secs(180);
/// How long a clean shutdown may take; dirty pages have to be written.
const STOP_LIMIT: Duration = Duration::from_secs(120);
/// How often a start is tried when another program has taken one of the ports meanwhile.
const START_ATTEMPTS: usize = 3;
/// How long to wait between two looks at a server that is starting.
pub(crate) const LOOK_INTERVAL: Duration = Duration::from_millis(10);
/// How long a look may take: a server that is just starting can accept a connection and not go on with it.
pub(crate) const LOOK_LIMIT: Duration = Duration::from_secs(5);
/// The server's word for a wrong password: then it answers, and the caller has changed root's password.
const ACCESS_DENIED: u16 = 1045;

/// Whether a node's server runs. Found out by looking at the processes there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Its process is there.
    Running,
    /// Its process is there and does nothing: [`Node::pause`] stopped it.
    Paused,
    /// It was shut down.
    Stopped,
    /// It was started, not shut down, and is not there: killed, crashed, or the machine was restarted.
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

    /// Whether a wsrep provider keeps it in step with others.
    pub(crate) fn is_of_a_cluster(self) -> bool {
        self.sandbox.topology().is_cluster()
    }

    /// Its number, counted from 1.
    pub fn number(self) -> usize {
        self.index + 1
    }

    /// Its name, as in `node1`; also that of its folder.
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
        let elsewhere = self.sandbox.record().nodes[self.index].socket_folder.clone();
        elsewhere.unwrap_or_else(|| self.folder()).join(SOCKET_FILE)
    }

    /// The server's port on 127.0.0.1. Root is let in through the socket only.
    pub fn port(self) -> u16 {
        self.ports().sql
    }

    /// All its ports.
    pub fn ports(self) -> Ports {
        self.sandbox.record().nodes[self.index].ports
    }

    /// The server's process id, when it runs.
    pub fn pid(self) -> Option<u32> {
        self.process().map(|process| process.pid())
    }

    /// Whether the server runs.
    pub fn state(self) -> State {
        match self.process() {
            Some(process) if process.is_paused() => State::Paused,
            Some(_) => State::Running,
            None if self.recorded_pid().is_some() => State::Crashed,
            None => State::Stopped,
        }
    }

    /// How to connect as root: over the socket, without a password.
    pub fn connect_options(self) -> ConnectOptions {
        ConnectOptions::new(Address::Socket(self.socket()), "root")
    }

    /// Connects as root.
    pub fn connect(self) -> Result<Connection, Error> {
        Connection::open(&self.connect_options()).map_err(|source| self.statement(source))
    }

    /// A shell command's words that connect the client as root: the `mariadb` client, or MySQL's own.
    pub fn client_command(self) -> Vec<String> {
        let socket = self.socket().to_string_lossy().into_owned();
        let of_mysql = self.sandbox.record().mysql.as_deref().and_then(mysql::client);
        let client = of_mysql.map_or_else(|| "mariadb".to_owned(), |client| client.to_string_lossy().into_owned());
        [&client, "--no-defaults", "-S", &socket, "-u", "root"].map(str::to_owned).to_vec()
    }

    /// The same as a DSN.
    pub fn dsn(self) -> String {
        format!("mysql://root@localhost/?socket={}", self.socket().display())
    }

    /// Starts the server unless it runs, and waits until it is ready: it answers; in a cluster it is synced; in a
    /// replication with the other side running, that is connected. One that is paused is none to start.
    pub fn start(self) -> Result<(), Error> {
        match self.process() {
            Some(process) if process.is_paused() => {
                Err(Error::Invalid(format!("{} runs, and is paused: `resume` lets it go on", self.name())))
            }
            Some(_) => Ok(()),
            None => self.sandbox.start_nodes(&[self.index]),
        }
    }

    /// Shuts the server down if it runs, and waits until it is gone.
    pub fn stop(self) -> Result<(), Error> {
        if let Some(process) = self.process() {
            process.terminate();
            if !process.wait_gone(STOP_LIMIT) {
                return Err(self.failed(format!("did not shut down within {} s; `kill` ends it", STOP_LIMIT.as_secs())));
            }
            self.sandbox.reap();
            self.forget_pid()?;
        }
        Ok(())
    }

    /// Ends the server at once (SIGKILL), as a crash does, and waits until it is gone.
    pub fn kill(self) -> Result<(), Error> {
        let process = self.process();
        process.iter().for_each(Process::kill);
        self.wait_killed(process.as_ref())
    }

    /// Waits until a server that was killed is gone, with what it had started.
    pub(crate) fn wait_killed(self, process: Option<&Process>) -> Result<(), Error> {
        if let Some(process) = process {
            if !process.wait_gone(KILL_LIMIT) {
                return Err(self.failed(format!("is still there {} s after SIGKILL", KILL_LIMIT.as_secs())));
            }
            self.sandbox.reap();
        }
        if let Some(pid) = self.recorded_pid() {
            process::end_leftovers(pid, &self.data_dir());
        }
        Ok(())
    }

    /// Starts the server with arguments besides its usual ones, and waits until it is ready by itself. Other ports are
    /// taken when one is in use.
    pub(crate) fn launch(self, further: &[String]) -> Result<(), Error> {
        let log = self.error_log();
        let mut attempt = 1;
        loop {
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

    /// The server's usual arguments.
    pub(crate) fn arguments(self) -> Result<Vec<String>, Error> {
        let folder = self.folder();
        let mysql = self.sandbox.record().mysql.clone();
        let files = Files {
            data: &folder.join("data"),
            socket: &self.socket(),
            error_log: &folder.join("error.log"),
            temporary: &folder.join("tmp"),
            mysql: mysql.as_deref(),
            provider: &provider::copy_in(self.sandbox.folder()),
        };
        let settings = self.sandbox.record().settings.clone();
        options::arguments(self.sandbox.topology(), &settings, files, &self.sandbox.ports(), self.index)
    }

    /// A command that runs the server's program as the server's account, in its folder, without our environment.
    pub(crate) fn server_command(self, output: File) -> Result<Command, Error> {
        let mut command = Command::new(&self.sandbox.programs()?.server);
        command
            .env_clear()
            .env("PATH", search_path())
            .envs(env::var_os("TZ").map(|zone| ("TZ", zone)))
            .current_dir(self.folder())
            // Neither a Ctrl-C nor the end of the terminal is for the server.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(output.try_clone().at("open", &self.error_log())?)
            .stderr(output);
        self.sandbox.account().run(&mut command);
        Ok(command)
    }

    /// Other ports in place of its own where another program has one of them.
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
            // The system's folder for temporary files does not survive everything.
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
        fs::write(self.pid_file(), process.pid().to_string()).at("write", &self.pid_file())?;
        Ok(process)
    }

    /// The node's folder is its account's: no link there leads us astray.
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
            Topology::Galera(_) => wsrep::is_synced(connection),
            Topology::Cluster(_) => cluster::is_ready(connection),
            Topology::Standalone | Topology::Mysql | Topology::Semisync => {
                connection.execute(b"SELECT 1").map(|_| true)
            }
        })
    }

    /// Looks again and again until `ready` says so. `what` completes the error's "... within N s".
    pub(crate) fn wait_until(
        self,
        process: &Process,
        what: &str,
        mut ready: impl FnMut(&mut Connection) -> Result<bool, hortator_mysql::Error>,
    ) -> Result<(), Error> {
        let mut options = self.connect_options();
        options.connect_timeout = LOOK_LIMIT;
        options.read_timeout = Some(LOOK_LIMIT);
        let log = self.error_log();
        let log_from = error_log::length(&log);
        let deadline = Instant::now() + START_LIMIT;
        let mut connection = None;
        let mut last_error = None;
        while Instant::now() < deadline {
            self.sandbox.interrupt().check()?;
            if process.wait_gone(LOOK_INTERVAL) {
                self.sandbox.reap();
                return Err(self.failed("ended before it was ready".to_owned()));
            }
            let open = connection.take().map_or_else(|| Connection::open(&options), Ok);
            match open.and_then(|mut open| ready(&mut open).map(|is_ready| (open, is_ready))) {
                Ok((_, true)) => return Ok(()),
                Ok(_) if error_log::given_up_since(&log, log_from) => {
                    return Err(self.failed("gave up its place before it was ready".to_owned()));
                }
                Ok((open, false)) => connection = Some(open),
                Err(error) if error.code() == Some(ACCESS_DENIED) => return self.denied(error),
                Err(error) => last_error = Some(error),
            }
        }
        let remark = last_error.map_or(String::new(), |error| format!(" ({error})"));
        Err(self.failed(format!("{what} within {} s{remark}", START_LIMIT.as_secs())))
    }

    /// Root's password was changed: a single server that says so is ready; more cannot be found out of the others.
    fn denied(self, error: hortator_mysql::Error) -> Result<(), Error> {
        match self.sandbox.topology() {
            Topology::Standalone | Topology::Mysql => Ok(()),
            Topology::Galera(_) | Topology::Cluster(_) | Topology::Semisync => Err(self.statement(error)),
        }
    }

    pub(crate) fn process(self) -> Option<Process> {
        let data = self.data_dir();
        self.recorded_pid().and_then(|pid| Process::find(pid, &data)).or_else(|| Process::on(&data))
    }

    /// Outside of the node's folder, so that nobody but us writes it.
    fn pid_file(self) -> PathBuf {
        self.sandbox.folder().join(format!("{}.pid", self.name()))
    }

    fn recorded_pid(self) -> Option<u32> {
        fs::read_to_string(self.pid_file()).ok()?.trim().parse().ok()
    }

    fn forget_pid(self) -> Result<(), Error> {
        match fs::remove_file(self.pid_file()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).at("remove", &self.pid_file()),
            _ => Ok(()),
        }
    }

    pub(crate) fn failed(self, what: String) -> Error {
        self.failed_by(what, &self.error_log())
    }

    pub(crate) fn failed_by(self, what: String, log: &Path) -> Error {
        Error::Server { node: self.name(), what, log: log.to_owned(), tail: error_log::tail(log) }
    }

    pub(crate) fn statement(self, source: hortator_mysql::Error) -> Error {
        Error::Statement { node: self.name(), source }
    }
}
