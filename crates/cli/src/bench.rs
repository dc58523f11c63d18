//! `hortator bench`: experiments that anyone can rerun.

mod provider;
mod shapes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use hortator_bench::experiment::{Experiment, KEPT_NAME, Verdict};
use hortator_bench::ways::Way;
use hortator_bench::{employees, galera, report};

use provider::{ClusterArgs, ProviderArgs};
use shapes::ShapesArgs;

/// What a shell gives for a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// Arguments of `hortator bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    #[command(subcommand)]
    experiment: Which,
}

#[derive(Debug, Subcommand)]
enum Which {
    /// Load a dump of 3.9 million rows with the mariadb client and with `hortator load`, and compare times and states
    Employees(EmployeesArgs),
    /// Load the same dump into a Galera cluster on this machine, with the client and with `hortator load`
    Load(LoadArgs),
    /// Insert and load on a single node with Hortator's wsrep provider, with Galera's, and on a server with none
    Provider(ProviderArgs),
    /// Insert, update and load on three nodes with Hortator's wsrep provider and on three with Galera's
    Cluster(ClusterArgs),
    /// Load dumps of many shapes with the mariadb client and with `hortator load`, and compare times and states
    Shapes(ShapesArgs),
}

#[derive(Debug, Args)]
struct LoadArgs {
    /// Into a Galera cluster; there is no other experiment of this name yet
    #[arg(long, required = true)]
    galera: bool,
    /// Nodes of the cluster
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(2..=9))]
    nodes: u16,
    /// How often each way runs
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Size of the dump: 1 is 3.9 million rows and 170 MB
    #[arg(long, value_name = "F", default_value_t = 1.0)]
    scale: f64,
    /// Connections of `hortator load` [default: its own choice]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Where the dump is made and found again [default: beside the sandboxes in the user's state folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Write a page of Markdown with every figure
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct EmployeesArgs {
    /// How often each way runs
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Size of the dump: 1 is 3.9 million rows and 170 MB
    #[arg(long, value_name = "F", default_value_t = 1.0)]
    scale: f64,
    /// Connections of `hortator load` [default: its own choice]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Ways to run
    #[arg(long, value_name = "WAY", value_delimiter = ',', default_values_t = WayName::value_variants())]
    ways: Vec<WayName>,
    /// Where the dump is made and found again [default: beside the sandboxes in the user's state folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Leave the server running, as the sandbox `bench-employees`
    #[arg(long)]
    keep: bool,
    /// Write a page of Markdown with every figure
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Only make the dump, and print its folder, rows, bytes and checksum
    #[arg(long)]
    dump_only: bool,
}

/// How a way is called on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum WayName {
    /// `mariadb < employees.sql`
    Client,
    /// `hortator load employees.sql`
    Hortator,
    /// `hortator load --foreign-keys=deferred employees.sql`
    Deferred,
    /// The server's own copy of the same rows
    Copy,
    /// mydumper's loader on mydumper's directory of the same rows
    Myloader,
}

impl std::fmt::Display for WayName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = self.to_possible_value().expect("no variant is skipped");
        f.write_str(value.get_name())
    }
}

impl From<WayName> for Way {
    fn from(name: WayName) -> Self {
        match name {
            WayName::Client => Self::Client,
            WayName::Deferred => Self::Deferred,
            WayName::Hortator => Self::Hortator,
            WayName::Copy => Self::ServerCopy,
            WayName::Myloader => Self::Myloader,
        }
    }
}

/// Runs the experiment that was asked for.
///
/// # Errors
/// What stopped it. Two loads that leave different states are not an error but exit status 1.
pub fn run(args: BenchArgs) -> anyhow::Result<ExitCode> {
    match args.experiment {
        Which::Employees(args) => employees_experiment(args),
        Which::Load(args) => galera_experiment(args),
        Which::Provider(args) => provider::single(args),
        Which::Cluster(args) => provider::cluster(args),
        Which::Shapes(args) => shapes::run(args),
    }
}

fn galera_experiment(args: LoadArgs) -> anyhow::Result<ExitCode> {
    let experiment = galera::Experiment {
        rounds: args.rounds.into(),
        scale: args.scale,
        nodes: args.nodes.into(),
        threads: args.threads.map(usize::from),
        folder: folder(args.dir)?,
        hortator: std::env::current_exe().context("finding this program's own file")?,
        stop: stop_on_signals()?,
    };
    let Some(outcome) = ended(experiment.run(&mut |step| eprintln!("{step}")))? else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    println!("{}", galera::table(&outcome));
    keep_report(args.report.as_deref(), &galera::markdown(&outcome))?;
    Ok(if matches!(outcome.verdict, Verdict::Differs(_)) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What came out, or nothing when the experiment was told to stop, which is said.
fn ended<T>(outcome: Result<T, hortator_bench::Error>) -> anyhow::Result<Option<T>> {
    match outcome {
        Err(interrupted @ hortator_bench::Error::Interrupted) => {
            eprintln!("hortator: {interrupted}");
            Ok(None)
        }
        outcome => Ok(Some(outcome?)),
    }
}

/// Writes the page of Markdown where it was asked for.
fn keep_report(path: Option<&Path>, page: &str) -> anyhow::Result<()> {
    match path {
        Some(path) => fs::write(path, page).with_context(|| format!("writing {}", path.display())),
        None => Ok(()),
    }
}

/// Where dumps are made and found again.
fn folder(asked: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    Ok(match asked {
        Some(folder) => folder,
        None => hortator_sandbox::default_folder()?.with_file_name("bench"),
    })
}

/// A flag that Ctrl-C raises.
fn stop_on_signals() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("listening for Ctrl-C")?;
    }
    Ok(stop)
}

fn employees_experiment(args: EmployeesArgs) -> anyhow::Result<ExitCode> {
    let folder = folder(args.dir)?;
    if args.dump_only {
        let dump = employees::cached(&folder, args.scale)?;
        let employees::Dump { folder, rows, bytes, checksum } = dump;
        println!("{}\t{rows} rows\t{bytes} bytes\t{checksum:032x}", folder.display());
        return Ok(ExitCode::SUCCESS);
    }
    let experiment = Experiment {
        rounds: args.rounds.into(),
        scale: args.scale,
        threads: args.threads.map(usize::from),
        ways: args.ways.into_iter().map(Way::from).collect(),
        folder,
        keep: args.keep,
        hortator: std::env::current_exe().context("finding this program's own file")?,
        stop: stop_on_signals()?,
    };
    let Some(outcome) = ended(experiment.run(&mut |step| eprintln!("{step}")))? else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    println!("{}", report::table(&outcome));
    for left_out in &outcome.left_out {
        println!("left out: {left_out}");
    }
    for warning in report::warnings(&outcome) {
        println!("{warning}");
    }
    println!("{}", report::verdict(&outcome));
    keep_report(args.report.as_deref(), &report::markdown(&outcome))?;
    if args.keep {
        eprintln!("the server still runs: `hortator sandbox down {KEPT_NAME}` removes it");
    }
    Ok(if matches!(outcome.verdict, Verdict::Differs(_)) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
