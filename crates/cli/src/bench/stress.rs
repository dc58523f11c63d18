//! `hortator bench stress`.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use hortator_bench::deployment::Deployment;
use hortator_bench::stress::{Experiment, Parents, page};

use super::extent::{ExtentArgs, NodeArgs, deployment, parents};
use super::page_output::PageArgs;

/// The measured time.
const QUICK_TIME: Duration = Duration::from_secs(3);
const FULL_TIME: Duration = Duration::from_secs(60);
/// The servers with `--quick`.
const QUICK_SERVERS: [Deployment; 3] = [Deployment::Alone, Deployment::Galera(3), Deployment::Hortator(3)];
/// Rows of a statement.
const QUICK_ROWS: [u64; 2] = [1, 50];
const FULL_ROWS: [u64; 5] = [1, 10, 50, 500, 5_000];
const THREADS: [usize; 2] = [1, 8];

/// Arguments of `hortator bench stress`.
#[derive(Debug, Args)]
pub struct StressArgs {
    /// Servers, of alone, G1, G3 (Galera), H1 and H3 (Hortator's provider) [default: alone, G3, H3; with --full: all]
    #[arg(long, value_name = "SERVERS", value_delimiter = ',', value_parser = deployment)]
    only: Vec<Deployment>,
    /// Threads; those that are more than one write to one node and to two [default: 1, 8]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=200))]
    threads: Vec<u16>,
    /// Rows of a statement [default: 1, 50; with --full: 1, 10, 50, 500, 5000]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=20_000))]
    rows: Vec<u64>,
    /// Employees that the rows belong to: the same 100 for all threads, or 100 of each thread's own; also many and one, as
    /// in foreign-keys [default: shared; with --full: shared and own]
    #[arg(long, value_name = "PARENTS", value_delimiter = ',', value_parser = parents)]
    parents: Vec<Parents>,
    #[command(flatten)]
    nodes: NodeArgs,
    #[command(flatten)]
    extent: ExtentArgs,
    #[command(flatten)]
    page: PageArgs,
}

pub(super) fn run(args: StressArgs) -> anyhow::Result<ExitCode> {
    args.page.check_with(&args.nodes.node_set)?;
    let StressArgs { only, threads, rows, parents, nodes: _, extent, page: output } = args;
    let threads: Vec<usize> = threads.into_iter().map(usize::from).collect();
    let experiment = Experiment {
        deployments: or(only, &QUICK_SERVERS, &Deployment::ALL, &extent),
        threads: or(threads, &THREADS, &THREADS, &extent),
        rows: or(rows, &QUICK_ROWS, &FULL_ROWS, &extent),
        parents: or(parents, &[Parents::Shared], &[Parents::Shared, Parents::Own], &extent),
        extent: extent.timed(QUICK_TIME, FULL_TIME)?,
    };
    let outcome = experiment.run(&mut output.progress())?;
    output.write(&page(&experiment, &outcome), outcome.measured.unfinished.is_some())
}

/// What the user gave, or else the default of the size.
fn or<T: Clone>(given: Vec<T>, quick: &[T], full: &[T], extent: &ExtentArgs) -> Vec<T> {
    if given.is_empty() { extent.by_size(quick, full).to_vec() } else { given }
}
