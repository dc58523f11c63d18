//! `hortator bench fan-in` and `hortator bench recovery`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use hortator_bench::fan_in::{Contender, Experiment, Workload, markdown, table};

use super::{INTERRUPTED, ended, folder, stop_on_signals, write_report};

/// Arguments of `hortator bench fan-in`.
#[derive(Debug, Args)]
pub struct FanInArgs {
    /// Number of sources
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u16).range(1..=64))]
    sources: u16,
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
    /// Transactions of all sources together
    #[arg(long, value_name = "N", default_value_t = 30_000, value_parser = clap::value_parser!(u64).range(100..))]
    transactions: u64,
    /// Runs of each contender
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Backlogs, of small, hot-row, families and large [default: all; for recovery, without large]
    #[arg(long, value_name = "BACKLOG", value_delimiter = ',', value_parser = workload)]
    only: Vec<Workload>,
    /// Folder for configuration and log [default: beside the sandboxes in the user's state folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Write a Markdown page with all figures
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

fn workload(name: &str) -> Result<Workload, String> {
    Workload::ALL.into_iter().find(|workload| workload.name() == name).ok_or_else(|| {
        let names: Vec<&str> = Workload::ALL.iter().map(|workload| workload.name()).collect();
        format!("the backlogs are {}", names.join(", "))
    })
}

pub(super) fn run(args: FanInArgs) -> anyhow::Result<ExitCode> {
    measure(args.sources, args.backlogs, &Contender::OF_SERVERS)
}

pub(super) fn run_recovery(mut args: RecoveryArgs) -> anyhow::Result<ExitCode> {
    if args.backlogs.only.is_empty() {
        // A large transaction is one statement for the client, above the servers' default of max_allowed_packet.
        args.backlogs.only = Workload::ALL.into_iter().filter(|workload| *workload != Workload::Large).collect();
    }
    measure(1, args.backlogs, &Contender::OF_FILES)
}

fn measure(sources: u16, args: Backlogs, contenders: &[Contender]) -> anyhow::Result<ExitCode> {
    let experiment = Experiment {
        sources: sources.into(),
        transactions: args.transactions,
        rounds: args.rounds.into(),
        workloads: if args.only.is_empty() { Workload::ALL.to_vec() } else { args.only },
        contenders: contenders.to_vec(),
        hortator: std::env::current_exe().context("finding this program's own file")?,
        folder: folder(args.dir)?.join("fan-in"),
        stop: stop_on_signals()?,
    };
    let Some(outcome) = ended(experiment.run(&mut |step| eprintln!("{step}")))? else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    println!("{}", table(&outcome));
    write_report(args.report.as_deref(), &markdown(&outcome))?;
    Ok(ExitCode::SUCCESS)
}
