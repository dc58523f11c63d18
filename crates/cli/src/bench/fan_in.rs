//! `hortator bench fan-in` and `hortator bench recovery`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use hortator_bench::fan_in::{Contender, Experiment, Live, Workload, page};

use super::extent::{ExtentArgs, LoadExtentArgs, SizeArgs, scale, within};
use super::page_output::PageArgs;

/// Transactions of each source with `--quick` and with `--full`.
const QUICK_TRANSACTIONS: u64 = 10_000;
const FULL_TRANSACTIONS: u64 = 100_000;

/// Of all sources together, in a second, while the target applies.
const QUICK_RATES: &[u32] = &[500];
const FULL_RATES: &[u32] = &[500, 2_000];
/// The measured time of the live part.
const QUICK_TIME: Duration = Duration::from_secs(5);
const FULL_TIME: Duration = Duration::from_secs(60);

/// Arguments of `hortator bench fan-in`.
#[derive(Debug, Args)]
pub struct FanInArgs {
    /// Numbers of sources [default: 15; with --full: 1, 5 and 15]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=64))]
    sources: Vec<u16>,
    /// Transactions per second of all sources together, in the live part [default: 500; with --full: 500 and 2,000]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=100_000))]
    rate: Vec<u32>,
    /// Backlogs, of small, hot-row, families and large; or live: the sources write at a fixed rate while the target applies
    /// [default: all]
    #[arg(long, value_name = "BACKLOG", value_delimiter = ',', value_parser = part)]
    only: Vec<Workload>,
    #[command(flatten)]
    backlogs: Backlogs,
    #[command(flatten)]
    extent: ExtentArgs,
    #[command(flatten)]
    page: PageArgs,
}

/// Arguments of `hortator bench recovery`.
#[derive(Debug, Args)]
pub struct RecoveryArgs {
    /// Backlogs, of small, hot-row, families and large [default: all but large]
    #[arg(long, value_name = "BACKLOG", value_delimiter = ',', value_parser = workload)]
    only: Vec<Workload>,
    #[command(flatten)]
    backlogs: Backlogs,
    #[command(flatten)]
    extent: LoadExtentArgs,
    #[command(flatten)]
    page: PageArgs,
}

#[derive(Debug, Args)]
struct Backlogs {
    /// Transactions of each source [default: 10,000; with --full: 100,000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(10..))]
    transactions: Option<u64>,
    /// The same as a part of 100,000 transactions
    #[arg(long, value_name = "F", value_parser = scale, conflicts_with = "transactions")]
    scale: Option<f64>,
}

impl Backlogs {
    fn transactions(&self, size: &SizeArgs) -> u64 {
        let scaled = self.scale.map(|scale| ((FULL_TRANSACTIONS as f64 * scale) as u64).max(10));
        self.transactions.or(scaled).unwrap_or_else(|| size.by_size(QUICK_TRANSACTIONS, FULL_TRANSACTIONS))
    }
}

/// A backlog, or the live part.
fn part(name: &str) -> Result<Workload, String> {
    match name == Workload::Live.name() {
        true => Ok(Workload::Live),
        false => workload(name).map_err(|error| format!("{error}, live")),
    }
}

fn workload(name: &str) -> Result<Workload, String> {
    Workload::ALL.into_iter().find(|workload| workload.name() == name).ok_or_else(|| {
        let names: Vec<&str> = Workload::ALL.iter().map(|workload| workload.name()).collect();
        format!("the backlogs are {}", names.join(", "))
    })
}

pub(super) fn run(args: FanInArgs) -> anyhow::Result<ExitCode> {
    args.page.check()?;
    let FanInArgs { sources, rate, only, backlogs, extent, page: output } = args;
    let is_live = only.is_empty() || only.contains(&Workload::Live);
    let sources: Vec<usize> = match sources.is_empty() {
        false => sources.into_iter().map(usize::from).collect(),
        true => extent.by_size(vec![15], vec![1, 5, 15]),
    };
    let rates = match rate.is_empty() {
        false => rate,
        true => extent.by_size(QUICK_RATES, FULL_RATES).to_vec(),
    };
    let experiment = Experiment {
        sources,
        transactions: backlogs.transactions(&extent),
        workloads: match only.is_empty() {
            true => Workload::ALL.to_vec(),
            false => only.into_iter().filter(|workload| *workload != Workload::Live).collect(),
        },
        live: is_live.then(|| Live { rates, time: extent.time(QUICK_TIME, FULL_TIME) }),
        contenders: Contender::OF_SERVERS.to_vec(),
        hortator: std::env::current_exe().context("finding this program's own file")?,
        extent: within(extent.extent()?, "fan-in"),
    };
    measure(&experiment, &output)
}

pub(super) fn run_recovery(args: RecoveryArgs) -> anyhow::Result<ExitCode> {
    args.page.check()?;
    let RecoveryArgs { only, backlogs, extent, page: output } = args;
    let workloads = match only.is_empty() {
        // A large transaction is one statement for the client, above the servers' default of max_allowed_packet.
        true => Workload::ALL.into_iter().filter(|workload| *workload != Workload::Large).collect(),
        false => only,
    };
    let experiment = Experiment {
        sources: vec![1],
        transactions: backlogs.transactions(&extent),
        workloads,
        live: None,
        contenders: Contender::OF_FILES.to_vec(),
        hortator: std::env::current_exe().context("finding this program's own file")?,
        extent: within(extent.extent()?, "fan-in"),
    };
    measure(&experiment, &output)
}

fn measure(experiment: &Experiment, output: &PageArgs) -> anyhow::Result<ExitCode> {
    let outcome = experiment.run(&mut output.progress())?;
    output.write(&page(experiment, &outcome), outcome.measured.unfinished.is_some())
}
