//! `hortator bench show`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::compare::read;
use super::page_output::{report_path, write_reports};

/// Arguments of `hortator bench show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The JSON of an experiment
    run: PathBuf,
    /// Write the report with plots (.html), as Markdown (.md), or its plots alone (.svg); may be given several times
    #[arg(long, value_name = "FILE", value_parser = report_path)]
    report: Vec<PathBuf>,
}

pub(super) fn run(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let page = read(&args.run)?;
    print!("{}", page.terminal());
    write_reports(&page, &args.report)?;
    Ok(if page.has_failures() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
