//! `hortator replicate`: the agent in the foreground, and what a person asks of it.

mod setup;
mod status_table;
mod watch;

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use hortator_replicate::agent::{Agent, Order, SourceFiles, SourceState, SourceStatus};
use hortator_replicate::control::{Answer, ControlServer, Request, ask};
use hortator_replicate::monitoring::Listener;
use hortator_replicate::preflight::{self, Severity};
use hortator_replicate::source::Until;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

pub use setup::Setup;

/// How long the end may take: a server may keep a transaction waiting.
const END_LIMIT: Duration = Duration::from_secs(20);
/// How long `wait` gives an agent that is being started, as in `run FILE & wait FILE`.
const START_LIMIT: Duration = Duration::from_secs(5);
/// How often `wait` asks.
const WAIT_INTERVAL: Duration = Duration::from_millis(50);

/// Arguments of `hortator replicate`.
#[derive(Debug, Args)]
pub struct ReplicateArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Look for what would go wrong: settings, grants, tables without keys, names that collide
    Check(File),
    /// Apply all sources, or the files of one, until `stop`, Ctrl-C or SIGTERM
    Run(RunArgs),
    /// Show how each source stands
    Status {
        #[command(flatten)]
        file: File,
        /// Show it every second
        #[arg(long)]
        watch: bool,
        /// Print JSON: one array, or one for each second
        #[arg(long)]
        json: bool,
    },
    /// Let a source wait; what it has applied is committed
    Pause(OneSource),
    /// Let a source go on that is paused, or that an error has stopped
    Resume(OneSource),
    /// Pass over the transaction that has stopped a source, and go on
    Skip(OneSource),
    /// Copy a source once more, or some of its tables: replace what the target has of it by what the source has now; the
    /// others go on
    CopyAgain {
        #[command(flatten)]
        one: OneSource,
        /// Only this table of the source; give the option several times for several tables
        #[arg(long = "table", value_name = "SCHEMA.TABLE")]
        tables: Vec<String>,
    },
    /// Wait until the target has what the sources have now
    Wait {
        #[command(flatten)]
        file: File,
        /// All that the sources have written when the command starts
        #[arg(long, required = true)]
        caught_up: bool,
        /// Give up after this time [default: never]
        #[arg(long, value_name = "SECONDS")]
        timeout: Option<u64>,
    },
    /// Commit what is under way and end the process of `run`
    Stop(File),
}

#[derive(Debug, Args)]
struct File {
    /// The configuration, replicate.toml
    #[arg(value_name = "FILE")]
    path: PathBuf,
}

#[derive(Debug, Args)]
struct RunArgs {
    #[command(flatten)]
    file: File,
    /// Which transactions of one source wait for each other: those that use the same rows, or those that write to the same
    /// database. The second is the rule of older tools, for comparison
    #[arg(long, value_name = "RULE", default_value = "keys")]
    order: OrderRule,
    /// Read the log of one source from the files in this folder, and end when they are applied
    #[arg(long, value_name = "DIR")]
    from_files: Option<PathBuf>,
    /// Whose files they are [default: the only source of the configuration]
    #[arg(long, value_name = "NAME", requires = "from_files")]
    source: Option<String>,
    /// Where to end [default: at the end of the files]: behind a GTID (`0-1-100`), behind the last transaction that ends at
    /// or before FILE:POSITION, or before the first one that begins at a time (`2026-11-23 12:00:00`, UTC or with an offset)
    #[arg(long, value_name = "WHEN", requires = "from_files")]
    until: Option<Until>,
}

/// The values of `--order`.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum OrderRule {
    Keys,
    Schema,
}

impl From<OrderRule> for Order {
    fn from(rule: OrderRule) -> Order {
        match rule {
            OrderRule::Keys => Order::Keys,
            OrderRule::Schema => Order::Schema,
        }
    }
}

#[derive(Debug, Args)]
struct OneSource {
    #[command(flatten)]
    file: File,
    /// The source's name
    source: String,
}

/// Runs the subcommand.
///
/// # Errors
/// When the configuration is wrong, no agent runs, or it refuses.
pub fn run(args: ReplicateArgs) -> anyhow::Result<ExitCode> {
    match args.action {
        Action::Check(file) => check(&file.path),
        Action::Run(args) => run_agent(args),
        Action::Status { file, watch, json } => show_status(&file.path, watch, json),
        Action::Pause(one) => order(&one.file.path, &Request::Pause { source: one.source }),
        Action::Resume(one) => order(&one.file.path, &Request::Resume { source: one.source }),
        Action::Skip(one) => order(&one.file.path, &Request::Skip { source: one.source }),
        Action::CopyAgain { one, tables } => order(&one.file.path, &Request::CopyAgain { source: one.source, tables }),
        Action::Wait { file, timeout, .. } => wait(&file.path, timeout.map(Duration::from_secs)),
        Action::Stop(file) => stop(&file.path),
    }
}

fn check(path: &Path) -> anyhow::Result<ExitCode> {
    let setup = Setup::read(path)?;
    let found = preflight::check(&setup.options);
    for finding in &found {
        let severity = match finding.severity {
            Severity::Problem => "problem",
            Severity::Warning => "warning",
        };
        let source = finding.source.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
        println!("{severity}: {source}{}", finding.text);
    }
    let count = setup.options.sources.len();
    let problems = found.iter().filter(|finding| finding.severity == Severity::Problem).count();
    if problems > 0 {
        println!("{problems} of these must be mended before `run`");
        return Ok(ExitCode::FAILURE);
    }
    println!("the target and {count} sources can be used");
    Ok(ExitCode::SUCCESS)
}

fn run_agent(args: RunArgs) -> anyhow::Result<ExitCode> {
    let mut setup = Setup::read(&args.file.path)?;
    setup.options.order = args.order.into();
    let is_of_files = args.from_files.is_some();
    if let Some(folder) = args.from_files {
        setup.read_from_files(args.source.as_deref(), SourceFiles { folder, until: args.until })?;
    }
    let server = ControlServer::open(&setup.socket).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            anyhow::anyhow!("this configuration runs already: {} answers", setup.socket.display())
        }
        io::ErrorKind::InvalidInput => anyhow::anyhow!(
            "cannot listen at {}: {error}; give the configuration a shorter path",
            setup.socket.display()
        ),
        _ => anyhow::Error::new(error).context(format!("cannot listen at {}", setup.socket.display())),
    })?;
    let listener = setup.listen.map(|address| listen(&args.file.path, address)).transpose()?;
    end_on_signals(&setup.socket)?;
    let notices: Arc<hortator_replicate::agent::Notices> = Arc::new(|source: &str, text: &str| {
        // A terminal that has gone does not end replication.
        let _ = writeln!(io::stderr().lock(), "hortator: {source}: {text}");
    });
    let agent = Agent::start(setup.options, &notices);
    if let Some(listener) = listener {
        listener.serve(Arc::new(agent.reporter())).context("cannot start a thread")?;
    }
    if is_of_files {
        stop_after(agent.wait_for_end(), &setup.socket);
    }
    while !server.serve_one(&agent).context("cannot take requests any more")? {}
    let last = agent.stop(END_LIMIT);
    drop(server);
    let mut is_well = true;
    for status in last {
        let text = match (status.state, status.error) {
            (SourceState::Complete, _) => continue,
            (SourceState::Ended, _) if !is_of_files => continue,
            (SourceState::Ended, _) => format!(
                "was ended before the end of the files, at {}:{}: the same command goes on",
                status.applied_file, status.applied_position
            ),
            (SourceState::Stopped, error) => format!("was stopped by an error: {}", error.unwrap_or_default()),
            _ => format!(
                "has waited for a server for {} s: its last transaction is not committed, and is applied at the next start",
                END_LIMIT.as_secs()
            ),
        };
        eprintln!("hortator: {} {text}", status.name);
        is_well = false;
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Listens for what watches the agent, and says where.
fn listen(path: &Path, address: SocketAddr) -> anyhow::Result<Listener> {
    let cannot = || format!("{}: [agent], `listen`: cannot listen at {address}", path.display());
    let listener = Listener::open(address).with_context(cannot)?;
    let address = listener.address().with_context(cannot)?;
    eprintln!("hortator: answers at http://{address}/metrics and /healthz");
    Ok(listener)
}

/// The end of all sources is a `stop` of one's own too.
fn stop_after(wait: impl FnOnce() + Send + 'static, socket: &Path) {
    let socket = socket.to_owned();
    thread::spawn(move || {
        wait();
        let _ = ask(&socket, &Request::Stop);
    });
}

/// A signal is a `stop` of one's own.
fn end_on_signals(socket: &Path) -> anyhow::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot wait for signals")?;
    let socket = socket.to_owned();
    thread::spawn(move || {
        for _ in signals.forever() {
            // Where the socket is gone, the process is about to end.
            let _ = ask(&socket, &Request::Stop);
        }
    });
    Ok(())
}

fn show_status(path: &Path, watch: bool, json: bool) -> anyhow::Result<ExitCode> {
    let socket = Setup::read(path)?.socket;
    let sources = status(&socket)?;
    if watch {
        return watch::watch(&socket, sources, json);
    }
    writeln!(io::stdout(), "{}", status_text(&sources, json)?)?;
    let is_well = sources.iter().all(|source| source.state != SourceState::Stopped);
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn status_text(sources: &[SourceStatus], json: bool) -> anyhow::Result<String> {
    if json { Ok(serde_json::to_string(sources)?) } else { Ok(status_table::table(sources)) }
}

fn order(path: &Path, request: &Request) -> anyhow::Result<ExitCode> {
    send(&Setup::read(path)?.socket, request)?;
    Ok(ExitCode::SUCCESS)
}

fn stop(path: &Path) -> anyhow::Result<ExitCode> {
    let socket = Setup::read(path)?.socket;
    send(&socket, &Request::Stop)?;
    // The socket goes with the process.
    while socket.exists() && ask(&socket, &Request::Status).is_ok() {
        thread::sleep(WAIT_INTERVAL);
    }
    Ok(ExitCode::SUCCESS)
}

fn wait(path: &Path, timeout: Option<Duration>) -> anyhow::Result<ExitCode> {
    let setup = Setup::read(path)?;
    let begin = Instant::now();
    let ends = setup.log_ends()?;
    let start_limit = timeout.map_or(START_LIMIT, |timeout| timeout.min(START_LIMIT));
    while ask(&setup.socket, &Request::Status).is_err() && begin.elapsed() < start_limit {
        thread::sleep(WAIT_INTERVAL);
    }
    loop {
        let sources = status(&setup.socket)?;
        let behind: Vec<&SourceStatus> = sources
            .iter()
            .filter(|status| ends.iter().any(|(name, end)| *name == status.name && !setup::has_applied(status, end)))
            .collect();
        if let Some(stopped) = sources.iter().find(|status| status.state == SourceState::Stopped) {
            bail!("{} is stopped: {}", stopped.name, stopped.error.as_deref().unwrap_or_default());
        }
        let Some(first) = behind.first() else { return Ok(ExitCode::SUCCESS) };
        if timeout.is_some_and(|timeout| begin.elapsed() >= timeout) {
            let error = first.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
            bail!("{} of {} sources are not caught up, {} among them{error}", behind.len(), sources.len(), first.name);
        }
        thread::sleep(WAIT_INTERVAL);
    }
}

fn status(socket: &Path) -> anyhow::Result<Vec<SourceStatus>> {
    match send(socket, &Request::Status)? {
        Answer::Status { sources } => Ok(sources),
        other => bail!("the agent gave another answer than its status: {other:?}"),
    }
}

/// Asks the agent; a refusal is an error.
fn send(socket: &Path, request: &Request) -> anyhow::Result<Answer> {
    let answer = ask(socket, request).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            anyhow::anyhow!("nothing runs this configuration: `hortator replicate run` starts it")
        }
        _ => anyhow::Error::new(error).context(format!("cannot ask the agent at {}", socket.display())),
    })?;
    match answer {
        Answer::Refused { reason } => bail!(reason),
        answer => Ok(answer),
    }
}
