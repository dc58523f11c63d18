//! `hortator bench provider`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use hortator_bench::provider::{Experiment, Workload, markdown, table};

use super::{INTERRUPTED, ended, folder, keep_report, stop_on_signals};

#[derive(Debug, Args)]
pub struct ProviderArgs {
    /// How often each server does each workload
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Seconds for which inserts are measured, each time
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    seconds: u16,
    /// Workloads of 1x1, 16x1, 200x1, 1x50, 16x50 (threads x rows in one INSERT) and load [default: all]
    #[arg(long, value_name = "WORKLOAD", value_delimiter = ',', value_parser = workload)]
    only: Vec<Workload>,
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
fn workload(name: &str) -> Result<Workload, String> {
    Workload::ALL
        .into_iter()
        .find(|workload| workload.name() == name)
        .ok_or_else(|| format!("the workloads are {}", Workload::ALL.map(Workload::name).join(", ")))
}

pub(super) fn run(args: ProviderArgs) -> anyhow::Result<ExitCode> {
    let experiment = Experiment {
        rounds: args.rounds.into(),
        time: Duration::from_secs(args.seconds.into()),
        workloads: if args.only.is_empty() { Workload::ALL.to_vec() } else { args.only },
        scale: args.scale,
        folder: folder(args.dir)?,
        stop: stop_on_signals()?,
    };
    let Some(outcome) = ended(experiment.run(&mut |step| eprintln!("{step}")))? else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    println!("{}", table(&outcome));
    keep_report(args.report.as_deref(), &markdown(&outcome))?;
    Ok(ExitCode::SUCCESS)
}
