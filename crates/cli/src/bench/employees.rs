//! `hortator bench employees` and `hortator bench load --galera`.

use std::fmt;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, ValueEnum};
use hortator_bench::employees::{self, Dump};
use hortator_bench::loads::{Contender, Experiment, KEPT_NAME, Target, page};
use hortator_bench::options::NodeSetting;

use super::extent::{LoadExtentArgs, NodeArgs, scale};
use super::folder;
use super::page_output::PageArgs;

/// The sample's size with `--quick` and with `--full`.
const QUICK_SCALE: f64 = 0.5;
const FULL_SCALE: f64 = 1.0;

/// What both have.
#[derive(Debug, Args)]
struct SampleArgs {
    /// Size of the dump: 1 is 3.9 million rows and 170 MB [default: 0.5; with --full: 1]
    #[arg(long, value_name = "F", value_parser = scale)]
    scale: Option<f64>,
    /// Connections of `hortator load` [default: chosen by `hortator load`]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    #[command(flatten)]
    extent: LoadExtentArgs,
    #[command(flatten)]
    page: PageArgs,
}

/// Arguments of `hortator bench load`.
#[derive(Debug, Args)]
pub struct LoadArgs {
    /// Load into a Galera cluster (required; the only experiment of this name)
    #[arg(long, required = true)]
    galera: bool,
    /// Number of cluster nodes
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(2..=9))]
    nodes: u16,
    /// Contenders to run [default: all]
    #[arg(long, value_name = "CONTENDER", value_delimiter = ',')]
    only: Vec<ClusterContender>,
    #[command(flatten)]
    settings: NodeArgs,
    #[command(flatten)]
    sample: SampleArgs,
}

/// Arguments of `hortator bench employees`.
#[derive(Debug, Args)]
pub struct EmployeesArgs {
    /// Contenders to run [default: all]
    #[arg(long, value_name = "CONTENDER", value_delimiter = ',')]
    only: Vec<ServerContender>,
    /// Keep the server running as the sandbox `bench-employees`
    #[arg(long)]
    keep: bool,
    /// Only generate the dump, and print its folder, rows, bytes and checksum
    #[arg(long)]
    dump_only: bool,
    #[command(flatten)]
    sample: SampleArgs,
}

/// The name of a contender for one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ServerContender {
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

/// The name of a contender for a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ClusterContender {
    /// `mariadb < employees.sql` on the first node
    Client,
    /// `hortator load --nodes … employees.sql`
    Hortator,
    /// The same with `--foreign-keys=deferred`
    Deferred,
    /// The same with `--unique-checks=deferred`, too
    Bulk,
    /// `hortator load --foreign-keys=deferred` into one server
    Single,
}

impl fmt::Display for ServerContender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_possible_value().expect("no variant is skipped").get_name())
    }
}

impl From<ServerContender> for Contender {
    fn from(name: ServerContender) -> Self {
        match name {
            ServerContender::Client => Self::Client,
            ServerContender::Hortator => Self::Load,
            ServerContender::Deferred => Self::Deferred,
            ServerContender::Copy => Self::ServerCopy,
            ServerContender::Myloader => Self::Myloader,
        }
    }
}

impl From<ClusterContender> for Contender {
    fn from(name: ClusterContender) -> Self {
        match name {
            ClusterContender::Client => Self::Client,
            ClusterContender::Hortator => Self::Load,
            ClusterContender::Deferred => Self::Deferred,
            ClusterContender::Bulk => Self::Bulk,
            ClusterContender::Single => Self::Single,
        }
    }
}

impl SampleArgs {
    fn scale(&self) -> f64 {
        self.scale.unwrap_or_else(|| self.extent.by_size(QUICK_SCALE, FULL_SCALE))
    }
}

pub(super) fn run(args: EmployeesArgs) -> anyhow::Result<ExitCode> {
    let EmployeesArgs { only, keep, dump_only, sample } = args;
    if dump_only {
        let scale = sample.scale();
        let Dump { folder, rows, bytes, checksum } = employees::cached(&folder(sample.extent.dir.as_deref())?, scale)?;
        println!("{}\t{rows} rows\t{bytes} bytes\t{checksum:032x}", folder.display());
        return Ok(ExitCode::SUCCESS);
    }
    let contenders = match only.is_empty() {
        true => Contender::ON_SERVER.to_vec(),
        false => only.into_iter().map(Contender::from).collect(),
    };
    let status = measure(Target::Server { is_kept: keep }, contenders, &[], &sample)?;
    if keep {
        eprintln!("the server keeps running: `hortator sandbox down {KEPT_NAME}` removes it");
    }
    Ok(status)
}

pub(super) fn run_on_cluster(args: LoadArgs) -> anyhow::Result<ExitCode> {
    let LoadArgs { galera: _, nodes, only, settings, sample } = args;
    let contenders = match only.is_empty() {
        true => Contender::ON_CLUSTER.to_vec(),
        false => only.into_iter().map(Contender::from).collect(),
    };
    measure(Target::Cluster(nodes.into()), contenders, &settings.node_set, &sample)
}

fn measure(
    target: Target,
    contenders: Vec<Contender>,
    nodes: &[NodeSetting],
    args: &SampleArgs,
) -> anyhow::Result<ExitCode> {
    args.page.check_with(nodes)?;
    let experiment = Experiment {
        target,
        contenders,
        scale: args.scale(),
        threads: args.threads.map(usize::from),
        hortator: std::env::current_exe().context("finding this program's own file")?,
        extent: args.extent.extent()?,
    };
    let outcome = experiment.run(&mut args.page.progress())?;
    args.page.write(&page(&experiment, &outcome), outcome.measured.unfinished.is_some())
}
