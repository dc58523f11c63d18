//! `hortator bench`: reproducible experiments.

mod all;
mod auto_increment;
mod compare;
mod csv;
mod employees;
mod extent;
mod fan_in;
mod foreign_keys;
mod oltp_short;
mod page_output;
mod progress_line;
mod provider;
mod semisync;
mod shapes;
mod show;
mod stress;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use clap::{Args, Subcommand};

use all::AllArgs;
use auto_increment::AutoIncrementArgs;
use compare::CompareArgs;
use csv::CsvArgs;
use employees::{EmployeesArgs, LoadArgs};
use fan_in::{FanInArgs, RecoveryArgs};
use foreign_keys::ForeignKeysArgs;
use oltp_short::OltpShortArgs;
use provider::{ClusterArgs, ProviderArgs};
use semisync::SemisyncArgs;
use shapes::ShapesArgs;
use show::ShowArgs;
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
    /// Load a CSV file with LOAD DATA, mariadb-import and `hortator load --table`, with secondary indexes and without
    Csv(CsvArgs),
    /// Load a table with an AUTO_INCREMENT column over 1 to 8 connections, with each innodb_autoinc_lock_mode
    AutoIncrement(AutoIncrementArgs),
    /// Load the employees sample with foreign keys and without, into one server, Galera and Hortator's provider
    ForeignKeys(ForeignKeysArgs),
    /// Insert children with 1 and 8 threads, with foreign keys and without, into one server, Galera and Hortator's provider
    Stress(StressArgs),
    /// Insert single rows with up to 400 threads, and kill a server: semi-synchronous replication, Galera and Hortator's provider
    Semisync(SemisyncArgs),
    /// Run short, mixed transactions that are bound by the disk, on one server, Galera and Hortator's provider
    ///
    /// Needs sysbench 1.0. The data go to the folder of --dir, which has to be on a block device. With the rights to do so (root,
    /// outside of a container), control groups limit the servers to 400 reads and 400 writes a second once the tables are filled;
    /// without, the disk is measured as it is. The report says which of both applied. A window is 5 seconds, with --full 150.
    OltpShort(OltpShortArgs),
    /// Run all experiments that write a page, at a small size, and write an index of their reports
    All(AllArgs),
    /// Compare two runs of an experiment, from the files that `--json` wrote
    Compare(CompareArgs),
    /// Show a run of an experiment again, from the file that `--json` wrote, and write its reports
    Show(ShowArgs),
}

/// Runs the experiment.
///
/// # Errors
/// Any error that ends the experiment. A run that fails, or leaves another state than it should, is not an error but exit
/// status 1.
pub fn run(args: BenchArgs) -> anyhow::Result<ExitCode> {
    match args.experiment {
        ExperimentCommand::Employees(args) => employees::run(args),
        ExperimentCommand::Load(args) => employees::run_on_cluster(args),
        ExperimentCommand::Provider(args) => provider::single(args),
        ExperimentCommand::Cluster(args) => provider::cluster(args),
        ExperimentCommand::FanIn(args) => fan_in::run(args),
        ExperimentCommand::Recovery(args) => fan_in::run_recovery(args),
        ExperimentCommand::Shapes(args) => shapes::run(args),
        ExperimentCommand::Csv(args) => csv::run(args),
        ExperimentCommand::AutoIncrement(args) => auto_increment::run(args),
        ExperimentCommand::ForeignKeys(args) => foreign_keys::run(args),
        ExperimentCommand::Stress(args) => stress::run(args),
        ExperimentCommand::Semisync(args) => semisync::run(&args),
        ExperimentCommand::OltpShort(args) => oltp_short::run(args),
        ExperimentCommand::All(args) => all::run(&args),
        ExperimentCommand::Compare(args) => compare::run(&args),
        ExperimentCommand::Show(args) => show::run(&args),
    }
}

/// The folder of the dumps. Its path is absolute: programs that load run in folders of their own.
fn folder(asked: Option<&Path>) -> anyhow::Result<PathBuf> {
    Ok(match asked {
        Some(folder) => {
            std::path::absolute(folder).with_context(|| format!("finding the folder {}", folder.display()))?
        }
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
