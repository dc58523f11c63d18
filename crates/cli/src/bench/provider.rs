//! `hortator bench provider` and `hortator bench cluster`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use hortator_bench::provider::{Experiment, Lineup, Workload, markdown, table};

use super::{INTERRUPTED, ended, folder, keep_report, stop_on_signals};

/// Arguments of `hortator bench provider`.
#[derive(Debug, Args)]
pub struct ProviderArgs {
    /// Workloads of 1x1, 16x1, 200x1, 1x50, 16x50 (threads x rows in one INSERT) and load [default: all]
    #[arg(long, value_name = "WORKLOAD", value_delimiter = ',', value_parser = |name: &str| workload(Lineup::Single, name))]
    only: Vec<Workload>,
    #[command(flatten)]
    extent: Extent,
}

/// Arguments of `hortator bench cluster`.
#[derive(Debug, Args)]
pub struct ClusterArgs {
    /// Workloads of 1x1, 16x1, 200x1, 1x50, 16x50 (threads x rows in one INSERT), hot16 (threads that update one row),
    /// 16x1-on-2, 200x1-on-2, hot16-on-2 (the threads spread over two nodes) and load [default: all]
    #[arg(long, value_name = "WORKLOAD", value_delimiter = ',', value_parser = |name: &str| workload(Lineup::Cluster, name))]
    only: Vec<Workload>,
    #[command(flatten)]
    extent: Extent,
}

/// How much of it is done, and where it goes.
#[derive(Debug, Args)]
struct Extent {
    /// How often each of the compared does each workload
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Seconds for which inserts and updates are measured, each time
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    seconds: u16,
    /// Size of the dump: 1 is 3.9 million rows and 170 MB
    #[arg(long, value_name = "F", default_value_t = 0.1)]
    scale: f64,
    /// Where the dump is made and found again [default: beside the sandboxes in the user's state folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Write a page of Markdown with every figure
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// A workload by its name.
fn workload(lineup: Lineup, name: &str) -> Result<Workload, String> {
    let workloads = lineup.workloads();
    workloads.iter().find(|workload| workload.name() == name).copied().ok_or_else(|| {
        let names: Vec<String> = workloads.iter().map(|workload| workload.name()).collect();
        format!("the workloads are {}", names.join(", "))
    })
}

pub(super) fn single(args: ProviderArgs) -> anyhow::Result<ExitCode> {
    run(Lineup::Single, args.only, args.extent)
}

pub(super) fn cluster(args: ClusterArgs) -> anyhow::Result<ExitCode> {
    run(Lineup::Cluster, args.only, args.extent)
}

fn run(lineup: Lineup, only: Vec<Workload>, extent: Extent) -> anyhow::Result<ExitCode> {
    let experiment = Experiment {
        lineup,
        rounds: extent.rounds.into(),
        time: Duration::from_secs(extent.seconds.into()),
        workloads: if only.is_empty() { lineup.workloads().to_vec() } else { only },
        scale: extent.scale,
        folder: folder(extent.dir)?,
        stop: stop_on_signals()?,
    };
    let Some(outcome) = ended(experiment.run(&mut |step| eprintln!("{step}")))? else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    println!("{}", table(&outcome));
    keep_report(extent.report.as_deref(), &markdown(&outcome))?;
    Ok(ExitCode::SUCCESS)
}
