//! `hortator sandbox`: private servers and clusters from the command line.

mod shown;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::Context;
use clap::error::ErrorKind;
use clap::{Args, Subcommand, ValueEnum};
use hortator_sandbox::{Builder, Error, Healed, Node, Sandbox, Topology, Witness};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// The exit status that shells use for a command that Ctrl-C ended.
const INTERRUPTED_STATUS: u8 = 130;
/// The default number of cluster nodes: the fewest that survive the loss of one.
const DEFAULT_NODES: usize = 3;
/// The default number of sources: those of the server that this was first done for.
const DEFAULT_SOURCES: usize = 15;
/// The environment variable with the folder of MySQL's programs.
const MYSQL_VARIABLE: &str = "HORTATOR_MYSQL";

/// Starts and stops private servers and clusters.
#[derive(Debug, Args)]
pub struct SandboxArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Create a sandbox and start it; returns when all servers answer and, in a cluster, are synced
    Up(UpArgs),
    /// List all sandboxes with the state of their servers
    List {
        #[command(flatten)]
        dir: SandboxDir,
    },
    /// Show the state of servers; for cluster nodes: component status, cluster size, local state, last committed seqno
    Status {
        /// The sandbox [default: all]
        name: Option<String>,
        #[command(flatten)]
        dir: SandboxDir,
    },
    /// Print a client command and a DSN for each node
    Env {
        /// The sandbox
        name: String,
        #[command(flatten)]
        dir: SandboxDir,
    },
    /// Shut servers down; keep their data
    Stop(Target),
    /// Kill servers, as a crash does; keep their data
    Kill(Target),
    /// Start the servers that do not run
    Start(Target),
    /// Stop a server's process (SIGSTOP), as if it swapped: connections stay open, but nothing answers
    Pause(OneNode),
    /// Continue paused servers
    Resume(Target),
    /// Isolate a node of a cluster from the others, by its provider's own option
    Isolate(OneNode),
    /// End the isolation of nodes, and wait until they have rejoined the cluster
    Heal(Target),
    /// Kill a sandbox's servers and remove everything of it
    Down {
        /// The sandbox
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        name: Option<String>,
        /// Every sandbox in the folder
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        dir: SandboxDir,
    },
}

#[derive(Debug, Args)]
struct UpArgs {
    /// The topology of the sandbox
    #[arg(value_enum, default_value = "standalone")]
    topology: Kind,
    /// The number of nodes of a cluster: 1 to 9 with Galera, 1 to 5 with Hortator's own provider [default: 3]; or of the
    /// sources of `fan-in`: 1 to 30 [default: 15]
    nodes: Option<usize>,
    /// The sandbox's name [default: that of the topology, with a number if the name is in use]
    #[arg(long)]
    name: Option<String>,
    /// The folder with bin/mysqld, for `up mysql` [default: $HORTATOR_MYSQL]
    #[arg(long, value_name = "FOLDER")]
    mysql: Option<PathBuf>,
    /// With a witness beside the nodes of `cluster`: a voter without a server
    #[arg(long)]
    witness: bool,
    /// A server option that overrides the sandbox's default; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_setting)]
    settings: Vec<(String, String)>,
    #[command(flatten)]
    dir: SandboxDir,
}

#[derive(Debug, Args)]
struct Target {
    /// The sandbox
    name: String,
    /// One of its nodes, counted from 1, or `witness` [default: all]
    #[arg(value_parser = parse_process)]
    node: Option<Process>,
    #[command(flatten)]
    dir: SandboxDir,
}

#[derive(Debug, Args)]
struct OneNode {
    /// The sandbox
    name: String,
    /// One of its nodes, counted from 1, or `witness`
    #[arg(value_parser = parse_process)]
    node: Process,
    #[command(flatten)]
    dir: SandboxDir,
}

/// A process of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Process {
    /// A node's, by its number.
    Node(usize),
    Witness,
}

#[derive(Debug, Args)]
struct SandboxDir {
    /// The folder of the sandboxes [default: ~/.local/state/hortator/sandbox; for root /var/lib/hortator/sandbox]
    #[arg(long)]
    dir: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// One server
    Standalone,
    /// One MySQL server
    Mysql,
    /// A Galera cluster
    Galera,
    /// A cluster of Hortator's own wsrep provider (experimental)
    Cluster,
    /// A source and its semi-synchronous replica
    Semisync,
    /// Two servers, each the semi-synchronous replica of the other
    Ring,
    /// Sources that write all the time, a target, and a replicate.toml for `hortator replicate`
    FanIn,
}

/// Runs the subcommand. An interrupted `up` leaves nothing behind.
#[expect(clippy::redundant_closure_for_method_calls, reason = "a method's path names one lifetime, a closure any")]
pub fn run(args: SandboxArgs) -> anyhow::Result<ExitCode> {
    let interrupt = interrupt_flag()?;
    let result = match args.action {
        Action::Up(args) => up(args, interrupt),
        Action::List { dir } => dir.folder().and_then(|dir| Sandbox::list(&dir)).map(|all| show(&shown::list(&all))),
        Action::Status { name, dir } => dir.named(name.as_deref()).map(|found| show(&shown::status(&found))),
        Action::Env { name, dir } => dir.open(&name).map(|sandbox| show(&shown::environment(&sandbox))),
        Action::Stop(target) => target.change(interrupt, Sandbox::stop, |node| node.stop(), |witness| witness.stop()),
        Action::Kill(target) => target.change(interrupt, Sandbox::kill, |node| node.kill(), |witness| witness.kill()),
        Action::Start(target) => {
            target.change(interrupt, Sandbox::start, |node| node.start(), |witness| witness.start())
        }
        Action::Pause(target) => target.change(interrupt, |node| node.pause(), |witness| witness.pause()),
        Action::Resume(target) => {
            target.change(interrupt, Sandbox::resume, |node| node.resume(), |witness| witness.resume())
        }
        Action::Isolate(node) => isolate(node, interrupt),
        Action::Heal(target) => {
            let witness = |witness: Witness<'_>| witness.heal().map(|()| Healed::Synced);
            target
                .change(interrupt, Sandbox::heal, |node| node.heal(), witness)
                .map(|healed| show(heal_message(healed)))
        }
        Action::Down { name, dir, .. } => down(name.as_deref(), &dir),
    };
    match result {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(Error::Interrupted) => {
            eprintln!("hortator: interrupted");
            Ok(ExitCode::from(INTERRUPTED_STATUS))
        }
        Err(error) => Err(error.into()),
    }
}

fn up(args: UpArgs, interrupt: Arc<AtomicBool>) -> Result<(), Error> {
    let topology = topology(args.topology, args.nodes, args.mysql.as_deref()).unwrap_or_else(|error| error.exit());
    let dir = args.dir.folder()?;
    let name = args.name.unwrap_or_else(|| free_name(topology, &dir));
    let mysql = args.mysql.or_else(|| std::env::var_os(MYSQL_VARIABLE).map(PathBuf::from));
    let builder = match (topology, mysql) {
        (Topology::Mysql, Some(folder)) => Builder::mysql(folder),
        _ => Builder::new(topology),
    };
    let mut builder = builder.dir(dir).interrupt_flag(interrupt);
    if args.witness {
        builder = builder.witness();
    }
    for (setting, value) in args.settings {
        builder = builder.set(setting, value);
    }
    let started = Instant::now();
    let sandbox = builder.create(&name)?;
    show(&shown::summary(&sandbox, started.elapsed()));
    Ok(())
}

/// Isolates a node, and explains the kind of isolation.
#[expect(clippy::redundant_closure_for_method_calls, reason = "a method's path names one lifetime, a closure any")]
fn isolate(target: OneNode, interrupt: Arc<AtomicBool>) -> Result<(), Error> {
    let process = target.node;
    target.change(interrupt, |node| node.isolate(), |witness| witness.isolate())?;
    let number = match process {
        Process::Node(number) => number,
        Process::Witness => {
            show("the witness has dropped its links (SIGUSR1). `heal` or its restart ends that.\n");
            return Ok(());
        }
    };
    show(&format!(
        "node{number} is isolated by its own provider (gmcast.isolate), not by the network, which would need root's rights and a \
         network for each server. All nodes notice this within seconds (`status`). `heal` or a restart of the node ends it.\n"
    ));
    Ok(())
}

fn heal_message(healed: Healed) -> &'static str {
    match healed {
        Healed::Synced => "",
        Healed::NoMajority => {
            "the nodes can reach each other again, but there is no quorum: other nodes are down, paused or isolated\n"
        }
    }
}

fn down(name: Option<&str>, dir: &SandboxDir) -> Result<(), Error> {
    for sandbox in dir.named(name)? {
        let _lock = sandbox.lock()?;
        sandbox.down()?;
    }
    Ok(())
}

impl SandboxDir {
    fn folder(&self) -> Result<PathBuf, Error> {
        self.dir.clone().map_or_else(hortator_sandbox::default_folder, Ok)
    }

    fn open(&self, name: &str) -> Result<Sandbox, Error> {
        Sandbox::open(&self.folder()?, name)
    }

    /// The named sandbox, or all.
    fn named(&self, name: Option<&str>) -> Result<Vec<Sandbox>, Error> {
        match name {
            Some(name) => Ok(vec![self.open(name)?]),
            None => Sandbox::list(&self.folder()?),
        }
    }
}

impl Target {
    fn change<T>(
        self,
        interrupt: Arc<AtomicBool>,
        all: fn(&Sandbox) -> Result<T, Error>,
        one: fn(Node<'_>) -> Result<T, Error>,
        witness: fn(Witness<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let sandbox = self.dir.open(&self.name)?.interrupt_flag(interrupt);
        let _lock = sandbox.lock()?;
        match self.node {
            Some(process) => process.change(&sandbox, one, witness),
            None => all(&sandbox),
        }
    }
}

impl OneNode {
    fn change(
        self,
        interrupt: Arc<AtomicBool>,
        change: fn(Node<'_>) -> Result<(), Error>,
        witness: fn(Witness<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let sandbox = self.dir.open(&self.name)?.interrupt_flag(interrupt);
        let _lock = sandbox.lock()?;
        self.node.change(&sandbox, change, witness)
    }
}

impl Process {
    fn change<T>(
        self,
        sandbox: &Sandbox,
        node: fn(Node<'_>) -> Result<T, Error>,
        witness: fn(Witness<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match (self, sandbox.witness()) {
            (Self::Node(number), _) => node(sandbox.numbered(number)?),
            (Self::Witness, Some(found)) => witness(found),
            (Self::Witness, None) => Err(Error::Invalid(format!("sandbox `{}` has no witness", sandbox.name()))),
        }
    }
}

/// A flag that termination signals set, so that the command cleans up.
fn interrupt_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&flag)).context("cannot catch signals")?;
    }
    Ok(flag)
}

fn topology(kind: Kind, nodes: Option<usize>, mysql: Option<&Path>) -> Result<Topology, clap::Error> {
    if mysql.is_some() && kind != Kind::Mysql {
        return Err(clap::Error::raw(ErrorKind::ArgumentConflict, "only `mysql` takes --mysql\n"));
    }
    match (kind, nodes) {
        (Kind::Galera, nodes) => Ok(Topology::Galera(nodes.unwrap_or(DEFAULT_NODES))),
        (Kind::Cluster, nodes) => Ok(Topology::Cluster(nodes.unwrap_or(DEFAULT_NODES))),
        (Kind::FanIn, sources) => Ok(Topology::FanIn(sources.unwrap_or(DEFAULT_SOURCES))),
        (Kind::Standalone, None) => Ok(Topology::Standalone),
        (Kind::Mysql, None) => Ok(Topology::Mysql),
        (Kind::Semisync, None) => Ok(Topology::Semisync),
        (Kind::Ring, None) => Ok(Topology::Ring),
        (_, Some(nodes)) => Err(clap::Error::raw(
            ErrorKind::ArgumentConflict,
            format!("only `galera`, `cluster` and `fan-in` take a number, but {nodes} was given\n"),
        )),
    }
}

/// The topology's name, with a number if that name is in use.
fn free_name(topology: Topology, dir: &Path) -> String {
    let plain = topology.to_string().replace(' ', "-");
    let numbered = (2..).map(|number| format!("{plain}.{number}"));
    let mut names = std::iter::once(plain.clone()).chain(numbered);
    names.find(|name| !dir.join(name).exists()).unwrap_or(plain)
}

fn parse_setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("give NAME=VALUE, for example max_connections=500".to_owned()),
    }
}

/// `2` and `node2` are the same node.
fn parse_process(text: &str) -> Result<Process, String> {
    if text == "witness" {
        return Ok(Process::Witness);
    }
    let number = text.strip_prefix("node").unwrap_or(text).parse();
    number.map(Process::Node).map_err(|_| "give a node number: 1, 2, 3 …".to_owned())
}

/// Prints the text, and ignores a closed standard output: the action is done already.
fn show(text: &str) {
    let _no_reader = std::io::stdout().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests;
