//! `hortator bench`: reproducible experiments.

mod all;
mod auto_increment;
mod compare;
mod extent;
mod fan_in;
mod foreign_keys;
mod page_output;
mod provider;
mod shapes;
mod stress;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use hortator_bench::contenders::Contender;
use hortator_bench::experiment::{Experiment, KEPT_NAME, Verdict};
use hortator_bench::{employees, galera, report};

use all::AllArgs;
use auto_increment::AutoIncrementArgs;
use compare::CompareArgs;
use fan_in::{FanInArgs, RecoveryArgs};
use foreign_keys::ForeignKeysArgs;
use provider::{ClusterArgs, ProviderArgs};
use shapes::ShapesArgs;
use stress::StressArgs;

/// The exit status that shells use for a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// Arguments of `hortator bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    #[command(subcommand)]
    experiment: ExperimentCommand,
}

#[derive(Debug, Subcommand)]
enum ExperimentCommand {
    /// Load a dump of 3.9 million rows with the mariadb client and with `hortator load`; compare times and states
    Employees(EmployeesArgs),
    /// Load the same dump into a Galera cluster on this machine, with the client and with `hortator load`
    Load(LoadArgs),
    /// Insert and load on a single node with Hortator's wsrep provider, with Galera, and without a provider
    Provider(ProviderArgs),
    /// Insert, update and load on three nodes with Hortator's wsrep provider and with Galera
    Cluster(ClusterArgs),
    /// Replicate several servers into one with MariaDB's own replication and with `hortator replicate`
    FanIn(FanInArgs),
    /// Replay the binary log files of a server with `mariadb-binlog | mariadb` and with `hortator replicate`
    Recovery(RecoveryArgs),
    /// Load dumps of many shapes with the mariadb client and with `hortator load`, and compare times and states
    Shapes(ShapesArgs),
    /// Load a table with an AUTO_INCREMENT column over 1 to 8 connections, with each innodb_autoinc_lock_mode
    AutoIncrement(AutoIncrementArgs),
    /// Load the employees sample with foreign keys and without, into one server, Galera and Hortator's provider
    ForeignKeys(ForeignKeysArgs),
    /// Insert children with 1 and 8 threads, with foreign keys and without, into one server, Galera and Hortator's provider
    Stress(StressArgs),
    /// Run all experiments that write a page, at a small size, and write an index of their reports
    All(AllArgs),
    /// Compare two runs of an experiment, from the files that `--json` wrote
    Compare(CompareArgs),
}

#[derive(Debug, Args)]
struct LoadArgs {
    /// Load into a Galera cluster (required; the only experiment of this name)
    #[arg(long, required = true)]
    galera: bool,
    /// Number of cluster nodes
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(2..=9))]
    nodes: u16,
    /// Runs of each contender
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Size of the dump: 1 is 3.9 million rows and 170 MB
    #[arg(long, value_name = "F", default_value_t = 1.0)]
    scale: f64,
    /// Connections of `hortator load` [default: chosen by `hortator load`]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Folder for the dump, kept for later experiments [default: beside the sandboxes in the user's state folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Write a Markdown page with all figures
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct EmployeesArgs {
    /// Runs of each contender
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Size of the dump: 1 is 3.9 million rows and 170 MB
    #[arg(long, value_name = "F", default_value_t = 1.0)]
    scale: f64,
    /// Connections of `hortator load` [default: chosen by `hortator load`]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Contenders to run
    #[arg(long, value_name = "CONTENDER", value_delimiter = ',', default_values_t = ContenderName::value_variants())]
    contenders: Vec<ContenderName>,
    /// Folder for the dump, kept for later experiments [default: beside the sandboxes in the user's state folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Keep the server running as the sandbox `bench-employees`
    #[arg(long)]
    keep: bool,
    /// Write a Markdown page with all figures
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Only generate the dump, and print its folder, rows, bytes and checksum
    #[arg(long)]
    dump_only: bool,
}

/// The name of a contender on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ContenderName {
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

impl std::fmt::Display for ContenderName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = self.to_possible_value().expect("no variant is skipped");
        f.write_str(value.get_name())
    }
}

impl From<ContenderName> for Contender {
    fn from(name: ContenderName) -> Self {
        match name {
            ContenderName::Client => Self::Client,
            ContenderName::Deferred => Self::Deferred,
            ContenderName::Hortator => Self::Hortator,
            ContenderName::Copy => Self::ServerCopy,
            ContenderName::Myloader => Self::Myloader,
        }
    }
}

/// Runs the experiment.
///
/// # Errors
/// Any error that ends the experiment. Two loads that leave different states are not an error but exit status 1.
pub fn run(args: BenchArgs) -> anyhow::Result<ExitCode> {
    match args.experiment {
        ExperimentCommand::Employees(args) => employees_experiment(args),
        ExperimentCommand::Load(args) => galera_experiment(args),
        ExperimentCommand::Provider(args) => provider::single(args),
        ExperimentCommand::Cluster(args) => provider::cluster(args),
        ExperimentCommand::FanIn(args) => fan_in::run(args),
        ExperimentCommand::Recovery(args) => fan_in::run_recovery(args),
        ExperimentCommand::Shapes(args) => shapes::run(args),
        ExperimentCommand::AutoIncrement(args) => auto_increment::run(args),
        ExperimentCommand::ForeignKeys(args) => foreign_keys::run(args),
        ExperimentCommand::Stress(args) => stress::run(args),
        ExperimentCommand::All(args) => all::run(&args),
        ExperimentCommand::Compare(args) => compare::run(&args),
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
    write_report(args.report.as_deref(), &galera::markdown(&outcome))?;
    Ok(if matches!(outcome.verdict, Verdict::Differs(_)) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The outcome, or None when the user stopped the experiment, after a message.
fn ended<T>(outcome: Result<T, hortator_bench::Error>) -> anyhow::Result<Option<T>> {
    match outcome {
        Err(interrupted @ hortator_bench::Error::Interrupted) => {
            eprintln!("hortator: {interrupted}");
            Ok(None)
        }
        outcome => Ok(Some(outcome?)),
    }
}

/// Writes the Markdown page to the requested path, if any.
fn write_report(path: Option<&Path>, page: &str) -> anyhow::Result<()> {
    match path {
        Some(path) => fs::write(path, page).with_context(|| format!("writing {}", path.display())),
        None => Ok(()),
    }
}

/// The folder of the dumps.
fn folder(asked: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    Ok(match asked {
        Some(folder) => folder,
        None => hortator_sandbox::default_folder()?.with_file_name("bench"),
    })
}

/// A flag that Ctrl-C sets.
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
        contenders: args.contenders.into_iter().map(Contender::from).collect(),
        folder,
        keep: args.keep,
        hortator: std::env::current_exe().context("finding this program's own file")?,
        stop: stop_on_signals()?,
    };
    let Some(outcome) = ended(experiment.run(&mut |step| eprintln!("{step}")))? else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    println!("{}", report::table(&outcome));
    for skipped in &outcome.skipped {
        println!("skipped: {skipped}");
    }
    for warning in report::warnings(&outcome) {
        println!("{warning}");
    }
    println!("{}", report::verdict(&outcome));
    write_report(args.report.as_deref(), &report::markdown(&outcome))?;
    if args.keep {
        eprintln!("the server keeps running: `hortator sandbox down {KEPT_NAME}` removes it");
    }
    Ok(if matches!(outcome.verdict, Verdict::Differs(_)) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
