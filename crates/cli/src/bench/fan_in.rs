//! `hortator bench fan-in` and `hortator bench recovery`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use hortator_bench::fan_in::{Contender, Experiment, Workload, page};

use super::page_output::PageArgs;
use super::{folder, stop_on_signals};

/// Transactions of each source with `--quick` and with `--full`.
const QUICK_TRANSACTIONS: u64 = 10_000;
const FULL_TRANSACTIONS: u64 = 100_000;

/// Arguments of `hortator bench fan-in`.
#[derive(Debug, Args)]
pub struct FanInArgs {
    /// Numbers of sources [default: 15; with --full: 1, 5 and 15]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=64))]
    sources: Vec<u16>,
    #[command(flatten)]
    backlogs: Backlogs,
}

/// Arguments of `hortator bench recovery`.
#[derive(Debug, Args)]
pub struct RecoveryArgs {
    #[command(flatten)]
    backlogs: Backlogs,
}

#[derive(Debug, Args)]
struct Backlogs {
    /// One round of 10,000 transactions a source (default)
    #[arg(long)]
    quick: bool,
    /// Three rounds of 100,000 transactions a source
    #[arg(long, conflicts_with = "quick")]
    full: bool,
    /// Transactions of each source [default: 10,000; with --full: 100,000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(10..))]
    transactions: Option<u64>,
    /// Runs of each contender [default: 1; with --full: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: Option<u16>,
    /// Backlogs, of small, hot-row, families and large [default: all; for recovery, without large]
    #[arg(long, value_name = "BACKLOG", value_delimiter = ',', value_parser = workload)]
    only: Vec<Workload>,
    /// Folder for configuration and log [default: beside the sandboxes in the user's state folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(flatten)]
    page: PageArgs,
}

fn workload(name: &str) -> Result<Workload, String> {
    Workload::ALL.into_iter().find(|workload| workload.name() == name).ok_or_else(|| {
        let names: Vec<&str> = Workload::ALL.iter().map(|workload| workload.name()).collect();
        format!("the backlogs are {}", names.join(", "))
    })
}

pub(super) fn run(args: FanInArgs) -> anyhow::Result<ExitCode> {
    let sources = match (args.sources.is_empty(), args.backlogs.full) {
        (false, _) => args.sources.into_iter().map(usize::from).collect(),
        (true, true) => vec![1, 5, 15],
        (true, false) => vec![15],
    };
    measure(sources, args.backlogs, &Contender::OF_SERVERS)
}

pub(super) fn run_recovery(mut args: RecoveryArgs) -> anyhow::Result<ExitCode> {
    if args.backlogs.only.is_empty() {
        // A large transaction is one statement for the client, above the servers' default of max_allowed_packet.
        args.backlogs.only = Workload::ALL.into_iter().filter(|workload| *workload != Workload::Large).collect();
    }
    measure(vec![1], args.backlogs, &Contender::OF_FILES)
}

fn measure(sources: Vec<usize>, args: Backlogs, contenders: &[Contender]) -> anyhow::Result<ExitCode> {
    args.page.check()?;
    let by_size = |quick: u64, full: u64| if args.full { full } else { quick };
    let experiment = Experiment {
        sources,
        transactions: args.transactions.unwrap_or_else(|| by_size(QUICK_TRANSACTIONS, FULL_TRANSACTIONS)),
        rounds: args.rounds.map_or_else(|| if args.full { 3 } else { 1 }, usize::from),
        workloads: if args.only.is_empty() { Workload::ALL.to_vec() } else { args.only },
        contenders: contenders.to_vec(),
        hortator: std::env::current_exe().context("finding this program's own file")?,
        folder: folder(args.dir)?.join("fan-in"),
        stop: stop_on_signals()?,
    };
    let outcome = experiment.run(&mut |step| eprintln!("{step}"))?;
    args.page.write(&page(&experiment, &outcome), outcome.measured.unfinished.is_some())
}
