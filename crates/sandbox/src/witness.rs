//! The witness of a cluster of Hortator's own provider: a process without a server, which votes and holds the log.
//!
//! It is a copy of the program `hortator-witness`, as the servers' provider is one. It has no client connection: the nodes
//! report whether it votes (`wsrep_raft_peers`), and signals isolate it.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::At;
use crate::node::{POLL_INTERVAL, START_TIMEOUT, State};
use crate::ports::Ports;
use crate::process::Process;
use crate::sandbox::Sandbox;
use crate::server_process::ServerProcess;
use crate::status::status;
use crate::{Error, provider, wsrep};

/// Its name, also that of its folder.
const NAME: &str = "witness";
/// The time limit for its end after SIGTERM.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
/// The interval for checking the nodes' view of it.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);
/// A child of another thread has the program's file open for a moment.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// What inspection of the witness cannot find.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WitnessMetadata {
    pub(crate) ports: Ports,
    /// The pid of the process that was isolated.
    #[serde(default)]
    pub(crate) isolated_pid: Option<u32>,
    /// The source of its program.
    #[serde(default)]
    pub(crate) program: Option<PathBuf>,
}

/// The witness of a sandbox.
#[derive(Debug, Clone, Copy)]
pub struct Witness<'a> {
    sandbox: &'a Sandbox,
}

impl<'a> Witness<'a> {
    pub(crate) fn new(sandbox: &'a Sandbox) -> Self {
        Self { sandbox }
    }

    /// Its name: `witness`.
    pub fn name(self) -> String {
        NAME.to_owned()
    }

    /// The folder with its log of entries.
    pub fn folder(self) -> PathBuf {
        self.sandbox.folder().join(NAME)
    }

    /// What it writes to standard error.
    pub fn error_log(self) -> PathBuf {
        self.sandbox.folder().join(format!("{NAME}.log"))
    }

    /// Its port for the nodes, on 127.0.0.1.
    pub fn port(self) -> u16 {
        self.metadata().ports.group
    }

    /// The copy of the program in the sandbox.
    pub fn program(self) -> PathBuf {
        provider::WITNESS.copy_in(self.sandbox.folder())
    }

    /// Its process id, if it runs.
    pub fn pid(self) -> Option<u32> {
        self.process().map(|process| process.pid())
    }

    /// The state of its process.
    pub fn state(self) -> State {
        self.server_process().state()
    }

    /// Starts it unless it runs. Waits until it is a voter, if a node with a majority can say so.
    pub fn start(self) -> Result<(), Error> {
        match self.process() {
            Some(process) if process.is_paused() => {
                return Err(Error::Invalid(format!("{NAME} is paused: `resume` continues it")));
            }
            Some(_) => {}
            None => self.launch()?,
        }
        self.wait_for_vote()
    }

    /// Ends it (SIGTERM): it stays a voter.
    pub fn stop(self) -> Result<(), Error> {
        self.server_process().stop(STOP_TIMEOUT)
    }

    /// Kills it (SIGKILL), and waits until it has ended.
    pub fn kill(self) -> Result<(), Error> {
        let process = self.process();
        process.iter().for_each(Process::kill);
        self.server_process().wait_killed(process.as_ref())
    }

    /// Stops its process (SIGSTOP) until [`Witness::resume`].
    pub fn pause(self) -> Result<(), Error> {
        self.server_process().pause()
    }

    /// Continues its process (SIGCONT).
    pub fn resume(self) -> Result<(), Error> {
        self.server_process().resume()
    }

    /// Isolates it from all nodes. Ends with its process, or with [`Witness::heal`].
    pub fn isolate(self) -> Result<(), Error> {
        match (self.state(), self.process()) {
            (State::Running, _) if self.is_isolated() => {
                Err(Error::Invalid(format!("{NAME} is already isolated: `heal` ends the isolation")))
            }
            (State::Running, Some(process)) => {
                process.isolate().at("isolate the witness of", &self.folder())?;
                self.change(|witness| witness.isolated_pid = Some(process.pid()))
            }
            (state, _) => Err(Error::Invalid(format!("{NAME} cannot be isolated: it is {state}"))),
        }
    }

    /// Whether it is isolated by [`Witness::isolate`].
    pub fn is_isolated(self) -> bool {
        let isolated = self.metadata().isolated_pid;
        isolated.is_some() && isolated == self.pid()
    }

    /// Ends the isolation.
    pub fn heal(self) -> Result<(), Error> {
        match self.process() {
            Some(process) if self.is_isolated() => {
                process.end_isolation().at("heal the witness of", &self.folder())?;
                self.change(|witness| witness.isolated_pid = None)
            }
            _ => Err(Error::Invalid(format!("{NAME} is not isolated"))),
        }
    }

    /// Runs and reaches the nodes.
    pub(crate) fn is_reachable(self) -> bool {
        self.state() == State::Running && !self.is_isolated()
    }

    /// Whether the Raft leader, if it is a node, sees it as a linked voter.
    pub fn has_vote(self) -> bool {
        let peers = |node: crate::Node<'_>| status(&mut node.connect().ok()?, "wsrep_raft_peers").ok()?;
        let is_it = |peer: &str| {
            let mut words = peer.split(' ');
            // Only the leader knows up to where their logs match.
            words.next() == Some(NAME) && peer.contains(" linked voter match=") && peer.ends_with(" witness")
        };
        wsrep::reachable(self.sandbox).into_iter().filter_map(peers).any(|peers| peers.split(", ").any(is_it))
    }

    /// Starts its process, without waiting for anything.
    pub(crate) fn launch(self) -> Result<(), Error> {
        self.sandbox.interrupt().check()?;
        self.take_program()?;
        if !self.metadata().ports.are_free() {
            let ports = Ports::free()?;
            self.change(|witness| witness.ports = ports)?;
        }
        let log = self.error_log();
        let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let output = OpenOptions::new().create(true).append(true).custom_flags(no_link).open(&log).at("open", &log)?;
        let mut command = Command::new(self.program());
        command
            .args(self.arguments())
            .env_clear()
            .current_dir(self.folder())
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(output.try_clone().at("open", &log)?)
            .stderr(output);
        self.sandbox.account().run(&mut command);
        let child = spawn_copy(&mut command).at("run", &self.program())?;
        let process = Process::started(&child).at("watch", &self.folder());
        self.sandbox.adopt(child);
        self.server_process().record(&process?)
    }

    /// Its arguments.
    fn arguments(self) -> Vec<String> {
        let nodes: Vec<String> =
            self.sandbox.endpoints().iter().map(|node| format!("{}:{}", node.address, node.ports.group)).collect();
        let settings = self.sandbox.metadata().settings.clone();
        let options = settings.iter().filter(|(name, _)| name.replace('_', "-") == "wsrep-provider-options");
        let options: Vec<String> = options.map(|(_, value)| value.clone()).collect();
        let mut arguments = vec![
            format!("--dir={}", self.folder().display()),
            format!("--cluster-name={}", wsrep::CLUSTER_NAME),
            format!("--cluster-address=gcomm://{}", nodes.join(",")),
            format!("--listen=127.0.0.1:{}", self.port()),
            format!("--node-name={NAME}"),
        ];
        if !options.is_empty() {
            arguments.push(format!("--provider-options={}", options.join(";")));
        }
        arguments
    }

    /// Waits until it is a voter; not without a node that has a majority.
    pub(crate) fn wait_for_vote(self) -> Result<(), Error> {
        let deadline = Instant::now() + START_TIMEOUT;
        while !self.has_vote() {
            self.sandbox.interrupt().check()?;
            if self.process().is_none_or(|process| process.wait_gone(POLL_INTERVAL)) {
                self.sandbox.reap();
                return Err(self.failed("ended before it was a voter".to_owned()));
            }
            let is_primary = |node: &crate::Node<'_>| node.wsrep_status().is_some_and(|status| status.is_primary());
            if self.is_isolated() || !wsrep::reachable(self.sandbox).iter().any(is_primary) {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(self.failed(format!("was not a voter within {} s", START_TIMEOUT.as_secs())));
            }
            thread::sleep(LOOK_INTERVAL);
        }
        Ok(())
    }

    /// Updates the sandbox's copy of its program, as that of the provider.
    fn take_program(self) -> Result<(), Error> {
        let recorded = self.metadata().program;
        let source = match (provider::WITNESS.named()?, recorded) {
            (Some(named), _) => named,
            (None, Some(recorded)) if recorded.is_file() => recorded,
            (None, Some(_)) if self.program().is_file() => return Ok(()),
            (None, _) => provider::WITNESS.find()?,
        };
        provider::WITNESS.copy(&source, self.sandbox.folder())?;
        self.change(|witness| witness.program = Some(source))
    }

    fn server_process(self) -> ServerProcess<'a> {
        let (folder, error_log) = (self.folder(), self.error_log());
        ServerProcess { sandbox: self.sandbox, name: self.name(), folder, error_log }
    }

    pub(crate) fn process(self) -> Option<Process> {
        self.server_process().find()
    }

    fn metadata(self) -> WitnessMetadata {
        self.sandbox.metadata().witness.clone().expect("a sandbox hands out its witness only if it has one")
    }

    fn change(self, change: impl FnOnce(&mut WitnessMetadata)) -> Result<(), Error> {
        let mut metadata = self.sandbox.metadata();
        if let Some(witness) = &mut metadata.witness {
            change(witness);
        }
        metadata.save(self.sandbox.folder())
    }

    fn failed(self, what: String) -> Error {
        self.server_process().failed(what)
    }
}

/// Creates the folder of a witness.
pub(crate) fn prepare(folder: &Path, account: crate::account::Account) -> Result<WitnessMetadata, Error> {
    account.create_private_folder(&folder.join(NAME))?;
    Ok(WitnessMetadata { ports: Ports::free()?, isolated_pid: None, program: None })
}

/// Runs a program that was just copied. While it was written, another thread may have started a child, which has the file open
/// until it runs its own program.
fn spawn_copy(command: &mut Command) -> io::Result<Child> {
    let deadline = Instant::now() + BUSY_TIMEOUT;
    loop {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && Instant::now() < deadline => {
                thread::sleep(LOOK_INTERVAL);
            }
            spawned => return spawned,
        }
    }
}
