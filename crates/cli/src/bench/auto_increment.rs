//! `hortator bench auto-increment`.

use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use hortator_bench::auto_increment::{Contender, Experiment, LockMode, page};
use hortator_bench::deployment::Deployment;

use super::extent::{LoadExtentArgs, scale};
use super::page_output::PageArgs;

/// Rows with `--quick` and with `--full`.
const QUICK_ROWS: u64 = 150_000;
const FULL_ROWS: u64 = 13_000_000;
/// Connections.
const QUICK_CONNECTIONS: &[usize] = &[1, 2, 4];
const FULL_CONNECTIONS: &[usize] = &[1, 2, 4, 8];
/// A server, and one node with each provider.
const SERVERS: [Deployment; 3] = [Deployment::Alone, Deployment::Galera(1), Deployment::Hortator(1)];

/// Arguments of `hortator bench auto-increment`.
#[derive(Debug, Args)]
pub struct AutoIncrementArgs {
    /// Rows of the table [default: 150,000; with --full: 13,000,000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1_000..=4_000_000_000))]
    rows: Option<u64>,
    /// The same as a part of 13,000,000 rows
    #[arg(long, value_name = "F", value_parser = scale, conflicts_with = "rows")]
    scale: Option<f64>,
    /// Numbers of connections [default: 1, 2, 4; with --full also 8]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=64))]
    connections: Vec<u16>,
    /// Values of innodb_autoinc_lock_mode, of 0, 1 and 2; servers, of alone, and G1 and H1 (one node with Galera and with
    /// Hortator's provider, which need mode 2) [default: all]
    #[arg(long, value_name = "CELL", value_delimiter = ',', value_parser = choice)]
    only: Vec<Choice>,
    #[command(flatten)]
    extent: LoadExtentArgs,
    #[command(flatten)]
    page: PageArgs,
}

/// What `--only` names.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Choice {
    Mode(LockMode),
    Servers(Deployment),
}

fn choice(text: &str) -> Result<Choice, String> {
    let mode = LockMode::ALL.into_iter().find(|mode| mode.to_string() == text).map(Choice::Mode);
    let servers = SERVERS.into_iter().find(|servers| servers.to_string() == text).map(Choice::Servers);
    mode.or(servers).ok_or_else(|| "the modes are 0, 1 and 2; the servers are alone, G1 and H1".to_owned())
}

pub(super) fn run(args: AutoIncrementArgs) -> anyhow::Result<ExitCode> {
    args.page.check()?;
    let AutoIncrementArgs { rows, scale, connections, only, extent, page: output } = args;
    let connections: Vec<usize> = match connections.is_empty() {
        false => connections.into_iter().map(usize::from).collect(),
        true => extent.by_size(QUICK_CONNECTIONS, FULL_CONNECTIONS).to_vec(),
    };
    let mut contenders = vec![Contender::Client];
    contenders.extend(connections.iter().copied().map(Contender::Load));
    contenders.extend(connections.iter().copied().map(Contender::Statements));
    let modes: Vec<LockMode> =
        only.iter().filter_map(|choice| if let Choice::Mode(mode) = choice { Some(*mode) } else { None }).collect();
    let servers: Vec<Deployment> = only
        .iter()
        .filter_map(|choice| if let Choice::Servers(servers) = choice { Some(*servers) } else { None })
        .collect();
    let scaled = scale.map(|scale| (FULL_ROWS as f64 * scale) as u64);
    let experiment = Experiment {
        rows: rows.or(scaled).unwrap_or_else(|| extent.by_size(QUICK_ROWS, FULL_ROWS)),
        deployments: if servers.is_empty() { SERVERS.to_vec() } else { servers },
        modes: if modes.is_empty() { LockMode::ALL.to_vec() } else { modes },
        contenders,
        hortator: std::env::current_exe().context("finding this program's own file")?,
        extent: extent.extent()?,
    };
    let outcome = experiment.run(&mut output.progress())?;
    output.write(&page(&experiment, &outcome), outcome.measured.unfinished.is_some())
}
