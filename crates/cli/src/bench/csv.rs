//! `hortator bench csv`.

use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use hortator_bench::csv::{Experiment, Indexes, page};

use super::extent::{LoadExtentArgs, scale, within};
use super::page_output::PageArgs;

/// Rows with `--quick` and with `--full`.
const QUICK_ROWS: u64 = 500_000;
const FULL_ROWS: u64 = 2_000_000;

/// Arguments of `hortator bench csv`.
#[derive(Debug, Args)]
pub struct CsvArgs {
    /// Rows of the file [default: 500,000; with --full: 2,000,000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(100..=4_000_000_000))]
    rows: Option<u64>,
    /// The same as a part of 2,000,000 rows
    #[arg(long, value_name = "F", value_parser = scale, conflicts_with = "rows")]
    scale: Option<f64>,
    /// Secondary indexes of the table: none, three [default: both, in turn]
    #[arg(long, value_name = "CELL", value_delimiter = ',', value_parser = indexes)]
    only: Vec<Indexes>,
    #[command(flatten)]
    extent: LoadExtentArgs,
    #[command(flatten)]
    page: PageArgs,
}

fn indexes(text: &str) -> Result<Indexes, String> {
    let found = Indexes::ALL.into_iter().find(|indexes| indexes.to_string() == text);
    found.ok_or_else(|| "the tables are none and three, by their secondary indexes".to_owned())
}

pub(super) fn run(args: CsvArgs) -> anyhow::Result<ExitCode> {
    args.page.check()?;
    let CsvArgs { rows, scale, only, extent, page: output } = args;
    let scaled = scale.map(|scale| (FULL_ROWS as f64 * scale) as u64);
    let experiment = Experiment {
        rows: rows.or(scaled).unwrap_or_else(|| extent.by_size(QUICK_ROWS, FULL_ROWS)),
        indexes: if only.is_empty() { Indexes::ALL.to_vec() } else { only },
        hortator: std::env::current_exe().context("finding this program's own file")?,
        extent: within(extent.extent()?, "csv"),
    };
    let outcome = experiment.run(&mut output.progress())?;
    output.write(&page(&experiment, &outcome), outcome.measured.unfinished.is_some())
}
