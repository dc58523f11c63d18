//! `hortator bench shapes`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use hortator_bench::shapes::{Experiment, SHAPES, Shape, report};

use super::{INTERRUPTED, ended, folder, stop_on_signals, write_report};

/// Rounds and scale of `--quick`.
const QUICK: (u16, f64) = (1, 1.0);
/// Rounds and scale of `--full`.
const FULL: (u16, f64) = (3, 4.0);

/// Arguments of `hortator bench shapes`.
#[derive(Debug, Args)]
pub struct ShapesArgs {
    /// Dumps that the client loads in a few seconds each, one round; this is the default
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Dumps of four times that size, three rounds
    #[arg(long)]
    full: bool,
    /// Number of times that each program loads each dump [default: 1, with --full 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: Option<u16>,
    /// Size of the dumps [default: 1, with --full 4]
    #[arg(long, value_name = "F", value_parser = scale)]
    scale: Option<f64>,
    /// Shapes to measure [default: all]
    #[arg(long, value_name = "SHAPE", value_delimiter = ',', value_parser = shape)]
    only: Vec<&'static Shape>,
    /// Folder for the dumps [default: beside the sandboxes in the user's state folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Write a page of Markdown with every figure
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write every figure as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Another build of this program, measured as `baseline`
    #[arg(long, value_name = "FILE", hide = true)]
    binary: Option<PathBuf>,
}

fn shape(name: &str) -> Result<&'static Shape, String> {
    Shape::named(name).ok_or_else(|| {
        let names: Vec<&str> = SHAPES.iter().map(|shape| shape.name).collect();
        format!("the shapes are {}", names.join(", "))
    })
}

fn scale(text: &str) -> Result<f64, String> {
    let scale: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.001..=1000.0).contains(&scale) { Ok(scale) } else { Err("the scale is from 0.001 to 1000".to_owned()) }
}

/// Runs the experiment. Exit status 1: a load failed, or left another end state than the client's.
pub(super) fn run(args: ShapesArgs) -> anyhow::Result<ExitCode> {
    let (rounds, scale) = if args.full { FULL } else { QUICK };
    let program = |path: PathBuf| path.canonicalize().with_context(|| format!("finding {}", path.display()));
    let experiment = Experiment {
        rounds: args.rounds.unwrap_or(rounds).into(),
        scale: args.scale.unwrap_or(scale),
        shapes: if args.only.is_empty() { SHAPES.iter().collect() } else { args.only },
        folder: folder(args.dir)?.join("shapes"),
        hortator: std::env::current_exe().context("finding this program's own file")?,
        baseline: args.binary.map(program).transpose()?,
        stop: stop_on_signals()?,
    };
    let Some(outcome) = ended(experiment.run(&mut |step| eprintln!("{step}")))? else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    println!("{}\n{}", report::table(&outcome), report::verdict(&outcome));
    write_report(args.report.as_deref(), &report::markdown(&outcome))?;
    write_report(args.json.as_deref(), &report::json(&outcome))?;
    Ok(if outcome.is_valid() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
