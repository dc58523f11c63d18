//! `hortator bench provider` and `hortator bench cluster`.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use hortator_bench::options::NodeSetting;
use hortator_bench::provider::{Experiment, Suite, Workload, page};

use super::extent::{ExtentArgs, NodeArgs, scale};
use super::page_output::PageArgs;

/// The measured time of inserts and updates.
const QUICK_TIME: Duration = Duration::from_secs(2);
const FULL_TIME: Duration = Duration::from_secs(5);
/// The sample's size with `--quick` and with `--full`.
const QUICK_SCALE: f64 = 0.02;
const FULL_SCALE: f64 = 0.1;

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
    nodes: NodeArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// What both have.
#[derive(Debug, Args)]
struct RunArgs {
    /// Size of the dump: 1 is 3.9 million rows and 170 MB [default: 0.02; with --full: 0.1]
    #[arg(long, value_name = "F", value_parser = scale)]
    scale: Option<f64>,
    #[command(flatten)]
    extent: ExtentArgs,
    #[command(flatten)]
    page: PageArgs,
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
    run(Suite::Single, args.only, &[], args.run)
}

pub(super) fn cluster(args: ClusterArgs) -> anyhow::Result<ExitCode> {
    run(Suite::Cluster, args.only, &args.nodes.node_set, args.run)
}

fn run(suite: Suite, only: Vec<Workload>, nodes: &[NodeSetting], run: RunArgs) -> anyhow::Result<ExitCode> {
    run.page.check_with(nodes)?;
    let RunArgs { scale, extent, page: output } = run;
    let experiment = Experiment {
        suite,
        extent: extent.timed(QUICK_TIME, FULL_TIME)?,
        workloads: if only.is_empty() { suite.workloads().to_vec() } else { only },
        scale: scale.unwrap_or_else(|| extent.by_size(QUICK_SCALE, FULL_SCALE)),
    };
    let outcome = experiment.run(&mut output.progress())?;
    output.write(&page(&experiment, &outcome), outcome.measured.unfinished.is_some())
}
