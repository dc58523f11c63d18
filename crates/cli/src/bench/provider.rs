//! `hortator bench provider` and `hortator bench cluster`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use hortator_bench::provider::{Experiment, Suite, Workload, markdown, table};

use super::{INTERRUPTED, ended, folder, stop_on_signals, write_report};

/// Arguments of `hortator bench provider`.
#[derive(Debug, Args)]
pub struct ProviderArgs {
    /// Workloads, of 1x1, 16x1, 200x1, 1x50, 16x50 (threads x rows per INSERT) and load [default: all]
    #[arg(long, value_name = "WORKLOAD", value_delimiter = ',', value_parser = |name: &str| workload(Suite::Single, name))]
    only: Vec<Workload>,
    #[command(flatten)]
    run: RunArgs,
}

/// Arguments of `hortator bench cluster`.
#[derive(Debug, Args)]
pub struct ClusterArgs {
    /// Workloads, of 1x1, 16x1, 200x1, 1x50, 16x50 (threads x rows per INSERT), hot16 (threads that update one row),
    /// 16x1-on-2, 200x1-on-2, hot16-on-2 (threads spread over two nodes) and load [default: all]
    #[arg(long, value_name = "WORKLOAD", value_delimiter = ',', value_parser = |name: &str| workload(Suite::Cluster, name))]
    only: Vec<Workload>,
    #[command(flatten)]
    run: RunArgs,
}

/// The extent of a run, and its report.
#[derive(Debug, Args)]
struct RunArgs {
    /// Runs of each workload on each contender
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Seconds to measure inserts and updates, per run
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    seconds: u16,
    /// Size of the dump: 1 is 3.9 million rows and 170 MB
    #[arg(long, value_name = "F", default_value_t = 0.1)]
    scale: f64,
    /// Folder for the dump, kept for later experiments [default: beside the sandboxes in the user's state folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Write a Markdown page with all figures
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// A workload by its name.
fn workload(suite: Suite, name: &str) -> Result<Workload, String> {
    let workloads = suite.workloads();
    workloads.iter().find(|workload| workload.name() == name).copied().ok_or_else(|| {
        let names: Vec<String> = workloads.iter().map(|workload| workload.name()).collect();
        format!("the workloads are {}", names.join(", "))
    })
}

pub(super) fn single(args: ProviderArgs) -> anyhow::Result<ExitCode> {
    run(Suite::Single, args.only, args.run)
}

pub(super) fn cluster(args: ClusterArgs) -> anyhow::Result<ExitCode> {
    run(Suite::Cluster, args.only, args.run)
}

fn run(suite: Suite, only: Vec<Workload>, run: RunArgs) -> anyhow::Result<ExitCode> {
    let experiment = Experiment {
        suite,
        rounds: run.rounds.into(),
        time: Duration::from_secs(run.seconds.into()),
        workloads: if only.is_empty() { suite.workloads().to_vec() } else { only },
        scale: run.scale,
        folder: folder(run.dir)?,
        stop: stop_on_signals()?,
    };
    let Some(outcome) = ended(experiment.run(&mut |step| eprintln!("{step}")))? else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    println!("{}", table(&outcome));
    write_report(run.report.as_deref(), &markdown(&outcome))?;
    Ok(ExitCode::SUCCESS)
}
