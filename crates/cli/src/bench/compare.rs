//! `hortator bench compare`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use hortator_bench::page::{Change, Page, changes_table, compare};

/// Arguments of `hortator bench compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The JSON of an experiment
    before: PathBuf,
    /// The JSON of the same experiment, run again
    after: PathBuf,
    /// Also show figures whose spreads touch
    #[arg(long)]
    all: bool,
}

pub(super) fn run(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    let (before, after) = (read(&args.before)?, read(&args.after)?);
    let mut changes = compare(&before, &after)?;
    let all = changes.len();
    changes.retain(|change| args.all || change.is_beyond_spread());
    if !changes.is_empty() {
        println!("{}", changes_table(&changes).terminal());
    }
    let beyond = changes.iter().filter(|change| Change::is_beyond_spread(change)).count();
    println!("{beyond} of {all} figures changed beyond the spread of their rounds");
    if before.machine != after.machine {
        println!("the machines differ: {}; {}", before.machine, after.machine);
    }
    Ok(ExitCode::SUCCESS)
}

/// The page of a JSON file.
pub(super) fn read(path: &Path) -> anyhow::Result<Page> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    Ok(Page::from_json(&path.display().to_string(), &text)?)
}
