//! `hortator bench auto-increment`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use hortator_bench::auto_increment::{Contender, Experiment, LockMode, page};

use super::page_output::PageArgs;
use super::{folder, stop_on_signals};

/// Rows with `--quick` and with `--full`.
const QUICK_ROWS: u64 = 200_000;
const FULL_ROWS: u64 = 13_000_000;

/// Arguments of `hortator bench auto-increment`.
#[derive(Debug, Args)]
pub struct AutoIncrementArgs {
    /// One round of 200,000 rows (default)
    #[arg(long)]
    quick: bool,
    /// Three rounds of 13,000,000 rows
    #[arg(long, conflicts_with = "quick")]
    full: bool,
    /// Rows of the table [default: 200,000; with --full: 13,000,000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1_000..=4_000_000_000))]
    rows: Option<u64>,
    /// Runs of each contender [default: 1; with --full: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: Option<u16>,
    /// Numbers of connections [default: 1, 2, 4; with --full also 8]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=64))]
    connections: Vec<u16>,
    /// Values of innodb_autoinc_lock_mode [default: 0, 1 and 2]
    #[arg(long, value_name = "MODE", value_delimiter = ',', value_parser = mode)]
    only: Vec<LockMode>,
    /// Folder for the dumps, kept for later experiments [default: beside the sandboxes in the user's state folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(flatten)]
    page: PageArgs,
}

fn mode(text: &str) -> Result<LockMode, String> {
    let found = LockMode::ALL.into_iter().find(|mode| mode.to_string() == text);
    found.ok_or_else(|| "the modes are 0, 1 and 2".to_owned())
}

pub(super) fn run(args: AutoIncrementArgs) -> anyhow::Result<ExitCode> {
    args.page.check()?;
    let connections: Vec<usize> = match (args.connections.is_empty(), args.full) {
        (false, _) => args.connections.iter().copied().map(usize::from).collect(),
        (true, false) => vec![1, 2, 4],
        (true, true) => vec![1, 2, 4, 8],
    };
    let mut contenders = vec![Contender::Client];
    contenders.extend(connections.iter().copied().map(Contender::Load));
    contenders.extend(connections.iter().copied().map(Contender::Statements));
    let experiment = Experiment {
        rows: args.rows.unwrap_or(if args.full { FULL_ROWS } else { QUICK_ROWS }),
        modes: if args.only.is_empty() { LockMode::ALL.to_vec() } else { args.only },
        contenders,
        rounds: args.rounds.map_or_else(|| if args.full { 3 } else { 1 }, usize::from),
        hortator: std::env::current_exe().context("finding this program's own file")?,
        folder: folder(args.dir)?,
        stop: stop_on_signals()?,
    };
    let outcome = experiment.run(&mut |step| eprintln!("{step}"))?;
    args.page.write(&page(&experiment, &outcome), outcome.measured.unfinished.is_some())
}
